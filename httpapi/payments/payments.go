package paymentsapi

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// Payments serves /payments.
type Payments struct {
	Payments paymentsviews.PaymentsQuery
	Invoices billingviews.InvoicesQuery
	Users    identityviews.UsersQuery
	Prompts  paymentscases.Prompts
	Receipts paymentscases.Receipts
	Books    paymentscases.Books
	// Zone gives the zone of an organization, in which the dates of filters are.
	Zone func(context.Context, id.Organization) (*time.Location, error)
}

// Routes lists the endpoints of payments.
func (a Payments) Routes() []httpapi.Route {
	filters := []httpapi.Param{
		{Name: "subscriberId", Type: "uuid"}, {Name: "status", Type: "string", Enum: paymentStatuses},
		receiptNumber,
	}
	filters = append(filters, httpapi.SpanParams("asked for, or taken,")...)
	return []httpapi.Route{
		{
			Method: "POST", Path: "/payments/initiate", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSubscriberOrAdmin, Own: httpapi.OwnRows,
			Summary: "Ask a phone to pay", Request: initiateRequest{},
			Response: initiateResponse{}, Status: 202, Handle: a.initiate,
		},
		{
			Method: "POST", Path: "/payments/query", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSubscriberOrAdmin, Own: httpapi.OwnRows,
			Summary: "Ask the provider about a payment now", Request: queryRequest{}, Response: queryResponse{},
			Handle: a.query,
		},
		{
			Method: "POST", Path: "/payments/cash", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Record money taken by hand", Request: cashRequest{}, Response: paymentResponse{}, Status: 201,
			Handle: a.cash,
		},
		{
			Method: "GET", Path: "/payments", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnRows, Summary: "List payments", Row: paymentResponse{}, Query: filters, Handle: a.list,
		},
		{
			Method: "GET", Path: "/payments/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnRows, Summary: "Read a payment", Response: paymentResponse{}, Handle: a.get,
		},
	}
}

// receiptNumber finds money by the number that a customer names.
var receiptNumber = httpapi.Param{
	Name: "receiptNumber", Type: "string",
	Doc: "the whole number, in any case of letters and with any spaces between its words",
}

// paymentStatuses are the values of status: docs/rules/payments.md#outside-statuses.
var paymentStatuses = []string{
	paymentsviews.StatusPending, paymentsviews.StatusSuccess, paymentsviews.StatusCancelled, paymentsviews.StatusFailed,
}

// paymentReason makes the description list paymentsviews.PaymentReasons.
type paymentReason string

// Texts implements httpapi.Enumerated.
func (paymentReason) Texts() []string { return paymentsviews.PaymentReasons }

