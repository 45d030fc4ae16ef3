package subscribers_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// span is a time in which the customer of a test was served.
func span(from, to time.Time) events.TimeSpan { return events.TimeSpan{From: from, To: to} }

// fromExpiry begins a scenario with a monthly prepaid subscription that counts late renewals from the expiry. Its first
// month is paid until 28 February, and the second is due.
func fromExpiry(
	t *testing.T,
) *decidertest.Scenario[subscribers.Subscription, commands.SubscriptionCommand, events.SubscriptionEvent] {
	t.Helper()
	c := create(events.Prepaid)
	c.Terms.LateRenewal = events.FromExpiry
	s := decidertest.For(t, aggregate(), now).When(c)
	s.ThenEvents()
	s.When(paid(first, now)).Then(activated(now), begun(first, now, now, noon(2, 28)))
	s.When(due).ThenEvents()
	return s
}

// late is a payment with what was served since the end of the paid time.
func late(at time.Time, served ...events.TimeSpan) commands.ExtendSubscription {
	c := paid(second, at)
	c.Served = served
	return c
}

// docs/rules/subscribers.md#late-renewal
func TestLateRenewal_FromTheExpiryCountsWhatWasServedSince(t *testing.T) {
	t.Parallel()
	expiry := noon(2, 28)
	whole := extended(second, noon(3, 3), expiry, noon(3, 31)) // no gap: the anniversary stays
	cut := extended(second, noon(4, 30), expiry, noon(5, 29))  // 31 days from the expiry to 31 March, off for 59 − 1
	cut.To = noon(3, 31).Add(noon(4, 30).Sub(noon(3, 2)))
	cut.PaidUntil, cut.WithoutAccess = cut.To, []events.TimeSpan{span(noon(3, 2), noon(4, 30))}
	blocked := begun(second, noon(3, 6), noon(3, 2), noon(4, 4))
	blocked.WithoutAccess = []events.TimeSpan{span(noon(3, 3), noon(3, 5))}
	for name, c := range map[string]struct {
		paid commands.ExtendSubscription
		want events.SubscriptionExtended
	}{
		"in the grace":             {late(noon(3, 3), span(expiry, noon(3, 3))), whole},
		"in the instant of expiry": {late(expiry), extended(second, expiry, expiry, noon(3, 31))},
		"off for two months":       {late(noon(4, 30), span(expiry, noon(3, 2))), cut},
		"off all the time":         {late(noon(4, 30)), begun(second, noon(4, 30), noon(4, 30), noon(5, 30))},
		"off at first and once again": {
			late(noon(3, 6), span(noon(3, 2), noon(3, 3)), span(noon(3, 5), noon(3, 6))), blocked,
		},
		"told beyond both ends": {late(noon(3, 3), span(noon(2, 1), noon(3, 9))), whole},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fromExpiry(t).When(c.paid).Then(c.want)
		})
	}
	s := prepaid(t) // terms without the choice: the same payment counts from itself
	s.When(paid(first, now)).ThenEvents()
	s.When(due).ThenEvents()
	s.When(late(noon(3, 3), span(expiry, noon(3, 3)))).Then(begun(second, noon(3, 3), noon(3, 3), noon(4, 3)))
}

// A payment that is taken back and made again makes no difference to what was served in between.
func TestLateRenewal_PaidAgainCountsWhatWasServedSinceThePaymentWasTakenBack(t *testing.T) {
	t.Parallel()
	expiry := noon(2, 28)
	taken := expiry.Add(time.Hour)
	for name, c := range map[string]struct {
		served []events.TimeSpan
		off    []events.TimeSpan
		until  time.Time
	}{
		"whole access all the time": {served: []events.TimeSpan{span(expiry, noon(3, 3))}, until: noon(3, 31)},
		"cut off on the next day": {
			served: []events.TimeSpan{span(expiry, noon(3, 1))}, until: noon(4, 2),
			off: []events.TimeSpan{span(noon(3, 1), noon(3, 3))},
		},
		"cut off at once": {
			off: []events.TimeSpan{span(taken, noon(3, 3))}, until: noon(3, 31).Add(noon(3, 3).Sub(taken)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fromExpiry(t)
			s.When(paid(second, expiry)).ThenEvents()
			s.At(taken).When(commands.WithdrawPeriod{SubscriptionID: subscription, InvoiceID: second}).ThenEvents()
			want := extended(second, noon(3, 3), expiry, c.until)
			want.WithoutAccess = c.off
			s.At(noon(3, 3)).When(late(noon(3, 3), c.served...)).Then(want)
		})
	}
}

