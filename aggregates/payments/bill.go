package payments

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Bills defines the invoices at the bill manager: one stream for each.
func Bills() aggregates.Definition[Bill, commands.BillCommand, events.BillEvent] {
	return aggregates.Definition[Bill, commands.BillCommand, events.BillEvent]{
		Category: commands.BillCategory, Missing: commands.ErrNoBill, Evolve: evolveBill, Decide: decideBill,
		Owner: func(s Bill) id.Organization { return s.OrgID }, First: commands.QueueBill{},
		Commands: []commands.BillCommand{
			commands.QueueBill{}, commands.OfferBill{}, commands.FreeBill{}, commands.DelayBill{},
			commands.ConfirmBill{}, commands.FailBill{},
			commands.RecallBill{}, commands.ConfirmRecall{}, commands.SettleBill{},
			commands.ReopenBill{}, commands.PayBill{}, commands.AcknowledgeBill{},
		},
	}
}

// BillState is how far a bill is; its words are those of the API.
type BillState string

// The states. Paid and acknowledged are those of a bill of which nothing is due any more, at least in part because of
// money that came through the bill manager.
const (
	BillQueued       BillState = "queued"
	BillSent         BillState = "sent"
	BillFailed       BillState = "failed"
	BillCancelled    BillState = "cancelled"
	BillPaid         BillState = "paid"
	BillAcknowledged BillState = "acknowledged"
)

// Bill is the state of one invoice at the bill manager. The zero value is one that never went there.
type Bill struct {
	events.BillSubject
	Round      int       // number of times that it was queued, less one
	Stage      BillState // queued, sent, failed or cancelled: what the bill manager has
	Reference  string    // of the last call
	Offered    bool      // the bill manager may have it under the reference
	Tries      int       // number of calls
	Doubts     int       // number of calls of this round whose end may be the fault of the bills in them
	OfferedAt  time.Time // of the last call
	Unclear    int       // number of calls in a row about what is to be done now that were not answered clearly
	RetryAt    time.Time // before which nothing is asked about it; zero = at once
	WaitsFor   string    // why it is not sent before RetryAt: events.BillNotSigned; "" = nothing
	WorksUntil time.Time // until when it may be at work on the last call, as a look has found; zero = none has
	Asked      money.Amount
	Recalled   string    // why it is to be taken back; "" = it is not
	SettledAt  time.Time // since when nothing is due on the invoice; zero = something is
	Payments   []BillPayment
}

// BillPayment is money that came through the bill manager.
type BillPayment struct {
	ReceiptID    id.Receipt
	Number       string
	Amount       money.Amount
	PaidAt       time.Time
	Round        int // in which it came
	Acknowledged bool
}

// State is that of the API.
func (s Bill) State() BillState {
	through := s.Through()
	if !through.Positive() || s.SettledAt.IsZero() && !s.Full() {
		return s.Stage
	}
	for _, p := range s.Payments {
		if !p.Acknowledged {
			return BillPaid
		}
	}
	return BillAcknowledged
}

// Through is the money of this round that came through the bill manager.
func (s Bill) Through() money.Amount {
	sum := money.Of(0, s.Asked.Currency)
	for _, p := range s.Payments {
		if p.Round == s.Round {
			sum = sum.Add(p.Amount)
		}
	}
	return sum
}

// Full reports whether all that was asked for came through the bill manager, which asks for nothing more then.
func (s Bill) Full() bool { return s.Asked.Positive() && s.Through().Cmp(s.Asked) >= 0 }

// There reports whether the bill manager asks the customer to pay it.
func (s Bill) There() bool { return s.Stage == BillSent && s.Recalled == "" }

// Call is the reference under which the bill manager has the bill, or may have it; "" = it does not have it.
func (s Bill) Call() string {
	if !s.Offered {
		return ""
	}
	return s.Reference
}

