package subscribersviews

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// AccessRow is a subscriber's entitlement with its reasons, and the subscriptions that it follows from.
type AccessRow struct {
	Entitlement entitlement.Entitlement
	// Subscriptions that have not ended, oldest first. Entitlement.Services has one service for each, in this order.
	Subscriptions []SubscriptionRow
}

// AccessQuery computes the access of subscribers at read time, from two read models.
type AccessQuery struct{ Views *runner.Views }

// Of returns a subscriber's access at an instant, computed from the present rows; nil when the organization has no such
// subscriber.
func (q AccessQuery) Of(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, at time.Time,
) (*AccessRow, error) {
	row, err := SubscribersQuery(q).Get(ctx, org, subscriber)
	if err != nil || row == nil {
		return nil, err
	}
	owned, block, err := SubscriptionsQuery(q).OfSubscriber(ctx, org, subscriber)
	if err != nil {
		return nil, err
	}
	state := entitlement.State{SubscriberID: row.ID, RegisteredAt: row.CreatedAt}
	if block != nil {
		state.Block = &entitlement.Block{Since: block.Since, EventID: block.EventID}
	}
	for _, s := range owned {
		state.Subscriptions = append(state.Subscriptions, s.entitlement())
	}
	return &AccessRow{Entitlement: entitlement.Of(state, at), Subscriptions: owned}, nil
}

// Access is the access of this subscription alone at an instant, as a word of the API: "full" or "none".
func (r SubscriptionRow) Access(at time.Time) string {
	state := entitlement.State{Subscriptions: []entitlement.Subscription{r.entitlement()}}
	if r.Blocked {
		// The time and the event of the block appear in reasons only, and this method returns no reasons.
		state.Block = &entitlement.Block{}
	}
	return entitlement.Of(state, at).Access.String()
}

// entitlement turns the row into the input of entitlement.Of.
func (r SubscriptionRow) entitlement() entitlement.Subscription {
	return entitlement.Subscription{
		ID: r.ID, Standing: entitlement.Standing(r.State), Mode: r.Terms.Mode, CreatedAt: r.CreatedAt,
		Since: r.StateSince, StartsAt: r.StartsAt, PaidUntil: null.Zero(r.PaidUntil),
		OpenInvoice: null.Zero(r.OpenInvoice),
	}
}
