package paymentsapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Limits of prompts. Source: rules.md 5.
const (
	promptWindow = 10 * time.Minute
	answerWait   = 8 * time.Second
)

// initiateRequest is spec.md's body of POST /payments/initiate with api.md's additions.
type initiateRequest struct {
	SubscriberID id.Subscriber  `json:"subscriberId"`
	Amount       httpapi.Amount `json:"amount" doc:"rounded up to whole shillings, 1 to 250000"`
	InvoiceID    id.Invoice     `json:"invoiceId,omitzero" doc:"to be paid first; the oldest due when absent"`
	Phone        string         `json:"phone,omitempty" doc:"staff only; the subscriber's own when absent"`
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
	Reason            *string        `json:"reason,omitempty"`
	Message           *string        `json:"message,omitempty"`
}

// initiate reserves the attempt on the account, begins it, and waits for the provider's answer.
func (a Payments) initiate(ctx context.Context, c *httpapi.Call) error {
	if err := mayAsk(c); err != nil {
		return err
	}
	in, err := httpapi.Decode[initiateRequest](c)
	if err != nil {
		return err
	}
	command, err := a.promptCommand(ctx, c, in)
	if err != nil {
		return err
	}
	if err := a.Ready(command.Environment); err != nil {
		return err
	}
	if err := a.reserve(ctx, c, command); err != nil {
		return err
	}
	begun, err := a.Bus.Execute(ctx, command, c.Meta())
	if err != nil && failure.CodeOf(err) != "payment_exists" {
		return err // the reservation ends by itself: the outcome may be unknown
	}
	row, err := a.awaitAnswer(ctx, c.Org.ID, command.PaymentID, func(r paymentsviews.PaymentRow) bool {
		//nolint:gosec // revisions fit
		return r.Revision >= int64(begun.Revision) && r.Stage != "created" && r.Stage != "sent"
	})
	if err != nil {
		return err
	}
	return c.Send(202, showInitiated(command, row))
}

// reserve opens the attempt on the account and counts it against the phone's limit: an attempt that the account refuses
// asks no phone, so it does not count; one over the limit is given back.
func (a Payments) reserve(ctx context.Context, c *httpapi.Call, command commands.InitiatePayment) error {
	begun, _, err := bus.LoadUnchecked[payments.Payment](ctx, a.Bus, command.PaymentID)
	if err != nil || begun.Stage != payments.StageNone {
		return err // a retry of a request that went through, and whose answer was lost
	}
	// Not the id that a first try of this request had: a reservation that was given back since has to be made again.
	meta := c.Asked().Step("reserve " + id.New[id.Request]().String())
	reserved, err := a.Bus.Execute(ctx, commands.ReservePrompt{
		SubscriberID: command.SubscriberID, OrgID: c.Org.ID, PaymentID: command.PaymentID, InvoiceID: command.InvoiceID,
		Amount: command.Amount,
	}, meta)
	if err != nil || !reserved.Changed {
		return err // still reserved by a first try that was cut off
	}
	over := a.countPrompt(ctx, command.Phone)
	if over == nil {
		return nil
	}
	meta = c.Asked().Step("release " + meta.CommandID.String())
	_, err = a.Bus.Execute(ctx, commands.ReleasePrompt{SubscriberID: command.SubscriberID,
		PaymentID: command.PaymentID}, meta)
	return errors.Join(over, err)
}

// showInitiated is the attempt as it is known; nil when the read side does not show it yet.
func showInitiated(p commands.InitiatePayment, row *paymentsviews.PaymentRow) initiateResponse {
	out := initiateResponse{
		PaymentID: p.PaymentID, Status: paymentsviews.StatusPending, AmountRequested: p.Amount.Number(),
		Currency: p.Amount.Currency,
	}
	if row != nil {
		out.Status, out.CheckoutRequestID, out.CustomerMessage = row.Status(), row.CheckoutRequestID,
			row.CustomerMessage
		out.ExpiresAt, out.Reason, out.Message = row.ExpiresAt, null.Of(row.Reason()), null.Of(row.Message)
	}
	return out
}

