package subscribers_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// onDay asks for the subscription, billed on a day of the month.
func onDay(day int, mode events.BillingMode) commands.CreateSubscription {
	c := create(mode)
	c.Terms.AnchorDay = day
	return c
}

// billed begins a scenario with such a subscription, and tells its first period.
func billed(t *testing.T, day int, mode events.BillingMode) (*scenario, events.PeriodDue) {
	t.Helper()
	s := decidertest.For(t, aggregate(), now).When(onDay(day, mode))
	return s, dueOf(t, s.ThenEvents())
}

// dueOf finds the period that became due.
func dueOf(t *testing.T, made []events.SubscriptionEvent) events.PeriodDue {
	t.Helper()
	for _, e := range made {
		if due, ok := e.(events.PeriodDue); ok {
			return due
		}
	}
	t.Fatalf("no period is due in %+v", made)
	return events.PeriodDue{}
}

// extendedOf finds the paid period.
func extendedOf(t *testing.T, made []events.SubscriptionEvent) events.SubscriptionExtended {
	t.Helper()
	for _, e := range made {
		if e, ok := e.(events.SubscriptionExtended); ok {
			return e
		}
	}
	t.Fatalf("no period is paid in %+v", made)
	return events.SubscriptionExtended{}
}

// local is an instant in Nairobi, where now is 31 January 2026, 12:00.
func local(month time.Month, day, hour int) time.Time {
	return time.Date(2026, month, day, hour-3, 0, 0, 0, time.UTC)
}

// credits is a list of one: some days of a period are not to be paid.
func credits(invoice id.Invoice, days, of int) []events.DaysCredit {
	return []events.DaysCredit{{InvoiceID: invoice, Days: days, Of: of}}
}

// leave are credits of which a prepaid period of the mode keeps what is left of its time.
func leave(mode events.BillingMode, list []events.DaysCredit) []events.DaysCredit {
	for i := range list {
		list[i].KeepsPeriod = mode == events.Prepaid
	}
	return list
}

// sameCredits fails when two lists of credits differ.
func sameCredits(t *testing.T, got, want []events.DaysCredit) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("credits %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("credit %+v, want %+v", got[i], want[i])
		}
	}
}

func TestBillingDay_TheFirstPartCostsItsDaysAndTheNextMonthIsWhole(t *testing.T) {
	t.Parallel()
	for _, mode := range []events.BillingMode{events.Prepaid, events.Postpaid} {
		s, part := billed(t, 5, mode)
		fifth := local(time.February, 5, 0)
		want := events.PartPeriod{Days: 5, Of: 31} // 31 January to 4 February, of 5 January to 4 February
		if part.Part != want || part.Charge != money.Of(241_94, money.KES) ||
			!part.From.Equal(now) || !part.To.Equal(fifth) {
			t.Fatalf("%s: the first period is %+v", mode, part)
		}
		if mode == events.Prepaid {
			paidPart := extendedOf(t, s.When(paid(first, now)).ThenEvents())
			if !paidPart.From.Equal(now) || !paidPart.PaidUntil.Equal(fifth) || paidPart.Credits != nil {
				t.Fatalf("the first period is paid as %+v", paidPart)
			}
		}
		month := dueOf(t, s.At(fifth).When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents())
		if !month.Part.IsZero() || !month.Charge.IsZero() || !month.From.Equal(fifth) ||
			!month.To.Equal(local(time.March, 5, 0)) {
			t.Errorf("%s: the second period is %+v", mode, month)
		}
	}
}

func TestBillingDay_OnTheDayItselfTheFirstMonthIsWhole(t *testing.T) {
	t.Parallel()
	c := onDay(28, events.Prepaid)
	s := decidertest.For(t, aggregate(), local(time.February, 28, 20)).When(c)
	if due := dueOf(t, s.ThenEvents()); !due.Part.IsZero() || !due.To.Equal(local(time.March, 28, 0)) {
		t.Errorf("the period is %+v", due)
	}
}

// Who pays three days after a month began has it until its billing day. The days before the payment are credited.
func TestBillingDay_APaymentThatComesLateCreditsTheDaysWithoutService(t *testing.T) {
	t.Parallel()
	s, _ := billed(t, 5, events.Prepaid)
	s.When(paid(first, now)).ThenEvents()
	s.At(local(time.February, 2, 0)).When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
	late := extendedOf(t, s.When(paid(second, local(time.February, 8, 9))).ThenEvents())
	if !late.From.Equal(local(time.February, 5, 0)) || !late.PaidUntil.Equal(local(time.March, 5, 0)) {
		t.Errorf("the month is %s to %s", late.From, late.PaidUntil)
	}
	sameCredits(t, late.Credits, leave(events.Prepaid, credits(second, 3, 28)))
}

