// Package identity has the rules of organizations, users and sessions.
package identity

import (
	"reflect"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Organizations defines the tenants. Each is its own owner.
func Organizations() aggregates.Definition[Organization, commands.OrganizationCommand, events.OrganizationEvent] {
	return aggregates.Definition[Organization, commands.OrganizationCommand, events.OrganizationEvent]{
		Category: commands.OrganizationCategory, Missing: commands.ErrNoOrganization, Evolve: evolveOrganization,
		Decide: decideOrganization, Owner: ownerOrganization, Claims: claimsOrganization,
		Commands: []commands.OrganizationCommand{
			commands.CreateOrganization{}, commands.RenameOrganization{}, commands.AdoptBillingSettings{},
			commands.SuspendOrganization{}, commands.ResumeOrganization{},
		},
	}
}

// Organization is the state of a tenant. The zero value is "does not exist".
type Organization struct {
	ID        id.Organization
	Slug      string
	Name      string
	Billing   events.BillingSettings
	Suspended bool
	Prefixes  []string // every invoice prefix that it ever had, each once, oldest first
}

// evolveOrganization applies one recorded event. Prefixes only grow.
func evolveOrganization(s Organization, e events.OrganizationEvent) Organization {
	switch e := e.(type) {
	case events.OrganizationCreated:
		s = Organization{
			ID: e.OrgID, Slug: e.Slug, Name: e.Name, Billing: e.Billing, Prefixes: []string{e.Billing.InvoicePrefix},
		}
	case events.OrganizationRenamed:
		s.Name = e.Name
	case events.BillingSettingsAdopted:
		s.Billing = e.Billing
		if !slices.Contains(s.Prefixes, e.Billing.InvoicePrefix) {
			s.Prefixes = append(slices.Clip(s.Prefixes), e.Billing.InvoicePrefix)
		}
	case events.OrganizationSuspended:
		s.Suspended = true
	case events.OrganizationResumed:
		s.Suspended = false
	}
	return s
}

// ownerOrganization is the organization itself.
func ownerOrganization(s Organization) id.Organization { return s.ID }

// claimsOrganization claims the slug and every invoice prefix, present and past, for ever and on the whole platform
// (docs/rules/payments.md#shared-paybill, docs/rules/identity.md#unique-values). Invoices with an old prefix can still
// be paid, and their money must not reach another organization's invoice of the same number.
func claimsOrganization(s Organization) []commands.Claim {
	if s.ID.IsZero() {
		return nil
	}
	claims := []commands.Claim{{
		Kind: "slug", Value: s.Slug, Code: "slug_taken", Message: "This slug is taken. Choose another one.",
	}}
	for _, prefix := range s.Prefixes {
		claims = append(claims, commands.Claim{
			Kind: "invoice_prefix", Value: prefix, Code: "invoice_prefix_taken",
			Message: "This invoice prefix is taken. Choose another one.",
		})
	}
	return claims
}

// decideOrganization dispatches; every command but the first needs an organization that exists.
func decideOrganization(
	s Organization, c commands.OrganizationCommand, now time.Time,
) ([]events.OrganizationEvent, error) {
	if create, ok := c.(commands.CreateOrganization); ok {
		return decideCreateOrganization(s, create, now)
	}
	if s.ID.IsZero() {
		return nil, commands.ErrNoOrganization()
	}
	switch c := c.(type) {
	case commands.CreateOrganization:
	case commands.RenameOrganization:
		if c.Name == s.Name {
			return nil, nil
		}
		return []events.OrganizationEvent{events.OrganizationRenamed{OrgID: s.ID, Name: c.Name}}, nil
	case commands.AdoptBillingSettings:
		return decideAdoptBilling(s, c)
	case commands.SuspendOrganization:
		if s.Suspended {
			return nil, nil
		}
		return []events.OrganizationEvent{events.OrganizationSuspended{OrgID: s.ID, Reason: c.Reason}}, nil
	case commands.ResumeOrganization:
		if !s.Suspended {
			return nil, nil
		}
		return []events.OrganizationEvent{events.OrganizationResumed{OrgID: s.ID, Reason: c.Reason}}, nil
	}
	return nil, nil
}

// decideCreateOrganization refuses an id that is in use. The bus checks the slug with the claims.
func decideCreateOrganization(
	s Organization, c commands.CreateOrganization, now time.Time,
) ([]events.OrganizationEvent, error) {
	if !s.ID.IsZero() {
		return nil, failure.NewConflict("organization_exists", "This organization exists already.")
	}
	return []events.OrganizationEvent{events.OrganizationCreated{
		OrgID: c.OrgID, Slug: c.Slug, Name: c.Name, Billing: c.Billing, CreatedAt: now,
	}}, nil
}

// decideAdoptBilling refuses another currency, because all accounts of the organization are kept in it.
func decideAdoptBilling(s Organization, c commands.AdoptBillingSettings) ([]events.OrganizationEvent, error) {
	if c.Billing.Currency != s.Billing.Currency {
		return nil, failure.NewConflict("currency_fixed", "The currency of an organization cannot be changed.")
	}
	if sameBilling(s.Billing, c.Billing) {
		return nil, nil
	}
	return []events.OrganizationEvent{events.BillingSettingsAdopted{OrgID: s.ID, Billing: c.Billing}}, nil
}

// sameBilling compares settings; nil lists and empty lists are equal.
func sameBilling(a, b events.BillingSettings) bool {
	sameTaxes := a.Tax.Inclusive == b.Tax.Inclusive && slices.Equal(a.Tax.Components, b.Tax.Components)
	sameDays := slices.Equal(a.Holidays, b.Holidays)
	a.Tax, b.Tax, a.Holidays, b.Holidays = events.TaxRule{}, events.TaxRule{}, nil, nil
	return sameTaxes && sameDays && reflect.DeepEqual(a, b)
}