// promptCommand fills the command from the subscriber and the gateway's settings.
func (a Payments) promptCommand(
	ctx context.Context, c *httpapi.Call, in initiateRequest,
) (commands.InitiatePayment, error) {
	none := commands.InitiatePayment{}
	scope, err := a.scope(ctx, c)
	if err != nil {
		return none, err
	}
	subscriber, err := a.subscriber(ctx, c, in.SubscriberID)
	if err != nil || !within(scope, in.SubscriberID) {
		return none, cmp.Or(err, commands.ErrNoSubscriber())
	}
	phone, err := promptPhone(c, subscriber, in.Phone)
	if err != nil {
		return none, err
	}
	if subscriber.Currency != money.KES {
		return none, failure.NewConflict("currency_not_supported",
			"Mobile money is paid in KES, and this account is kept in %s.", subscriber.Currency)
	}
	var faults failure.Faults
	amount := in.Amount.In(money.KES, "amount", &faults)
	if err := faults.Err(); err != nil {
		return none, err
	}
	command := commands.InitiatePayment{
		PaymentID: usecases.NewID[id.Payment](c.Asked(), "payment"), OrgID: c.Org.ID, SubscriberID: in.SubscriberID,
		InvoiceID: in.InvoiceID, Amount: amount.CeilMajor(), Phone: personal.Of(phone),
		AccountReference: accountReference(),
	}
	if err := a.throughGateway(ctx, &command); err != nil {
		return none, err
	}
	return command, command.Validate()
}

// subscriber loads a customer of the host's organization.
func (a Payments) subscriber(ctx context.Context, c *httpapi.Call, s id.Subscriber) (subscribers.Subscriber, error) {
	return loadSubscriber(ctx, a.Bus, c.Org.ID, s)
}

// loadSubscriber reads a customer of an organization from the log.
func loadSubscriber(
	ctx context.Context, b *bus.Bus, org id.Organization, s id.Subscriber,
) (subscribers.Subscriber, error) {
	subscriber, _, err := bus.LoadUnchecked[subscribers.Subscriber](ctx, b, s)
	if err != nil {
		return subscriber, err
	}
	if subscriber.Owner != org || subscriber.Forgotten {
		return subscriber, commands.ErrNoSubscriber()
	}
	return subscriber, nil
}

// promptPhone is the phone to ask: the subscriber's own, or what staff say. A customer prompts only their own.
func promptPhone(c *httpapi.Call, s subscribers.Subscriber, given string) (string, error) {
	own := s.Details.Phone.Reveal()
	phone := own
	if given != "" {
		phone = commands.NormalizeContactPhone(given)
	}
	if c.Caller.Role == events.RoleSubscriber && phone != own {
		return "", failure.NewDenied("phone_not_yours", "You can only ask your own phone.")
	}
	return strings.TrimPrefix(phone, "+"), nil
}

// throughGateway chooses shortcode and credentials: the organization's own when they are active, else the platform's.
func (a Payments) throughGateway(ctx context.Context, command *commands.InitiatePayment) error {
	g, err := a.Gateways.Get(ctx, command.OrgID)
	switch {
	case err != nil:
		return err
	case g != nil && g.Active():
		command.Direct, command.Environment, command.Shortcode, command.CredentialsRef = true, g.Environment,
			g.Shortcode, g.CredentialsRef
	case a.Platform.Shortcode == "":
		return failure.NewUnavailable("payment_gateway_missing", "No payment gateway is set up.", 0, nil)
	default:
		command.Environment, command.Shortcode = a.Platform.Environment, a.Platform.Shortcode
	}
	return nil
}

// accountReference is what the customer's statement shows, unique to the attempt: 55 random bits, which no account
// number, phone or invoice number looks like.
func accountReference() string { return "P" + rand.Text()[:11] }

// countPrompt bounds how often one phone is asked.
func (a Payments) countPrompt(ctx context.Context, phone personal.Text) error {
	ok, wait, err := a.Limiter.Allow(ctx, "prompt:"+phone.Reveal(), a.PromptLimit, promptWindow)
	if err != nil {
		return err
	}
	if !ok {
		return failure.NewLimited("too_many_prompts", "This phone was asked to pay too often. Please wait.",
			min(max(wait, time.Second), promptWindow))
	}
	return nil
}

