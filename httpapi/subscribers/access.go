package subscribersapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// accessResponse says what a subscriber is entitled to, and why.
type accessResponse struct {
	Entitled string          `json:"entitled" enum:"full,throttled,walled_garden,none"`
	Observed string          `json:"observed" enum:"unknown"` // what the network shows
	Reasons  []accessReason  `json:"reasons"`
	Services []accessService `json:"services"`
}

// accessReason is one reason. A block comes first, then the reasons of each subscription, the oldest first.
type accessReason struct {
	// Code is one of entitlement.Code; more can be added.
	Code  string       `json:"code"`
	Since time.Time    `json:"since"`
	Cause accessObject `json:"cause"`
}

// accessObject names the thing that caused a reason.
type accessObject struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// accessService is the part of one subscription in the entitlement.
type accessService struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	PlanName       string          `json:"planName"`
	State          string          `json:"state"`
	PaidUntil      *time.Time      `json:"paidUntil"`
	Entitled       string          `json:"entitled" enum:"full,throttled,walled_garden,none"`
}

// access answers why a subscriber is on or off at this moment.
func (a Subscribers) access(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, httpapi.One[id.Subscriber, subscribersviews.AccessRow, accessResponse]{
		Missing: commands.ErrNoSubscriber, Show: showAccess, Read: func(
			ctx context.Context, org id.Organization, subscriber id.Subscriber,
		) (*subscribersviews.AccessRow, error) {
			return a.Access.Of(ctx, org, subscriber, a.Clock.Now())
		},
	})
}

// showAccess always writes unknown for observed, as the schema says.
func showAccess(r subscribersviews.AccessRow) accessResponse {
	e := r.Entitlement
	out := accessResponse{
		Entitled: e.Access.String(), Observed: "unknown", Reasons: make([]accessReason, len(e.Reasons)),
		Services: make([]accessService, len(e.Services)),
	}
	for i, reason := range e.Reasons {
		out.Reasons[i] = accessReason{
			string(reason.Code), reason.Since, accessObject{reason.Cause.Type, reason.Cause.ID.String()},
		}
	}
	for i, s := range r.Subscriptions {
		out.Services[i] = accessService{s.ID, s.Terms.Name, s.State, s.PaidUntil, e.Services[i].Access.String()}
	}
	return out
}
