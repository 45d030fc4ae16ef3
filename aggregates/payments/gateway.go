package payments

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Gateways defines how organizations take mobile money: one stream for each organization.
func Gateways() aggregates.Definition[Gateway, commands.GatewayCommand, events.GatewayEvent] {
	return aggregates.Definition[Gateway, commands.GatewayCommand, events.GatewayEvent]{
		Category: commands.GatewayCategory, Missing: commands.ErrNoGateway, Evolve: evolveGateway,
		Decide: decideGateway,
		Owner:  ownerGateway, Claims: claimsGateway,
		Commands: []commands.GatewayCommand{
			commands.ConfigureGateway{}, commands.RegisterGateway{}, commands.FailGatewayRegistration{},
			commands.RetryGatewayRegistration{},
		},
	}
}

// Gateway is how one organization takes mobile money. The zero value is "centralized, never configured".
type Gateway struct {
	Org         id.Organization
	Direct      bool
	Environment string // commands.EnvironmentSandbox or EnvironmentProduction
	Shortcode   string // "" while centralized
	Credentials id.Secret
	Nominated   id.Secret // of the phone that answers for the shortcode; zero = none
	RejectUnkn  bool      // refuse a paybill payment to an unknown account before the money moves
	Registered  bool      // the provider accepted the direct shortcode with these credentials
	// Proven says that the provider has accepted this shortcode in this environment, with these or earlier credentials.
	// It stays while the credentials change, and ends with the shortcode.
	Proven bool
	Failed string // error of the latest registration; "" = none failed
}

// Active reports whether the organization takes money on its own shortcode; otherwise it uses the platform's paybill.
func (s Gateway) Active() bool { return s.Direct && s.Registered }

// ownerGateway is zero until the first settings.
func ownerGateway(s Gateway) id.Organization { return s.Org }

// claimsGateway claims the direct shortcode on the whole platform once the provider has accepted it
// (docs/rules/payments.md#direct-shortcode). With the same shortcode, two organizations would see each other's money;
// without a proof, anybody could keep a shortcode from its owner. The sandbox proves nothing about production, so it
// has shortcodes of its own.
func claimsGateway(s Gateway) []commands.Claim {
	if !s.Proven {
		return nil
	}
	value := s.Shortcode
	if s.Environment == commands.EnvironmentSandbox {
		value = commands.EnvironmentSandbox + " " + value
	}
	return []commands.Claim{{
		Kind: "shortcode", Value: value, Code: "shortcode_taken",
		Message: "This shortcode belongs to another organization or to the platform.",
	}}
}

// evolveGateway applies one recorded event. New settings keep the registration only when the access stays the same.
func evolveGateway(s Gateway, e events.GatewayEvent) Gateway {
	switch e := e.(type) {
	case events.GatewayConfigured:
		active := s.Registered && s.sameAccess(e.Direct, e.Environment, e.Shortcode, e.CredentialsRef)
		proven := s.Proven && e.Direct && s.Environment == e.Environment && s.Shortcode == e.Shortcode
		s = Gateway{
			Org: e.OrgID, Direct: e.Direct, Environment: e.Environment, Shortcode: e.Shortcode,
			Credentials: e.CredentialsRef, RejectUnkn: e.RejectUnknownAccounts, Registered: active,
			Proven: proven, Nominated: e.NominatedRef,
		}
	case events.GatewayRegistered:
		s.Registered, s.Proven, s.Failed = true, true, ""
	case events.GatewayRegistrationFailed:
		s.Registered, s.Failed = false, e.Error
	}
	return s
}

// sameAccess reports whether the settings use the same shortcode with the same credentials. Such a change keeps the
// registration.
func (s Gateway) sameAccess(direct bool, environment, shortcode string, credentials id.Secret) bool {
	return s.Direct == direct && s.Environment == environment && s.Shortcode == shortcode &&
		s.Credentials == credentials
}

// decideGateway only dispatches.
func decideGateway(s Gateway, c commands.GatewayCommand, now time.Time) ([]events.GatewayEvent, error) {
	switch c := c.(type) {
	case commands.ConfigureGateway:
		return decideConfigureGateway(s, c, now)
	case commands.RegisterGateway:
		return decideRegisterGateway(s, c, now)
	case commands.FailGatewayRegistration:
		return decideFailRegistration(s, c, now)
	case commands.RetryGatewayRegistration:
		return decideRetryRegistration(s, now)
	}
	return nil, nil
}

// decideConfigureGateway adopts settings. Equal settings give no event, except after a failed registration, when they
// start another try, and for an active shortcode, when they have its addresses registered again: a person saves them
// again after the former addresses were deleted (docs/rules/payments.md#registered-addresses).
func decideConfigureGateway(s Gateway, c commands.ConfigureGateway, now time.Time) ([]events.GatewayEvent, error) {
	same := s.sameAccess(c.Direct, c.Environment, c.Shortcode, c.CredentialsRef) &&
		s.RejectUnkn == c.RejectUnknownAccounts && s.Nominated == c.NominatedRef
	if !s.Org.IsZero() && same && s.Failed == "" && !s.Active() {
		return nil, nil
	}
	return []events.GatewayEvent{events.GatewayConfigured{
		OrgID: c.OrgID, Direct: c.Direct, Environment: c.Environment, Shortcode: c.Shortcode,
		CredentialsRef: c.CredentialsRef, RejectUnknownAccounts: c.RejectUnknownAccounts,
		NominatedRef: c.NominatedRef, At: now,
	}}, nil
}

// decideRegisterGateway activates the shortcode. Settings that changed since the registration began give no event.
func decideRegisterGateway(s Gateway, c commands.RegisterGateway, now time.Time) ([]events.GatewayEvent, error) {
	switch {
	case s.Org.IsZero():
		return nil, commands.ErrNoGateway()
	case s.Registered || !s.sameAccess(true, c.Environment, c.Shortcode, c.CredentialsRef):
		return nil, nil
	}
	return []events.GatewayEvent{events.GatewayRegistered{
		OrgID: s.Org, Shortcode: s.Shortcode, CredentialsRef: s.Credentials, At: now,
	}}, nil
}

// decideFailRegistration records why the shortcode is not active. Settings that changed since the registration began
// give no event.
func decideFailRegistration(
	s Gateway, c commands.FailGatewayRegistration, now time.Time,
) ([]events.GatewayEvent, error) {
	switch {
	case s.Org.IsZero():
		return nil, commands.ErrNoGateway()
	case s.Registered || !s.sameAccess(true, c.Environment, c.Shortcode, c.CredentialsRef):
		return nil, nil
	}
	return []events.GatewayEvent{events.GatewayRegistrationFailed{
		OrgID: s.Org, Shortcode: s.Shortcode, CredentialsRef: s.Credentials, Error: c.Error, Code: c.Code,
		Lasting: c.Lasting, At: now,
	}}, nil
}

// decideRetryRegistration adopts the present settings once more, which begins a registration. While one is under way
// there is nothing to do.
func decideRetryRegistration(s Gateway, now time.Time) ([]events.GatewayEvent, error) {
	switch {
	case s.Org.IsZero():
		return nil, commands.ErrNoGateway()
	case !s.Direct:
		return nil, commands.ErrNoRegistration()
	case !s.Registered && s.Failed == "":
		return nil, nil
	}
	return []events.GatewayEvent{events.GatewayConfigured{
		OrgID: s.Org, Direct: s.Direct, Environment: s.Environment, Shortcode: s.Shortcode,
		CredentialsRef: s.Credentials, RejectUnknownAccounts: s.RejectUnkn, NominatedRef: s.Nominated, At: now,
	}}, nil
}
