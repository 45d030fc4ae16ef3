package messagingcases

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// document has what a message about an invoice or a receipt depends on.
type document struct {
	silent    bool
	signature billing.Signature // of the invoice
	invoice   billing.Invoice
	receipt   billing.Receipt
	came      bool // the account has the receipt
	// number is that by which the payer knows it; "" = a status query found the money, and no receipt tells of it yet.
	number   string
	services []subscribersviews.SubscriptionRow // of the customer, those that have not ended
}

// How long news waits for what follows: that money has come for the paid time that it buys, and that a run is over for
// the number of a draft whose issue it left to the process of the document. Money that a status query found has its
// number when the provider confirms it, mostly within seconds; whoever paid is told without it after numberWait.
const (
	settleWait = 5 * time.Second
	draftWait  = 5 * time.Minute
	numberWait = 3 * time.Minute
	numberLook = 5 * time.Second
)

// tellingWait is the pause between two looks at whether a customer hears of the beginning of an outage that is over.
const tellingWait = time.Minute

// ofDocument reads the invoice or the receipt.
func (d *Delivery) ofDocument(ctx context.Context, args commands.SendMessage, f *facts) (err error) {
	if f.account, _, err = bus.LoadUnchecked[billing.Account](ctx, d.Bus, args.SubscriberID); err != nil { // of the row
		return err
	}
	switch args.Template {
	case events.NoticeInvoice:
		f.signature, _, err = bus.LoadOwned[billing.Signature](
			ctx, d.Bus, args.OrgID, id.As[id.Signature](args.InvoiceID))
	case events.NoticeIssued:
		err = d.ofInvoice(ctx, args, f)
	case events.NoticeReceipt:
		if err = d.ofReceipt(ctx, args, f); err != nil {
			return err
		}
		f.services, _, err = d.subscriptions().OfSubscriber(ctx, args.OrgID, args.SubscriberID)
		f.document.silent = len(f.services) > 0 && !slices.ContainsFunc(f.services, lasts)
	default: // about no document
	}
	if err != nil {
		return err
	}
	return d.settings(ctx, f)
}

// ofReceipt reads money that has come. What a status query found is on the account under no number for ever: the number
// is that of the receipt which claims it (docs/rules/money.md#provisional-receipts).
func (d *Delivery) ofReceipt(ctx context.Context, args commands.SendMessage, f *facts) error {
	f.receipt, f.came = f.account.Receipts[args.ReceiptID]
	f.number = f.receipt.Number
	if !f.came || f.number != "" {
		return nil
	}
	claimed, _, err := bus.LoadUnchecked[payments.Receipt](ctx, d.Bus, args.ReceiptID) // on the customer's account
	f.number = claimed.KnownAs()
	return err
}

// lasts reports whether a service is not bought by the hour or the day.
func lasts(row subscribersviews.SubscriptionRow) bool { return !row.Terms.EndsWithPaidTime() }

// subscriptions asks about services.
func (d *Delivery) subscriptions() subscribersviews.SubscriptionsQuery {
	return subscribersviews.SubscriptionsQuery{Views: d.Views}
}

// ofInvoice reads an issued invoice. Of one that a tax authority is to sign, the signature is told and not the issue,
// whatever the gateway's setting is by now; an hour or a day is bought without a word, and who was reminded today
// knows what is to be paid.
func (d *Delivery) ofInvoice(ctx context.Context, args commands.SendMessage, f *facts) error {
	f.invoice = f.account.Invoices[args.InvoiceID]
	signed, err := d.toBeSigned(ctx, args, f.invoice)
	f.document.silent = signed
	of := f.invoice.SubscriptionID
	if err != nil || signed || of.IsZero() {
		return err
	}
	line, err := d.subscriptions().Get(ctx, args.OrgID, of)
	if err != nil || line == nil {
		return err
	}
	reminded, err := d.remindedToday(ctx, args, *f, *line)
	f.document.silent = reminded || !lasts(*line)
	return err
}

