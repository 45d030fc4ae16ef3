package payments_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// References to credentials in the vault.
var (
	keys    = id.Must[id.Secret]("0195a000-0000-7000-8000-000000000041")
	newKeys = id.Must[id.Secret]("0195a000-0000-7000-8000-000000000042")
)

// configure asks for direct mode with the first credentials.
var configure = commands.ConfigureGateway{
	OrgID: org, Direct: true, Environment: "sandbox", Shortcode: "600777", CredentialsRef: keys,
}

// configured is the event of configure; the shortcode is not registered yet.
var configured = events.GatewayConfigured{
	OrgID: org, Direct: true, Environment: "sandbox", Shortcode: "600777", CredentialsRef: keys, At: now,
}

// registered is the event of a successful registration with these credentials.
func registered(c id.Secret) events.GatewayRegistered {
	return events.GatewayRegistered{OrgID: org, Shortcode: "600777", CredentialsRef: c, At: now}
}

// works reports a successful registration of a shortcode with these credentials.
func works(shortcode string, c id.Secret) commands.RegisterGateway {
	return commands.RegisterGateway{OrgID: org, Environment: "sandbox", Shortcode: shortcode, CredentialsRef: c}
}

// gateway begins a story about the settings of an organization.
func gateway(t *testing.T) *story[payments.Gateway, commands.GatewayCommand, events.GatewayEvent] {
	return &story[payments.Gateway, commands.GatewayCommand, events.GatewayEvent]{
		t: t, evolve: payments.Gateways().Evolve, decide: payments.Gateways().Decide, now: now,
	}
}

func TestDirectShortcode_IsActiveOnlyAfterRegistrationWithItsOwnCredentials(t *testing.T) {
	t.Parallel()
	failedOnce := events.GatewayRegistrationFailed{
		OrgID: org, Shortcode: "600777", CredentialsRef: keys, Error: "Bad credentials", At: now,
	}
	s := gateway(t).when(configure).then(configured).when(configure).thenNothing().
		when(commands.FailGatewayRegistration{OrgID: org, Environment: "sandbox", Shortcode: "600777",
			CredentialsRef: keys, Error: "Bad credentials"}).then(failedOnce)
	if s.state.Registered {
		t.Fatal("active without registration")
	}
	s.when(configure).then(configured).
		when(works("600777", newKeys)).thenNothing().
		when(works("600888", keys)).thenNothing(). // the same credentials, registered with the previous shortcode
		when(works("600777", keys)).then(registered(keys)).
		when(works("600777", keys)).thenNothing()
	if !s.state.Registered {
		t.Fatal("not active after registration")
	}
	flag := configure
	flag.RejectUnknownAccounts = true
	if s.when(flag); !s.state.Registered {
		t.Fatal("a changed flag ended the registration")
	}
	changed := configure
	changed.CredentialsRef = newKeys
	if s.when(changed); s.state.Registered {
		t.Fatal("active with credentials that were never tried")
	}
	gateway(t).when(works("600777", keys)).thenFails("gateway_not_found")
}

func TestShortcode_IsClaimedPlatformWide(t *testing.T) {
	t.Parallel()
	want := []commands.Claim{{
		Kind: "shortcode", Value: "600777", Code: "shortcode_taken",
		Message: "This shortcode belongs to another organization or to the platform.",
	}}
	if diff := cmp.Diff(want, payments.Gateways().Claims(gateway(t).given(configured).state)); diff != "" {
		t.Error(diff)
	}
	if got := payments.Gateways().Claims(gateway(t).given(configured,
		events.GatewayConfigured{OrgID: org}).state); got != nil {
		t.Errorf("centralized mode claims %v", got)
	}
}

func TestConfigureGateway_FormIsChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]commands.ConfigureGateway{
		"no shortcode":   {OrgID: org, Direct: true, Environment: "sandbox", CredentialsRef: keys},
		"no credentials": {OrgID: org, Direct: true, Environment: "sandbox", Shortcode: "600777"},
		"letters": {
			OrgID: org, Direct: true, Environment: "sandbox", Shortcode: "60077a", CredentialsRef: keys,
		},
		"unknown environment":    {OrgID: org, Environment: "live"},
		"centralized with a key": {OrgID: org, Environment: "sandbox", CredentialsRef: keys},
	} {
		if c.Validate() == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if err := configure.Validate(); err != nil {
		t.Error(err)
	}
}
