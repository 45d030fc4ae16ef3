package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// UserEvent is an event of "user-<id>": the record that one organization keeps of a person, or an administrator of the
// platform. Records of one address stay apart until the address is proven (docs/rules/identity.md#proven-addresses).
//
//sumtype:decl
type UserEvent interface {
	Event
	userEvent()
}

// Role decides what a user may do in an organization. Source: docs/rules/identity.md#roles.
type Role string

// The roles, from most to least rights.
const (
	RoleSuperAdmin Role = "super_admin"
	RoleAdmin      Role = "admin"
	RoleSupport    Role = "support"
	RoleSubscriber Role = "subscriber"
)

// rank orders the roles; an unknown role has rank 0, below all others.
var rank = map[Role]int{RoleSuperAdmin: 4, RoleAdmin: 3, RoleSupport: 2, RoleSubscriber: 1}

// Texts lists the roles, from most to least rights.
func (Role) Texts() []string {
	return []string{string(RoleSuperAdmin), string(RoleAdmin), string(RoleSupport), string(RoleSubscriber)}
}

// Known reports whether it is one of the four roles.
func (r Role) Known() bool { return rank[r] > 0 }

// AtLeast reports whether the role has all rights of another one; false for an unknown role.
func (r Role) AtLeast(other Role) bool { return r.Known() && rank[r] >= rank[other] }

// TemporaryPasswordTTL is how long a password works that an administrator gave, unless its owner chooses another one
// before (docs/rules/identity.md#temporary-passwords). It counts for recorded events, too.
const TemporaryPasswordTTL = 30 * 24 * time.Hour

// UserRegistered records a person who can sign in. The subject of the personal fields is the user.
type UserRegistered struct {
	UserID             id.User       `json:"userId"`
	Email              personal.Text `json:"email"` // lower case
	Phone              personal.Text `json:"phone"` // E.164
	FirstName          personal.Text `json:"firstName"`
	LastName           personal.Text `json:"lastName"`
	MustChangePassword bool          `json:"mustChangePassword"`
	SuperAdmin         bool          `json:"superAdmin"`
	RegisteredAt       time.Time     `json:"registeredAt"`
}

// TemporaryUntil is the end of the password that the user was registered with; zero when it has none.
func (e UserRegistered) TemporaryUntil() time.Time {
	if !e.MustChangePassword {
		return time.Time{}
	}
	return e.RegisteredAt.Add(TemporaryPasswordTTL)
}

// AddressKeptApart records that the address of a user is unproven: record, name and password exist for the host of the
// organization that registered the user, and the address is unique within that organization only. Users that were
// registered before this event existed had their address on the whole platform; they get it when the program starts.
type AddressKeptApart struct {
	UserID id.User         `json:"userId"`
	OrgID  id.Organization `json:"orgId"` // that registered the user
}

// AddressProven records that the person read a code sent to the address, and chose a password. All records of the
// address have the same person, which is the first record that was proven; the vault keeps the password under its id.
type AddressProven struct {
	UserID   id.User   `json:"userId"`
	PersonID id.User   `json:"personId"`
	At       time.Time `json:"at"`
}

// UserDetailsCorrected records the name and the phone that apply from now on, all of them.
type UserDetailsCorrected struct {
	UserID    id.User       `json:"userId"`
	Phone     personal.Text `json:"phone"`
	FirstName personal.Text `json:"firstName"`
	LastName  personal.Text `json:"lastName"`
	// At is when somebody else corrected them; zero for who corrected their own, and in old events.
	At time.Time `json:"at,omitzero"`
}

// MembershipGranted records that a user may act in an organization. The first one of a user is that of the organization
// that registered the user. Others were recorded when one user could belong to several organizations: they count only
// after the address is proven, and a pending one only after the user accepted it as well. The personal fields are those
// that the organization gave, and can differ from the user's own.
type MembershipGranted struct {
	UserID    id.User         `json:"userId"`
	OrgID     id.Organization `json:"orgId"`
	Role      Role            `json:"role"`
	Pending   bool            `json:"pending"`
	Email     personal.Text   `json:"email"`
	Phone     personal.Text   `json:"phone"`
	FirstName personal.Text   `json:"firstName"`
	LastName  personal.Text   `json:"lastName"`
	At        time.Time       `json:"at"`
}

