// Package renewal keeps subscriptions in step with their money: a paid invoice moves PaidUntil, a withdrawn payment
// moves it back. The next period of an hour or a day falls due by a timer. Weeks and months are for the billing run of
// their day; only what has become due by today, after the run, is asked for at once.
//
//	PeriodDue ──► (invoicing, payment) ──► InvoicePaid ──► ExtendSubscription ──► timer "renew:<id>" ──► MakePeriodDue
//	                                                                        └──► due today ──► MakePeriodDue
//	                                        CreditLeft covers the price and nothing is open ──────► MakePeriodDue
//	                                        InvoiceReopened ──► WithdrawPeriod
//	PeriodDue, SubscriptionExtended, -Resumed, -Ended, -Compensated with credits ──► CreditDays
//	                                        InvoiceVoided, InvoiceCancelled, InvoiceWrittenOff ──► CancelPeriod
//	InvoiceCancelled with another in its place ──► ReissuePeriod, and ExtendSubscription or WithdrawPeriod
//	PeriodCancelled that never began ──► VoidInvoice, money on it becomes credit
//	CreditLeft and an order that it covers beside the next periods ──► PayOrders
//	a subscription without service and invoice ──► TellCredit ──► CreditLeft covers the price ──► MakePeriodDue
//	WalledGardenEntered, ServiceSuspended, WriteOffProposed, postpaid ──► SuspendBilling
//	DunningBegan, DunningEnded after that ──► ResumeBilling ──► BillingResumed ──► MakePeriodDue
//	a part of a price that buys days, PeriodReissued with a part paid ──► SellDays ──► InvoicePaid of the part
//	an undone run is asked for before its period is due ──► UndoneWaitEnded ──► as when a period was paid
//	30 days without a first payment ──► timer "expire:<id>" ──► ExpireSubscription
//	a command is refused ──► timer "again" ──► the command again, until it is accepted
//
// One instance serves all subscriptions of a subscriber, because credit belongs to the account and not to one of them.
package renewal

import (
	"cmp"
	"maps"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// State has the subscriptions of one subscriber that have not ended, and the commands that were refused.
type State struct {
	Subscriptions map[id.Subscription]Subscription `json:"subscriptions,omitempty"`
	Refused       []Refused                        `json:"refused,omitempty"` // each once; asked again by the timer
}

// Subscription is the part of one subscription that its renewal depends on.
type Subscription struct {
	Mode  events.BillingMode `json:"mode"`
	Price money.Amount       `json:"price"`
	// Tax is the rule that was told last: at the beginning, by an invoice or by credit. Gross has, instead of it, the
	// total of a whole period when it was kept before the rule was.
	Tax       events.TaxRule  `json:"tax,omitzero"`
	Gross     money.Amount    `json:"gross,omitzero"`
	Period    calendar.Period `json:"period"`
	Paused    bool            `json:"resting,omitempty"` // rows keep the name that they began with
	StartsAt  time.Time       `json:"startsAt,omitzero"` // of prepaid: there is no period before
	PaidUntil time.Time       `json:"paidUntil,omitzero"`
	NextFrom  time.Time       `json:"nextFrom,omitzero"` // postpaid: start of the next period to fall due
	// Open are the invoices of prepaid periods that are due and not paid, each once.
	Open []id.Invoice `json:"open,omitempty"`
	// Reopened are those of Open that were paid before, or take the place of a paid one: days of them may have been
	// used, so a part buys none.
	Reopened []id.Invoice `json:"reopened,omitempty"`
	// Retakes is where the next prepaid period begins that takes the place of an undone used one; zero = no such place.
	Retakes time.Time `json:"retakes,omitzero"`
	// Paid is the newest invoice of a period that was paid. It is open until the period is recorded.
	Paid id.Invoice `json:"paid,omitzero"`
	// Late goes into the command that records a payment.
	Late events.LateRenewal `json:"late,omitempty"`
	// SellsDays says that a part of the price buys days, and Partly is the open invoice of which one is paid.
	SellsDays bool     `json:"sellsDays,omitempty"`
	Partly    PartPaid `json:"partly,omitzero"`
	// Terms are those that the length of a next part depends on; absent without a fixed billing day.
	Terms events.PlanTerms `json:"terms,omitzero"`
	// Then are the terms of the periods after the open one, which was made again before a change of plan. Absent = they
	// are those of the next one.
	Then events.PlanTerms `json:"then,omitzero"`
	// Cut says that dunning has cut a postpaid customer off, and Unbilled that this time is not billed: nothing becomes
	// due in it.
	Cut      bool `json:"cut,omitempty"`
	Unbilled bool `json:"unbilled,omitempty"`
	// Dropped is when the newest change was that a period was dropped, and Undone says that an undo did it: then the
	// next one waits for a person or for money. Both are absent when it was kept before they were.
	Dropped  time.Time `json:"dropped,omitzero"`
	Undone   bool      `json:"undone,omitempty"`
	Timezone string    `json:"timezone,omitempty"` // absent for hours and days that were sold before it was kept
	// Part and Beside are those of the period that became due last.
	Part   events.PartPeriod    `json:"part,omitzero"`
	Beside []events.PeriodExtra `json:"beside,omitempty"`
	Extras events.Extras        `json:"extras,omitempty"`
}

// Process has one instance for each subscriber; it never ends.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "renewal",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.SubscriptionCreated) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.PaidTimeCarriedOver) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.ExtraAdded) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.ExtraRemoved) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.PeriodDue) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.PeriodCancelled) string { return e.SubscriberID.String() }),
			processmanagers.Follow(func(e events.PeriodReissued) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.UndoneWaitEnded) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.SubscriptionExtended) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.PeriodWithdrawn) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.SubscriptionPaused) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.SubscriptionResumed) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.SubscriptionEnded) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.SubscriptionCompensated) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.SubscriptionPlanChanged) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.PlanChangePlanned) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.PlanChangeDropped) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.CompensationTakenBack) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.InvoicePaid) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.BillingSuspended) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.BillingResumed) string { return e.SubscriberID.String() }),
			processmanagers.Follow(func(e events.DunningBegan) string { return e.SubscriberID.String() }),
			processmanagers.Follow(func(e events.WalledGardenEntered) string { return e.SubscriberID.String() }),
			processmanagers.Follow(func(e events.ServiceSuspended) string { return e.SubscriberID.String() }),
			processmanagers.Follow(func(e events.WriteOffProposed) string { return e.SubscriberID.String() }),
			processmanagers.Follow(func(e events.DunningEnded) string { return e.SubscriberID.String() }),
			processmanagers.Follow(func(e events.InvoiceAllocated) string {
				if !e.Due.Positive() {
					return ""
				}
				return e.SubscriberID.String()
			}),
			processmanagers.On(func(e events.InvoiceReopened) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.InvoiceVoided) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.InvoiceCancelled) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.InvoiceWrittenOff) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.CreditLeft) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.InvoiceDrafted) string { return e.SubscriberID.String() }),
		},
		Decide: Decide, Evolve: Evolve,
	}
}

