// Package identity has the rules of organizations, users and sessions.
package identity

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Organizations defines the tenants. Each is its own owner.
func Organizations() aggregates.Definition[Organization, commands.OrganizationCommand, events.OrganizationEvent] {
	return aggregates.Definition[Organization, commands.OrganizationCommand, events.OrganizationEvent]{
		Category: commands.OrganizationCategory, Missing: commands.ErrNoOrganization, Evolve: evolveOrganization,
		Decide: decideOrganization, Owner: ownerOrganization, Claims: claimsOrganization,
		Commands: []commands.OrganizationCommand{
			commands.CreateOrganization{}, commands.RenameOrganization{}, commands.AdoptBillingSettings{},
			commands.ChooseLogo{}, commands.RemoveLogo{},
			commands.ReleaseInvoicePrefix{}, commands.SeatAdministrator{}, commands.ReleaseAdministrator{},
			commands.SuspendOrganization{}, commands.ResumeOrganization{}, commands.RequireSecondFactor{},
			commands.SetApprovalLimit{},
		},
	}
}

// Organization is the state of a tenant. The zero value is "does not exist".
type Organization struct {
	ID        id.Organization
	Slug      string
	Name      string
	Billing   events.BillingSettings
	Logo      string // the hash of the picture on its documents; "" = none
	Suspended bool
	// SecondFactorRequired is true while the staff needs a second factor.
	SecondFactorRequired bool
	// ApprovalLimit is how much one member of the staff may give away on a day; nil = nothing needs a second person.
	ApprovalLimit *money.Amount
	// Prefixes are the invoice prefixes that it holds: the present one and those not released, oldest first.
	Prefixes []string
	// PrefixesTaken are the instants at which it took its newest prefixes after the first, oldest first; takenPrefixes
	// at most.
	PrefixesTaken []time.Time
	// Administrators are the users who count as administrators. It is empty for organizations of before they were
	// counted, until the program starts again.
	Administrators map[id.User]bool
	// ReleasedAt is when the last one stopped to count; zero when none did, or before the moment was recorded.
	ReleasedAt time.Time
}

// evolveOrganization applies one recorded event.
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
		if !e.PrefixTakenAt.IsZero() {
			s.PrefixesTaken = append(slices.Clip(s.PrefixesTaken), e.PrefixTakenAt)
			s.PrefixesTaken = s.PrefixesTaken[max(0, len(s.PrefixesTaken)-takenPrefixes):]
		}
	case events.InvoicePrefixReleased:
		s.Prefixes = slices.DeleteFunc(slices.Clone(s.Prefixes), func(p string) bool { return p == e.Prefix })
	case events.OrganizationLogoChosen:
		s.Logo = e.Digest
	case events.OrganizationLogoRemoved:
		s.Logo = ""
	case events.AdministratorSeated:
		s.Administrators = maps.Clone(s.Administrators)
		if s.Administrators == nil {
			s.Administrators = map[id.User]bool{}
		}
		s.Administrators[e.UserID] = true
	case events.AdministratorReleased:
		s.Administrators = maps.Clone(s.Administrators)
		delete(s.Administrators, e.UserID)
		s.ReleasedAt = e.At
	case events.SecondFactorRequired:
		s.SecondFactorRequired = true
	case events.SecondFactorMadeOptional:
		s.SecondFactorRequired = false
	case events.ApprovalLimitSet:
		s.ApprovalLimit = new(e.Limit)
	case events.ApprovalLimitRemoved:
		s.ApprovalLimit = nil
	case events.OrganizationSuspended:
		s.Suspended = true
	case events.OrganizationResumed:
		s.Suspended = false
	}
	return s
}

// ownerOrganization is the organization itself.
func ownerOrganization(s Organization) id.Organization { return s.ID }

// claimsOrganization claims the slug for ever, and the invoice prefixes that the organization holds, on the whole
// platform (docs/rules/payments.md#shared-paybill, docs/rules/identity.md#unique-values). An old prefix is held while
// an invoice with it is open: its money must not reach another organization's invoice of the same number.
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
		return decideAdoptBilling(s, c, now)
	case commands.ReleaseInvoicePrefix:
		return decideReleasePrefix(s, c)
	case commands.ChooseLogo, commands.RemoveLogo:
		return decideLogo(s, c)
	case commands.SeatAdministrator:
		if s.Administrators[c.UserID] {
			return nil, nil
		}
		return []events.OrganizationEvent{events.AdministratorSeated{OrgID: s.ID, UserID: c.UserID}}, nil
	case commands.ReleaseAdministrator:
		return decideReleaseAdministrator(s, c, now)
	case commands.RequireSecondFactor:
		switch {
		case c.Required == s.SecondFactorRequired:
			return nil, nil
		case c.Required:
			return []events.OrganizationEvent{events.SecondFactorRequired{OrgID: s.ID}}, nil
		}
		return []events.OrganizationEvent{events.SecondFactorMadeOptional{OrgID: s.ID}}, nil
	case commands.SetApprovalLimit:
		return decideApprovalLimit(s, c, now)
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