// Of the month that passed without service nothing is left to pay, and the next one begins with the day on which
// somebody pays.
func TestBillingDay_AMonthThatPassedWithoutServiceIsCreditedWhole(t *testing.T) {
	t.Parallel()
	s, _ := billed(t, 5, events.Prepaid)
	s.When(paid(first, now)).ThenEvents()
	s.At(local(time.February, 2, 0)).When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
	back := local(time.March, 20, 9)
	late := extendedOf(t, s.At(back).When(paid(second, back)).ThenEvents())
	sameCredits(t, late.Credits, credits(second, 28, 28))
	s.When(cancel(second)).ThenEvents() // the credit note is over the whole invoice
	next := dueOf(t, s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents())
	if next.Part != (events.PartPeriod{Days: 16, Of: 31}) || !next.From.Equal(back) {
		t.Errorf("the next period is %+v", next)
	}
}

// Under terms that count from the expiry, what was served in the grace is paid.
func TestBillingDay_DaysThatWereServedBeforeThePaymentArePaid(t *testing.T) {
	t.Parallel()
	c := onDay(5, events.Prepaid)
	c.Terms.LateRenewal = events.FromExpiry
	s := decidertest.For(t, aggregate(), now).When(c)
	s.ThenEvents()
	s.When(paid(first, now)).ThenEvents()
	s.At(local(time.February, 2, 0)).When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
	payment := paid(second, local(time.February, 10, 9))
	payment.Served = []events.TimeSpan{{From: local(time.February, 5, 0), To: local(time.February, 8, 0)}}
	late := extendedOf(t, s.When(payment).ThenEvents())
	sameCredits(t, late.Credits, leave(events.Prepaid, credits(second, 2, 28))) // the 8th and the 9th
}

func TestBillingDay_APauseIsCreditedAndMovesNoPeriod(t *testing.T) {
	t.Parallel()
	for _, mode := range []events.BillingMode{events.Prepaid, events.Postpaid} {
		s, part := billed(t, 5, mode)
		if mode == events.Prepaid {
			s.When(paid(first, now)).ThenEvents()
		}
		resumed := pauseFor(s, local(time.February, 1, 10), 2)
		sameCredits(t, resumed.Credits, leave(mode, credits(first, 2, 5)))
		if len(resumed.Moved) > 0 || mode == events.Postpaid && !resumed.NextFrom.Equal(part.To) {
			t.Errorf("%s: a pause of days within a period gives %+v", mode, resumed)
		}
	}
}

// The month that passed in a pause is not billed, neither then nor later.
func TestBillingDay_APauseOverMonthsLeavesNothingToBill(t *testing.T) {
	t.Parallel()
	s, _ := billed(t, 5, events.Postpaid)
	resumed := pauseFor(s, local(time.February, 1, 10), 78) // to 20 April
	sameCredits(t, resumed.Credits, credits(first, 4, 5))
	back := local(time.April, 20, 10)
	if !resumed.NextFrom.Equal(back) {
		t.Errorf("the next period begins %s, want %s", resumed.NextFrom, back)
	}
	next := dueOf(t, s.At(back).When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents())
	if next.Part != (events.PartPeriod{Days: 15, Of: 30}) || !next.From.Equal(back) ||
		!next.To.Equal(local(time.May, 5, 0)) {
		t.Errorf("the next period is %+v", next)
	}
}

func TestEnd_PostpaidPaysUpToYesterday(t *testing.T) {
	t.Parallel()
	ended := func(c commands.CreateSubscription, at time.Time) []events.DaysCredit {
		s := decidertest.For(t, aggregate(), now).When(c)
		s.ThenEvents()
		made := s.At(at).When(commands.EndSubscription{SubscriptionID: subscription, Reason: "moves"}).ThenEvents()
		end, _ := made[0].(events.SubscriptionEnded)
		return end.Credits
	}
	daily := create(events.Postpaid)
	daily.Terms.Period = calendar.Day
	sameCredits(t, ended(onDay(5, events.Postpaid), local(time.February, 2, 9)), credits(first, 3, 5))
	sameCredits(t, ended(create(events.Postpaid), local(time.February, 2, 9)), credits(first, 26, 28))
	sameCredits(t, ended(onDay(5, events.Postpaid), now.Add(time.Hour)), credits(first, 5, 5)) // never a day of it
	sameCredits(t, ended(daily, now.Add(time.Hour)), nil)                                      // a begun day is paid
	sameCredits(t, ended(create(events.Prepaid), local(time.February, 2, 9)), nil)
}

// The days of a pause are those of an anniversary's gap, and no part of what an end gives back.
func TestEnd_APausedPostpaidOnePaysUpToThePause(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), now).When(create(events.Postpaid))
	s.ThenEvents()
	pauseFor(s, local(time.February, 3, 9), 10)
	s.At(local(time.February, 15, 9)).When(commands.PauseSubscription{SubscriptionID: subscription,
		Reason: "travels"}).ThenEvents()
	made := s.At(local(time.February, 25, 9)).When(commands.EndSubscription{SubscriptionID: subscription,
		Reason: "moves"}).ThenEvents()
	end, _ := made[0].(events.SubscriptionEnded)
	sameCredits(t, end.Credits, credits(first, 23, 28)) // used: 31 January to 2 February, and 13 and 14 February
}

