package paymentsjobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// oneByOne does what is due about bills. One about which nothing is known afterwards holds up no other; missed is the
// last of these failures.
func (t *turn) oneByOne(ctx context.Context, rows []paymentsviews.BillRow) (missed, err error) {
	unclear := 0
	for _, row := range rows {
		err := t.one(ctx, row)
		if err != nil && !errors.Is(err, errBillUnclear) {
			return missed, err
		}
		if err != nil {
			missed = err
			if unclear++; unclear == billsUnclear {
				break
			}
		}
	}
	return missed, nil
}

// one does what is due about one bill, apart from sending it. Fails: errBillUnclear, which is counted then.
func (t *turn) one(ctx context.Context, row paymentsviews.BillRow) error {
	bill, _, err := bus.LoadUnchecked[payments.Bill](ctx, t.cfg.Bus, row.InvoiceID)
	if due := t.due(); err != nil || due.Now.Before(bill.RetryAt) && !bill.RetryAt.After(due.LastRetry) {
		return err
	}
	err = t.about(ctx, row, bill)
	if errors.Is(err, errBillUnclear) {
		return errors.Join(err, t.doubt(ctx, bill))
	}
	return err
}

// doubt counts a call about a bill that was not answered clearly. The last one leaves the bill to a person, and money
// that is booked all the same without a receipt of the bill manager.
func (t *turn) doubt(ctx context.Context, bill payments.Bill) error {
	if bill.Unclear+1 < billsDoubts {
		wait := min(billsRetry<<bill.Unclear, billsRetries)
		return t.do(ctx, commands.DelayBill{
			InvoiceID: bill.InvoiceID, Until: t.cfg.Clock.Now().Add(wait), Doubted: true,
		})
	}
	for _, p := range bill.Payments {
		if !p.Acknowledged {
			t.cfg.Logger.WarnContext(ctx, "bill manager gives no clear answer about a payment",
				"invoice_id", bill.InvoiceID)
			return t.do(ctx, commands.AcknowledgeBill{
				InvoiceID: bill.InvoiceID, ReceiptID: p.ReceiptID, Refused: "in_doubt",
			})
		}
	}
	return t.do(ctx, commands.FailBill{
		InvoiceID: bill.InvoiceID, Reference: bill.Call(), Code: "in_doubt",
		Message: "The bill manager gave no clear answer, again and again. It may still ask the customer to pay.",
	})
}

// about does what is due about one bill.
func (t *turn) about(ctx context.Context, row paymentsviews.BillRow, bill payments.Bill) error {
	if err := t.acknowledge(ctx, bill); err != nil {
		return err
	}
	waits, due := bill.Stage == payments.BillQueued && !bill.Offered, t.due()
	settled := !bill.SettledAt.After(due.SettledBefore) || bill.SettledAt.After(due.LastSettled)
	switch {
	case bill.Stage == payments.BillQueued && bill.Offered && bill.Through().Positive(): // so it was taken
		return t.do(ctx, commands.ConfirmBill{InvoiceID: bill.InvoiceID, Reference: bill.Reference})
	case bill.Stage != payments.BillQueued && bill.Stage != payments.BillSent, bill.Full():
		return nil
	case bill.Offered && (bill.Recalled != "" || bill.Stage == payments.BillQueued):
		return t.takeBack(ctx, bill)
	case waits && bill.Recalled != "": // an earlier program left it so
		return t.do(ctx, commands.RecallBill{InvoiceID: bill.InvoiceID, Reason: bill.Recalled})
	case row.Forgotten:
		return t.do(ctx, commands.RecallBill{InvoiceID: bill.InvoiceID, Reason: events.BillForgotten})
	case !bill.SettledAt.IsZero() && (waits || settled):
		return t.do(ctx, commands.RecallBill{InvoiceID: bill.InvoiceID, Reason: events.BillElsewhere})
	}
	return nil
}

