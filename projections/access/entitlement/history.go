package entitlement

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// History folds events of one subscriber into the state that they lead to. Events of one stream come in their order; a
// subscription is created before its dunning is told. The zero value has seen nothing. Not safe for concurrent use.
type History struct {
	subscriber   id.Subscriber
	registeredAt time.Time
	block        *Block
	owned        []*line // in the order in which they were created
}

// line has the input of Of for one subscription, except the invoice that is open longest.
type line struct {
	Subscription
	open []id.Invoice // unpaid invoices of periods, the oldest first
}

// State is the input of Of after all events that were applied. Subscriptions that have ended are left out, except the
// one that ended last where all have: it says why there is no access. The hours of plans are in a zone.
func (h *History) State(zone *time.Location) State {
	s := State{SubscriberID: h.subscriber, RegisteredAt: h.registeredAt, Block: h.block}
	var last *line
	for _, l := range h.owned {
		if l.Standing == Ended {
			if last == nil || !l.Since.Before(last.Since) {
				last = l
			}
			continue
		}
		one := l.Subscription
		if one.Zone = zone; len(l.open) > 0 {
			one.OpenInvoice = l.open[0]
		}
		s.Subscriptions = append(s.Subscriptions, one)
	}
	if len(s.Subscriptions) == 0 && last != nil {
		one := last.Subscription
		one.Zone = zone
		s.Subscriptions = append(s.Subscriptions, one)
	}
	return s
}

// Apply folds one event. Events that do not change entitlement change nothing.
func (h *History) Apply(e events.Envelope) {
	switch v := e.Event.(type) {
	case events.SubscriberRegistered:
		h.subscriber, h.registeredAt = v.SubscriberID, v.RegisteredAt
	case events.SubscriberBlocked:
		h.block = &Block{Since: e.Meta.At, EventID: e.ID}
	case events.SubscriberUnblocked:
		h.block = nil
	case events.SubscriptionCreated:
		h.owned = append(h.owned, &line{Subscription: Subscription{
			ID: v.SubscriptionID, Standing: Pending, Mode: v.Terms.Mode, CreatedAt: v.CreatedAt, Since: v.CreatedAt,
			StartsAt: v.StartsAt, Rates: v.Terms.Rates, Terms: v.Terms.Access,
		}})
	case events.SubscriptionEvent:
		h.live(v, PaidTold{At: e.Meta.At, EventID: e.ID})
	case events.DunningEvent:
		if l := h.find(events.SubjectOf(v).SubscriptionID); l != nil {
			l.Dunning = l.Dunning.After(v, e.ID)
		}
	case events.UsageEvent:
		if l := h.find(events.UsageSubjectOf(v).SubscriptionID); l != nil {
			l.Used = l.Used.After(v, e.ID)
		}
	}
}