// awaitAnswer waits until the read side shows what was waited for, 8 seconds at most; the row is what it shows then.
func (a Payments) awaitAnswer(
	ctx context.Context, org id.Organization, payment id.Payment, known func(paymentsviews.PaymentRow) bool,
) (*paymentsviews.PaymentRow, error) {
	wait, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	var row *paymentsviews.PaymentRow
	for {
		shown, err := a.Payments.Views.WaitUntil(wait, paymentsviews.PaymentsName,
			func(ctx context.Context) (bool, error) {
				latest, err := a.Payments.Get(ctx, org, payment)
				if err != nil || latest == nil {
					return false, err
				}
				row = latest
				return known(*row), nil
			})
		switch {
		case shown || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			return row, nil
		case err != nil:
			return nil, err
		}
	}
}

// queryRequest names the payment to ask about.
type queryRequest struct {
	PaymentID id.Payment `json:"paymentId"`
}

// query has the provider asked now and answers with what it said.
func (a Payments) query(ctx context.Context, c *httpapi.Call) error {
	if err := mayAsk(c); err != nil {
		return err
	}
	in, err := httpapi.Decode[queryRequest](c)
	if err != nil {
		return err
	}
	row, err := a.visible(ctx, c, in.PaymentID)
	if err != nil {
		return err
	}
	if row.Status() == paymentsviews.StatusSuccess || row.CheckoutRequestID == nil {
		return c.Send(200, showPayment(*row))
	}
	if err := a.Ready(row.Environment); err != nil {
		return err
	}
	asked, err := a.Bus.Execute(ctx, commands.RequestCheck{PaymentID: row.ID}, c.Meta())
	if err != nil {
		return err
	}
	before := *row
	row, err = a.awaitAnswer(ctx, c.Org.ID, before.ID, func(r paymentsviews.PaymentRow) bool {
		return !asked.Changed || r.Checks > before.Checks || r.Stage != before.Stage
	})
	if err != nil || row == nil {
		return cmp.Or(err, commands.ErrNoPayment())
	}
	return c.Send(200, showPayment(*row))
}

// receiptShape is how the provider's receipt numbers look. Source: rules.md 11.
var receiptShape = regexp.MustCompile(`^[A-Z0-9]{10}$`)

// cashRequest is api.md's body of POST /payments/cash.
type cashRequest struct {
	SubscriberID id.Subscriber  `json:"subscriberId"`
	Amount       httpapi.Amount `json:"amount"`
	Reference    string         `json:"reference" doc:"number in the cash book, unique in the organization"`
	InvoiceID    id.Invoice     `json:"invoiceId,omitzero"`
}

// cash records money taken by hand. Mobile money is never entered by hand: it would be credited twice (rules.md 11).
func (a Payments) cash(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[cashRequest](c)
	if err != nil {
		return err
	}
	subscriber, err := a.subscriber(ctx, c, in.SubscriberID)
	if err != nil {
		return err
	}
	reference := strings.TrimSpace(in.Reference)
	var faults failure.Faults
	amount := in.Amount.In(subscriber.Currency, "amount", &faults)
	faults.Check(amount.Positive(), "amount", "must be more than nothing")
	faults.Check(reference != "" && len(reference) <= 100, "reference", "must have 1 to 100 bytes")
	if err := faults.Err(); err != nil {
		return err
	}
	if receiptShape.MatchString(strings.ToUpper(reference)) {
		return failure.NewConflict("looks_like_mobile_money",
			"This looks like a receipt of mobile money, which arrives by itself.")
	}
	receipt := commands.CashReceiptID(c.Org.ID, reference)
	done, err := a.Bus.Execute(ctx, commands.RecordCash{
		ReceiptID: receipt, OrgID: c.Org.ID, SubscriberID: in.SubscriberID, InvoiceID: in.InvoiceID, Amount: amount,
		Reference: reference,
	}, c.Meta())
	if err != nil {
		return err
	}
	if err := a.Books.await(ctx, c.Org.ID, in.SubscriberID, receipt, done.Position); err != nil {
		return err
	}
	v := httpapi.Visible{Projection: paymentsviews.PaymentsName, ID: receipt.String(), Result: done}
	return httpapi.SendVisible(ctx, c, 201, v, func(ctx context.Context) (paymentResponse, error) {
		row, err := a.Payments.Get(ctx, c.Org.ID, id.As[id.Payment](receipt))
		if err != nil || row == nil {
			return paymentResponse{}, cmp.Or(err, commands.ErrNoPayment())
		}
		return showPayment(*row), nil
	})
}
