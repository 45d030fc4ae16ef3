package identityapi

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Organizations serves /orgs on the root host.
type Organizations struct {
	Bus            *bus.Bus
	Organizations  identityviews.OrganizationsQuery
	Users          identityviews.UsersQuery
	DirectoryShows *runner.Memory
	Passwords      *vault.Passwords
}

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
			Summary: "List organizations", Row: organizationResponse{}, Handle: a.list,
		},
		{
			Method: "GET", Path: "/orgs/:id", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "Read an organization", Response: organizationResponse{}, Handle: a.get,
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

// organizationRequest is api.md's.
type organizationRequest struct {
	Slug     string       `json:"slug"`
	Name     string       `json:"name"`
	Timezone string       `json:"timezone,omitempty" doc:"IANA name; Africa/Nairobi when absent"`
	Currency string       `json:"currency,omitempty" doc:"ISO 4217; KES when absent; fixed for ever"`
	Country  string       `json:"country,omitempty" doc:"ISO 3166-1 alpha-2; KE when absent"`
	Admin    adminRequest `json:"admin"`
}

// organizationPatch changes what is given; the rest is the organization's own business.
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

// showOrganization is a row as the API shows it.
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

// orDefault is the text, or what stands for an absent one.
func orDefault(text, absent string) string {
	if text == "" {
		return absent
	}
	return text
}

// kenyanTax is what api.md gives organizations of Kenya: VAT 16 %, in the price.
func kenyanTax(country string) events.TaxRule {
	if country != "KE" {
		return events.TaxRule{Inclusive: true}
	}
	return events.TaxRule{Inclusive: true, Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}}}
}

// create makes the organization, then its administrator; every fault of either is told before anything is written.
func (a Organizations) create(ctx context.Context, c *httpapi.Call) error {
	in, invalid, err := httpapi.DecodeLoosely[organizationRequest](c)
	if err != nil {
		return err
	}
	country := orDefault(in.Country, "KE")
	create := commands.CreateOrganization{
		OrgID: usecases.NewID[id.Organization](c.Asked(), "organization"), Slug: in.Slug, Name: strings.TrimSpace(in.Name),
		Billing: events.BillingSettings{
			Timezone: orDefault(in.Timezone, "Africa/Nairobi"), Currency: money.Currency(orDefault(in.Currency, "KES")),
			Country: country, InvoicePrefix: invoicePrefix(in.Slug, 0), Tax: kenyanTax(country),
		},
	}
	phone := ""
	if in.Admin.Phone != "" {
		phone = commands.NormalizeContactPhone(in.Admin.Phone)
	}
	admin := commands.RegisterUser{
		UserID: newUserID(c, "admin"), Email: personal.Of(commands.NormalizeEmail(in.Admin.Email)),
		Phone: personal.Of(phone), FirstName: personal.Of(strings.TrimSpace(in.Admin.FirstName)),
		LastName: personal.Of(strings.TrimSpace(in.Admin.LastName)), MustChangePassword: true, OrgID: create.OrgID,
		Role: events.RoleAdmin,
	}
	if err := httpapi.JoinFaults(invalid, create.Validate(),
		httpapi.Under("admin.", checkNewUser(admin, in.Admin.TemporaryPassword))); err != nil {
		return err
	}
	done, err := a.createWithPrefix(ctx, c, create)
	if err != nil {
		return err
	}
	_, added, err := addUser(ctx, c, a.Bus, a.Users, a.Passwords, in.Admin.TemporaryPassword, admin)
	if err != nil {
		return fmt.Errorf("add administrator: %w", err)
	}
	if shown, err := c.WaitVisible(ctx, identityviews.UsersName, added.Position); err != nil || !shown {
		return cmp.Or(err, runner.ErrBehind)
	}
	done.Position = max(done.Position, added.Position)
	return a.show(ctx, c, 201, create.OrgID, done)
}

// maxPrefixTries bounds the search for a free invoice prefix.
const maxPrefixTries = 100

