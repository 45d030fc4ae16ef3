package paymentsapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// Refunds serves /refunds and POST /receipts/:id/refund.
type Refunds struct {
	Refunds paymentsviews.RefundsQuery
	Users   identityviews.UsersQuery
	Cases   paymentscases.Refunds
}

// Routes lists the endpoints of refunds (docs/rules/money.md#refunds).
func (a Refunds) Routes() []httpapi.Route {
	on, admin := httpapi.OnOrganization, httpapi.AccessAdmin
	return []httpapi.Route{
		{
			Method: "POST", Path: "/receipts/:id/refund", Hosts: on, Access: admin,
			Summary: "Ask to give money of a receipt back to the payer", Request: refundRequest{},
			Response: refundResponse{}, Status: 201, Handle: a.request,
		},
		{
			Method: "GET", Path: "/refunds", Hosts: on, Access: httpapi.AccessSupport, Summary: "List refunds",
			Row: refundResponse{},
			Query: []httpapi.Param{
				{Name: "state", Type: "string", Enum: paymentsviews.RefundStates},
				{Name: "open", Type: "boolean", Doc: "true: those that have not ended"},
				{Name: "subscriberId", Type: "uuid"}, {Name: "receiptId", Type: "uuid"},
			},
			Handle: a.list,
		},
		{
			Method: "GET", Path: "/refunds/:id", Hosts: on, Access: httpapi.AccessSupport, Summary: "Read a refund",
			Response: refundResponse{}, Handle: a.get,
		},
		{
			Method: "POST", Path: "/refunds/:id/approve", Hosts: on, Access: admin, Response: refundResponse{},
			Summary: "Let the money of a refund go; where there is a limit, no API key is the second person",
			Handle:  a.approve, Codes: []string{"api_key_not_allowed", "approver_too_new"},
		},
		{
			Method: "POST", Path: "/refunds/:id/cancel", Hosts: on, Access: admin, Response: refundResponse{},
			Summary: "End a refund of which nothing was paid; its money is free again",
			Request: httpapi.ReasonRequest{}, Handle: a.cancel,
		},
		{
			Method: "POST", Path: "/refunds/:id/settle", Hosts: on, Access: admin, Response: refundResponse{},
			Summary: "Say what became of a refund", Request: settleRefundRequest{}, Handle: a.settle,
		},
	}
}

// refundRequest is the body of POST /receipts/:id/refund.
type refundRequest struct {
	Amount *httpapi.Amount `json:"amount,omitempty" doc:"all that is credit when absent"`
	Reason string          `json:"reason"`
	By     string          `json:"by" enum:"reversal,manual" doc:"by the provider, or by hand"`
}

// settleRefundRequest is the body of POST /refunds/:id/settle.
type settleRefundRequest struct {
	Outcome   string `json:"outcome" enum:"completed,failed"`
	Reference string `json:"reference,omitempty" doc:"of completed: the number of the payment to the payer"`
	Reason    string `json:"reason,omitempty" doc:"of failed: why the payer does not get it"`
}

// refundState is one of paymentsviews.RefundStates.
type refundState string

// Texts implements httpapi.Enumerated.
func (refundState) Texts() []string { return paymentsviews.RefundStates }

