package usecases

import (
	"context"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/outages"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// mostMerged bounds the outages that are looked at because they became one.
const mostMerged = 100

// WholeOutage is the outage as which one goes on: itself, or the one of which it became a part. One that was over by
// the time at which it was to get the part never did. Fails: outage_not_found.
func WholeOutage(ctx context.Context, b *bus.Bus, org id.Organization, outage id.Outage) (outages.Outage, error) {
	whole, _, err := bus.LoadOwned[outages.Outage](ctx, b, org, outage)
	for range mostMerged {
		if err != nil || whole.Merged.IsZero() {
			break
		}
		var next outages.Outage
		if next, _, err = bus.LoadOwned[outages.Outage](ctx, b, org, whole.Merged); err != nil {
			break
		}
		if !next.Lasts() && !slices.Contains(next.Absorbed, whole.ID) {
			break
		}
		whole = next
	}
	return whole, err
}
