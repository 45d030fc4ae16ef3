package identityapi

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Users serves /users: the staff of an organization.
type Users struct {
	Bus            *bus.Bus
	Users          identityviews.UsersQuery
	DirectoryShows *runner.Memory
	Passwords      *vault.Passwords
	Refresh        *vault.RefreshTokens
}

// Routes lists the endpoints of staff users.
func (a Users) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: "/users", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Add somebody to the organization", Request: userRequest{}, Response: memberResponse{},
			Status: 201, Handle: a.create,
		},
		{
			Method: "GET", Path: "/users", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "List the organization's users", Row: memberResponse{}, Handle: a.list,
		},
		{
			Method: "GET", Path: "/users/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Read a user", Response: memberResponse{}, Handle: a.get,
		},
		{
			Method: "PATCH", Path: "/users/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Change a user's name, phone or role", Request: userPatch{}, Response: memberResponse{},
			Handle: a.change,
		},
		{
			Method: "POST", Path: "/users/:id/disable", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "End a user's access at once", Request: httpapi.OptionalReasonRequest{},
			Response: memberResponse{}, Handle: a.disable,
		},
		{
			Method: "POST", Path: "/users/:id/enable", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Give access back", Response: memberResponse{}, Handle: a.enable,
		},
	}
}

// userRequest is api.md's.
type userRequest struct {
	Email             string       `json:"email"`
	Phone             string       `json:"phone,omitempty"`
	FirstName         string       `json:"firstName"`
	LastName          string       `json:"lastName,omitempty"`
	Role              string       `json:"role" enum:"admin,support,subscriber"`
	TemporaryPassword secrets.Text `json:"temporaryPassword" doc:"to be changed at the first sign-in; ignored for somebody who has a password already"`
}

// userPatch changes what is given; null takes a value away.
type userPatch struct {
	Phone     *string `json:"phone,omitempty"`
	FirstName *string `json:"firstName,omitempty"`
	LastName  *string `json:"lastName,omitempty"`
	Role      *string `json:"role,omitempty" enum:"admin,support,subscriber"`
}

// memberResponse is a user as the organization knows them.
type memberResponse struct {
	ID        id.User     `json:"id"`
	Email     *string     `json:"email"`
	Phone     *string     `json:"phone"`
	FirstName string      `json:"firstName"`
	LastName  string      `json:"lastName"`
	Role      events.Role `json:"role"`
	Status    string      `json:"status" enum:"invited,active,disabled" doc:"invited until the first sign-in with a password of their own"`
	CreatedAt time.Time   `json:"createdAt"`
}

// showMember is a row as the API shows it. Somebody new and somebody who belongs to another organization too look alike
// until they sign in (rules.md 16).
func showMember(r identityviews.MemberRow) memberResponse {
	status := r.Status
	if status == "pending" || status == "active" && r.MustChangePassword {
		status = "invited"
	}
	return memberResponse{
		ID: r.ID, Email: null.Of(r.Email), Phone: null.Of(r.Phone), FirstName: r.FirstName,
		LastName: r.LastName, Role: r.Role, Status: status, CreatedAt: r.MemberSince,
	}
}

// create adds somebody: as a new user, or with a membership to be accepted when the address has an account already.
func (a Users) create(ctx context.Context, c *httpapi.Call) error {
	in, invalid, err := httpapi.DecodeLoosely[userRequest](c)
	if err != nil {
		return err
	}
	phone := ""
	if in.Phone != "" {
		phone = commands.NormalizeContactPhone(in.Phone)
	}
	register := commands.RegisterUser{
		UserID: newUserID(c, "user"), Email: personal.Of(commands.NormalizeEmail(in.Email)), Phone: personal.Of(phone),
		FirstName: personal.Of(strings.TrimSpace(in.FirstName)), LastName: personal.Of(strings.TrimSpace(in.LastName)),
		MustChangePassword: true, OrgID: c.Org.ID, Role: events.Role(in.Role),
	}
	if err := httpapi.JoinFaults(invalid, checkNewUser(register, in.TemporaryPassword)); err != nil {
		return err
	}
	user, done, err := addUser(ctx, c, a.Bus, a.Users, a.Passwords, in.TemporaryPassword, register)
	if err != nil {
		return err
	}
	return a.show(ctx, c, 201, user, done)
}

