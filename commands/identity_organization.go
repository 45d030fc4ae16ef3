package commands

import (
	"regexp"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// OrganizationCategory begins the names of the streams of organizations.
const OrganizationCategory = "organization"

// OrganizationCommand is a command to "organization-<id>".
//
//sumtype:decl
type OrganizationCommand interface {
	Command
	organizationCommand()
}

// CreateOrganization creates a tenant. Fails: slug_taken, invoice_prefix_taken, invoice_prefix_reserved,
// organization_exists.
type CreateOrganization struct {
	OrgID   id.Organization
	Slug    string
	Name    string
	Billing events.BillingSettings
}

// RenameOrganization changes the display name; the slug never changes. Fails: organization_not_found.
type RenameOrganization struct {
	OrgID id.Organization
	Name  string
}

// AdoptBillingSettings replaces all billing settings. Fails: organization_not_found, invoice_prefix_taken,
// invoice_prefix_reserved, invoice_prefix_held, invoice_prefix_changed_often, currency_fixed.
type AdoptBillingSettings struct {
	OrgID   id.Organization
	Billing events.BillingSettings
}

// ReleaseInvoicePrefix gives up a prefix of before. The caller has seen that no open invoice has it. Fails:
// organization_not_found, invoice_prefix_present.
type ReleaseInvoicePrefix struct {
	OrgID  id.Organization
	Prefix string
}

// ChooseLogo puts a picture on the organization's documents. The caller has stored it under the hash. Fails:
// organization_not_found.
type ChooseLogo struct {
	OrgID  id.Organization
	Digest string // SHA-256 of the picture, in hexadecimal digits
}

// RemoveLogo takes the picture off the organization's documents. Fails: organization_not_found.
type RemoveLogo struct{ OrgID id.Organization }

// SeatAdministrator counts a user among the administrators who can sign in. Fails: organization_not_found.
type SeatAdministrator struct {
	OrgID  id.Organization
	UserID id.User
}

// ReleaseAdministrator comes before an administrator loses the role or the access, and refuses the last one. Somebody
// who is not counted stays so. Fails: organization_not_found, last_administrator.
type ReleaseAdministrator struct {
	OrgID  id.Organization
	UserID id.User
}

// RequireSecondFactor says whether the staff needs a second factor. Fails: organization_not_found.
type RequireSecondFactor struct {
	OrgID    id.Organization
	Required bool
}

// SetApprovalLimit says how much one member of the staff may give away on a day. To raise or remove a limit takes a
// second administrator where there are several, so that nobody raises it, acts and lowers it again. Fails:
// organization_not_found, currency_mismatch, second_person_needed, approval_outdated.
type SetApprovalLimit struct {
	OrgID id.Organization
	Limit *money.Amount // nil = nothing needs a second person
	// Approved says that a second administrator has agreed, while the limit was Before.
	Approved bool
	Before   money.Amount
}

// SuspendOrganization stops the access of all members at once. Fails: organization_not_found.
type SuspendOrganization struct {
	OrgID  id.Organization
	Reason string
}

// ResumeOrganization ends a suspension. Fails: organization_not_found.
type ResumeOrganization struct {
	OrgID  id.Organization
	Reason string
}

func (CreateOrganization) CommandName() string   { return "identity.CreateOrganization" }
func (RenameOrganization) CommandName() string   { return "identity.RenameOrganization" }
func (AdoptBillingSettings) CommandName() string { return "identity.AdoptBillingSettings" }
func (ReleaseInvoicePrefix) CommandName() string { return "identity.ReleaseInvoicePrefix" }
func (ChooseLogo) CommandName() string           { return "identity.ChooseLogo" }
func (RemoveLogo) CommandName() string           { return "identity.RemoveLogo" }
func (SeatAdministrator) CommandName() string    { return "identity.SeatAdministrator" }
func (ReleaseAdministrator) CommandName() string { return "identity.ReleaseAdministrator" }
func (RequireSecondFactor) CommandName() string  { return "identity.RequireSecondFactor" }
func (SetApprovalLimit) CommandName() string     { return "identity.SetApprovalLimit" }
func (SuspendOrganization) CommandName() string  { return "identity.SuspendOrganization" }
func (ResumeOrganization) CommandName() string   { return "identity.ResumeOrganization" }

func (CreateOrganization) organizationCommand()   {}
func (RenameOrganization) organizationCommand()   {}
func (AdoptBillingSettings) organizationCommand() {}
func (ReleaseInvoicePrefix) organizationCommand() {}
func (ChooseLogo) organizationCommand()           {}
func (RemoveLogo) organizationCommand()           {}
func (SeatAdministrator) organizationCommand()    {}
func (ReleaseAdministrator) organizationCommand() {}
func (RequireSecondFactor) organizationCommand()  {}
func (SetApprovalLimit) organizationCommand()     {}
func (SuspendOrganization) organizationCommand()  {}
func (ResumeOrganization) organizationCommand()   {}

func (c CreateOrganization) Target() Target   { return At(OrganizationCategory, c.OrgID) }
func (c RenameOrganization) Target() Target   { return At(OrganizationCategory, c.OrgID) }
func (c AdoptBillingSettings) Target() Target { return At(OrganizationCategory, c.OrgID) }
func (c ReleaseInvoicePrefix) Target() Target { return At(OrganizationCategory, c.OrgID) }
func (c ChooseLogo) Target() Target           { return At(OrganizationCategory, c.OrgID) }
func (c RemoveLogo) Target() Target           { return At(OrganizationCategory, c.OrgID) }
func (c SeatAdministrator) Target() Target    { return At(OrganizationCategory, c.OrgID) }
func (c ReleaseAdministrator) Target() Target { return At(OrganizationCategory, c.OrgID) }
func (c RequireSecondFactor) Target() Target  { return At(OrganizationCategory, c.OrgID) }
func (c SetApprovalLimit) Target() Target     { return At(OrganizationCategory, c.OrgID) }
func (c SuspendOrganization) Target() Target  { return At(OrganizationCategory, c.OrgID) }
func (c ResumeOrganization) Target() Target   { return At(OrganizationCategory, c.OrgID) }

// slugForm is a DNS label in lower case (RFC 1123 2.1), because the slug is the first label of the host.
var slugForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// reservedSlugs lists names that the platform needs on its own domain, or that would mislead visitors.
var reservedSlugs = map[string]bool{
	"www": true, "api": true, "app": true, "admin": true, "root": true, "portal": true, "mail": true, "smtp": true,
	"static": true, "assets": true, "cdn": true, "status": true, "help": true, "support": true, "docs": true,
	"auth": true, "login": true, "billing": true, "pay": true, "payments": true, "platform": true, "system": true,
	"internal": true, "webhooks": true, "acs": true, "radius": true, "ns1": true, "ns2": true, "localhost": true,
}

// prefixForm is 2 to 6 capitals or digits (docs/rules/billing.md#invoice-numbers). At least one must be a capital: an
// invoice number of digits only could be the account number or the phone of another organization's customer, and would
// take that customer's money on the shared paybill.
var prefixForm = regexp.MustCompile(`^[A-Z0-9]{2,6}$`)

// hasCapital requires the capital.
var hasCapital = regexp.MustCompile(`[A-Z]`)

// countryForm is the form of ISO 3166-1 alpha-2; the code itself is not looked up.
var countryForm = regexp.MustCompile(`^[A-Z]{2}$`)

// Validate checks the slug, the name and all billing settings.
func (c CreateOrganization) Validate() error {
	var f failure.Faults
	f.Check(slugForm.MatchString(c.Slug), "slug",
		"must be a DNS label: lower-case letters and digits, with hyphens within")
	f.Check(!reservedSlugs[c.Slug], "slug", "is a reserved word")
	f.Check(!strings.HasPrefix(c.Slug, "xn--"), "slug", "must not be an encoded international name")
	checkName(&f, c.Name)
	checkBilling(&f, c.Billing)
	return f.Err()
}

// digestForm is a SHA-256 in hexadecimal digits.
var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Validate checks the form of the hash.
func (c ChooseLogo) Validate() error {
	var f failure.Faults
	f.Check(digestForm.MatchString(c.Digest), "digest", "must be the SHA-256 of the picture")
	return f.Err()
}

// Validate accepts every organization.
func (c RemoveLogo) Validate() error { return nil }

// Validate checks the form of the name.
func (c RenameOrganization) Validate() error {
	var f failure.Faults
	checkName(&f, c.Name)
	return f.Err()
}

// Validate checks all billing settings.
func (c AdoptBillingSettings) Validate() error {
	var f failure.Faults
	checkBilling(&f, c.Billing)
	return f.Err()
}

// Validate requires a prefix; one that the organization never had is no fault.
func (c ReleaseInvoicePrefix) Validate() error {
	var f failure.Faults
	f.Check(c.Prefix != "", "prefix", "must not be empty")
	return f.Err()
}

// Validate requires the user.
func (c SeatAdministrator) Validate() error { return requireUser(c.UserID) }

// Validate requires the user.
func (c ReleaseAdministrator) Validate() error { return requireUser(c.UserID) }

// requireUser is for commands of an organization that name one of its users.
func requireUser(user id.User) error {
	var f failure.Faults
	f.Check(!user.IsZero(), "userId", "is required")
	return f.Err()
}

// Validate accepts everything: a value of the form is all that there is.
func (RequireSecondFactor) Validate() error { return nil }

// Validate refuses a limit below zero.
func (c SetApprovalLimit) Validate() error {
	var f failure.Faults
	f.Check(c.Limit == nil || !c.Limit.Negative(), "limit", "must not be below zero")
	return f.Err()
}

func (c SuspendOrganization) Validate() error { return requireReason(c.Reason) }
func (c ResumeOrganization) Validate() error  { return requireReason(c.Reason) }

// requireReason is for actions that a person must justify in the audit log.
func requireReason(reason string) error {
	var f failure.Faults
	f.Check(shows(reason), "reason", "must say why")
	f.Check(len(reason) <= 500, "reason", "must have at most 500 bytes")
	checkLines(&f, "reason", reason)
	return f.Err()
}

// checkName checks a display name, in bytes.
func checkName(f *failure.Faults, name string) {
	f.Check(shows(name), "name", "must not be empty")
	f.Check(len(name) <= 200, "name", "must have at most 200 bytes")
	checkLine(f, "name", name)
}

// checkBilling checks billing settings field by field.
func checkBilling(f *failure.Faults, b events.BillingSettings) {
	f.Check(calendar.KnownZone(b.Timezone), "timezone", "must be an IANA time zone such as Africa/Nairobi")
	f.Check(b.Currency.Known(), "currency", "must be a currency that the platform bills in, such as KES")
	f.Check(countryForm.MatchString(b.Country), "country", "must be two capitals, ISO 3166-1")
	f.Check(prefixForm.MatchString(b.InvoicePrefix) && hasCapital.MatchString(b.InvoicePrefix), "invoicePrefix",
		"must be 2 to 6 capitals or digits, not digits alone")
	checkTaxPIN(f, b.TaxPIN)
	f.Check(len(b.Tax.Components) <= 5, "tax", "must have at most 5 components")
	f.Check(len(b.Holidays) <= 400, "holidays", "must have at most 400 days")
	f.Check(b.SuspenseDays >= 0 && b.SuspenseDays <= 90, "suspenseDays", "must be 1 to 90 days")
	for _, t := range b.Tax.Components {
		f.Check(shows(t.Name) && len(t.Name) <= 50, "tax",
			"components need a name of at most 50 bytes")
		checkLine(f, "tax", t.Name)
		f.Check(t.BasisPoints >= 0 && t.BasisPoints <= 10000, "tax", "rates must be from 0 to 100 percent")
	}
}

// ErrNoOrganization is the failure for an organization that does not exist, and for a command by another organization.
func ErrNoOrganization() error {
	return failure.NewNotFound("organization_not_found", "There is no such organization.")
}
