package identityapi

import (
	"cmp"
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
)

// logout ends the caller's session.
func (a Auth) logout(ctx context.Context, c *httpapi.Call) error {
	session := vault.Session{ID: c.Caller.SessionID, UserID: c.Caller.UserID, OrgID: c.Caller.OrgID}
	if err := a.end(ctx, c, session, "logout"); err != nil {
		return err
	}
	clearCookies(c)
	return c.Send(200, messageResponse{"You are signed out."})
}

// meResponse is spec.md's current user.
type meResponse struct {
	ID        id.User      `json:"id"`
	Email     *string      `json:"email"`
	Phone     *string      `json:"phone"`
	FirstName string       `json:"firstName"`
	LastName  string       `json:"lastName"`
	Role      events.Role  `json:"role"`
	Status    string       `json:"status" enum:"active"`
	Org       *orgResponse `json:"org"`
	// MustChangePassword tells a client that was reloaded which page to show.
	MustChangePassword bool `json:"mustChangePassword"`
}

// me answers who is signed in.
func (a Auth) me(ctx context.Context, c *httpapi.Call) error {
	user, err := a.Users.ByID(ctx, c.Caller.UserID)
	if err != nil || user == nil {
		return cmp.Or(err, httpapi.ErrSignIn())
	}
	shown := showUser(*user, c.Caller.Role)
	return c.Send(200, meResponse{
		ID: shown.ID, Email: shown.Email, Phone: shown.Phone, FirstName: shown.FirstName, LastName: shown.LastName,
		Role: shown.Role, Status: "active", Org: showOrg(c), MustChangePassword: c.Caller.MustChangePassword,
	})
}

// passwordRequest is api.md's.
type passwordRequest struct {
	CurrentPassword secrets.Text `json:"currentPassword"`
	NewPassword     secrets.Text `json:"newPassword"`
}

// Lengths of passwords in characters: NIST SP 800-63B 5.1.1.2; the upper bound keeps hashing cheap.
const (
	minPassword = 8
	maxPassword = 128
)

// checkPassword notes what is wrong with a password that somebody chose.
func checkPassword(faults *failure.Faults, field string, password secrets.Text) {
	n := utf8.RuneCountInString(password.Reveal())
	faults.Check(n >= minPassword && n <= maxPassword, field, "must have %d to %d characters", minPassword, maxPassword)
}

// changePassword replaces the password and ends every other session of the user.
func (a Auth) changePassword(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[passwordRequest](c)
	if err != nil {
		return err
	}
	var faults failure.Faults
	checkPassword(&faults, "newPassword", in.NewPassword)
	faults.Check(in.NewPassword != in.CurrentPassword, "newPassword", "must differ from the current one")
	if err := faults.Err(); err != nil {
		return err
	}
	user, err := a.Users.ByID(ctx, c.Caller.UserID)
	if err != nil || user == nil {
		return cmp.Or(err, httpapi.ErrSignIn())
	}
	if err := a.proveAgain(ctx, user.Email, user.ID, in.CurrentPassword); err != nil {
		return err
	}
	if err := a.Passwords.Set(ctx, user.ID, in.NewPassword); err != nil {
		return err
	}
	done, err := a.Bus.Execute(ctx, commands.RecordPasswordChange{UserID: user.ID}, c.Asked().Step("password"))
	if err != nil {
		return err
	}
	others, err := a.Refresh.RevokeUser(ctx, user.ID, c.Caller.SessionID)
	if err != nil {
		return err
	}
	for _, session := range others {
		if err := a.end(ctx, c, session, "password_changed"); err != nil {
			return err
		}
	}
	if err := a.DirectoryShows.WaitFor(ctx, done.Position); err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, identityviews.UsersName, done.Position); err != nil {
		return err
	}
	return c.Send(200, messageResponse{"Your password was changed. Every other session has ended."})
}

// proveAgain checks the password of somebody signed in; wrong ones count like those of a sign-in, so that a stolen
// session is no oracle.
func (a Auth) proveAgain(ctx context.Context, email string, user id.User, password secrets.Text) error {
	try, err := a.Lockouts.Try(ctx, email)
	if err != nil {
		return err
	}
	if !try.Allowed {
		return errLocked()
	}
	right, err := a.Passwords.Verify(ctx, user, password)
	if err != nil {
		return err
	}
	if !right {
		return failure.NewInvalid("wrong_password", "currentPassword is wrong")
	}
	return a.Lockouts.Succeed(ctx, email)
}

// sessionResponse is one sign-in of the caller.
type sessionResponse struct {
	ID        id.Session       `json:"id"`
	OrgID     *id.Organization `json:"orgId"`
	StartedAt time.Time        `json:"startedAt"`
	UsedAt    time.Time        `json:"usedAt"`
	ExpiresAt time.Time        `json:"expiresAt"`
	Current   bool             `json:"current"`
}

// sessionKey is the place of a session in the list, newest first.
type sessionKey struct {
	StartedAt time.Time  `json:"s"`
	ID        id.Session `json:"i"`
}

// keyOf is a session's place.
func keyOf(s vault.Session) sessionKey { return sessionKey{s.StartedAt, s.ID} }

// before tells whether another place comes later in the list, which the vault orders by start, then id.
func (k sessionKey) before(other sessionKey) bool {
	if !k.StartedAt.Equal(other.StartedAt) {
		return other.StartedAt.Before(k.StartedAt)
	}
	return k.ID.String() < other.ID.String()
}

// sessions lists the caller's sessions; a person has few, so they are one page.
func (a Auth) sessions(ctx context.Context, c *httpapi.Call) error {
	page, err := httpapi.PageOf[sessionKey](c)
	if err != nil {
		return err
	}
	list, err := a.Refresh.List(ctx, c.Caller.UserID)
	if err != nil {
		return err
	}
	if page.After != nil {
		list = slices.DeleteFunc(list, func(s vault.Session) bool { return !page.After.before(keyOf(s)) })
	}
	return httpapi.SendPage(c, page, list, keyOf, func(s vault.Session) sessionResponse {
		out := sessionResponse{
			ID: s.ID, StartedAt: s.StartedAt, UsedAt: s.UsedAt, ExpiresAt: s.ExpiresAt,
			Current: s.ID == c.Caller.SessionID,
		}
		if !s.OrgID.IsZero() {
			out.OrgID = &s.OrgID
		}
		return out
	})
}

// endSession ends one of the caller's sessions, wherever it was opened.
func (a Auth) endSession(ctx context.Context, c *httpapi.Call) error {
	wanted, err := httpapi.PathID[id.Session](c, "id", commands.ErrNoSession)
	if err != nil {
		return err
	}
	list, err := a.Refresh.List(ctx, c.Caller.UserID)
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.ID == wanted {
			if err := a.end(ctx, c, s, "revoked"); err != nil {
				return err
			}
			if s.ID == c.Caller.SessionID {
				clearCookies(c)
			}
			return c.NoContent()
		}
	}
	return commands.ErrNoSession()
}
