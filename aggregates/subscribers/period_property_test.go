package subscribers_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// day is the length of the periods in these lives, in UTC.
const day = 24 * time.Hour

// played is a subscription with daily periods in a random life, and what a bystander has seen of it.
type played struct {
	r        *rapid.T
	s        subscribers.Subscription
	short    subscribers.Subscription // the same life, compacted to few periods again and again
	at       time.Time
	recorded []events.SubscriptionEvent
	places   map[id.Invoice]events.PeriodPlace // as the events told them
	ever     map[id.Invoice]bool               // periods that were paid at least once
	served   time.Duration                     // time in which the customer had service
	credited map[id.Invoice]int                // days that are not to be paid
	until    time.Time                         // paidUntil as the events told it
}

// begin creates the subscription.
func begin(r *rapid.T, mode events.BillingMode) *played {
	c := create(mode)
	c.Timezone, c.Terms.Period = "UTC", calendar.Day
	return play(r, c)
}

// play begins the life of a subscription.
func play(r *rapid.T, c commands.CreateSubscription) *played {
	p := &played{
		r: r, at: now, places: map[id.Invoice]events.PeriodPlace{}, ever: map[id.Invoice]bool{},
		credited: map[id.Invoice]int{},
	}
	p.do(c)
	return p
}

// credit adds up the days that are not to be paid.
func (p *played) credit(list []events.DaysCredit) {
	for _, c := range list {
		p.credited[c.InvoiceID] += c.Days
		if c.Days < 1 || p.credited[c.InvoiceID] > c.Of {
			p.r.Fatalf("credit %+v, in all %d days", c, p.credited[c.InvoiceID])
		}
	}
}

// do decides a command for both states, which must agree unless the period is too old for the short one.
func (p *played) do(c commands.SubscriptionCommand) {
	made, err := subscribers.Subscriptions().Decide(p.s, c, p.at)
	short, shortErr := subscribers.Subscriptions().Decide(p.short, c, p.at)
	if failure.CodeOf(shortErr) == "period_archived" {
		return
	}
	if failure.CodeOf(err) != failure.CodeOf(shortErr) {
		p.r.Fatalf("%T is answered %v, compacted %v", c, err, shortErr)
	}
	if diff := cmp.Diff(made, short); diff != "" {
		p.r.Fatalf("%T is decided otherwise after compaction (-whole +compacted)\n%s", c, diff)
	}
	for _, e := range made {
		p.s = subscribers.Subscriptions().Evolve(p.s, e)
		p.short = subscribers.Subscriptions().Evolve(p.short, e)
		p.recorded = append(p.recorded, e)
		p.watch(e)
	}
	p.check()
}

// watch follows the events as a read model does.
func (p *played) watch(e events.SubscriptionEvent) {
	place := func(list []events.PeriodPlace) {
		for _, m := range list {
			p.places[m.InvoiceID] = m
		}
	}
	switch e := e.(type) {
	case events.SubscriptionExtended:
		p.credit(e.Credits)
		p.ever[e.InvoiceID], p.until = true, e.PaidUntil
		place(append(e.Moved, events.PeriodPlace{InvoiceID: e.InvoiceID, From: e.From, To: e.To}))
	case events.PeriodWithdrawn:
		p.until = e.PaidUntil
		place(e.Moved)
	case events.PeriodCancelled:
		p.until = e.PaidUntil
		place(e.Moved)
	case events.SubscriptionResumed:
		p.credit(e.Credits)
		p.until = e.PaidUntil
		place(e.Moved)
	case events.BillingResumed:
		p.credit(e.Credits)
		p.until = e.PaidUntil
		place(e.Moved)
	case events.PeriodDue:
		place([]events.PeriodPlace{{InvoiceID: e.InvoiceID, From: e.From, To: e.To}})
	case events.SubscriptionCreated, events.SubscriptionActivated, events.SubscriptionPaused, events.SubscriptionEnded,
		events.SubscriptionPeriodClosed:
	}
}

// pass lets time go by, in which the customer is served while active and paid.
func (p *played) pass(d time.Duration) {
	if p.s.State == subscribers.Active && p.s.PaidUntil().After(p.at) {
		p.served += min(d, p.s.PaidUntil().Sub(p.at))
	}
	p.at = p.at.Add(d)
}

