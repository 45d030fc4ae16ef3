package identityapi

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Settings serves /settings/organization.
type Settings struct {
	Bus            *bus.Bus
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
			Handle: a.put,
		},
	}
}

// BillingSettings reads an organization's present settings from the log.
func (a Settings) BillingSettings(
	ctx context.Context, org id.Organization,
) (events.BillingSettings, error) {
	state, _, err := bus.LoadUnchecked[identity.Organization](ctx, a.Bus, id.Any(org))
	if err != nil {
		return events.BillingSettings{}, err
	}
	if state.ID.IsZero() {
		return events.BillingSettings{}, commands.ErrNoOrganization()
	}
	return state.Billing, nil
}

// taxComponent is one named tax; rate is in percent with at most two decimals.
type taxComponent struct {
	Name     string      `json:"name"`
	Rate     json.Number `json:"rate"`
	Compound bool        `json:"compound,omitempty" doc:"applied on top of the taxes before it"`
}

// taxSettings says which taxes prices carry.
type taxSettings struct {
	Mode       string         `json:"mode" enum:"inclusive,exclusive"`
	Components []taxComponent `json:"components"`
}

// settingsRequest changes what is given.
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
}

// settingsResponse is api.md's.
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
}

// percentUnit is the currency of tax rates: two decimals, so that minor units are basis points.
const percentUnit money.Currency = "KES"

// showSettings is a row as the API shows it.
func showSettings(r identityviews.OrganizationRow) settingsResponse {
	b := r.Billing
	out := settingsResponse{
		Name: r.Name, Slug: r.Slug, Timezone: b.Timezone, Currency: b.Currency, Country: b.Country,
		InvoicePrefix: b.InvoicePrefix, Tax: taxSettings{Mode: "exclusive", Components: []taxComponent{}},
		TaxPIN: b.TaxPIN, Holidays: b.Holidays,
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

// get answers with the settings.
func (a Settings) get(ctx context.Context, c *httpapi.Call) error {
	row, err := a.Organizations.Get(ctx, c.Org.ID)
	if err != nil || row == nil {
		return cmp.Or(err, commands.ErrNoOrganization())
	}
	c.SetRevision(uint64(row.Revision))
	return c.Send(200, showSettings(*row))
}

// put changes what is given: first the billing rules, which may be refused, then the name, which may not.
func (a Settings) put(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[settingsRequest](c)
	if err != nil {
		return err
	}
	if in.Slug != nil && *in.Slug != c.Org.Slug {
		return failure.NewInvalid("invalid_input", "slug cannot be changed")
	}
	rename := commands.RenameOrganization{OrgID: c.Org.ID}
	var badName error
	if in.Name != nil {
		rename.Name = strings.TrimSpace(*in.Name)
		badName = rename.Validate()
	}
	done, err := usecases.Amend(ctx, a.Bus, c.Asked(), c.Org.ID,
		func(present identity.Organization) (commands.Command, error) {
			if present.ID.IsZero() {
				return nil, commands.ErrNoOrganization()
			}
			next, err := in.onto(present.Billing)
			adopt := commands.AdoptBillingSettings{OrgID: c.Org.ID, Billing: next}
			return adopt, httpapi.JoinFaults(err, adopt.Validate(), badName)
		})
	if err != nil {
		return err
	}
	if in.Name != nil {
		renamed, err := a.Bus.Execute(ctx, rename, c.Asked().Step("rename"))
		if err != nil {
			return err
		}
		done.Position, done.Revision = max(done.Position, renamed.Position), renamed.Revision
	}
	if err := a.DirectoryShows.WaitFor(ctx, done.Position); err != nil {
		return err
	}
	v := httpapi.Visible{Projection: identityviews.OrganizationsName, ID: c.Org.ID.String(), Result: done}
	return httpapi.SendVisible(ctx, c, 200, v, func(ctx context.Context) (settingsResponse, error) {
		row, err := a.Organizations.Get(ctx, c.Org.ID)
		if err != nil || row == nil {
			return settingsResponse{}, cmp.Or(err, commands.ErrNoOrganization())
		}
		return showSettings(*row), nil
	})
}

// onto is the settings with what the request gives.
func (r settingsRequest) onto(b events.BillingSettings) (events.BillingSettings, error) {
	var faults failure.Faults
	set := func(to *string, from *string) {
		if from != nil {
			*to = strings.TrimSpace(*from)
		}
	}
	currency := string(b.Currency)
	set(&currency, r.Currency)
	b.Currency = money.Currency(currency)
	set(&b.Timezone, r.Timezone)
	set(&b.Country, r.Country)
	set(&b.InvoicePrefix, r.InvoicePrefix)
	set(&b.TaxPIN, r.TaxPIN)
	if r.Holidays != nil {
		b.Holidays = *r.Holidays
	}
	if r.Tax != nil {
		b.Tax = events.TaxRule{Inclusive: r.Tax.Mode == "inclusive"}
		for _, t := range r.Tax.Components {
			rate, err := money.Parse(t.Rate.String(), percentUnit)
			faults.Check(err == nil, "tax", "rates must be percentages with at most two decimals")
			b.Tax.Components = append(b.Tax.Components, events.TaxComponent{
				Name: strings.TrimSpace(t.Name), BasisPoints: rate.Minor, Compound: t.Compound,
			})
		}
	}
	return b, faults.Err()
}
