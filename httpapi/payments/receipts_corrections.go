package paymentsapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// attributeRequest is the body of POST /receipts/:id/attribute: docs/rules/money.md#receipt-endpoints.
type attributeRequest struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	InvoiceID    id.Invoice    `json:"invoiceId,omitzero" doc:"to be paid first; the oldest due when absent"`
	attemptWord
}

// attemptWord has a person's word about the attempt whose money a receipt is: docs/rules/money.md#named-attempt.
type attemptWord struct {
	PaymentID id.Payment `json:"paymentId,omitzero" doc:"the money is that of this payment, asked for on the phone"`
	NoPrompt  bool       `json:"noPrompt,omitempty" doc:"the money is that of no payment asked for on the phone"`
}

// word gives it to the use cases.
func (w attemptWord) word() paymentscases.Word {
	return paymentscases.Word{PaymentID: w.PaymentID, NoPrompt: w.NoPrompt}
}

// reattributeRequest is the body of POST /receipts/:id/reattribute: docs/rules/money.md#mistakes.
type reattributeRequest struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	Reason       string        `json:"reason"`
	attemptWord
}

// assignRequest is the body of POST /receipts/:id/assign: docs/rules/money.md#money-without-an-owner.
type assignRequest struct {
	OrgID id.Organization `json:"orgId"`
}

// attribute gives money in suspense to a subscriber, with all that follows from a matched payment.
func (a Receipts) attribute(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[attributeRequest](c)
	if err != nil {
		return err
	}
	receipt, err := httpapi.PathID[id.Receipt](c, "id", commands.ErrNoReceipt)
	if err != nil {
		return err
	}
	booked, err := a.Cases.Attribute(ctx, c.Asked(), paymentscases.AttributeInput{
		ReceiptID: receipt, SubscriberID: in.SubscriberID, InvoiceID: in.InvoiceID, Word: in.word(),
	})
	if err != nil {
		return err
	}
	return a.sendBooked(ctx, c, booked)
}

// reverse takes a payment back, and answers once the account shows that.
func (a Receipts) reverse(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[httpapi.ReasonRequest](c)
	if err != nil {
		return err
	}
	receipt, err := httpapi.PathID[id.Receipt](c, "id", commands.ErrNoReceipt)
	if err != nil {
		return err
	}
	booked, err := a.Cases.Reverse(ctx, c.Asked(), paymentscases.ReverseInput{ReceiptID: receipt, Reason: in.Reason})
	if err != nil {
		return err
	}
	return a.sendBooked(ctx, c, booked)
}

// reattribute moves a payment to another subscriber, and answers once both accounts show that.
func (a Receipts) reattribute(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[reattributeRequest](c)
	if err != nil {
		return err
	}
	receipt, err := httpapi.PathID[id.Receipt](c, "id", commands.ErrNoReceipt)
	if err != nil {
		return err
	}
	booked, err := a.Cases.Reattribute(ctx, c.Asked(), paymentscases.ReattributeInput{
		ReceiptID: receipt, SubscriberID: in.SubscriberID, Reason: in.Reason, Word: in.word(),
	})
	if err != nil {
		return err
	}
	return a.sendBooked(ctx, c, booked)
}

// sendBooked answers with a corrected receipt once the accounts show the correction.
func (a Receipts) sendBooked(ctx context.Context, c *httpapi.Call, booked paymentscases.Booked) error {
	if err := a.Books.Await(ctx, booked); err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), booked.ReceiptID, booked.Done)
}

// assign gives unmatched money on a platform shortcode to an organization, whose staff then attribute it.
func (a Receipts) assign(ctx context.Context, c *httpapi.Call) error {
	receipt, err := httpapi.PathID[id.Receipt](c, "id", commands.ErrNoReceipt)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[assignRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.Assign(ctx, c.Asked(), receipt, in.OrgID)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, httpapi.One[id.Receipt, paymentsviews.ReceiptRow, receiptResponse]{
		Model: paymentsviews.ReceiptsName, Missing: commands.ErrNoReceipt, Show: showReceipt,
		Read: func(ctx context.Context, _ id.Organization, r id.Receipt) (*paymentsviews.ReceiptRow, error) {
			return a.Receipts.Any(ctx, r)
		},
	}, receipt, done)
}
