package telemetry

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// panics fails when something does not panic.
func panics(t *testing.T, what func()) {
	t.Helper()
	if err := loop.Try(func() error {
		what()
		return nil
	}); loop.StackOf(err) == "" {
		t.Errorf("%v, want a panic", err)
	}
}

// TestSpool_APanicLeavesItUnlocked, else no report would be kept afterwards.
func TestSpool_APanicLeavesItUnlocked(t *testing.T) {
	t.Parallel()
	s, nobody := share(t, 1), id.New[id.Organization]()
	s.come(t, s.orgs[0], 10)
	for name, what := range map[string]func(){
		"try":   func() { _, _ = s.try(nobody) },
		"done":  func() { _ = s.done(nobody, 1) },
		"taken": func() { _ = s.spool.taken(1) },
		"next": func() {
			s.pace, s.doubted = nil, map[id.Organization]*doubt{nobody: {tried: true}}
			_, _ = s.spool.next(1)
		},
	} {
		panics(t, what)
		if !s.mu.TryLock() {
			t.Fatalf("locked after %s", name)
		}
		s.mu.Unlock()
	}
}

// TestLive_APanicAtASignInLeavesNobodyLocked, else the recorder would wait when it tells of sessions.
func TestLive_APanicAtASignInLeavesNobodyLocked(t *testing.T) {
	t.Parallel()
	l, subscription := NewLive(LiveConfig{}), id.New[id.Subscription]()
	at := l.shard(subscription)
	at.of[subscription] = &line{sessions: []*occupant{nil}}
	panics(t, func() { l.Admit(SignIn{Subscription: subscription, At: time.Unix(0, 0), Limit: 1}) })
	if !at.mu.TryLock() {
		t.Fatal("locked")
	}
	at.mu.Unlock()
}
