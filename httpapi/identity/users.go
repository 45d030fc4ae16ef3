package identityapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// Users serves /users: the staff of an organization.
type Users struct {
	Staff          identitycases.Staff
	Factors        identitycases.SecondFactors
	Users          identityviews.UsersQuery
	DirectoryShows *runner.Memory
}

// Routes lists the endpoints of staff users.
func (a Users) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: "/users", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			PeopleOnly: true, Summary: "Add somebody to the organization", Request: userRequest{},
			Response: memberResponse{}, Status: 201, Handle: a.create,
		},
		{
			Method: "GET", Path: "/users", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "List the organization's users", Row: memberResponse{}, Handle: a.list,
			Query: []httpapi.Param{
				{Name: "role", Type: "string", Enum: roles, Doc: "all but the portal's when absent"},
				{Name: "status", Type: "string", Enum: statuses},
				{Name: "q", Type: "string", Doc: "part of the name, the e-mail address or the phone"},
			},
		},
		{
			Method: "GET", Path: "/users/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Read a user", Response: memberResponse{}, Handle: a.get,
		},
		{
			Method: "PATCH", Path: "/users/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			PeopleOnly: true, Summary: "Change a user's name, phone or role", Request: userPatch{},
			Response: memberResponse{}, Handle: a.change,
		},
		{
			Method: "POST", Path: "/users/:id/disable", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			PeopleOnly: true, Summary: "End a user's access at once", Request: httpapi.ArchiveRequest{},
			Response: memberResponse{}, Handle: a.disable,
		},
		{
			Method: "POST", Path: "/users/:id/password", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary:    "Give a user who lost the password a temporary one, and end every session of the user",
			PeopleOnly: true, Request: temporaryPasswordRequest{}, Response: memberResponse{}, Handle: a.givePassword,
		},
		{
			Method: "POST", Path: "/users/:id/second-factor/remove", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, PeopleOnly: true, Request: lostFactorRequest{}, Response: memberResponse{},
			Summary: "Remove the second factor of a user who lost the device, and end the user's sessions",
			Handle:  a.removeFactor,
		},
		{
			Method: "POST", Path: "/users/:id/enable", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			PeopleOnly: true, Summary: "Give access back", Response: memberResponse{}, Handle: a.enable,
		},
	}
}

// Values of the filters.
var (
	roles    = []string{"admin", "support", "subscriber"}
	statuses = []string{"invited", "active", "disabled"}
)

// userRequest is the body of POST /users (docs/rules/identity.md#user-endpoints).
type userRequest struct {
	Email             string       `json:"email"`
	Phone             string       `json:"phone,omitempty"`
	FirstName         string       `json:"firstName"`
	LastName          string       `json:"lastName,omitempty"`
	Role              string       `json:"role" enum:"admin,support,subscriber"`
	TemporaryPassword secrets.Text `json:"temporaryPassword" doc:"works for 30 days, until an own one is chosen"`
}

// userPatch changes the fields that are given; null empties a text.
type userPatch struct {
	Phone     *string `json:"phone,omitempty"`
	FirstName *string `json:"firstName,omitempty"`
	LastName  *string `json:"lastName,omitempty"`
	Role      *string `json:"role,omitempty" enum:"admin,support,subscriber"`
}

// temporaryPasswordRequest is the body of POST /users/:id/password.
type temporaryPasswordRequest struct {
	TemporaryPassword secrets.Text `json:"temporaryPassword" doc:"works for 30 days, until an own one is chosen"`
}

// memberResponse is a user as the organization sees the person.
type memberResponse struct {
	ID        id.User     `json:"id"`
	Email     *string     `json:"email"`
	Phone     *string     `json:"phone"`
	FirstName string      `json:"firstName"`
	LastName  string      `json:"lastName"`
	Role      events.Role `json:"role"`
	Status    string      `json:"status" enum:"invited,active,disabled" doc:"invited: no sign-in by own password yet"`
	CreatedAt time.Time   `json:"createdAt"`
	// LastSignInAt is of this organization alone: where else a person works is not its business.
	LastSignInAt *time.Time `json:"lastSignInAt" doc:"at this organization; null: never"`
	// TemporaryPasswordUntil is also in the past: then an administrator has to give another password.
	TemporaryPasswordUntil *time.Time `json:"temporaryPasswordUntil" doc:"null: has an own one"`
	SecondFactor           bool       `json:"secondFactor" doc:"signs in with a second factor"`
}

// showMember calls a user invited who has not chosen a password yet, and a membership of before records were kept apart
// that was never accepted.
func showMember(r identityviews.MemberRow) memberResponse {
	status := r.Status
	if status == "pending" || status == "active" && r.MustChangePassword {
		status = "invited"
	}
	return memberResponse{
		ID: r.ID, Email: null.Of(r.Email), Phone: null.Of(r.Phone), FirstName: r.FirstName,
		LastName: r.LastName, Role: r.Role, Status: status, CreatedAt: r.MemberSince, LastSignInAt: r.LastSignInAt,
		TemporaryPasswordUntil: r.TemporaryUntil, SecondFactor: r.SecondFactor,
	}
}

