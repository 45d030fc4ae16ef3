package usecases_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/usecases"
)

func TestBillingSettings_AreThoseOfTheMoment(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), storetest.New(t)
	b := bus.New(bus.Config{
		Store: store.Store, Claims: storetest.ClaimKey, Logger: storetest.Quiet(),
		Clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)),
	})
	bus.Register(b, identity.Organizations())
	org := id.New[id.Organization]()
	if _, err := usecases.BillingSettings(ctx, b, org); failure.CodeOf(err) != "organization_not_found" {
		t.Errorf("before it exists: %v", err)
	}
	settings := events.BillingSettings{
		Timezone: "Africa/Nairobi", Currency: money.KES, Country: "KE", InvoicePrefix: "ACME",
	}
	next := settings
	next.InvoicePrefix = "NET"
	for _, command := range []commands.Command{
		commands.CreateOrganization{OrgID: org, Slug: "acme", Name: "Acme", Billing: settings},
		commands.AdoptBillingSettings{OrgID: org, Billing: next},
	} {
		if _, err := b.Execute(ctx, command, asked(org).Meta); err != nil {
			t.Fatal(err)
		}
	}
	got, err := usecases.BillingSettings(ctx, b, org)
	if diff := cmp.Diff(next, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}
