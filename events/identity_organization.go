package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// OrganizationEvent is an event of "organization-<id>", one tenant.
//
//sumtype:decl
type OrganizationEvent interface {
	Event
	organizationEvent()
}

// BillingSettings are the rules by which an organization bills. Source: docs/rules/billing.md#organization-settings.
type BillingSettings struct {
	Timezone string         `json:"timezone"` // IANA name
	Currency money.Currency `json:"currency"`
	Country  string         `json:"country"` // ISO 3166-1 alpha-2
	// 2 to 6 capitals or digits, unique on the platform
	InvoicePrefix string          `json:"invoicePrefix"`
	Tax           TaxRule         `json:"tax"`
	TaxPIN        string          `json:"taxPin"`
	Holidays      []calendar.Date `json:"holidays,omitempty"`
	// SuspenseDays is how many days money may wait in suspense before it is an alarm; 0 = usual.
	SuspenseDays int `json:"suspenseDays,omitempty"`
	// StripRealm lets customers sign in on the network with DOMAIN\user and user@realm as user, where nobody has the
	// whole name.
	StripRealm bool `json:"stripRealm,omitempty"`
}

// TaxRule says which taxes apply to every line of an invoice.
type TaxRule struct {
	Inclusive  bool           `json:"inclusive"` // prices include the tax
	Components []TaxComponent `json:"components"`
}

// TaxComponent is one tax with its name. Components apply in their order.
type TaxComponent struct {
	Name        string `json:"name"`
	BasisPoints int64  `json:"basisPoints"` // 1600 = 16 %
	Compound    bool   `json:"compound"`    // applies to the net plus the components before it
}

// OrganizationCreated records a new tenant.
type OrganizationCreated struct {
	OrgID     id.Organization `json:"orgId"`
	Slug      string          `json:"slug"` // DNS label; never changes
	Name      string          `json:"name"`
	Billing   BillingSettings `json:"billing"`
	CreatedAt time.Time       `json:"createdAt"`
}

// OrganizationRenamed records a new display name; the slug stays.
type OrganizationRenamed struct {
	OrgID id.Organization `json:"orgId"`
	Name  string          `json:"name"`
}

// BillingSettingsAdopted records all billing settings that apply from now on. Issued invoices stay as they are.
type BillingSettingsAdopted struct {
	OrgID   id.Organization `json:"orgId"`
	Billing BillingSettings `json:"billing"`
	// PrefixTakenAt is when the organization took an invoice prefix that it did not hold; zero = it took none.
	PrefixTakenAt time.Time `json:"prefixTakenAt,omitzero"`
}

// InvoicePrefixReleased records that the organization gives up an invoice prefix that it used before: no open invoice
// has it any more, and another organization may take it.
type InvoicePrefixReleased struct {
	OrgID  id.Organization `json:"orgId"`
	Prefix string          `json:"prefix"`
}

// AdministratorSeated records that a user counts as an administrator of the organization. The last one cannot leave
// (docs/rules/identity.md#last-administrator).
type AdministratorSeated struct {
	OrgID  id.Organization `json:"orgId"`
	UserID id.User         `json:"userId"`
}

// AdministratorReleased records that a user stops to count as an administrator. The user's own event follows: another
// role, or the end of the access.
type AdministratorReleased struct {
	OrgID  id.Organization `json:"orgId"`
	UserID id.User         `json:"userId"`
	At     time.Time       `json:"at,omitzero"` // zero in old events
}

// OrganizationLogoChosen records the picture that stands on the organization's documents from now on. Its bytes are
// kept apart, under the hash.
type OrganizationLogoChosen struct {
	OrgID  id.Organization `json:"orgId"`
	Digest string          `json:"digest"` // SHA-256 of the picture, in hexadecimal digits
}

// OrganizationLogoRemoved records that documents have no picture any more.
type OrganizationLogoRemoved struct {
	OrgID id.Organization `json:"orgId"`
}

// SecondFactorRequired records that the staff of the organization needs a second factor: whoever has none may do
// nothing but enrol one.
type SecondFactorRequired struct {
	OrgID id.Organization `json:"orgId"`
}

// SecondFactorMadeOptional ends a SecondFactorRequired. Those that are enrolled stay.
type SecondFactorMadeOptional struct {
	OrgID id.Organization `json:"orgId"`
}

// ApprovalLimitSet records how much one member of the staff may give away on a day before a second person has to agree
// (docs/rules/approvals.md#the-limit).
type ApprovalLimitSet struct {
	OrgID id.Organization `json:"orgId"`
	Limit money.Amount    `json:"limit"` // zero = everything needs a second person
}

// ApprovalLimitRemoved records that nothing needs a second person any more.
type ApprovalLimitRemoved struct {
	OrgID id.Organization `json:"orgId"`
}

// OrganizationSuspended records that no member of the organization may sign in or act.
type OrganizationSuspended struct {
	OrgID  id.Organization `json:"orgId"`
	Reason string          `json:"reason"`
}

// OrganizationResumed ends a suspension.
type OrganizationResumed struct {
	OrgID  id.Organization `json:"orgId"`
	Reason string          `json:"reason"`
}

func (OrganizationCreated) EventType() string       { return "identity.OrganizationCreated.v1" }
func (OrganizationRenamed) EventType() string       { return "identity.OrganizationRenamed.v1" }
func (BillingSettingsAdopted) EventType() string    { return "identity.BillingSettingsAdopted.v1" }
func (InvoicePrefixReleased) EventType() string     { return "identity.InvoicePrefixReleased.v1" }
func (AdministratorSeated) EventType() string       { return "identity.AdministratorSeated.v1" }
func (AdministratorReleased) EventType() string     { return "identity.AdministratorReleased.v1" }
func (OrganizationLogoChosen) EventType() string    { return "identity.OrganizationLogoChosen.v1" }
func (OrganizationLogoRemoved) EventType() string   { return "identity.OrganizationLogoRemoved.v1" }
func (SecondFactorRequired) EventType() string      { return "identity.SecondFactorRequired.v1" }
func (SecondFactorMadeOptional) EventType() string  { return "identity.SecondFactorMadeOptional.v1" }
func (ApprovalLimitSet) EventType() string          { return "identity.ApprovalLimitSet.v1" }
func (ApprovalLimitRemoved) EventType() string      { return "identity.ApprovalLimitRemoved.v1" }
func (OrganizationSuspended) EventType() string     { return "identity.OrganizationSuspended.v1" }
func (OrganizationResumed) EventType() string       { return "identity.OrganizationResumed.v1" }
func (OrganizationCreated) organizationEvent()      {}
func (OrganizationRenamed) organizationEvent()      {}
func (BillingSettingsAdopted) organizationEvent()   {}
func (InvoicePrefixReleased) organizationEvent()    {}
func (AdministratorSeated) organizationEvent()      {}
func (AdministratorReleased) organizationEvent()    {}
func (OrganizationLogoChosen) organizationEvent()   {}
func (OrganizationLogoRemoved) organizationEvent()  {}
func (SecondFactorRequired) organizationEvent()     {}
func (SecondFactorMadeOptional) organizationEvent() {}
func (ApprovalLimitSet) organizationEvent()         {}
func (ApprovalLimitRemoved) organizationEvent()     {}
func (OrganizationSuspended) organizationEvent()    {}
func (OrganizationResumed) organizationEvent()      {}