// MembershipDetailsCorrected records new details of a pending member for this organization only. The user's own details
// stay as they are.
type MembershipDetailsCorrected struct {
	UserID    id.User         `json:"userId"`
	OrgID     id.Organization `json:"orgId"`
	Phone     personal.Text   `json:"phone"`
	FirstName personal.Text   `json:"firstName"`
	LastName  personal.Text   `json:"lastName"`
}

// MembershipAccepted records that the user accepted the membership, which is no longer pending.
type MembershipAccepted struct {
	UserID id.User         `json:"userId"`
	OrgID  id.Organization `json:"orgId"`
}

// MembershipRoleAssigned records another role in the organization.
type MembershipRoleAssigned struct {
	UserID id.User         `json:"userId"`
	OrgID  id.Organization `json:"orgId"`
	Role   Role            `json:"role"`
	At     time.Time       `json:"at,omitzero"` // zero in old events
}

// MembershipDisabled records that the user may not act in the organization any more, from this moment on.
type MembershipDisabled struct {
	UserID id.User         `json:"userId"`
	OrgID  id.Organization `json:"orgId"`
	Reason personal.Text   `json:"reason"`
}

// MembershipEnabled ends a MembershipDisabled.
type MembershipEnabled struct {
	UserID id.User         `json:"userId"`
	OrgID  id.Organization `json:"orgId"`
	At     time.Time       `json:"at,omitzero"` // zero in old events
}

// PortalAccessGiven records that the user, whose role at the organization is subscriber, sees from now on what is this
// subscriber's.
type PortalAccessGiven struct {
	UserID       id.User         `json:"userId"`
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	At           time.Time       `json:"at"`
}

// PortalAccessEnded ends a PortalAccessGiven. A user who has lost the last subscriber does not sign in any more.
type PortalAccessEnded struct {
	UserID       id.User         `json:"userId"`
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	At           time.Time       `json:"at"`
}

// PasswordChanged records that the user chose a password; the vault has its hash.
type PasswordChanged struct {
	UserID id.User   `json:"userId"`
	At     time.Time `json:"at"`
}

// TemporaryPasswordGiven records that an administrator replaced a password that the user has lost; the vault has the
// hash. The user must choose another one at the next sign-in.
type TemporaryPasswordGiven struct {
	UserID id.User         `json:"userId"`
	OrgID  id.Organization `json:"orgId"` // of the administrator
	At     time.Time       `json:"at"`
}

// Until is the end of the password.
func (e TemporaryPasswordGiven) Until() time.Time { return e.At.Add(TemporaryPasswordTTL) }

// LoginEmailChanged records the e-mail address with which the user signs in from now on. The person has read a code
// sent to the address of before and another one sent to this address.
type LoginEmailChanged struct {
	UserID id.User       `json:"userId"`
	Email  personal.Text `json:"email"` // lower case
	At     time.Time     `json:"at"`
}

// LoginPhoneChanged records the phone that the person has chosen, by a code sent to an address of before and another
// one sent to this phone.
type LoginPhoneChanged struct {
	UserID id.User       `json:"userId"`
	Phone  personal.Text `json:"phone"` // E.164
	// Proven is true for a person whose e-mail address was proven before: the phone opens that person's user.
	Proven bool      `json:"proven"`
	At     time.Time `json:"at"`
}

// SecondFactorEnrolled records that nobody signs in as the user without a code of a device from now on. The vault has
// the secret of the codes and what is stored of the recovery codes.
type SecondFactorEnrolled struct {
	UserID   id.User         `json:"userId"`
	FactorID id.SecondFactor `json:"factorId"`
	At       time.Time       `json:"at"`
}

// RecoveryCodeUsed records that a recovery code stood in for the device. Each is good for one use.
type RecoveryCodeUsed struct {
	UserID   id.User         `json:"userId"`
	FactorID id.SecondFactor `json:"factorId"`
	Left     int             `json:"left"` // how many the user has after this one
	At       time.Time       `json:"at"`
}

