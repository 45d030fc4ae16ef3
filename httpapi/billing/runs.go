package billingapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// Runs serves billing runs (docs/rules/billing.md#billing-runs).
type Runs struct {
	Bus   *bus.Bus
	Cases billingcases.BillingRuns
	Runs  billingviews.RunsQuery
	Users identityviews.UsersQuery
}

// Routes lists the endpoints of billing runs.
func (a Runs) Routes() []httpapi.Route {
	on, support, admin := httpapi.OnOrganization, httpapi.AccessSupport, httpapi.AccessAdmin
	date := httpapi.Param{Name: "date", Type: "date", Doc: "in the organization's zone; today when absent"}
	return []httpapi.Route{
		{
			Method: "POST", Path: "/billing/runs", Hosts: on, Access: admin, Request: billingRunRequest{}, Status: 202,
			Response: billingRunResponse{}, Handle: a.request, Summary: "Invoice what is due by the end of a day",
		},
		{
			Method: "GET", Path: "/billing/runs", Hosts: on, Access: support, Row: billingRunResponse{},
			Summary: "List billing runs, the newest day first", Handle: a.list,
			Query: []httpapi.Param{{Name: "state", Type: "string", Enum: billingviews.RunStates}},
		},
		{
			Method: "GET", Path: "/billing/runs/:id", Hosts: on, Access: support, Response: billingRunResponse{},
			Summary: "Read a billing run", Handle: a.get,
		},
		{
			Method: "GET", Path: "/billing/runs/:id/invoices", Hosts: on, Access: support, Row: runInvoiceResponse{},
			Summary: "List what a run made, beside the invoices before, the largest difference first", Handle: a.made,
		},
		{
			Method: "POST", Path: "/billing/runs/:id/release", Hosts: on, Access: admin, Response: billingRunResponse{},
			Request: httpapi.ReasonRequest{}, Summary: "Let a held run go on", Handle: a.release,
		},
		{
			Method: "GET", Path: "/billing/preview", Hosts: on, Access: support, Query: []httpapi.Param{date},
			Response: billingPreviewResponse{}, Handle: a.preview,
			Summary: "Count what the runs up to a day would make",
		},
		{
			Method: "GET", Path: "/billing/preview/invoices", Hosts: on, Access: support,
			Query: []httpapi.Param{date}, Row: billingPreviewInvoicesResponse{}, Handle: a.previewInvoices,
			Summary: "List what the runs up to a day would make",
		},
	}
}

// billingRunRequest is the body of POST /billing/runs.
type billingRunRequest struct {
	Date calendar.Date `json:"date,omitzero" doc:"in the organization's zone; today when absent"`
}

// billingRunState is one of billingviews.RunStates.
type billingRunState string

// Texts implements httpapi.Enumerated.
func (billingRunState) Texts() []string { return billingviews.RunStates }

// billingRunResponse is a billing run as it is shown.
type billingRunResponse struct {
	ID            id.BillingRun            `json:"id"`
	Date          calendar.Date            `json:"date"`
	State         billingRunState          `json:"state" doc:"held: far more than usual, so a person has to look"`
	Total         int                      `json:"total" doc:"subscriptions for which an invoice was due"`
	Done          int                      `json:"done" doc:"invoices that it has made"`
	Undone        int                      `json:"undone" doc:"invoices of it that were taken back with it"`
	Failed        int                      `json:"failed" doc:"subscriptions whose invoice was refused"`
	Usual         *int                     `json:"usual" doc:"the most in a run of the two months before"`
	Amount        httpapi.Number           `json:"amount" doc:"of its invoices"`
	Currency      *money.Currency          `json:"currency" doc:"null without an invoice"`
	Failures      []billingFailureResponse `json:"failures" doc:"the first ones"`
	RequestedAt   time.Time                `json:"requestedAt"`
	RequestedBy   *httpapi.StaffRef        `json:"requestedBy" doc:"null: the clock"`
	HeldAt        *time.Time               `json:"heldAt"`
	ReleasedAt    *time.Time               `json:"releasedAt"`
	ReleasedBy    *httpapi.StaffRef        `json:"releasedBy"`
	ReleaseReason *string                  `json:"releaseReason"`
	FinishedAt    *time.Time               `json:"finishedAt"`
}