// Evolve follows the subscriber's subscriptions and their open invoices. It never changes the maps and lists of s.
func Evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s.repeating(in)
	}
	switch e := in.Event.Event.(type) {
	case events.SubscriptionCreated:
		return s.with(e.SubscriptionID, newSubscription(e))
	case events.SubscriptionEnded:
		s.Subscriptions = maps.Clone(s.Subscriptions)
		delete(s.Subscriptions, e.SubscriptionID)
		return s
	case events.PaidTimeCarriedOver:
		return s.change(e.SubscriptionID, func(sub *Subscription) {
			sub.PaidUntil, sub.NextFrom = e.PaidUntil, e.PaidUntil
		})
	case events.PeriodDue:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.became(e) })
	case events.InvoiceDrafted:
		if !e.Replaces.IsZero() { // the next period is not corrected with it
			return s
		}
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.Tax, sub.Gross = e.TaxRule(), money.Amount{} })
	case events.CreditLeft:
		return s.taxed(e.Tax)
	case events.PeriodReissued:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.reissued(e) })
	case events.PeriodCancelled:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.dropped(e) })
	case events.UndoneWaitEnded:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.Dropped, sub.Undone = time.Time{}, false })
	case events.SubscriptionExtended:
		return s.change(e.SubscriptionID, func(sub *Subscription) {
			sub.PaidUntil, sub.Dropped, sub.Retakes = e.PaidUntil, time.Time{}, cmp.Or(e.NextFrom, sub.Retakes)
			sub.settle(e.InvoiceID)
			sub.goOn()
		})
	case events.PeriodWithdrawn:
		return s.change(e.SubscriptionID, func(sub *Subscription) {
			sub.PaidUntil, sub.Dropped, sub.Retakes = e.PaidUntil, time.Time{}, cmp.Or(e.NextFrom, sub.Retakes)
			sub.reopen(e.InvoiceID)
		})
	case events.SubscriptionPaused:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.Paused = true })
	case events.SubscriptionCompensated:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.PaidUntil = e.PaidUntil })
	case events.CompensationTakenBack:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.PaidUntil = e.PaidUntil })
	case events.SubscriptionResumed:
		return s.change(e.SubscriptionID, func(sub *Subscription) {
			sub.Paused, sub.PaidUntil, sub.Dropped = false, e.PaidUntil, time.Time{}
			if !e.NextFrom.IsZero() {
				sub.NextFrom = e.NextFrom
			}
		})
	}
	return s.ofPlan(in.Event.Event).ofInvoice(in.Event.Event).ofDunning(in.Event.Event)
}