// SecondFactorRemoved records that the user has no second factor any more.
type SecondFactorRemoved struct {
	UserID   id.User         `json:"userId"`
	FactorID id.SecondFactor `json:"factorId"`
	// OrgID is the organization whose administrator removed it; null: the user did, or the operator for an
	// administrator of the platform.
	OrgID  id.Organization `json:"orgId"`
	Reason personal.Text   `json:"reason"` // empty when the user removed it
	At     time.Time       `json:"at"`
}

func (UserRegistered) EventType() string       { return "identity.UserRegistered.v1" }
func (AddressKeptApart) EventType() string     { return "identity.AddressKeptApart.v1" }
func (AddressProven) EventType() string        { return "identity.AddressProven.v1" }
func (UserDetailsCorrected) EventType() string { return "identity.UserDetailsCorrected.v1" }
func (MembershipGranted) EventType() string    { return "identity.MembershipGranted.v1" }
func (MembershipDetailsCorrected) EventType() string {
	return "identity.MembershipDetailsCorrected.v1"
}
func (MembershipAccepted) EventType() string     { return "identity.MembershipAccepted.v1" }
func (MembershipRoleAssigned) EventType() string { return "identity.MembershipRoleAssigned.v1" }
func (MembershipDisabled) EventType() string     { return "identity.MembershipDisabled.v2" }
func (MembershipEnabled) EventType() string      { return "identity.MembershipEnabled.v1" }
func (PasswordChanged) EventType() string        { return "identity.PasswordChanged.v1" }

func (TemporaryPasswordGiven) EventType() string { return "identity.TemporaryPasswordGiven.v1" }
func (PortalAccessGiven) EventType() string      { return "identity.PortalAccessGiven.v1" }
func (PortalAccessEnded) EventType() string      { return "identity.PortalAccessEnded.v1" }

func (LoginEmailChanged) EventType() string    { return "identity.LoginEmailChanged.v1" }
func (LoginPhoneChanged) EventType() string    { return "identity.LoginPhoneChanged.v1" }
func (SecondFactorEnrolled) EventType() string { return "identity.SecondFactorEnrolled.v1" }
func (RecoveryCodeUsed) EventType() string     { return "identity.RecoveryCodeUsed.v1" }
func (SecondFactorRemoved) EventType() string  { return "identity.SecondFactorRemoved.v1" }

func (LoginEmailChanged) userEvent()          {}
func (LoginPhoneChanged) userEvent()          {}
func (SecondFactorEnrolled) userEvent()       {}
func (RecoveryCodeUsed) userEvent()           {}
func (SecondFactorRemoved) userEvent()        {}
func (UserRegistered) userEvent()             {}
func (AddressKeptApart) userEvent()           {}
func (AddressProven) userEvent()              {}
func (UserDetailsCorrected) userEvent()       {}
func (MembershipGranted) userEvent()          {}
func (MembershipDetailsCorrected) userEvent() {}
func (MembershipAccepted) userEvent()         {}
func (MembershipRoleAssigned) userEvent()     {}
func (MembershipDisabled) userEvent()         {}
func (MembershipEnabled) userEvent()          {}
func (PasswordChanged) userEvent()            {}
func (TemporaryPasswordGiven) userEvent()     {}
func (PortalAccessGiven) userEvent()          {}
func (PortalAccessEnded) userEvent()          {}

func (e UserRegistered) PersonalSubject() uuid.UUID             { return e.UserID.UUID() }
func (e UserDetailsCorrected) PersonalSubject() uuid.UUID       { return e.UserID.UUID() }
func (e MembershipDetailsCorrected) PersonalSubject() uuid.UUID { return e.UserID.UUID() }
func (e MembershipGranted) PersonalSubject() uuid.UUID          { return e.UserID.UUID() }
func (e MembershipDisabled) PersonalSubject() uuid.UUID         { return e.UserID.UUID() }

func (e LoginEmailChanged) PersonalSubject() uuid.UUID   { return e.UserID.UUID() }
func (e LoginPhoneChanged) PersonalSubject() uuid.UUID   { return e.UserID.UUID() }
func (e SecondFactorRemoved) PersonalSubject() uuid.UUID { return e.UserID.UUID() }

func (MembershipDisabled) remark()  {}
func (SecondFactorRemoved) remark() {}
