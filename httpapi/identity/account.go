package identityapi

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// meResponse is the answer of GET /auth/me (docs/rules/identity.md#current-user).
type meResponse struct {
	ID        id.User      `json:"id"`
	Email     *string      `json:"email"`
	Phone     *string      `json:"phone"`
	FirstName string       `json:"firstName"`
	LastName  string       `json:"lastName"`
	Role      events.Role  `json:"role"`
	Status    string       `json:"status" enum:"active"`
	Org       *orgResponse `json:"org"`
	// MustChangePassword lets a client that was reloaded show the page for it.
	MustChangePassword bool `json:"mustChangePassword"`
	// MustEnrolSecondFactor is true for staff of an organization that requires a second factor, until there is one.
	MustEnrolSecondFactor bool `json:"mustEnrolSecondFactor"`
	// Now lets pages tell times apart on machines whose clocks are wrong.
	Now time.Time `json:"now" doc:"the server's time"`
}

// me answers with the signed-in user, and the role at the host's organization.
func (a Auth) me(ctx context.Context, c *httpapi.Call) error {
	user, err := a.Users.ByID(ctx, c.Caller.UserID)
	if err != nil || user == nil {
		return cmp.Or(err, usecases.ErrSignIn())
	}
	shown := showUser(*user, c.Caller.Role)
	return c.Send(200, meResponse{
		ID: shown.ID, Email: shown.Email, Phone: shown.Phone, FirstName: shown.FirstName, LastName: shown.LastName,
		Role: shown.Role, Status: "active", Org: showOrg(c), MustChangePassword: c.Caller.MustChangePassword,
		MustEnrolSecondFactor: c.Caller.MustEnrol, Now: a.Tokens.Clock.Now().UTC(),
	})
}

// passwordRequest is the body of POST /auth/password (docs/rules/identity.md#passwords).
type passwordRequest struct {
	CurrentPassword secrets.Text `json:"currentPassword"`
	NewPassword     secrets.Text `json:"newPassword"`
}

// changePassword replaces the password and ends every other session of the user.
func (a Auth) changePassword(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[passwordRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Password.Change(ctx, c.Asked(), identitycases.NewPassword{
		UserID: c.Caller.UserID, Session: c.Caller.SessionID, Current: in.CurrentPassword, New: in.NewPassword,
	})
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, identityviews.UsersName, done.Position); err != nil {
		return err
	}
	return c.Send(200, doneResponse{"Your password was changed. Every other session has ended."})
}