// toBeSigned reports whether the tax authority is to sign an invoice, once it has its number.
func (d *Delivery) toBeSigned(ctx context.Context, args commands.SendMessage, invoice billing.Invoice) (bool, error) {
	if invoice.Seq == 0 { // a draft, or settled
		return false, nil
	}
	var row billingviews.Payable
	shown, err := d.Views.WaitUntil(ctx, billingviews.InvoicesName, func(ctx context.Context) (bool, error) {
		rows, err := billingviews.InvoicesQuery{Views: d.Views}.Payables(
			ctx, args.OrgID, []id.Invoice{args.InvoiceID})
		row = rows[args.InvoiceID]
		return row.Number != "", err
	})
	if err == nil && !shown {
		err = runner.ErrBehind
	}
	return row.ToBeSigned, err
}

// remindedToday reports whether a reminder about a service went, or is about to go, on the present local day.
func (d *Delivery) remindedToday(
	ctx context.Context, args commands.SendMessage, f facts, line subscribersviews.SubscriptionRow,
) (bool, error) {
	rows, err := accessviews.DunningQuery{Views: d.Views}.OfSubscriber(ctx, args.OrgID, args.SubscriberID)
	f.line, args.Template, args.SubscriptionID, args.At = line, events.ReminderBefore, line.ID, d.Clock.Now()
	for _, row := range rows {
		if args.DueAt = null.Zero(row.DueAt); row.ID == line.ID && !args.DueAt.IsZero() {
			m, err := d.message(ctx, f.message(args))
			return err == nil && !m.Org.IsZero() && !m.Dropped, err
		}
	}
	return false, err
}

// stands reports whether what a message says of a document is still so: a voided invoice has no number on the account
// any more, one that is paid needs no word, and money that was taken back has not come.
func (f facts) stands(args commands.SendMessage) bool {
	switch args.Template {
	case events.NoticeInvoice:
		return f.signature.State == billing.SignatureSigned &&
			f.account.NumberOf(args.InvoiceID) == f.signature.Number
	case events.NoticeIssued:
		return f.invoice.Seq > 0 && f.invoice.Due.Positive()
	case events.NoticeReceipt:
		return f.came && !f.receipt.Withdrawn && f.receipt.Move == args.Move
	default: // about no document
	}
	return false
}

// drafted reports whether the invoice still waits for its number.
func (f facts) drafted(args commands.SendMessage) bool {
	invoice, found := f.account.Invoices[args.InvoiceID]
	return found && invoice.Seq == 0
}

// numbered is when to look again for the number of money that has come; zero = there is one, or the message goes
// without it.
func (f facts) numbered(args commands.SendMessage, now time.Time) time.Time {
	if end := args.At.Add(numberWait); f.number == "" && f.stands(args) && now.Before(end) {
		return notAfter(now.Add(numberLook), end)
	}
	return time.Time{}
}

// incomplete is when to look again, because not all is known yet that a message says; zero = it is.
func (f facts) incomplete(args commands.SendMessage, now time.Time) time.Time {
	switch {
	case args.Template == events.NoticeReceipt && f.settling(args, now):
		return args.At.Add(settleWait)
	case args.Template == events.NoticeReceipt:
		return f.numbered(args, now)
	case args.Template == events.NoticeOutageOver && f.telling && !f.told && now.Before(args.Until):
		return now.Add(tellingWait)
	case args.Template == events.NoticeIssued && f.drafted(args) && now.Before(args.Until):
		return now.Add(draftWait)
	}
	return time.Time{}
}

// settling reports whether paid time may still follow from money that has come.
func (f facts) settling(args commands.SendMessage, now time.Time) bool {
	return now.Before(args.At.Add(settleWait)) && len(f.bought(args)) == 0 && len(f.services) > 0
}

// bought are the services whose paid time was told since money has come.
func (f facts) bought(args commands.SendMessage) (list []subscribersviews.SubscriptionRow) {
	for _, row := range f.services {
		if row.PaidUntil != nil && !null.Zero(row.PaidTold).Before(args.At) {
			list = append(list, row)
		}
	}
	return list
}