func TestLateRenewal_ThePauseOfACustomerInTheGraceIsNotCounted(t *testing.T) {
	t.Parallel()
	s := fromExpiry(t)
	pauseFor(s, noon(3, 1), 10)
	made := s.When(late(noon(3, 12), span(noon(2, 28), noon(3, 1)), span(noon(3, 11), noon(3, 12)))).ThenEvents()
	want := extended(second, noon(3, 12), noon(2, 28), noon(4, 10)) // 31 March and ten days
	want.WithoutAccess = []events.TimeSpan{span(noon(3, 1), noon(3, 11))}
	if diff := cmp.Diff([]events.SubscriptionEvent{want}, made); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLateRenewal_ThePlanOfASubscriptionKeepsItsTerm(t *testing.T) {
	t.Parallel()
	expiring, plain := terms(events.Prepaid), terms(events.Prepaid)
	expiring.LateRenewal, plain.LateRenewal = events.FromExpiry, events.FromPayment
	s := decidertest.For(t, plans(), now).Given(events.PlanCreated{
		PlanID: plan, OrgID: org, Code: "HOME10", Terms: terms(events.Prepaid),
	})
	s.When(commands.RevisePlan{PlanID: plan, Terms: plain}).ThenNothing() // what terms without the choice mean
	s.When(commands.RevisePlan{PlanID: plan, Terms: expiring}).Then(events.PlanRevised{
		PlanID: plan, Version: 2, Terms: expiring,
	})
}

// lateLife is a subscription that counts late renewals from the expiry, in a random life.
type lateLife struct {
	r      *rapid.T
	s      subscribers.Subscription
	at     time.Time
	length time.Duration
	grace  bool              // whether the customer has whole access after the paid time
	served []events.TimeSpan // all times of whole access, paid or not, that no credit note has settled
	told   []events.SubscriptionEvent
	paid   int // periods
}

// do decides a command; it must not fail.
func (l *lateLife) do(c commands.SubscriptionCommand) {
	made, err := subscribers.Subscriptions().Decide(l.s, c, l.at)
	if err != nil {
		l.r.Fatalf("%T: %v", c, err)
	}
	for _, e := range made {
		l.s, l.told = subscribers.Subscriptions().Evolve(l.s, e), append(l.told, e)
	}
}

// pass lets time go by.
func (l *lateLife) pass(d time.Duration) {
	end := l.at.Add(d)
	if l.s.State == subscribers.Active {
		if until := l.s.PaidUntil(); until.After(l.at) {
			if until.After(end) {
				until = end
			}
			l.served, l.at = append(l.served, span(l.at, until)), until
		}
		if l.grace && !l.s.PaidUntil().IsZero() && l.at.Before(end) {
			l.served = append(l.served, span(l.at, end))
		}
	}
	l.at = end
}

// pay pays the next period.
func (l *lateLife) pay() {
	l.do(commands.MakePeriodDue{SubscriptionID: subscription})
	for _, invoice := range l.s.Open() {
		c := paid(invoice, l.at)
		c.Served = l.served
		l.do(c)
		l.paid++
	}
}

// takeBack takes the payment of a period back, or drops its invoice too.
func (l *lateLife) takeBack(drop bool) {
	var paid []id.Invoice
	for _, p := range l.s.Periods {
		if p.State == subscribers.PeriodPaid {
			paid = append(paid, p.InvoiceID)
		}
	}
	if len(paid) == 0 {
		return
	}
	l.paid--
	invoice := rapid.SampledFrom(paid[max(0, len(paid)-2):]).Draw(l.r, "taken back")
	if drop {
		l.do(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: invoice})
		return
	}
	l.do(commands.WithdrawPeriod{SubscriptionID: subscription, InvoiceID: invoice, Reason: "x"})
}