// ofPlan follows the plan of the next periods.
func (s State) ofPlan(e events.Event) State {
	switch e := e.(type) {
	case events.SubscriptionPlanChanged:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.billedBy(e.Terms) })
	case events.PlanChangePlanned:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.billedBy(e.Terms) })
	case events.PlanChangeDropped:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.billedBy(e.Terms) })
	case events.ExtraAdded:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.Extras = sub.Extras.After(e) })
	case events.ExtraRemoved:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.Extras = sub.Extras.After(e) })
	}
	return s
}

// newSubscription keeps what the renewal depends on.
func newSubscription(e events.SubscriptionCreated) Subscription {
	sub := Subscription{Mode: e.Terms.Mode, NextFrom: e.StartsAt, Timezone: e.Timezone, Tax: e.Tax}
	if e.Terms.Mode == events.Prepaid {
		sub.StartsAt = e.StartsAt
	}
	sub.billedBy(e.Terms)
	return sub
}

// billedBy takes over the terms of the next periods.
func (s *Subscription) billedBy(t events.PlanTerms) {
	s.Tax, s.Gross = s.rule(), money.Amount{}
	s.Price, s.Period, s.Late = t.Price, t.Period, t.LateRenewal
	s.Terms, s.Then = events.PlanTerms{}, events.PlanTerms{}
	s.SellsDays = sellsDays(t)
	if t.AnchorDay > 0 {
		s.Terms = events.PlanTerms{AnchorDay: t.AnchorDay}
	}
}

// ofInvoice follows what became of an invoice.
func (s State) ofInvoice(e events.Event) State {
	switch e := e.(type) {
	case events.InvoicePaid:
		s = s.change(e.SubscriptionID, func(sub *Subscription) { sub.Paid = e.InvoiceID })
		return s.overtaken(e.InvoiceID, false)
	case events.InvoiceAllocated:
		return s.partPaid(e)
	case events.InvoiceReopened:
		s = s.change(e.SubscriptionID, func(sub *Subscription) { sub.Paid = id.Invoice{} })
		return s.overtaken(e.InvoiceID, false)
	case events.InvoiceWrittenOff:
		return s.overtaken(e.InvoiceID, false)
	case events.InvoiceVoided:
		return s.overtaken(e.InvoiceID, true)
	case events.InvoiceCancelled:
		return s.overtaken(e.InvoiceID, e.ReplacedBy.IsZero())
	}
	return s
}

// with returns a state with one subscription replaced; s stays as it is.
func (s State) with(subscription id.Subscription, sub Subscription) State {
	all := make(map[id.Subscription]Subscription, len(s.Subscriptions)+1)
	maps.Copy(all, s.Subscriptions)
	all[subscription] = sub
	s.Subscriptions = all
	return s
}

// change edits a subscription in a new state. A subscription that has ended is unknown and stays so.
func (s State) change(subscription id.Subscription, edit func(*Subscription)) State {
	sub, ok := s.Subscriptions[subscription]
	if !ok {
		return s
	}
	edit(&sub)
	return s.with(subscription, sub)
}

// Decide returns commands on subscriptions and invoices, and the timers of next periods.
func Decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	switch {
	case in.Timeout != nil:
		return s.timeout(*in.Timeout, now), nil
	case in.Event != nil:
		return s.event(in, now), nil
	}
	return s.refused(*in.Refusal, now), nil
}