// live folds an event of a subscription's life; told names the event.
func (h *History) live(e events.SubscriptionEvent, told PaidTold) {
	switch v := e.(type) {
	case events.PeriodDue:
		h.edit(v.SubscriptionID, func(l *line) { l.owes(v.InvoiceID) })
	case events.SubscriptionActivated:
		h.edit(v.SubscriptionID, func(l *line) { l.Standing, l.Since = Active, v.At })
	case events.SubscriptionExtended:
		h.edit(v.SubscriptionID, func(l *line) { l.settled(v.InvoiceID).PaidUntil, l.Told = v.PaidUntil, told })
	case events.PaidTimeCarriedOver:
		h.edit(v.SubscriptionID, func(l *line) { l.PaidUntil, l.Told = v.PaidUntil, told })
	case events.PeriodWithdrawn:
		h.edit(v.SubscriptionID, func(l *line) {
			l.owes(v.InvoiceID)
			l.LostAt = l.lost(told.At)
			l.PaidUntil, l.Told = v.PaidUntil, told
		})
	case events.PeriodCancelled:
		h.edit(v.SubscriptionID, func(l *line) {
			if l.settled(v.InvoiceID); v.Ordinal > 0 { // one that was recorded without tells no paid time
				l.LostAt = l.lost(told.At)
				l.PaidUntil, l.Told = v.PaidUntil, told
			}
		})
	case events.PeriodReissued:
		h.edit(v.SubscriptionID, func(l *line) {
			if slices.Contains(l.open, v.InvoiceID) {
				l.settled(v.InvoiceID).owes(v.CorrectedID)
			}
		})
	case events.SubscriptionPaused:
		h.edit(v.SubscriptionID, func(l *line) { l.Standing, l.Since, l.StandingBy = Paused, v.At, told.EventID })
	case events.SubscriptionResumed:
		h.edit(v.SubscriptionID, func(l *line) {
			l.Standing, l.Since, l.StandingBy = Active, v.At, id.Event{}
			l.PaidUntil, l.Told = v.PaidUntil, told
		})
	case events.BillingResumed:
		h.edit(v.SubscriptionID, func(l *line) { l.PaidUntil, l.Told = v.PaidUntil, told })
	case events.SubscriptionCompensated:
		h.edit(v.SubscriptionID, func(l *line) { l.PaidUntil, l.Told = v.PaidUntil, told })
	case events.SubscriptionPlanChanged:
		h.edit(v.SubscriptionID, func(l *line) { l.Rates, l.Terms = v.Terms.Rates, v.Terms.Access })
	case events.CompensationTakenBack:
		h.edit(v.SubscriptionID, func(l *line) { l.PaidUntil, l.Told = v.PaidUntil, told })
	case events.SubscriptionEnded:
		h.edit(v.SubscriptionID, func(l *line) { l.Standing, l.Since, l.StandingBy = Ended, v.At, told.EventID })
	case events.SubscriptionCreated, events.BillingSuspended, events.SubscriptionAddressesAssigned,
		events.SubscriptionCredentialsSet, events.SubscriptionCredentialsShown, events.SubscriptionPeriodClosed,
		events.PlanChangePlanned, events.PlanChangeMoved, events.PlanChangeDropped, events.ExtraAdded,
		events.ExtraRemoved, events.ChargesDue, events.UndoneWaitEnded:
	}
}

// find is a subscription that was created; nil for another one.
func (h *History) find(subscription id.Subscription) *line {
	for _, l := range h.owned {
		if l.ID == subscription {
			return l
		}
	}
	return nil
}

// edit changes a subscription that was created.
func (h *History) edit(subscription id.Subscription, change func(*line)) {
	if l := h.find(subscription); l != nil {
		change(l)
	}
}

// owes makes an invoice the newest of the unpaid ones.
func (l *line) owes(invoice id.Invoice) { l.open = append(l.settled(invoice).open, invoice) }

// settled takes an invoice from the unpaid ones.
func (l *line) settled(invoice id.Invoice) *line {
	l.open = slices.DeleteFunc(l.open, func(i id.Invoice) bool { return i == invoice })
	return l
}

// After is the step after one more event, which has an id. A step forgets what was expected before it: the review that
// took the step is recorded right after it. The receiver may be nil and is not changed.
func (d *Dunning) After(e events.DunningEvent, recorded id.Event) *Dunning {
	switch v := e.(type) {
	case events.DunningBegan:
		return &Dunning{State: events.DunningReminding, Since: v.At, EventID: recorded}
	case events.WalledGardenEntered:
		return &Dunning{State: events.DunningWalledGarden, Since: v.At, EventID: recorded}
	case events.ServiceSuspended:
		next := &Dunning{State: events.DunningSuspended, Since: v.At, EventID: recorded}
		if d != nil && !d.Cut.Since.IsZero() { // no write-off is proposed any more; the suspension goes on
			next.Since, next.EventID = d.Cut.Since, d.Cut.EventID
		}
		return next
	case events.WriteOffProposed:
		next := &Dunning{State: events.DunningWrittenOff, Since: v.At, EventID: recorded}
		next.Cut = Cut{Since: v.At, EventID: recorded}
		if d != nil && d.State == events.DunningSuspended {
			next.Cut = Cut{Since: d.Since, EventID: d.EventID}
		}
		return next
	case events.DunningEnded:
		return nil
	case events.DunningReviewed:
		next := Dunning{NextState: v.NextState, Next: v.NextAt}
		if d != nil {
			next.State, next.Since, next.EventID, next.Cut = d.State, d.Since, d.EventID, d.Cut
		}
		if next == (Dunning{}) {
			return nil
		}
		return &next
	case events.DunningReminded, events.HoldPlaced, events.HoldLifted, events.DunningClockStopped,
		events.DunningClockStarted, events.DunningPeriodClosed, events.DunningReviewAsked:
	}
	return d
}
