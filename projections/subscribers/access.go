package subscribersviews

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// AccessRow says what a subscriber is entitled to and why.
type AccessRow struct {
	Entitlement entitlement.Entitlement
	// Subscriptions that have not ended, oldest first; the entitlement's services are theirs, in the same order.
	Subscriptions []SubscriptionRow
}

// AccessQuery reads what subscribers are entitled to.
type AccessQuery struct{ Views *runner.Views }

// Of is a subscriber's access at an instant, as the read models show the subscriber now; nil when the organization has
// no such subscriber.
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

// Access is the subscription's entitlement at an instant, in the API's words.
func (r SubscriptionRow) Access(at time.Time) string {
	state := entitlement.State{Subscriptions: []entitlement.Subscription{r.entitlement()}}
	if r.Blocked {
		// since when and by what is told by the reasons alone, which are not asked for
		state.Block = &entitlement.Block{}
	}
	return entitlement.Of(state, at).Access.String()
}

// entitlement is the row as the rule of access takes it.
func (r SubscriptionRow) entitlement() entitlement.Subscription {
	return entitlement.Subscription{
		ID: r.ID, Standing: entitlement.Standing(r.State), Mode: r.Terms.Mode, CreatedAt: r.CreatedAt,
		Since: r.StateSince, StartsAt: r.StartsAt, PaidUntil: null.Zero(r.PaidUntil),
		OpenInvoice: null.Zero(r.OpenInvoice),
	}
}