// check compares the events with the facts: the state, paidUntil, and the place of each paid period, which has its
// whole length and shares no time with another.
func (p *played) check() {
	again := subscribers.Subscription{}
	for _, e := range p.recorded {
		again = subscribers.Subscriptions().Evolve(again, e)
	}
	if diff := cmp.Diff(p.s, again); diff != "" {
		p.r.Fatalf("the fold of the events differs (-state +fold)\n%s", diff)
	}
	course := p.s.Course()
	if !course.PaidUntil.Equal(p.until) {
		p.r.Fatalf("paidUntil %s, the events told %s", course.PaidUntil, p.until)
	}
	var last time.Time
	for i, period := range p.s.Periods {
		place := course.Places[i]
		if period.State != subscribers.PeriodPaid {
			continue
		}
		told := p.places[period.InvoiceID]
		if !told.From.Equal(place.From) || !told.To.Equal(place.To) {
			p.r.Fatalf("period %d lies in %v, the events told %v", period.Ordinal, place, told)
		}
		if place.From.Before(last) || !p.whole(period, place) {
			p.r.Fatalf("period %d in %v after %s has %s", period.Ordinal, place, last,
				served(p.s, place.From, place.To))
		}
		last = place.To
	}
}

// whole reports whether a place has the length of its period: a day, or for a billing day its days or a month.
func (p *played) whole(period subscribers.Period, place subscribers.Span) bool {
	if period.BillingDay == 0 {
		return served(p.s, place.From, place.To) == day
	}
	zone, err := time.LoadLocation(p.s.Timezone)
	if err != nil {
		p.r.Fatal(err)
	}
	first := calendar.On(place.From, zone)
	end := first.AddDays(period.Days)
	if period.Days == 0 {
		end = calendar.On(calendar.Month.After(place.From, first.Day, zone), zone)
	}
	return place.To.Equal(end.Start(zone))
}

// served is the length of a span without the gaps in it.
func served(s subscribers.Subscription, from, to time.Time) time.Duration {
	length := to.Sub(from)
	for _, g := range s.Gaps {
		start, end := g.From, g.To
		if start.Before(from) {
			start = from
		}
		if end.After(to) {
			end = to
		}
		length -= max(0, end.Sub(start))
	}
	return length
}

// inState lists the invoices whose period is at present due, paid, withdrawn or cancelled.
func (p *played) inState(state subscribers.PeriodState) []id.Invoice {
	var list []id.Invoice
	for _, period := range p.s.Periods {
		if period.State == state {
			list = append(list, period.InvoiceID)
		}
	}
	return list
}

// one draws an invoice; false without any.
func (p *played) one(list []id.Invoice) (id.Invoice, bool) {
	if len(list) == 0 {
		return id.Invoice{}, false
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(p.r, "which")], true
}

// step lets some hours pass, then does one random thing. Cancelling is drawn only when it is wanted.
func (p *played) step(cancels bool) {
	p.pass(time.Duration(rapid.IntRange(0, 40).Draw(p.r, "hours")) * time.Hour)
	switch rapid.IntRange(0, 11).Draw(p.r, "step") {
	case 0:
		p.do(commands.PauseSubscription{SubscriptionID: subscription, Reason: "x"})
	case 1:
		p.do(commands.ResumeSubscription{SubscriptionID: subscription, Reason: "x"})
	case 2, 3:
		if invoice, ok := p.one(p.inState(subscribers.PeriodPaid)); ok {
			p.do(commands.WithdrawPeriod{SubscriptionID: subscription, InvoiceID: invoice, Reason: "x"})
		}
	case 4:
		all := append(p.inState(subscribers.PeriodPaid), p.s.Open()...)
		if invoice, ok := p.one(all); ok && cancels {
			p.do(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: invoice})
		}
	case 5:
		p.short = subscribers.Compacted(p.short, 3)
		p.short = subscribers.Subscriptions().Evolve(subscribers.Subscription{},
			subscribers.Subscriptions().Close(p.short))
	case 6:
		p.do(commands.MakePeriodDue{SubscriptionID: subscription})
	case 7:
		p.do(commands.SuspendBilling{SubscriptionID: subscription, At: p.at})
	case 8:
		p.do(commands.ResumeBilling{SubscriptionID: subscription, At: p.at})
	default:
		p.do(commands.MakePeriodDue{SubscriptionID: subscription})
		if invoice, ok := p.one(p.s.Open()); ok {
			p.do(paid(invoice, p.at))
		}
	}
}

// given is the time that the customer had or will have.
func (p *played) given() time.Duration {
	at := p.at
	if p.s.State == subscribers.Paused {
		at = p.s.PausedAt
	}
	return p.served + max(0, p.s.PaidUntil().Sub(at))
}