// billingFailureResponse is a subscription whose invoice was refused.
type billingFailureResponse struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	Code           string          `json:"code"`
}

// runDetail is a run with the names of the staff who acted.
type runDetail struct {
	billingviews.RunRow
	names map[id.User]string
}

// showRun writes the amount in major units, and null for what is not known.
func showRun(d runDetail) billingRunResponse {
	r := d.RunRow
	out := billingRunResponse{
		ID: r.ID, Date: r.Day(), State: billingRunState(r.State), Total: max(null.Zero(r.Due), r.Made), Done: r.Made,
		Undone: r.Undone, Failed: r.Failed, Usual: r.Usual, Amount: money.Of(r.TotalMinor, r.Currency).Number(),
		Currency: null.Of(r.Currency), Failures: make([]billingFailureResponse, len(r.Failures)),
		RequestedAt: r.RequestedAt, RequestedBy: staffRef(r.RequestedBy, d.names), HeldAt: r.HeldAt,
		ReleasedAt: r.ReleasedAt, ReleasedBy: staffRef(r.ReleasedBy, d.names),
		ReleaseReason: null.Of(r.ReleaseReason), FinishedAt: r.FinishedAt,
	}
	for i, f := range r.Failures {
		out.Failures[i] = billingFailureResponse(f)
	}
	return out
}

// staffRef names a member of staff; nil for nobody.
func staffRef(user id.User, names map[id.User]string) *httpapi.StaffRef {
	if user.IsZero() {
		return nil
	}
	return &httpapi.StaffRef{ID: user, Name: null.Of(names[user])}
}

// details adds the names of the staff to runs.
func (a Runs) details(ctx context.Context, org id.Organization, rows []billingviews.RunRow) ([]runDetail, error) {
	var users []id.User
	for _, r := range rows {
		for _, user := range []id.User{r.RequestedBy, r.ReleasedBy} {
			if !user.IsZero() {
				users = append(users, user)
			}
		}
	}
	names, err := a.Users.Names(ctx, org, users)
	if err != nil {
		return nil, err
	}
	out := make([]runDetail, len(rows))
	for i, r := range rows {
		out[i] = runDetail{RunRow: r, names: names}
	}
	return out, nil
}

// one describes how a run is read and shown.
func (a Runs) one() httpapi.One[id.BillingRun, runDetail, billingRunResponse] {
	return httpapi.One[id.BillingRun, runDetail, billingRunResponse]{
		Model: billingviews.RunsName, Missing: commands.ErrNoBillingRun, Show: showRun,
		Read: func(ctx context.Context, org id.Organization, run id.BillingRun) (*runDetail, error) {
			row, err := a.Runs.Get(ctx, org, run)
			if err != nil || row == nil {
				return nil, err
			}
			details, err := a.details(ctx, org, []billingviews.RunRow{*row})
			if err != nil {
				return nil, err
			}
			return &details[0], nil
		},
	}
}

// request asks for the run of a day.
func (a Runs) request(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[billingRunRequest](c)
	if err != nil {
		return err
	}
	run, done, err := a.Cases.Request(ctx, c.Asked(), in.Date)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 202, a.one(), run, done)
}

// list answers with a page of runs.
func (a Runs) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	state := f.OneOf("state", billingviews.RunStates...)
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showRun, func(
		ctx context.Context, after billingviews.RunKey, max int,
	) ([]runDetail, error) {
		rows, err := a.Runs.List(ctx, c.Org.ID, state, after, max)
		if err != nil {
			return nil, err
		}
		return a.details(ctx, c.Org.ID, rows)
	})
}

// get answers with one run.
func (a Runs) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one())
}

// release lets a held run go on.
func (a Runs) release(ctx context.Context, c *httpapi.Call) error {
	run, done, err := httpapi.ExecuteWithReason(ctx, c, a.Bus, commands.ErrNoBillingRun,
		func(run id.BillingRun, reason string) commands.Command {
			return commands.ReleaseBillingRun{RunID: run, OrgID: c.Org.ID, Reason: reason}
		})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), run, done)
}

