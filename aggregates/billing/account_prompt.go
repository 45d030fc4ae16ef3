package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// decideReservePrompt allows one open prompt for each subscriber and amount (docs/rules/payments.md#one-open-prompt).
func decideReservePrompt(s Account, c commands.ReservePrompt, now time.Time) ([]events.AccountEvent, error) {
	if _, open := s.Prompts[c.PaymentID]; open {
		return nil, nil
	}
	if err := s.mayAsk(c.InvoiceID, c.Amount); err != nil {
		return nil, err
	}
	for _, p := range s.Prompts {
		if p.Amount == c.Amount {
			return nil, failure.NewConflict("payment_in_progress",
				"A payment of this amount is in progress. Wait until it ends.")
		}
	}
	b, err := opened(s, c.SubscriberID, c.OrgID, c.Amount.Currency, now)
	if err != nil {
		return nil, err
	}
	b.record(events.PromptReserved{
		SubscriberID: c.SubscriberID, OrgID: c.OrgID, PaymentID: c.PaymentID, InvoiceID: c.InvoiceID, Amount: c.Amount,
		At: now,
	})
	return b.events(), nil
}

// MayPay gives the failure of money that names an invoice to be paid first: the account must have it, and something
// must be due on it, or lost by a write-off that the money recovers. It is nil for the zero id, which names none.
// Fails: invoice_not_found, invoice_not_issued, invoice_not_payable.
func (s Account) MayPay(invoice id.Invoice) error {
	inv, open := s.Invoices[invoice]
	switch {
	case invoice.IsZero():
		return nil
	case !s.knows(invoice):
		return commands.ErrNoInvoice()
	case !open && !s.lost(invoice).Positive():
		return failure.NewConflict("invoice_not_payable", "Nothing is due on the invoice.")
	case open && inv.Seq == 0:
		return invoiceNotIssued()
	}
	return nil
}

// mayAsk gives the failure of a prompt that names an invoice. Of a debt that was written off whole, a phone is asked
// for no more than what is lost, in whole units: nothing is due any more for which the rest could be meant. Fails:
// those of MayPay, amount_above_loss.
func (s Account) mayAsk(invoice id.Invoice, amount money.Amount) error {
	if err := s.MayPay(invoice); err != nil {
		return err
	}
	_, settled := s.Settled[invoice]
	if lost := s.lost(invoice); settled && amount.Currency == s.Currency && amount.Cmp(lost.CeilMajor()) > 0 {
		return failure.NewConflict("amount_above_loss",
			"The invoice was written off, and only %s of it can still be paid.", lost.String())
	}
	return nil
}

// decideReleasePrompt gives no event for a prompt that is not open.
func decideReleasePrompt(s Account, c commands.ReleasePrompt, now time.Time) ([]events.AccountEvent, error) {
	if _, open := s.Prompts[c.PaymentID]; !open {
		return nil, nil
	}
	return []events.AccountEvent{events.PromptReleased{SubscriberID: s.SubscriberID, PaymentID: c.PaymentID, At: now}},
		nil
}
