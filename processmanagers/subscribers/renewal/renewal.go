// Package renewal keeps subscriptions in step with their money: a paid invoice moves PaidUntil, a withdrawn payment
// moves it back, and the next period falls due by a timer.
//
//	PeriodDue ──► (invoicing, payment) ──► InvoicePaid ──► ExtendSubscription ──► timer "renew:<id>" ──► MakePeriodDue
//	                                        CreditLeft covers the price and nothing is open ──────► MakePeriodDue
//	                                        InvoiceReopened ──► WithdrawPeriod
//	                                        InvoiceVoided, InvoiceCancelled, InvoiceWrittenOff ──► CancelPeriod
//	PeriodCancelled that never began ──► VoidInvoice, money on it becomes credit
//	CreditLeft and an order that it covers beside the next periods ──► PayOrders
//	a subscription without service and invoice ──► TellCredit ──► CreditLeft covers the price ──► MakePeriodDue
//	a command is refused ──► timer "again" ──► the command again, until it is accepted
//
// One instance serves all subscriptions of a subscriber, because credit belongs to the account and not to one of them.
package renewal

import (
	"cmp"
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

// State has the subscriptions of one subscriber that have not ended, and the commands that were refused.
type State struct {
	Subscriptions map[id.Subscription]Subscription `json:"subscriptions,omitempty"`
	Refused       []Refused                        `json:"refused,omitempty"` // each once; asked again by the timer
}

// Subscription is the part of one subscription that its renewal depends on.
type Subscription struct {
	Mode  events.BillingMode `json:"mode"`
	Price money.Amount       `json:"price"`
	// Gross is the total of the last invoice; with an exclusive tax it is above the price.
	Gross     money.Amount    `json:"gross,omitzero"`
	Period    calendar.Period `json:"period"`
	Resting   bool            `json:"resting,omitempty"` // paused
	PaidUntil time.Time       `json:"paidUntil,omitzero"`
	NextFrom  time.Time       `json:"nextFrom,omitzero"` // postpaid: start of the next period to fall due
	// Open are the invoices of prepaid periods that are due and not paid, each once.
	Open []id.Invoice `json:"open,omitempty"`
	// Paid is the newest invoice of a period that was paid. It is open until the period is recorded.
	Paid id.Invoice `json:"paid,omitzero"`
	// Late goes into the command that records a payment.
	Late events.LateRenewal `json:"late,omitempty"`
}

// lead is how long before expiry a prepaid customer gets the next invoice, so that there is time to pay it.
var lead = map[calendar.Period]time.Duration{
	calendar.Hour: 10 * time.Minute, calendar.Day: 2 * time.Hour, calendar.Week: 24 * time.Hour,
	calendar.Month: 72 * time.Hour,
}

// Process has one instance for each subscriber; it never ends.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "renewal",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.SubscriptionCreated) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.PeriodDue) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.PeriodCancelled) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.SubscriptionExtended) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.PeriodWithdrawn) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.SubscriptionPaused) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.SubscriptionResumed) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.SubscriptionEnded) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.InvoicePaid) string { return e.SubscriberID.String() }),
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
		return s.with(e.SubscriptionID, Subscription{
			Mode: e.Terms.Mode, Price: e.Terms.Price, Period: e.Terms.Period, NextFrom: e.StartsAt,
			Late: e.Terms.LateRenewal,
		})
	case events.SubscriptionEnded:
		s.Subscriptions = maps.Clone(s.Subscriptions)
		delete(s.Subscriptions, e.SubscriptionID)
		return s
	case events.PeriodDue:
		return s.change(e.SubscriptionID, func(sub *Subscription) {
			sub.wait(e.InvoiceID)
			if !e.To.IsZero() {
				sub.NextFrom = e.To
			}
		})
	case events.InvoiceDrafted:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.Gross = e.Total })
	case events.PeriodCancelled:
		return s.change(e.SubscriptionID, func(sub *Subscription) {
			sub.settle(e.InvoiceID)
			if e.Ordinal > 0 { // otherwise it was recorded without the paid time
				sub.PaidUntil = e.PaidUntil
			}
		})
	case events.SubscriptionExtended:
		return s.change(e.SubscriptionID, func(sub *Subscription) {
			sub.PaidUntil = e.PaidUntil
			sub.settle(e.InvoiceID)
		})
	case events.PeriodWithdrawn:
		return s.change(e.SubscriptionID, func(sub *Subscription) {
			sub.PaidUntil = e.PaidUntil
			sub.wait(e.InvoiceID)
		})
	case events.SubscriptionPaused:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.Resting = true })
	case events.SubscriptionResumed:
		return s.change(e.SubscriptionID, func(sub *Subscription) {
			sub.Resting, sub.PaidUntil = false, e.PaidUntil
			if !e.NextFrom.IsZero() {
				sub.NextFrom = e.NextFrom
			}
		})
	}
	return s.ofInvoice(in.Event.Event)
}

