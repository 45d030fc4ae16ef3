package paymentsjobs_test

import (
	"encoding/json"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// own is the shortcode of the organization in these tests.
const own = "600777"

// settings gives the organization a shortcode of its own whose credentials the vault has, and returns their reference.
func (k *kit) settings(t *testing.T) id.Secret {
	t.Helper()
	ref := id.New[id.Secret]()
	plain, err := json.Marshal(commands.GatewayCredentials{ConsumerKey: "own", ConsumerSecret: "s", Passkey: "p"})
	if err == nil {
		err = k.Vault.Secrets.Put(t.Context(),
			vault.Secret{Ref: ref, OrgID: k.org, Purpose: commands.GatewayCredentialsPurpose}, plain)
	}
	if err != nil {
		t.Fatal(err)
	}
	k.execute(t, commands.ConfigureGateway{
		OrgID: k.org, Direct: true, Environment: here, Shortcode: own, CredentialsRef: ref,
	})
	return ref
}

// tryShortcode runs the registration of the organization's shortcode, and gives the settings as they are then.
func (k *kit) tryShortcode(t *testing.T, w *paymentsjobs.Workers, ref id.Secret) paymentsviews.GatewayRow {
	t.Helper()
	err := w.RegisterShortcode(t.Context(), commands.RegisterShortcode{OrgID: k.org, CredentialsRef: ref}, newCause())
	if err != nil {
		t.Fatal(err)
	}
	k.WaitForAll(t, k.views, paymentsviews.GatewaysName)
	g, err := paymentsviews.GatewaysQuery{Views: k.views}.Get(t.Context(), k.org)
	if err != nil || g == nil {
		t.Fatal(err)
	}
	return *g
}

// at gives workers whose callback addresses begin with another base.
func (k *kit) at(base string) *paymentsjobs.Workers {
	return paymentsjobs.New(paymentsjobs.Config{
		Bus: k.Bus, Views: k.views, Inbox: k.Vault.Inbox, Access: k.access, Clock: k.clock, Logger: storetest.Quiet(),
		Addresses: paymentsjobs.Addresses{Prompt: base + "/stk", Tokens: k.Vault.CallbackSecrets},
	})
}

// misbehave sets the provider's faults.
func (k *kit) misbehave(t *testing.T, f provider.Faults) {
	t.Helper()
	if err := k.sim.SetFaults(f); err != nil {
		t.Fatal(err)
	}
}

// known gives what is known of the addresses of a shortcode; the organization is zero for the platform's.
func (k *kit) known(t *testing.T, org id.Organization, shortcode string) vault.Registration {
	t.Helper()
	owner := k.token(t, org, here, shortcode)
	r, err := k.Vault.CallbackSecrets.Registration(t.Context(), owner.Kind, owner.Ref)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// takeElsewhere makes another system register the organization's shortcode.
func (k *kit) takeElsewhere(t *testing.T) {
	t.Helper()
	err := k.client(t, here).RegisterURLs(t.Context(),
		mobilemoney.Credentials{ConsumerKey: "elsewhere", ConsumerSecret: "s", ShortCode: own},
		mobilemoney.URLs{Confirmation: "http://127.0.0.1:9/c", Validation: "http://127.0.0.1:9/v"})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRegistration_WhoseAnswerWasLostIsDoneByTheNextTry(t *testing.T) {
	t.Parallel()
	for name, plain := range map[string]bool{"with an error": false, "in the older form": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			ref := k.settings(t)
			k.misbehave(t, provider.Faults{LoseRegistration: 1})
			if g := k.tryShortcode(t, k.workers, ref); g.Active() || g.Error == "" {
				t.Fatalf("nobody knows whether the provider took it: %+v", g)
			}
			k.misbehave(t, provider.Faults{PlainRegistered: plain})
			if g := k.tryShortcode(t, k.workers, ref); !g.Active() {
				t.Errorf("the provider has our addresses: %+v", g)
			}
		})
	}
}

func TestRegistration_RefusedForAnotherReasonProvesNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	ref := k.settings(t)
	for key, shortcode := range map[string]string{"own": "600888", "elsewhere": own} {
		if err := k.sim.AddCredentials(key, "s", shortcode, ""); err != nil {
			t.Fatal(err)
		}
	}
	if g := k.tryShortcode(t, k.workers, ref); g.Active() || !strings.Contains(g.Error, "ShortCode") {
		t.Fatalf("credentials of another shortcode: %+v", g)
	}
	k.takeElsewhere(t)
	if err := k.sim.AddCredentials("own", "s", "", ""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if g := k.tryShortcode(t, k.workers, ref); g.Active() || k.known(t, k.org, own).State != vault.AddressesTaken {
			t.Fatalf("addresses of another system: %+v", g)
		}
	}
	k.misbehave(t, provider.Faults{LoseRegistration: 1}) // a lost answer of now proves nothing either
	k.tryShortcode(t, k.workers, ref)
	k.misbehave(t, provider.Faults{})
	if g := k.tryShortcode(t, k.workers, ref); g.Active() {
		t.Errorf("addresses of another system after a lost answer: %+v", g)
	}
	k.sim.DeleteURLs(own)
	if g := k.tryShortcode(t, k.workers, ref); !g.Active() {
		t.Errorf("after they were deleted: %+v", g)
	}
}

