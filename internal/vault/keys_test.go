package vault_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

func TestEnsureKeys_ReplicasAgreeOnOneKey(t *testing.T) {
	t.Parallel()
	k := open(t)
	subject := uuid.New()
	found := make([]vault.Key, 6)
	var wg sync.WaitGroup
	for i := range found {
		v := k.reopen(t, key(1))
		wg.Go(func() {
			keys, err := v.SubjectKeys.EnsureKeys(t.Context(), []uuid.UUID{subject, subject})
			if err != nil {
				t.Error(err)
				return
			}
			found[i] = keys[subject]
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	sealed := found[0].Seal([]byte("name"), []byte("field"))
	for i, key := range found {
		if plain, err := key.Open(sealed, []byte("field")); err != nil || string(plain) != "name" {
			t.Errorf("replica %d: %q, %v", i, plain, err)
		}
	}
	if _, err := found[0].Open(sealed, []byte("another field")); err == nil {
		t.Error("opened in another place")
	}
}

func TestKeys_GivesExistingOnesOnly(t *testing.T) {
	t.Parallel()
	k := open(t)
	known, unknown := uuid.New(), uuid.New()
	must[map[uuid.UUID]vault.Key](t)(k.SubjectKeys.EnsureKeys(t.Context(), []uuid.UUID{known}))
	keys := must[map[uuid.UUID]vault.Key](t)(k.SubjectKeys.Keys(t.Context(), []uuid.UUID{known, unknown}))
	if _, ok := keys[known]; !ok || len(keys) != 1 {
		t.Errorf("have %d keys", len(keys))
	}
}

// TestKeys_ADamagedOneIsOfItsSubjectAlone: it opens nothing, and is no failure of what is asked with it. Nothing is
// sealed with it either.
func TestKeys_ADamagedOneIsOfItsSubjectAlone(t *testing.T) {
	t.Parallel()
	k := open(t)
	whole, damaged := uuid.New(), uuid.New()
	both := []uuid.UUID{whole, damaged}
	sealing := must[map[uuid.UUID]vault.Key](t)(k.SubjectKeys.EnsureKeys(t.Context(), both))
	sealed := map[uuid.UUID][]byte{}
	for subject, key := range sealing {
		sealed[subject] = key.Seal([]byte("name"), []byte("field"))
	}
	k.exec(t, `update {schema}.subject_keys
		set wrapped = set_byte(wrapped, octet_length(wrapped) - 1, 255 - get_byte(wrapped, octet_length(wrapped) - 1))
		where subject = $1`, damaged)
	again := k.reopen(t, key(1))
	keys := must[map[uuid.UUID]vault.Key](t)(again.SubjectKeys.Keys(t.Context(), both))
	if plain, err := keys[whole].Open(sealed[whole], []byte("field")); err != nil || string(plain) != "name" {
		t.Errorf("the other one opens %q, %v", plain, err)
	}
	if _, err := keys[damaged].Open(sealed[damaged], []byte("field")); !errors.Is(err, secrets.ErrTampered) {
		t.Errorf("the damaged one: %v", err)
	}
	if _, err := again.SubjectKeys.EnsureKeys(t.Context(), both); err == nil {
		t.Error("something is sealed with a damaged key")
	}
}

func TestDestroy_IsFinalHereAtOnceAndElsewhereWithinTheTTL(t *testing.T) {
	t.Parallel()
	k := open(t)
	ctx, subject := t.Context(), uuid.New()
	other := k.reopen(t, key(1))
	must[map[uuid.UUID]vault.Key](t)(k.SubjectKeys.EnsureKeys(ctx, []uuid.UUID{subject}))
	must[map[uuid.UUID]vault.Key](t)(other.SubjectKeys.Keys(ctx, []uuid.UUID{subject}))
	for range 2 {
		if err := k.SubjectKeys.Destroy(ctx, subject); err != nil {
			t.Fatal(err)
		}
	}
	if keys := must[map[uuid.UUID]vault.Key](t)(k.SubjectKeys.Keys(ctx, []uuid.UUID{subject})); len(keys) != 0 {
		t.Error("the key is still used here")
	}
	_, err := k.SubjectKeys.EnsureKeys(ctx, []uuid.UUID{subject})
	wantCode(t, err, "subject_forgotten")
	k.clock.Advance(vault.SubjectKeyTTL)
	if keys := must[map[uuid.UUID]vault.Key](t)(other.SubjectKeys.Keys(ctx, []uuid.UUID{subject})); len(keys) != 0 {
		t.Error("the key is still used elsewhere")
	}
	if n := k.count(t, "select count(*) from {schema}.subject_keys where wrapped is not null"); n != 0 {
		t.Error("the key is still stored")
	}
}

func TestDestroy_ReachesOtherProgramsAlsoWhenTheClockIsPutBack(t *testing.T) {
	t.Parallel()
	k := open(t)
	ctx, subject := t.Context(), uuid.New()
	other := k.reopen(t, key(1))
	must[map[uuid.UUID]vault.Key](t)(other.SubjectKeys.EnsureKeys(ctx, []uuid.UUID{subject}))
	if err := k.SubjectKeys.Destroy(ctx, subject); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(-3 * time.Hour)
	k.clock.Advance(vault.SubjectKeyTTL)
	if keys := must[map[uuid.UUID]vault.Key](t)(other.SubjectKeys.Keys(ctx, []uuid.UUID{subject})); len(keys) != 0 {
		t.Error("the key is still used elsewhere")
	}
}

func TestDestroy_RacingEnsureLeavesNoKey(t *testing.T) {
	t.Parallel()
	k := open(t)
	for range 20 {
		subject := uuid.New()
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = k.SubjectKeys.EnsureKeys(t.Context(), []uuid.UUID{subject}) })
		wg.Go(func() {
			if err := k.SubjectKeys.Destroy(t.Context(), subject); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		if keys := must[map[uuid.UUID]vault.Key](t)(k.SubjectKeys.Keys(t.Context(),
			[]uuid.UUID{subject})); len(keys) != 0 {
			t.Fatal("a key survived")
		}
	}
}

func TestSecrets_AReferenceKeepsItsValue(t *testing.T) {
	t.Parallel()
	k := open(t)
	ctx := t.Context()
	s := vault.Secret{Ref: id.New[id.Secret](), OrgID: id.New[id.Organization](), Purpose: "payment_credentials"}
	for _, text := range []string{"one", "two"} { // the second is a repeat, or a fault of the caller
		if err := k.Secrets.Put(ctx, s, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := k.Secrets.Get(ctx, s.Ref); err != nil || string(got) != "one" {
			t.Errorf("have %q, %v", got, err)
		}
	}
	foreign := s
	foreign.OrgID = id.New[id.Organization]()
	wantCode(t, k.Secrets.Put(ctx, foreign, []byte("x")), "secret_ref_taken")
	if n := k.count(t, "select count(*) from {schema}.secrets where position('one'::bytea in sealed) > 0"); n != 0 {
		t.Error("stored in plain")
	}
	if err := k.Secrets.Delete(ctx, s.Ref); err != nil {
		t.Fatal(err)
	}
	_, err := k.Secrets.Get(ctx, s.Ref)
	wantCode(t, err, "secret_not_found")
}

func TestSecrets_ARowMovedToAnotherOwnerDoesNotOpen(t *testing.T) {
	t.Parallel()
	k := open(t)
	s := vault.Secret{Ref: id.New[id.Secret](), Purpose: "p"}
	if err := k.Secrets.Put(t.Context(), s, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if n := k.count(t, "select count(*) from {schema}.secrets where org_id is null"); n != 1 {
		t.Error("the platform's own secret has an organization")
	}
	k.exec(t, "update {schema}.secrets set org_id = gen_random_uuid()")
	if _, err := k.Secrets.Get(t.Context(), s.Ref); err == nil {
		t.Error("opened")
	}
}

func TestSecrets_OneDamagedDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	k, good, bad := open(t), id.New[id.Secret](), id.New[id.Secret]()
	for _, ref := range []id.Secret{good, bad} {
		if err := k.Secrets.Put(t.Context(), vault.Secret{Ref: ref, Purpose: "p"}, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	all := []id.Secret{good, bad, id.New[id.Secret]()}
	if found, err := k.Secrets.GetAll(t.Context(), all); err != nil || len(found) != 2 || string(found[bad]) != "x" {
		t.Errorf("%v, %v", found, err)
	}
	k.exec(t, "update {schema}.secrets set purpose = 'q' where ref = '"+bad.String()+"'")
	found, err := k.Secrets.GetAll(t.Context(), all)
	if err == nil || len(found) != 1 || string(found[good]) != "x" {
		t.Errorf("with a damaged one: %v, %v", found, err)
	}
}