// ofInvoice follows what became of an invoice.
func (s State) ofInvoice(e events.Event) State {
	switch e := e.(type) {
	case events.InvoicePaid:
		s = s.change(e.SubscriptionID, func(sub *Subscription) { sub.Paid = e.InvoiceID })
		return s.overtaken(e.InvoiceID, false)
	case events.InvoiceReopened:
		s = s.change(e.SubscriptionID, func(sub *Subscription) { sub.Paid = id.Invoice{} })
		return s.overtaken(e.InvoiceID, false)
	case events.InvoiceWrittenOff:
		return s.overtaken(e.InvoiceID, false)
	case events.InvoiceVoided:
		return s.overtaken(e.InvoiceID, true)
	case events.InvoiceCancelled:
		return s.overtaken(e.InvoiceID, true)
	}
	return s
}

// without returns a new list without an invoice, nil when no invoice is left.
func without(list []id.Invoice, invoice id.Invoice) []id.Invoice {
	var left []id.Invoice
	for _, i := range list {
		if i != invoice {
			left = append(left, i)
		}
	}
	return left
}

// wait adds a prepaid invoice to the open ones. Postpaid periods follow each other whether they are paid or not.
func (s *Subscription) wait(invoice id.Invoice) {
	if s.Mode == events.Prepaid {
		s.Open = append(without(s.Open, invoice), invoice)
	}
}

// settle removes an invoice from the open ones.
func (s *Subscription) settle(invoice id.Invoice) { s.Open = without(s.Open, invoice) }

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
		return s.timeout(*in.Timeout), nil
	case in.Event != nil:
		return s.event(in, now), nil
	}
	return s.refused(*in.Refusal, now), nil
}

// event returns the outputs for an event; s is the state before it.
func (s State) event(in processmanagers.Input, now time.Time) processmanagers.Output {
	after := Evolve(s, in)
	switch e := in.Event.Event.(type) {
	case events.InvoicePaid:
		if e.SubscriptionID.IsZero() {
			return processmanagers.Output{}
		}
		return command(commands.ExtendSubscription{
			SubscriptionID: e.SubscriptionID, InvoiceID: e.InvoiceID, PaidAt: e.At,
			Late: s.Subscriptions[e.SubscriptionID].Late,
		})
	case events.InvoiceReopened:
		if e.SubscriptionID.IsZero() {
			return processmanagers.Output{}
		}
		return command(commands.WithdrawPeriod{
			SubscriptionID: e.SubscriptionID, InvoiceID: e.InvoiceID, Reason: withdrawnReason,
		})
	case events.InvoiceVoided:
		return cancel(e.SubscriptionID, e.InvoiceID)
	case events.InvoiceCancelled:
		return cancel(e.SubscriptionID, e.InvoiceID)
	case events.InvoiceWrittenOff:
		return cancel(e.SubscriptionID, e.InvoiceID)
	case events.InvoiceDrafted:
		return s.drafted(e.InvoiceID)
	case events.CreditLeft:
		return s.fromCredit(e, now)
	case events.SubscriptionCreated:
		return after.arm(e.SubscriptionID)
	case events.PeriodDue:
		return after.arm(e.SubscriptionID)
	case events.PeriodCancelled:
		return after.askForCredit(after.cancelled(e), e.SubscriberID, now)
	case events.SubscriptionExtended:
		return after.askForCredit(after.arm(e.SubscriptionID), e.SubscriberID, now)
	case events.PeriodWithdrawn:
		return after.arm(e.SubscriptionID)
	case events.SubscriptionResumed:
		return after.askForCredit(after.arm(e.SubscriptionID), e.SubscriberID, now)
	case events.SubscriptionPaused:
		return after.askForCredit(disarm(e.SubscriptionID), e.SubscriberID, now)
	case events.SubscriptionEnded:
		return after.askForCredit(disarm(e.SubscriptionID), e.SubscriberID, now)
	}
	return processmanagers.Output{}
}

