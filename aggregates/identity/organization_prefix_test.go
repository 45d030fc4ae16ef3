package identity_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

func TestOrganization_HoldsOnePrefixAndThatOfBeforeWhileItIsOpen(t *testing.T) {
	t.Parallel()
	if got := identity.Organizations().Claims(identity.Organization{}); got != nil {
		t.Errorf("nobody claims %v", got)
	}
	adopted := events.BillingSettingsAdopted{OrgID: acme, Billing: billing("NET")}
	released := events.InvoicePrefixReleased{OrgID: acme, Prefix: "ACME"}
	for _, c := range []struct {
		after []events.OrganizationEvent
		want  []string
	}{
		{[]events.OrganizationEvent{created()}, []string{"slug acme", "invoice_prefix ACME"}},
		{
			[]events.OrganizationEvent{created(), adopted},
			[]string{"slug acme", "invoice_prefix ACME", "invoice_prefix NET"},
		},
		{[]events.OrganizationEvent{created(), adopted, released}, []string{"slug acme", "invoice_prefix NET"}},
	} {
		state := identity.Organization{}
		for _, e := range c.after {
			state = identity.Organizations().Evolve(state, e)
		}
		var values []string
		for _, claim := range identity.Organizations().Claims(state) {
			values = append(values, claim.Kind+" "+claim.Value)
		}
		if diff := cmp.Diff(c.want, values); diff != "" {
			t.Errorf("claims (-want +got)\n%s", diff)
		}
	}

	adopt := func(prefix string) commands.AdoptBillingSettings {
		return commands.AdoptBillingSettings{OrgID: acme, Billing: billing(prefix)}
	}
	release := func(prefix string) commands.ReleaseInvoicePrefix {
		return commands.ReleaseInvoicePrefix{OrgID: acme, Prefix: prefix}
	}
	s := organization(t).Given(created()).When(adopt("NET")).Then(events.BillingSettingsAdopted{
		OrgID: acme, Billing: billing("NET"), PrefixTakenAt: now,
	})
	s.When(adopt("THIRD")).ThenFails("invoice_prefix_held")
	s.When(release("NET")).ThenFails("invoice_prefix_present")
	s.When(release("NEVER")).ThenNothing()
	s.When(release("ACME")).Then(events.InvoicePrefixReleased{OrgID: acme, Prefix: "ACME"})
	s.When(release("ACME")).ThenNothing()
	s.When(adopt("THIRD")).Then(events.BillingSettingsAdopted{
		OrgID: acme, Billing: billing("THIRD"), PrefixTakenAt: now,
	})
	s.When(adopt("NET")).Then(events.BillingSettingsAdopted{OrgID: acme, Billing: billing("NET")}) // it is held still
}

// A prefix that was used counts for ever, so an organization cannot change through many.
func TestOrganization_TakesThreePrefixesInThirtyDays(t *testing.T) {
	t.Parallel()
	at := func(days int, prefix string) []events.OrganizationEvent {
		return []events.OrganizationEvent{
			events.BillingSettingsAdopted{
				OrgID: acme, Billing: billing(prefix), PrefixTakenAt: now.AddDate(0, 0, days),
			},
			events.InvoicePrefixReleased{OrgID: acme, Prefix: prefix},
		}
	}
	adopt := commands.AdoptBillingSettings{OrgID: acme, Billing: billing("NEXT")}
	for name, c := range map[string]struct {
		days   []int
		refuse bool
	}{
		"two":                      {[]int{-1, 0}, false},
		"three on one day":         {[]int{0, 0, 0}, true},
		"three in 29 days":         {[]int{-29, -2, -1}, true},
		"the first was long ago":   {[]int{-30, -2, -1}, false},
		"more, all but three late": {[]int{-90, -60, -29, -2, -1}, true},
	} {
		s := organization(t).Given(created())
		for i, days := range c.days {
			s = s.Given(at(days, "P"+strconv.Itoa(i))...)
		}
		s = s.Given(events.InvoicePrefixReleased{OrgID: acme, Prefix: "ACME"})
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.refuse {
				s.When(adopt).ThenFails("invoice_prefix_changed_often")
				return
			}
			s.When(adopt).Then(events.BillingSettingsAdopted{
				OrgID: acme, Billing: billing("NEXT"), PrefixTakenAt: now,
			})
		})
	}
	taxed := billing("P2")
	taxed.Tax.Inclusive = !taxed.Tax.Inclusive
	s := organization(t).Given(created())
	for i := range 3 {
		s = s.Given(events.BillingSettingsAdopted{
			OrgID: acme, Billing: billing("P" + strconv.Itoa(i)), PrefixTakenAt: now,
		})
	}
	s.When(commands.AdoptBillingSettings{OrgID: acme, Billing: taxed}).
		Then(events.BillingSettingsAdopted{OrgID: acme, Billing: taxed}) // the rest of the settings stays free
	s.When(commands.AdoptBillingSettings{OrgID: acme, Billing: billing("P0")}).
		Then(events.BillingSettingsAdopted{OrgID: acme, Billing: billing("P0")}) // it is held still
}

func TestOrganization_ItsPrefixIsNoWordThatPeopleTypeWhenTheyPay(t *testing.T) {
	t.Parallel()
	adopt := func(prefix string) commands.AdoptBillingSettings {
		return commands.AdoptBillingSettings{OrgID: acme, Billing: billing(prefix)}
	}
	s := organization(t).Given(created())
	for _, word := range []string{"HOUSE", "WIFI", "ROOM", "RENT", "HOUSE2", "RM10", "JUNE", "AC", "AC1"} {
		s.When(adopt(word)).ThenFails("invoice_prefix_reserved")
		organization(t).When(commands.CreateOrganization{
			OrgID: acme, Slug: "acme", Name: "Acme", Billing: billing(word),
		}).ThenFails("invoice_prefix_reserved")
	}
	s.When(adopt("HOUSES")).Then(events.BillingSettingsAdopted{
		OrgID: acme, Billing: billing("HOUSES"), PrefixTakenAt: now,
	})

	before := events.OrganizationCreated{ // before the word was reserved
		OrgID: acme, Slug: "acme", Name: "Acme", Billing: billing("HOUSE"),
	}
	kept := billing("HOUSE")
	kept.TaxPIN = "P051234567X"
	organization(t).Given(before).When(commands.AdoptBillingSettings{OrgID: acme, Billing: kept}).
		Then(events.BillingSettingsAdopted{OrgID: acme, Billing: kept})
}
