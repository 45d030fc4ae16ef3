package paymentscases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// issued is a new invoice of 100 shillings.
func (k *kit) issued(t *testing.T, s id.Subscriber, number string) id.Invoice {
	t.Helper()
	invoice := id.New[id.Invoice]()
	k.run(t, commands.DraftInvoice{
		SubscriberID: s, OrgID: k.org, InvoiceID: invoice, Currency: money.KES, Prefix: "ACME",
		Lines: []commands.LineInput{{Description: "Home", Quantity: "1", UnitPrice: money.Major(100, money.KES)}},
		DueOn: calendar.On(k.clock.Now(), time.UTC),
	})
	k.run(t, commands.IssueInvoice{SubscriberID: s, InvoiceID: invoice, Number: number})
	return invoice
}

// Money that names a written-off invoice recovers the loss, whichever way it comes.
func TestNamedInvoice_MayBeWrittenOff(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	invoice := k.issued(t, k.amina, "ACME-0001")
	k.run(t, commands.WriteOffDebt{SubscriberID: k.amina, WriteOffID: id.New[id.Receipt](), Reason: "gone"})
	if _, err := k.receipts.RecordCash(t.Context(), coretest.Keyed(k.org), paymentscases.CashInput{
		SubscriberID: k.amina, InvoiceID: invoice, Amount: "100", Reference: "Book 17",
	}); err != nil {
		t.Errorf("cash: %v", err)
	}
	if _, err := k.receipts.Attribute(t.Context(), coretest.Keyed(k.org), paymentscases.AttributeInput{
		ReceiptID: k.held(t, "SJK4X7Q2A0", k.org), SubscriberID: k.amina, InvoiceID: invoice,
	}); err != nil {
		t.Errorf("money in suspense: %v", err)
	}
	ask := func(amount usecases.Figure) (paymentscases.Pending, error) {
		return k.prompts.Initiate(t.Context(), coretest.Keyed(k.org), paymentscases.PromptInput{
			SubscriberID: k.amina, InvoiceID: invoice, Amount: amount,
		})
	}
	_, err := ask("101")
	coretest.Refused(t, "more than is lost", err, "amount_above_loss")
	pending, err := ask("100")
	if err != nil {
		t.Fatalf("a prompt: %v", err)
	}
	if begun := k.begun(t, pending.PaymentID); len(begun) != 1 || begun[0].AccountReference != "ACME-0001" ||
		begun[0].InvoiceID != invoice {
		t.Errorf("the customer is asked %+v", begun)
	}
}

// A receipt can be attributed as soon as it is recorded: the invoice is checked then, too.
func TestNamedInvoice_OfMoneyWhosePayerIsStillSearched(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	neighbours := k.issued(t, k.chege, "ACME-0001")
	receipt := commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2A0")
	k.run(t, commands.RecordReceipt{
		ReceiptID: receipt, OrgID: k.org, Provider: commands.ProviderMobileMoney, ReceiptNumber: "SJK4X7Q2A0",
		Channel: commands.ChannelPaybill, Shortcode: platformShortcode, Amount: money.Major(100, money.KES),
		PaidAt: k.clock.Now(), Sighting: commands.SightingConfirmation,
	})
	attribute := func(invoice id.Invoice) error {
		_, err := k.receipts.Attribute(t.Context(), coretest.Keyed(k.org), paymentscases.AttributeInput{
			ReceiptID: receipt, SubscriberID: k.amina, InvoiceID: invoice,
		})
		return err
	}
	coretest.Refused(t, "a neighbour's invoice", attribute(neighbours), "invoice_not_found")
	if r := k.receipt(t, receipt); r.Standing != payments.StandingRecorded {
		t.Errorf("the refused attribution left %+v", r)
	}
	if err := attribute(k.issued(t, k.amina, "ACME-0002")); err != nil {
		t.Errorf("her own invoice: %v", err)
	}
	if err := attribute(id.Invoice{}); err != nil {
		t.Errorf("a repeat that names none: %v", err)
	}
	k.run(t, commands.ReverseReceipt{ReceiptID: receipt, OrgID: k.org, Reason: "x"})
	coretest.Refused(t, "reversed money", attribute(neighbours), "receipt_reversed")
}
