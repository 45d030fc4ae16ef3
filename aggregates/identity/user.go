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

// Users defines the people who can sign in. A user can belong to several organizations, so no organization owns one.
func Users() aggregates.Definition[User, commands.UserCommand, events.UserEvent] {
	return aggregates.Definition[User, commands.UserCommand, events.UserEvent]{
		Category: commands.UserCategory, Missing: commands.ErrNoUser, Evolve: evolveUser, Decide: decideUser,
		Owner:  ownerUser,
		Claims: claimsUser,
		Commands: []commands.UserCommand{
			commands.RegisterUser{}, commands.GrantMembership{}, commands.AcceptMembership{}, commands.CorrectUser{},
			commands.DisableMember{}, commands.EnableMember{}, commands.RecordPasswordChange{},
		},
	}
}

// User is a person who can sign in. The zero value is "does not exist".
type User struct {
	ID          id.User
	Email       personal.Text
	Phone       personal.Text
	FirstName   personal.Text
	LastName    personal.Text
	SuperAdmin  bool
	Forgotten   bool
	Memberships map[id.Organization]Membership
}

// Membership is the role of a user in one organization. Phone and names are those under which the organization added a
// pending member.
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
			SuperAdmin: e.SuperAdmin,
		}
	case events.UserDetailsCorrected:
		s.Phone, s.FirstName, s.LastName = e.Phone, e.FirstName, e.LastName
	case events.MembershipGranted:
		return s.with(e.OrgID, Membership{
			Role: e.Role, Pending: e.Pending, Phone: e.Phone, FirstName: e.FirstName, LastName: e.LastName,
		})
	case events.MembershipDetailsCorrected:
		m := s.Memberships[e.OrgID]
		m.Phone, m.FirstName, m.LastName = e.Phone, e.FirstName, e.LastName
		return s.with(e.OrgID, m)
	case events.MembershipAccepted:
		m := s.Memberships[e.OrgID]
		m.Pending = false
		return s.with(e.OrgID, m)
	case events.MembershipRoleAssigned:
		m := s.Memberships[e.OrgID]
		m.Role = e.Role
		return s.with(e.OrgID, m)
	case events.MembershipDisabled:
		m := s.Memberships[e.OrgID]
		m.Disabled = true
		return s.with(e.OrgID, m)
	case events.MembershipEnabled:
		m := s.Memberships[e.OrgID]
		m.Disabled = false
		return s.with(e.OrgID, m)
	case events.UserForgotten:
		return forgotten(s)
	case events.PasswordChanged:
	}
	return s
}

// forgotten removes names, address and memberships. The empty e-mail address releases the claim on it.
func forgotten(s User) User {
	return User{ID: s.ID, Forgotten: true}
}

// with sets one membership in a copy of the map, because states share their maps.
func (s User) with(org id.Organization, m Membership) User {
	copied := make(map[id.Organization]Membership, len(s.Memberships)+1)
	maps.Copy(copied, s.Memberships)
	copied[org] = m
	s.Memberships = copied
	return s
}

// ownerUser is always zero: a user belongs to no single organization, so each decision checks the membership itself.
func ownerUser(User) id.Organization { return id.Organization{} }

// claimsUser claims the login e-mail address on the whole platform; a forgotten user has none.
func claimsUser(s User) []commands.Claim {
	if s.Email.Reveal() == "" {
		return nil
	}
	return []commands.Claim{
		{Kind: "login_email", Value: s.Email.Reveal(), Code: "email_taken", Message: "This e-mail address is in use."},
	}
}

