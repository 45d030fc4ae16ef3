package accessapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// TopUps serves /subscriptions/:id/top-ups.
type TopUps struct {
	Cases accesscases.TopUps
	Usage accessviews.UsageQuery
}

// Routes lists the endpoints of top-ups.
func (a TopUps) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/subscriptions/:id/top-ups", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSupport, Summary: "List the traffic that was added to a subscription, newest first",
			Row: topUpResponse{}, Handle: a.list,
		},
		{
			Method: "POST", Path: "/subscriptions/:id/top-ups", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "Add traffic to a subscription until its cap resets",
			Request: topUpRequest{}, Response: topUpResponse{}, Status: 201, Handle: a.add,
		},
	}
}

// topUpRequest is the body of POST /subscriptions/:id/top-ups (docs/rules/access-usage.md#top-ups).
type topUpRequest struct {
	Bytes  int64          `json:"bytes"`
	Reason string         `json:"reason,omitempty"`
	Price  httpapi.Amount `json:"price,omitzero" doc:"invoiced when above 0; prepaid: the bytes wait for the payment"`
}

// topUpResponse is traffic that was added or ordered.
type topUpResponse struct {
	ID             id.TopUp        `json:"id"`
	SubscriptionID id.Subscription `json:"subscriptionId"`
	Bytes          int64           `json:"bytes"`
	Reason         string          `json:"reason" doc:"empty: none was given, or the subscriber was forgotten"`
	Price          *httpapi.Number `json:"price" doc:"null: it cost nothing"`
	InvoiceID      *id.Invoice     `json:"invoiceId" doc:"null: it cost nothing"`
	State          string          `json:"state" enum:"awaiting_payment,added,lapsed"`
	OrderedAt      time.Time       `json:"orderedAt"`
	AddedAt        *time.Time      `json:"addedAt" doc:"null: it is not paid"`
	Until          time.Time       `json:"until" doc:"when the cap resets"`
	AddedBy        topUpActor      `json:"addedBy"`
}

// topUpActor is who added it, as in the audit log.
type topUpActor struct {
	Kind string `json:"kind" enum:"user,api_key,process,provider,operator,public"`
	ID   string `json:"id"`
}

// list answers with a page of a subscription's top-ups.
func (a TopUps) list(ctx context.Context, c *httpapi.Call) error {
	subscription, err := httpapi.PathID[id.Subscription](c, "id", commands.ErrNoSubscription)
	if err != nil {
		return err
	}
	if err := a.Cases.MayList(ctx, c.Org.ID, subscription); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showTopUp, func(
		ctx context.Context, after accessviews.TopUpKey, max int,
	) ([]accessviews.TopUpRow, error) {
		return a.Usage.TopUps(ctx, c.Org.ID, subscription, after, max)
	})
}

// add adds traffic, and answers with the top-up.
func (a TopUps) add(ctx context.Context, c *httpapi.Call) error {
	subscription, err := httpapi.PathID[id.Subscription](c, "id", commands.ErrNoSubscription)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[topUpRequest](c)
	if err != nil {
		return err
	}
	made, done, err := a.Cases.Add(ctx, c.Asked(), subscription, accesscases.TopUpInput{
		Bytes: in.Bytes, Reason: in.Reason, Price: in.Price.Figure(),
	})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 201, httpapi.One[id.TopUp, accessviews.TopUpRow, topUpResponse]{
		Model: accessviews.UsageName, Missing: commands.ErrNoSubscription, Read: a.Usage.TopUp, Show: showTopUp,
	}, made, done)
}

// showTopUp writes times in UTC.
func showTopUp(r accessviews.TopUpRow) topUpResponse {
	out := topUpResponse{
		ID: r.ID, SubscriptionID: r.SubscriptionID, Bytes: r.Bytes, Reason: r.Reason, State: "awaiting_payment",
		OrderedAt: r.At.UTC(), InvoiceID: r.InvoiceID, Until: r.Period.ResetsAt.UTC(),
		AddedBy: topUpActor{r.ActorKind, r.ActorID},
	}
	switch {
	case r.AddedAt != nil:
		out.State, out.AddedAt = "added", new(r.AddedAt.UTC())
	case r.DroppedAt != nil:
		out.State = "lapsed"
	}
	if r.Price.Positive() {
		out.Price = new(r.Price.Number())
	}
	return out
}