// event returns the outputs for an event; s is the state before it.
func (s State) event(in processmanagers.Input, now time.Time) processmanagers.Output {
	after := Evolve(s, in)
	switch e := in.Event.Event.(type) {
	case events.InvoicePaid, events.InvoiceReopened, events.InvoiceVoided, events.InvoiceCancelled,
		events.InvoiceWrittenOff, events.InvoiceDrafted:
		return s.invoice(e)
	case events.InvoiceAllocated:
		return after.soldFor(e.InvoiceID, now)
	case events.CreditLeft:
		return after.fromCredit(e, now)
	case events.SubscriptionCreated:
		return after.created(e)
	case events.PaidTimeCarriedOver:
		return after.askForCredit(after.next(e.SubscriptionID, now), e.SubscriberID, now)
	case events.PeriodDue:
		return creditingDue(after.next(e.SubscriptionID, now), e)
	case events.PeriodCancelled:
		if !e.UndoneRun.IsZero() { // the next one waits for a person or for money
			return disarm(e.SubscriptionID)
		}
		return after.askForCredit(after.cancelled(e, now), e.SubscriberID, now)
	case events.UndoneWaitEnded:
		return after.askForCredit(after.next(e.SubscriptionID, now), e.SubscriberID, now)
	case events.SubscriptionExtended:
		out := after.askForCredit(after.next(e.SubscriptionID, now), e.SubscriberID, now)
		return crediting(out, e.SubscriberID, e.Credits, e.PaidAt, lateReason)
	case events.PeriodReissued:
		return after.sold(processmanagers.Output{}, e.SubscriptionID, now)
	case events.PeriodWithdrawn:
		return after.next(e.SubscriptionID, now)
	case events.SubscriptionResumed:
		out := after.askForCredit(after.next(e.SubscriptionID, now), e.SubscriberID, now)
		out = s.cutAgain(out, e)
		return crediting(out, e.SubscriberID, e.Credits, e.At, pausedReason)
	case events.SubscriptionCompensated:
		return compensating(after.next(e.SubscriptionID, now), e)
	case events.CompensationTakenBack:
		return after.askForCredit(after.next(e.SubscriptionID, now), e.SubscriberID, now)
	case events.SubscriptionPaused:
		return after.askForCredit(disarm(e.SubscriptionID), e.SubscriberID, now)
	case events.SubscriptionEnded:
		out := after.askForCredit(disarmAll(e.SubscriptionID), e.SubscriberID, now)
		return crediting(out, e.SubscriberID, e.Credits, e.At, endedReason)
	}
	out := after.planned(in.Event.Event, now)
	out.Commands = append(out.Commands, s.billing(in.Event.Event)...)
	return after.billed(out, in.Event.Event, now)
}

// planned lets the next period become due under the terms of its plan; s is the state after the event.
func (s State) planned(e events.Event, now time.Time) processmanagers.Output {
	switch e := e.(type) {
	case events.SubscriptionPlanChanged:
		return s.askForCredit(s.next(e.SubscriptionID, now), e.SubscriberID, now)
	case events.PlanChangePlanned:
		return s.next(e.SubscriptionID, now)
	case events.PlanChangeDropped:
		return s.next(e.SubscriptionID, now)
	case events.ExtraAdded: // a discount may bring the price down to the credit
		return s.askForCredit(processmanagers.Output{}, e.SubscriberID, now)
	case events.ExtraRemoved:
		return s.askForCredit(processmanagers.Output{}, e.SubscriberID, now)
	}
	return processmanagers.Output{}
}

// timeout makes the next period due, or asks again for what was refused. The subscription makes no period that is not
// wanted any more.
func (s State) timeout(t processmanagers.Timeout, now time.Time) processmanagers.Output {
	if t.Name == againTimer {
		return s.again()
	}
	for subscription := range s.Subscriptions {
		switch t.Name {
		case timer(subscription):
			return command(commands.MakePeriodDue{SubscriptionID: subscription, Rang: true})
		case parting(subscription):
			return s.sold(processmanagers.Output{}, subscription, now)
		case expiry(subscription):
			return command(commands.ExpireSubscription{SubscriptionID: subscription})
		}
	}
	return processmanagers.Output{}
}

// due is when the next period of a subscription becomes due: for postpaid at its start, for prepaid a lead time before
// expiry. It is zero for a paused subscription, for one that is cut off and not billed, for one with an open invoice,
// for one whose next period would come in the place of a prepaid one that was dropped, or waits since an undo, and for
// one that is not known (any more).
func (s State) due(subscription id.Subscription) time.Time {
	sub := s.Subscriptions[subscription]
	switch {
	case sub.Paused || sub.Unbilled || sub.Undone:
		return time.Time{}
	case sub.Mode != events.Prepaid:
		return sub.NextFrom
	case sub.PaidUntil.IsZero() || len(sub.Open) > 0:
		return time.Time{}
	}
	at := sub.PaidUntil.Add(-events.InvoicedAhead(sub.Period))
	if !sub.Dropped.IsZero() && !at.After(sub.Dropped) {
		return time.Time{}
	}
	return at
}

// next lets the next period become due: of an hour or a day by the timer, of others by the billing run of its day. What
// is due by today is asked for at once, because the run of today may be over.
func (s State) next(subscription id.Subscription, now time.Time) processmanagers.Output {
	sub, at := s.Subscriptions[subscription], s.due(subscription)
	if sub.Period.Short() {
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timer(subscription), At: at}}}
	}
	out := disarm(subscription)
	today := calendar.On(now, sub.zone())
	if !at.IsZero() && !today.Before(calendar.On(at, sub.zone())) {
		out.Commands = []commands.Command{commands.MakePeriodDue{SubscriptionID: subscription, On: today}}
	}
	return s.sold(out, subscription, now)
}

// command returns an output of one command without jobs and timers.
func command(c commands.Command) processmanagers.Output {
	return processmanagers.Output{Commands: []commands.Command{c}}
}
