package vault_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// cheap makes password hashes fast enough for tests; far too weak for an installation.
var cheap = vault.Argon2{MemoryKiB: 64, Passes: 1, Threads: 1}

// start is the first instant of the tests' clock, in UTC.
var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// kit is a vault with a clock that the test moves, and with everything that opening it again needs.
type kit struct {
	*vault.Vault
	db    *postgres.DB
	clock *clock.Manual
}

// key makes a platform key that repeats one byte, so that two tests' keys are easy to tell apart.
func key(b byte) []byte { return bytes.Repeat([]byte{b}, secrets.KeySize) }

// open makes a vault in a namespace of its own.
func open(t *testing.T) kit {
	t.Helper()
	k := kit{db: pgtest.New(t), clock: clock.NewManual(start)}
	k.Vault = k.reopen(t, key(1))
	return k
}

// reopen opens the same vault again, as another replica would, under the given platform keys.
func (k kit) reopen(t *testing.T, current []byte, previous ...[]byte) *vault.Vault {
	t.Helper()
	ring, err := secrets.New(current, previous...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(t.Context(), vault.Config{DB: k.db, Keyring: ring, Clock: k.clock, Argon2: cheap})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// count gives the result of a counting query in which {schema} stands for the vault's.
func (k kit) count(t *testing.T, sql string, args ...any) int {
	t.Helper()
	var n int
	if err := k.db.Owner.QueryRow(t.Context(), replaceSchema(k.db, sql), args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// exec runs a statement in which {schema} stands for the vault's schema.
func (k kit) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := k.db.Owner.Exec(t.Context(), replaceSchema(k.db, sql), args...); err != nil {
		t.Fatal(err)
	}
}

// replaceSchema puts the name of the vault's schema in place of {schema}.
func replaceSchema(db *postgres.DB, sql string) string {
	return string(bytes.ReplaceAll([]byte(sql), []byte("{schema}"), []byte(db.Namespace.Schema("vault"))))
}

// must gives a function that returns the value of a call, and ends the test when the call failed.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantCode fails the test unless err has this failure code.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if failure.CodeOf(err) != code {
		t.Errorf("want failure %s, have: %v", code, err)
	}
}

func TestOpen_WrongPlatformKeyIsRefused(t *testing.T) {
	t.Parallel()
	k := open(t)
	ring, err := secrets.New(key(9))
	if err != nil {
		t.Fatal(err)
	}
	_, err = vault.Open(t.Context(), vault.Config{DB: k.db, Keyring: ring, Clock: k.clock})
	if !errors.Is(err, secrets.ErrUnknownKey) {
		t.Errorf("have: %v", err)
	}
}

func TestVault_ReadRolesSeeNothing(t *testing.T) {
	t.Parallel()
	k := open(t)
	for _, table := range []string{"secrets", "passwords", "subject_keys", "callbacks"} {
		for _, pool := range []interface {
			Exec(t *testing.T, sql string) error
		}{reader{k.db, false}, reader{k.db, true}} {
			if pool.Exec(t, replaceSchema(k.db, "select from {schema}."+table)) == nil {
				t.Errorf("a read role may read %s", table)
			}
		}
	}
}

// reader runs statements as one of the two read roles, which must not reach the vault.
type reader struct {
	db       *postgres.DB
	platform bool
}

// Exec runs the statement and gives only its error.
func (r reader) Exec(t *testing.T, sql string) error {
	t.Helper()
	pool := r.db.Query
	if r.platform {
		pool = r.db.Platform
	}
	_, err := pool.Exec(t.Context(), sql)
	return err
}

func TestClaimKey_IsStableOverReplicasAndRotation(t *testing.T) {
	t.Parallel()
	k := open(t)
	want := k.ClaimKey("login_phone", "254700000001")
	if want.Version() != 8 || want.Variant() != uuid.RFC4122 {
		t.Errorf("%s is no UUIDv8", want)
	}
	other := k.reopen(t, key(2), key(1))
	if got := other.ClaimKey("login_phone", "254700000001"); got != want {
		t.Errorf("have %s, want %s", got, want)
	}
	if k.ClaimKey("login_phone", "254700000002") == want || k.ClaimKey("login_email", "254700000001") == want {
		t.Error("two values share a key")
	}
	if k.ClaimKey("ab", "c") == k.ClaimKey("a", "bc") {
		t.Error("kind and value run together")
	}
	if k.FileKey("login_phone", []byte("2547"), nil, []byte("00000001")) != want {
		t.Error("the key of a value in pieces is another one")
	}
	if open(t).ClaimKey("login_phone", "254700000001") == want {
		t.Error("two installations share a key")
	}
}

func TestRotate_SealsEverythingAnew(t *testing.T) {
	t.Parallel()
	k := open(t)
	ctx := t.Context()
	secret := vault.Secret{Ref: id.New[id.Secret](), OrgID: id.New[id.Organization](), Purpose: "p"}
	platform := vault.Secret{Ref: id.New[id.Secret](), Purpose: "p"}
	subject := uuid.New()
	owner := vault.CallbackOwner{Kind: "stk", Ref: uuid.New()}
	for _, s := range []vault.Secret{secret, platform} {
		if err := k.Secrets.Put(ctx, s, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	before := must[map[uuid.UUID]vault.Key](t)(k.SubjectKeys.EnsureKeys(ctx, []uuid.UUID{subject}))[subject]
	token := must[secrets.Text](t)(k.CallbackSecrets.Issue(ctx, owner))
	must[uuid.UUID](t)(k.Inbox.Store(ctx, vault.Callback{Kind: "stk", Body: []byte("body")}))

	if n, err := k.reopen(t, key(2), key(1)).Rotate(ctx); err != nil || n != 6 {
		t.Fatalf("sealed anew %d values, %v; want 6", n, err)
	}
	v := k.reopen(t, key(2)) // opens without the old key
	if n, err := v.Rotate(ctx); n != 0 || err != nil {
		t.Errorf("second rotation: %d, %v", n, err)
	}
	for _, s := range []vault.Secret{secret, platform} {
		if got, err := v.Secrets.Get(ctx, s.Ref); err != nil || string(got) != "x" {
			t.Errorf("secret: %q, %v", got, err)
		}
	}
	after := must[map[uuid.UUID]vault.Key](t)(v.SubjectKeys.Keys(ctx, []uuid.UUID{subject}))[subject]
	if plain, err := after.Open(before.Seal([]byte("name"), nil), nil); err != nil || string(plain) != "name" {
		t.Errorf("subject key: %q, %v", plain, err)
	}
	if got, err := v.CallbackSecrets.Issue(ctx, owner); err != nil || got != token {
		t.Errorf("callback token changed, %v", err)
	}
	if taken, err := v.Inbox.Take(ctx, 10); err != nil || len(taken) != 1 || string(taken[0].Body) != "body" {
		t.Errorf("callbacks: %v, %v", taken, err)
	}
}

// TestRotate_GoesOnBeyondWhatIsDamaged: the key that is left behind would be needed for ever otherwise, for all tables.
func TestRotate_GoesOnBeyondWhatIsDamaged(t *testing.T) {
	t.Parallel()
	k := open(t)
	ctx := t.Context()
	people := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	slices.SortFunc(people, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	must[map[uuid.UUID]vault.Key](t)(k.SubjectKeys.EnsureKeys(ctx, people))
	must[uuid.UUID](t)(k.Inbox.Store(ctx, vault.Callback{Kind: "stk", Body: []byte("body")}))
	k.exec(t, `
		update {schema}.subject_keys set wrapped = overlay(wrapped placing '\x00' from 3 for 1) where subject = $1`,
		people[0])
	k.exec(t, `update {schema}.subject_keys set wrapped = wrapped || '\x00' where subject = $1`, people[1])

	n, err := k.reopen(t, key(2), key(1)).Rotate(ctx)
	if n != 3 || !errors.Is(err, secrets.ErrUnknownKey) || !strings.Contains(err.Error(), people[0].String()) ||
		!strings.Contains(err.Error(), "subject_keys: 2 values") {
		t.Errorf("sealed anew %d values, want the root key, one person's and the callback; %v", n, err)
	}
	v := k.reopen(t, key(2))
	if taken, err := v.Inbox.Take(ctx, 10); err != nil || len(taken) != 1 {
		t.Errorf("callbacks: %v, %v", taken, err)
	}
	must[map[uuid.UUID]vault.Key](t)(v.SubjectKeys.Keys(ctx, people[2:]))
}
