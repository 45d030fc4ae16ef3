package usecases

import (
	"context"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// BillingSettings reads an organization's present billing settings from the log, which is right also when the read
// models are behind. Fails: organization_not_found.
func BillingSettings(ctx context.Context, b *bus.Bus, org id.Organization) (events.BillingSettings, error) {
	state, _, err := bus.LoadOwned[identity.Organization](ctx, b, org, org)
	return state.Billing, err
}

// SettingsOf gives the present billing settings of an organization to whoever answers a query. Fails:
// organization_not_found.
type SettingsOf func(context.Context, id.Organization) (events.BillingSettings, error)

// RecordedSettings gives those of the log.
func RecordedSettings(b *bus.Bus) SettingsOf {
	return func(ctx context.Context, org id.Organization) (events.BillingSettings, error) {
		return BillingSettings(ctx, b, org)
	}
}

// ShownSettings gives those of the read model, so that queries are answered while the event store is away. Those of an
// organization that it does not show yet are read from the log. They are kept until the read model changes.
func ShownSettings(views *runner.Views, b *bus.Bus) SettingsOf {
	query := identityviews.OrganizationsQuery{Views: views}
	var asked runner.Kept[id.Organization, *identityviews.OrganizationRow]
	return func(ctx context.Context, org id.Organization) (events.BillingSettings, error) {
		row, err := asked.Of(ctx, views, identityviews.OrganizationsName, org,
			func(ctx context.Context) (*identityviews.OrganizationRow, error) { return query.Get(ctx, org) })
		if err != nil || row != nil {
			return null.Or(row, identityviews.OrganizationRow{}).Billing, err
		}
		return BillingSettings(ctx, b, org)
	}
}

// UsualSuspenseDays is how many days money may wait in suspense before it is an alarm, where nothing else is set.
const UsualSuspenseDays = 2

// SuspenseDays is how many days an organization's money may wait in suspense before it is an alarm; at least 1.
func SuspenseDays(s events.BillingSettings) int {
	if s.SuspenseDays > 0 {
		return s.SuspenseDays
	}
	return UsualSuspenseDays
}

// Zone is the time zone in which the days of an organization begin and end.
func (s SettingsOf) Zone(ctx context.Context, org id.Organization) (*time.Location, error) {
	settings, err := s(ctx, org)
	if err != nil {
		return nil, err
	}
	return Zone(settings)
}

// Today is the date that an instant has in the zone of an organization.
func (s SettingsOf) Today(ctx context.Context, org id.Organization, now time.Time) (calendar.Date, error) {
	zone, err := s.Zone(ctx, org)
	if err != nil {
		return calendar.Date{}, err
	}
	return calendar.On(now, zone), nil
}

// Zone is the time zone in which an organization's days begin and end. Settings with an unknown zone are never
// recorded, so a failure means that this machine lacks a zone that another one has.
func Zone(s events.BillingSettings) (*time.Location, error) {
	zone, err := calendar.Zone(s.Timezone)
	if err != nil {
		return nil, fmt.Errorf("zone of the organization: %w", err)
	}
	return zone, nil
}

// creditNoteSuffix keeps the numbers of credit notes apart from those of invoices: a number names one document.
const creditNoteSuffix = "-CN"

// NotePrefix is the prefix of the credit notes of an organization. Fails: organization_not_found.
func NotePrefix(ctx context.Context, b *bus.Bus, org id.Organization) (string, error) {
	settings, err := BillingSettings(ctx, b, org)
	return settings.InvoicePrefix + creditNoteSuffix, err
}
