package identity

import (
	"maps"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Users defines the people who can sign in: each is the record of one organization, or an administrator of the
// platform.
func Users() aggregates.Definition[User, commands.UserCommand, events.UserEvent] {
	return aggregates.Definition[User, commands.UserCommand, events.UserEvent]{
		Category: commands.UserCategory, Missing: commands.ErrNoUser, Evolve: evolveUser, Decide: decideUser,
		Owner:  ownerUser,
		Claims: claimsUser,
		Commands: []commands.UserCommand{
			commands.RegisterUser{}, commands.KeepAddressApart{}, commands.ProveAddress{},
			commands.AcceptMembership{}, commands.CorrectUser{}, commands.DisableMember{}, commands.EnableMember{},
			commands.RecordPasswordChange{}, commands.GiveTemporaryPassword{}, commands.GivePortalAccess{},
			commands.EndPortalAccess{}, commands.ChangeLoginEmail{}, commands.ChangeLoginPhone{},
			commands.EnrolSecondFactor{}, commands.UseRecoveryCode{}, commands.RemoveSecondFactor{},
			commands.RemoveLostSecondFactor{},
		},
	}
}

// User is somebody who can sign in. The zero value is "does not exist".
type User struct {
	ID         id.User
	Email      personal.Text
	Phone      personal.Text
	FirstName  personal.Text
	LastName   personal.Text
	SuperAdmin bool
	Forgotten  bool
	// Home is the organization that registered the user; zero for an administrator of the platform.
	Home id.Organization
	// Apart is false for a user of before records were kept apart, who still holds the address on the whole platform.
	Apart bool
	// Person is the user that stands for the person of the address; zero while the address is unproven.
	Person id.User
	// Temporary is true while the password is one that an administrator gave.
	Temporary bool
	// TemporaryUntil is the end of such a password.
	TemporaryUntil time.Time
	// CodesOnly is true for somebody who never had a password: the portal's users.
	CodesOnly bool
	// Portal has the subscribers whose things the user sees, by the organization of each.
	Portal map[id.Subscriber]id.Organization
	// Lapsed is true while the user has lost the last subscriber: nobody signs in to see nothing.
	Lapsed bool
	// PhoneProven is true for a phone that a proven person has chosen by a code: it opens the user.
	PhoneProven bool
	// Opened is when somebody else last gave the user a seat, a role, a password, a phone, or a sign-in without the
	// second factor: until a while later, that other person may be the one who uses it.
	Opened time.Time
	// SecondFactor is asked for at every sign-in; zero = there is none.
	SecondFactor id.SecondFactor
	// Memberships are one, at Home. Users of before records were kept apart can have more.
	Memberships map[id.Organization]Membership
}

// MemberAt is the membership with which the user may enter an organization, if it is not pending or disabled. While the
// address is unproven, only the organization that registered the user has one: another one cannot know that this user
// is the person whom it invited (docs/rules/identity.md#proven-addresses).
func (s User) MemberAt(org id.Organization) (Membership, bool) {
	m, ok := s.Memberships[org]
	return m, ok && (s.Home == org || !s.Person.IsZero())
}

// PasswordOf is the user under whose id the vault has the password: all records of a proven person share one.
func (s User) PasswordOf() id.User {
	if !s.Person.IsZero() {
		return s.Person
	}
	return s.ID
}

// PasswordExpired reports whether the password is a temporary one whose time is over.
func (s User) PasswordExpired(now time.Time) bool {
	return s.Temporary && !now.Before(s.TemporaryUntil)
}

// Membership is the role of a user in one organization. Phone and names are those under which the organization knows
// the user.
type Membership struct {
	Role      events.Role
	Pending   bool
	Disabled  bool
	Phone     personal.Text
	FirstName personal.Text
	LastName  personal.Text
}

// evolveUser applies one recorded event.
func evolveUser(s User, e events.UserEvent) User {
	switch e := e.(type) {
	case events.UserRegistered:
		return User{
			ID: e.UserID, Email: e.Email, Phone: e.Phone, FirstName: e.FirstName, LastName: e.LastName,
			SuperAdmin: e.SuperAdmin, Temporary: e.MustChangePassword, TemporaryUntil: e.TemporaryUntil(),
			CodesOnly: !e.MustChangePassword && !e.SuperAdmin, Opened: e.RegisteredAt,
		}
	case events.AddressKeptApart:
		s.Apart = true
	case events.AddressProven:
		s.Person, s.Temporary, s.CodesOnly = e.PersonID, false, false
	case events.UserDetailsCorrected:
		if !s.Phone.Equal(e.Phone) {
			s.PhoneProven = false
			s = s.opened(e.At) // a code that is sent there opens the record
		}
		s.Phone, s.FirstName, s.LastName = e.Phone, e.FirstName, e.LastName
		for org, m := range s.Memberships {
			if !m.Pending {
				m.Phone, m.FirstName, m.LastName = e.Phone, e.FirstName, e.LastName
				s = s.with(org, m)
			}
		}
	case events.MembershipGranted:
		if len(s.Memberships) == 0 {
			s.Home = e.OrgID
		}
		return s.opened(e.At).with(e.OrgID, Membership{
			Role: e.Role, Pending: e.Pending, Phone: e.Phone, FirstName: e.FirstName, LastName: e.LastName,
		})
	case events.MembershipDetailsCorrected:
		return s.member(e.OrgID, func(m *Membership) {
			m.Phone, m.FirstName, m.LastName = e.Phone, e.FirstName, e.LastName
		})
	case events.MembershipAccepted:
		return s.member(e.OrgID, func(m *Membership) { m.Pending = false })
	case events.MembershipRoleAssigned:
		return s.opened(e.At).member(e.OrgID, func(m *Membership) { m.Role = e.Role })
	case events.MembershipDisabled:
		return s.member(e.OrgID, func(m *Membership) { m.Disabled = true })
	case events.MembershipEnabled:
		return s.opened(e.At).member(e.OrgID, func(m *Membership) { m.Disabled = false })
	case events.UserForgotten:
		return forgotten(s)
	case events.PasswordChanged:
		s.Temporary, s.CodesOnly = false, false
	case events.TemporaryPasswordGiven:
		s.Temporary, s.TemporaryUntil, s.CodesOnly = true, e.Until(), false
		return s.opened(e.At)
	case events.PortalAccessGiven, events.PortalAccessEnded:
		return s.seeing(e)
	case events.LoginEmailChanged, events.LoginPhoneChanged, events.SecondFactorEnrolled, events.SecondFactorRemoved:
		return evolveOwn(s, e)
	case events.RecoveryCodeUsed: // the vault knows which are left
	}
	return s
}

// opened notes when somebody else could enter. The clock can go back, the note does not.
func (s User) opened(at time.Time) User {
	if at.After(s.Opened) {
		s.Opened = at
	}
	return s
}

// forgotten removes names, address and memberships. The empty e-mail address releases the claim on it.
func forgotten(s User) User {
	return User{ID: s.ID, Forgotten: true}
}

// member edits what an organization knows of its user.
func (s User) member(org id.Organization, change func(*Membership)) User {
	m := s.Memberships[org]
	change(&m)
	return s.with(org, m)
}

// with sets one membership in a copy of the map, because states share their maps.
func (s User) with(org id.Organization, m Membership) User {
	copied := make(map[id.Organization]Membership, len(s.Memberships)+1)
	maps.Copy(copied, s.Memberships)
	copied[org] = m
	s.Memberships = copied
	return s
}

// ownerUser is the organization that registered the user. It is zero for administrators of the platform, and for users
// of before records were kept apart who belong to several organizations: there each decision checks the membership.
func ownerUser(s User) id.Organization {
	if len(s.Memberships) > 1 {
		return id.Organization{}
	}
	return s.Home
}

// claimsUser claims the login e-mail address: within its organization for an unproven user, so that nobody learns from
// a registration who is registered elsewhere, and on the whole platform for the user that stands for a proven person,
// for administrators of the platform, and for users of before records were kept apart. A phone that a person has proven
// is that person's on the whole platform. A forgotten user has no claim.
func claimsUser(s User) []commands.Claim {
	email := s.Email.Reveal()
	if email == "" {
		return s.claimsPhone()
	}
	whole := commands.Claim{
		Kind: "login_email", Value: email, Code: "email_taken", Message: "This e-mail address is in use.",
	}
	if s.SuperAdmin || !s.Apart {
		return []commands.Claim{whole}
	}
	claims := []commands.Claim{{
		Kind: "organization_email", Value: s.Home.String() + " " + email, Code: "already_member",
		Message: "This user belongs to the organization already.",
	}}
	if s.Person != s.ID {
		return claims
	}
	claims = append(claims, whole)
	if s.PhoneProven {
		claims = append(claims, commands.Claim{
			Kind: "login_phone", Value: s.Phone.Reveal(), Code: "phone_taken", Message: "This phone is in use.",
		})
	}
	return claims
}

// decideUser dispatches; every command but the two that register a user needs one that is not forgotten.
func decideUser(s User, c commands.UserCommand, now time.Time) ([]events.UserEvent, error) {
	switch c := c.(type) {
	case commands.RegisterUser:
		return decideRegisterUser(s, c, now)
	case commands.GivePortalAccess:
		return decideGivePortalAccess(s, c, now)
	default: // what needs a user who is there
	}
	if s.ID.IsZero() || s.Forgotten {
		return nil, commands.ErrNoUser()
	}
	switch c := c.(type) {
	case commands.RegisterUser, commands.GivePortalAccess: // above
	case commands.EndPortalAccess:
		return decideEndPortalAccess(s, c, now), nil
	case commands.KeepAddressApart:
		if s.Apart || s.SuperAdmin {
			return nil, nil
		}
		return []events.UserEvent{events.AddressKeptApart{UserID: s.ID, OrgID: s.Home}}, nil
	case commands.ProveAddress:
		return decideProveAddress(s, c, now)
	case commands.AcceptMembership:
		m, ok := s.MemberAt(c.OrgID)
		if !ok || m.Disabled {
			return nil, commands.ErrNoUser()
		}
		if !m.Pending {
			return nil, nil
		}
		return []events.UserEvent{events.MembershipAccepted{UserID: s.ID, OrgID: c.OrgID}}, nil
	case commands.CorrectUser:
		return decideCorrectUser(s, c, now)
	case commands.DisableMember:
		return decideDisableMember(s, c)
	case commands.EnableMember:
		m, ok := s.Memberships[c.OrgID]
		if !ok {
			return nil, commands.ErrNoUser()
		}
		if !m.Disabled {
			return nil, nil
		}
		return []events.UserEvent{events.MembershipEnabled{UserID: s.ID, OrgID: c.OrgID, At: now}}, nil
	case commands.RecordPasswordChange:
		if s.PasswordExpired(now) { // whoever proves it, as by a session of before, proves nothing any more
			return nil, commands.ErrPasswordExpired()
		}
		return []events.UserEvent{events.PasswordChanged{UserID: s.ID, At: now}}, nil
	case commands.GiveTemporaryPassword:
		return decideGiveTemporaryPassword(s, c, now)
	case commands.ChangeLoginEmail, commands.ChangeLoginPhone, commands.EnrolSecondFactor, commands.UseRecoveryCode,
		commands.RemoveSecondFactor, commands.RemoveLostSecondFactor:
		return decideOwn(s, c, now)
	}
	return nil, nil
}

// decideRegisterUser also grants the membership when the command names an organization. It is not pending, because the
// organization created the login, which is good at its own host only.
func decideRegisterUser(s User, c commands.RegisterUser, now time.Time) ([]events.UserEvent, error) {
	if !s.ID.IsZero() {
		return nil, failure.NewConflict("user_exists", "This user exists already.")
	}
	made := []events.UserEvent{events.UserRegistered{
		UserID: c.UserID, Email: c.Email, Phone: c.Phone, FirstName: c.FirstName, LastName: c.LastName,
		MustChangePassword: c.MustChangePassword, SuperAdmin: c.SuperAdmin, RegisteredAt: now,
	}}
	if !c.OrgID.IsZero() {
		made = append(made, events.AddressKeptApart{UserID: c.UserID, OrgID: c.OrgID}, events.MembershipGranted{
			UserID: c.UserID, OrgID: c.OrgID, Role: c.Role, Email: c.Email, Phone: c.Phone, FirstName: c.FirstName,
			LastName: c.LastName, At: now,
		})
	}
	return made, nil
}

// decideProveAddress joins the user to the person of the address. The claim of the address on the whole platform
// decides which of two users that are proven at once stands for the person. An administrator of the platform never
// becomes a person of organizations: the right to enter everywhere must not hang on a mailbox alone.
func decideProveAddress(s User, c commands.ProveAddress, now time.Time) ([]events.UserEvent, error) {
	switch {
	case s.SuperAdmin:
		return nil, failure.NewConflict("platform_user", "An administrator of the platform belongs to no organization.")
	case s.Person == c.PersonID:
		return nil, nil
	case !s.Person.IsZero():
		return nil, failure.NewConflict("other_person", "This user was proven to be another person.")
	}
	var made []events.UserEvent
	if !s.Apart {
		made = append(made, events.AddressKeptApart{UserID: s.ID, OrgID: s.Home})
	}
	return append(made, events.AddressProven{UserID: s.ID, PersonID: c.PersonID, At: now}), nil
}

// details has the personal fields that can be corrected.
type details struct{ phone, first, last personal.Text }

// decideCorrectUser refuses to change the details of a proven person for anybody but the person
// (docs/rules/identity.md#own-details). Of an unproven user with several memberships only the details of this
// membership change: the answer looks the same, so that it does not reveal the others, and nothing of another
// organization changes.
func decideCorrectUser(s User, c commands.CorrectUser, now time.Time) ([]events.UserEvent, error) {
	m, ok := s.Memberships[c.OrgID]
	if !ok {
		return nil, commands.ErrNoUser()
	}
	if err := s.keepsSignIn(c); err != nil {
		return nil, err
	}
	from := details{s.Phone, s.FirstName, s.LastName}
	own := c.By != s.ID && (m.Pending || s.Person.IsZero() && len(s.Memberships) > 1) // the organization's own view
	if own {
		from = details{m.Phone, m.FirstName, m.LastName}
	}
	to := from.corrected(c)
	var made []events.UserEvent
	switch {
	case to.equal(from):
	case own:
		made = append(made, events.MembershipDetailsCorrected{
			UserID: s.ID, OrgID: c.OrgID, Phone: to.phone, FirstName: to.first, LastName: to.last,
		})
	case !s.Person.IsZero() && c.By != s.ID:
		return nil, failure.NewConflict("details_of_person",
			"This person has proven the address. Only the person can change these details.")
	case !s.Person.IsZero() && !to.phone.Equal(from.phone):
		return nil, failure.NewConflict("phone_by_code",
			"Your phone is changed on the page of your account, by a code that is sent to it.")
	default:
		corrected := events.UserDetailsCorrected{
			UserID: s.ID, Phone: to.phone, FirstName: to.first, LastName: to.last,
		}
		if c.By != s.ID {
			corrected.At = now
		}
		made = append(made, corrected)
	}
	if c.Role != nil && *c.Role != m.Role {
		if c.By == s.ID {
			return nil, failure.NewConflict("own_role", "You cannot change your own role. Ask another administrator.")
		}
		made = append(made, s.endPortal(c.OrgID, now)...) // of a customer who becomes staff
		made = append(made, events.MembershipRoleAssigned{UserID: s.ID, OrgID: c.OrgID, Role: *c.Role, At: now})
	}
	return made, nil
}

// corrected replaces the fields that the command sets; nil fields stay.
func (d details) corrected(c commands.CorrectUser) details {
	for _, field := range []struct{ to, from *personal.Text }{
		{&d.phone, c.Phone}, {&d.first, c.FirstName}, {&d.last, c.LastName},
	} {
		if field.from != nil {
			*field.to = *field.from
		}
	}
	return d
}

// equal compares the plain texts, not their sealed forms.
func (d details) equal(other details) bool {
	return d.phone.Equal(other.phone) && d.first.Equal(other.first) && d.last.Equal(other.last)
}

// decideDisableMember refuses the caller's own account, so that an organization cannot lock itself out by mistake.
func decideDisableMember(s User, c commands.DisableMember) ([]events.UserEvent, error) {
	m, ok := s.Memberships[c.OrgID]
	switch {
	case !ok:
		return nil, commands.ErrNoUser()
	case m.Disabled:
		return nil, nil
	case c.By == s.ID:
		return nil, failure.NewConflict("own_account",
			"You cannot disable your own account. Ask another administrator.")
	}
	return []events.UserEvent{events.MembershipDisabled{UserID: s.ID, OrgID: c.OrgID, Reason: personal.Of(c.Reason)}},
		nil
}

// decideGiveTemporaryPassword lets an administrator replace a password that belongs to the organization alone. That of
// a proven person may be in use elsewhere, and so may that of a user of before records were kept apart who belongs to
// several organizations: those are changed by themselves only (docs/rules/identity.md#proven-addresses).
func decideGiveTemporaryPassword(
	s User, c commands.GiveTemporaryPassword, now time.Time,
) ([]events.UserEvent, error) {
	_, ok := s.MemberAt(c.OrgID)
	switch {
	case !ok:
		return nil, commands.ErrNoUser()
	case c.By == s.ID:
		return nil, failure.NewConflict("own_password", "Your own password is changed on the page of your account, "+
			"where you prove the present one. Another administrator can give you a new one.")
	case s.SuperAdmin || !s.Person.IsZero() || s.Home != c.OrgID || len(s.Memberships) > 1:
		return nil, failure.NewConflict("password_of_person", "This person has proven the address, so the password is "+
			"theirs alone: no administrator can replace it.")
	}
	return []events.UserEvent{events.TemporaryPasswordGiven{UserID: s.ID, OrgID: c.OrgID, At: now}}, nil
}
