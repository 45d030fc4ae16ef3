package billingcases

import (
	"context"

	"github.com/lastmile-isp/lastmile/usecases"
)

// Granted gives up a debt as a second person has granted it.
func (u WriteOffs) Granted(ctx context.Context, asked usecases.Asked, of usecases.Granted) error {
	_, err := u.WriteOff(ctx, asked, WriteOffInput{
		SubscriberID: of.Of.SubscriberID, Amount: of.Figure(), Reason: of.Reason,
	})
	return err
}

// Granted drafts a credit note that a second person has granted.
func (u CreditNotes) Granted(ctx context.Context, asked usecases.Asked, of usecases.Granted) error {
	_, err := u.Draft(ctx, asked, DraftCreditNoteInput{
		SubscriberID: of.Of.SubscriberID, InvoiceID: of.What.InvoiceID, Amount: of.Figure(), Reason: of.Reason,
	})
	return err
}

// GrantedVoid takes an invoice back as a second person has granted it.
func (u Invoices) GrantedVoid(ctx context.Context, asked usecases.Asked, of usecases.Granted) error {
	_, err := u.Void(ctx, asked, VoidInput{
		SubscriberID: of.Of.SubscriberID, InvoiceID: of.What.InvoiceID, Reason: of.Reason,
	})
	return err
}

// GrantedReissue corrects an invoice as a second person has granted it.
func (u Invoices) GrantedReissue(ctx context.Context, asked usecases.Asked, of usecases.Granted) error {
	in := ReissueInput{InvoiceID: of.What.InvoiceID, Reason: of.Reason}
	in.SubscriberID, in.DueOn = of.Of.SubscriberID, of.What.DueOn
	for _, l := range of.What.Lines {
		in.Lines = append(in.Lines, LineInput{
			Description: l.Description.Reveal(), Quantity: l.Quantity,
			UnitPrice: usecases.Figure(l.UnitPrice.Decimal()), Once: l.Once,
		})
	}
	_, _, err := u.Reissue(ctx, asked, in)
	return err
}
