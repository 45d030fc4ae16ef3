package usecases_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

func TestBillingSettings_AreThoseOfTheMoment(t *testing.T) {
	t.Parallel()
	ctx, k := t.Context(), coretest.New(t, clock.System())
	bus.Register(k.Bus, identity.Organizations())
	org := id.New[id.Organization]()
	if _, err := usecases.BillingSettings(ctx, k.Bus, org); failure.CodeOf(err) != "organization_not_found" {
		t.Errorf("before it exists: %v", err)
	}
	made := coretest.NewOrganization(org, "acme")
	k.Run(t, coretest.Ask(org).Meta, made)
	next := made.Billing
	next.InvoicePrefix = "NET"
	k.Run(t, coretest.Ask(org).Meta, commands.AdoptBillingSettings{OrgID: org, Billing: next})
	got, err := usecases.BillingSettings(ctx, k.Bus, org)
	if diff := cmp.Diff(next, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// TestShownSettings_NeedNoEventStore: there is no bus to ask while the read model has the organization.
func TestShownSettings_NeedNoEventStore(t *testing.T) {
	t.Parallel()
	ctx, org := t.Context(), id.New[id.Organization]()
	k := coretest.New(t, clock.System(), identityviews.Organizations{})
	bus.Register(k.Bus, identity.Organizations())
	views, made := k.Show(t), coretest.NewOrganization(org, "acme")
	k.Run(t, coretest.Operator(id.Organization{}), made)
	k.WaitForAll(t, views, identityviews.OrganizationsName)
	got, err := usecases.ShownSettings(views, nil)(ctx, org)
	if diff := cmp.Diff(made.Billing, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	_, err = usecases.ShownSettings(views, k.Bus)(ctx, id.New[id.Organization]())
	if failure.CodeOf(err) != "organization_not_found" {
		t.Errorf("unknown organization: %v", err)
	}
}

func TestToday_IsTheOrganizationsDate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 21, 0, 0, 0, time.UTC) // the first instant of the third of March in Nairobi
	k, org := coretest.New(t, clock.NewManual(now)), id.New[id.Organization]()
	bus.Register(k.Bus, identity.Organizations())
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(org, "acme"))
	settings := usecases.RecordedSettings(k.Bus)
	for at, want := range map[time.Time]calendar.Date{
		now: {Year: 2026, Month: time.March, Day: 3}, now.Add(-1): {Year: 2026, Month: time.March, Day: 2},
	} {
		if got, err := settings.Today(t.Context(), org, at); err != nil || got != want {
			t.Errorf("at %s: %s, want %s, %v", at, got, want, err)
		}
	}
	_, err := settings.Today(t.Context(), id.New[id.Organization](), now)
	if failure.CodeOf(err) != "organization_not_found" {
		t.Errorf("unknown organization: %v", err)
	}
	if _, err := usecases.Zone(events.BillingSettings{Timezone: "Atlantis/Capital"}); err == nil {
		t.Error("an unknown zone is known")
	}
}