// check compares what was served with what was paid: each moment of whole access is in exactly one paid period, apart
// from those since the end of the paid time, and no paid time is lost. While the
// money of a period is taken back, what it gave is a debt, and nothing is compared.
func (l *lateLife) check() {
	again := subscribers.Subscription{}
	for _, e := range l.told {
		again = subscribers.Subscriptions().Evolve(again, e)
	}
	if diff := cmp.Diff(l.s, again); diff != "" {
		l.r.Fatalf("the fold of the events differs (-state +fold)\n%s", diff)
	}
	if slices.ContainsFunc(l.s.Periods,
		func(p subscribers.Period) bool { return p.State == subscribers.PeriodWithdrawn }) {
		return
	}
	until, own := l.s.PaidUntil(), l.at
	if l.s.State == subscribers.Paused {
		own = l.s.PausedAt
	}
	var covered time.Duration
	for _, g := range l.served {
		if g.To.After(until) {
			g.To = until
		}
		covered += max(0, g.To.Sub(g.From))
	}
	if has := covered + max(0, until.Sub(own)); has != time.Duration(l.paid)*l.length {
		l.r.Fatalf("%d periods of %s are paid, and the customer has %s; paid until %s, at %s", l.paid, l.length, has,
			until, l.at)
	}
	var last time.Time
	for i, place := range l.s.Course().Places {
		if l.s.Periods[i].State != subscribers.PeriodPaid {
			continue
		}
		if place.From.Before(last) || served(l.s, place.From, place.To) != l.length {
			l.r.Fatalf("period %d lies in %v, after %s", i+1, place, last)
		}
		last = place.To
	}
}

// docs/rules/subscribers.md#late-renewal
func TestLateRenewal_EachMomentOfWholeAccessIsPaidOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		unit := rapid.SampledFrom([]calendar.Period{calendar.Hour, calendar.Day, calendar.Week}).Draw(r, "unit")
		l := &lateLife{r: r, at: now, length: map[calendar.Period]time.Duration{
			calendar.Hour: time.Hour, calendar.Day: day, calendar.Week: 7 * day,
		}[unit]}
		c := create(events.Prepaid)
		c.Timezone, c.Terms.Period, c.Terms.LateRenewal = "UTC", unit, events.FromExpiry
		l.do(c)
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			switch rapid.IntRange(0, 9).Draw(r, "step") {
			case 0, 1:
				l.grace = !l.grace
			case 2:
				if l.s.State == subscribers.Active {
					l.do(commands.PauseSubscription{SubscriptionID: subscription, Reason: "x"})
				}
			case 3:
				if l.s.State == subscribers.Paused {
					l.do(commands.ResumeSubscription{SubscriptionID: subscription, Reason: "x"})
				}
			case 4: // pays in the very instant
				if until := l.s.PaidUntil(); l.s.State == subscribers.Active && until.After(l.at) {
					l.pass(until.Sub(l.at))
				}
				l.pay()
			case 8:
				l.takeBack(false)
			case 5: // pays several periods at once
				l.pay()
				l.pay()
			default:
				l.pay()
			}
			l.check()
			l.pass(time.Duration(rapid.IntRange(0, 60).Draw(r, "tenths")) * l.length / 10)
			l.check()
		}
		closed := subscribers.Subscriptions().Evolve(subscribers.Subscription{}, subscribers.Subscriptions().Close(l.s))
		if !closed.PaidUntil().Equal(l.s.PaidUntil()) {
			r.Fatalf("paid until %s, after the stream was closed %s", l.s.PaidUntil(), closed.PaidUntil())
		}
	})
}
