// Package paymentsapi serves payments, receipts, the settings of the payment gateway and the provider's callbacks.
package paymentsapi

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// Gateway serves /settings/payment-gateway.
type Gateway struct {
	Gateways paymentsviews.GatewaysQuery
	Cases    paymentscases.Gateways
	Settings usecases.SettingsOf
	// NextTry gives the instant of the next try to register an organization's own shortcode; nil = none by itself.
	NextTry func(ctx context.Context, org id.Organization) (*time.Time, error)
}

// Modes of taking mobile money. Source: docs/rules/payments.md#gateway-settings.
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
		{
			Method: "POST", Path: "/settings/payment-gateway/register", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "Register the organization's own shortcode with the provider now",
			Response: gatewayResponse{}, Handle: a.register,
		},
		{
			Method: "GET", Path: "/paybill", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnShared, Summary: "The number that customers pay to, with their account number",
			Response: paybillResponse{}, Handle: a.paybill,
		},
	}
}

// gatewayRequest is the body of PUT /settings/payment-gateway. A secret given as "********" stays as it is.
type gatewayRequest struct {
	Mode                  string       `json:"mode" enum:"centralized,direct"`
	Environment           string       `json:"environment,omitempty" enum:"sandbox,production"`
	Shortcode             string       `json:"shortcode,omitempty"`
	ConsumerKey           secrets.Text `json:"consumerKey,omitempty"`
	ConsumerSecret        secrets.Text `json:"consumerSecret,omitempty"`
	Passkey               secrets.Text `json:"passkey,omitempty"`
	Initiator             string       `json:"initiator,omitempty" doc:"asks for status and reversals; - removes it"`
	SecurityCredential    secrets.Text `json:"securityCredential,omitempty" doc:"the initiator's, encrypted, in base64"`
	RejectUnknownAccounts bool         `json:"rejectUnknownAccounts,omitempty" doc:"refuse money for unknown accounts"`
	NominatedNumber       *string      `json:"nominatedNumber,omitempty" doc:"absent: as it is; empty: removed"`
}

// gatewayResponse shows the settings; secrets as "********", or "" when there are none.
type gatewayResponse struct {
	Mode                  string              `json:"mode" enum:"centralized,direct"`
	Environment           string              `json:"environment" enum:"sandbox,production"`
	Shortcode             string              `json:"shortcode" doc:"the platform's in centralized mode"`
	ConsumerKey           string              `json:"consumerKey"`
	ConsumerSecret        string              `json:"consumerSecret"`
	Passkey               string              `json:"passkey"`
	Initiator             string              `json:"initiator" doc:"hidden; empty: no status and no reversals"`
	SecurityCredential    string              `json:"securityCredential"`
	CredentialsVersion    *string             `json:"credentialsVersion" doc:"changes with each secret"`
	RejectUnknownAccounts bool                `json:"rejectUnknownAccounts"`
	NominatedNumber       *string             `json:"nominatedNumber" doc:"a phone; null: the platform's"`
	Active                bool                `json:"active" doc:"money is taken on this shortcode"`
	Registration          gatewayRegistration `json:"registration"`
}

// gatewayRegistration is the state of the registration of an organization's own shortcode with the provider.
type gatewayRegistration struct {
	State     string          `json:"state" enum:"not_needed,pending,registered,failed"`
	Error     *string         `json:"error" doc:"in the provider's words"`
	TriedAt   *time.Time      `json:"triedAt" doc:"end of the last try with these settings; null: none has ended"`
	NextTryAt *time.Time      `json:"nextTryAt" doc:"when it is tried again by itself; null: only when it is asked for"`
	Refusal   *gatewayRefusal `json:"refusal" doc:"how the last try failed; stays while the next one is under way"`
}

// gatewayRefusal is the end of a try that failed.
type gatewayRefusal struct {
	At      time.Time `json:"at"`
	Why     string    `json:"why" enum:"credentials,refused,unreachable,elsewhere,former,shortcode_taken,unknown"`
	Message string    `json:"message" doc:"in the provider's words, or in ours where it gave none"`
}

// paybillResponse tells staff what a customer asks for on the phone, and the customer how to pay by hand. The account
// number to pay with is the customer's.
type paybillResponse struct {
	Shortcode   *string `json:"shortcode" doc:"null: no number takes money of this currency now"`
	Environment *string `json:"environment" enum:"sandbox,production" doc:"a sandbox moves no money; null: no number"`
}

// ForCustomer implements httpapi.StaffSees: nothing in it is for staff alone.
func (*paybillResponse) ForCustomer() {}

// whyRefused has a word for each failure about which something can be done. The provider's addresses of the shortcode
// are elsewhere's when another system registered them, and former when it was this platform under another address.
var whyRefused = map[string]string{
	"provider_credentials_refused": "credentials",
	"provider_refused":             "refused",
	"provider_unavailable":         "unreachable",
	"callback_addresses_taken":     "elsewhere",
	"callback_addresses_changed":   "former",
	"shortcode_taken":              "shortcode_taken",
}