// fromCredit renews, and pays orders with what no period needs.
func (s State) fromCredit(e events.CreditLeft, now time.Time) processmanagers.Output {
	renewed := s.renewedBy(e, now)
	var out processmanagers.Output
	if e.Ordered.Positive() {
		out.Commands = append(out.Commands, commands.PayOrders{
			SubscriberID: e.SubscriberID, Credit: e.Credit, Keep: s.kept(e.Credit, renewed),
		})
	}
	if !renewed.IsZero() {
		out.Commands = append(out.Commands, commands.MakePeriodDue{SubscriptionID: renewed})
	}
	return out
}

// kept is the part of the credit for periods: for those whose invoices are not issued yet, with the one of the
// subscription that is renewed now, and for one more of each prepaid subscription that it covers whole. It is kept for
// them also when it does not renew them now: what is paid ahead does the same in one payment as in two.
func (s State) kept(credit money.Amount, renewed id.Subscription) money.Amount {
	left := credit
	for _, sub := range s.Subscriptions {
		for range without(sub.Open, sub.Paid) { // with credit on the account, no issued invoice waits for money
			left.Minor -= min(sub.needs(), left.Minor)
		}
	}
	left.Minor -= min(s.Subscriptions[renewed].needs(), left.Minor)
	for _, subscription := range s.inTurn(renewed) {
		if sub := s.Subscriptions[subscription]; sub.Mode == events.Prepaid && sub.coveredBy(left) {
			left.Minor -= sub.needs()
		}
	}
	return credit.Sub(left)
}

// inTurn orders the subscriptions for whose next periods credit is kept: first those that it could renew after the one
// that is renewed now, then those with a period that is not recorded yet, then those that are paused. Of alike ones
// that comes first which expires first.
func (s State) inTurn(renewed id.Subscription) []id.Subscription {
	turn := func(subscription id.Subscription) int {
		switch sub := s.Subscriptions[subscription]; {
		case sub.Resting:
			return 2
		case len(sub.Open) > 0 || subscription == renewed:
			return 1
		}
		return 0
	}
	return slices.SortedFunc(maps.Keys(s.Subscriptions), func(a, b id.Subscription) int {
		x, y := s.Subscriptions[a], s.Subscriptions[b]
		return cmp.Or(turn(a)-turn(b), x.PaidUntil.Compare(y.PaidUntil), byText(a, b))
	})
}

// needs is the price of the next period, in minor units.
func (s Subscription) needs() int64 { return max(s.Price.Minor, s.Gross.Minor) }

// coveredBy reports whether credit pays the next period whole.
func (s Subscription) coveredBy(credit money.Amount) bool {
	return s.Price.Currency == credit.Currency && s.needs() <= credit.Minor
}

// renewedBy is the subscription whose next period credit makes due: that which expires first among those whose whole
// price it covers, and zero when it covers none. Credit that was asked for goes to a subscription that waits for it,
// and to no other. A smaller credit stays on the account (docs/rules/subscribers.md#prepaid).
func (s State) renewedBy(e events.CreditLeft, now time.Time) id.Subscription {
	var best id.Subscription
	for _, candidate := range slices.SortedFunc(maps.Keys(s.Subscriptions), byText) {
		sub := s.Subscriptions[candidate]
		payable := sub.renewable() && sub.coveredBy(e.Credit) && (!e.Asked || sub.expires(now))
		if payable && (best.IsZero() || sub.PaidUntil.Before(s.Subscriptions[best].PaidUntil)) {
			best = candidate
		}
	}
	return best
}

