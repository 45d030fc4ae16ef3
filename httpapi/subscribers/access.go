package subscribersapi

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// accessResponse says what a subscriber is entitled to and why.
type accessResponse struct {
	Entitled string          `json:"entitled" enum:"full,none"`
	Observed string          `json:"observed" enum:"unknown"` // what the network shows
	Reasons  []accessReason  `json:"reasons"`
	Services []accessService `json:"services"`
}

// accessReason is one reason, the strongest first.
type accessReason struct {
	Code  string       `json:"code" enum:"blocked,no_subscription,awaiting_payment,not_started,paused,expired,paid,postpaid"`
	Since time.Time    `json:"since"`
	Cause accessObject `json:"cause"`
}

// accessObject names what caused a reason.
type accessObject struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// accessService is one subscription's part.
type accessService struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	PlanName       string          `json:"planName"`
	State          string          `json:"state"`
	PaidUntil      *time.Time      `json:"paidUntil"`
	Entitled       string          `json:"entitled" enum:"full,none"`
}

// access answers why a subscriber is on or off.
func (a Subscribers) access(ctx context.Context, c *httpapi.Call) error {
	subscriber, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	row, err := a.Subscribers.Get(ctx, c.Org.ID, subscriber)
	if err != nil || row == nil {
		return cmp.Or(err, commands.ErrNoSubscriber())
	}
	list, block, err := a.Subscriptions.OfSubscriber(ctx, c.Org.ID, subscriber)
	if err != nil {
		return err
	}
	now := a.Clock.Now()
	out := accessResponse{Entitled: "none", Observed: "unknown", Reasons: []accessReason{}, Services: []accessService{}}
	if block != nil {
		out.Reasons = append(out.Reasons, accessReason{
			"blocked", block.Since, accessObject{"event", block.EventID.String()},
		})
	}
	if len(list) == 0 {
		out.Reasons = append(out.Reasons, accessReason{
			"no_subscription", row.CreatedAt, accessObject{"subscriber", subscriber.String()},
		})
	}
	for _, s := range list {
		entitled := s.Access(now)
		if entitled == "full" {
			out.Entitled = "full"
		}
		out.Reasons = append(out.Reasons, reasonOf(s, now))
		out.Services = append(out.Services, accessService{s.ID, s.Terms.Name, s.State, s.PaidUntil, entitled})
	}
	return c.Send(200, out)
}

// reasonOf is why one subscription is on or off, a block aside.
func reasonOf(s subscribersviews.SubscriptionRow, now time.Time) accessReason {
	cause := accessObject{"subscription", s.ID.String()}
	paid := s.PaidUntil != nil && s.PaidUntil.After(now)
	switch {
	case s.State == "paused":
		return accessReason{"paused", s.StateSince, cause}
	case s.StartsAt.After(now):
		return accessReason{"not_started", s.CreatedAt, cause}
	case s.State == "pending":
		if s.OpenInvoice != nil {
			cause = accessObject{"invoice", s.OpenInvoice.String()}
		}
		return accessReason{"awaiting_payment", s.CreatedAt, cause}
	case s.Terms.Mode == events.Postpaid:
		return accessReason{"postpaid", s.StateSince, cause}
	case paid:
		return accessReason{"paid", s.StateSince, cause}
	}
	since := s.StateSince
	if s.PaidUntil != nil {
		since = *s.PaidUntil
	}
	if s.OpenInvoice != nil {
		cause = accessObject{"invoice", s.OpenInvoice.String()}
	}
	return accessReason{"expired", since, cause}
}
