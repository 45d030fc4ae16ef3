package accesscases_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// newPolicies gives the use case on a log with one organization. The plans of the organization name the policy "night".
func newPolicies(t *testing.T) (accesscases.DunningPolicies, id.Organization) {
	t.Helper()
	k := coretest.NewWithVault(t, vault.Config{
		Clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)),
	})
	bus.Register(k.Bus, identity.Organizations())
	bus.Register(k.Bus, access.DunningPolicies())
	org := id.New[id.Organization]()
	create := commands.CreateOrganization{
		OrgID: org, Name: "Acme", Slug: "acme", Billing: events.BillingSettings{
			Timezone: "Africa/Nairobi", Currency: money.KES, Country: "KE", InvoicePrefix: "ACM",
		},
	}
	if _, err := k.Bus.Execute(t.Context(), create, coretest.Operator(id.Organization{})); err != nil {
		t.Fatal(err)
	}
	return accesscases.DunningPolicies{
		Bus: k.Bus,
		Named: func(_ context.Context, of id.Organization, names []string) ([]string, error) {
			if of == org && slices.Contains(names, "night") {
				return []string{"night"}, nil
			}
			return nil, nil
		},
	}, org
}

func TestSet_APolicyThatAPlanNamesCannotBeLeftOut(t *testing.T) {
	t.Parallel()
	d, org := newPolicies(t)
	set := func(code string, names ...string) {
		t.Helper()
		in := accesscases.DunningChange{Policies: map[string]accesscases.DunningInput{}}
		for _, name := range names {
			in.Policies[name] = accesscases.DunningInput{}
		}
		_, err := d.Set(t.Context(), coretest.Keyed(org), in)
		coretest.Refused(t, "set", err, code)
	}
	set("", "day", "night")
	set("dunning_policy_in_use", "day")
	set("", "night")
	for name, want := range map[string]bool{"": true, "night": true, "day": false} {
		if known, err := d.Known(t.Context(), org, name); err != nil || known != want {
			t.Errorf("%q: %v %v", name, known, err)
		}
	}
}

func TestSet_ARepeatActsOnceAndAnUnknownOrganizationHasNoRules(t *testing.T) {
	t.Parallel()
	d, org := newPolicies(t)
	asked, days := coretest.Keyed(org), 9
	in := accesscases.DunningChange{Default: &accesscases.DunningInput{GraceDays: &days}}
	for range 2 {
		if _, err := d.Set(t.Context(), asked, in); err != nil {
			t.Fatal(err)
		}
	}
	s, err := d.Read(t.Context(), org)
	if err != nil || s.Default.GraceDays != 9 || s.Revision != 0 {
		t.Errorf("%+v %v", s, err)
	}
	_, err = d.Read(t.Context(), id.New[id.Organization]())
	coretest.Refused(t, "read", err, "organization_not_found")
}
