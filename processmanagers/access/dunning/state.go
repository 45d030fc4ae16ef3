package dunning

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// State has what one subscriber owes. The zero value is a subscriber without subscriptions.
type State struct {
	Lines    map[id.Subscription]Line `json:"lines,omitempty"`
	Invoices map[id.Invoice]Invoice   `json:"invoices,omitempty"` // issued ones; settled ones stay for a while
	WriteOff id.Receipt               `json:"writeOff,omitzero"`  // the newest one: allocations name it as receipt
}

// Line is one subscription.
type Line struct {
	Subject events.DunningSubject `json:"subject"`
	PlanID  id.Plan               `json:"planId"`
	Policy  string                `json:"policy,omitempty"` // the name in the plan
	Short   bool                  `json:"short,omitempty"`  // billed by hour or day, and names no policy
	Prepaid bool                  `json:"prepaid,omitempty"`
	// Resting is set of a line that owes nothing any more: it has ended, or was paused before Paused was kept.
	Resting bool `json:"resting,omitempty"`
	// Paused is the latest pause; To is zero while it lasts. Stopped says that the clock stands still for it.
	Paused    events.TimeSpan `json:"paused,omitzero"`
	Stopped   bool            `json:"stopped,omitempty"`
	PaidUntil time.Time       `json:"paidUntil,omitzero"`
	// Owed is never empty. It reaches back to the last instant without a course.
	Owed []events.DunningOwed `json:"owed"`
	// Lost are the debts that were given up while the line was cut. They count as if they were still due until money
	// comes. An amount of zero was recovered, and comes back when that money is taken back.
	Lost   map[id.Invoice]events.DunningDebt `json:"lost,omitempty"`
	State  events.DunningState               `json:"state,omitempty"` // that the last review recorded
	WakeAt time.Time                         `json:"wakeAt,omitzero"` // as the last review recorded it
	Waits  int                               `json:"waits,omitempty"` // timed reviews since then, when cuts waited
}

// Invoice is one issued invoice.
type Invoice struct {
	Subscription id.Subscription `json:"subscriptionId"`  // whose period it is; null = of no period
	SoldTo       id.Subscription `json:"soldTo,omitzero"` // that got what was sold beside its periods
	DueOn        calendar.Date   `json:"dueOn"`
	Due          money.Amount    `json:"due"`               // 0 = settled
	GivenUp      bool            `json:"givenUp,omitempty"` // a rest of it, or all of it
}

// Bounds on the state of one subscriber. A settled invoice is needed again only when its payment is taken back. Of one
// that was paid whole the account tells all about it then; of one that was given up only that money was taken from it.
const (
	maxSettled = 36
	maxGivenUp = 36
	maxOwed    = 60
)

// present has the debts and the paid time that hold now.
func (l Line) present() events.DunningOwed { return l.Owed[len(l.Owed)-1] }

// paused reports whether the line is paused now.
func (l Line) paused() bool { return !l.Paused.From.IsZero() && l.Paused.To.IsZero() }

// clock has the command that stops the clock of dunning in a pause of a line that owes something, or starts it
// afterwards; none when the clock is as it should be. What the line owes does not change by a pause, nor does its
// course.
func (l Line) clock() []commands.Command {
	owed := l.present()
	switch {
	case l.paused() && !l.Stopped && !owed.Same(events.DunningOwed{}):
		return []commands.Command{commands.StopClock{
			Subject: l.Subject, Cause: events.ClockPaused, From: l.Paused.From,
		}}
	case !l.paused() && l.Stopped:
		return []commands.Command{commands.StartClock{
			Subject: l.Subject, Cause: events.ClockPaused, Until: l.Paused.To,
		}}
	}
	return nil
}

// review is the command that looks at everything anew; timed says that no event asks for it.
func (l Line) review(timed bool) commands.Command {
	return commands.ReviewDunning{
		Subject: l.Subject, PlanID: l.PlanID, Policy: l.Policy, Short: l.Short, Timed: timed, Owed: l.Owed,
	}
}