// refundResponse is a refund as it is shown.
type refundResponse struct {
	ID            id.Refund              `json:"id"`
	ReceiptID     id.Receipt             `json:"receiptId"`
	ReceiptNumber *string                `json:"receiptNumber"`
	SubscriberID  *id.Subscriber         `json:"subscriberId" doc:"null: the money was in suspense"`
	Subscriber    *httpapi.SubscriberRef `json:"subscriber"`
	Amount        httpapi.Number         `json:"amount"`
	Currency      money.Currency         `json:"currency"`
	By            string                 `json:"by" enum:"reversal,manual"`
	State         refundState            `json:"state"`
	Secured       bool                   `json:"secured" doc:"the money is set aside; before that nobody can approve"`
	Reason        *string                `json:"reason" doc:"null: the subscriber was forgotten"`
	RequestedAt   time.Time              `json:"requestedAt"`
	RequestedBy   *httpapi.StaffRef      `json:"requestedBy"`
	ApprovedAt    *time.Time             `json:"approvedAt"`
	ApprovedBy    *httpapi.StaffRef      `json:"approvedBy"`
	SubmittedAt   *time.Time             `json:"submittedAt" doc:"when the provider was asked to send it back"`
	SettledAt     *time.Time             `json:"settledAt"`
	SettledBy     *httpapi.StaffRef      `json:"settledBy" doc:"null: not yet, or no person"`
	Reference     *string                `json:"reference" doc:"of the payment to the payer"`
	Failure       *string                `json:"failure" doc:"a code: why it failed, or is in doubt"`
	Message       *string                `json:"message" doc:"in the provider's words"`
	SettledReason *string                `json:"settledReason" doc:"in the words of who cancelled or settled it"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *refundResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(null.Zero(r.SubscriberID))
}

// refundDetail is a refund with the names of the staff who acted.
type refundDetail struct {
	paymentsviews.RefundRow
	names map[id.User]string
}

// showRefund writes the amount in major units, and null for what is not known.
func showRefund(d refundDetail) refundResponse {
	r := d.RefundRow
	return refundResponse{
		ID: r.ID, ReceiptID: r.ReceiptID, ReceiptNumber: null.Of(r.ReceiptNumber),
		SubscriberID: null.Of(r.SubscriberID),
		Amount:       money.Of(r.AmountMinor, r.Currency).Number(), Currency: r.Currency, By: r.Method,
		State: refundState(r.State), Secured: r.Secured, Reason: null.Of(r.Reason), RequestedAt: r.RequestedAt,
		RequestedBy: showStaff(r.RequestedBy, d.names), ApprovedAt: r.ApprovedAt,
		ApprovedBy: showStaff(r.ApprovedBy, d.names), SubmittedAt: r.SubmittedAt, SettledAt: r.SettledAt,
		SettledBy: showStaff(r.SettledBy, d.names), Reference: null.Of(r.Reference), Failure: null.Of(r.Failure),
		Message: null.Of(r.Message), SettledReason: null.Of(r.SettledReason),
	}
}

// details adds the names of the staff to refunds.
func (a Refunds) details(
	ctx context.Context, org id.Organization, rows []paymentsviews.RefundRow,
) ([]refundDetail, error) {
	var users []id.User
	for _, r := range rows {
		for _, user := range []id.User{r.RequestedBy, r.ApprovedBy, r.SettledBy} {
			if !user.IsZero() {
				users = append(users, user)
			}
		}
	}
	names, err := a.Users.Names(ctx, org, users)
	if err != nil {
		return nil, err
	}
	out := make([]refundDetail, len(rows))
	for i, r := range rows {
		out[i] = refundDetail{RefundRow: r, names: names}
	}
	return out, nil
}

// one describes how a refund is read and shown.
func (a Refunds) one() httpapi.One[id.Refund, refundDetail, refundResponse] {
	return httpapi.One[id.Refund, refundDetail, refundResponse]{
		Model: paymentsviews.RefundsName, Missing: commands.ErrNoRefund, Show: showRefund,
		Revision: func(d refundDetail) int64 { return d.RefundRow.Revision },
		Read: func(ctx context.Context, org id.Organization, refund id.Refund) (*refundDetail, error) {
			row, err := a.Refunds.Get(ctx, org, refund)
			if err != nil || row == nil {
				return nil, err
			}
			details, err := a.details(ctx, org, []paymentsviews.RefundRow{*row})
			if err != nil {
				return nil, err
			}
			return &details[0], nil
		},
	}
}

// list answers with a page of the organization's refunds, newest first.
func (a Refunds) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := paymentsviews.RefundFilter{
		State: f.OneOf("state", paymentsviews.RefundStates...), Open: null.Zero(f.Bool("open")),
		SubscriberID: httpapi.FilterID[id.Subscriber](f, "subscriberId"),
		ReceiptID:    httpapi.FilterID[id.Receipt](f, "receiptId"),
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showRefund, func(
		ctx context.Context, after paymentsviews.RefundKey, max int,
	) ([]refundDetail, error) {
		rows, err := a.Refunds.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		return a.details(ctx, c.Org.ID, rows)
	})
}

// get answers with one refund.
func (a Refunds) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one())
}

// request asks for a refund of a receipt.
func (a Refunds) request(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[refundRequest](c)
	if err != nil {
		return err
	}
	receipt, err := httpapi.PathID[id.Receipt](c, "id", commands.ErrNoReceipt)
	if err != nil {
		return err
	}
	wanted := paymentscases.RefundInput{ReceiptID: receipt, Reason: in.Reason, By: in.By}
	if in.Amount != nil {
		wanted.Amount = new(in.Amount.Figure())
	}
	refund, done, err := a.Cases.Request(ctx, c.Asked(), wanted)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 201, a.one(), refund, done)
}

// approve lets the money of a refund go.
func (a Refunds) approve(ctx context.Context, c *httpapi.Call) error {
	refund, err := httpapi.PathID[id.Refund](c, "id", commands.ErrNoRefund)
	if err != nil {
		return err
	}
	done, err := a.Cases.Approve(ctx, c.Asked(), refund)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), refund, done)
}

// cancel ends a refund of which nothing was paid.
func (a Refunds) cancel(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[httpapi.ReasonRequest](c)
	if err != nil {
		return err
	}
	refund, err := httpapi.PathID[id.Refund](c, "id", commands.ErrNoRefund)
	if err != nil {
		return err
	}
	done, err := a.Cases.Cancel(ctx, c.Asked(), refund, in.Reason)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), refund, done)
}

// settle takes the word of a person about what became of a refund.
func (a Refunds) settle(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[settleRefundRequest](c)
	if err != nil {
		return err
	}
	refund, err := httpapi.PathID[id.Refund](c, "id", commands.ErrNoRefund)
	if err != nil {
		return err
	}
	done, err := a.Cases.Settle(ctx, c.Asked(), paymentscases.SettleInput{
		RefundID: refund, Completed: in.Outcome == "completed", Reference: in.Reference, Reason: in.Reason,
	})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), refund, done)
}
