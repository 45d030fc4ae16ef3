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

// Users is the definition of users.
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

// Membership is what a user may do in one organization. The names are those that a pending member was added under.
type Membership struct {
	Role      events.Role
	Pending   bool
	Disabled  bool
	Phone     personal.Text
	FirstName personal.Text
	LastName  personal.Text
}

// evolveUser applies one recorded fact.
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

// forgotten is the user without a name and without access: a claim of the address is given back, the memberships end.
func forgotten(s User) User {
	return User{ID: s.ID, Forgotten: true}
}

// with is the user with one membership replaced; the map is copied, states are values.
func (s User) with(org id.Organization, m Membership) User {
	copied := make(map[id.Organization]Membership, len(s.Memberships)+1)
	maps.Copy(copied, s.Memberships)
	copied[org] = m
	s.Memberships = copied
	return s
}

// ownerUser is nobody: users are global, and each decision checks the membership itself.
func ownerUser(User) id.Organization { return id.Organization{} }

// claimsUser is the login e-mail.
func claimsUser(s User) []commands.Claim {
	if s.Email.Reveal() == "" {
		return nil
	}
	return []commands.Claim{
		{Kind: "login_email", Value: s.Email.Reveal(), Code: "email_taken", Message: "this e-mail address is in use"},
	}
}

// decideUser dispatches.
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

// decideRegisterUser makes the user with the first membership, which needs no acceptance: the account is made for it.
func decideRegisterUser(s User, c commands.RegisterUser, now time.Time) ([]events.UserEvent, error) {
	if !s.ID.IsZero() {
		return nil, failure.NewConflict("user_exists", "this user exists already")
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

// decideGrantMembership leaves an existing membership as it is.
func decideGrantMembership(s User, c commands.GrantMembership, now time.Time) ([]events.UserEvent, error) {
	if _, member := s.Memberships[c.OrgID]; member {
		return nil, failure.NewConflict("already_member", "this user belongs to the organization already")
	}
	return []events.UserEvent{events.MembershipGranted{
		UserID: s.ID, OrgID: c.OrgID, Role: c.Role, Pending: true, Email: s.Email, Phone: c.Phone,
		FirstName: c.FirstName, LastName: c.LastName, At: now,
	}}, nil
}

// details are what can be corrected about a user.
type details struct{ phone, first, last personal.Text }

// decideCorrectUser refuses to change personal details of somebody who belongs to other organizations too
// (docs/rules/identity.md#own-details). Of somebody who has not accepted yet only what this organization calls them is
// changed, which looks like any correction.
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
			"this person belongs to another organization too and changes these details alone")
	default:
		made = append(made, events.UserDetailsCorrected{
			UserID: s.ID, Phone: to.phone, FirstName: to.first, LastName: to.last,
		})
	}
	if c.Role != nil && *c.Role != m.Role {
		if c.By == s.ID {
			return nil, failure.NewConflict("own_role", "nobody changes their own role")
		}
		made = append(made, events.MembershipRoleAssigned{UserID: s.ID, OrgID: c.OrgID, Role: *c.Role})
	}
	return made, nil
}

// corrected is the details with what the command gives.
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

// equal compares what is revealed.
func (d details) equal(other details) bool {
	return d.phone.Equal(other.phone) && d.first.Equal(other.first) && d.last.Equal(other.last)
}

// decideDisableMember refuses one's own account, so that an organization cannot lock itself out by a slip.
func decideDisableMember(s User, c commands.DisableMember) ([]events.UserEvent, error) {
	m, ok := s.Memberships[c.OrgID]
	switch {
	case !ok:
		return nil, commands.ErrNoUser()
	case m.Disabled:
		return nil, nil
	case c.By == s.ID:
		return nil, failure.NewConflict("own_account", "nobody disables their own account")
	}
	return []events.UserEvent{events.MembershipDisabled{UserID: s.ID, OrgID: c.OrgID, Reason: c.Reason}}, nil
}
