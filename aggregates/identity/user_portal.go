package identity

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// maxPortal bounds the subscribers of one user: somebody who pays for a whole street. Each request has them in memory.
const maxPortal = 100

// byPhone reports whether the user signs in with a phone alone.
func (s User) byPhone() bool { return s.Email.IsZero() && !s.Phone.IsZero() }

// claimsPhone claims the phone of a user who signs in with it, within the organization. The phones of others are
// contacts, of which several users can have one.
func (s User) claimsPhone() []commands.Claim {
	if !s.byPhone() || !s.Apart {
		return nil
	}
	return []commands.Claim{{
		Kind: "organization_phone", Value: s.Home.String() + " " + s.Phone.Reveal(), Code: "already_member",
		Message: "This user belongs to the organization already.",
	}}
}

// SeesNothing reports whether the user was a customer of the portal at an organization and has lost the last
// subscriber: then no sign-in opens anything.
func (s User) SeesNothing(org id.Organization) bool {
	m, ok := s.Memberships[org]
	return ok && m.Role == events.RoleSubscriber && s.Lapsed
}

// seeing applies what gives a subscriber or takes one away.
func (s User) seeing(e events.UserEvent) User {
	copied := maps.Clone(s.Portal)
	if copied == nil {
		copied = map[id.Subscriber]id.Organization{}
	}
	switch e := e.(type) {
	case events.PortalAccessGiven:
		copied[e.SubscriberID] = e.OrgID
	case events.PortalAccessEnded:
		delete(copied, e.SubscriberID)
	default: // no other event comes here
	}
	s.Portal, s.Lapsed = copied, len(copied) == 0
	return s
}

// decideGivePortalAccess also registers a user who is not known yet. Staff keep their sign-in to themselves: one user
// has one role, and what a person may as staff must not hang on what they pay as a customer.
func decideGivePortalAccess(s User, c commands.GivePortalAccess, now time.Time) ([]events.UserEvent, error) {
	given := events.PortalAccessGiven{UserID: c.UserID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, At: now}
	if s.ID.IsZero() {
		made, err := decideRegisterUser(s, commands.RegisterUser{
			UserID: c.UserID, Email: c.Email, Phone: c.Phone, FirstName: c.FirstName, LastName: c.LastName,
			OrgID: c.OrgID, Role: events.RoleSubscriber,
		}, now)
		return append(made, given), err
	}
	m, ok := s.MemberAt(c.OrgID)
	switch {
	case s.Forgotten, !ok, s.SuperAdmin, !s.Email.Equal(c.Email), s.byPhone() && !s.Phone.Equal(c.Phone):
		return nil, commands.ErrNoUser()
	case m.Role != events.RoleSubscriber:
		return nil, commands.ErrStaffAddress()
	case m.Disabled:
		return nil, failure.NewConflict("user_disabled",
			"The sign-in with this address is disabled. An administrator can give it access again.")
	case s.Portal[c.SubscriberID] == c.OrgID:
		return nil, nil
	case len(s.Portal) >= maxPortal:
		return nil, failure.NewConflict("too_many_subscribers",
			"This sign-in sees %d subscribers, and no sign-in sees more.", maxPortal)
	}
	return []events.UserEvent{given}, nil
}

// decideEndPortalAccess takes one subscriber away, and forgets a user of whom nothing else is left when that is asked
// for.
func decideEndPortalAccess(s User, c commands.EndPortalAccess, now time.Time) []events.UserEvent {
	if s.Portal[c.SubscriberID] != c.OrgID || c.OrgID.IsZero() {
		return nil
	}
	made := []events.UserEvent{events.PortalAccessEnded{
		UserID: s.ID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, At: now,
	}}
	if c.Forget && len(s.Portal) == 1 && s.CodesOnly && len(s.Memberships) == 1 {
		made = append(made, events.UserForgotten{
			UserID: s.ID, Reason: "the only subscriber of this sign-in is forgotten",
		})
	}
	return made
}

// endPortal takes all subscribers of an organization away, in the order of their ids.
func (s User) endPortal(org id.Organization, now time.Time) []events.UserEvent {
	var made []events.UserEvent
	sorted := slices.SortedFunc(maps.Keys(s.Portal), func(a, b id.Subscriber) int { return bytes.Compare(a[:], b[:]) })
	for _, subscriber := range sorted {
		if s.Portal[subscriber] == org {
			made = append(made, events.PortalAccessEnded{UserID: s.ID, OrgID: org, SubscriberID: subscriber, At: now})
		}
	}
	return made
}

// keepsSignIn refuses to change the phone with which a user signs in: whoever has the new one would see all that the
// user sees. It also refuses to make staff of somebody without an e-mail address, whom no password could ever let in.
func (s User) keepsSignIn(c commands.CorrectUser) error {
	if !s.byPhone() {
		return nil
	}
	if c.Phone != nil && !c.Phone.Equal(s.Phone) {
		return failure.NewConflict("phone_is_sign_in",
			"This person signs in with the phone. Give the new phone access to the portal, and take it from this one.")
	}
	if c.Role != nil && *c.Role != events.RoleSubscriber {
		return failure.NewConflict("staff_need_email",
			"This person signs in with a phone alone. Add them with an e-mail address as staff.")
	}
	return nil
}
