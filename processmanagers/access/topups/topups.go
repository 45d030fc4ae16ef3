// Package topups adds the traffic that a prepaid customer has ordered, when it is paid:
//
//	TopUpOrdered ──► DraftTopUpInvoice ──► InvoicePaid ──► AddPaidTopUp, and the instance ends
//	            └──► timer "lapses" ──► VoidInvoice ──► InvoiceVoided ──► the instance ends
//	                                        │ refused: a part is paid, or it is not drafted yet
//	                                        └──► waits for the payment
//	SubscriptionEnded ──► VoidOrders ──► InvoiceVoided
//
// The invoice is voided when the cap resets, for whose rest the bytes were ordered, or the subscription ends. Money
// that comes after that is credit. Of an order that is paid in part the rest can be paid later: its bytes then count in
// the period of the payment.
package topups

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// timerName is the name of an instance's only timer.
const timerName = "lapses"

// retry is the wait before a command is given again that was refused because others were faster.
const retry = time.Minute

// lapsed is the reason on invoices that are voided because the cap was reset before they were paid.
const lapsed = "the cap was reset before the top-up was paid"

// ended is the reason on those that are voided because their subscription ended.
const ended = "subscription ended"

// State is one order. The zero value is none: the instance has ended.
type State struct {
	Subject   events.UsageSubject `json:"subject,omitzero"`
	TopUpID   id.TopUp            `json:"topUpId,omitzero"`
	Bytes     int64               `json:"bytes,omitempty"`
	Price     money.Amount        `json:"price,omitzero"`
	InvoiceID id.Invoice          `json:"invoiceId,omitzero"`
}

// Process has one instance for each order that is not paid, named by its invoice. That of a subscription which ends has
// no state.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "top_ups",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.TopUpOrdered) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.InvoicePaid) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.InvoiceVoided) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.InvoiceCancelled) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.InvoiceWrittenOff) string { return e.InvoiceID.String() }),
			processmanagers.On(func(e events.SubscriptionEnded) string { return e.SubscriptionID.String() }),
		},
		Decide: decide, Evolve: evolve, Ended: func(s State) bool { return s.InvoiceID.IsZero() },
	}
}

// evolve follows the order until it is paid or dropped.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	if e, ok := in.Event.Event.(events.TopUpOrdered); ok {
		return State{
			Subject: e.UsageSubject, TopUpID: e.TopUpID, Bytes: e.Bytes, Price: e.Price, InvoiceID: e.InvoiceID,
		}
	}
	return State{}
}

// decide invoices an order, adds it when it is paid, and drops it when the cap resets.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	switch {
	case in.Timeout != nil && !s.InvoiceID.IsZero():
		return processmanagers.Output{Commands: []commands.Command{commands.VoidInvoice{
			SubscriberID: s.Subject.SubscriberID, InvoiceID: s.InvoiceID, Reason: lapsed,
		}}}, nil
	case in.Refusal != nil:
		return again(*in.Refusal, now), nil
	case in.Event == nil:
		return processmanagers.Output{}, nil
	}
	switch e := in.Event.Event.(type) {
	case events.TopUpOrdered:
		draft := commands.TopUpInvoice(e.UsageSubject, e.InvoiceID, e.Bytes, e.Price, e.At)
		draft.OrderedUntil = e.ResetsAt
		return processmanagers.Output{
			Commands: []commands.Command{draft},
			Timers:   []processmanagers.Timer{{Name: timerName, At: e.ResetsAt}},
		}, nil
	case events.SubscriptionEnded:
		return processmanagers.Output{Commands: []commands.Command{commands.VoidOrders{
			SubscriberID: e.SubscriberID, SubscriptionID: e.SubscriptionID, Reason: ended,
		}}}, nil
	case events.InvoicePaid:
		if s.InvoiceID.IsZero() { // of another sale
			return processmanagers.Output{}, nil
		}
		return processmanagers.Output{Jobs: []commands.Job{commands.AddPaidTopUp{
			Subject: s.Subject, TopUpID: s.TopUpID, Bytes: s.Bytes, Price: s.Price, InvoiceID: s.InvoiceID,
		}}}, nil
	}
	return processmanagers.Output{}, nil
}

// again repeats what was refused because others were faster. An invoice that cannot be voided waits for its payment.
func again(r processmanagers.Refusal, now time.Time) processmanagers.Output {
	if r.Code != "concurrent_change" {
		return processmanagers.Output{}
	}
	if draft, ok := r.Asked.(commands.DraftTopUpInvoice); ok {
		return processmanagers.Output{Commands: []commands.Command{draft}}
	}
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerName, At: now.Add(retry)}}}
}
