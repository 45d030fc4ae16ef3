package paymentsapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// BillManager serves /bill-manager and its settings (docs/rules/payments-billmanager.md#bill-settings).
type BillManager struct {
	Cases paymentscases.BillManager
	Bills paymentsviews.BillsQuery
}

// billsBodyLimit has room for the ids of an organization's largest billing run.
const billsBodyLimit = 4 << 20

// Routes lists the endpoints.
func (a BillManager) Routes() []httpapi.Route {
	on, root := httpapi.OnOrganization, httpapi.OnRoot
	return []httpapi.Route{
		{
			Method: "GET", Path: "/settings/bill-manager", Hosts: on, Access: httpapi.AccessAdmin,
			Response: billSettingsResponse{}, Summary: "Whether invoices go to the provider's bill manager",
			Codes: []string{"bill_manager_centralized_only"}, Handle: a.settings,
		},
		{
			Method: "PUT", Path: "/settings/bill-manager", Hosts: on, Access: httpapi.AccessAdmin,
			Request: billSettingsRequest{}, Response: billSettingsResponse{}, Handle: a.configure,
			Summary: "Change whether invoices go to the provider's bill manager",
		},
		{
			Method: "GET", Path: "/bill-manager/opt-in", Hosts: root, Access: httpapi.AccessSuperAdmin,
			Response: optInResponse{}, Summary: "Whether the provider's bill manager knows the platform",
			Handle: a.optIn,
		},
		{
			Method: "POST", Path: "/bill-manager/opt-in", Hosts: root, Access: httpapi.AccessSuperAdmin,
			Request: optInRequest{}, Response: optInResponse{}, Handle: a.askToOptIn,
			Summary: "Make the platform known to the provider's bill manager, also again",
		},
		{
			Method: "GET", Path: "/bill-manager/invoices", Hosts: on, Access: httpapi.AccessSupport,
			Row:     billResponse{},
			Summary: "List the invoices at the provider's bill manager, the newest first", Handle: a.list,
			Query: []httpapi.Param{{Name: "state", Type: "string", Enum: paymentsviews.BillStates}},
		},
		{
			Method: "POST", Path: "/bill-manager/invoices", Hosts: on, Access: httpapi.AccessAdmin, Status: 202,
			Request: queueBillsRequest{}, Response: queueBillsResponse{}, BodyLimit: billsBodyLimit, Handle: a.queue,
			Summary: "Send invoices to the provider's bill manager, also again",
		},
		{
			Method: "POST", Path: "/bill-manager/invoices/:id/cancel", Hosts: on, Access: httpapi.AccessAdmin,
			Response: billResponse{}, Summary: "Take an invoice back at the provider's bill manager", Handle: a.cancel,
		},
	}
}

// billSettingsRequest is the body of PUT /settings/bill-manager.
type billSettingsRequest struct {
	Enabled   bool `json:"enabled" doc:"every invoice that is issued from now on goes to the bill manager"`
	Reminders bool `json:"reminders,omitempty" doc:"the bill manager's take the place of ours on the same days"`
}

// billSettingsResponse shows the settings.
type billSettingsResponse struct {
	Enabled         bool `json:"enabled"`
	Reminders       bool `json:"reminders"`
	ProviderReminds bool `json:"providerReminds" doc:"the bill manager reminds customers of this platform"`
}

// showBillSettings writes settings.
func showBillSettings(s paymentscases.BillSettings) billSettingsResponse {
	return billSettingsResponse{Enabled: s.On, Reminders: s.Reminders, ProviderReminds: s.ProviderReminds}
}

