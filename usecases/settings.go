package usecases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// BillingSettings reads an organization's present billing settings from the log, which is right also when the read
// models are behind. Fails: organization_not_found.
func BillingSettings(ctx context.Context, b *bus.Bus, org id.Organization) (events.BillingSettings, error) {
	state, _, err := bus.LoadOwned[identity.Organization](ctx, b, org, org)
	return state.Billing, err
}

// creditNoteSuffix keeps the numbers of credit notes apart from those of invoices: a number names one document.
const creditNoteSuffix = "-CN"

// NotePrefix is the prefix of the credit notes of an organization. Fails: organization_not_found.
func NotePrefix(ctx context.Context, b *bus.Bus, org id.Organization) (string, error) {
	settings, err := BillingSettings(ctx, b, org)
	return settings.InvoicePrefix + creditNoteSuffix, err
}
