package commands

import (
	"net/mail"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// UserCategory begins the names of the streams of users.
const UserCategory = "user"

// UserCommand is a command to "user-<id>".
//
//sumtype:decl
type UserCommand interface {
	Command
	userCommand()
}

// RegisterUser creates somebody who can sign in: with a membership at the host of OrgID alone, whoever else knows the
// address, or as an administrator of the platform. Fails: already_member (the organization has a user with the
// address), email_taken (for an administrator of the platform), user_exists.
type RegisterUser struct {
	UserID             id.User
	Email              personal.Text // as NormalizeEmail writes it
	Phone              personal.Text // E.164 or empty
	FirstName          personal.Text
	LastName           personal.Text
	MustChangePassword bool
	SuperAdmin         bool
	OrgID              id.Organization // zero for a super_admin
	Role               events.Role
}

// KeepAddressApart brings a user of before records were kept apart to its registering organization. Others stay as they
// are. Fails: user_not_found.
type KeepAddressApart struct{ UserID id.User }

// ProveAddress records that the person read a code sent to the user's address. PersonID is the user that stands for the
// person: the user itself, or the one with the same address that was proven before, which the caller has looked up. A
// proven user stays as it is. Fails: user_not_found, email_taken (another user stands for the person), other_person,
// platform_user.
type ProveAddress struct {
	UserID   id.User
	PersonID id.User
}

// AcceptMembership records that a proven person accepted a pending membership of before records were kept apart. Fails:
// user_not_found.
type AcceptMembership struct {
	UserID id.User
	OrgID  id.Organization
}

// CorrectUser changes name, phone and role of a member; nil fields stay. Fails: user_not_found, details_of_person,
// phone_by_code, own_role.
type CorrectUser struct {
	UserID    id.User
	OrgID     id.Organization
	By        id.User // the user who asks
	Phone     *personal.Text
	FirstName *personal.Text
	LastName  *personal.Text
	Role      *events.Role
}

// DisableMember ends a user's access to one organization at once. Fails: user_not_found, own_account.
type DisableMember struct {
	UserID id.User
	OrgID  id.Organization
	By     id.User
	Reason string
}

// EnableMember ends a DisableMember. Fails: user_not_found.
type EnableMember struct {
	UserID id.User
	OrgID  id.Organization
}

// RecordPasswordChange records that the user chose a password; the vault has its hash. Fails: user_not_found,
// temporary_password_expired.
type RecordPasswordChange struct{ UserID id.User }

// GiveTemporaryPassword records that an administrator replaced the lost password of a user of the organization; the
// vault has its hash. Fails: user_not_found, own_password, password_of_person.
type GiveTemporaryPassword struct {
	UserID id.User
	OrgID  id.Organization
	By     id.User
}

// GivePortalAccess lets whoever signs in with an address see what is a subscriber's. The address is an e-mail address
// or a phone, never both: each is a sign-in of its own, so that no act shows one of two people what is the other's. The
// user of the address is registered when there is none. Names are for a new user. Fails: already_member (the
// organization has another user with the address), user_not_found, staff_address, user_disabled, too_many_subscribers.
type GivePortalAccess struct {
	UserID       id.User
	OrgID        id.Organization
	SubscriberID id.Subscriber
	Email        personal.Text // as NormalizeEmail writes it; or empty
	Phone        personal.Text // E.164; or empty
	FirstName    personal.Text
	LastName     personal.Text
}

// EndPortalAccess takes one subscriber away from a user; it is no failure when the user has not got it. Forget is set
// when the subscriber is forgotten: then a user who never had a password and has no other subscriber is forgotten, too,
// since the names and the address are the subscriber's. Fails: user_not_found.
type EndPortalAccess struct {
	UserID       id.User
	OrgID        id.Organization
	SubscriberID id.Subscriber
	Forget       bool
}

func (RegisterUser) CommandName() string         { return "identity.RegisterUser" }
func (KeepAddressApart) CommandName() string     { return "identity.KeepAddressApart" }
func (ProveAddress) CommandName() string         { return "identity.ProveAddress" }
func (AcceptMembership) CommandName() string     { return "identity.AcceptMembership" }
func (CorrectUser) CommandName() string          { return "identity.CorrectUser" }
func (DisableMember) CommandName() string        { return "identity.DisableMember" }
func (EnableMember) CommandName() string         { return "identity.EnableMember" }
func (RecordPasswordChange) CommandName() string { return "identity.RecordPasswordChange" }

func (GiveTemporaryPassword) CommandName() string { return "identity.GiveTemporaryPassword" }
func (GivePortalAccess) CommandName() string      { return "identity.GivePortalAccess" }
func (EndPortalAccess) CommandName() string       { return "identity.EndPortalAccess" }

func (RegisterUser) userCommand()          {}
func (KeepAddressApart) userCommand()      {}
func (ProveAddress) userCommand()          {}
func (AcceptMembership) userCommand()      {}
func (CorrectUser) userCommand()           {}
func (DisableMember) userCommand()         {}
func (EnableMember) userCommand()          {}
func (RecordPasswordChange) userCommand()  {}
func (GiveTemporaryPassword) userCommand() {}
func (GivePortalAccess) userCommand()      {}
func (EndPortalAccess) userCommand()       {}

func (c RegisterUser) Target() Target          { return At(UserCategory, c.UserID) }
func (c KeepAddressApart) Target() Target      { return At(UserCategory, c.UserID) }
func (c ProveAddress) Target() Target          { return At(UserCategory, c.UserID) }
func (c AcceptMembership) Target() Target      { return At(UserCategory, c.UserID) }
func (c CorrectUser) Target() Target           { return At(UserCategory, c.UserID) }
func (c DisableMember) Target() Target         { return At(UserCategory, c.UserID) }
func (c EnableMember) Target() Target          { return At(UserCategory, c.UserID) }
func (c RecordPasswordChange) Target() Target  { return At(UserCategory, c.UserID) }
func (c GiveTemporaryPassword) Target() Target { return At(UserCategory, c.UserID) }
func (c GivePortalAccess) Target() Target      { return At(UserCategory, c.UserID) }
func (c EndPortalAccess) Target() Target       { return At(UserCategory, c.UserID) }

// NormalizeEmail is the form in which e-mail addresses are compared: lower case, without what nobody sees.
func NormalizeEmail(text string) string { return strings.ToLower(inputtext.Code(text)) }

// checkPhone requires a number as NormalizeContactPhone writes it, which a phone can have.
func checkPhone(f *failure.Faults, field, number string) {
	if fault := inputtext.PhoneFault(number); fault != "" {
		f.Add(field, "%s", fault)
	}
}

// Validate checks the form. A super_admin has no organization; every other user needs the role admin, support or
// subscriber.
func (c RegisterUser) Validate() error {
	var f failure.Faults
	checkEmail(&f, "email", c.Email.Reveal())
	if !c.Phone.IsZero() {
		checkPhone(&f, "phone", c.Phone.Reveal())
	}
	checkPersonName(&f, "firstName", c.FirstName.Reveal(), true)
	checkPersonName(&f, "lastName", c.LastName.Reveal(), false)
	if c.SuperAdmin {
		f.Check(c.OrgID.IsZero(), "role", "super_admin belongs to no organization")
	} else {
		checkStaffRole(&f, c.Role)
	}
	return f.Err()
}

func (KeepAddressApart) Validate() error { return nil }

// Validate requires the person.
func (c ProveAddress) Validate() error {
	var f failure.Faults
	f.Check(!c.PersonID.IsZero(), "personId", "is required")
	return f.Err()
}

func (AcceptMembership) Validate() error { return nil }

// Validate checks the form of the fields that are set.
func (c CorrectUser) Validate() error {
	var f failure.Faults
	if c.Phone != nil && !c.Phone.IsZero() {
		checkPhone(&f, "phone", c.Phone.Reveal())
	}
	if c.FirstName != nil {
		checkPersonName(&f, "firstName", c.FirstName.Reveal(), true)
	}
	if c.LastName != nil {
		checkPersonName(&f, "lastName", c.LastName.Reveal(), false)
	}
	if c.Role != nil {
		checkStaffRole(&f, *c.Role)
	}
	return f.Err()
}

func (c DisableMember) Validate() error      { return requireReason(c.Reason) }
func (EnableMember) Validate() error         { return nil }
func (RecordPasswordChange) Validate() error { return nil }

func (GiveTemporaryPassword) Validate() error { return nil }
func (EndPortalAccess) Validate() error       { return nil }

// Validate checks the form, and that there is one address.
func (c GivePortalAccess) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(c.Email.IsZero() != c.Phone.IsZero(), "email", "or phone is required, one of them")
	if !c.Email.IsZero() {
		checkEmail(&f, "email", c.Email.Reveal())
	}
	if !c.Phone.IsZero() {
		checkPhone(&f, "phone", c.Phone.Reveal())
	}
	checkPersonName(&f, "firstName", c.FirstName.Reveal(), true)
	checkPersonName(&f, "lastName", c.LastName.Reveal(), false)
	return f.Err()
}

