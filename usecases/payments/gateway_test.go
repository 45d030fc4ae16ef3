package paymentscases_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// gateway is an organization's settings as the log has them; unchecked, because there may be none.
func (k *kit) gateway(t *testing.T, org id.Organization) payments.Gateway {
	t.Helper()
	g, _, err := bus.LoadUnchecked[payments.Gateway](t.Context(), k.Bus, org)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// configure adopts settings; another failure code than the expected one is an error, "" = none.
func (k *kit) configure(t *testing.T, asked usecases.Asked, in paymentscases.GatewayInput, code string) {
	t.Helper()
	_, err := k.gateways.Configure(t.Context(), asked, in)
	coretest.Refused(t, "configure", err, code)
}

// secretsKept counts the secrets in the vault.
func (k *kit) secretsKept(t *testing.T) (n int) {
	t.Helper()
	sql := `select count(*) from ` + k.DB.Namespace.Schema("vault") + `.secrets`
	if err := k.DB.Owner.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// credentials reads payment credentials from the vault.
func (k *kit) credentials(t *testing.T, ref id.Secret) (c commands.GatewayCredentials) {
	t.Helper()
	plain, err := k.Vault.Secrets.Get(t.Context(), ref)
	if err == nil {
		err = json.Unmarshal(plain, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// direct is direct mode on a shortcode with the given consumer secret.
func direct(shortcode string, secret secrets.Text) paymentscases.GatewayInput {
	return paymentscases.GatewayInput{
		Direct: true, Shortcode: shortcode, ConsumerKey: "key", ConsumerSecret: secret, Passkey: "pass",
	}
}

func TestConfigure_CredentialsAreKeptUnderAReferenceOfTheirOwn(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	asked := coretest.Keyed(k.org)
	k.configure(t, asked, direct("600777", "one"), "")
	first := k.gateway(t, k.org)
	want := commands.GatewayCredentials{ConsumerKey: "key", ConsumerSecret: "one", Passkey: "pass"}
	if first.Environment != commands.EnvironmentSandbox || k.credentials(t, first.Credentials) != want {
		t.Errorf("adopted %+v", first)
	}
	k.configure(t, asked, direct("600777", "one"), "") // a repeat after a lost answer
	if n := len(recorded[events.GatewayConfigured](t, k, commands.GatewayCategory, k.org.String())); n != 1 {
		t.Errorf("a repeat adopted again: %d", n)
	}
	hidden := direct("600777", secrets.Hidden)
	hidden.RejectUnknownAccounts, hidden.ConsumerKey, hidden.Passkey = true, "", secrets.Hidden
	k.configure(t, coretest.Keyed(k.org), hidden, "")
	if g := k.gateway(t, k.org); g.Credentials != first.Credentials || !g.RejectUnkn || k.secretsKept(t) != 1 {
		t.Errorf("hidden secrets: %+v, %d kept", g, k.secretsKept(t))
	}
	k.configure(t, coretest.Keyed(k.org), direct("600777", "two"), "")
	if g := k.gateway(t, k.org); g.Credentials == first.Credentials ||
		k.credentials(t, g.Credentials).ConsumerSecret != "two" || k.credentials(t, first.Credentials) != want {
		t.Errorf("new secrets: %+v", g)
	}
	k.configure(t, coretest.Keyed(k.org), paymentscases.GatewayInput{}, "")
	if g := k.gateway(t, k.org); g.Direct || !g.Credentials.IsZero() || g.Shortcode != "" {
		t.Errorf("centralized: %+v", g)
	}
}

// proven configures a direct shortcode, which the provider then accepts.
func (k *kit) proven(t *testing.T, org id.Organization, shortcode string) {
	t.Helper()
	k.configure(t, coretest.Keyed(org), direct(shortcode, "secret"), "")
	k.run(t, commands.RegisterGateway{
		OrgID: org, Environment: commands.EnvironmentSandbox, Shortcode: shortcode,
		CredentialsRef: k.gateway(t, org).Credentials,
	})
}

func TestConfigure_AnUnprovenShortcodeIsKeptFromNobody(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.configure(t, coretest.Keyed(k.other), direct("600777", "guessed"), "")
	k.proven(t, k.org, "600777")
	_, err := k.Bus.Execute(t.Context(), commands.RegisterGateway{
		OrgID: k.other, Environment: commands.EnvironmentSandbox, Shortcode: "600777",
		CredentialsRef: k.gateway(t, k.other).Credentials,
	}, coretest.Operator(id.Organization{}))
	coretest.Refused(t, "the second proof", err, "shortcode_taken")
	if k.gateway(t, k.other).Active() || !k.gateway(t, k.org).Active() {
		t.Error("the shortcode is not its owner's")
	}
}

func TestConfigure_NoReferenceOfCredentialsIsEverWrittenTwice(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	asked := coretest.Keyed(k.org)
	k.configure(t, asked, direct("600777", "one"), "")
	first := k.gateway(t, k.org).Credentials
	k.configure(t, asked, direct("600777", "stolen"), "") // the same key with other secrets
	if have := k.credentials(t, first).ConsumerSecret; have != "one" || k.secretsKept(t) != 1 {
		t.Errorf("a repeat replaced the secret by %q, %d kept", have, k.secretsKept(t))
	}
	k.configure(t, coretest.Keyed(k.org), direct("600777", "two"), "")
	k.configure(t, asked, direct("600777", "stolen"), "")
	if have := k.credentials(t, first).ConsumerSecret; have != "one" || k.secretsKept(t) != 2 {
		t.Errorf("a late repeat replaced the secret by %q, %d kept", have, k.secretsKept(t))
	}
}

func TestConfigure_WhatIsRefusedLeavesNoCredentials(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.proven(t, k.other, "600777")
	k.gateways.Gateways.Views = k.show(t)
	k.WaitForAll(t, k.gateways.Gateways.Views, paymentsviews.GatewaysName)
	k.configure(t, coretest.Keyed(k.org), direct("600777", "one"), "shortcode_taken")
	k.configure(t, coretest.Keyed(k.org), direct(platformShortcode, "one"), "shortcode_taken")
	k.configure(t, coretest.Keyed(k.org), direct("12", "one"), "invalid_input")
	k.configure(t, coretest.Keyed(k.org), direct("600778", secrets.Hidden), "invalid_input")
	real := direct("600778", "one")
	real.Environment = "moon"
	k.configure(t, coretest.Keyed(k.org), real, "invalid_input")
	real.Environment, k.gateways.Platform.Live = commands.EnvironmentProduction, true
	k.configure(t, coretest.Keyed(k.org), real, "invalid_input")
	k.gateways.Platform.Live = false
	if n := k.secretsKept(t); n != 1 {
		t.Errorf("%d kept", n)
	}
	if g := k.gateway(t, k.org); !g.Org.IsZero() {
		t.Errorf("adopted %+v", g)
	}
	k.configure(t, coretest.Keyed(k.org), direct("600778", "one"), "")
	stale, old := coretest.Keyed(k.org), uint64(7)
	stale.Meta.ExpectedRevision = &old
	if _, err := k.gateways.Configure(t.Context(), stale,
		direct("600778", "two")); failure.KindOf(err) != failure.Stale {
		t.Errorf("a failed If-Match: %v", err)
	}
	if n := k.secretsKept(t); n != 2 {
		t.Errorf("%d kept after a failed If-Match", n)
	}
}

func TestConfigure_AtOnceNobodyTakesBackTheCredentialsOfTheOther(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.configure(t, coretest.Keyed(k.org), direct("600777", "one"), "")
	hidden := direct("600777", secrets.Hidden)
	hidden.RejectUnknownAccounts = true
	for _, secret := range []secrets.Text{"two", "three", "four"} {
		failed := atOnce(2, func(n int) error {
			in := hidden
			if n == 0 {
				in = direct("600777", secret)
			}
			_, err := k.gateways.Configure(t.Context(), coretest.Keyed(k.org), in)
			return err
		})
		if failed != nil {
			t.Errorf("at once: %v", failed)
		}
		if have := k.credentials(t, k.gateway(t, k.org).Credentials).ConsumerSecret; have != secret.Reveal() {
			t.Errorf("have %q, want %q", have, secret.Reveal())
		}
	}
	same := coretest.Keyed(k.other)
	if failed := atOnce(3, func(int) error {
		_, err := k.gateways.Configure(t.Context(), same, direct("600778", "one"))
		return err
	}); failed != nil {
		t.Errorf("the same request at once: %v", failed)
	}
	if n := len(recorded[events.GatewayConfigured](t, k, commands.GatewayCategory, k.other.String())); n != 1 {
		t.Errorf("adopted %d times", n)
	}
}

func TestConfigure_ARepeatAfterAnotherChangeLeavesTheCredentialsOfPaymentsUnderWay(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.configure(t, coretest.Keyed(k.org), direct("600777", "zero"), "")
	repeated, in := coretest.Keyed(k.org), direct("600777", "one")
	in.ConsumerKey, in.Passkey = secrets.Hidden, secrets.Hidden
	k.configure(t, repeated, in, "")
	first := k.gateway(t, k.org).Credentials
	later := direct("600777", secrets.Hidden)
	later.Passkey = "another"
	k.configure(t, coretest.Keyed(k.org), later, "")
	k.configure(t, repeated, in, "") // its answer was lost
	if _, err := k.Vault.Secrets.Get(t.Context(), first); err != nil {
		t.Errorf("payments that began under the first change cannot be asked about: %v", err)
	}
}

// TestConfigure_TheNominatedNumberIsSealedAndItsChangeKeepsTheRegistration.
func TestConfigure_TheNominatedNumberIsSealedAndItsChangeKeepsTheRegistration(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	with := func(number string) paymentscases.GatewayInput {
		in := direct("600777", secrets.Hidden)
		in.ConsumerKey, in.Passkey, in.NominatedNumber = secrets.Hidden, secrets.Hidden, &number
		return in
	}
	named := func(want string) payments.Gateway {
		t.Helper()
		g := k.gateway(t, k.org)
		if number, err := k.gateways.Nominated(t.Context(), g.Nominated); err != nil || number != want {
			t.Errorf("number %q, %v, want %q", number, err, want)
		}
		return g
	}
	k.configure(t, coretest.Keyed(k.org), direct("600777", "one"), "")
	first := named("")
	k.Run(t, coretest.Operator(k.org), commands.RegisterGateway{
		OrgID: k.org, Environment: first.Environment, Shortcode: first.Shortcode, CredentialsRef: first.Credentials,
	})
	k.configure(t, coretest.Keyed(k.org), with("0711 222 333"), "")
	second := named("+254711222333")
	if !second.Active() || second.Credentials != first.Credentials {
		t.Errorf("after a new number: %+v", second)
	}
	k.configure(t, coretest.Keyed(k.org), direct("600777", secrets.Hidden), "") // an older client names none
	if g := named("+254711222333"); g.Nominated != second.Nominated {
		t.Errorf("the same number has another reference: %+v", g)
	}
	for _, wrong := range []string{"711", "+1 202 555 0100", "+254", "my phone", "+2547112223334"} {
		k.configure(t, coretest.Keyed(k.org), with(wrong), "invalid_input")
	}
	named("+254711222333")
	if n := k.secretsKept(t); n != 2 {
		t.Errorf("%d secrets are kept", n)
	}
	k.configure(t, coretest.Keyed(k.org), with(" "), "")
	if g := named(""); !g.Nominated.IsZero() || !g.Active() {
		t.Errorf("after its removal: %+v", g)
	}
	for _, e := range recorded[events.GatewayConfigured](t, k, commands.GatewayCategory, k.org.String()) {
		text, err := json.Marshal(e)
		if err != nil || strings.Contains(string(text), "711222333") {
			t.Errorf("event %s, %v", text, err)
		}
	}
}