// takeBack cancels a bill that the bill manager has, or may have. Where a call with it was in doubt, it can be sent
// again afterwards under another reference: a customer never has two bills of one invoice to pay. A bill that the bill
// manager does not know was not taken.
func (t *turn) takeBack(ctx context.Context, bill payments.Bill) error {
	answer, err := t.cfg.Manager.Cancel(ctx, t.by, bill.Reference)
	t.calls.note(answer, err)
	if err != nil {
		return err
	}
	if until := t.worksUntil(bill); answer.Outcome == mobilemoney.BillUnknown &&
		t.cfg.Clock.Now().Before(until) {
		return t.do(ctx, commands.DelayBill{InvoiceID: bill.InvoiceID, Until: until})
	}
	switch answer.Outcome {
	case mobilemoney.BillTaken, mobilemoney.BillUnknown:
		if bill.Recalled != "" {
			return t.do(ctx, commands.ConfirmRecall{InvoiceID: bill.InvoiceID, Reference: bill.Reference})
		}
		if bill.Doubts >= billsDoubts {
			return t.do(ctx, commands.FailBill{
				InvoiceID: bill.InvoiceID, Reference: bill.Reference, Code: "in_doubt", Gone: true,
				Message: "The bill manager gave no clear answer, again and again. It was taken back there.",
			})
		}
		return t.do(ctx, commands.FreeBill{InvoiceID: bill.InvoiceID, Reference: bill.Reference, Doubted: true})
	case mobilemoney.BillRefused:
		return t.do(ctx, commands.FailBill{
			InvoiceID: bill.InvoiceID, Reference: bill.Reference, Code: answer.Refusal.Code,
			Message: answer.Refusal.Message,
		})
	case mobilemoney.BillNotSent, mobilemoney.BillInDoubt:
	}
	return t.away(answer)
}

// worksUntil is until when the bill manager may be at work on the last call with a bill. While the clock is before that
// call, because it was put back, it is at work for as long as it may be at all: the look that finds so records until
// when. That holds no longer than such a clock does.
func (t *turn) worksUntil(bill payments.Bill) time.Time {
	now := t.cfg.Clock.Now()
	until := bill.OfferedAt.Add(BillsWorking)
	if !bill.WorksUntil.IsZero() && now.Before(bill.OfferedAt) {
		until = bill.WorksUntil
	}
	if last := now.Add(BillsWorking); until.After(last) {
		return last
	}
	return until
}

// away is the failure of a call about one bill that was not answered clearly. While the breaker is open, or when
// nothing was sent, that is no bill's fault.
func (t *turn) away(answer mobilemoney.BillAnswer) error {
	switch {
	case answer.Outcome == mobilemoney.BillNotSent:
		return errors.Join(errBillsNotSent, answer.Cause)
	case t.cfg.Manager.Ready() == nil:
		return errors.Join(errBillUnclear, errBillsAway, answer.Cause)
	}
	return errors.Join(errBillsAway, answer.Cause)
}

// acknowledge tells the bill manager that the payments of a bill are booked.
func (t *turn) acknowledge(ctx context.Context, bill payments.Bill) error {
	for _, p := range bill.Payments {
		if p.Acknowledged {
			continue
		}
		customer, err := subscribersviews.SubscribersQuery{Views: t.cfg.Views}.Get(ctx, t.org, bill.SubscriberID)
		if err != nil {
			return err
		}
		name, phone := nameAndPhone(customer)
		answer, err := t.cfg.Manager.Acknowledge(ctx, t.by, mobilemoney.BillPayment{
			PaidAt: p.PaidAt, Amount: p.Amount, AccountReference: bill.Number, TransactionID: p.Number, Phone: phone,
			Name: name, InvoiceName: invoiceName(bill.Number), Reference: bill.Reference,
		})
		t.calls.note(answer, err)
		switch {
		case err != nil:
			return err
		case answer.Outcome == mobilemoney.BillRefused: // again and again; the money is booked all the same
			t.cfg.Logger.WarnContext(ctx, "bill manager refuses to acknowledge a payment",
				"invoice_id", bill.InvoiceID, "code", answer.Refusal.Code)
		case answer.Outcome != mobilemoney.BillTaken:
			return t.away(answer)
		}
		err = t.do(ctx, commands.AcknowledgeBill{
			InvoiceID: bill.InvoiceID, ReceiptID: p.ReceiptID, Refused: refusalCode(answer),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// refusalCode is the provider's code in an answer that refuses; "" in another one.
func refusalCode(answer mobilemoney.BillAnswer) string {
	if answer.Outcome != mobilemoney.BillRefused {
		return ""
	}
	return answer.Refusal.Code
}

// invoiceName is the title that a customer reads above a bill.
func invoiceName(number string) string { return fmt.Sprintf("Invoice %s", number) }
