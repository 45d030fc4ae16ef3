// Package identity decides about organizations, users and sessions.
package identity

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Organization is the state of a tenant. The zero value is "does not exist".
type Organization struct {
	ID        id.Organization
	Slug      string
	Name      string
	Billing   events.BillingSettings
	Suspended bool
}

// EvolveOrganization applies one recorded fact.
func EvolveOrganization(s Organization, e events.OrganizationEvent) Organization {
	switch e := e.(type) {
	case events.OrganizationCreated:
		s = Organization{ID: e.OrgID, Slug: e.Slug, Name: e.Name, Billing: e.Billing}
	case events.OrganizationRenamed:
		s.Name = e.Name
	case events.BillingSettingsAdopted:
		s.Billing = e.Billing
	case events.OrganizationSuspended:
		s.Suspended = true
	case events.OrganizationResumed:
		s.Suspended = false
	}
	return s
}

// OwnerOrganization is the organization itself.
func OwnerOrganization(s Organization) id.Organization { return s.ID }

// ClaimsOrganization are the slug, for ever, and the invoice prefix, platform-wide (rules.md 9, 17).
func ClaimsOrganization(s Organization) []commands.Claim {
	if s.ID.IsZero() {
		return nil
	}
	return []commands.Claim{
		{Kind: "slug", Value: s.Slug, Code: "slug_taken", Message: "this slug is taken"},
		{Kind: "invoice_prefix", Value: s.Billing.InvoicePrefix, Code: "invoice_prefix_taken", Message: "this invoice prefix is taken"},
	}
}

// DecideOrganization dispatches.
func DecideOrganization(s Organization, c commands.OrganizationCommand, now time.Time) ([]events.OrganizationEvent, error) {
	if create, ok := c.(commands.CreateOrganization); ok {
		return decideCreateOrganization(s, create, now)
	}
	if s.ID.IsZero() {
		return nil, failure.NewNotFound("organization_not_found", "no such organization")
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

// decideCreateOrganization refuses an id that is in use; the slug is the claims' business.
func decideCreateOrganization(s Organization, c commands.CreateOrganization, now time.Time) ([]events.OrganizationEvent, error) {
	if !s.ID.IsZero() {
		return nil, failure.NewConflict("organization_exists", "this organization exists already")
	}
	return []events.OrganizationEvent{events.OrganizationCreated{
		OrgID: c.OrgID, Slug: c.Slug, Name: c.Name, Billing: c.Billing, CreatedAt: now,
	}}, nil
}

// decideAdoptBilling keeps the currency: accounts are kept in it.
func decideAdoptBilling(s Organization, c commands.AdoptBillingSettings) ([]events.OrganizationEvent, error) {
	if c.Billing.Currency != s.Billing.Currency {
		return nil, failure.NewConflict("currency_fixed", "the currency of an organization cannot be changed")
	}
	return []events.OrganizationEvent{events.BillingSettingsAdopted{OrgID: s.ID, Billing: c.Billing}}, nil
}
