package usecases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// PeriodsMayChange asks each subscription whether the period of its invoice can still be taken back. A correction of
// money asks this before its first command, so that no money is moved whose period then stays
// (docs/rules/subscribers.md#periods). Fails: period_archived.
func PeriodsMayChange(
	ctx context.Context, b *bus.Bus, org id.Organization, periods map[id.Invoice]id.Subscription,
) error {
	for invoice, subscription := range periods {
		state, _, err := bus.LoadOwned[subscribers.Subscription](ctx, b, org, subscription)
		if err != nil {
			return err
		}
		if state.Archived(invoice) {
			return commands.ErrPeriodArchived()
		}
	}
	return nil
}
