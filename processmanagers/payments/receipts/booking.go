package receipts

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// The reasons of withdrawals, which the statements show.
const (
	reasonMoved    = "the payment is another subscriber's"
	reasonReversed = "the payment was reversed"
	reasonAbsorbed = "credited by another receipt"
)

// book returns the state after an event on the way between accounts, and what it asks of them. Money leaves one account
// before another gets it, so that it is never on two.
func book(s State, e events.Event) (State, processmanagers.Output) {
	switch e := e.(type) {
	case events.ReceiptMatched:
		return onMatched(s, e)
	case events.ReceiptReattributed:
		return onReattributed(s, e)
	case events.ReceiptReversed:
		s.ReceiptID = e.ReceiptID
		return s.takenFrom(e.SubscriberID, reasonReversed)
	case events.ReceiptAbsorbed:
		s.ReceiptID = e.ReceiptID
		return s.takenFrom(e.CreditedTo, reasonAbsorbed)
	case events.ReceiptStalled:
		return onStalled(s, e)
	case events.ReceiptRefunded:
		if !e.Left.Positive() {
			return s.stays(), processmanagers.Output{}
		}
	case events.ReceiptCredited:
		if e.SubscriberID == s.Subscriber {
			s.Subscriber, s.Over = id.Subscriber{}, !s.Provisional
		}
	case events.ReceiptWithdrawn:
		if e.SubscriberID == s.Leaving && e.WithdrawalID.IsZero() {
			if s.Next != nil {
				next := *s.Next
				next.Amount = e.Amount
				s.Next = &next
			}
			return s.left(e.At)
		}
	}
	return s, processmanagers.Output{}
}

// onMatched has the account credit the money, unless that has it already.
func onMatched(s State, e events.ReceiptMatched) (State, processmanagers.Output) {
	var out processmanagers.Output
	if !e.Confirms {
		s.ReceiptID, s.Over = e.ReceiptID, false
		s, out = s.give(commands.CreditReceipt{
			SubscriberID: e.SubscriberID, OrgID: e.OrgID, ReceiptID: e.ReceiptID, InvoiceID: e.InvoiceID,
			Number: e.ReceiptNumber, Channel: e.Channel, Amount: e.Amount, PaidAt: e.PaidAt, Move: e.Move,
			MatchedAt: e.At,
		}, e.At)
	}
	if e.By == commands.MatchedByOperator && !e.PaymentID.IsZero() {
		out.Commands = append(out.Commands,
			byHand(e.PaymentID, e.ReceiptID, e.ReceiptNumber, e.Amount, e.SubscriberID))
	}
	return s, out
}

// onReattributed has the one account give the money back, and remembers that the other gets it then. While an earlier
// account has yet to give it back, only the one that gets it changes.
func onReattributed(s State, e events.ReceiptReattributed) (State, processmanagers.Output) {
	var out processmanagers.Output
	s.ReceiptID, s.Over = e.ReceiptID, false
	next := commands.CreditReceipt{
		SubscriberID: e.To, OrgID: e.OrgID, ReceiptID: e.ReceiptID, Number: e.ReceiptNumber, Channel: e.Channel,
		Amount: e.Amount, PaidAt: e.PaidAt, Move: e.Move, MatchedAt: e.At,
	}
	switch {
	case s.Leaving.IsZero():
		s.Next = &next
		s, out = s.leave(e.From, reasonMoved)
	case s.Refused && s.Leaving == e.To:
		s = s.stays()
	default:
		s.Next = &next
	}
	if !e.PaymentID.IsZero() {
		out.Commands = append(out.Commands, byHand(e.PaymentID, e.ReceiptID, e.ReceiptNumber, e.Amount, e.To))
	}
	return s, out
}

// onStalled asks again for what was asked last. An instance that knows nothing, or waits for an account without the
// money while another one has it, goes by what the event found in the log.
func onStalled(s State, e events.ReceiptStalled) (State, processmanagers.Output) {
	credit := commands.CreditReceipt{
		SubscriberID: e.SubscriberID, OrgID: e.OrgID, ReceiptID: e.ReceiptID, InvoiceID: e.InvoiceID,
		Number: e.ReceiptNumber, Channel: e.Channel, Amount: e.Amount, PaidAt: e.PaidAt, Move: e.Move,
		MatchedAt: e.Since,
	}
	if s.Leaving.IsZero() && e.HeldBy == e.SubscriberID {
		return s, processmanagers.Output{}
	}
	s.ReceiptID = e.ReceiptID
	switch {
	case !s.Leaving.IsZero() && (e.HeldBy.IsZero() || e.HeldBy == e.SubscriberID):
		return s.leave(s.Leaving, reasonStalled(s.Next))
	case !s.Leaving.IsZero():
		return s.leave(e.HeldBy, reasonStalled(s.Next))
	case e.HeldBy.IsZero():
		return s.give(credit, e.At)
	case e.SubscriberID.IsZero():
		s.Next, s.Over = nil, true
	default:
		s.Next, s.Over = &credit, false
	}
	return s.leave(e.HeldBy, reasonStalled(s.Next))
}