func TestPeriods_APrepaidCustomerGetsWhatIsPaidAndNothingTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		p := begin(r, events.Prepaid)
		cancels := rapid.Bool().Draw(r, "cancels")
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			p.step(cancels)
			least, most := len(p.inState(subscribers.PeriodPaid)), len(p.ever)
			if given := p.given(); given < time.Duration(least)*day || given > time.Duration(most)*day {
				r.Fatalf("%d periods are paid, %d ever were, and the customer has %s", least, most, given)
			}
		}
		for _, invoice := range p.inState(subscribers.PeriodWithdrawn) { // whoever took the money back pays again
			p.pass(time.Duration(rapid.IntRange(0, 40).Draw(r, "hours")) * time.Hour)
			p.do(paid(invoice, p.at))
		}
		archived := len(p.inState(subscribers.PeriodWithdrawn)) > 0 // by the compacted twin
		if given := p.given(); !cancels && !archived && given != time.Duration(len(p.ever))*day {
			r.Fatalf("%d periods are paid, and the customer has %s", len(p.ever), given)
		}
		p.do(commands.EndSubscription{SubscriptionID: subscription, Reason: "x"})
		before := len(p.recorded)
		p.do(commands.MakePeriodDue{SubscriptionID: subscription})
		if len(p.recorded) != before {
			r.Fatalf("an ended subscription made %+v", p.recorded[before:])
		}
	})
}

func TestPeriods_APostpaidLifeIsToldByItsEvents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		c := create(events.Postpaid)
		c.Timezone, c.Terms.Period = "UTC", calendar.Day
		c.Terms.BillWhileSuspended = rapid.SampledFrom(suspendedBillings).Draw(r, "billed while suspended")
		p := play(r, c)
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			p.step(true)
		}
		for i, place := range p.s.Course().Places {
			if i > 0 && place.From.Before(p.s.Course().Places[i-1].To) || served(p.s, place.From, place.To) != day {
				r.Fatalf("the periods lie in %v", p.s.Course().Places)
			}
		}
	})
}

// TestWithdrawPeriod_TheOrderOfWithdrawalsMakesNoDifference takes the same payments back at one moment, in two orders.
func TestWithdrawPeriod_TheOrderOfWithdrawalsMakesNoDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		p := begin(r, rapid.SampledFrom([]events.BillingMode{events.Prepaid, events.Postpaid}).Draw(r, "mode"))
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			p.step(false)
		}
		paidOnes := p.inState(subscribers.PeriodPaid)
		if len(paidOnes) == 0 {
			return
		}
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(paidOnes), 0, len(paidOnes), rapid.ID).Draw(r, "withdrawn")
		other := rapid.Permutation(some).Draw(r, "other order")
		start := *p
		take := func(list []id.Invoice) subscribers.Subscription {
			s := start.s
			for _, invoice := range list {
				made, err := subscribers.Subscriptions().Decide(s, commands.WithdrawPeriod{
					SubscriptionID: subscription, InvoiceID: invoice, Reason: "x",
				}, p.at)
				if err != nil || len(made) != 1 {
					r.Fatalf("withdrawal gives %v, %v", made, err)
				}
				s = subscribers.Subscriptions().Evolve(s, made[0])
			}
			return s
		}
		if diff := cmp.Diff(take(some), take(other)); diff != "" {
			r.Fatalf("(-one order +other)\n%s", diff)
		}
	})
}

// TestUpcoming_IsWhatBecomesDueWhenNothingChanges asks in the middle of a random life what comes, and lets it come.
func TestUpcoming_IsWhatBecomesDueWhenNothingChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		c := create(rapid.SampledFrom([]events.BillingMode{events.Prepaid, events.Postpaid}).Draw(r, "mode"))
		if c.Terms.AnchorDay = rapid.IntRange(0, 28).Draw(r, "day"); c.Terms.AnchorDay == 0 {
			c.Timezone, c.Terms.Period = "UTC", calendar.Day
		}
		p := play(r, c)
		for n := range rapid.IntRange(0, 15).Draw(r, "steps") {
			p.at = p.at.Add(time.Duration(rapid.IntRange(0, 20*24).Draw(r, "hours")) * time.Hour)
			p.billedStep(false)
			p.beside(n)
		}
		coming := p.s.Upcoming(p.at, 3)
		if running := p.s.State != subscribers.Paused; running != (len(coming) == 3) {
			r.Fatalf("%d periods come for one that is %s", len(coming), p.s.State)
		}
		for _, next := range coming {
			for _, open := range p.s.Open() {
				if period, _ := p.s.Period(open); period.Mode == events.Prepaid {
					at := p.at
					for _, known := range []time.Time{p.s.PaidUntil(), p.s.StartsAt} {
						if known.After(at) {
							at = known
						}
					}
					p.do(paid(open, at))
				}
			}
			before := len(p.recorded)
			p.at = next.At
			p.do(commands.MakePeriodDue{SubscriptionID: subscription})
			due, ok := p.recorded[len(p.recorded)-1].(events.PeriodDue)
			if diff := cmp.Diff(next.Due, due); !ok || len(p.recorded) == before || diff != "" {
				r.Fatalf("(-told +made)\n%s", diff)
			}
		}
	})
}