// ofDocumentValues are the words of a message about a document.
func (f facts) ofDocumentValues(args commands.SendMessage, v map[string]string) {
	say := phrases[f.language]
	switch args.Template {
	case events.NoticeInvoice:
		v["amount"], v["number"] = f.signature.Total.String(), f.signature.Number
		v["control"], v["verification"] = f.signature.ControlNumber, f.signature.Verification
	case events.NoticeIssued:
		v["amount"], v["number"] = f.invoice.Due.String(), f.invoice.Number
		v["due"] = f.day(f.invoice.DueOn.Start(f.zone))
	case events.NoticeReceipt:
		v["amount"], v["code"] = f.receipt.Amount.String(), cmp.Or(f.number, say.noNumber)
		v["until"], v["rest"] = f.until(args), ""
		switch balance := f.account.Balance(); {
		case balance.Positive():
			v["rest"] = strings.ReplaceAll(say.owed, "{amount}", balance.String())
		case balance.Minor < 0:
			balance.Minor = -balance.Minor
			v["rest"] = strings.ReplaceAll(say.left, "{amount}", balance.String())
		}
	default: // about no document
	}
}

// until says up to when the services are paid whose time has just been bought; each by its plan when there are several.
func (f facts) until(args commands.SendMessage) string {
	bought := f.bought(args)
	var said []string
	for _, row := range bought {
		text := strings.ReplaceAll(phrases[f.language].until, "{until}", f.moment(*row.PaidUntil))
		if len(bought) > 1 {
			text = row.Terms.Name + ": " + text
		}
		said = append(said, text)
	}
	return strings.Join(said, " ")
}

// day writes a local day.
func (f facts) day(at time.Time) string { return at.In(f.zone).Format(phrases[f.language].day) }

// moment writes a local day and time.
func (f facts) moment(at time.Time) string { return f.day(at) + " " + at.In(f.zone).Format("15:04") }

// toldToday reports whether all invoices that a reminder is about were told of on its day: by messages of their own, or
// by the bill manager.
func (d *Delivery) toldToday(ctx context.Context, args commands.SendMessage, f facts) (bool, error) {
	invoices := f.remindedOf(args)
	for _, invoice := range invoices {
		issue := args
		issue.Template, issue.InvoiceID = events.NoticeIssued, invoice
		m, err := d.message(ctx, f.message(issue))
		if err != nil {
			return false, err
		}
		told := f.toldOn(m, d.Clock.Now())
		if !told {
			told, err = d.remindedThere(ctx, args, f, invoice)
		}
		if err != nil || !told {
			return false, err
		}
	}
	return len(invoices) > 0, nil
}

// toldOn reports whether a message went on the local day of an instant, or waits to go on it. What counts is when it
// went: one that was asked for in the evening goes in the morning.
func (f facts) toldOn(m messaging.Message, now time.Time) bool {
	if !m.Over {
		return now.Before(m.Until)
	}
	return m.Handed && calendar.On(m.HandedAt, f.zone) == calendar.On(now, f.zone)
}

// remindedOf are the issued invoices that a reminder asks to pay.
func (f facts) remindedOf(args commands.SendMessage) (invoices []id.Invoice) {
	if f.line.Terms.Mode == events.Prepaid {
		for invoice, i := range f.account.Invoices {
			if i.SubscriptionID == args.SubscriptionID && i.Seq > 0 {
				invoices = append(invoices, invoice)
			}
		}
		return invoices
	}
	_, invoices = f.overdue(args.DueAt)
	return invoices
}

// billDays are the days before the due date on which the bill manager reminds.
// Source: docs/facts/mobile-money.md#bill-manager.
var billDays = []int{7, 3, 0}

// remindedThere reports whether the bill manager reminds of an invoice on the day of a reminder: the organization wants
// it to, it does so for the platform, it has the invoice, and the day is one of its own
// (docs/rules/payments-billmanager.md#its-reminders).
func (d *Delivery) remindedThere(
	ctx context.Context, args commands.SendMessage, f facts, invoice id.Invoice,
) (bool, error) {
	due := f.account.Invoices[invoice].DueOn
	if d.BillOptIn.IsZero() || due.IsZero() ||
		!slices.Contains(billDays, calendar.DaysBetween(calendar.On(args.At, f.zone), due)) {
		return false, nil
	}
	settings, _, err := bus.LoadUnchecked[payments.BillManager](ctx, d.Bus, f.org.ID) // the id is its own
	if err != nil || !settings.On || !settings.Reminders {
		return false, err
	}
	optIn, _, err := bus.LoadUnchecked[payments.BillOptIn](ctx, d.Bus, d.BillOptIn)
	if err != nil || !optIn.Reminders {
		return false, err
	}
	bill, _, err := bus.LoadUnchecked[payments.Bill](ctx, d.Bus, invoice)
	return bill.There(), err
}