// paymentResponse is one payment as lists and reads show it: docs/rules/payments.md#payment-endpoints.
type paymentResponse struct {
	ID                id.Payment             `json:"id"`
	SubscriberID      id.Subscriber          `json:"subscriberId" doc:"whose account has the money"`
	Subscriber        *httpapi.SubscriberRef `json:"subscriber" doc:"null: not known yet"`
	InvoiceID         *id.Invoice            `json:"invoiceId"`
	InvoiceNumber     *string                `json:"invoiceNumber" doc:"null: no invoice, or not known yet"`
	Amount            httpapi.Number         `json:"amount"`
	Currency          money.Currency         `json:"currency"`
	Status            string                 `json:"status" enum:"PENDING,SUCCESS,CANCELLED,FAILED"`
	Gateway           string                 `json:"gateway" enum:"mobile_money_stk,cash"`
	ReceiptID         *id.Receipt            `json:"receiptId"`
	ReceiptNumber     *string                `json:"receiptNumber" doc:"null also for a success without a number yet"`
	Reason            *paymentReason         `json:"reason" doc:"null for money that came and stayed"`
	Message           *string                `json:"message" doc:"the provider's words"`
	CheckoutRequestID *string                `json:"checkoutRequestId"`
	Phone             *string                `json:"phone" doc:"that was asked; null: cash, forgotten, or not staff"`
	By                *httpapi.StaffRef      `json:"by" doc:"who asked, or took the cash; null: not staff"`
	InitiatedAt       time.Time              `json:"initiatedAt"`
	SettledAt         *time.Time             `json:"settledAt"`
	Attempts          int                    `json:"attempts" doc:"how often the provider was asked without a verdict"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *paymentResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(r.SubscriberID)
}

// ForCustomer implements httpapi.StaffSees: staff may have asked the phone of somebody else.
func (r *paymentResponse) ForCustomer() { r.Phone, r.By = nil, nil }

// showPayment writes the amount in major units, and null for what is not known.
func showPayment(r namedPayment) paymentResponse {
	return paymentResponse{
		ID: r.ID, SubscriberID: r.HeldBy, InvoiceID: null.Of(r.Pays()), InvoiceNumber: null.Of(r.invoiceNumber),
		Amount: r.Amount().Number(), Currency: r.Currency, Status: r.Status(), Gateway: r.Gateway,
		ReceiptID: null.Of(r.ReceiptID), ReceiptNumber: r.ReceiptNumber, Reason: null.Of(paymentReason(r.Reason())),
		Message: null.Of(r.Message), CheckoutRequestID: r.CheckoutRequestID, Phone: r.phone, By: r.by,
		InitiatedAt: r.InitiatedAt, SettledAt: r.SettledAt, Attempts: r.Checks,
	}
}

// namedPayment is a payment with the names of what it leads to.
type namedPayment struct {
	paymentsviews.PaymentRow
	invoiceNumber string            // "" = none, or not known yet
	phone         *string           // nil for a customer: staff may have asked the phone of somebody else
	by            *httpapi.StaffRef // nil for a customer
}

// named reads the names for all payments with two statements.
func (a Payments) named(
	ctx context.Context, c *httpapi.Call, rows []paymentsviews.PaymentRow,
) ([]namedPayment, error) {
	var invoices []id.Invoice
	var users []id.User
	staff := !c.IsCustomer()
	for _, r := range rows {
		if invoice := r.Pays(); !invoice.IsZero() {
			invoices = append(invoices, invoice)
		}
		if staff && !r.AskedBy.IsZero() {
			users = append(users, r.AskedBy)
		}
	}
	numbers, err := a.Invoices.Numbers(ctx, c.Org.ID, invoices)
	if err != nil {
		return nil, err
	}
	names, err := a.Users.Names(ctx, c.Org.ID, users)
	if err != nil {
		return nil, err
	}
	out := make([]namedPayment, len(rows))
	for i, r := range rows {
		out[i] = namedPayment{PaymentRow: r, invoiceNumber: numbers[r.Pays()]}
		if staff {
			out[i].phone, out[i].by = r.Phone, showStaff(r.AskedBy, names)
		}
	}
	return out, nil
}

// showStaff names a member of staff; nil for nobody.
func showStaff(user id.User, names map[id.User]string) *httpapi.StaffRef {
	if user.IsZero() {
		return nil
	}
	return &httpapi.StaffRef{ID: user, Name: null.Of(names[user])}
}

// one describes how a payment is read and shown; a customer finds their own only.
func (a Payments) one(c *httpapi.Call) httpapi.One[id.Payment, namedPayment, paymentResponse] {
	return httpapi.One[id.Payment, namedPayment, paymentResponse]{
		Model: paymentsviews.PaymentsName, Missing: commands.ErrNoPayment, Show: showPayment,
		Read: func(ctx context.Context, org id.Organization, p id.Payment) (*namedPayment, error) {
			row, err := a.Payments.Get(ctx, org, p)
			if err != nil || row == nil || !c.Sees(row.HeldBy) {
				return nil, err
			}
			return a.oneNamed(ctx, c, *row)
		},
	}
}

// oneNamed is named for a single row.
func (a Payments) oneNamed(
	ctx context.Context, c *httpapi.Call, row paymentsviews.PaymentRow,
) (*namedPayment, error) {
	named, err := a.named(ctx, c, []paymentsviews.PaymentRow{row})
	if err != nil {
		return nil, err
	}
	return &named[0], nil
}

// list answers with a page of payments, newest first; a customer sees their own only.
func (a Payments) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	subscriber, status := httpapi.FilterID[id.Subscriber](f, "subscriberId"), f.OneOf("status", paymentStatuses...)
	number := f.Text(receiptNumber.Name)
	from, to, err := f.Span(func() (*time.Location, error) { return a.Zone(ctx, c.Org.ID) })
	if err = cmp.Or(err, f.Err()); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showPayment, func(
		ctx context.Context, after paymentsviews.PaymentKey, max int,
	) ([]namedPayment, error) {
		of, err := c.Among(subscriber)
		if err != nil {
			return nil, err
		}
		if of == nil && !subscriber.IsZero() {
			of = []id.Subscriber{subscriber}
		}
		filter := paymentsviews.PaymentFilter{
			SubscriberIDs: of, Status: status, ReceiptNumber: number, From: from, To: to,
		}
		rows, err := a.Payments.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		return a.named(ctx, c, rows)
	})
}

// get answers with one payment.
func (a Payments) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one(c))
}