// NextReference is that of the next call. None is used twice: the provider does not tell what a repeat of one means.
func (s Bill) NextReference() string {
	plain := strings.ReplaceAll(s.InvoiceID.String(), "-", "")
	return fmt.Sprintf("%s-%d", plain, s.Tries+1)
}

// evolveBill applies one recorded event.
func evolveBill(s Bill, e events.BillEvent) Bill {
	if delayed, is := e.(events.BillDelayed); is {
		return s.delayed(delayed)
	}
	s.Unclear, s.RetryAt, s.WaitsFor = 0, time.Time{}, "" // something is known, or wanted, by now
	switch e := e.(type) {                                // complete: gochecksumtype, no default
	case events.BillQueued:
		s.BillSubject, s.Round, s.Stage, s.Doubts, s.Recalled = e.BillSubject, e.Round, BillQueued, 0, ""
		s.SettledAt = time.Time{}
	case events.BillOffered:
		s.Reference, s.Offered, s.Tries, s.Asked, s.OfferedAt = e.Reference, true, e.Try, e.Amount, e.At
		s.WorksUntil = time.Time{}
	case events.BillFreed:
		s.Offered = false
		if e.Doubted {
			s.Doubts++
		}
	case events.BillDelayed: // above
	case events.BillSent:
		s.Stage = BillSent
	case events.BillFailed:
		s.Stage = BillFailed
	case events.BillRecalled:
		s.Recalled = e.Reason
		if s.Stage == BillFailed {
			s.Stage = BillQueued
		}
	case events.BillCancelled:
		s.Stage, s.Offered, s.Recalled = BillCancelled, false, e.Reason
	case events.BillSettled:
		s.SettledAt = e.At
	case events.BillReopened:
		s.SettledAt = time.Time{}
	case events.BillPaid:
		s.Payments = append(slices.Clip(s.Payments), BillPayment{
			ReceiptID: e.ReceiptID, Number: e.ReceiptNumber, Amount: e.Amount, PaidAt: e.PaidAt,
			Round: s.Round,
		})
	case events.BillAcknowledged:
		s.Payments = slices.Clone(s.Payments)
		for i := range s.Payments {
			s.Payments[i].Acknowledged = s.Payments[i].Acknowledged || s.Payments[i].ReceiptID == e.ReceiptID
		}
	}
	return s
}

// delayed applies one delay.
func (s Bill) delayed(e events.BillDelayed) Bill {
	s.RetryAt, s.WaitsFor = e.Until, e.Reason
	switch {
	case e.Doubted:
		s.Unclear++
	case s.Offered:
		s.WorksUntil = e.Until
	}
	return s
}

// decideBill only dispatches.
func decideBill(s Bill, c commands.BillCommand, now time.Time) ([]events.BillEvent, error) {
	switch c := c.(type) {
	case commands.QueueBill:
		return decideQueueBill(s, c, now)
	case commands.ReopenBill:
		return decideReopenBill(s, now), nil
	default: // the others are of a bill that is there
	}
	if s.InvoiceID.IsZero() {
		return nil, commands.ErrNoBill()
	}
	switch c := c.(type) {
	case commands.OfferBill:
		return decideOfferBill(s, c, now)
	case commands.FreeBill:
		if s.Stage != BillSent && s.Offered && s.Reference == c.Reference {
			if s.Recalled != "" {
				return s.taken(now), nil
			}
			return []events.BillEvent{events.BillFreed{
				BillSubject: s.BillSubject, Reference: s.Reference, Doubted: c.Doubted, At: now,
			}}, nil
		}
	case commands.ConfirmBill:
		if s.Stage != BillSent && s.Offered && s.Reference == c.Reference {
			return []events.BillEvent{events.BillSent{BillSubject: s.BillSubject, Reference: s.Reference, At: now}}, nil
		}
	case commands.DelayBill:
		if waits := s.Stage == BillQueued && !s.Offered; c.Reason == "" || waits {
			return []events.BillEvent{events.BillDelayed{
				BillSubject: s.BillSubject, Until: c.Until.UTC(), Doubted: c.Doubted, Reason: c.Reason, At: now,
			}}, nil
		}
	case commands.FailBill:
		return decideFailBill(s, c, now), nil
	case commands.RecallBill:
		return decideRecallBill(s, c, now), nil
	case commands.ConfirmRecall:
		if s.Recalled != "" && s.Stage != BillCancelled && s.Offered && s.Reference == c.Reference {
			return s.taken(now), nil
		}
	default:
		return decideBillMoney(s, c, now), nil
	}
	return nil, nil
}

