package usecases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

func TestToday_IsTheOrganizationsDate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 21, 0, 0, 0, time.UTC) // the first instant of the third of March in Nairobi
	k, org := coretest.New(t, clock.NewManual(now)), id.New[id.Organization]()
	bus.Register(k.Bus, identity.Organizations())
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(org, "acme"))
	for at, want := range map[time.Time]calendar.Date{
		now: {Year: 2026, Month: time.March, Day: 3}, now.Add(-1): {Year: 2026, Month: time.March, Day: 2},
	} {
		if got, err := usecases.Today(t.Context(), k.Bus, org, at); err != nil || got != want {
			t.Errorf("at %s: %s, want %s, %v", at, got, want, err)
		}
	}
	if _, err := usecases.Today(t.Context(), k.Bus, id.New[id.Organization](),
		now); failure.CodeOf(err) != "organization_not_found" {
		t.Errorf("unknown organization: %v", err)
	}
	if _, err := usecases.Zone(events.BillingSettings{Timezone: "Atlantis/Capital"}); err == nil {
		t.Error("an unknown zone is known")
	}
}
