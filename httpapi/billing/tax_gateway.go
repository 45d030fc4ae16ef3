package billingapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// TaxGateway serves /settings/tax-gateway (docs/rules/billing-tax.md#tax-settings).
type TaxGateway struct {
	Cases      billingcases.TaxGateways
	Signatures billingviews.SignaturesQuery
}

// Routes lists the endpoints of the settings.
func (a TaxGateway) Routes() []httpapi.Route {
	on, admin := httpapi.OnOrganization, httpapi.AccessAdmin
	return []httpapi.Route{
		{
			Method: "GET", Path: "/settings/tax-gateway", Hosts: on, Access: admin, Response: taxGatewayResponse{},
			Summary: "Whether and how documents are signed by the tax authority", Handle: a.get,
		},
		{
			Method: "PUT", Path: "/settings/tax-gateway", Hosts: on, Access: admin, Request: taxGatewayRequest{},
			Response: taxGatewayResponse{}, Handle: a.put,
			Summary: "Change whether and how documents are signed by the tax authority",
		},
	}
}

// taxGatewayRequest is the body of PUT /settings/tax-gateway. A secret given as "********" stays as it is.
type taxGatewayRequest struct {
	On       bool         `json:"on" doc:"what is issued from now on is signed"`
	Address  string       `json:"address,omitempty" doc:"https; while it is off, empty leaves it as it is"`
	Serial   string       `json:"serial,omitempty" doc:"of the device that the tax authority has registered"`
	Branch   string       `json:"branch,omitempty" doc:"of the business, such as 00 for the head office"`
	Secret   secrets.Text `json:"secret,omitempty" doc:"of the device"`
	Messages bool         `json:"messages,omitempty" doc:"customers are told of each signed invoice"`
}

// taxGatewayResponse shows the settings; the secret as "********", or "" when there is none.
type taxGatewayResponse struct {
	On            bool    `json:"on"`
	Address       string  `json:"address"`
	Serial        string  `json:"serial"`
	Branch        string  `json:"branch"`
	Secret        string  `json:"secret"`
	SecretVersion *string `json:"secretVersion" doc:"changes with the secret"`
	Messages      bool    `json:"messages"`
}

// showTaxGateway writes the settings; nil = the organization never made any.
func showTaxGateway(r *billingviews.TaxGatewayRow) taxGatewayResponse {
	if r == nil {
		return taxGatewayResponse{}
	}
	out := taxGatewayResponse{
		On: r.On, Address: r.Address, Serial: r.Serial, Branch: r.Branch, Messages: r.Messages,
		SecretVersion: httpapi.SecretsVersion(r.SecretRef),
	}
	if !r.SecretRef.IsZero() {
		out.Secret = secrets.Hidden
	}
	return out
}

// get answers with the settings. They have an ETag also before anybody has made any.
func (a TaxGateway) get(ctx context.Context, c *httpapi.Call) error {
	row, err := a.Signatures.Settings(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	if row == nil {
		c.SetNoRevision()
	} else {
		c.SetRevision(uint64(row.Revision)) //nolint:gosec // revisions are not negative
	}
	return c.Send(200, showTaxGateway(row))
}

// put adopts settings, and answers with them once they are shown.
func (a TaxGateway) put(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[taxGatewayRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.Configure(ctx, c.Asked(), billingcases.TaxGatewayInput(in))
	if err != nil {
		return err
	}
	v := httpapi.Visible{Projection: billingviews.SignaturesName, ID: c.Org.ID.String(), Result: done}
	return httpapi.SendVisible(ctx, c, 200, v, func(ctx context.Context) (taxGatewayResponse, error) {
		row, err := a.Signatures.Settings(ctx, c.Org.ID)
		return showTaxGateway(row), err
	})
}
