package vault

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
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
	hash, err := p.Hash(t.Context(), id.Organization{}, "word")
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
	taken := takeAll(t, p)
	for _, user := range []id.User{known, id.New[id.User](), {}} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if _, err := p.Verify(ctx, id.Organization{}, user, "word"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("user %s was answered without a turn: %v", user, err)
		}
		cancel()
	}
	for _, org := range taken {
		p.turns.Leave(org)
	}
}

// takeAll takes all turns, each for an organization of its own, which are returned.
func takeAll(t *testing.T, p *Passwords) []id.Organization {
	t.Helper()
	taken := make([]id.Organization, runtime.GOMAXPROCS(0))
	for i := range taken {
		taken[i] = id.New[id.Organization]()
		if err := p.turns.Enter(t.Context(), taken[i]); err != nil {
			t.Fatal(err)
		}
	}
	return taken
}

// One organization's requests fill its own line only; that turns go round is tested in package fair.
func TestPasswords_OneOrganizationsLineRefusesNoOther(t *testing.T) {
	t.Parallel()
	p := newPasswords(nil, Argon2{MemoryKiB: 64, Passes: 1, Threads: 1})
	taken := takeAll(t, p)
	busy, other := id.New[id.Organization](), id.New[id.Organization]()
	hashed := make(chan error)
	hash := func(org id.Organization) {
		_, err := p.Hash(t.Context(), org, "word")
		hashed <- err
	}
	for range hashLine {
		go hash(busy)
	}
	for p.turns.Waiting(busy) < hashLine {
		runtime.Gosched()
	}
	if _, err := p.Hash(t.Context(), busy, "word"); failure.CodeOf(err) != "sign_in_busy" {
		t.Errorf("beyond the line: %v", err)
	}
	go hash(other)
	for p.turns.Waiting(other) == 0 {
		runtime.Gosched()
	}
	for _, org := range taken {
		p.turns.Leave(org)
	}
	for range hashLine + 1 {
		if err := <-hashed; err != nil {
			t.Error(err)
		}
	}
}
