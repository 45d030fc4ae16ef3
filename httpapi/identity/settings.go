package identityapi

import (
	"context"
	"encoding/json"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// Settings serves /settings/organization.
type Settings struct {
	Cases          identitycases.Settings
	Organizations  identityviews.OrganizationsQuery
	DirectoryShows *runner.Memory
}

// Routes lists the endpoints of an organization's settings.
func (a Settings) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/settings/organization", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Read the organization's settings", Response: settingsResponse{}, Handle: a.get,
		},
		{
			Method: "PUT", Path: "/settings/organization", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Change the organization's settings", Request: settingsRequest{}, Response: settingsResponse{},
			Codes: []string{"api_key_not_allowed"}, Handle: a.put,
		},
	}
}

// taxComponent is one named tax; rate is in percent with at most two decimals.
type taxComponent struct {
	Name     string      `json:"name"`
	Rate     json.Number `json:"rate"`
	Compound bool        `json:"compound,omitempty" doc:"applied on top of the taxes before it"`
}

// taxSettings says which taxes an organization charges, and whether prices contain them.
type taxSettings struct {
	Mode       string         `json:"mode" enum:"inclusive,exclusive"`
	Components []taxComponent `json:"components"`
}

// settingsRequest changes the fields that are given.
type settingsRequest struct {
	Slug          *string          `json:"slug,omitempty" doc:"cannot be changed; may be sent back as it was read"`
	Name          *string          `json:"name,omitempty"`
	Timezone      *string          `json:"timezone,omitempty"`
	Currency      *string          `json:"currency,omitempty" doc:"cannot be changed"`
	Country       *string          `json:"country,omitempty"`
	InvoicePrefix *string          `json:"invoicePrefix,omitempty"`
	Tax           *taxSettings     `json:"tax,omitempty"`
	TaxPIN        *string          `json:"taxPin,omitempty"`
	Holidays      *[]calendar.Date `json:"holidays,omitempty"`
	SuspenseDays  *int             `json:"suspenseDays,omitempty" doc:"1 to 90"`
	StripRealm    *bool            `json:"stripRealm,omitempty" doc:"see the answer"`
	// RequireSecondFactor is for administrators and support, not for subscribers.
	RequireSecondFactor *bool `json:"requireSecondFactor,omitempty" doc:"staff must set one up before anything else"`
}

// settingsResponse is the answer of GET /settings/organization (docs/rules/billing.md#organization-settings).
type settingsResponse struct {
	Name          string          `json:"name"`
	Slug          string          `json:"slug"`
	Timezone      string          `json:"timezone"`
	Currency      money.Currency  `json:"currency"`
	Country       string          `json:"country"`
	InvoicePrefix string          `json:"invoicePrefix"`
	Tax           taxSettings     `json:"tax"`
	TaxPIN        string          `json:"taxPin"`
	Holidays      []calendar.Date `json:"holidays"`
	SuspenseDays  int             `json:"suspenseDays" doc:"after so many days money in suspense is an alarm"`

	StripRealm bool `json:"stripRealm" doc:"DOMAIN\\user and user@realm sign in on the network as user"`

	RequireSecondFactor bool `json:"requireSecondFactor" doc:"of the staff"`
}

// showSettings writes tax rates in percent; no list is null.
func showSettings(r identityviews.OrganizationRow) settingsResponse {
	b := r.Billing
	out := settingsResponse{
		Name: r.Name, Slug: r.Slug, Timezone: b.Timezone, Currency: b.Currency, Country: b.Country,
		InvoicePrefix: b.InvoicePrefix, Tax: taxSettings{Mode: "exclusive", Components: []taxComponent{}},
		TaxPIN: b.TaxPIN, Holidays: b.Holidays, SuspenseDays: usecases.SuspenseDays(b), StripRealm: b.StripRealm,
		RequireSecondFactor: r.SecondFactorRequired,
	}
	if b.Tax.Inclusive {
		out.Tax.Mode = "inclusive"
	}
	for _, t := range b.Tax.Components {
		out.Tax.Components = append(out.Tax.Components, taxComponent{
			t.Name, httpapi.Percent(t.BasisPoints), t.Compound,
		})
	}
	if out.Holidays == nil {
		out.Holidays = []calendar.Date{}
	}
	return out
}

// one describes how an organization's settings are read and shown.
func (a Settings) one() httpapi.One[id.Organization, identityviews.OrganizationRow, settingsResponse] {
	return httpapi.One[id.Organization, identityviews.OrganizationRow, settingsResponse]{
		Model: identityviews.OrganizationsName, Missing: commands.ErrNoOrganization, Show: showSettings,
		Read: readItself(a.Organizations),
	}
}

// get answers with the settings, and with their revision as ETag.
func (a Settings) get(ctx context.Context, c *httpapi.Call) error {
	row, err := a.one().Find(ctx, c, c.Org.ID)
	if err != nil {
		return err
	}
	c.SetRevision(uint64(row.Revision)) //nolint:gosec // revisions are not negative
	return c.Send(200, showSettings(row))
}

// put changes the settings that are given, and answers once the directory has them.
func (a Settings) put(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[settingsRequest](c)
	if err != nil {
		return err
	}
	if in.RequireSecondFactor != nil && c.Caller.Kind == events.ActorAPIKey {
		return usecases.ErrPeopleOnly() // a stolen key must not open the door for the person who stole it
	}
	done, err := a.Cases.Change(ctx, c.Asked(), in.change())
	if err != nil {
		return err
	}
	if err := a.DirectoryShows.WaitFor(ctx, done.Position); err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), c.Org.ID, done)
}

// change is the request in the form of the use case.
func (r settingsRequest) change() identitycases.SettingsChange {
	in := identitycases.SettingsChange{
		Slug: r.Slug, Name: r.Name, Timezone: r.Timezone, Currency: r.Currency, Country: r.Country,
		InvoicePrefix: r.InvoicePrefix, TaxPIN: r.TaxPIN, Holidays: r.Holidays,
		SuspenseDays: r.SuspenseDays, StripRealm: r.StripRealm, SecondFactor: r.RequireSecondFactor,
	}
	if r.Tax != nil {
		in.Tax = &identitycases.Tax{Inclusive: r.Tax.Mode == "inclusive"}
		for _, t := range r.Tax.Components {
			in.Tax.Components = append(in.Tax.Components, identitycases.TaxComponent{
				Name: t.Name, Percent: t.Rate.String(), Compound: t.Compound,
			})
		}
	}
	return in
}