// decideUser dispatches; every command but the first needs a user that is not forgotten.
func decideUser(s User, c commands.UserCommand, now time.Time) ([]events.UserEvent, error) {
	if register, ok := c.(commands.RegisterUser); ok {
		return decideRegisterUser(s, register, now)
	}
	if s.ID.IsZero() || s.Forgotten {
		return nil, commands.ErrNoUser()
	}
	switch c := c.(type) {
	case commands.RegisterUser:
	case commands.GrantMembership:
		return decideGrantMembership(s, c, now)
	case commands.AcceptMembership:
		m, ok := s.Memberships[c.OrgID]
		if !ok || m.Disabled {
			return nil, commands.ErrNoUser()
		}
		if !m.Pending {
			return nil, nil
		}
		return []events.UserEvent{events.MembershipAccepted{UserID: s.ID, OrgID: c.OrgID}}, nil
	case commands.CorrectUser:
		return decideCorrectUser(s, c)
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
		return []events.UserEvent{events.MembershipEnabled{UserID: s.ID, OrgID: c.OrgID}}, nil
	case commands.RecordPasswordChange:
		return []events.UserEvent{events.PasswordChanged{UserID: s.ID, At: now}}, nil
	}
	return nil, nil
}

// decideRegisterUser also grants the first membership when the command names an organization. It is not pending,
// because the organization created the login.
func decideRegisterUser(s User, c commands.RegisterUser, now time.Time) ([]events.UserEvent, error) {
	if !s.ID.IsZero() {
		return nil, failure.NewConflict("user_exists", "This user exists already.")
	}
	made := []events.UserEvent{events.UserRegistered{
		UserID: c.UserID, Email: c.Email, Phone: c.Phone, FirstName: c.FirstName, LastName: c.LastName,
		MustChangePassword: c.MustChangePassword, SuperAdmin: c.SuperAdmin, RegisteredAt: now,
	}}
	if !c.OrgID.IsZero() {
		made = append(made, events.MembershipGranted{
			UserID: c.UserID, OrgID: c.OrgID, Role: c.Role, Email: c.Email, Phone: c.Phone, FirstName: c.FirstName,
			LastName: c.LastName, At: now,
		})
	}
	return made, nil
}

// decideGrantMembership refuses a user who is a member already, also a pending or disabled one.
func decideGrantMembership(s User, c commands.GrantMembership, now time.Time) ([]events.UserEvent, error) {
	if _, member := s.Memberships[c.OrgID]; member {
		return nil, failure.NewConflict("already_member", "This user belongs to the organization already.")
	}
	return []events.UserEvent{events.MembershipGranted{
		UserID: s.ID, OrgID: c.OrgID, Role: c.Role, Pending: true, Email: s.Email, Phone: c.Phone,
		FirstName: c.FirstName, LastName: c.LastName, At: now,
	}}, nil
}

// details has the personal fields that can be corrected.
type details struct{ phone, first, last personal.Text }

// decideCorrectUser refuses to change the personal details of a person who belongs to other organizations too
// (docs/rules/identity.md#own-details). For a pending member only the details of this membership change; the answer
// looks the same, so that it does not reveal other memberships.
func decideCorrectUser(s User, c commands.CorrectUser) ([]events.UserEvent, error) {
	m, ok := s.Memberships[c.OrgID]
	if !ok {
		return nil, commands.ErrNoUser()
	}
	from := details{s.Phone, s.FirstName, s.LastName}
	if m.Pending {
		from = details{m.Phone, m.FirstName, m.LastName}
	}
	to := from.corrected(c)
	var made []events.UserEvent
	switch {
	case to.equal(from):
	case m.Pending:
		made = append(made, events.MembershipDetailsCorrected{
			UserID: s.ID, OrgID: c.OrgID, Phone: to.phone, FirstName: to.first, LastName: to.last,
		})
	case (len(s.Memberships) > 1 || s.SuperAdmin) && c.By != s.ID:
		return nil, failure.NewConflict("details_of_shared_user",
			"This person also belongs to another organization. Only the person can change these details.")
	default:
		made = append(made, events.UserDetailsCorrected{
			UserID: s.ID, Phone: to.phone, FirstName: to.first, LastName: to.last,
		})
	}
	if c.Role != nil && *c.Role != m.Role {
		if c.By == s.ID {
			return nil, failure.NewConflict("own_role", "You cannot change your own role. Ask another administrator.")
		}
		made = append(made, events.MembershipRoleAssigned{UserID: s.ID, OrgID: c.OrgID, Role: *c.Role})
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
	return []events.UserEvent{events.MembershipDisabled{UserID: s.ID, OrgID: c.OrgID, Reason: c.Reason}}, nil
}
