package cpeapi

import (
	"context"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// Provisions serves the scripts of organizations (docs/rules/cpe.md#custom-provisions). All fields are required.
type Provisions struct {
	Cases cpecases.Provisions
	Rows  cpeviews.ProvisionsQuery
	Views *runner.Views
	// Users gives the names of some users; one that is no member of the organization is left out.
	Users func(ctx context.Context, org id.Organization, users []id.User) (map[id.User]string, error)
}

// settlePatience is how long an answer waits for the CPE server.
const settlePatience = 8 * time.Second

// Routes lists the endpoints.
func (a Provisions) Routes() []httpapi.Route {
	routes := []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/cpe/provisions", Row: cpeProvision{}, Handle: a.list,
			Summary: "List the organization's scripts at the CPE server, by name",
		},
		{
			Method: http.MethodGet, Path: "/cpe/provisions/:name", Response: cpeProvisionScript{}, Handle: a.get,
			Summary: "Read a script of the organization",
		},
		{
			Method: http.MethodPut, Path: "/cpe/provisions/:name", Request: cpeScriptRequest{},
			Response: cpeProvisionScript{}, Handle: a.put, Access: httpapi.AccessAdmin,
			Summary: "Write a script that the CPE server runs at each inform of the organization's CPEs",
			Codes: []string{
				"provision_refused", "provision_name_taken", "provision_limit_reached", "cpe_server_not_set_up",
				"cpe_server_unavailable", "parsing_busy",
			},
		},
		{
			Method: http.MethodDelete, Path: "/cpe/provisions/:name", Status: http.StatusNoContent, Handle: a.remove,
			Access: httpapi.AccessAdmin, Summary: "Take a script of the organization from the CPE server",
		},
	}
	for i := range routes {
		routes[i].Hosts = httpapi.OnOrganization
		if routes[i].Method == http.MethodGet {
			routes[i].Access = httpapi.AccessSupport
		}
	}
	return routes
}

// cpeProvisionState is how far a script has come.
type cpeProvisionState string

// Texts implements httpapi.Enumerated.
func (cpeProvisionState) Texts() []string { return cpeviews.ProvisionStates() }

// cpeProvision is a script of the organization, without its text.
type cpeProvision struct {
	Name       string             `json:"name"`
	StoredName string             `json:"storedName" doc:"at the CPE server; faults have it as their channel"`
	Version    int                `json:"version"`
	State      cpeProvisionState  `json:"state"`
	At         time.Time          `json:"at" doc:"of the version"`
	By         *httpapi.StaffRef  `json:"by" doc:"null: no member of the staff"`
	SettledAt  *time.Time         `json:"settledAt" doc:"null: the CPE server was not reached since"`
	Error      *cpeOperationError `json:"error" doc:"null: none"`
}

// cpeProvisionScript is a script of the organization.
type cpeProvisionScript struct {
	cpeProvision
	Script string `json:"script"`
}

// cpeScriptRequest is the body of a new version.
type cpeScriptRequest struct {
	Script string `json:"script" doc:"at most 64 KiB; docs/rules/cpe.md says what it may do"`
}

// showProvision writes null for what is not there.
func showProvision(r cpeviews.ProvisionRow, names map[id.User]string) cpeProvision {
	out := cpeProvision{
		Name: r.Name, StoredName: r.StoredName, Version: r.Version, State: cpeProvisionState(r.State), At: r.WrittenAt,
		SettledAt: r.SettledAt,
	}
	if user := writtenBy(r); !user.IsZero() {
		out.By = &httpapi.StaffRef{ID: user, Name: null.Of(names[user])}
	}
	if r.ErrorCode != nil {
		out.Error = &cpeOperationError{Code: *r.ErrorCode, Message: null.Zero(r.ErrorMessage)}
	}
	return out
}

