// Package receipts brings the money of one receipt to an account, exactly once. Source:
// docs/rules/money.md#receipts-once, docs/rules/money.md#provisional-receipts,
// docs/rules/money.md#money-without-an-owner, docs/rules/money.md#mistakes.
//
//	recorded ┬─ attempt known ─► SettlePayment ─┬─► PaymentSucceeded ──► MatchReceipt ──► matched ──► CreditReceipt
//	         │                                  ├─► ProvisionalClaimed ─► ClaimProvisional ─► claimed ─► AbsorbReceipt
//	         │                                  ├─► ProvisionalSuperseded ──► AbsorbReceipt
//	         │                                  └─► refused ──► HoldReceipt (suspense)
//	         └─ unknown ──► job FindPayer ──► one of the above
//	matched, reattributed: wait for the credit; refused by the account ──► HoldReceipt (suspense)
//	provisional: timer unclaimed, 48 h ──► MarkUnclaimed (alarm)
//	reversed, absorbed ──► WithdrawReceipt ──► withdrawn
//	reattributed ──► WithdrawReceipt ┬─► withdrawn, or it never was there ──► CreditReceipt
//	                                 └─► refused: the money stays where it is
//	stalled: what was asked last is asked again
//	refunded whole: a move that its account has refused is over
//	attributed or reattributed by hand, attempt known ──► SettlePayment: a success if the account is the attempt's;
//	                                 a provisional receipt of the attempt is superseded whichever account it is
package receipts

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Names of the timers. The first raises the alarm about a provisional receipt without its real one. The second ends an
// instance whose credit is not recorded again, because the account has the money already.
const (
	timerUnclaimed = "unclaimed"
	timerCredited  = "credited"
)

// creditPatience is how long an instance waits for the credit of its money. An account that answers later is seen by
// the sweep of receipts, not by this process.
const creditPatience = 24 * time.Hour

// State is the part of one receipt's history that the next step depends on.
type State struct {
	ReceiptID   id.Receipt `json:"receiptId"`
	Provisional bool       `json:"provisional,omitempty"`
	// Subscriber has the account that was asked to credit the money and has not done so yet; zero = none was asked.
	Subscriber id.Subscriber `json:"subscriberId"`
	// Leaving has the account that was asked to give the money back and has not done so yet; zero = none was asked.
	// Until then nothing is credited anywhere.
	Leaving id.Subscriber `json:"leaving,omitzero"`
	// Refused is true when Leaving has refused: the money is there, and nothing is under way.
	Refused bool `json:"refused,omitempty"`
	// Next is credited once Leaving has given the money back; nil = then no account gets it.
	Next *commands.CreditReceipt `json:"next,omitempty"`
	// Claim is used when the provisional receipt refuses to be claimed; nil until this receipt claims one.
	Claim *Claim `json:"claim,omitempty"`
	Over  bool   `json:"over,omitempty"`
}

// Claim has the owner and the payment of a real receipt that claims a provisional one.
type Claim struct {
	OrgID                id.Organization `json:"orgId"`
	SubscriberID         id.Subscriber   `json:"subscriberId"`
	InvoiceID            id.Invoice      `json:"invoiceId"`
	PaymentID            id.Payment      `json:"paymentId"`
	ProvisionalReceiptID id.Receipt      `json:"provisionalReceiptId"`
}

// Process has one instance for each receipt; the instance ends when the money has its place.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "receipts",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.ReceiptRecorded) string { return e.ReceiptID.String() }),
			processmanagers.On(func(e events.ReceiptSighted) string { return e.ReceiptID.String() }),
			processmanagers.On(func(e events.ReceiptMatched) string { return e.ReceiptID.String() }),
			// The instance is the real receipt, which claims the provisional one.
			processmanagers.On(func(e events.ReceiptClaimed) string { return e.ClaimedBy.String() }),
			processmanagers.On(func(e events.ReceiptAbsorbed) string { return e.ReceiptID.String() }),
			processmanagers.On(func(e events.ReceiptUnclaimed) string { return e.ReceiptID.String() }),
			processmanagers.On(func(e events.ReceiptReversed) string { return e.ReceiptID.String() }),
			processmanagers.On(func(e events.ReceiptReattributed) string { return e.ReceiptID.String() }),
			processmanagers.On(func(e events.ReceiptStalled) string { return e.ReceiptID.String() }),
			processmanagers.Follow(func(e events.ReceiptCredited) string { return e.ReceiptID.String() }),
			processmanagers.Follow(func(e events.ReceiptWithdrawn) string { return e.ReceiptID.String() }),
			processmanagers.Follow(func(e events.ReceiptRefunded) string { return e.ReceiptID.String() }),
			processmanagers.On(func(e events.PaymentSucceeded) string { return e.ReceiptID.String() }),
			processmanagers.On(func(e events.ProvisionalClaimed) string { return e.ReceiptID.String() }),
			processmanagers.On(func(e events.ProvisionalSuperseded) string { return e.ProvisionalReceiptID.String() }),
		},
		Decide: Decide,
		Evolve: Evolve,
		Ended:  func(s State) bool { return (s.Over || s.ReceiptID.IsZero()) && s.Leaving.IsZero() },
	}
}