// reasonStalled is the reason of a withdrawal that is asked for again.
func reasonStalled(next *commands.CreditReceipt) string {
	if next == nil {
		return reasonReversed
	}
	return reasonMoved
}

// give asks an account to credit the money, or remembers to do so once another account has given it back. The wait for
// the credit is bounded.
func (s State) give(credit commands.CreditReceipt, at time.Time) (State, processmanagers.Output) {
	if !s.Leaving.IsZero() {
		s.Next = &credit
		return s, processmanagers.Output{}
	}
	s.Subscriber, s.Next, s.Over = credit.SubscriberID, nil, false
	out := do(credit)
	out.Timers = []processmanagers.Timer{{Name: timerCredited, At: at.Add(creditPatience)}}
	return s, out
}

// leave asks an account to give the money back: all of it when another account is to get it.
func (s State) leave(from id.Subscriber, reason string) (State, processmanagers.Output) {
	s.Leaving, s.Subscriber, s.Refused = from, id.Subscriber{}, false
	return s, do(commands.WithdrawReceipt{
		SubscriberID: from, ReceiptID: s.ReceiptID, Whole: s.Next != nil, Reason: reason,
	})
}

// takenFrom ends the way of money that no account is to have any more. An account that has refused to give it to
// another one is asked again, because now it gives what is left of it.
func (s State) takenFrom(account id.Subscriber, reason string) (State, processmanagers.Output) {
	s.Next, s.Over = nil, true
	switch {
	case !s.Leaving.IsZero():
		return s.leave(s.Leaving, reason)
	case !account.IsZero():
		return s.leave(account, reason)
	}
	return s, processmanagers.Output{}
}

// left credits the money to the next account, now that no account has it.
func (s State) left(at time.Time) (State, processmanagers.Output) {
	next := s.Next
	s.Leaving, s.Refused, s.Next = id.Subscriber{}, false, nil
	if next == nil || !next.Amount.Positive() {
		s.Over = true
		return s, processmanagers.Output{}
	}
	return s.give(*next, at)
}

// stays ends a move whose account has refused to give the money up, and should have it again.
func (s State) stays() State {
	s.Leaving, s.Refused, s.Next, s.Over = id.Subscriber{}, false, nil, !s.Provisional
	return s
}

// afterRefusal finds another place for the money: suspense when the attempt or the account refused it, a credit of its
// own when the provisional receipt refused the claim. Money that an account does not give back stays there, and waits
// for the sweep of receipts or a person; money that never was there goes on.
func afterRefusal(s State, r processmanagers.Refusal, now time.Time) (State, processmanagers.Output) {
	account := id.As[id.Subscriber](r.Target.ID)
	switch r.Command {
	case commands.SettlePayment{}.CommandName():
		if !s.ReceiptID.IsZero() {
			return s, do(commands.HoldReceipt{ReceiptID: s.ReceiptID, Reason: commands.HeldConflictingPrompt})
		}
	case commands.CreditReceipt{}.CommandName():
		switch {
		case s.ReceiptID.IsZero() || account != s.Subscriber:
		case r.Code == "receipt_withdrawn": // the account had the money, which left it in parts: none waits for a place
		default:
			return s, do(commands.HoldReceipt{
				ReceiptID: s.ReceiptID, Reason: commands.HeldNotCredited, SubscriberID: account,
			})
		}
	case commands.WithdrawReceipt{}.CommandName():
		switch {
		case s.Leaving.IsZero() || account != s.Leaving:
		case r.Code == "receipt_not_found" || r.Code == "account_not_found":
			return s.left(now)
		case s.Next != nil && s.Next.SubscriberID == account:
			return s.stays(), processmanagers.Output{}
		default:
			s.Refused = true
		}
	case commands.ClaimProvisional{}.CommandName():
		if c := s.Claim; c != nil {
			return s, do(commands.MatchReceipt{
				ReceiptID: s.ReceiptID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, InvoiceID: c.InvoiceID,
				PaymentID: c.PaymentID, By: commands.MatchedByPrompt,
			})
		}
	}
	return s, processmanagers.Output{}
}
