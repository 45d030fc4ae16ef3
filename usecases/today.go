package usecases

import (
	"context"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// MaxDaysAhead bounds future dates to about five years: RFC 3339 cannot write a period that ends in the year 10000.
const MaxDaysAhead = 5 * 366

// Zone is the time zone in which an organization's days begin and end. Settings with an unknown zone are never
// recorded, so a failure means that this machine lacks a zone that another one has.
func Zone(s events.BillingSettings) (*time.Location, error) {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		return nil, fmt.Errorf("zone of the organization: %w", err)
	}
	return zone, nil
}

// ZoneOf is the time zone in which an organization's days begin and end, as the log has it. Fails:
// organization_not_found.
func ZoneOf(ctx context.Context, b *bus.Bus, org id.Organization) (*time.Location, error) {
	settings, err := BillingSettings(ctx, b, org)
	if err != nil {
		return nil, err
	}
	return Zone(settings)
}

// Today is the date that an instant has in the organization's zone. Fails: organization_not_found.
func Today(ctx context.Context, b *bus.Bus, org id.Organization, now time.Time) (calendar.Date, error) {
	zone, err := ZoneOf(ctx, b, org)
	if err != nil {
		return calendar.Date{}, err
	}
	return calendar.On(now, zone), nil
}
