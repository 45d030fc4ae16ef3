package documentscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// SubscriberOfInvoice gives whose an invoice is; zero when the organization has no such invoice.
func (d Documents) SubscriberOfInvoice(
	ctx context.Context, org id.Organization, which id.Invoice,
) (id.Subscriber, error) {
	row, err := d.invoices().Get(ctx, org, which)
	if err != nil || row == nil {
		return id.Subscriber{}, err
	}
	return row.SubscriberID, nil
}

// SubscriberOfReceipt gives on whose account a receipt is; zero when it is on none, or the organization has no such
// receipt.
func (d Documents) SubscriberOfReceipt(
	ctx context.Context, org id.Organization, which id.Receipt,
) (id.Subscriber, error) {
	row, err := d.receipts().Get(ctx, org, which)
	if err != nil || row == nil {
		return id.Subscriber{}, err
	}
	return row.SubscriberID, nil
}

// SubscriberOfCreditNote gives whose a credit note is; zero when the organization has no such note.
func (d Documents) SubscriberOfCreditNote(
	ctx context.Context, org id.Organization, which id.Receipt,
) (id.Subscriber, error) {
	row, err := d.invoices().CreditNote(ctx, org, which)
	if err != nil || row == nil {
		return id.Subscriber{}, err
	}
	return d.SubscriberOfInvoice(ctx, org, row.InvoiceID)
}