func TestRegistration_TwoTriesAtOnceProveNothingToEachOther(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	ref := k.settings(t)
	k.takeElsewhere(t)
	k.misbehave(t, provider.Faults{LatencyMs: 100})
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if err := k.workers.RegisterShortcode(t.Context(),
				commands.RegisterShortcode{OrgID: k.org, CredentialsRef: ref}, newCause()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if g, _, err := bus.LoadUnchecked[payments.Gateway](t.Context(), k.Bus, k.org); err != nil || g.Active() {
		t.Errorf("active on the addresses of another system: %+v, %v", g, err)
	}
}

func TestPlatformPaybill_IsRegisteredOnceAndFoundAtEachStart(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	register := func(w *paymentsjobs.Workers) {
		t.Helper()
		if err := w.RegisterPlatform(t.Context(), commands.RegisterPlatform{}, jobs.Cause{}); err != nil {
			t.Errorf("the job would be tried again: %v", err)
		}
	}
	for range 3 {
		register(k.workers)
	}
	first := k.known(t, id.Organization{}, shortcode)
	moved := k.at("http://127.0.0.1:10")
	register(moved) // a person must delete the former addresses: nothing to try again
	if now := k.known(t, id.Organization{}, shortcode); first.State != vault.AddressesRegistered || now != first {
		t.Errorf("registered %+v, then %+v", first, now)
	}
	k.sim.DeleteURLs(shortcode)
	register(moved)
	if now := k.known(t, id.Organization{}, shortcode); now == first || now.State != vault.AddressesRegistered {
		t.Errorf("at the new address: %+v", now)
	}
}

func TestChangedCallbackAddress_IsToldAndRegisteredOnceTheFormerOneIsDeleted(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	ref := k.settings(t)
	k.tryShortcode(t, k.workers, ref)
	moved := k.at("http://127.0.0.1:10")
	refresh := func() {
		t.Helper()
		if err := moved.RefreshAddresses(t.Context(), commands.RefreshAddresses{}, jobs.Cause{}); err != nil {
			t.Errorf("the job would be tried again: %v", err)
		}
	}
	before := k.known(t, k.org, own)
	refresh()
	if now := k.known(t, k.org, own); now != before {
		t.Errorf("the provider has %+v, we note %+v", before, now)
	}
	fresh := k.settings(t)
	if g := k.tryShortcode(t, moved, fresh); g.Active() || !strings.Contains(g.Error, "has changed") {
		t.Errorf("new credentials at a new address: %+v", g)
	}
	if g := k.tryShortcode(t, k.workers, fresh); !g.Active() {
		t.Errorf("at the former address: %+v", g)
	}
	k.sim.DeleteURLs(own)
	refresh()
	if now := k.known(t, k.org, own); now == before || now.State != vault.AddressesRegistered {
		t.Errorf("after the former addresses were deleted: %+v", now)
	}
	k.misbehave(t, provider.Faults{Down: true})
	refresh() // what is registered is not registered again
}

func TestTokenWithAForbiddenWord_IsReplacedUnlessTheProviderHasIt(t *testing.T) {
	t.Parallel()
	for state, replaced := range map[string]bool{
		vault.AddressesUntried: true, vault.AddressesUnrecorded: true, vault.AddressesTaken: true,
		vault.AddressesRegistered: false,
	} {
		t.Run("state "+state, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			ref := k.settings(t)
			k.seedToken(t, k.org, own, wordy, state)
			g := k.tryShortcode(t, k.workers, ref)
			urls, err := paymentsjobs.Addresses{Prompt: "http://127.0.0.1:9/stk", Tokens: k.Vault.CallbackSecrets}.
				OfPaybill(t.Context(), k.org, here, own)
			if err != nil || g.Active() != replaced || (path.Base(urls.Confirmation) != wordy) != replaced {
				t.Errorf("active %v, address replaced %v, %v", g.Active(), path.Base(urls.Confirmation) != wordy, err)
			}
		})
	}
}

func TestTokenOfBeforeTheRecord_CountsForWhomTheLogHasAsItsOwner(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		proven bool
		state  string
	}{
		"registered in the log":                          {true, vault.AddressesUnrecorded},
		"registered by a former program after the start": {true, vault.AddressesUntried},
		"never registered":                               {false, vault.AddressesUnrecorded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			if c.proven {
				k.direct(t, k.org, here, own)
			}
			k.takeElsewhere(t)
			k.seedToken(t, k.org, own, "a0000000000000000000000000000000000000000x", c.state)
			if g := k.tryShortcode(t, k.workers, k.settings(t)); g.Active() != c.proven {
				t.Errorf("%+v", g)
			}
		})
	}
}