// evolve follows subscriptions, invoices and reviews. It never changes the maps and lists of s.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s.waits(in.Refusal)
	}
	s.Lines, s.Invoices = clone(s.Lines), clone(s.Invoices)
	at := in.Event.Meta.At
	if e, ok := in.Event.Event.(events.DebtWrittenOff); ok {
		s.WriteOff = e.WriteOffID
	}
	s.subscription(in.Event.Event, at)
	s.loss(in.Event.Event)
	s.invoice(in.Event.Event, at)
	s.trim()
	for k, l := range s.Lines {
		owed := s.owed(k, l, at)
		if owed.Same(l.present()) {
			continue
		}
		switch {
		case l.State.Rank() == 0:
			l.Owed = []events.DunningOwed{owed}
		case len(l.Owed) < maxOwed:
			l.Owed = append(slices.Clone(l.Owed), owed)
		default: // the beginning of the course stays
			l.Owed = append(slices.Delete(slices.Clone(l.Owed), 1, 2), owed)
		}
		s.Lines[k] = l
	}
	return s
}

// mostWaits bounds what is counted: more make no difference.
const mostWaits = 6

// waits counts the timed reviews when cuts waited.
func (s State) waits(r *processmanagers.Refusal) State {
	if r == nil || r.Code != commands.CodeCutsWait {
		return s
	}
	if c, ok := r.Asked.(commands.ReviewDunning); ok && c.Timed {
		s.Lines = clone(s.Lines)
		s.change(c.Subject.SubscriptionID, func(l *Line) { l.Waits = min(l.Waits+1, mostWaits) })
	}
	return s
}

// clone is a copy that is never nil.
func clone[K comparable, V any](m map[K]V) map[K]V {
	out := make(map[K]V, len(m)+1)
	maps.Copy(out, m)
	return out
}

// sold takes over the terms of a plan.
func (l *Line) sold(plan id.Plan, t events.PlanTerms) {
	l.PlanID, l.Policy = plan, t.Access.DunningPolicy
	l.Prepaid, l.Short = t.Mode == events.Prepaid, t.ShortDunning()
}

// subscription applies an event of a subscription or of its dunning.
func (s State) subscription(e events.Event, at time.Time) {
	switch e := e.(type) {
	case events.SubscriptionCreated:
		line := Line{Owed: []events.DunningOwed{{At: at}}, Subject: events.DunningSubject{
			SubscriptionID: e.SubscriptionID, OrgID: e.OrgID, SubscriberID: e.SubscriberID,
		}}
		line.sold(e.PlanID, e.Terms)
		s.Lines[e.SubscriptionID] = line
	case events.SubscriptionExtended:
		s.change(e.SubscriptionID, func(l *Line) { l.PaidUntil = e.PaidUntil })
	case events.PaidTimeCarriedOver:
		s.change(e.SubscriptionID, func(l *Line) { l.PaidUntil = e.PaidUntil })
	case events.PeriodWithdrawn:
		if e.Ordinal > 0 {
			s.change(e.SubscriptionID, func(l *Line) { l.PaidUntil = e.PaidUntil })
		}
	case events.PeriodCancelled:
		if e.Ordinal > 0 { // otherwise it was recorded without the paid time
			s.change(e.SubscriptionID, func(l *Line) { l.PaidUntil = e.PaidUntil })
		}
	case events.SubscriptionPaused:
		s.change(e.SubscriptionID, func(l *Line) { l.Paused = events.TimeSpan{From: at} })
	case events.SubscriptionResumed:
		s.change(e.SubscriptionID, func(l *Line) {
			l.resumed(at)
			l.Resting, l.PaidUntil = false, e.PaidUntil
		})
	case events.SubscriptionCompensated:
		s.change(e.SubscriptionID, func(l *Line) { l.PaidUntil = e.PaidUntil })
	case events.SubscriptionPlanChanged:
		s.change(e.SubscriptionID, func(l *Line) { l.sold(e.PlanID, e.Terms) })
	case events.CompensationTakenBack:
		s.change(e.SubscriptionID, func(l *Line) { l.PaidUntil = e.PaidUntil })
	case events.SubscriptionEnded:
		s.change(e.SubscriptionID, func(l *Line) {
			l.resumed(at)
			l.Resting = true
		})
	case events.DunningClockStopped:
		s.change(e.SubscriptionID, func(l *Line) { l.Stopped = l.Stopped || e.Cause == events.ClockPaused })
	case events.DunningClockStarted:
		s.change(e.SubscriptionID, func(l *Line) { l.Stopped = l.Stopped && e.Cause != events.ClockPaused })
	case events.DunningReviewed:
		s.change(e.SubscriptionID, func(l *Line) {
			l.State, l.WakeAt, l.Waits = e.State, e.WakeAt, 0
			found := l.found(e)
			switch {
			case e.State.Rank() == 0:
				l.Owed = l.Owed[len(l.Owed)-1:]
				l.Lost = recovered(l.Lost)
			case !e.Since.IsZero() && found >= 0: // the same due instant held all the time: its beginning says as much
				before := slices.DeleteFunc(slices.Clone(l.Owed[:found]), func(o events.DunningOwed) bool {
					return e.Since.Before(o.At) && o.At.Before(e.Owed.At)
				})
				l.Owed = slices.Concat(before, l.Owed[found:])
			}
		})
	}
}

