package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// UserEvent is an event of "user-<id>". Users are global, memberships are per organization
// (docs/rules/identity.md#memberships).
//
//sumtype:decl
type UserEvent interface {
	Event
	userEvent()
}

// Role is what a user may do in an organization. Source: docs/rules/identity.md#roles.
type Role string

// The roles, highest first.
const (
	RoleSuperAdmin Role = "super_admin"
	RoleAdmin      Role = "admin"
	RoleSupport    Role = "support"
	RoleSubscriber Role = "subscriber"
)

// rank orders the roles; an unknown one is below all.
var rank = map[Role]int{RoleSuperAdmin: 4, RoleAdmin: 3, RoleSupport: 2, RoleSubscriber: 1}

// Known tells whether it is one of the four.
func (r Role) Known() bool { return rank[r] > 0 }

// AtLeast tells whether the role includes another.
func (r Role) AtLeast(other Role) bool { return r.Known() && rank[r] >= rank[other] }

// UserRegistered records a person who can sign in. Subject of the personal fields: the user's id.
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

// UserDetailsCorrected records name and phone that hold from now on, whole.
type UserDetailsCorrected struct {
	UserID    id.User       `json:"userId"`
	Phone     personal.Text `json:"phone"`
	FirstName personal.Text `json:"firstName"`
	LastName  personal.Text `json:"lastName"`
}

// MembershipGranted records that a user may act in an organization; pending until the user accepts it. The personal
// fields are what the organization knows of the user, whatever the user is called elsewhere.
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

// MembershipDetailsCorrected records what the organization calls a user who has not accepted the membership yet; the
// user's own details stay as they are.
type MembershipDetailsCorrected struct {
	UserID    id.User         `json:"userId"`
	OrgID     id.Organization `json:"orgId"`
	Phone     personal.Text   `json:"phone"`
	FirstName personal.Text   `json:"firstName"`
	LastName  personal.Text   `json:"lastName"`
}

// MembershipAccepted ends the pending state.
type MembershipAccepted struct {
	UserID id.User         `json:"userId"`
	OrgID  id.Organization `json:"orgId"`
}

// MembershipRoleAssigned records another role in the organization.
type MembershipRoleAssigned struct {
	UserID id.User         `json:"userId"`
	OrgID  id.Organization `json:"orgId"`
	Role   Role            `json:"role"`
}

// MembershipDisabled records that the user may no longer act in the organization; at once.
type MembershipDisabled struct {
	UserID id.User         `json:"userId"`
	OrgID  id.Organization `json:"orgId"`
	Reason string          `json:"reason"`
}

// MembershipEnabled undoes MembershipDisabled.
type MembershipEnabled struct {
	UserID id.User         `json:"userId"`
	OrgID  id.Organization `json:"orgId"`
}

// PasswordChanged records that the user chose a password; the hash is in the vault.
type PasswordChanged struct {
	UserID id.User   `json:"userId"`
	At     time.Time `json:"at"`
}

func (UserRegistered) EventType() string       { return "identity.UserRegistered.v1" }
func (UserDetailsCorrected) EventType() string { return "identity.UserDetailsCorrected.v1" }
func (MembershipGranted) EventType() string    { return "identity.MembershipGranted.v1" }
func (MembershipDetailsCorrected) EventType() string {
	return "identity.MembershipDetailsCorrected.v1"
}
func (MembershipAccepted) EventType() string     { return "identity.MembershipAccepted.v1" }
func (MembershipRoleAssigned) EventType() string { return "identity.MembershipRoleAssigned.v1" }
func (MembershipDisabled) EventType() string     { return "identity.MembershipDisabled.v1" }
func (MembershipEnabled) EventType() string      { return "identity.MembershipEnabled.v1" }
func (PasswordChanged) EventType() string        { return "identity.PasswordChanged.v1" }

func (UserRegistered) userEvent()             {}
func (UserDetailsCorrected) userEvent()       {}
func (MembershipGranted) userEvent()          {}
func (MembershipDetailsCorrected) userEvent() {}
func (MembershipAccepted) userEvent()         {}
func (MembershipRoleAssigned) userEvent()     {}
func (MembershipDisabled) userEvent()         {}
func (MembershipEnabled) userEvent()          {}
func (PasswordChanged) userEvent()            {}

// PersonalSubject is the user.
func (e UserRegistered) PersonalSubject() uuid.UUID { return e.UserID.UUID() }

// PersonalSubject is the user.
func (e UserDetailsCorrected) PersonalSubject() uuid.UUID { return e.UserID.UUID() }

// PersonalSubject is the user.
func (e MembershipDetailsCorrected) PersonalSubject() uuid.UUID { return e.UserID.UUID() }

// PersonalSubject is the user.
func (e MembershipGranted) PersonalSubject() uuid.UUID { return e.UserID.UUID() }
