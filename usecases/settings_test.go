package usecases_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
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