func TestBillingDay_TheMonthThatStaysPaidIsWholeAndTheNextOneLeadsBack(t *testing.T) {
	t.Parallel()
	s, _ := billed(t, 5, events.Prepaid)
	s.When(paid(first, now)).ThenEvents()
	s.At(local(time.February, 2, 0)).When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
	s.When(paid(second, local(time.February, 2, 9))).ThenEvents()
	until, from, to := told(t, s.At(local(time.February, 3, 9)).When(withdraw(first)).ThenEvents(), second)
	if !from.Equal(now) || !to.Equal(local(time.February, 28, 0)) || !until.Equal(to) {
		t.Fatalf("the month that stays paid is %s to %s", from, to)
	}
	again := extendedOf(t, s.When(paid(first, local(time.February, 4, 9))).ThenEvents())
	if !again.PaidUntil.Equal(local(time.March, 5, 0)) || again.Credits != nil {
		t.Errorf("paid again: %+v", again)
	}
}

// TestBillingDay_ARandomLifeHasWholePeriods lets a prepaid customer be billed, pay sooner or later and pause. Each paid
// period has its days, whatever the zone does with its clocks, and nobody gets more days back than were billed.
func TestBillingDay_ARandomLifeHasWholePeriods(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		c := onDay(rapid.IntRange(1, 28).Draw(r, "day"), events.Prepaid)
		c.Timezone = rapid.SampledFrom([]string{"Africa/Nairobi", "Europe/London", "America/Santiago"}).Draw(r, "zone")
		p, withdraws := play(r, c), rapid.Bool().Draw(r, "withdraws")
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			p.at = p.at.Add(time.Duration(rapid.IntRange(0, 20*24).Draw(r, "hours")) * time.Hour)
			p.billedStep(withdraws)
		}
		for i, place := range p.s.Course().Places {
			period := p.s.Periods[i]
			days := p.daysOf(place)
			if credited := p.credited[period.InvoiceID]; !withdraws && period.State == subscribers.PeriodPaid &&
				credited > days {
				r.Fatalf("period %d has %d days, of which %d were credited", period.Ordinal, days, credited)
			}
		}
	})
}

// daysOf counts the local days of a place.
func (p *played) daysOf(place subscribers.Span) int {
	zone, err := time.LoadLocation(p.s.Timezone)
	if err != nil {
		p.r.Fatal(err)
	}
	return calendar.DaysBetween(calendar.On(place.From, zone), calendar.On(place.To, zone))
}

// billedStep does one random thing to a subscription with a billing day.
func (p *played) billedStep(withdraws bool) {
	switch rapid.IntRange(0, 9).Draw(p.r, "step") {
	case 0:
		p.do(commands.PauseSubscription{SubscriptionID: subscription, Reason: "x"})
	case 1, 2:
		p.do(commands.ResumeSubscription{SubscriptionID: subscription, Reason: "x"})
	case 3:
		if invoice, ok := p.one(p.inState(subscribers.PeriodPaid)); ok && withdraws {
			p.do(commands.WithdrawPeriod{SubscriptionID: subscription, InvoiceID: invoice, Reason: "x"})
		}
	case 4:
		p.short = subscribers.Compacted(p.short, 3)
		p.short = subscribers.Subscriptions().Evolve(subscribers.Subscription{},
			subscribers.Subscriptions().Close(p.short))
	default:
		p.do(commands.MakePeriodDue{SubscriptionID: subscription})
		if invoice, ok := p.one(p.s.Open()); ok {
			p.do(paid(invoice, p.at))
		}
	}
}

// TestBillingDay_DaysOffAreGivenBackByTheMonthInWhichTheyLie: February is paid on its 20th, and March ahead. On 1 March
// the payment of February is taken back, so that the time of March stands for it and ends early; it comes again on the
// 30th. The days of March without service are credited on the invoice of March, and none credits more than it is for.
func TestBillingDay_DaysOffAreGivenBackByTheMonthInWhichTheyLie(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), calendar.Date{Year: 2026, Month: time.February, Day: 1}.Start(nairobi))
	s.When(onDay(1, events.Prepaid)).ThenEvents()
	given := map[id.Invoice]int{}
	pays := func(invoice id.Invoice, at time.Time) {
		for _, c := range extendedOf(t, s.At(at).When(paid(invoice, at)).ThenEvents()).Credits {
			if given[c.InvoiceID] += c.Days; given[c.InvoiceID] > c.Of {
				t.Errorf("%d of %d days of an invoice are given back", given[c.InvoiceID], c.Of)
			}
		}
	}
	pays(first, noon(2, 20))
	s.At(noon(2, 26)).When(due).ThenEvents()
	pays(second, noon(2, 26))
	withdrawn, _ := s.At(noon(3, 1)).When(withdraw(first)).ThenEvents()[0].(events.PeriodWithdrawn)
	pays(first, noon(3, 30))
	if off := int(noon(3, 30).Sub(withdrawn.PaidUntil) / day); given[first] != 19 || given[second] != off || off < 20 {
		t.Errorf("February gives %d days back, and March %d of %d without service", given[first], given[second], off)
	}
}