// newMember is the request in the form of the use case.
func (r userRequest) newMember() identitycases.NewMember {
	return identitycases.NewMember{
		Email: personal.Of(r.Email), Phone: personal.Of(r.Phone), FirstName: personal.Of(r.FirstName),
		LastName: personal.Of(r.LastName), Role: events.Role(r.Role), TemporaryPassword: r.TemporaryPassword,
	}
}

// create adds a person to the organization, whoever else has registered the address.
func (a Users) create(ctx context.Context, c *httpapi.Call) error {
	request, invalid, err := httpapi.DecodeLoosely[userRequest](c)
	if err != nil {
		return err
	}
	in := request.newMember()
	if err := failure.JoinFaults(invalid, in.Validate()); err != nil {
		return err
	}
	user, done, err := a.Staff.Add(ctx, c.Asked(), in)
	if err != nil {
		return err
	}
	return a.show(ctx, c, 201, user, done)
}

// one describes how a user is read and shown.
func (a Users) one() httpapi.One[id.User, identityviews.MemberRow, memberResponse] {
	return httpapi.One[id.User, identityviews.MemberRow, memberResponse]{
		Model: identityviews.UsersName, Missing: commands.ErrNoUser, Read: a.Users.Member, Show: showMember,
	}
}

// show answers with the user once the directory and the read model have the write. Users have no entity tag: the
// revision of their stream would show when a person proved the address.
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
	row, err := a.one().Find(ctx, c, user)
	if err != nil {
		return err
	}
	return c.Send(status, showMember(row))
}

// askedOfUser is Asked for a request about a user. Users have no entity tag, so If-Match is refused. Fails:
// stale_revision.
func askedOfUser(c *httpapi.Call) (usecases.Asked, error) {
	asked := c.Asked()
	if asked.Meta.ExpectedRevision != nil {
		return asked, bus.ErrStale()
	}
	return asked, nil
}

// list answers with a page of users, the newest members first.
func (a Users) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := identityviews.MemberFilter{
		Role: events.Role(f.OneOf("role", roles...)), Status: f.OneOf("status", statuses...), Text: f.Text("q"),
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showMember, func(
		ctx context.Context, after identityviews.MemberKey, max int,
	) ([]identityviews.MemberRow, error) {
		return a.Users.Members(ctx, c.Org.ID, filter, after, max)
	})
}

// get answers with one user.
func (a Users) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one())
}

// correction takes over the given fields. A field given as null becomes empty, which the command refuses for the role.
func correction(c *httpapi.Call, user id.User, in userPatch) commands.CorrectUser {
	command := commands.CorrectUser{UserID: user, OrgID: c.Org.ID, By: c.Caller.UserID}
	nulls := c.Nulls()
	set := func(to **personal.Text, field string, from *string, normal func(string) string) {
		if given := httpapi.Emptied(from, nulls[field]); given != nil {
			text := personal.Of(normal(*given))
			*to = &text
		}
	}
	set(&command.Phone, "phone", in.Phone, func(s string) string {
		if s == "" {
			return s
		}
		return commands.NormalizeContactPhone(s)
	})
	set(&command.FirstName, "firstName", in.FirstName, inputtext.Text)
	set(&command.LastName, "lastName", in.LastName, inputtext.Text)
	command.Role = (*events.Role)(httpapi.Emptied(in.Role, nulls["role"]))
	return command
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
	asked, err := askedOfUser(c)
	if err != nil {
		return err
	}
	done, err := a.Staff.Correct(ctx, asked, correction(c, user, in))
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
	in, err := httpapi.Decode[httpapi.ArchiveRequest](c)
	if err != nil {
		return err
	}
	asked, err := askedOfUser(c)
	if err != nil {
		return err
	}
	done, err := a.Staff.Disable(ctx, asked, commands.DisableMember{
		UserID: user, OrgID: c.Org.ID, By: c.Caller.UserID, Reason: in.Reason,
	})
	if err != nil {
		return err
	}
	return a.show(ctx, c, 200, user, done)
}

// givePassword replaces a lost password by a temporary one.
func (a Users) givePassword(ctx context.Context, c *httpapi.Call) error {
	user, err := httpapi.PathID[id.User](c, "id", commands.ErrNoUser)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[temporaryPasswordRequest](c)
	if err != nil {
		return err
	}
	asked, err := askedOfUser(c)
	if err != nil {
		return err
	}
	done, err := a.Staff.GivePassword(ctx, asked, commands.GiveTemporaryPassword{
		UserID: user, OrgID: c.Org.ID, By: c.Caller.UserID,
	}, in.TemporaryPassword)
	if err != nil {
		return err
	}
	return a.show(ctx, c, 200, user, done)
}

// enable gives access back.
func (a Users) enable(ctx context.Context, c *httpapi.Call) error {
	user, err := httpapi.PathID[id.User](c, "id", commands.ErrNoUser)
	if err != nil {
		return err
	}
	asked, err := askedOfUser(c)
	if err != nil {
		return err
	}
	done, err := a.Staff.Enable(ctx, asked, user)
	if err != nil {
		return err
	}
	return a.show(ctx, c, 200, user, done)
}
