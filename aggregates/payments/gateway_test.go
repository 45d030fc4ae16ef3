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

// claimed are the values that a story's settings keep from other organizations.
func claimed(s *story[payments.Gateway, commands.GatewayCommand, events.GatewayEvent]) (values []string) {
	for _, c := range payments.Gateways().Claims(s.state) {
		values = append(values, c.Kind+" "+c.Value+" "+c.Code)
	}
	return values
}

func TestShortcode_IsClaimedOnceTheProviderAcceptedIt(t *testing.T) {
	t.Parallel()
	live := configured
	live.Environment = "production"
	s := gateway(t).given(live)
	if got := claimed(s); got != nil {
		t.Errorf("an unproven shortcode is kept from its owner: %v", got)
	}
	if got := claimed(s.given(events.GatewayRegistrationFailed{OrgID: org, CredentialsRef: keys})); got != nil {
		t.Errorf("a failed registration claims %v", got)
	}
	want := []string{"shortcode 600777 shortcode_taken"}
	if diff := cmp.Diff(want, claimed(s.given(registered(keys)))); diff != "" {
		t.Error(diff)
	}
	fresh := live
	fresh.CredentialsRef = newKeys
	if diff := cmp.Diff(want, claimed(s.given(fresh))); diff != "" {
		t.Error("new credentials gave the shortcode away", diff)
	}
	play := fresh
	play.Environment = "sandbox"
	if got := claimed(s.given(play)); got != nil {
		t.Errorf("another environment claims %v", got)
	}
	want = []string{"shortcode sandbox 600777 shortcode_taken"}
	if diff := cmp.Diff(want, claimed(s.given(registered(newKeys)))); diff != "" {
		t.Error("the sandbox proves nothing about production", diff)
	}
	if got := claimed(s.given(events.GatewayConfigured{OrgID: org})); got != nil {
		t.Errorf("centralized mode claims %v", got)
	}
	another := live
	another.Shortcode = "600778"
	if got := claimed(gateway(t).given(live, registered(keys), another)); got != nil {
		t.Errorf("the proof of one shortcode claims another: %v", got)
	}
	if got := claimed(gateway(t).given(live, live)); got != nil {
		t.Errorf("settings that were saved twice claim %v", got)
	}
}

func TestGateway_TakesItsSettingsWhole(t *testing.T) {
	t.Parallel()
	refusing, want := configure, configured
	refusing.RejectUnknownAccounts, want.RejectUnknownAccounts = true, true
	s := gateway(t).given(configured, registered(keys)).when(refusing).then(want)
	if !s.state.RejectUnkn || !s.state.Active() {
		t.Errorf("state %+v", s.state)
	}
	central := commands.ConfigureGateway{OrgID: org, Environment: "sandbox"}
	if s.when(central); s.state.Active() || s.state.Registered {
		t.Errorf("centralized: %+v", s.state)
	}
	gateway(t).when(central).then(events.GatewayConfigured{OrgID: org, Environment: "sandbox", At: now})
}

func TestRegistration_InTheSandboxIsNotActiveInProduction(t *testing.T) {
	t.Parallel()
	live := configure
	live.Environment = "production"
	s := gateway(t).given(configured, registered(keys)).when(live)
	if s.state.Active() || s.state.Proven {
		t.Errorf("active in production: %+v", s.state)
	}
	s.when(works("600777", keys)).thenNothing() // the report of the sandbox comes late
	if s.state.Active() {
		t.Error("a late report of the sandbox made it active")
	}
}

func TestRegistration_AFailureWithFormerSettingsIsIgnored(t *testing.T) {
	t.Parallel()
	fails := commands.FailGatewayRegistration{
		OrgID: org, Environment: "sandbox", Shortcode: "600777", CredentialsRef: keys, Error: "no",
	}
	changed := configured
	changed.CredentialsRef = newKeys
	gateway(t).given(configured, changed).when(fails).thenNothing()
	changed = configured
	changed.Environment = "production"
	gateway(t).given(configured, changed).when(fails).thenNothing()
	gateway(t).given(configured, registered(keys)).when(fails).thenNothing()
	gateway(t).when(fails).thenFails("gateway_not_found")
}

func TestRegistration_ALastingFailureIsTriedAgainBySavingTheSameSettings(t *testing.T) {
	t.Parallel()
	gateway(t).given(configured).when(commands.FailGatewayRegistration{
		OrgID: org, Environment: "sandbox", Shortcode: "600777", CredentialsRef: keys, Error: "taken", Lasting: true,
	}).then(events.GatewayRegistrationFailed{
		OrgID: org, Shortcode: "600777", CredentialsRef: keys, Error: "taken", Lasting: true, At: now,
	}).when(configure).then(configured)
}

func TestGateway_BelongsToItsOrganization(t *testing.T) {
	t.Parallel()
	if got := payments.Gateways().Owner(gateway(t).given(configured).state); got != org {
		t.Errorf("belongs to %v", got)
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

// The provider's portal is out of our sight: a person who deleted former addresses there saves the same settings again.
func TestActiveShortcode_SavedAgainIsAnEvent(t *testing.T) {
	t.Parallel()
	s := gateway(t).given(configured, registered(keys)).when(configure).then(configured)
	if !s.state.Active() {
		t.Error("the same settings ended the registration")
	}
	central := commands.ConfigureGateway{OrgID: org, Environment: "sandbox"}
	gateway(t).given(configured, registered(keys)).when(central).
		then(events.GatewayConfigured{OrgID: org, Environment: "sandbox", At: now}).when(central).thenNothing()
}

func TestRetryRegistration_BeginsOneTryWithTheSettingsAsTheyAre(t *testing.T) {
	t.Parallel()
	retry := commands.RetryGatewayRegistration{OrgID: org}
	refused := events.GatewayRegistrationFailed{OrgID: org, Shortcode: "600777", CredentialsRef: keys, Error: "no"}
	gateway(t).given(configured, refused).when(retry).then(configured).when(retry).thenNothing()
	if s := gateway(t).given(configured, registered(keys)).when(retry).then(configured); !s.state.Active() {
		t.Error("another registration of an active shortcode ended the one that it has")
	}
	gateway(t).given(configured).when(retry).thenNothing() // the first try is under way
	gateway(t).given(events.GatewayConfigured{OrgID: org}).when(retry).thenFails("registration_not_needed")
	gateway(t).when(retry).thenFails("gateway_not_found")
	if (commands.RetryGatewayRegistration{}).Validate() == nil {
		t.Error("a retry of no organization was taken")
	}
}