// settings answers with the settings. They have an ETag also before anybody has made any.
func (a BillManager) settings(ctx context.Context, c *httpapi.Call) error {
	s, err := a.Cases.Settings(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	if s.Revision < 0 {
		c.SetNoRevision()
	} else {
		c.SetRevision(uint64(s.Revision)) //nolint:gosec // it is not negative
	}
	return c.Send(200, showBillSettings(s))
}

// configure adopts settings, and answers with them once they are shown.
func (a BillManager) configure(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[billSettingsRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.Configure(ctx, c.Asked(), in.Enabled, in.Reminders)
	if err != nil {
		return err
	}
	v := httpapi.Visible{Projection: paymentsviews.BillsName, ID: c.Org.ID.String(), Result: done}
	return httpapi.SendVisible(ctx, c, 200, v, func(ctx context.Context) (billSettingsResponse, error) {
		s, err := a.Cases.Settings(ctx, c.Org.ID)
		return showBillSettings(s), err
	})
}

// optInRequest is the body of POST /bill-manager/opt-in.
type optInRequest struct {
	Reminders *bool `json:"reminders,omitempty" doc:"the bill manager reminds customers; absent: true"`
}

// optInResponse shows how the bill manager knows the platform. Nothing shows the key.
type optInResponse struct {
	State     string `json:"state" enum:"not_configured,not_opted_in,opted_in"`
	Shortcode string `json:"shortcode"`
	Reminders bool   `json:"reminders" doc:"the bill manager reminds customers"`

	Since        *time.Time `json:"since" doc:"when it was opted in last; null: never"`
	RefusedSince *time.Time `json:"refusedSince" doc:"since when it refuses the platform; null: it does not"`

	Email       string   `json:"email" doc:"that the next opt-in gives, like the two below; a setting of the program"`
	Phone       string   `json:"phone"`
	CallbackURL string   `json:"callbackUrl" doc:"to which it reports payments"`
	Missing     []string `json:"missing" doc:"settings without which nobody can opt in"`
}

// showOptIn writes the state.
func showOptIn(s paymentscases.OptInState) optInResponse {
	out := optInResponse(s)
	out.Missing = append([]string{}, s.Missing...)
	return out
}

// optIn answers with the state.
func (a BillManager) optIn(ctx context.Context, c *httpapi.Call) error {
	state, err := a.Cases.OptIn(ctx)
	if err != nil {
		return err
	}
	return c.Send(200, showOptIn(state))
}

// askToOptIn opts in. The body may be absent.
func (a BillManager) askToOptIn(ctx context.Context, c *httpapi.Call) error {
	var in optInRequest
	if len(c.Body()) > 0 {
		var err error
		if in, err = httpapi.Decode[optInRequest](c); err != nil {
			return err
		}
	}
	state, err := a.Cases.AskToOptIn(ctx, c.Asked(), in.Reminders == nil || *in.Reminders)
	if err != nil {
		return err
	}
	return c.Send(200, showOptIn(state))
}

// billState is one of paymentsviews.BillStates.
type billState string

// Texts implements httpapi.Enumerated.
func (billState) Texts() []string { return paymentsviews.BillStates }

// billResponse is an invoice at the bill manager.
type billResponse struct {
	InvoiceID    id.Invoice             `json:"invoiceId"`
	Number       string                 `json:"number"`
	State        billState              `json:"state"`
	Error        *string                `json:"error" doc:"why it failed, or waits, in words of the provider or ours"`
	Code         *string                `json:"code" doc:"the provider's or ours; of one that waits: for what"`
	Leaving      bool                   `json:"leaving" doc:"it is being taken back"`
	SubscriberID id.Subscriber          `json:"subscriberId"`
	Subscriber   *httpapi.SubscriberRef `json:"subscriber" doc:"null: not known yet"`
	QueuedAt     time.Time              `json:"queuedAt" doc:"again when it is sent again"`
	SentAt       *time.Time             `json:"sentAt" doc:"when it was taken last"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *billResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(r.SubscriberID)
}

// aboutUnsigned says why a bill is not sent yet.
const aboutUnsigned = "The tax authority has not signed the invoice. It is sent once it is signed."

// showBill writes null for what is not known, and failures of a failed bill alone. One that waits for something waits
// for its signature (events.BillNotSigned).
func showBill(r paymentsviews.BillRow) billResponse {
	out := billResponse{
		InvoiceID: r.InvoiceID, Number: r.Number, State: billState(r.State), Leaving: r.Leaves(),
		SubscriberID: r.SubscriberID, QueuedAt: r.QueuedAt, SentAt: r.SentAt,
	}
	if r.State == "failed" {
		out.Code, out.Error = null.Of(r.Code), null.Of(r.Message)
		if out.Error == nil {
			out.Error = null.Of(r.Code)
		}
	}
	if r.State == "queued" && r.WaitsFor != "" {
		out.Code, out.Error = null.Of(r.WaitsFor), null.Of(aboutUnsigned)
	}
	return out
}

// list answers with a page of bills.
func (a BillManager) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	state := f.OneOf("state", paymentsviews.BillStates...)
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showBill, func(
		ctx context.Context, after paymentsviews.BillKey, max int,
	) ([]paymentsviews.BillRow, error) {
		return a.Bills.List(ctx, c.Org.ID, state, after, max)
	})
}

// queueBillsRequest is the body of POST /bill-manager/invoices.
type queueBillsRequest struct {
	InvoiceIDs []id.Invoice `json:"invoiceIds" items:"100000" doc:"at most 100,000"`
}

// queueBillsResponse tells of each invoice, in the order of the request.
type queueBillsResponse struct {
	Data []queuedBill `json:"data"`
}

// queuedBill is an invoice that was to be sent.
type queuedBill struct {
	InvoiceID id.Invoice `json:"invoiceId"`
	Number    string     `json:"number"`
	State     *billState `json:"state" doc:"null: it has no bill"`
	Error     *string    `json:"error" doc:"why it is not sent" enum:"invoice_not_open,document_not_signed,bill_over"`
}

// queue has invoices sent.
func (a BillManager) queue(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[queueBillsRequest](c)
	if err != nil {
		return err
	}
	if len(in.InvoiceIDs) == 0 {
		return failure.NewInvalid("invalid_input", "invoiceIds is required")
	}
	list, position, err := a.Cases.Queue(ctx, c.Asked(), in.InvoiceIDs)
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, paymentsviews.BillsName, position); err != nil {
		return err
	}
	out := queueBillsResponse{Data: make([]queuedBill, 0, len(list))}
	for _, b := range list {
		out.Data = append(out.Data, queuedBill{
			InvoiceID: b.InvoiceID, Number: b.Number, State: null.Of(billState(b.State)), Error: null.Of(b.Code),
		})
	}
	return c.Send(202, out)
}

// one describes how a bill is read and shown.
func (a BillManager) one() httpapi.One[id.Invoice, paymentsviews.BillRow, billResponse] {
	return httpapi.One[id.Invoice, paymentsviews.BillRow, billResponse]{
		Model: paymentsviews.BillsName, Missing: commands.ErrNoBill, Read: a.Bills.Get, Show: showBill,
	}
}

// cancel takes a bill back.
func (a BillManager) cancel(ctx context.Context, c *httpapi.Call) error {
	invoice, err := httpapi.PathID[id.Invoice](c, "id", commands.ErrNoBill)
	if err != nil {
		return err
	}
	done, err := a.Cases.Cancel(ctx, c.Asked(), invoice)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), invoice, done)
}