// newUserID makes the id of a user. It tells nothing: one that shows when it was made would tell an organization that
// the person was known before (rules.md 16).
func newUserID(c *httpapi.Call, kind string) id.User {
	return id.Derive[id.User]("user", usecases.NewID[id.Any](c.Asked(), kind).String())
}

// addUser registers a user with a temporary password, or grants a membership to the one who has the e-mail address.
func addUser(
	ctx context.Context, c *httpapi.Call, b *bus.Bus, users identityviews.UsersQuery, passwords *vault.Passwords,
	password secrets.Text, r commands.RegisterUser,
) (id.User, bus.Result, error) {
	if err := checkNewUser(r, password); err != nil {
		return id.User{}, bus.Result{}, err
	}
	meta := c.Asked().Step("user")
	meta.OrgID = r.OrgID
	known, err := users.ByEmail(ctx, r.Email.Reveal())
	if err != nil {
		return id.User{}, bus.Result{}, err
	}
	// a repeat: the password was set the first time, and may be another by now
	if known != nil && known.ID == r.UserID {
		done, err := b.Execute(ctx, r, meta)
		return r.UserID, done, err
	}
	if known == nil {
		done, err := register(ctx, b, passwords, password, r, meta)
		if failure.CodeOf(err) != "email_taken" {
			return r.UserID, done, err
		}
		// Somebody registered the address a moment ago: soon it is known.
		if known, err = awaitUser(ctx, users, r.Email.Reveal()); err != nil {
			return id.User{}, bus.Result{}, err
		}
	} else if _, err := passwords.Verify(ctx, id.User{}, password); err != nil { // as much work as for somebody new
		return id.User{}, bus.Result{}, err
	}
	done, err := b.Execute(ctx, commands.GrantMembership{
		UserID: known.ID, OrgID: r.OrgID, Role: r.Role, Phone: r.Phone, FirstName: r.FirstName, LastName: r.LastName,
	}, meta)
	return known.ID, done, err
}

// register makes a user with a password. The password comes first: whoever is registered can sign in.
func register(
	ctx context.Context, b *bus.Bus, passwords *vault.Passwords, password secrets.Text, r commands.RegisterUser,
	meta commands.Meta,
) (bus.Result, error) {
	if err := passwords.Set(ctx, r.UserID, password); err != nil {
		return bus.Result{}, err
	}
	done, err := b.Execute(ctx, r, meta)
	if failure.CodeOf(err) == "email_taken" { // what was set for this id is nobody's
		return done, errors.Join(err, passwords.Delete(ctx, r.UserID))
	}
	return done, err
}

// awaitUser waits until the read side knows the user of an address that is taken. Fails: email_taken.
func awaitUser(ctx context.Context, users identityviews.UsersQuery, email string) (*identityviews.UserRow, error) {
	var known *identityviews.UserRow
	shown, err := users.Views.WaitUntil(ctx, identityviews.UsersName, func(ctx context.Context) (bool, error) {
		var err error
		known, err = users.ByEmail(ctx, email)
		return known != nil, err
	})
	if err == nil && !shown {
		err = failure.NewConflict("email_taken", "this e-mail address is in use")
	}
	return known, err
}

// checkNewUser tells all faults of a new user at once, before anything is written.
func checkNewUser(r commands.RegisterUser, password secrets.Text) error {
	var faults failure.Faults
	if err := r.Validate(); err != nil {
		var f *failure.Error
		if httpapi.AsFailureError(err, &f) {
			faults = append(faults, f.Faults...)
		}
	}
	checkPassword(&faults, "temporaryPassword", password)
	return faults.Err()
}

// show answers with the user once both read sides have the write. Users have no entity tag: the revision of their
// stream would tell what they do at other organizations.
func (a Users) show(ctx context.Context, c *httpapi.Call, status int, user id.User, done bus.Result) error {
	if err := a.DirectoryShows.WaitFor(ctx, done.Position); err != nil {
		return err
	}
	shown, err := c.WaitVisible(ctx, identityviews.UsersName, done.Position)
	if err != nil {
		return err
	}
	if !shown {
		return c.Send(202, httpapi.Accepted{ID: user.String(), Status: "accepted"})
	}
	row, err := a.Users.Member(ctx, c.Org.ID, user)
	if err != nil || row == nil {
		return cmp.Or(err, commands.ErrNoUser())
	}
	return c.Send(status, showMember(*row))
}