// writtenBy is the user who wrote or removed the latest version; zero for a program.
func writtenBy(r cpeviews.ProvisionRow) id.User {
	if r.ActorKind != string(events.ActorUser) {
		return id.User{}
	}
	user, _ := id.Parse[id.User](r.ActorID) // zero for what is no user's id
	return user
}

// named reads the names of those who wrote some scripts.
func (a Provisions) named(
	ctx context.Context, org id.Organization, rows ...cpeviews.ProvisionRow,
) (map[id.User]string, error) {
	var users []id.User
	for _, r := range rows {
		if user := writtenBy(r); !user.IsZero() {
			users = append(users, user)
		}
	}
	return a.Users(ctx, org, users)
}

// list answers with a page of scripts, without their texts.
func (a Provisions) list(ctx context.Context, c *httpapi.Call) error {
	var names map[id.User]string // set when the page is read
	show := func(r cpeviews.ProvisionRow) cpeProvision { return showProvision(r, names) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after cpeviews.ProvisionKey, max int,
	) ([]cpeviews.ProvisionRow, error) {
		rows, err := a.Rows.List(ctx, c.Org.ID, after, max)
		if err != nil {
			return nil, err
		}
		names, err = a.named(ctx, c.Org.ID, rows...)
		return rows, err
	})
}

// one describes how a script is read and shown.
func (a Provisions) one() httpapi.One[id.CPEProvision, cpeviews.ProvisionRow, cpeProvisionScript] {
	var names map[id.User]string // set when the row is read
	return httpapi.One[id.CPEProvision, cpeviews.ProvisionRow, cpeProvisionScript]{
		Model: cpeviews.ProvisionsName, Missing: commands.ErrNoCpeProvision,
		Show: func(r cpeviews.ProvisionRow) cpeProvisionScript {
			return cpeProvisionScript{showProvision(r, names), r.Script}
		},
		Read: func(
			ctx context.Context, org id.Organization, provision id.CPEProvision,
		) (*cpeviews.ProvisionRow, error) {
			row, err := a.Rows.Get(ctx, org, provision)
			if err != nil || row == nil {
				return nil, err
			}
			names, err = a.named(ctx, org, *row)
			return row, err
		},
	}
}

// provisionOf is the id of the script that a path names.
func provisionOf(c *httpapi.Call) id.CPEProvision {
	return commands.CpeProvisionID(c.Org.ID, c.Param("name"))
}

// get answers with one script.
func (a Provisions) get(ctx context.Context, c *httpapi.Call) error {
	one := a.one()
	row, err := one.Find(ctx, c, provisionOf(c))
	if err != nil {
		return err
	}
	return c.Send(http.StatusOK, one.Show(row))
}

// put answers once the CPE server has the script or refuses it, or after a while without either.
func (a Provisions) put(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[cpeScriptRequest](c)
	if err != nil {
		return err
	}
	provision, done, err := a.Cases.Write(ctx, c.Asked(), c.Param("name"), in.Script)
	if err != nil {
		return err
	}
	if err := a.settled(ctx, c.Org.ID, provision, int64(done.Revision)); err != nil { //nolint:gosec // fits
		return err
	}
	return httpapi.SendOne(ctx, c, http.StatusOK, a.one(), provision, done)
}

// settled waits a while for the CPE server to have a version, or one after it.
func (a Provisions) settled(
	ctx context.Context, org id.Organization, provision id.CPEProvision, revision int64,
) error {
	_, err := usecases.Await(ctx, a.Views, cpeviews.ProvisionsName, settlePatience,
		func(ctx context.Context) (bool, error) {
			row, err := a.Rows.Get(ctx, org, provision)
			return row != nil && row.Revision >= revision && row.SettledAt != nil, err
		})
	return err
}

// remove answers once the script is known as removed; the CPE server follows.
func (a Provisions) remove(ctx context.Context, c *httpapi.Call) error {
	done, err := a.Cases.Remove(ctx, c.Asked(), c.Param("name"))
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, cpeviews.ProvisionsName, done.Position); err != nil {
		return err
	}
	return c.NoContent()
}
