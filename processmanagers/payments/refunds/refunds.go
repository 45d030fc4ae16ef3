// Package refunds brings the money of one refund out of the books, or back to where it was, exactly once. Source:
// docs/rules/money.md#refunds.
//
//	requested ──► SetCreditAside on the account, or SetReceiptAside of money in suspense
//	             ├─► set aside ──► SecureRefund: it can be approved
//	             └─► refused   ──► RefuseRefund: failed
//	completed ──► PayOutSetAside ──► paid out ──► RefundReceipt; of money in suspense RefundReceipt at once
//	failed    ──► ReturnSetAside, or ReturnReceipt of money in suspense
//	set aside, but the refund has ended meanwhile: SecureRefund is refused ──► it is returned
package refunds

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// The reasons that statements show. The words of the person are in the refund.
const (
	reasonAside    = "a refund was asked for"
	reasonReturned = "the refund was not paid"
)

// State has what the next step of a refund depends on. Every event and every refused command has the rest.
type State struct {
	RefundID     id.Refund     `json:"refundId"`
	ReceiptID    id.Receipt    `json:"receiptId"`
	SubscriberID id.Subscriber `json:"subscriberId"` // null = the money is in suspense
	// Unset is true when the money could not be set aside, and Unreturned when there was nothing to give back yet: one
	// of the two commands may still be under way while the other is refused.
	Unset      bool `json:"unset,omitempty"`
	Unreturned bool `json:"unreturned,omitempty"`
	Over       bool `json:"over,omitempty"`
}

// Process has one instance for each refund; the instance ends when the money has left, or is free again.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "refunds",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.RefundRequested) string { return e.RefundID.String() }),
			processmanagers.On(func(e events.RefundCompleted) string { return e.RefundID.String() }),
			processmanagers.On(func(e events.RefundFailed) string { return e.RefundID.String() }),
			processmanagers.Follow(func(e events.CreditSetAside) string { return e.RefundID.String() }),
			processmanagers.Follow(func(e events.SetAsideReturned) string { return e.RefundID.String() }),
			processmanagers.Follow(func(e events.SetAsidePaidOut) string { return e.RefundID.String() }),
			processmanagers.Follow(func(e events.ReceiptSetAside) string { return e.RefundID.String() }),
			processmanagers.Follow(func(e events.ReceiptReturned) string { return e.RefundID.String() }),
			processmanagers.Follow(func(e events.ReceiptRefunded) string { return e.RefundID.String() }),
		},
		Decide: Decide,
		Evolve: Evolve,
		Ended:  func(s State) bool { return s.Over || s.Unset && s.Unreturned || s.RefundID.IsZero() },
	}
}

// Evolve follows one refund until its money has its place.
func Evolve(s State, in processmanagers.Input) State {
	if in.Refusal != nil {
		switch in.Refusal.Asked.(type) {
		case commands.SetCreditAside, commands.SetReceiptAside:
			s.Unset = true
		case commands.ReturnSetAside, commands.ReturnReceipt:
			s.Unreturned = true
		}
	}
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.RefundRequested:
		return State{RefundID: e.RefundID, ReceiptID: e.ReceiptID, SubscriberID: e.SubscriberID}
	case events.RefundCompleted:
		s.RefundID, s.ReceiptID, s.SubscriberID = e.RefundID, e.ReceiptID, e.SubscriberID
	case events.RefundFailed:
		s.RefundID, s.ReceiptID, s.SubscriberID = e.RefundID, e.ReceiptID, e.SubscriberID
	case events.SetAsideReturned, events.ReceiptReturned, events.ReceiptRefunded:
		s.Over = true
	}
	return s
}

// Decide asks the place of the money for the next step.
func Decide(s State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	switch {
	case in.Refusal != nil:
		return onRefusal(s, *in.Refusal), nil
	case in.Event == nil:
		return processmanagers.Output{}, nil
	}
	switch e := in.Event.Event.(type) {
	case events.RefundRequested:
		if e.SubscriberID.IsZero() {
			return do(commands.SetReceiptAside{
				ReceiptID: e.ReceiptID, OrgID: e.OrgID, RefundID: e.RefundID, Amount: e.Amount,
			}), nil
		}
		return do(commands.SetCreditAside{
			SubscriberID: e.SubscriberID, RefundID: e.RefundID, ReceiptID: e.ReceiptID, Amount: e.Amount,
			Reason: reasonAside,
		}), nil
	case events.CreditSetAside:
		return do(commands.SecureRefund{RefundID: e.RefundID}), nil
	case events.ReceiptSetAside:
		return do(commands.SecureRefund{RefundID: e.RefundID}), nil
	case events.RefundCompleted:
		if e.SubscriberID.IsZero() {
			return do(commands.RefundReceipt{ReceiptID: e.ReceiptID, RefundID: e.RefundID, Amount: e.Amount}), nil
		}
		return do(commands.PayOutSetAside{SubscriberID: e.SubscriberID, RefundID: e.RefundID}), nil
	case events.SetAsidePaidOut:
		return do(commands.RefundReceipt{
			ReceiptID: e.ReceiptID, RefundID: e.RefundID, SubscriberID: e.SubscriberID, Amount: e.Amount,
		}), nil
	case events.RefundFailed:
		return do(giveBack(e.SubscriberID, e.ReceiptID, e.RefundID)), nil
	}
	return processmanagers.Output{}, nil
}

// giveBack frees the money of a refund that is not paid.
func giveBack(subscriber id.Subscriber, receipt id.Receipt, refund id.Refund) commands.Command {
	if subscriber.IsZero() {
		return commands.ReturnReceipt{ReceiptID: receipt, RefundID: refund}
	}
	return commands.ReturnSetAside{SubscriberID: subscriber, RefundID: refund, Reason: reasonReturned}
}

// onRefusal ends a refund whose money could not be set aside, and gives money back that was set aside for a refund that
// has ended.
func onRefusal(s State, r processmanagers.Refusal) processmanagers.Output {
	switch c := r.Asked.(type) {
	case commands.SecureRefund:
		if !s.RefundID.IsZero() {
			return do(giveBack(s.SubscriberID, s.ReceiptID, s.RefundID))
		}
	case commands.SetCreditAside:
		return do(commands.RefuseRefund{RefundID: c.RefundID, Code: r.Code})
	case commands.SetReceiptAside:
		return do(commands.RefuseRefund{RefundID: c.RefundID, Code: r.Code})
	}
	return processmanagers.Output{}
}

// do returns an output of commands without jobs and timers.
func do(c ...commands.Command) processmanagers.Output { return processmanagers.Output{Commands: c} }