// Evolve follows one receipt until its money is credited. An instance that has ended needs no row, because later events
// carry all that a step needs: a sighting of money that has its place leaves none.
func Evolve(s State, in processmanagers.Input) State {
	if in.Timeout != nil {
		s.Over = s.Over || in.Timeout.Name == timerUnclaimed || !s.Provisional
	}
	if in.Refusal != nil {
		s, _ = afterRefusal(s, *in.Refusal, time.Time{})
	}
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.ReceiptRecorded:
		return State{ReceiptID: e.ReceiptID, Provisional: e.Provisional}
	case events.ProvisionalClaimed:
		s.ReceiptID, s.Over = e.ReceiptID, false
		s.Claim = &Claim{
			OrgID: e.OrgID, SubscriberID: e.SubscriberID, InvoiceID: e.InvoiceID, PaymentID: e.PaymentID,
			ProvisionalReceiptID: e.ProvisionalReceiptID,
		}
	case events.ReceiptUnclaimed:
		s.Over = true
	default:
		s, _ = book(s, e)
	}
	return s
}

// Decide returns the next step on the way of the money. A sighting without new facts has none.
func Decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	switch {
	case in.Refusal != nil:
		_, out := afterRefusal(s, *in.Refusal, now)
		return out, nil
	case in.Timeout != nil && in.Timeout.Name == timerUnclaimed:
		return do(commands.MarkUnclaimed{ReceiptID: s.ReceiptID}), nil
	case in.Timeout != nil:
		return processmanagers.Output{}, nil
	}
	switch e := in.Event.Event.(type) {
	case events.ReceiptRecorded:
		return onRecorded(e, in.Event.Position), nil
	case events.ReceiptSighted:
		return onSighted(e, in.Event.Position), nil
	case events.PaymentSucceeded:
		return do(commands.MatchReceipt{
			ReceiptID: e.ReceiptID, OrgID: e.OrgID, SubscriberID: e.SubscriberID, InvoiceID: e.InvoiceID,
			PaymentID: e.PaymentID, By: commands.MatchedByPrompt,
		}), nil
	case events.ProvisionalClaimed:
		return do(commands.ClaimProvisional{
			ReceiptID: e.ProvisionalReceiptID, ClaimedBy: e.ReceiptID, ReceiptNumber: e.ReceiptNumber,
		}), nil
	case events.ReceiptClaimed:
		return do(commands.AbsorbReceipt{
			ReceiptID: e.ClaimedBy, OrgID: e.OrgID, SubscriberID: e.SubscriberID, PaymentID: e.PaymentID,
			CarriedBy: e.ReceiptID,
		}), nil
	case events.ProvisionalSuperseded:
		return do(commands.AbsorbReceipt{
			ReceiptID: e.ProvisionalReceiptID, OrgID: e.OrgID, SubscriberID: e.SubscriberID, PaymentID: e.PaymentID,
			CarriedBy: e.ReceiptID,
		}), nil
	default:
		_, out := book(s, e)
		return out, nil
	}
}

// byHand tells an attempt on whose account a person put its money. The attempt succeeds when that is its own account. A
// receipt without a number is provisional.
func byHand(
	attempt id.Payment, receipt id.Receipt, number string, amount money.Amount, account id.Subscriber,
) commands.SettlePayment {
	return commands.SettlePayment{
		PaymentID: attempt, ReceiptID: receipt, ReceiptNumber: number, Amount: amount, By: commands.ByOperator,
		Provisional: number == "", SubscriberID: account,
	}
}

// onRecorded leads new money to its attempt, or asks for the search of its payer. Cash needs neither: the command
// that records cash also matches it. What contradicts another receipt waits for a person.
func onRecorded(e events.ReceiptRecorded, position uint64) processmanagers.Output {
	if e.Channel == commands.ChannelCash || !e.Contradicts.IsZero() {
		return processmanagers.Output{}
	}
	if e.PaymentID.IsZero() {
		return processmanagers.Output{
			Jobs: []commands.Job{commands.FindPayer{ReceiptID: e.ReceiptID, Position: position}},
		}
	}
	out := do(commands.SettlePayment{
		PaymentID: e.PaymentID, ReceiptID: e.ReceiptID, ReceiptNumber: e.ReceiptNumber, Amount: e.Amount,
		By: by(e.Sighting), Provisional: e.Provisional,
	})
	if e.Provisional {
		out.Timers = []processmanagers.Timer{{Name: timerUnclaimed, At: e.RecordedAt.Add(commands.ReceiptPatience)}}
	}
	return out
}

// onSighted asks for the search of the payer when another sighting of the same money names a prompt.
func onSighted(e events.ReceiptSighted, position uint64) processmanagers.Output {
	if e.PaymentID.IsZero() && e.CheckoutRequestID == "" {
		return processmanagers.Output{}
	}
	return processmanagers.Output{Jobs: []commands.Job{commands.FindPayer{ReceiptID: e.ReceiptID, Position: position}}}
}

// by names the source of a payment's verdict from the kind of sighting.
func by(sighting string) string {
	switch sighting {
	case commands.SightingQuery:
		return commands.ByQuery
	case commands.SightingConfirmation:
		return commands.ByC2B
	}
	return commands.ByCallback
}

// do returns an output of commands without jobs and timers.
func do(c ...commands.Command) processmanagers.Output { return processmanagers.Output{Commands: c} }
