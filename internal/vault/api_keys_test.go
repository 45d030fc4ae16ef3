package vault_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/apikeys"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// newSecret stores a new secret of a key.
func (k *kit) newSecret(t *testing.T, of id.APIKey, ends time.Time) apikeys.Key {
	t.Helper()
	secret := apikeys.New(id.New[id.APIKeySecret]())
	if !must[bool](t)(k.APIKeys.Put(t.Context(), of, secret, ends)) {
		t.Fatal("not stored")
	}
	return secret
}

func TestAPIKeys_OnlyTheStoredSecretMatches(t *testing.T) {
	t.Parallel()
	k := open(t)
	of := id.New[id.APIKey]()
	secret, another := k.newSecret(t, of, time.Time{}), k.newSecret(t, of, time.Time{})
	other := k.reopen(t, key(1)) // another program, which has nothing in memory
	for _, v := range []*vault.APIKeys{k.APIKeys, other.APIKeys, other.APIKeys} {
		matches := func(s apikeys.Key, exists bool) bool { return must[bool](t)(v.Matches(t.Context(), s, exists)) }
		if !matches(secret, true) || matches(secret, false) {
			t.Error("the right secret does not match, or matches what nobody has")
		}
		bit := []byte(secret.Secret.Reveal())
		bit[31] ^= 1
		crossed := apikeys.Key{ID: another.ID, Secret: secret.Secret}
		for name, wrong := range map[string]apikeys.Key{
			"one bit": {ID: secret.ID, Secret: secrets.Text(bit)}, "another key's": crossed,
			"unknown": apikeys.New(id.New[id.APIKeySecret]()), "no id": {Secret: secret.Secret},
		} {
			if matches(wrong, true) {
				t.Errorf("%s matches", name)
			}
		}
	}
}

func TestAPIKeys_AStoredSecretIsNeverReplaced(t *testing.T) {
	t.Parallel()
	k := open(t)
	secret := k.newSecret(t, id.New[id.APIKey](), time.Time{})
	again := apikeys.New(secret.ID)
	if must[bool](t)(k.APIKeys.Put(t.Context(), id.New[id.APIKey](), again, time.Time{})) {
		t.Error("replaced")
	}
	if !must[bool](t)(k.APIKeys.Matches(t.Context(), secret, true)) ||
		must[bool](t)(k.APIKeys.Matches(t.Context(), again, true)) {
		t.Error("the first secret is not the one that counts")
	}
	var stored []byte
	if err := k.db.Owner.QueryRow(t.Context(), replaceSchema(k.db, `select hash from {schema}.api_keys`)).
		Scan(&stored); err != nil || len(stored) != 32 || bytes.Contains(stored, []byte(secret.Secret.Reveal())) {
		t.Errorf("stored are %d bytes, %v", len(stored), err)
	}
}

// A program that has started knows all keys, so that a first use takes no longer than any other.
func TestAPIKeys_AfterTheStartNoDatabaseIsAsked(t *testing.T) {
	t.Parallel()
	k := open(t)
	secret := k.newSecret(t, id.New[id.APIKey](), k.clock.Now().Add(time.Hour))
	over := k.newSecret(t, id.New[id.APIKey](), k.clock.Now())
	other := k.reopen(t, key(1))
	if err := other.APIKeys.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.exec(t, `alter table {schema}.api_keys rename to away`)
	if !must[bool](t)(other.APIKeys.Matches(t.Context(), secret, true)) {
		t.Error("a known key does not match")
	}
	if _, err := other.APIKeys.Matches(t.Context(), over, true); err == nil {
		t.Error("a key that had ended was in memory: nothing is tested")
	}
	if must[bool](t)(other.APIKeys.Matches(t.Context(), over, false)) {
		t.Error("what nobody has matches")
	}
}

func TestAPIKeys_AUseIsWrittenOnceAMinute(t *testing.T) {
	t.Parallel()
	k := open(t)
	key, unused := id.New[id.APIKey](), id.New[id.APIKey]()
	k.newSecret(t, key, time.Time{})
	use := func(after time.Duration, ip string) {
		t.Helper()
		k.clock.Advance(after)
		err := k.APIKeys.Used(t.Context(), []vault.APIKeyUse{{KeyID: key, At: k.clock.Now(), IP: ip}})
		if err != nil {
			t.Fatal(err)
		}
	}
	first := k.clock.Now()
	use(0, "192.0.2.1")
	use(30*time.Second, "192.0.2.2") // of another program
	uses := must[map[id.APIKey]vault.APIKeyUse](t)(k.APIKeys.Uses(t.Context(), []id.APIKey{key, unused}))
	if got := uses[key]; len(uses) != 1 || !got.At.Equal(first) || got.IP != "192.0.2.1" {
		t.Errorf("uses %+v", uses)
	}
	use(30*time.Second, "192.0.2.3")
	uses = must[map[id.APIKey]vault.APIKeyUse](t)(k.APIKeys.Uses(t.Context(), []id.APIKey{key}))
	if got := uses[key]; !got.At.Equal(k.clock.Now()) || got.IP != "192.0.2.3" {
		t.Errorf("a minute later %+v", got)
	}
}

func TestAPIKeys_NinetyDaysAfterItsEndNothingIsLeftOfASecret(t *testing.T) {
	t.Parallel()
	k := open(t)
	key, alive := id.New[id.APIKey](), id.New[id.APIKey]()
	old, present := k.newSecret(t, key, time.Time{}), k.newSecret(t, key, time.Time{})
	k.newSecret(t, alive, time.Time{})
	rows := func(table string) int {
		t.Helper()
		if err := k.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		return k.count(t, `select count(*) from {schema}.`+table)
	}
	if err := k.APIKeys.End(t.Context(), key, present.ID, k.clock.Now()); err != nil {
		t.Fatal(err)
	}
	for _, of := range []id.APIKey{key, alive} {
		err := k.APIKeys.Used(t.Context(), []vault.APIKeyUse{{KeyID: of, At: k.clock.Now(), IP: "192.0.2.1"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := rows("api_keys"); n != 3 || !must[bool](t)(k.APIKeys.Matches(t.Context(), old, true)) {
		t.Errorf("an ended secret is not recognised: %d rows", n)
	}
	k.clock.Advance(vault.APIKeyMemory)
	if n := rows("api_keys"); n != 2 {
		t.Errorf("%d rows", n)
	}
	if n := k.count(t, `select count(*) from {schema}.api_key_uses where ip <> ''`); n != 0 {
		t.Errorf("%d addresses are left", n)
	}
	if err := k.APIKeys.End(t.Context(), key, id.APIKeySecret{}, k.clock.Now()); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(vault.APIKeyMemory)
	if keys, uses := rows("api_keys"), rows("api_key_uses"); keys != 1 || uses != 1 {
		t.Errorf("%d secrets and %d uses", keys, uses)
	}
}
