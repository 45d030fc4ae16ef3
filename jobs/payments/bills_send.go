package paymentsjobs

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// batchSize is how many bills go in one call after a number of doubts: half as many after each, so that the bills for
// which the provider refuses a call are found, and the others are not held up by them.
func batchSize(doubts int) int {
	if doubts >= 10 {
		return 1
	}
	return max(1, mobilemoney.MaxBills>>doubts)
}

// send hands over the first of the bills that wait: as many as one call takes.
func (t *turn) send(ctx context.Context, rows []paymentsviews.BillRow) error {
	n := 0
	for n < len(rows) && n < batchSize(rows[0].Doubts) && rows[n].Doubts == rows[0].Doubts {
		n++
	}
	rows = rows[:n]
	papers := make([]*paper, n)
	results := newResults(n)
	err := loop.Each(ctx, billsCrew, n, func(i int) (err error) {
		one := &turn{Bills: t.Bills, run: t.run, org: t.org}
		papers[i], err = one.prepare(ctx, rows[i])
		results[i] = *one
		return err
	})
	t.gather(results)
	if err != nil {
		return err
	}
	var list []paper
	for _, p := range papers {
		if p != nil {
			list = append(list, *p)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return t.offer(ctx, list)
}

// paper is a bill as it is sent, with its row, the round for which its sum was read, and the try that its reference
// names.
type paper struct {
	mobilemoney.Bill
	row        paymentsviews.BillRow
	round, try int
}

// offer records that bills leave the house, makes the call, and records its outcome. A bill that is not waiting any
// more stays.
func (t *turn) offer(ctx context.Context, list []paper) error {
	offered := make([]bool, len(list))
	results := newResults(len(list))
	err := loop.Each(ctx, billsCrew, len(list), func(i int) error {
		one := &turn{Bills: t.Bills, run: t.run, org: t.org}
		err := one.do(ctx, commands.OfferBill{
			InvoiceID: list[i].row.InvoiceID, Round: list[i].round, Try: list[i].try, Size: len(list),
			Amount: list[i].Amount,
		})
		results[i], offered[i] = *one, err == nil
		if failure.CodeOf(err) == "bill_not_waiting" {
			return nil
		}
		return err
	})
	t.gather(results)
	var call []mobilemoney.Bill
	var of []paymentsviews.BillRow
	for i, is := range offered {
		if is {
			call, of = append(call, list[i].Bill), append(of, list[i].row)
		}
	}
	if err != nil || len(call) == 0 {
		// Of these nothing was sent; what is not freed now is taken back as a doubt.
		return errors.Join(err, t.free(ctx, of, call))
	}
	answer, err := t.cfg.Manager.Send(ctx, t.by, call)
	t.calls.note(answer, err)
	if err != nil { // a bill of ours that cannot be sent, or a key that is refused: nothing was taken
		return errors.Join(err, t.free(ctx, of, call))
	}
	return t.outcome(ctx, of, call, answer)
}

// free records that bills were not sent.
func (t *turn) free(ctx context.Context, rows []paymentsviews.BillRow, list []mobilemoney.Bill) error {
	return t.each(ctx, len(list), func(i int) commands.Command {
		return commands.FreeBill{InvoiceID: rows[i].InvoiceID, Reference: list[i].Reference}
	})
}

// outcome records what became of a call. One in doubt leaves its bills as they are: they are taken back before they are
// sent again.
func (t *turn) outcome(
	ctx context.Context, rows []paymentsviews.BillRow, list []mobilemoney.Bill, answer mobilemoney.BillAnswer,
) error {
	switch answer.Outcome {
	case mobilemoney.BillTaken:
		return t.each(ctx, len(list), func(i int) commands.Command {
			return commands.ConfirmBill{InvoiceID: rows[i].InvoiceID, Reference: list[i].Reference}
		})
	case mobilemoney.BillNotSent:
		return errors.Join(errBillsNotSent, answer.Cause, t.free(ctx, rows, list))
	case mobilemoney.BillRefused, mobilemoney.BillUnknown:
		return t.refused(ctx, rows, list, answer.Refusal)
	case mobilemoney.BillInDoubt:
	}
	return errors.Join(errBillsAway, answer.Cause)
}

// refused records that the bill manager has made none of the bills of a call. A single one has failed. Of many nobody
// knows which is at fault: all wait again without a cancellation, and half as many go in the next call.
func (t *turn) refused(
	ctx context.Context, rows []paymentsviews.BillRow, list []mobilemoney.Bill, refusal *mobilemoney.Refusal,
) error {
	if len(list) == 1 {
		return t.do(ctx, commands.FailBill{
			InvoiceID: rows[0].InvoiceID, Reference: list[0].Reference, Code: refusal.Code, Message: refusal.Message,
			Gone: true,
		})
	}
	t.cfg.Logger.WarnContext(ctx, "bill manager refuses a batch of bills", "org_id", t.org, "bills", len(list), "code",
		refusal.Code)
	return t.each(ctx, len(list), func(i int) commands.Command {
		return commands.FreeBill{InvoiceID: rows[i].InvoiceID, Reference: list[i].Reference, Doubted: true}
	})
}

// prepare makes the bill of an invoice; nil when there is nothing to send, which is recorded then.
func (t *turn) prepare(ctx context.Context, row paymentsviews.BillRow) (*paper, error) {
	bill, _, err := bus.LoadUnchecked[payments.Bill](ctx, t.cfg.Bus, row.InvoiceID) // before its sum
	if err != nil {
		return nil, err
	}
	account, _, err := bus.LoadUnchecked[billing.Account](ctx, t.cfg.Bus, row.SubscriberID) // of the row
	if err != nil {
		return nil, err
	}
	invoice, open := account.Invoices[row.InvoiceID]
	if _, paid := account.Settled[row.InvoiceID]; paid {
		return nil, t.do(ctx, commands.SettleBill{InvoiceID: row.InvoiceID})
	}
	if !open || !invoice.Due.Positive() {
		return nil, t.do(ctx, commands.RecallBill{InvoiceID: row.InvoiceID, Reason: events.BillVoided})
	}
	shown, err := billingviews.InvoicesQuery{Views: t.cfg.Views}.Get(ctx, t.org, row.InvoiceID)
	if err != nil || shown == nil { // not yet
		return nil, err
	}
	customer, err := subscribersviews.SubscribersQuery{Views: t.cfg.Views}.Get(ctx, t.org, row.SubscriberID)
	if err != nil || customer == nil { // not yet
		return nil, err
	}
	if customer.Status == "forgotten" {
		return nil, t.do(ctx, commands.RecallBill{InvoiceID: row.InvoiceID, Reason: events.BillForgotten})
	}
	signature, _, err := bus.LoadUnchecked[billing.Signature](ctx, t.cfg.Bus, id.As[id.Signature](row.InvoiceID))
	switch { // an order that was paid, and is due again
	case err != nil:
		return nil, err
	case !signature.Given(shown.ToBeSigned):
		return nil, t.unsigned(ctx, row)
	}
	name, phone := nameAndPhone(customer)
	made := mobilemoney.Bill{
		Reference: bill.NextReference(), Name: name, Phone: phone, InvoiceName: invoiceName(row.Number),
		DueOn: invoice.DueOn, AccountReference: row.Number, Amount: invoice.Due,
		Period: periodOf(shown.InvoiceRow),
	}
	if err := made.Check(); err != nil {
		code, message := failure.CodeOf(err), messageOf(err)
		return nil, t.do(ctx, commands.FailBill{InvoiceID: row.InvoiceID, Code: code, Message: message, Gone: true})
	}
	return &paper{Bill: made, row: row, round: bill.Round, try: bill.Tries + 1}, nil
}

// unsigned has a bill wait until its invoice is signed, which queues it anew. That may have happened in this moment: it
// is asked again, after as long as the bill has waited until then, an hour at most.
func (t *turn) unsigned(ctx context.Context, row paymentsviews.BillRow) error {
	now := t.cfg.Clock.Now()
	wait := min(max(now.Sub(row.QueuedAt).Abs(), billsRetry), billsRetries)
	return t.do(ctx, commands.DelayBill{
		InvoiceID: row.InvoiceID, Until: now.Add(wait), Reason: events.BillNotSigned,
	})
}

// eastAfrica is the zone of the customers of a provider that takes shillings alone: UTC+3 all year.
var eastAfrica = time.FixedZone("EAT", 3*60*60)

// periodOf names the months that an invoice is for; one of no period is for that of its issue.
func periodOf(r billingviews.InvoiceRow) string {
	from := r.DraftedAt
	if r.IssuedAt != nil {
		from = *r.IssuedAt
	}
	if r.PeriodFrom == nil || r.PeriodTo == nil {
		return monthOf(from)
	}
	first, last := monthOf(*r.PeriodFrom), monthOf(r.PeriodTo.Add(-time.Second))
	if first == last {
		return first
	}
	return first + " - " + last
}

// monthOf is a month in words.
func monthOf(at time.Time) string {
	return calendar.On(at, eastAfrica).Start(eastAfrica).Format("January 2006")
}

// nameAndPhone are those of a customer; nil = not known.
func nameAndPhone(r *subscribersviews.SubscriberRow) (name, phone string) {
	if r == nil {
		return "", ""
	}
	return strings.TrimSpace(null.Zero(r.FirstName) + " " + null.Zero(r.LastName)), null.Zero(r.Phone)
}
