package identitycases_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/apikeys"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// byAda is a request of Acme's administrator under a key.
func (k *kit) byAda(key string) usecases.Asked {
	a := asked(k.acme, key)
	a.Meta.Actor.ID = k.ada.String()
	return a
}

// opens reports whether a key's text opens something at this moment.
func (k *kit) opens(made identitycases.ShownKey) bool {
	k.t.Helper()
	secret, ok := apikeys.Development.Parse(made.Text.Reveal())
	if !ok {
		k.t.Fatal("no key was told")
	}
	right, err := k.Vault.APIKeys.Matches(k.t.Context(), secret, true)
	k.must(err)
	standing, known := k.directory.APIKey(secret.ID)
	return right && known && !standing.Over(k.clock.Now()) && !standing.Stopped()
}

// withoutKeys runs what must fail while the vault can store no key.
func (k *kit) withoutKeys(do func() error) {
	k.t.Helper()
	table := pgx.Identifier{k.DB.Namespace.Schema("vault"), "api_keys"}.Sanitize()
	_, err := k.DB.Owner.Exec(k.t.Context(), "alter table "+table+" add constraint refused check (false) not valid")
	k.must(err)
	if err := do(); err == nil {
		k.t.Error("the vault stored nothing, and the request succeeded")
	}
	_, err = k.DB.Owner.Exec(k.t.Context(), "alter table "+table+" drop constraint refused")
	k.must(err)
}

func TestIssue_WhatOnlyALostAnswerHadIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	books := identitycases.NewAPIKey{Name: "Books", Role: events.RoleSupport}
	issue := func() (identitycases.ShownKey, error) { return k.APIKeys.Issue(t.Context(), k.byAda("books"), books) }
	k.withoutKeys(func() error {
		_, err := issue()
		return err
	})
	made, err := issue() // a repeat after a stop before the vault
	k.must(err)
	if !k.opens(made) {
		t.Error("a repeat made a key that opens nothing")
	}
	_, err = issue() // after a stop behind it
	k.fails(err, "api_key_shown")
	if !k.opens(made) {
		t.Error("a refused repeat took the key away")
	}
	rotate := func(key string) (identitycases.ShownKey, error) {
		return k.APIKeys.Rotate(t.Context(), k.byAda(key), made.State.Issued.KeyID, 0)
	}
	next, err := rotate("rotate")
	k.must(err)
	_, err = rotate("rotate")
	k.fails(err, "api_key_shown")
	last, err := rotate("rotate again")
	k.must(err)
	_, err = rotate("rotate")
	k.fails(err, "api_key_rotated")
	if k.opens(made) || k.opens(next) || !k.opens(last) {
		t.Error("another text than the last one works")
	}
}

func TestIssue_ARefusedRequestStoresNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	bySue := k.byAda("sue")
	bySue.Meta.Actor.Role = string(events.RoleSupport)
	byKey := k.byAda("key")
	byKey.Meta.Actor.Kind = events.ActorAPIKey
	for code, a := range map[string]usecases.Asked{"api_key_role": bySue, "api_key_not_allowed": byKey} {
		_, err := k.APIKeys.Issue(t.Context(), a, identitycases.NewAPIKey{Name: "Books", Role: events.RoleAdmin})
		k.fails(err, code)
	}
	_, err := k.APIKeys.Issue(t.Context(), k.byAda("odd"), identitycases.NewAPIKey{Role: events.RoleAdmin})
	k.fails(err, "invalid_input")
	made, err := k.APIKeys.Issue(t.Context(), k.byAda("books"), identitycases.NewAPIKey{
		Name: "Books", Role: events.RoleAdmin,
	})
	k.must(err)
	_, err = k.APIKeys.Rotate(t.Context(), asked(k.other, "theirs"), made.State.Issued.KeyID, 0)
	k.fails(err, "api_key_not_found")
	_, err = k.APIKeys.Revoke(t.Context(), asked(k.other, "theirs"), made.State.Issued.KeyID)
	k.fails(err, "api_key_not_found")
	var rows int
	k.must(k.DB.Owner.QueryRow(t.Context(),
		"select count(*) from "+pgx.Identifier{k.DB.Namespace.Schema("vault"), "api_keys"}.Sanitize()).Scan(&rows))
	if rows != 1 || !k.opens(made) {
		t.Errorf("%d secrets are stored", rows)
	}
}

func TestIssue_AnOrganizationHasABoundedNumberOfKeys(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	issue := func(n int) (identitycases.ShownKey, error) {
		return k.APIKeys.Issue(t.Context(), k.byAda(fmt.Sprint("key ", n)), identitycases.NewAPIKey{
			Name: "Books", Role: events.RoleSupport,
		})
	}
	var last id.APIKey
	for n := range identitycases.MaxAPIKeys {
		made, err := issue(n)
		k.must(err)
		last = made.State.Issued.KeyID
	}
	_, err := issue(-1)
	k.fails(err, "api_key_quota_reached")
	_, err = issue(0) // a repeat is no further key
	k.fails(err, "api_key_shown")
	_, err = k.APIKeys.Revoke(t.Context(), k.byAda("revoke"), last)
	k.must(err)
	_, err = issue(-1)
	k.must(err)
	state, _, err := bus.LoadOwned[identity.APIKey](t.Context(), k.Bus, k.acme, last)
	if err != nil || !state.Over(k.clock.Now()) {
		t.Errorf("the revoked key is %+v, %v", state, err)
	}
}
