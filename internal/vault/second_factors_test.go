package vault_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/totp"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// codeNow is the present code of a secret.
func (k kit) codeNow(secret []byte) secrets.Text { return totp.Code(secret, totp.Step(k.clock.Now())) }

// TestSecondFactors_OutliveAPlatformKey: what is sealed under the key of before is sealed anew, and goes on to work.
func TestSecondFactors_OutliveAPlatformKey(t *testing.T) {
	t.Parallel()
	k := open(t)
	user := id.New[id.User]()
	secret := must[[]byte](t)(k.SecondFactors.Offer(t.Context(), user))
	made := must[vault.ConfirmedFactor](t)(k.SecondFactors.Confirm(t.Context(), user, k.codeNow(secret)))
	if made.ID.IsZero() || len(made.Codes) != vault.RecoveryCodes {
		t.Fatalf("confirmed %v", made.ID)
	}
	for _, needle := range [][]byte{secret, []byte(totp.Text(secret).Reveal())} {
		if n := k.count(t, "select count(*) from {schema}.second_factors where position($1::bytea in sealed) > 0",
			needle); n != 0 {
			t.Error("stored in plain")
		}
	}
	both := k.reopen(t, key(2), key(1))
	if _, err := both.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := k.reopen(t, key(2))
	k.clock.Advance(totp.Period)
	if right := must[bool](t)(next.SecondFactors.Use(t.Context(), made.ID, k.codeNow(secret))); !right {
		t.Error("a code is wrong after the rotation")
	}
	if left, right, err := next.SecondFactors.UseRecovery(t.Context(), made.ID, made.Codes[0]); !right || left != 9 {
		t.Errorf("a recovery code is wrong after the rotation: %v", err)
	}
	if err := next.SecondFactors.Drop(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(totp.Period)
	if must[bool](t)(next.SecondFactors.Use(t.Context(), made.ID, k.codeNow(secret))) ||
		must[int](t)(next.SecondFactors.Left(t.Context(), made.ID)) != 0 {
		t.Error("something is left of a factor that was dropped")
	}
}

// TestWaitingSignIns_EndWithTheSessionsOfTheirUser: a revocation that leaves out one session or another organization
// leaves out no more.
func TestWaitingSignIns_EndWithTheSessionsOfTheirUser(t *testing.T) {
	t.Parallel()
	k := open(t)
	user, org := id.New[id.User](), id.New[id.Organization]()
	wait := func() secrets.Text {
		return must[secrets.Text](t)(k.SecondFactors.Wait(t.Context(), vault.WaitingSignIn{
			UserID: user, FactorID: id.New[id.SecondFactor](), OrgID: org, Method: "password",
		}))
	}
	for _, c := range []struct {
		name  string
		end   vault.Revocation
		stays bool
	}{
		{"all", vault.Revocation{Users: []id.User{user}}, false},
		{"all but one", vault.Revocation{Users: []id.User{user}, Except: id.New[id.Session]()}, false},
		{"at the organization", vault.Revocation{Users: []id.User{user}, Org: org}, false},
		{"one session", vault.Revocation{Users: []id.User{user}, Only: id.New[id.Session]()}, true},
		{"at another organization", vault.Revocation{Users: []id.User{user}, Org: id.New[id.Organization]()}, true},
		{"of somebody else", vault.Revocation{Users: []id.User{id.New[id.User]()}}, true},
	} {
		token := wait()
		if _, err := k.RefreshTokens.Revoke(t.Context(), c.end); err != nil {
			t.Fatal(err)
		}
		if w := must[*vault.WaitingSignIn](t)(k.SecondFactors.Try(t.Context(), token, org)); (w != nil) != c.stays {
			t.Errorf("%s: waits on %v", c.name, w != nil)
		}
	}
	token := wait()
	if !must[bool](t)(k.SecondFactors.Spend(t.Context(), token)) ||
		must[bool](t)(k.SecondFactors.Spend(t.Context(), token)) {
		t.Error("spent never, or twice")
	}
	if w := must[*vault.WaitingSignIn](t)(k.SecondFactors.Try(t.Context(), token, org)); w != nil {
		t.Error("a token that was spent is tried")
	}
	wait()
	k.clock.Advance(time.Hour)
	if err := k.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := k.count(t, "select count(*) from {schema}.waiting_sign_ins"); n != 0 {
		t.Errorf("%d sign-ins wait for ever", n)
	}
}