// renewable reports whether a period could be made due: none is, and the price is paid ahead.
func (s Subscription) renewable() bool {
	return s.Mode == events.Prepaid && !s.Resting && len(s.Open) == 0 && s.Price.Positive()
}

// expires reports whether the subscription is without service, or so near its end that the next period should be due.
func (s Subscription) expires(now time.Time) bool {
	return !s.PaidUntil.After(now.Add(lead[s.Period]))
}

// askForCredit adds the question for the account's credit when a subscription without service could be renewed from it.
// Credit that came while nothing could be renewed, or that was meant for another subscription which was renewed from it
// or has just ended or paused, is told only when somebody asks.
func (s State) askForCredit(
	out processmanagers.Output, subscriber id.Subscriber, now time.Time,
) processmanagers.Output {
	for _, sub := range s.Subscriptions {
		if sub.renewable() && sub.expires(now) {
			out.Commands = append(out.Commands, commands.TellCredit{SubscriberID: subscriber})
			return out
		}
	}
	return out
}

// byText orders ids, so that a replay over a map decides the same.
func byText(a, b id.Subscription) int { return strings.Compare(a.String(), b.String()) }

// timeout makes the next period due, or asks again for what was refused. The subscription makes no period that is not
// wanted any more.
func (s State) timeout(t processmanagers.Timeout) processmanagers.Output {
	if t.Name == againTimer {
		return s.again()
	}
	for subscription := range s.Subscriptions {
		if t.Name == timer(subscription) {
			return command(commands.MakePeriodDue{SubscriptionID: subscription})
		}
	}
	return processmanagers.Output{}
}

// arm sets the timer of a subscription's next period: for postpaid at its start, for prepaid a lead time before expiry.
// It disarms the timer of a paused subscription, of one with an open invoice, and of one that is not known (any more).
func (s State) arm(subscription id.Subscription) processmanagers.Output {
	sub := s.Subscriptions[subscription]
	at := sub.NextFrom
	if sub.Mode == events.Prepaid {
		at = time.Time{}
		if !sub.PaidUntil.IsZero() && len(sub.Open) == 0 {
			at = sub.PaidUntil.Add(-lead[sub.Period])
		}
	}
	if sub.Resting {
		at = time.Time{}
	}
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timer(subscription), At: at}}}
}

// cancelled arms the timer after a period was dropped. It does not arm a prepaid timer that would come due at once: the
// same invoice, which was not wanted, would be made again. Credit on the account still makes one (renewedBy). The
// invoice of a period that never began is voided, unless it is already, and money on it becomes credit.
func (s State) cancelled(e events.PeriodCancelled) processmanagers.Output {
	out := s.arm(e.SubscriptionID)
	if s.Subscriptions[e.SubscriptionID].Mode == events.Prepaid && !out.Timers[0].At.After(e.At) {
		out = disarm(e.SubscriptionID)
	}
	if e.NeverBegan {
		out.Commands = append(out.Commands, commands.VoidInvoice{
			SubscriberID: e.SubscriberID, InvoiceID: e.InvoiceID, Reason: endedReason, ReleaseMoney: true,
		})
	}
	return out
}

// endedReason is the reason on invoices that are voided because their subscription ended.
const endedReason = "subscription ended"

// withdrawnReason is the reason on periods whose payment was taken back. What a person wrote about it is in the event
// of the receipt, since stored commands hold no personal text.
const withdrawnReason = "the payment was taken back"

// cancel drops the period of an invoice; the invoice of no subscription has none.
func cancel(subscription id.Subscription, invoice id.Invoice) processmanagers.Output {
	if subscription.IsZero() {
		return processmanagers.Output{}
	}
	return command(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: invoice})
}

// disarm returns an output that removes the timer of a subscription.
func disarm(subscription id.Subscription) processmanagers.Output {
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timer(subscription)}}}
}

// timer names the timer of a subscription; one instance has several.
func timer(subscription id.Subscription) string { return "renew:" + subscription.String() }

// command returns an output of one command without jobs and timers.
func command(c commands.Command) processmanagers.Output {
	return processmanagers.Output{Commands: []commands.Command{c}}
}
