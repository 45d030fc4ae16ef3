package paymentsapi

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// initiateRequest is the body of POST /payments/initiate: docs/rules/payments.md#initiate.
type initiateRequest struct {
	SubscriberID id.Subscriber  `json:"subscriberId"`
	Amount       httpapi.Amount `json:"amount" doc:"rounded up to whole shillings, 1 to 250000"`
	InvoiceID    id.Invoice     `json:"invoiceId,omitzero" doc:"to be paid first; the oldest due when absent"`
	Phone        string         `json:"phone,omitempty" doc:"of a customer the own; the subscriber's when absent"`
}

// initiateResponse is the attempt as far as it is known when the provider has answered, or after 8 seconds.
type initiateResponse struct {
	PaymentID         id.Payment     `json:"paymentId"`
	Status            string         `json:"status" enum:"PENDING,SUCCESS,CANCELLED,FAILED"`
	CheckoutRequestID *string        `json:"checkoutRequestId"`
	CustomerMessage   *string        `json:"customerMessage"`
	AmountRequested   httpapi.Number `json:"amountRequested"`
	Currency          money.Currency `json:"currency"`
	ExpiresAt         *time.Time     `json:"expiresAt"`
	Reason            *paymentReason `json:"reason,omitempty"`
	Message           *string        `json:"message,omitempty"`
}

// ForCustomer implements httpapi.StaffSees: all of it is for whoever asked.
func (*initiateResponse) ForCustomer() {}

// initiate asks a phone to pay and waits for the provider's answer.
func (a Payments) initiate(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[initiateRequest](c)
	if err != nil {
		return err
	}
	if !c.Sees(in.SubscriberID) {
		return commands.ErrNoSubscriber()
	}
	prompt := paymentscases.PromptInput{
		SubscriberID: in.SubscriberID, InvoiceID: in.InvoiceID, Amount: in.Amount.Figure(),
		Phone: personal.Of(in.Phone),
	}
	if prompt.Customer, err = a.customer(ctx, c); err != nil {
		return err
	}
	pending, err := a.Prompts.Initiate(ctx, c.Asked(), prompt)
	if err != nil {
		return err
	}
	row, err := a.Prompts.AwaitAnswer(ctx, pending)
	if err != nil {
		return err
	}
	return c.Send(202, showInitiated(pending, row))
}

// customer is the customer who asks, nil for staff. The phone of one who signs in with it alone is proven by its codes;
// one that stands beside an e-mail address was typed by somebody.
func (a Payments) customer(ctx context.Context, c *httpapi.Call) (*paymentscases.Customer, error) {
	if !c.IsCustomer() {
		return nil, nil
	}
	out := paymentscases.Customer{UserID: c.Caller.UserID}
	user, err := a.Users.ByID(ctx, c.Caller.UserID)
	if err == nil && user != nil && user.Email == "" {
		out.Phone = personal.Of(user.Phone)
	}
	return &out, err
}

// showInitiated writes the attempt as far as it is known; row is nil when the read side does not show it yet.
func showInitiated(p paymentscases.Pending, row *paymentsviews.PaymentRow) initiateResponse {
	out := initiateResponse{
		PaymentID: p.PaymentID, Status: paymentsviews.StatusPending, AmountRequested: p.Amount.Number(),
		Currency: p.Amount.Currency,
	}
	if row != nil {
		out.Status, out.CheckoutRequestID, out.CustomerMessage = row.Status(), row.CheckoutRequestID,
			row.CustomerMessage
		out.ExpiresAt, out.Message = row.ExpiresAt, null.Of(row.Message)
		out.Reason = null.Of(paymentReason(row.Reason()))
	}
	return out
}

// queryRequest names the payment about which the provider is asked.
type queryRequest struct {
	PaymentID id.Payment `json:"paymentId"`
}

// queryResponse is the payment after the question.
type queryResponse struct {
	paymentResponse
	ProviderAsked bool `json:"providerAsked" doc:"false: asked less than 10 seconds ago, or there is nothing to ask"`
}

// query asks the provider about a payment, and answers with the payment after the provider's answer.
func (a Payments) query(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[queryRequest](c)
	if err != nil {
		return err
	}
	if _, err := a.one(c).Find(ctx, c, in.PaymentID); err != nil {
		return err
	}
	pending, err := a.Prompts.Check(ctx, c.Asked(), in.PaymentID)
	if err != nil {
		return err
	}
	row, err := a.Prompts.AwaitAnswer(ctx, pending)
	if err != nil || row == nil {
		return cmp.Or(err, commands.ErrNoPayment())
	}
	named, err := a.oneNamed(ctx, c, *row)
	if err != nil {
		return err
	}
	return httpapi.SendNamed(ctx, c, 200, queryResponse{showPayment(*named), pending.Asked})
}

// cashRequest is the body of POST /payments/cash: docs/rules/money.md#cash.
type cashRequest struct {
	SubscriberID id.Subscriber  `json:"subscriberId"`
	Amount       httpapi.Amount `json:"amount"`
	Reference    string         `json:"reference" doc:"number in the cash book, unique in the organization"`
	InvoiceID    id.Invoice     `json:"invoiceId,omitzero"`
	Kind         string         `json:"kind,omitempty" enum:"cash,cheque,bank_transfer,card,other"`
	ReceivedOn   calendar.Date  `json:"receivedOn,omitzero" doc:"not in the future; today when absent"`
}

// cash records money taken by hand. The payment in the answer has the receipt's id.
func (a Payments) cash(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[cashRequest](c)
	if err != nil {
		return err
	}
	booked, err := a.Receipts.RecordCash(ctx, c.Asked(), paymentscases.CashInput{
		SubscriberID: in.SubscriberID, InvoiceID: in.InvoiceID, Amount: in.Amount.Figure(), Reference: in.Reference,
		Kind: in.Kind, ReceivedOn: in.ReceivedOn,
	})
	if err != nil {
		return err
	}
	if err := a.Books.Await(ctx, booked); err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 201, a.one(c), id.As[id.Payment](booked.ReceiptID), booked.Done)
}
