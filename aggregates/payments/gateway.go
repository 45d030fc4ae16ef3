package payments

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Gateways is the definition of payment gateway settings.
func Gateways() aggregates.Definition[Gateway, commands.GatewayCommand, events.GatewayEvent] {
	return aggregates.Definition[Gateway, commands.GatewayCommand, events.GatewayEvent]{
		Category: commands.GatewayCategory, Missing: commands.ErrNoGateway, Evolve: evolveGateway,
		Decide: decideGateway,
		Owner:  ownerGateway, Claims: claimsGateway,
		Commands: []commands.GatewayCommand{
			commands.ConfigureGateway{}, commands.RegisterGateway{}, commands.FailGatewayRegistration{},
		},
	}
}

// Gateway is how one organization takes mobile money. The zero value is "centralized, never configured".
type Gateway struct {
	Org         id.Organization
	Direct      bool
	Environment string
	Shortcode   string
	Credentials id.Secret
	RejectUnkn  bool // reject validation of unknown accounts
	Registered  bool // the direct shortcode is active
	Failed      string
}

// Active reports whether money is taken on the organization's own shortcode; else it is on the platform's.
func (s Gateway) Active() bool { return s.Direct && s.Registered }

// ownerGateway is the organization.
func ownerGateway(s Gateway) id.Organization { return s.Org }

// claimsGateway is the direct shortcode, platform-wide (docs/rules/payments.md#direct-shortcode): two organizations
// with one would read each other's money.
func claimsGateway(s Gateway) []commands.Claim {
	if s.Shortcode == "" {
		return nil
	}
	return []commands.Claim{{
		Kind: "shortcode", Value: s.Shortcode, Code: "shortcode_taken",
		Message: "this shortcode belongs to another organization",
	}}
}

// evolveGateway applies one recorded fact.
func evolveGateway(s Gateway, e events.GatewayEvent) Gateway {
	switch e := e.(type) {
	case events.GatewayConfigured:
		active := s.Registered && s.sameAccess(e.Direct, e.Environment, e.Shortcode, e.CredentialsRef)
		s = Gateway{
			Org: e.OrgID, Direct: e.Direct, Environment: e.Environment, Shortcode: e.Shortcode,
			Credentials: e.CredentialsRef, RejectUnkn: e.RejectUnknownAccounts, Registered: active,
		}
	case events.GatewayRegistered:
		s.Registered, s.Failed = true, ""
	case events.GatewayRegistrationFailed:
		s.Registered, s.Failed = false, e.Error
	}
	return s
}

// sameAccess tells whether settings use the same shortcode in the same way: then they stay active.
func (s Gateway) sameAccess(direct bool, environment, shortcode string, credentials id.Secret) bool {
	return s.Direct == direct && s.Environment == environment && s.Shortcode == shortcode &&
		s.Credentials == credentials
}

// decideGateway dispatches.
func decideGateway(s Gateway, c commands.GatewayCommand, now time.Time) ([]events.GatewayEvent, error) {
	switch c := c.(type) {
	case commands.ConfigureGateway:
		return decideConfigureGateway(s, c, now)
	case commands.RegisterGateway:
		return decideRegisterGateway(s, c, now)
	case commands.FailGatewayRegistration:
		return decideFailRegistration(s, c, now)
	}
	return nil, nil
}

// decideConfigureGateway adopts the settings. The same ones again try a failed registration once more.
func decideConfigureGateway(s Gateway, c commands.ConfigureGateway, now time.Time) ([]events.GatewayEvent, error) {
	same := s.sameAccess(c.Direct, c.Environment, c.Shortcode, c.CredentialsRef) &&
		s.RejectUnkn == c.RejectUnknownAccounts
	if !s.Org.IsZero() && same && s.Failed == "" {
		return nil, nil
	}
	return []events.GatewayEvent{events.GatewayConfigured{
		OrgID: c.OrgID, Direct: c.Direct, Environment: c.Environment, Shortcode: c.Shortcode,
		CredentialsRef: c.CredentialsRef, RejectUnknownAccounts: c.RejectUnknownAccounts, At: now,
	}}, nil
}

// decideRegisterGateway activates the shortcode, unless the settings were changed meanwhile.
func decideRegisterGateway(s Gateway, c commands.RegisterGateway, now time.Time) ([]events.GatewayEvent, error) {
	switch {
	case s.Org.IsZero():
		return nil, gatewayNotFound()
	case s.Registered || !s.sameAccess(true, c.Environment, c.Shortcode, c.CredentialsRef):
		return nil, nil
	}
	return []events.GatewayEvent{events.GatewayRegistered{
		OrgID: s.Org, Shortcode: s.Shortcode, CredentialsRef: s.Credentials, At: now,
	}}, nil
}

// gatewayNotFound says that nothing was ever configured.
func gatewayNotFound() error {
	return commands.ErrNoGateway()
}

// decideFailRegistration notes why the shortcode is not active, unless the settings were changed meanwhile.
func decideFailRegistration(
	s Gateway, c commands.FailGatewayRegistration, now time.Time,
) ([]events.GatewayEvent, error) {
	switch {
	case s.Org.IsZero():
		return nil, gatewayNotFound()
	case s.Registered || !s.sameAccess(true, c.Environment, c.Shortcode, c.CredentialsRef):
		return nil, nil
	}
	return []events.GatewayEvent{events.GatewayRegistrationFailed{
		OrgID: s.Org, Shortcode: s.Shortcode, CredentialsRef: s.Credentials, Error: c.Error, At: now,
	}}, nil
}