// found is the index of what a review was about; -1 when it is forgotten already. What is dated later than the review
// is from when a clock was ahead, and gets the instant that the review gave it, as does all before it. What came after
// the review was asked for can be the same again, and is another entry.
func (l *Line) found(e events.DunningReviewed) int {
	l.Owed = slices.Clone(l.Owed)
	found := slices.IndexFunc(l.Owed, func(o events.DunningOwed) bool {
		return o.Same(e.Owed) && (o.At.Equal(e.Owed.At) || o.At.After(e.At))
	})
	for i := range l.Owed[:found+1] {
		if l.Owed[i].At.After(e.Owed.At) {
			l.Owed[i].At = e.Owed.At
		}
	}
	return found
}

// resumed ends the pause of a line, if there is one, also one that is not known.
func (l *Line) resumed(at time.Time) {
	if l.paused() || l.Paused.From.IsZero() {
		l.Paused.To = at
	}
}

// change edits a subscription that is known.
func (s State) change(subscription id.Subscription, edit func(*Line)) {
	if l, ok := s.Lines[subscription]; ok {
		edit(&l)
		s.Lines[subscription] = l
	}
}

// invoice applies an event of the account.
func (s State) invoice(e events.Event, at time.Time) {
	switch e := e.(type) {
	case events.InvoiceIssued:
		if !e.Order { // an order is no debt, unless it was paid and its payment is taken back
			s.Invoices[e.InvoiceID] = Invoice{
				Subscription: e.SubscriptionID, SoldTo: e.SoldTo, DueOn: e.DueOn, Due: e.Total,
			}
		}
	case events.BalanceCarriedOver:
		if e.Amount.Positive() {
			s.Invoices[e.InvoiceID] = Invoice{DueOn: e.DueOn, Due: e.Amount}
		}
	case events.InvoiceAllocated:
		s.due(e.InvoiceID, e.Due)
	case events.AllocationWithdrawn:
		s.due(e.InvoiceID, e.Due)
	case events.InvoicePaid:
		s.due(e.InvoiceID, money.Amount{})
		if e.WrittenOff.Positive() {
			s.givenUp(e.InvoiceID)
		}
	case events.InvoiceReopened:
		if _, known := s.Invoices[e.InvoiceID]; !known { // settled long ago, or an order: it is due from now on
			s.Invoices[e.InvoiceID] = Invoice{
				Subscription: e.SubscriptionID, SoldTo: e.SoldTo, DueOn: calendar.On(at, time.UTC),
			}
		}
		s.due(e.InvoiceID, e.Due)
	case events.InvoiceVoided:
		delete(s.Invoices, e.InvoiceID)
	case events.InvoiceCancelled:
		delete(s.Invoices, e.InvoiceID)
	case events.InvoiceWrittenOff: // what was paid on it before may be taken back, and is owed then
		s.due(e.InvoiceID, money.Amount{})
		s.givenUp(e.InvoiceID)
	}
}

