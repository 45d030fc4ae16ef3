package identity

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// evolveOwn applies what concerns the own addresses and the second factor of a user.
func evolveOwn(s User, e events.UserEvent) User {
	switch e := e.(type) {
	case events.LoginEmailChanged:
		s.Email = e.Email
	case events.LoginPhoneChanged:
		s.Phone, s.PhoneProven = e.Phone, e.Proven
		for org, m := range s.Memberships {
			if !m.Pending {
				m.Phone = e.Phone
				s = s.with(org, m)
			}
		}
	case events.SecondFactorEnrolled:
		s.SecondFactor = e.FactorID
	case events.SecondFactorRemoved:
		s.SecondFactor = id.SecondFactor{}
		if !e.OrgID.IsZero() {
			s = s.opened(e.At)
		}
	default: // evolveUser has the others
	}
	return s
}

// decideOwn decides about the own addresses and the second factor of a user who exists.
func decideOwn(s User, c commands.UserCommand, now time.Time) ([]events.UserEvent, error) {
	switch c := c.(type) {
	case commands.ChangeLoginEmail:
		if s.Email.Equal(c.Email) {
			return nil, nil
		}
		return []events.UserEvent{events.LoginEmailChanged{UserID: s.ID, Email: c.Email, At: now}}, nil
	case commands.ChangeLoginPhone:
		proven := !s.Person.IsZero() // of anybody else the organization says who is behind a phone
		if s.Phone.Equal(c.Phone) && s.PhoneProven == proven {
			return nil, nil
		}
		return []events.UserEvent{events.LoginPhoneChanged{UserID: s.ID, Phone: c.Phone, Proven: proven, At: now}}, nil
	case commands.EnrolSecondFactor:
		switch s.SecondFactor {
		case c.FactorID:
			return nil, nil
		case id.SecondFactor{}:
			return []events.UserEvent{events.SecondFactorEnrolled{UserID: s.ID, FactorID: c.FactorID, At: now}}, nil
		}
		return nil, ErrSecondFactorEnrolled()
	case commands.UseRecoveryCode:
		if s.SecondFactor != c.FactorID || c.FactorID.IsZero() {
			return nil, commands.ErrNoSecondFactor()
		}
		return []events.UserEvent{events.RecoveryCodeUsed{
			UserID: s.ID, FactorID: c.FactorID, Left: c.Left, At: now,
		}}, nil
	case commands.RemoveSecondFactor:
		return removedFactor(s, id.Organization{}, "", now)
	case commands.RemoveLostSecondFactor:
		return decideRemoveLost(s, c, now)
	default: // decideUser has the others
		return nil, nil
	}
}

// ErrSecondFactorEnrolled is the failure for a user who has a second factor already.
func ErrSecondFactorEnrolled() error {
	return failure.NewConflict("second_factor_enrolled",
		"You have a second factor already. Remove it before you set up another one.")
}

// decideRemoveLost lets an administrator take off a second factor that the organization's record alone has. That of a
// user of before records were kept apart who belongs to several organizations guards the others, too
// (docs/rules/identity.md#lost-devices).
func decideRemoveLost(s User, c commands.RemoveLostSecondFactor, now time.Time) ([]events.UserEvent, error) {
	_, member := s.MemberAt(c.OrgID)
	switch {
	case c.OrgID.IsZero() && !s.SuperAdmin, !c.OrgID.IsZero() && !member:
		return nil, commands.ErrNoUser()
	case !c.By.IsZero() && c.By == s.ID:
		return nil, failure.NewConflict("own_second_factor",
			"Your own second factor is removed on the page of your account, with your password and a code.")
	case s.Home != c.OrgID || len(s.Memberships) > 1:
		return nil, failure.NewConflict("second_factor_of_person",
			"This person's second factor guards other organizations, too. Only the person can remove it.")
	}
	return removedFactor(s, c.OrgID, c.Reason, now)
}

// removedFactor takes the second factor off. Fails: second_factor_missing.
func removedFactor(s User, by id.Organization, reason string, now time.Time) ([]events.UserEvent, error) {
	if s.SecondFactor.IsZero() {
		return nil, commands.ErrNoSecondFactor()
	}
	return []events.UserEvent{events.SecondFactorRemoved{
		UserID: s.ID, FactorID: s.SecondFactor, OrgID: by, Reason: personal.Of(reason), At: now,
	}}, nil
}