// createWithPrefix creates the organization under the first invoice prefix of its slug that is free.
func (a Organizations) createWithPrefix(
	ctx context.Context, c *httpapi.Call, create commands.CreateOrganization,
) (bus.Result, error) {
	for try := 0; ; try++ {
		create.Billing.InvoicePrefix = invoicePrefix(create.Slug, try)
		done, err := a.Bus.Execute(ctx, create, c.Meta())
		if failure.CodeOf(err) != "invoice_prefix_taken" || try == maxPrefixTries {
			return done, err
		}
	}
}

// invoicePrefix makes 2 to 6 capitals or digits of a slug, not digits alone; a number tells slugs apart that begin
// alike. It is well formed whatever the slug is: the slug's faults are told, its prefix's are nobody's.
func invoicePrefix(slug string, n int) string {
	letters := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToUpper(slug))
	if strings.Trim(letters[:min(4, len(letters))], "0123456789") == "" {
		letters = "N" + letters
	}
	for len(letters) < 2 {
		letters += "X"
	}
	if n == 0 {
		return letters[:min(6, len(letters))]
	}
	number := fmt.Sprint(n + 1)
	return letters[:min(6-len(number), len(letters))] + number
}

// show answers with the organization once both read sides have the write.
func (a Organizations) show(
	ctx context.Context, c *httpapi.Call, status int, org id.Organization, done bus.Result,
) error {
	if err := a.DirectoryShows.WaitFor(ctx, done.Position); err != nil {
		return err
	}
	v := httpapi.Visible{Projection: identityviews.OrganizationsName, ID: org.String(), Result: done}
	return httpapi.SendVisible(ctx, c, status, v, func(ctx context.Context) (organizationResponse, error) {
		row, err := a.Organizations.Get(ctx, org)
		if err != nil || row == nil {
			return organizationResponse{}, cmp.Or(err, commands.ErrNoOrganization())
		}
		return showOrganization(*row), nil
	})
}

// list answers with a page of organizations.
func (a Organizations) list(ctx context.Context, c *httpapi.Call) error {
	page, err := httpapi.PageOf[identityviews.OrganizationKey](c)
	if err != nil {
		return err
	}
	rows, err := a.Organizations.List(ctx, null.Zero(page.After), page.Fetch())
	if err != nil {
		return err
	}
	return httpapi.SendPage(c, page, rows, func(r identityviews.OrganizationRow) identityviews.OrganizationKey {
		return identityviews.OrganizationKey{CreatedAt: r.CreatedAt, ID: r.ID}
	}, showOrganization)
}

// get answers with one organization.
func (a Organizations) get(ctx context.Context, c *httpapi.Call) error {
	org, err := httpapi.PathID[id.Organization](c, "id", commands.ErrNoOrganization)
	if err != nil {
		return err
	}
	row, err := a.Organizations.Get(ctx, org)
	if err != nil || row == nil {
		return cmp.Or(err, commands.ErrNoOrganization())
	}
	c.SetRevision(uint64(row.Revision))
	return c.Send(200, showOrganization(*row))
}

// change renames an organization.
func (a Organizations) change(ctx context.Context, c *httpapi.Call) error {
	org, err := httpapi.PathID[id.Organization](c, "id", commands.ErrNoOrganization)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[organizationPatch](c)
	if err != nil {
		return err
	}
	if in.Name == nil {
		return a.get(ctx, c)
	}
	done, err := a.Bus.Execute(ctx, commands.RenameOrganization{OrgID: org, Name: strings.TrimSpace(*in.Name)},
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

// withReason executes a command that needs a reason.
func (a Organizations) withReason(
	ctx context.Context, c *httpapi.Call, command func(id.Organization, string) commands.Command,
) error {
	org, done, err := httpapi.ExecuteWithReason(ctx, c, a.Bus, commands.ErrNoOrganization, command)
	if err != nil {
		return err
	}
	return a.show(ctx, c, 200, org, done)
}
