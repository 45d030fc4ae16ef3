package paymentsjobs_test

import (
	"bytes"
	"crypto/sha256"
	"path"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// wordy is a token in which the provider finds a forbidden word.
const wordy = "aSqLb0000000000000000000000000000000000000x"

// seedToken stores the token of a shortcode as a former program made it; org is zero for the platform.
func (k *kit) seedToken(t *testing.T, org id.Organization, shortcode, token, state string) {
	t.Helper()
	owner := k.token(t, org, here, shortcode)
	ring, err := secrets.New(bytes.Repeat([]byte{7}, secrets.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(token))
	place := "callback_secrets " + owner.Kind + " " + uuid.UUID(owner.Ref).String()
	if _, err := k.DB.Owner.Exec(t.Context(), "update "+k.DB.Namespace.Schema("vault")+
		".callback_secrets set token_hash = $1, sealed = $2, registration = $3 where kind = $4 and ref = $5", sum[:],
		ring.Seal(secrets.Sealing, []byte(token), []byte(place)), state, owner.Kind, owner.Ref); err != nil {
		t.Fatal(err)
	}
}

// tokenOf is the token in the present addresses of a shortcode.
func (k *kit) tokenOf(t *testing.T, org id.Organization, shortcode string) string {
	t.Helper()
	urls, err := paymentsjobs.Addresses{Prompt: "http://127.0.0.1:9/stk", Tokens: k.Vault.CallbackSecrets}.
		OfPaybill(t.Context(), org, here, shortcode)
	if err != nil {
		t.Fatal(err)
	}
	return path.Base(urls.Confirmation)
}

// refresh runs the daily look at the addresses of active shortcodes.
func refresh(t *testing.T, w *paymentsjobs.Workers) {
	t.Helper()
	if err := w.RefreshAddresses(t.Context(), commands.RefreshAddresses{}, jobs.Cause{}); err != nil {
		t.Logf("the job is tried again: %v", err)
	}
}

func TestChangedCallbackAddress_SavingTheSameSettingsRegistersAnActiveShortcode(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	ref := k.settings(t)
	k.tryShortcode(t, k.workers, ref)
	moved, before := k.at("http://127.0.0.1:10"), k.known(t, k.org, own)
	if g := k.tryShortcode(t, moved, ref); !g.Active() || k.known(t, k.org, own) != before {
		t.Errorf("the provider has the former addresses: %+v, %+v", g, k.known(t, k.org, own))
	}
	k.sim.DeleteURLs(own)
	done := k.execute(t, commands.ConfigureGateway{
		OrgID: k.org, Direct: true, Environment: here, Shortcode: own, CredentialsRef: ref,
	})
	if !done.Changed {
		t.Error("no event, so nothing registers the addresses")
	}
	g := k.tryShortcode(t, moved, ref)
	if now := k.known(t, k.org, own); !g.Active() || now == before || now.State != vault.AddressesRegistered {
		t.Errorf("after the former addresses were deleted: %+v, %+v", g, now)
	}
}

func TestChangedCallbackAddress_WhoseAnswerWasLostIsRecognized(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.tryShortcode(t, k.workers, k.settings(t))
	before := k.known(t, k.org, own)
	moved := k.at("http://127.0.0.1:10")
	k.sim.DeleteURLs(own)
	k.misbehave(t, provider.Faults{LoseRegistration: 1})
	refresh(t, moved)
	k.misbehave(t, provider.Faults{})
	refresh(t, moved)
	lost := k.known(t, k.org, own)
	if lost.Addresses != before.Addresses || lost.Tried == "" {
		t.Errorf("nobody knows which ones the provider has: %+v", lost)
	}
	for name, w := range map[string]*paymentsjobs.Workers{"moved": moved, "moved back": k.workers} {
		if g := k.tryShortcode(t, w, k.settings(t)); !g.Active() || k.known(t, k.org, own) != lost {
			t.Errorf("%s: %+v, %+v", name, g, k.known(t, k.org, own))
		}
	}
	if g := k.tryShortcode(t, k.at("http://127.0.0.1:11"), k.settings(t)); g.Active() ||
		!strings.Contains(g.Error, "has changed") {
		t.Errorf("at an address that was never sent: %+v", g)
	}
	if now := k.known(t, k.org, own); now != lost {
		t.Errorf("a refused address counts as tried: %+v", now)
	}
	k.sim.DeleteURLs(own)
	k.tryShortcode(t, moved, k.settings(t))
	if now := k.known(t, k.org, own); now.State != vault.AddressesRegistered || now.Addresses != lost.Tried ||
		now.Tried != "" {
		t.Errorf("after both were deleted: %+v", now)
	}
}

func TestShortcode_ThatComesBackIsNotActiveOnTheAddressesOfItsOwnerInBetween(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	first, second := k.org, id.New[id.Organization]()
	owns := func(org id.Organization) bool {
		t.Helper()
		k.org = org
		return k.tryShortcode(t, k.workers, k.settings(t)).Active()
	}
	gives := func(org id.Organization) {
		t.Helper()
		k.execute(t, commands.ConfigureGateway{OrgID: org, Environment: here})
	}
	if !owns(first) {
		t.Fatal("not active")
	}
	gives(first)
	k.sim.DeleteURLs(own)
	if !owns(second) {
		t.Fatal("not active at the second owner")
	}
	gives(second)
	for range 2 {
		if owns(first) {
			t.Fatalf("active on the addresses of the other organization: %+v", k.known(t, first, own))
		}
	}
	k.sim.DeleteURLs(own)
	if !owns(first) {
		t.Errorf("after they were deleted: %+v", k.known(t, first, own))
	}
	if r := k.known(t, second, own); r.State != vault.AddressesTaken {
		t.Errorf("the addresses of the second one are no more: %+v", r)
	}
}

func TestTokenOfThePlatform_IsReplacedOnlyWhenTheProviderRefusesItsAddress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state          string
		stopped, stays bool
	}{
		"nothing was sent":           {vault.AddressesUntried, true, true},
		"refused":                    {vault.AddressesUntried, false, false},
		"refused, but perhaps taken": {vault.AddressesUnrecorded, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			k.seedToken(t, id.Organization{}, shortcode, wordy, c.state)
			if c.stopped {
				if err := k.sim.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			err := k.workers.RegisterPlatform(t.Context(), commands.RegisterPlatform{}, jobs.Cause{})
			if stays := k.tokenOf(t, id.Organization{}, shortcode) == wordy; stays != c.stays || (err != nil) != stays {
				t.Errorf("the token stays: %v, %v", stays, err)
			}
		})
	}
}
