package billingapi

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Approvals serves /approvals: acts that wait for a second person (docs/rules/approvals.md#approvals).
type Approvals struct {
	Bus       *bus.Bus
	Approvals billingviews.ApprovalsQuery
	Users     identityviews.UsersQuery
}

// Routes lists the endpoints of approvals.
func (a Approvals) Routes() []httpapi.Route {
	on, admin := httpapi.OnOrganization, httpapi.AccessAdmin
	return []httpapi.Route{
		{
			Method: "GET", Path: "/approvals", Hosts: on, Access: httpapi.AccessSupport, Row: approvalResponse{},
			Summary: "List acts that wait for a second person, or waited", Handle: a.list,
			Query: []httpapi.Param{
				{Name: "state", Type: "string", Enum: billingviews.ApprovalStates()},
				{Name: "subscriberId", Type: "uuid"},
			},
		},
		{
			Method: "GET", Path: "/approvals/:id", Hosts: on, Access: httpapi.AccessSupport,
			Response: approvalResponse{}, Summary: "Read an act that waits for a second person", Handle: a.get,
		},
		{
			Method: "POST", Path: "/approvals/:id/approve", Hosts: on, Access: admin, PeopleOnly: true,
			Response: approvalResponse{}, Handle: a.approve,
			Codes:   []string{"approval_own", "approval_decided", "approver_too_new"},
			Summary: "Agree to what a colleague asked for; it is done then",
		},
		{
			Method: "POST", Path: "/approvals/:id/refuse", Hosts: on, Access: admin, PeopleOnly: true,
			Request: httpapi.ReasonRequest{}, Response: approvalResponse{}, Handle: a.refuse,
			Codes: []string{"approval_own", "approval_decided"}, Summary: "Do not agree to what a colleague asked for",
		},
		{
			Method: "POST", Path: "/approvals/:id/withdraw", Hosts: on, Access: admin, Response: approvalResponse{},
			Summary: "Take back what one asked for oneself", Handle: a.withdraw,
			Codes: []string{"approval_of_another", "approval_decided"},
		},
	}
}

// approvalState is one of billingviews.ApprovalStates.
type approvalState string

// Texts implements httpapi.Enumerated.
func (approvalState) Texts() []string { return billingviews.ApprovalStates() }

// approvalKind is one of events.ActKinds, or a change of the limit.
type approvalKind string

// Texts implements httpapi.Enumerated.
func (approvalKind) Texts() []string { return append(events.ActKinds(), events.ActLimit) }

// approvalResponse is an approval as it is shown. Amounts are in major units.
type approvalResponse struct {
	ID             id.Approval            `json:"id"`
	Kind           approvalKind           `json:"kind"`
	State          approvalState          `json:"state"`
	Amount         httpapi.Number         `json:"amount" doc:"that is given away; of limit: the new one"`
	Currency       money.Currency         `json:"currency"`
	SubscriberID   *id.Subscriber         `json:"subscriberId" doc:"null: about no customer in particular"`
	Subscriber     *httpapi.SubscriberRef `json:"subscriber"`
	What           approvalWhat           `json:"what" doc:"what exactly is done"`
	Reason         *string                `json:"reason" doc:"null: none was given, or the customer was forgotten"`
	RequestedAt    time.Time              `json:"requestedAt"`
	RequestedBy    *httpapi.StaffRef      `json:"requestedBy" doc:"of an API key: who answers for it"`
	Own            bool                   `json:"own" doc:"the caller asked for it, and cannot approve it"`
	ExpiresAt      time.Time              `json:"expiresAt"`
	DecidedAt      *time.Time             `json:"decidedAt"`
	DecidedBy      *httpapi.StaffRef      `json:"decidedBy" doc:"who approved or refused"`
	DecisionReason *string                `json:"decisionReason" doc:"of a refusal"`
	EndedAt        *time.Time             `json:"endedAt"`
	Failure        *string                `json:"failure" doc:"a code: why what was approved was not done"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *approvalResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(null.Zero(r.SubscriberID))
}

// approvalWhat names what is changed; null stands where the kind needs nothing.
type approvalWhat struct {
	ReceiptID      *id.Receipt      `json:"receiptId"`
	RefundID       *id.Refund       `json:"refundId"`
	InvoiceID      *id.Invoice      `json:"invoiceId"`
	CompensationID *id.Compensation `json:"compensationId"`
	ImportID       *id.Import       `json:"importId" doc:"there is no such import before the approval"`
	ToID           *id.Subscriber   `json:"toId" doc:"to whom a payment is moved"`
	DueDate        *calendar.Date   `json:"dueDate"`
	Lines          []approvedLine   `json:"lines" doc:"of a corrected invoice"`
	LimitBefore    *httpapi.Number  `json:"limitBefore"`
	NoLimit        bool             `json:"noLimit" doc:"nothing needs a second person any more"`
}

// approvedLine is a charge of a corrected invoice without its text, which names people.
type approvedLine struct {
	Quantity  json.Number    `json:"quantity"`
	UnitPrice httpapi.Number `json:"unitPrice"`
}

// approvalDetail is an approval with the names of the staff who acted, and who looks.
type approvalDetail struct {
	billingviews.ApprovalRow
	names  map[id.User]string
	reader id.User
}

// showApproval writes null for what is not known.
func showApproval(d approvalDetail) approvalResponse {
	r := d.ApprovalRow
	return approvalResponse{
		ID: r.ID, Kind: approvalKind(r.Kind), State: approvalState(r.State),
		Amount: money.Of(r.AmountMinor, r.Currency).Number(), Currency: r.Currency,
		SubscriberID: null.Of(r.SubscriberID), What: showWhat(r.Act), Reason: null.Of(r.Reason),
		RequestedAt: r.RequestedAt, RequestedBy: staffRef(r.RequestedBy, d.names), Own: r.RequestedBy == d.reader,
		ExpiresAt: r.ExpiresAt, DecidedAt: r.DecidedAt, DecidedBy: staffRef(r.DecidedBy, d.names),
		DecisionReason: null.Of(r.DecisionReason), EndedAt: r.EndedAt, Failure: null.Of(r.Failure),
	}
}

// showWhat writes amounts in major units; the list is never null.
func showWhat(act events.ApprovalAct) approvalWhat {
	out := approvalWhat{
		ReceiptID: null.Of(act.ReceiptID), RefundID: null.Of(act.RefundID), InvoiceID: null.Of(act.InvoiceID),
		CompensationID: null.Of(act.CompensationID), ImportID: null.Of(act.ImportID), ToID: null.Of(act.ToID),
		DueDate: null.Of(act.DueOn), Lines: []approvedLine{}, NoLimit: act.NoLimit,
	}
	if act.Before.Currency != "" {
		out.LimitBefore = new(act.Before.Number())
	}
	for _, l := range act.Lines {
		out.Lines = append(out.Lines, approvedLine{json.Number(l.Quantity), l.UnitPrice.Number()})
	}
	return out
}

// details adds the names of the staff to approvals.
func (a Approvals) details(
	ctx context.Context, c *httpapi.Call, rows []billingviews.ApprovalRow,
) ([]approvalDetail, error) {
	var users []id.User
	for _, r := range rows {
		users = append(users, r.RequestedBy, r.DecidedBy)
	}
	users = slices.DeleteFunc(users, id.User.IsZero)
	names, err := a.Users.Names(ctx, c.Org.ID, users)
	out := make([]approvalDetail, len(rows))
	for i, r := range rows {
		out[i] = approvalDetail{ApprovalRow: r, names: names, reader: c.Caller.UserID}
	}
	return out, err
}

// one describes how an approval is read and shown.
func (a Approvals) one(c *httpapi.Call) httpapi.One[id.Approval, approvalDetail, approvalResponse] {
	return httpapi.One[id.Approval, approvalDetail, approvalResponse]{
		Model: billingviews.ApprovalsName, Missing: commands.ErrNoApproval, Show: showApproval,
		Revision: func(d approvalDetail) int64 { return d.ApprovalRow.Revision },
		Read: func(ctx context.Context, org id.Organization, approval id.Approval) (*approvalDetail, error) {
			row, err := a.Approvals.Get(ctx, org, approval)
			if err != nil || row == nil {
				return nil, err
			}
			details, err := a.details(ctx, c, []billingviews.ApprovalRow{*row})
			return &details[0], err
		},
	}
}

// list answers with a page of the organization's approvals, newest first.
func (a Approvals) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := billingviews.ApprovalFilter{
		State:        f.OneOf("state", billingviews.ApprovalStates()...),
		SubscriberID: httpapi.FilterID[id.Subscriber](f, "subscriberId"),
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showApproval, func(
		ctx context.Context, after billingviews.ApprovalKey, max int,
	) ([]approvalDetail, error) {
		rows, err := a.Approvals.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		return a.details(ctx, c, rows)
	})
}

// get answers with one approval.
func (a Approvals) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one(c))
}

// approve agrees, and waits a moment until the act is done or has failed.
func (a Approvals) approve(ctx context.Context, c *httpapi.Call) error {
	return a.decide(ctx, c, func(approval id.Approval) (bus.Result, error) {
		done, err := usecases.Grant(ctx, a.Bus, c.Asked(), approval)
		if err != nil {
			return done, err
		}
		return done, a.Approvals.AwaitEnd(ctx, c.Org.ID, approval)
	})
}

// refuse does not agree.
func (a Approvals) refuse(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[httpapi.ReasonRequest](c)
	if err != nil {
		return err
	}
	return a.decide(ctx, c, func(approval id.Approval) (bus.Result, error) {
		return usecases.Refuse(ctx, a.Bus, c.Asked(), approval, in.Reason)
	})
}

// withdraw takes back what the caller asked for.
func (a Approvals) withdraw(ctx context.Context, c *httpapi.Call) error {
	return a.decide(ctx, c, func(approval id.Approval) (bus.Result, error) {
		return usecases.Withdraw(ctx, a.Bus, c.Asked(), approval)
	})
}

// decide answers with the approval after somebody's word about it.
func (a Approvals) decide(
	ctx context.Context, c *httpapi.Call, say func(id.Approval) (bus.Result, error),
) error {
	approval, err := httpapi.PathID[id.Approval](c, "id", commands.ErrNoApproval)
	if err != nil {
		return err
	}
	done, err := say(approval)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(c), approval, done)
}
