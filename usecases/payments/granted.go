package paymentscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/usecases"
)

// Granted lets a refund go that a second person has granted.
func (r Refunds) Granted(ctx context.Context, asked usecases.Asked, of usecases.Granted) error {
	_, err := r.Approve(ctx, asked, of.What.RefundID)
	return err
}

// GrantedReversal takes a payment back as a second person has granted it.
func (r Receipts) GrantedReversal(ctx context.Context, asked usecases.Asked, of usecases.Granted) error {
	_, err := r.Reverse(ctx, asked, ReverseInput{ReceiptID: of.What.ReceiptID, Reason: of.Reason})
	return err
}

// GrantedReattribution moves a payment as a second person has granted it.
func (r Receipts) GrantedReattribution(ctx context.Context, asked usecases.Asked, of usecases.Granted) error {
	_, err := r.Reattribute(ctx, asked, ReattributeInput{
		ReceiptID: of.What.ReceiptID, SubscriberID: of.What.ToID, Reason: of.Reason,
		Word: Word{PaymentID: of.What.PaymentID, NoPrompt: of.What.NoPrompt},
	})
	return err
}
