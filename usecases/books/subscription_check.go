package bookscases

import (
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// checkSubscriptions looks at paid time, and at whether periods and invoices agree in both directions.
func (b *Books) checkSubscriptions(f *findings) {
	for of, s := range b.subscriptions {
		on := about("subscription", of)
		s.checkTime(f, on)
		for invoice, p := range s.periods {
			b.checkPeriod(f, s, p, invoice, on)
		}
		b.checkService(f, s, on)
		s.checkNext(f, b.runs, on)
	}
	for subscriber, a := range b.accounts {
		for of, inv := range a.invoices {
			if inv.subscription.IsZero() || inv.replaced || inv.awaitsPlace(f) {
				continue
			}
			on := []About{about("invoice", of), about("subscription", inv.subscription), about("account", subscriber)}
			s := b.subscriptions[inv.subscription]
			switch {
			case s == nil || s.periods[of] == nil:
				f.add(InvoiceWithoutPeriod, "the subscription has no such period", on...)
			case s.subscriber != subscriber:
				f.add(InvoiceOfOtherCustomer, "the subscription is of "+s.subscriber.String(), on...)
			}
		}
	}
}

// checkTime compares the paid time with the paid periods, and these with what was bought.
func (s *subscription) checkTime(f *findings, on About) {
	if s.old {
		return
	}
	end := s.carriedEnd()
	var last span
	for _, p := range s.paid() {
		if p.place.from.Before(last.to) {
			f.add(PeriodsOverlap, fmt.Sprintf("%s and %s", last, p.place), on)
		}
		shortest, longest := p.lengths()
		length := p.place.to.Sub(p.place.from)
		if !p.byDay {
			length -= s.unpaid(p.place) + s.granted(p.place)
		}
		if length < shortest || length > longest {
			f.add(PeriodLengthDiffers, fmt.Sprintf("%s is %s long for one %s", p.place, length, p.unit), on)
		}
		if last = p.place; p.place.to.After(end) {
			end = p.place.to
		}
	}
	if computed := s.state.PaidUntil(); !end.Equal(s.paidUntil) || !end.Equal(computed) {
		f.add(PaidUntilDiffers, fmt.Sprintf("paid periods end at %s, the latest event told %s, the subscription has %s",
			instant(end), instant(s.paidUntil), instant(computed)), on)
	}
}

// checkPeriod compares one period with its invoice. Whichever of the two changed last, the other follows within the
// patience.
func (b *Books) checkPeriod(f *findings, s *subscription, p *period, of id.Invoice, on About) {
	inv := b.invoiceOf(s.subscriber, of)
	if inv == nil {
		if p.state != subscribers.PeriodCancelled && f.old(p.since) {
			f.add(PeriodWithoutInvoice, "due since "+p.since.Format(time.RFC3339), on, about("invoice", of))
		}
		return
	}
	if !f.old(p.since) || !f.old(inv.since) {
		return
	}
	over := inv.voided || inv.cancelled || inv.wroteOff
	agree := false
	switch p.state {
	case subscribers.PeriodCancelled:
		agree = over
	case subscribers.PeriodPaid:
		agree = inv.paid && !over
	case subscribers.PeriodDue, subscribers.PeriodWithdrawn:
		agree = !inv.paid && !over
	}
	if !agree {
		f.add(PeriodStateDiffers, fmt.Sprintf(
			"the period is %s; of the invoice: paid %t, voided %t, credited whole %t, written off %t", p.state,
			inv.paid,
			inv.voided, inv.cancelled, inv.wroteOff), on, about("invoice", of))
	}
}

// checkService compares a prepaid subscription with its customer's money: credit renews it, and what it never gave is
// not owed.
func (b *Books) checkService(f *findings, s *subscription, on About) {
	a := b.accounts[s.subscriber]
	if a == nil || s.state.Terms.Mode != events.Prepaid || s.old {
		return
	}
	next := s.state.NextPrice(f.before)
	price, open := max(s.state.Terms.Price.Minor, next.Minor), 0
	for of, p := range s.periods {
		inv := a.invoices[of]
		if inv == nil {
			continue
		}
		if price = max(price, inv.total); p.net > 0 { // the price without tax is smaller
			price = max(price, next.MulDivRounded(inv.total, p.net).Minor+1)
		}
		if p.state != subscribers.PeriodDue && p.state != subscribers.PeriodWithdrawn {
			continue
		}
		open++
		began := !p.given.from.IsZero() && p.given.from.Before(s.ended)
		if !s.ended.IsZero() && !began && f.old(p.since) && f.old(inv.since) && f.old(s.ended) && !inv.settled() {
			f.add(DebtWithoutService, fmt.Sprintf("%s is due, and the subscription ended at %s", p.given,
				instant(s.ended)), on, about("invoice", of))
		}
	}
	idle := s.state.Undone.IsZero() &&
		s.ended.IsZero() && s.paused.IsZero() && open == 0 && f.old(s.since) && f.old(s.paidUntil)
	if idle && price > 0 && a.credit >= price && f.old(a.since) && a.state.Currency == s.state.Terms.Price.Currency {
		f.add(CreditWithoutService, fmt.Sprintf("paid until %s, the credit is %d and a period %d",
			instant(s.paidUntil), a.credit, price), on, about("account", s.subscriber))
	}
}

// checkNext looks for the period in which a postpaid subscription gives service now. While a billing run waits for a
// person, and for a while after its release, nothing becomes due, and that is no fault.
func (s *subscription) checkNext(f *findings, runs heldRuns, on About) {
	end := s.state.Course().End
	if end.IsZero() {
		end = s.state.StartsAt
	}
	running := s.state.Terms.Mode == events.Postpaid && s.state.Undone.IsZero() &&
		s.ended.IsZero() && s.paused.IsZero()
	if running && f.old(end) && f.old(s.since) && len(runs.held) == 0 && f.old(runs.since) {
		f.add(PeriodMissing, "no period is due from "+instant(end)+" on", on)
	}
}

// invoiceOf finds an invoice, on the subscriber's account first; nil when no account has it.
func (b *Books) invoiceOf(subscriber id.Subscriber, of id.Invoice) *invoice {
	if a := b.accounts[subscriber]; a != nil {
		return a.invoices[of]
	}
	return nil
}

// String is the time for a fault.
func (s span) String() string { return instant(s.from) + " to " + instant(s.to) }

// instant is a time for a fault; "never" for the zero time.
func instant(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}
