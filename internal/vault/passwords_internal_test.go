package vault

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// The time of an answer must not reveal whether a user exists: both kinds compute a hash with equal parameters. With
// all processors taken neither gets an answer, which also shows that a storm of sign-ins is held back.
func TestPasswords_UnknownUserDoesTheSameWork(t *testing.T) {
	t.Parallel()
	ring, err := secrets.New(make([]byte, secrets.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	v, err := Open(t.Context(), Config{
		DB: pgtest.New(t), Keyring: ring, Clock: clock.NewManual(time.Unix(0, 0)), Argon2: Argon2{
			MemoryKiB: 64, Passes: 1, Threads: 1,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	p, known := v.Passwords, id.New[id.User]()
	hash, err := p.Hash(t.Context(), "word")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Add(t.Context(), known, hash); err != nil {
		t.Fatal(err)
	}
	stored, err := p.load(t.Context(), known)
	if err != nil {
		t.Fatal(err)
	}
	if stored.MemoryKiB != p.dummy.MemoryKiB || stored.Passes != p.dummy.Passes || stored.Threads != p.dummy.Threads ||
		len(stored.Salt) != len(p.dummy.Salt) || len(stored.Hash) != len(p.dummy.Hash) {
		t.Error("the hash compared for unknown users costs something else")
	}
	for range cap(p.turns) {
		p.turns <- struct{}{}
	}
	for _, user := range []id.User{known, id.New[id.User](), {}} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if _, err := p.Verify(ctx, user, "word"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("user %s was answered without a turn: %v", user, err)
		}
		cancel()
	}
}
