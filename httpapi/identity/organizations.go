// Package identityapi serves sign-ins, sessions, users, organizations and their settings.
package identityapi

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// Organizations serves /orgs on the root host.
type Organizations struct {
	Bus            *bus.Bus
	Cases          identitycases.Organizations
	Organizations  identityviews.OrganizationsQuery
	DirectoryShows *runner.Memory
	// Subscribers counts the customers of some organizations; one without any has no entry.
	Subscribers func(ctx context.Context, orgs []id.Organization) (map[id.Organization]int, error)
	// Staff says how much an organization's own people use it.
	Staff func(ctx context.Context, org id.Organization) (identityviews.StaffSummary, error)
	// Routers counts those of an organization.
	Routers func(ctx context.Context, org id.Organization) (int, error)
}

// organizationStatuses are the values of the filter status.
var organizationStatuses = []string{"active", "suspended"}

// Routes lists the endpoints of organizations.
func (a Organizations) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: "/orgs", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "Create an organization with its administrator", Request: organizationRequest{},
			Response: organizationResponse{}, Status: 201, Handle: a.create,
		},
		{
			Method: "GET", Path: "/orgs", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "List organizations", Row: organizationRow{}, Handle: a.list,
			Query: []httpapi.Param{
				{Name: "status", Type: "string", Enum: organizationStatuses},
				{Name: "q", Type: "string", Doc: "part of the name or the slug"},
			},
		},
		{
			Method: "GET", Path: "/orgs/:id", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "Read an organization", Response: organizationDetail{}, Handle: a.get,
		},
		{
			Method: "PATCH", Path: "/orgs/:id", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "Rename an organization", Request: organizationPatch{}, Response: organizationResponse{},
			Handle: a.change,
		},
		{
			Method: "POST", Path: "/orgs/:id/suspend", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "End everybody's access to an organization", Request: httpapi.ReasonRequest{},
			Response: organizationResponse{}, Handle: a.suspend,
		},
		{
			Method: "POST", Path: "/orgs/:id/resume", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "Undo a suspension", Request: httpapi.ReasonRequest{}, Response: organizationResponse{},
			Handle: a.resume,
		},
	}
}

// adminRequest is the first administrator of an organization.
type adminRequest struct {
	Email             string       `json:"email"`
	FirstName         string       `json:"firstName"`
	LastName          string       `json:"lastName,omitempty"`
	Phone             string       `json:"phone,omitempty"`
	TemporaryPassword secrets.Text `json:"temporaryPassword"`
}

// organizationRequest is the body of POST /orgs (docs/rules/identity.md#organization-endpoints).
type organizationRequest struct {
	Slug     string       `json:"slug"`
	Name     string       `json:"name"`
	Timezone string       `json:"timezone,omitempty" doc:"IANA name; Africa/Nairobi when absent"`
	Currency string       `json:"currency,omitempty" doc:"ISO 4217; KES when absent; fixed for ever"`
	Country  string       `json:"country,omitempty" doc:"ISO 3166-1 alpha-2; KE when absent"`
	Admin    adminRequest `json:"admin"`
}

// organizationPatch has the only field that the platform may change; the organization changes the others itself.
type organizationPatch struct {
	Name *string `json:"name,omitempty"`
}

// organizationResponse is an organization as the platform sees it.
type organizationResponse struct {
	ID            id.Organization `json:"id"`
	Slug          string          `json:"slug"`
	Name          string          `json:"name"`
	Timezone      string          `json:"timezone"`
	Currency      money.Currency  `json:"currency"`
	Country       string          `json:"country"`
	InvoicePrefix string          `json:"invoicePrefix"`
	Status        string          `json:"status" enum:"active,suspended"`
	CreatedAt     time.Time       `json:"createdAt"`
}

// organizationRow adds figures that the list alone has.
type organizationRow struct {
	organizationResponse
	Subscribers int `json:"subscribers" doc:"customers that it has, forgotten ones included"`
}

// organizationDetail adds what the platform wants to know about one organization. Nothing in it is about a customer.
type organizationDetail struct {
	organizationRow
	Staff        int        `json:"staff" doc:"administrators and support who are not disabled"`
	Routers      int        `json:"routers"`
	LastSignInAt *time.Time `json:"lastSignInAt" doc:"of anybody of the organization; null: never"`
}

// showOrganization writes a suspension as a status.
func showOrganization(r identityviews.OrganizationRow) organizationResponse {
	status := "active"
	if r.Suspended {
		status = "suspended"
	}
	return organizationResponse{
		ID: r.ID, Slug: r.Slug, Name: r.Name, Timezone: r.Billing.Timezone, Currency: r.Billing.Currency,
		Country: r.Billing.Country, InvoicePrefix: r.Billing.InvoicePrefix, Status: status, CreatedAt: r.CreatedAt,
	}
}

// newOrganization is the request in the form of the use case, whose personal fields are personal texts.
func (r organizationRequest) newOrganization() identitycases.NewOrganization {
	return identitycases.NewOrganization{
		Slug: r.Slug, Name: r.Name, Timezone: r.Timezone, Currency: money.Currency(r.Currency), Country: r.Country,
		Admin: identitycases.NewMember{
			Email: personal.Of(r.Admin.Email), Phone: personal.Of(r.Admin.Phone),
			FirstName: personal.Of(r.Admin.FirstName), LastName: personal.Of(r.Admin.LastName),
			TemporaryPassword: r.Admin.TemporaryPassword,
		},
	}
}

