package subscribersviews

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// Access is the access of this subscription alone at an instant, as a word of the API. It needs the row's Dunning
// and Used.
func (r SubscriptionRow) Access(at time.Time) string {
	state := entitlement.State{Subscriptions: []entitlement.Subscription{r.Entitlement(time.UTC)}}
	if r.Blocked {
		// The time and the event of the block appear in reasons only, and this method returns no reasons.
		state.Block = &entitlement.Block{}
	}
	return entitlement.Of(state, at).Access.String()
}

// Entitlement turns the row, whose Dunning and Used are filled in, into the input of entitlement.Of. The hours of the
// plan are in a zone, which decides about the rate and not about the access.
func (r SubscriptionRow) Entitlement(zone *time.Location) entitlement.Subscription {
	return entitlement.Subscription{
		ID: r.ID, Standing: entitlement.Standing(r.State), Mode: r.Terms.Mode, CreatedAt: r.CreatedAt,
		Since: r.StateSince, StandingBy: null.Zero(r.StateEvent), StartsAt: r.StartsAt,
		PaidUntil:   null.Zero(r.PaidUntil),
		Told:        entitlement.PaidTold{At: null.Zero(r.PaidTold), EventID: null.Zero(r.PaidEvent)},
		LostAt:      null.Zero(r.PaidLost),
		OpenInvoice: null.Zero(r.OpenInvoice), Dunning: r.Dunning, Used: r.Used, Rates: r.Terms.Rates,
		Terms: r.Terms.Access, Zone: zone,
	}
}

// Entitlement turns the row into the input of entitlement.Of; nil without a block.
func (b *BlockRow) Entitlement() *entitlement.Block {
	if b == nil {
		return nil
	}
	return &entitlement.Block{Since: b.Since, EventID: b.EventID}
}