// decideLogo puts a picture on the documents, or takes it off.
func decideLogo(s Organization, c commands.OrganizationCommand) ([]events.OrganizationEvent, error) {
	choose, chosen := c.(commands.ChooseLogo)
	switch {
	case choose.Digest == s.Logo:
		return nil, nil
	case chosen:
		return []events.OrganizationEvent{events.OrganizationLogoChosen{OrgID: s.ID, Digest: choose.Digest}}, nil
	}
	return []events.OrganizationEvent{events.OrganizationLogoRemoved{OrgID: s.ID}}, nil
}

// errPrefixReserved refuses a word that customers of any organization type when they pay.
func errPrefixReserved() error {
	return failure.NewConflict("invoice_prefix_reserved",
		"People type this word with a number when they pay. Choose another invoice prefix, such as one of your name.")
}

// decideCreateOrganization refuses an id that is in use, and a reserved invoice prefix. The bus checks the slug with
// the claims.
func decideCreateOrganization(
	s Organization, c commands.CreateOrganization, now time.Time,
) ([]events.OrganizationEvent, error) {
	if !s.ID.IsZero() {
		return nil, failure.NewConflict("organization_exists", "This organization exists already.")
	}
	if commands.ReservedPrefix(c.Billing.InvoicePrefix) {
		return nil, errPrefixReserved()
	}
	return []events.OrganizationEvent{events.OrganizationCreated{
		OrgID: c.OrgID, Slug: c.Slug, Name: c.Name, Billing: c.Billing, CreatedAt: now,
	}}, nil
}

// decideReleasePrefix refuses the present prefix, which new invoices get.
func decideReleasePrefix(s Organization, c commands.ReleaseInvoicePrefix) ([]events.OrganizationEvent, error) {
	switch {
	case c.Prefix == s.Billing.InvoicePrefix:
		return nil, failure.NewConflict("invoice_prefix_present", "New invoices get this prefix.")
	case !slices.Contains(s.Prefixes, c.Prefix):
		return nil, nil
	}
	return []events.OrganizationEvent{events.InvoicePrefixReleased{OrgID: s.ID, Prefix: c.Prefix}}, nil
}

// decideReleaseAdministrator keeps one administrator. It is decided here, on the one stream that both of two
// administrators who disable each other at the same moment must pass (docs/rules/identity.md#last-administrator).
func decideReleaseAdministrator(
	s Organization, c commands.ReleaseAdministrator, now time.Time,
) ([]events.OrganizationEvent, error) {
	switch {
	case !s.Administrators[c.UserID]:
		return nil, nil
	case len(s.Administrators) == 1:
		return nil, failure.NewConflict("last_administrator",
			"An organization keeps at least one administrator. Make somebody else an administrator first.")
	}
	return []events.OrganizationEvent{events.AdministratorReleased{OrgID: s.ID, UserID: c.UserID, At: now}}, nil
}

// Bounds of the invoice prefixes of one organization. A prefix that was used counts for ever when money is matched, so
// nobody may hoard them or change through them.
const (
	heldPrefixes   = 2                   // the present one, and one of before whose invoices are open
	takenPrefixes  = 3                   // within prefixesWithin
	prefixesWithin = 30 * 24 * time.Hour // a change back to one that is held takes none
)

// decideAdoptBilling refuses another currency, because all accounts of the organization are kept in it, a reserved
// invoice prefix, a third one, and too many new ones in a month. An organization that has a prefix keeps it when the
// word is reserved later.
func decideAdoptBilling(
	s Organization, c commands.AdoptBillingSettings, now time.Time,
) ([]events.OrganizationEvent, error) {
	if c.Billing.Currency != s.Billing.Currency {
		return nil, failure.NewConflict("currency_fixed", "The currency of an organization cannot be changed.")
	}
	if sameBilling(s.Billing, c.Billing) {
		return nil, nil
	}
	adopted := events.BillingSettingsAdopted{OrgID: s.ID, Billing: c.Billing}
	if slices.Contains(s.Prefixes, c.Billing.InvoicePrefix) {
		return []events.OrganizationEvent{adopted}, nil
	}
	adopted.PrefixTakenAt = now
	taken := s.PrefixesTaken
	switch {
	case commands.ReservedPrefix(c.Billing.InvoicePrefix):
		return nil, errPrefixReserved()
	case len(s.Prefixes) >= heldPrefixes:
		return nil, failure.NewConflict("invoice_prefix_held",
			"Invoices with the prefix of before are still open. The prefix can be changed again when they are settled.")
	case len(taken) >= takenPrefixes && now.Sub(taken[len(taken)-takenPrefixes]) < prefixesWithin:
		return nil, failure.NewConflict("invoice_prefix_changed_often",
			"The invoice prefix was changed three times in 30 days. Keep the present one for now.")
	}
	return []events.OrganizationEvent{adopted}, nil
}

// sameBilling compares settings; nil lists and empty lists are equal.
func sameBilling(a, b events.BillingSettings) bool {
	sameTaxes := a.Tax.Inclusive == b.Tax.Inclusive && slices.Equal(a.Tax.Components, b.Tax.Components)
	sameDays := slices.Equal(a.Holidays, b.Holidays)
	a.Tax, b.Tax, a.Holidays, b.Holidays = events.TaxRule{}, events.TaxRule{}, nil, nil
	return sameTaxes && sameDays && reflect.DeepEqual(a, b)
}