// create makes the organization with its administrator, and answers once both can be read.
func (a Organizations) create(ctx context.Context, c *httpapi.Call) error {
	request, invalid, err := httpapi.DecodeLoosely[organizationRequest](c)
	if err != nil {
		return err
	}
	in := request.newOrganization()
	if err := failure.JoinFaults(invalid, in.Validate()); err != nil {
		return err
	}
	made, err := a.Cases.Create(ctx, c.Asked(), in)
	if err != nil {
		return err
	}
	shown, err := c.WaitVisible(ctx, identityviews.UsersName, made.Done.Position)
	if err != nil || !shown {
		return cmp.Or(err, runner.ErrBehind)
	}
	return a.show(ctx, c, 201, made.ID, made.Done)
}

// readItself reads the organization whose id is given, and ignores the host's, which is zero on the root host.
func readItself(
	q identityviews.OrganizationsQuery,
) func(ctx context.Context, host, org id.Organization) (*identityviews.OrganizationRow, error) {
	return func(ctx context.Context, _, org id.Organization) (*identityviews.OrganizationRow, error) {
		return q.Get(ctx, org)
	}
}

// one describes how an organization is read and shown.
func (a Organizations) one() httpapi.One[id.Organization, identityviews.OrganizationRow, organizationResponse] {
	return httpapi.One[id.Organization, identityviews.OrganizationRow, organizationResponse]{
		Model: identityviews.OrganizationsName, Missing: commands.ErrNoOrganization, Show: showOrganization,
		Read:     readItself(a.Organizations),
		Revision: func(r identityviews.OrganizationRow) int64 { return r.Revision },
	}
}

// show answers with the organization once the directory and the read model have the write.
func (a Organizations) show(
	ctx context.Context, c *httpapi.Call, status int, org id.Organization, done bus.Result,
) error {
	if err := a.DirectoryShows.WaitFor(ctx, done.Position); err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, status, a.one(), org, done)
}

// list answers with a page of organizations, newest first.
func (a Organizations) list(ctx context.Context, c *httpapi.Call) error {
	var counts map[id.Organization]int // of the page's organizations
	show := func(r identityviews.OrganizationRow) organizationRow {
		return organizationRow{organizationResponse: showOrganization(r), Subscribers: counts[r.ID]}
	}
	f := c.Filters()
	filter := identityviews.OrganizationFilter{Text: f.Text("q")}
	if status := f.OneOf("status", organizationStatuses...); status != "" {
		suspended := status == "suspended"
		filter.Suspended = &suspended
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after identityviews.OrganizationKey, max int,
	) ([]identityviews.OrganizationRow, error) {
		rows, err := a.Organizations.List(ctx, filter, after, max)
		if err == nil {
			counts, err = a.Subscribers(ctx, ids(rows))
		}
		return rows, err
	})
}

// ids are those of some organizations.
func ids(rows []identityviews.OrganizationRow) []id.Organization {
	out := make([]id.Organization, len(rows))
	for i, r := range rows {
		out[i] = r.ID
	}
	return out
}

// get answers with one organization and its figures.
func (a Organizations) get(ctx context.Context, c *httpapi.Call) error {
	org, err := httpapi.PathID[id.Organization](c, "id", commands.ErrNoOrganization)
	if err != nil {
		return err
	}
	row, err := a.one().Find(ctx, c, org)
	if err != nil {
		return err
	}
	out := organizationDetail{organizationRow: organizationRow{organizationResponse: showOrganization(row)}}
	customers, err := a.Subscribers(ctx, []id.Organization{org})
	if err != nil {
		return err
	}
	staff, err := a.Staff(ctx, org)
	if err != nil {
		return err
	}
	if out.Routers, err = a.Routers(ctx, org); err != nil {
		return err
	}
	out.Subscribers, out.Staff, out.LastSignInAt = customers[org], staff.Staff, staff.LastSignInAt
	c.SetRevision(uint64(row.Revision)) //nolint:gosec // revisions are not negative
	return c.Send(200, out)
}

// change renames an organization; without a name it answers with the organization as it is.
func (a Organizations) change(ctx context.Context, c *httpapi.Call) error {
	org, err := httpapi.PathID[id.Organization](c, "id", commands.ErrNoOrganization)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[organizationPatch](c)
	if err != nil {
		return err
	}
	name := httpapi.Emptied(in.Name, c.Nulls()["name"])
	if name == nil {
		return httpapi.ReadOne(ctx, c, a.one())
	}
	done, err := a.Bus.Execute(ctx, commands.RenameOrganization{OrgID: org, Name: inputtext.Text(*name)},
		c.Meta())
	if err != nil {
		return err
	}
	return a.show(ctx, c, 200, org, done)
}

// suspend ends everybody's access at once.
func (a Organizations) suspend(ctx context.Context, c *httpapi.Call) error {
	return a.withReason(ctx, c, func(org id.Organization, reason string) commands.Command {
		return commands.SuspendOrganization{OrgID: org, Reason: reason}
	})
}

// resume undoes a suspension.
func (a Organizations) resume(ctx context.Context, c *httpapi.Call) error {
	return a.withReason(ctx, c, func(org id.Organization, reason string) commands.Command {
		return commands.ResumeOrganization{OrgID: org, Reason: reason}
	})
}

// withReason executes a command that needs a reason, and answers with the organization.
func (a Organizations) withReason(
	ctx context.Context, c *httpapi.Call, command func(id.Organization, string) commands.Command,
) error {
	org, done, err := httpapi.ExecuteWithReason(ctx, c, a.Bus, commands.ErrNoOrganization, command)
	if err != nil {
		return err
	}
	return a.show(ctx, c, 200, org, done)
}