// runInvoiceResponse is an invoice of a run, beside the one before.
type runInvoiceResponse struct {
	InvoiceID      id.Invoice             `json:"invoiceId"`
	SubscriptionID id.Subscription        `json:"subscriptionId"`
	SubscriberID   id.Subscriber          `json:"subscriberId"`
	Subscriber     *httpapi.SubscriberRef `json:"subscriber"`
	Total          *httpapi.Number        `json:"total" doc:"null: it is not drafted yet"`
	Before         *httpapi.Number        `json:"before" doc:"of the period before; null: it is the first"`
	Currency       *money.Currency        `json:"currency"`
	Undone         bool                   `json:"undone" doc:"it was taken back with the run"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *runInvoiceResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(r.SubscriberID)
}

// showMade writes amounts in major units.
func showMade(r billingviews.MadeRow) runInvoiceResponse {
	amount := func(minor *int64) *httpapi.Number {
		if minor == nil {
			return nil
		}
		return new(money.Of(*minor, r.Currency).Number())
	}
	return runInvoiceResponse{
		InvoiceID: r.InvoiceID, SubscriptionID: r.SubscriptionID, SubscriberID: r.SubscriberID,
		Total: amount(r.TotalMinor), Before: amount(r.BeforeMinor), Currency: null.Of(r.Currency),
		Undone: r.Undone,
	}
}

// made answers with a page of what a run made.
func (a Runs) made(ctx context.Context, c *httpapi.Call) error {
	run, err := httpapi.PathID[id.BillingRun](c, "id", commands.ErrNoBillingRun)
	if err != nil {
		return err
	}
	row, err := a.Runs.Get(ctx, c.Org.ID, run)
	if err != nil {
		return err
	}
	if row == nil {
		return commands.ErrNoBillingRun()
	}
	return httpapi.SendList(ctx, c, showMade, func(
		ctx context.Context, after billingviews.MadeKey, max int,
	) ([]billingviews.MadeRow, error) {
		return a.Runs.Made(ctx, c.Org.ID, run, after, max)
	})
}

// billingPreviewResponse counts what runs would make.
type billingPreviewResponse struct {
	Date  calendar.Date `json:"date"`
	Total int           `json:"total" doc:"subscriptions that become due by the end of the date"`
}

// preview counts what the runs up to a day would make.
func (a Runs) preview(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	date := f.Date("date")
	if err := f.Err(); err != nil {
		return err
	}
	date, total, err := a.Cases.Coming(ctx, c.Org.ID, date)
	if err != nil {
		return err
	}
	return c.Send(200, billingPreviewResponse{Date: date, Total: total})
}

// billingPreviewInvoicesResponse has the invoices that would be made for one subscription.
type billingPreviewInvoicesResponse struct {
	SubscriptionID id.Subscription        `json:"subscriptionId"`
	SubscriberID   *id.Subscriber         `json:"subscriberId" doc:"null: no invoice would be made"`
	Subscriber     *httpapi.SubscriberRef `json:"subscriber"`
	Invoices       []comingResponse       `json:"invoices" doc:"several when postpaid periods are behind"`
	Refused        *string                `json:"refused" doc:"the code of the error for which none would be made"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *billingPreviewInvoicesResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(null.Zero(r.SubscriberID))
}

// showPreview writes amounts in major units.
func showPreview(p billingcases.ComingPeriods) billingPreviewInvoicesResponse {
	out := billingPreviewInvoicesResponse{
		SubscriptionID: p.SubscriptionID, Invoices: showUpcoming(p.Invoices).Data, Refused: null.Of(p.Refused),
	}
	if len(p.Invoices) > 0 {
		out.SubscriberID = null.Of(p.Invoices[0].Invoice.SubscriberID)
	}
	return out
}

// previewInvoices lists what the runs up to a day would make.
func (a Runs) previewInvoices(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	date := f.Date("date")
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showPreview, func(
		ctx context.Context, after billingviews.DueKey, max int,
	) ([]billingcases.ComingPeriods, error) {
		return a.Cases.Preview(ctx, c.Org.ID, date, after, max)
	})
}
