package paymentsapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// Payments serves /payments.
type Payments struct {
	Bus      *bus.Bus
	Payments paymentsviews.PaymentsQuery
	Gateways paymentsviews.GatewaysQuery
	// Limiter counts prompts per phone; its keys are stored as HMACs.
	Books Books
	// PromptLimit is how many prompts one phone gets in ten minutes: 3 by rules.md 5, more in load tests.
	PromptLimit int
	Limiter     vault.Limiter
	// Ready gives failure.Unavailable while the breaker of an environment's provider is open (rules.md 6).
	Ready    func(environment string) error
	Platform PlatformGateway
	// Own lists the subscribers that a signed-in customer is linked to; nil = nobody is.
	Own   func(ctx context.Context, org id.Organization, user id.User) ([]id.Subscriber, error)
	Clock clock.Clock
}

// PlatformGateway is the shared paybill. Without a shortcode there is none.
type PlatformGateway struct {
	Shortcode   string
	Environment string // "sandbox" or "production"
	// Live calls real providers. A live sandbox takes callbacks on trust, so real money has no place on it (rules.md
	// 3).
	Live bool
}

// Routes lists the endpoints of payments.
func (a Payments) Routes() []httpapi.Route {
	filters := []httpapi.Param{
		{Name: "subscriberId", Type: "uuid"}, {Name: "status", Type: "string", Enum: paymentStatuses},
	}
	return []httpapi.Route{
		{
			Method: "POST", Path: "/payments/initiate", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Summary: "Ask a phone to pay", Request: initiateRequest{}, Response: initiateResponse{}, Status: 202,
			Handle: a.initiate,
		},
		{
			Method: "POST", Path: "/payments/query", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Summary: "Ask the provider about a payment now", Request: queryRequest{}, Response: paymentResponse{},
			Handle: a.query,
		},
		{
			Method: "POST", Path: "/payments/cash", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Record money taken by hand", Request: cashRequest{}, Response: paymentResponse{}, Status: 201,
			Handle: a.cash,
		},
		{
			Method: "GET", Path: "/payments", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Summary: "List payments", Row: paymentResponse{}, Query: filters, Handle: a.list,
		},
		{
			Method: "GET", Path: "/payments/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Summary: "Read a payment", Response: paymentResponse{}, Handle: a.get,
		},
	}
}

// paymentStatuses are the values of status. Source: spec.md, Payment statuses.
var paymentStatuses = []string{
	paymentsviews.StatusPending, paymentsviews.StatusSuccess, paymentsviews.StatusCancelled, paymentsviews.StatusFailed,
}

// paymentResponse is a payment as api.md shows it.
type paymentResponse struct {
	ID                id.Payment     `json:"id"`
	SubscriberID      id.Subscriber  `json:"subscriberId"`
	InvoiceID         *id.Invoice    `json:"invoiceId"`
	Amount            httpapi.Number `json:"amount"`
	Currency          money.Currency `json:"currency"`
	Status            string         `json:"status" enum:"PENDING,SUCCESS,CANCELLED,FAILED"`
	Gateway           string         `json:"gateway" enum:"mobile_money_stk,cash"`
	ReceiptID         *id.Receipt    `json:"receiptId"`
	ReceiptNumber     *string        `json:"receiptNumber" doc:"null also for a success that the provider has not numbered yet"`
	Reason            *string        `json:"reason" doc:"machine-readable; null unless cancelled or failed"`
	Message           *string        `json:"message" doc:"the provider's words"`
	CheckoutRequestID *string        `json:"checkoutRequestId"`
	InitiatedAt       time.Time      `json:"initiatedAt"`
	SettledAt         *time.Time     `json:"settledAt"`
	Attempts          int            `json:"attempts" doc:"how often the provider was asked without a verdict"`
}

// showPayment is a row as the API shows it.
func showPayment(r paymentsviews.PaymentRow) paymentResponse {
	return paymentResponse{
		ID: r.ID, SubscriberID: r.SubscriberID, InvoiceID: null.Of(r.InvoiceID), Amount: r.Amount().Number(),
		Currency: r.Currency, Status: r.Status(), Gateway: r.Gateway, ReceiptID: null.Of(r.ReceiptID),
		ReceiptNumber: r.ReceiptNumber, Reason: null.Of(r.Reason()), Message: null.Of(r.Message),
		CheckoutRequestID: r.CheckoutRequestID, InitiatedAt: r.InitiatedAt, SettledAt: r.SettledAt, Attempts: r.Checks,
	}
}

// mayAsk refuses support: they read (spec.md, Roles and hierarchy), and asking a customer for money is no reading.
func mayAsk(c *httpapi.Call) error {
	if c.Caller.Role == events.RoleSupport {
		return failure.NewDenied("role_required", "This needs the role %s.", events.RoleAdmin)
	}
	return nil
}

// scope lists the subscribers to which a customer's view is limited; nil = all, for staff.
func (a Payments) scope(ctx context.Context, c *httpapi.Call) ([]id.Subscriber, error) {
	if c.Caller.Role != events.RoleSubscriber {
		return nil, nil
	}
	if a.Own == nil {
		return []id.Subscriber{}, nil
	}
	own, err := a.Own(ctx, c.Org.ID, c.Caller.UserID)
	if own == nil {
		own = []id.Subscriber{}
	}
	return own, err
}

// within tells whether a subscriber is in a scope.
func within(scope []id.Subscriber, s id.Subscriber) bool {
	if scope == nil {
		return true
	}
	for _, own := range scope {
		if own == s {
			return true
		}
	}
	return false
}

// list answers with a page of payments.
func (a Payments) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	subscriber, status := httpapi.FilterID[id.Subscriber](f, "subscriberId"), f.OneOf("status", paymentStatuses...)
	if err := f.Err(); err != nil {
		return err
	}
	page, err := httpapi.PageOf[paymentsviews.PaymentKey](c)
	if err != nil {
		return err
	}
	scope, err := a.scope(ctx, c)
	if err != nil {
		return err
	}
	if !subscriber.IsZero() {
		if !within(scope, subscriber) {
			return commands.ErrNoSubscriber()
		}
		scope = []id.Subscriber{subscriber}
	}
	rows, err := a.Payments.List(ctx, c.Org.ID, paymentsviews.PaymentFilter{SubscriberIDs: scope, Status: status},
		null.Zero(page.After), page.Fetch())
	if err != nil {
		return err
	}
	return httpapi.SendPage(c, page, rows, func(r paymentsviews.PaymentRow) paymentsviews.PaymentKey {
		return paymentsviews.PaymentKey{InitiatedAt: r.InitiatedAt, ID: r.ID}
	}, showPayment)
}

// get answers with one payment.
func (a Payments) get(ctx context.Context, c *httpapi.Call) error {
	payment, err := httpapi.PathID[id.Payment](c, "id", commands.ErrNoPayment)
	if err != nil {
		return err
	}
	row, err := a.visible(ctx, c, payment)
	if err != nil {
		return err
	}
	return c.Send(200, showPayment(*row))
}

// visible reads a payment that the caller may see.
func (a Payments) visible(ctx context.Context, c *httpapi.Call, payment id.Payment) (*paymentsviews.PaymentRow, error) {
	scope, err := a.scope(ctx, c)
	if err != nil {
		return nil, err
	}
	row, err := a.Payments.Get(ctx, c.Org.ID, payment)
	switch {
	case err != nil:
		return nil, err
	case row == nil || !within(scope, row.SubscriberID):
		return nil, commands.ErrNoPayment()
	}
	return row, nil
}