// checkEmail requires a normalized address of at most 254 bytes.
func checkEmail(f *failure.Faults, field, text string) {
	a, err := mail.ParseAddress(text)
	f.Check(err == nil && a.Address == text && len(text) <= 254 && NormalizeEmail(text) == text, field,
		"must be an e-mail address")
}

// checkPersonName checks a part of a person's name, in bytes; required refuses an empty one.
func checkPersonName(f *failure.Faults, field, text string, required bool) {
	f.Check(!required || shows(text), field, "must not be empty")
	f.Check(len(text) <= 100, field, "must have at most 100 bytes")
	checkLine(f, field, text)
}

// checkStaffRole accepts the roles that an organization may give.
func checkStaffRole(f *failure.Faults, r events.Role) {
	f.Check(r == events.RoleAdmin || r == events.RoleSupport || r == events.RoleSubscriber, "role",
		"must be admin, support or subscriber")
}

// ErrPasswordExpired is the failure for whoever has a temporary password whose time is over.
func ErrPasswordExpired() error {
	return failure.NewUnauthenticated("temporary_password_expired",
		"This temporary password has expired. Ask an administrator of your organization for a new one.")
}

// ErrStaffAddress is the failure for an address with which somebody of the organization's own staff signs in.
func ErrStaffAddress() error {
	return failure.NewConflict("staff_address",
		"Somebody of your staff signs in with this address. Give the customer's portal another one.")
}

// ErrNoUser is the failure for a user who does not exist or is no member of the organization.
func ErrNoUser() error {
	return failure.NewNotFound("user_not_found", "There is no such user.")
}