// refusalOf shows how the last try failed, nil when it did not.
func refusalOf(g *paymentsviews.GatewayRow) *gatewayRefusal {
	if g.RefusedAt == nil {
		return nil
	}
	return &gatewayRefusal{
		At: *g.RefusedAt, Why: cmp.Or(whyRefused[g.RefusalCode], "unknown"), Message: g.Refusal,
	}
}

// read gives the settings as they are shown, and the row behind them.
func (a Gateway) read(ctx context.Context, org id.Organization) (gatewayResponse, *paymentsviews.GatewayRow, error) {
	row, err := a.Gateways.Get(ctx, org)
	if err != nil {
		return gatewayResponse{}, nil, err
	}
	out := a.show(row)
	if row != nil && row.Direct && !row.Registered {
		out.Registration.NextTryAt, err = a.NextTry(ctx, org)
	}
	if err == nil && row != nil && row.Direct {
		var has bool
		if has, err = a.Cases.HasInitiator(ctx, row.CredentialsRef); has {
			out.Initiator, out.SecurityCredential = secrets.Hidden, secrets.Hidden
		}
	}
	if err == nil && row != nil && row.Direct {
		var number string
		number, err = a.Cases.Nominated(ctx, row.NominatedRef)
		out.NominatedNumber = null.Of(number)
	}
	return out, row, err
}

// paybill answers with the number of which GET /settings/payment-gateway tells administrators.
func (a Gateway) paybill(ctx context.Context, c *httpapi.Call) error {
	settings, err := a.Settings(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	row, err := a.Gateways.Get(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	shortcode, environment := a.Cases.Paybill(row, settings.Currency)
	return c.Send(200, paybillResponse{Shortcode: null.Of(shortcode), Environment: null.Of(environment)})
}

// show writes the settings; nil = the organization never made any, so it uses the platform's shortcode.
func (a Gateway) show(g *paymentsviews.GatewayRow) gatewayResponse {
	if platform := a.Cases.Platform; g == nil || !g.Direct {
		out := gatewayResponse{
			Mode: modeCentralized, Environment: platform.Environment, Shortcode: platform.Shortcode,
			Active: platform.Shortcode != "", Registration: gatewayRegistration{State: "not_needed"},
		}
		out.RejectUnknownAccounts = g != nil && g.RejectUnknownAccounts
		return out
	}
	out := gatewayResponse{
		Mode: modeDirect, Environment: g.Environment, Shortcode: g.Shortcode, ConsumerKey: secrets.Hidden,
		ConsumerSecret: secrets.Hidden, Passkey: secrets.Hidden,
		CredentialsVersion:    httpapi.SecretsVersion(g.CredentialsRef),
		RejectUnknownAccounts: g.RejectUnknownAccounts,
		Active:                g.Active(), Registration: gatewayRegistration{
			State: "pending", Error: null.Of(g.Error), TriedAt: g.TriedAt, Refusal: refusalOf(g),
		},
	}
	switch {
	case g.Registered:
		out.Registration.State = "registered"
	case g.Error != "":
		out.Registration.State = "failed"
	}
	return out
}

// get answers with the settings. They have an ETag also before anybody has made any.
func (a Gateway) get(ctx context.Context, c *httpapi.Call) error {
	shown, row, err := a.read(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	if row == nil {
		c.SetNoRevision()
	} else {
		c.SetRevision(uint64(row.Revision)) //nolint:gosec // revisions are not negative
	}
	return c.Send(200, shown)
}

// put adopts settings. A direct shortcode becomes active when its registration succeeds.
func (a Gateway) put(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[gatewayRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.Configure(ctx, c.Asked(), paymentscases.GatewayInput{
		Direct: in.Mode == modeDirect, Environment: in.Environment, Shortcode: in.Shortcode,
		ConsumerKey: in.ConsumerKey, ConsumerSecret: in.ConsumerSecret, Passkey: in.Passkey,
		Initiator: in.Initiator, SecurityCredential: in.SecurityCredential,
		RejectUnknownAccounts: in.RejectUnknownAccounts, NominatedNumber: in.NominatedNumber,
	})
	if err != nil {
		return err
	}
	return a.changed(ctx, c, done)
}

// register begins a registration of the organization's own shortcode, unless one is under way.
func (a Gateway) register(ctx context.Context, c *httpapi.Call) error {
	done, err := a.Cases.Bus.Execute(ctx, commands.RetryGatewayRegistration{OrgID: c.Org.ID}, c.Asked().Meta)
	if err != nil {
		return err
	}
	return a.changed(ctx, c, done)
}

// changed answers with the settings once they show what was done.
func (a Gateway) changed(ctx context.Context, c *httpapi.Call, done bus.Result) error {
	v := httpapi.Visible{Projection: paymentsviews.GatewaysName, ID: c.Org.ID.String(), Result: done}
	return httpapi.SendVisible(ctx, c, 200, v, func(ctx context.Context) (gatewayResponse, error) {
		shown, _, err := a.read(ctx, c.Org.ID)
		return shown, err
	})
}