// decideQueueBill begins the way of a bill, and begins it again after a failure, and when it has what it waits for. One
// that failed to be taken back is recalled again.
func decideQueueBill(s Bill, c commands.QueueBill, now time.Time) ([]events.BillEvent, error) {
	queued := events.BillQueued{BillSubject: c.BillSubject, Round: s.Round + 1, At: now}
	switch s.State() {
	case "":
		queued.Round = 0
		return []events.BillEvent{queued}, nil
	case BillFailed:
		if s.Recalled != "" && s.Offered {
			return []events.BillEvent{queued, events.BillRecalled{
				BillSubject: s.BillSubject, Reason: s.Recalled, At: now,
			}}, nil
		}
		return []events.BillEvent{queued}, nil
	case BillCancelled:
		if c.Again {
			return []events.BillEvent{queued}, nil
		}
		return nil, nil
	case BillQueued, BillSent:
		if s.WaitsFor != "" {
			return []events.BillEvent{queued}, nil
		}
		return nil, nil
	case BillPaid, BillAcknowledged:
	}
	return nil, failure.NewConflict("bill_over", "This bill is paid.")
}

// decideOfferBill records that the bill leaves the house. A second worker is told to leave it alone, also when the call
// of the first one has ended: the reference that it has would be recorded for no call.
func decideOfferBill(s Bill, c commands.OfferBill, now time.Time) ([]events.BillEvent, error) {
	if s.Stage != BillQueued || s.Offered || s.Recalled != "" || !s.SettledAt.IsZero() || s.Round != c.Round ||
		s.Tries+1 != c.Try {
		return nil, failure.NewConflict("bill_not_waiting", "This bill does not wait to be sent.")
	}
	return []events.BillEvent{events.BillOffered{
		BillSubject: s.BillSubject, Reference: s.NextReference(), Try: s.Tries + 1, Size: c.Size, Amount: c.Amount,
		At: now,
	}}, nil
}

// decideFailBill leaves a bill to a person. One that was refused while it was to be taken back is not there. What is
// told of another call says nothing about the one that the bill manager may be at work on.
func decideFailBill(s Bill, c commands.FailBill, now time.Time) []events.BillEvent {
	if s.Stage != BillQueued && (s.Stage != BillSent || s.Recalled == "") || s.Call() != c.Reference {
		return nil
	}
	if c.Gone && s.Recalled != "" && s.Stage == BillQueued {
		return s.taken(now)
	}
	var list []events.BillEvent
	if c.Gone && s.Offered && s.Stage == BillQueued {
		list = append(list, events.BillFreed{BillSubject: s.BillSubject, Reference: s.Reference, At: now})
	}
	return append(list, events.BillFailed{
		BillSubject: s.BillSubject, Code: c.Code, Message: personal.Of(c.Message), At: now,
	})
}

// decideRecallBill cancels what the bill manager certainly does not have, and asks for the rest to be taken back. One
// whose money came through the bill manager is left alone. One that has changed waits anew where the bill manager does
// not have it, so that what is about to leave the house with the old sum stays there; after a failure a person decides.
// One that would be sent again after it was taken back is not when it is recalled for a reason of another kind.
func decideRecallBill(s Bill, c commands.RecallBill, now time.Time) []events.BillEvent {
	changed := c.Reason == events.BillChanged
	switch {
	case changed && s.Stage == BillFailed:
		return nil
	case changed && s.Stage == BillQueued && !s.Offered && s.Recalled == "":
		return []events.BillEvent{events.BillQueued{BillSubject: s.BillSubject, Round: s.Round + 1, At: now}}
	case s.Stage == BillCancelled, s.Full():
		return nil
	case !s.Offered && changed:
		s.Recalled = c.Reason
		return s.taken(now)
	case !s.Offered:
		return []events.BillEvent{s.cancelled(c.Reason, now)}
	case s.Stage != BillFailed && s.Recalled != "" && (!comesAgain(s.Recalled) || comesAgain(c.Reason)):
		return nil
	}
	return []events.BillEvent{events.BillRecalled{BillSubject: s.BillSubject, Reason: c.Reason, At: now}}
}