// metaOf is what the request says about a command to a user, which If-Match cannot bind.
func metaOf(c *httpapi.Call) (commands.Meta, error) {
	meta := c.Meta()
	if meta.ExpectedRevision != nil {
		return meta, failure.New(failure.Stale, "stale_revision",
			"Users have no entity tag. Please send this without If-Match.")
	}
	return meta, nil
}

// list answers with a page of users.
func (a Users) list(ctx context.Context, c *httpapi.Call) error {
	page, err := httpapi.PageOf[identityviews.MemberKey](c)
	if err != nil {
		return err
	}
	rows, err := a.Users.Members(ctx, c.Org.ID, null.Zero(page.After), page.Fetch())
	if err != nil {
		return err
	}
	return httpapi.SendPage(c, page, rows, func(r identityviews.MemberRow) identityviews.MemberKey {
		return identityviews.MemberKey{MemberSince: r.MemberSince, ID: r.ID}
	}, showMember)
}

// get answers with one user.
func (a Users) get(ctx context.Context, c *httpapi.Call) error {
	user, err := httpapi.PathID[id.User](c, "id", commands.ErrNoUser)
	if err != nil {
		return err
	}
	row, err := a.Users.Member(ctx, c.Org.ID, user)
	if err != nil || row == nil {
		return cmp.Or(err, commands.ErrNoUser())
	}
	return c.Send(200, showMember(*row))
}

// change corrects name, phone or role.
func (a Users) change(ctx context.Context, c *httpapi.Call) error {
	user, err := httpapi.PathID[id.User](c, "id", commands.ErrNoUser)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[userPatch](c)
	if err != nil {
		return err
	}
	null := c.Nulls()
	in.Phone, in.FirstName, in.LastName = httpapi.Emptied(in.Phone, null["phone"]),
		httpapi.Emptied(in.FirstName, null["firstName"]),
		httpapi.Emptied(in.LastName, null["lastName"])
	command := commands.CorrectUser{UserID: user, OrgID: c.Org.ID, By: c.Caller.UserID}
	set := func(to **personal.Text, from *string, normal func(string) string) {
		if from != nil {
			text := personal.Of(normal(*from))
			*to = &text
		}
	}
	set(&command.Phone, in.Phone, func(s string) string {
		if s == "" {
			return s
		}
		return commands.NormalizeContactPhone(s)
	})
	set(&command.FirstName, in.FirstName, strings.TrimSpace)
	set(&command.LastName, in.LastName, strings.TrimSpace)
	if in.Role != nil {
		role := events.Role(*in.Role)
		command.Role = &role
	}
	meta, err := metaOf(c)
	if err != nil {
		return err
	}
	done, err := a.Bus.Execute(ctx, command, meta)
	if err != nil {
		return err
	}
	return a.show(ctx, c, 200, user, done)
}

// disable ends a user's access to the organization at once, sessions included.
func (a Users) disable(ctx context.Context, c *httpapi.Call) error {
	user, err := httpapi.PathID[id.User](c, "id", commands.ErrNoUser)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[httpapi.OptionalReasonRequest](c)
	if err != nil {
		return err
	}
	reason := in.Reason
	if reason == "" {
		reason = "disabled by an administrator"
	}
	meta, err := metaOf(c)
	if err != nil {
		return err
	}
	meta.Reason = reason
	done, err := a.Bus.Execute(ctx,
		commands.DisableMember{UserID: user, OrgID: c.Org.ID, By: c.Caller.UserID, Reason: reason}, meta)
	if err != nil {
		return err
	}
	sessions, err := a.Refresh.List(ctx, user)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if s.OrgID != c.Org.ID {
			continue
		}
		if err := endSession(ctx, c, a.Bus, a.Refresh, a.DirectoryShows, s, "disabled"); err != nil {
			return err
		}
	}
	return a.show(ctx, c, 200, user, done)
}

// enable gives access back.
func (a Users) enable(ctx context.Context, c *httpapi.Call) error {
	user, err := httpapi.PathID[id.User](c, "id", commands.ErrNoUser)
	if err != nil {
		return err
	}
	meta, err := metaOf(c)
	if err != nil {
		return err
	}
	done, err := a.Bus.Execute(ctx, commands.EnableMember{UserID: user, OrgID: c.Org.ID}, meta)
	if err != nil {
		return err
	}
	return a.show(ctx, c, 200, user, done)
}
