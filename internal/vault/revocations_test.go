package vault_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// revoke ends sessions and gives those whose end is not recorded.
func (k *kit) revoke(t *testing.T, which vault.Revocation) []vault.Ended {
	t.Helper()
	return must[[]vault.Ended](t)(k.RefreshTokens.Revoke(t.Context(), which))
}

// refuseRevocations makes every revocation of a session fail until the test calls what it gives.
func (k *kit) refuseRevocations(t *testing.T) (allow func()) {
	t.Helper()
	run := func(sql string) {
		t.Helper()
		if _, err := k.db.Owner.Exec(t.Context(), replaceSchema(k.db, sql)); err != nil {
			t.Fatal(err)
		}
	}
	run("alter table {schema}.sessions add constraint refused check (revoked_at is null)")
	return func() { run("alter table {schema}.sessions drop constraint refused") }
}

func TestRevoke_GivesAnEndedSessionUntilItsEndIsRecorded(t *testing.T) {
	t.Parallel()
	k := open(t)
	user := id.New[id.User]()
	_, s := issue(t, k, user)
	first := vault.Revocation{Users: []id.User{user}, Reason: "logout"}
	second := vault.Revocation{Users: []id.User{user}, Org: s.OrgID, Reason: "disabled"}
	for _, which := range []vault.Revocation{first, second, first} {
		if ended := k.revoke(t, which); len(ended) != 1 || ended[0].Session != s || ended[0].Reason != "logout" {
			t.Errorf("got %+v", ended)
		}
	}
	now := k.clock.Now()
	if list := must[[]vault.Ended](t)(k.RefreshTokens.Unrecorded(t.Context(), now, 9)); len(list) != 1 {
		t.Errorf("unrecorded are %+v", list)
	}
	before := now.Add(-time.Second)
	if list := must[[]vault.Ended](t)(k.RefreshTokens.Unrecorded(t.Context(), before, 9)); len(list) != 0 {
		t.Errorf("one of later is among %+v", list)
	}
	if err := k.RefreshTokens.EndRecorded(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if list := must[[]vault.Ended](t)(k.RefreshTokens.Unrecorded(t.Context(), now, 9)); len(list) != 0 {
		t.Errorf("unrecorded are %+v", list)
	}
	if ended := k.revoke(t, first); len(ended) != 0 {
		t.Errorf("recorded, and still %+v", ended)
	}
}

func TestRevoke_EndsTheNamedSessionsOnly(t *testing.T) {
	t.Parallel()
	k := open(t)
	user, other := id.New[id.User](), id.New[id.User]()
	tokenA, a := issue(t, k, user)
	tokenB, b := issue(t, k, user)
	tokenC, c := issue(t, k, other)
	for _, nobody := range []vault.Revocation{
		{Users: []id.User{user}, Only: c.ID}, {Users: []id.User{user}, Org: c.OrgID}, {Only: a.ID}, {},
	} {
		if ended := k.revoke(t, nobody); len(ended) != 0 {
			t.Errorf("%+v ends %+v", nobody, ended)
		}
	}
	if err := k.RefreshTokens.EndRecorded(t.Context(), a.ID); err != nil { // an open one stays open
		t.Fatal(err)
	}
	k.revoke(t, vault.Revocation{Users: []id.User{user, other}, Except: b.ID})
	for token, open := range map[secrets.Text]bool{tokenA: false, tokenB: true, tokenC: false} {
		if _, err := k.RefreshTokens.Lookup(t.Context(), token); (err == nil) != open {
			t.Errorf("want open %v, got %v", open, err)
		}
	}
	k.clock.Advance(vault.RefreshTokenTTL)
	if ended := k.revoke(t, vault.Revocation{Users: []id.User{user}, Only: b.ID}); len(ended) != 0 {
		t.Errorf("an expired session ends again: %+v", ended)
	}
}

func TestPasswords_ChangeTogetherWithTheEndOfSessionsOrNotAtAll(t *testing.T) {
	t.Parallel()
	k := open(t)
	user := id.New[id.User]()
	k.replace(t, user, "first one")
	thief, _ := issue(t, k, user)
	mine, kept := issue(t, k, user)
	others := vault.Revocation{Users: []id.User{user}, Except: kept.ID, Reason: "password_changed"}
	proven := must[vault.Verified](t)(k.Passwords.Verify(t.Context(), id.Organization{}, user, "first one"))
	change := map[string]func() error{
		"exchange": func() error {
			_, err := k.Passwords.Exchange(t.Context(), proven, k.hash(t, "second one"), others)
			return err
		},
		"replace": func() error { return k.Passwords.Replace(t.Context(), user, k.hash(t, "second one"), others) },
		"void":    func() error { return k.Passwords.Void(t.Context(), []id.User{user}, others) },
	}
	allow := k.refuseRevocations(t)
	for name, do := range change {
		if err := do(); err == nil || !k.right(t, user, "first one") {
			t.Errorf("%s: the password went without the sessions: %v", name, err)
		}
	}
	allow()
	if err := change["exchange"](); err != nil || !k.right(t, user, "second one") {
		t.Errorf("not exchanged: %v", err)
	}
	if _, _, err := k.RefreshTokens.Rotate(t.Context(), thief); !errors.Is(err, vault.ErrTokenInvalid) {
		t.Errorf("a session outlives the password: %v", err)
	}
	if _, _, err := k.RefreshTokens.Rotate(t.Context(), mine); err != nil {
		t.Errorf("the kept session ended: %v", err)
	}
}