// givenUp notes that a part of an invoice on which nothing is due was given up.
func (s State) givenUp(invoice id.Invoice) {
	if i, ok := s.Invoices[invoice]; ok {
		i.GivenUp = true
		s.Invoices[invoice] = i
	}
}

// due sets what an invoice still needs.
func (s State) due(invoice id.Invoice, due money.Amount) {
	if i, ok := s.Invoices[invoice]; ok {
		i.Due = due
		s.Invoices[invoice] = i
	}
}

// trim forgets the settled invoices that were due first, when there are too many that were paid or given up.
func (s State) trim() {
	var paid, givenUp []id.Invoice
	for k, i := range s.Invoices {
		switch {
		case i.Due.Minor > 0:
		case i.GivenUp:
			givenUp = append(givenUp, k)
		default:
			paid = append(paid, k)
		}
	}
	s.keep(paid, maxSettled)
	s.keep(givenUp, maxGivenUp)
}

// keep forgets all but n of the invoices, those that were due first.
func (s State) keep(list []id.Invoice, n int) {
	if len(list) <= n {
		return
	}
	slices.SortFunc(list, s.compare)
	for _, k := range list[:len(list)-n] {
		delete(s.Invoices, k)
	}
}

// compare orders invoices by due date, then by id.
func (s State) compare(a, b id.Invoice) int {
	return compareDebts(
		events.DunningDebt{InvoiceID: a, DueOn: s.Invoices[a].DueOn},
		events.DunningDebt{InvoiceID: b, DueOn: s.Invoices[b].DueOn},
	)
}

// compareDebts orders debts by due date, then by the id of the invoice.
func compareDebts(a, b events.DunningDebt) int {
	byDay := a.DueOn.Start(time.UTC).Compare(b.DueOn.Start(time.UTC))
	if byDay != 0 {
		return byDay
	}
	return strings.Compare(a.InvoiceID.String(), b.InvoiceID.String())
}

// owed gives the debts and the paid time of a subscription after an event at an instant. For prepaid the paid time
// decides, and without any there is no service that could be cut. What is left of it when the line is paused comes
// after the pause.
func (s State) owed(k id.Subscription, l Line, at time.Time) events.DunningOwed {
	o := events.DunningOwed{At: at}
	if l.Resting || l.Prepaid && (l.PaidUntil.IsZero() || l.paused() && l.PaidUntil.After(l.Paused.From)) {
		return o
	}
	if l.Prepaid {
		o.PaidUntil = l.PaidUntil
	}
	debts := map[id.Invoice]events.DunningDebt{}
	for n, d := range l.Lost {
		if d.Amount.Minor > 0 {
			d.GivenUp = d.Amount
			debts[n] = d
		}
	}
	for n, i := range s.Invoices {
		if i.Due.Minor <= 0 || !i.countsFor(k, l) {
			continue
		}
		debt := events.DunningDebt{InvoiceID: n, DueOn: i.DueOn, Amount: i.Due}
		if lost, partly := debts[n]; partly {
			debt.Amount, debt.GivenUp = debt.Amount.Add(lost.Amount), lost.Amount
		}
		debts[n] = debt
	}
	o.Debts = slices.SortedFunc(maps.Values(debts), compareDebts)
	return o
}

// countsFor reports whether an invoice is one of a subscription. What was sold to a postpaid one beside its periods
// counts for it alone, and an invoice of no subscription for every postpaid one. Prepaid ones have their periods only.
func (i Invoice) countsFor(k id.Subscription, l Line) bool {
	return i.Subscription == k || i.Subscription.IsZero() && !l.Prepaid && (i.SoldTo.IsZero() || i.SoldTo == k)
}