// decideBillMoney follows what is paid.
func decideBillMoney(s Bill, c commands.BillCommand, now time.Time) []events.BillEvent {
	switch c := c.(type) {
	case commands.SettleBill:
		switch {
		case !s.SettledAt.IsZero(), s.Stage == BillCancelled && !s.Through().Positive():
		case !s.Offered && s.Stage != BillCancelled: // nobody there asks for the money
			return []events.BillEvent{
				events.BillSettled{BillSubject: s.BillSubject, At: now}, s.cancelled(events.BillElsewhere, now),
			}
		default:
			return []events.BillEvent{events.BillSettled{BillSubject: s.BillSubject, At: now}}
		}
	case commands.PayBill:
		known := slices.ContainsFunc(s.Payments, func(p BillPayment) bool { return p.ReceiptID == c.ReceiptID })
		if known || s.Reference == "" {
			return nil
		}
		return []events.BillEvent{events.BillPaid{
			BillSubject: s.BillSubject, ReceiptID: c.ReceiptID, ReceiptNumber: c.ReceiptNumber, Amount: c.Amount,
			PaidAt: c.PaidAt, At: now,
		}}
	case commands.AcknowledgeBill:
		for _, p := range s.Payments {
			if p.ReceiptID == c.ReceiptID && !p.Acknowledged {
				return []events.BillEvent{events.BillAcknowledged{
					BillSubject: s.BillSubject, ReceiptID: p.ReceiptID, ReceiptNumber: p.Number, Amount: p.Amount,
					Refused: c.Refused, At: now,
				}}
			}
		}
	default: // decided elsewhere
	}
	return nil
}

// comesAgain reports whether a bill that was taken back for a reason is sent again while something is due.
func comesAgain(reason string) bool {
	return reason == events.BillElsewhere || reason == events.BillChanged
}

// taken ends a bill that was taken back. One that was paid elsewhere and is due again by now, or of which another sum
// is due, waits to be sent again.
func (s Bill) taken(now time.Time) []events.BillEvent {
	list := []events.BillEvent{s.cancelled(s.Recalled, now)}
	if comesAgain(s.Recalled) && s.SettledAt.IsZero() {
		list = append(list, events.BillQueued{BillSubject: s.BillSubject, Round: s.Round + 1, At: now})
	}
	return list
}

// decideReopenBill asks for the money again, unless the bill manager still does.
func decideReopenBill(s Bill, now time.Time) []events.BillEvent {
	if s.InvoiceID.IsZero() || s.SettledAt.IsZero() && !s.Full() && s.Recalled != events.BillElsewhere {
		return nil
	}
	list := []events.BillEvent{events.BillReopened{BillSubject: s.BillSubject, At: now}}
	if s.Full() && s.Offered { // the bill manager asks for nothing more under this reference
		list = append(list, events.BillFreed{BillSubject: s.BillSubject, Reference: s.Reference, At: now})
	}
	if s.Full() || s.Stage == BillCancelled {
		list = append(list, events.BillQueued{BillSubject: s.BillSubject, Round: s.Round + 1, At: now})
	}
	return list
}

// cancelled records that the bill manager does not have the bill.
func (s Bill) cancelled(reason string, now time.Time) events.BillCancelled {
	return events.BillCancelled{BillSubject: s.BillSubject, Reason: reason, At: now}
}
