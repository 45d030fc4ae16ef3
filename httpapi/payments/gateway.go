package paymentsapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Gateway serves /settings/payment-gateway.
type Gateway struct {
	Bus      *bus.Bus
	Gateways paymentsviews.GatewaysQuery
	Secrets  *vault.Secrets
	Platform PlatformGateway
}

// Modes of taking mobile money. Source: spec.md, Authentication, Provider credentials.
const (
	modeCentralized = "centralized"
	modeDirect      = "direct"
)

// Routes lists the endpoints of the payment gateway's settings.
func (a Gateway) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/settings/payment-gateway", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "How mobile money is taken", Response: gatewayResponse{},
			Handle: a.get,
		},
		{
			Method: "PUT", Path: "/settings/payment-gateway", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "Change how mobile money is taken", Request: gatewayRequest{},
			Response: gatewayResponse{}, Handle: a.put,
		},
	}
}

// gatewayRequest is api.md's body. A secret given as "********" stays as it is.
type gatewayRequest struct {
	Mode                  string       `json:"mode" enum:"centralized,direct"`
	Environment           string       `json:"environment,omitempty" enum:"sandbox,production"`
	Shortcode             string       `json:"shortcode,omitempty"`
	ConsumerKey           secrets.Text `json:"consumerKey,omitempty"`
	ConsumerSecret        secrets.Text `json:"consumerSecret,omitempty"`
	Passkey               secrets.Text `json:"passkey,omitempty"`
	RejectUnknownAccounts bool         `json:"rejectUnknownAccounts,omitempty" doc:"refuse paybill payments that name no account of ours"`
}

// gatewayResponse shows the settings; secrets as "********", or "" when there are none.
type gatewayResponse struct {
	Mode                  string              `json:"mode" enum:"centralized,direct"`
	Environment           string              `json:"environment" enum:"sandbox,production"`
	Shortcode             string              `json:"shortcode" doc:"the platform's in centralized mode"`
	ConsumerKey           string              `json:"consumerKey"`
	ConsumerSecret        string              `json:"consumerSecret"`
	Passkey               string              `json:"passkey"`
	RejectUnknownAccounts bool                `json:"rejectUnknownAccounts"`
	Active                bool                `json:"active" doc:"money is taken on this shortcode"`
	Registration          gatewayRegistration `json:"registration"`
}

// gatewayRegistration is how far a shortcode of the organization's own is registered with the provider.
type gatewayRegistration struct {
	State string  `json:"state" enum:"not_needed,pending,registered,failed"`
	Error *string `json:"error" doc:"in the provider's words"`
}

// show is the settings as the API shows them; nil = none were ever made.
func (a Gateway) show(g *paymentsviews.GatewayRow) gatewayResponse {
	if g == nil || !g.Direct {
		out := gatewayResponse{
			Mode: modeCentralized, Environment: a.Platform.Environment, Shortcode: a.Platform.Shortcode,
			Active: a.Platform.Shortcode != "", Registration: gatewayRegistration{State: "not_needed"},
		}
		out.RejectUnknownAccounts = g != nil && g.RejectUnknownAccounts
		return out
	}
	out := gatewayResponse{
		Mode: modeDirect, Environment: g.Environment, Shortcode: g.Shortcode, ConsumerKey: secrets.Hidden,
		ConsumerSecret: secrets.Hidden, Passkey: secrets.Hidden, RejectUnknownAccounts: g.RejectUnknownAccounts,
		Active: g.Active(), Registration: gatewayRegistration{State: "pending", Error: null.Of(g.Error)},
	}
	switch {
	case g.Registered:
		out.Registration.State = "registered"
	case g.Error != "":
		out.Registration.State = "failed"
	}
	return out
}

// get answers with the settings.
func (a Gateway) get(ctx context.Context, c *httpapi.Call) error {
	row, err := a.Gateways.Get(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	if row != nil {
		c.SetRevision(uint64(row.Revision)) //nolint:gosec // revisions are not negative
	}
	return c.Send(200, a.show(row))
}

// put stores the secrets, then adopts the settings. A direct shortcode becomes active by its registration.
func (a Gateway) put(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[gatewayRequest](c)
	if err != nil {
		return err
	}
	command := commands.ConfigureGateway{
		OrgID: c.Org.ID, Environment: in.Environment, RejectUnknownAccounts: in.RejectUnknownAccounts,
	}
	if command.Environment == "" {
		command.Environment = a.Platform.Environment
	}
	if a.Platform.Live && a.Platform.Environment == "sandbox" && command.Environment == "production" {
		return failure.NewInvalid("invalid_input",
			"environment must be sandbox: this platform runs in the provider's sandbox")
	}
	if in.Mode == modeDirect {
		if in.Shortcode == a.Platform.Shortcode && in.Shortcode != "" {
			return failure.NewConflict("shortcode_taken", "This shortcode is the platform's.")
		}
		command.Direct, command.Shortcode = true, in.Shortcode
		if command.CredentialsRef, err = a.keep(ctx, c, in); err != nil {
			return err
		}
	}
	done, err := a.Bus.Execute(ctx, command, c.Meta())
	if err != nil {
		return err
	}
	v := httpapi.Visible{Projection: paymentsviews.GatewaysName, ID: c.Org.ID.String(), Result: done}
	return httpapi.SendVisible(ctx, c, 200, v, func(ctx context.Context) (gatewayResponse, error) {
		row, err := a.Gateways.Get(ctx, c.Org.ID)
		return a.show(row), err
	})
}

// keep stores the credentials under a new reference, unless they are the ones in use: then the registration holds.
func (a Gateway) keep(ctx context.Context, c *httpapi.Call, in gatewayRequest) (id.Secret, error) {
	none := id.Secret{}
	current, _, err := bus.LoadUnchecked[payments.Gateway](ctx, a.Bus, c.Org.ID)
	if err != nil {
		return none, err
	}
	var before commands.GatewayCredentials
	if !current.Credentials.IsZero() {
		plain, err := a.Secrets.Get(ctx, current.Credentials)
		if err == nil {
			err = json.Unmarshal(plain, &before)
		}
		if err != nil {
			return none, fmt.Errorf("read payment credentials: %w", err)
		}
	}
	after := commands.GatewayCredentials{
		ConsumerKey:    orBefore(in.ConsumerKey, before.ConsumerKey),
		ConsumerSecret: orBefore(in.ConsumerSecret, before.ConsumerSecret),
		Passkey:        orBefore(in.Passkey, before.Passkey),
	}
	var faults failure.Faults
	faults.Check(after.ConsumerKey != "", "consumerKey", "is required in direct mode")
	faults.Check(after.ConsumerSecret != "", "consumerSecret", "is required in direct mode")
	faults.Check(after.Passkey != "", "passkey", "is required in direct mode")
	if err := faults.Err(); err != nil {
		return none, err
	}
	if after == before {
		return current.Credentials, nil
	}
	plain, err := json.Marshal(after)
	if err != nil {
		return none, fmt.Errorf("write payment credentials: %w", err)
	}
	ref := usecases.NewID[id.Secret](c.Asked(), "payment_credentials")
	return ref, a.Secrets.Put(ctx, vault.Secret{Ref: ref, OrgID: c.Org.ID, Purpose: commands.GatewayCredentialsPurpose},
		plain)
}

// orBefore is the secret given, or the present one when it was shown hidden or left out.
func orBefore(given secrets.Text, before string) string {
	if given.IsZero() || given.Reveal() == secrets.Hidden {
		return before
	}
	return given.Reveal()
}
