package directory

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// attacked makes an account whose password was tried with so many devices that all have to wait.
func attacked(t *testing.T, tr *trials, org id.Organization, at time.Time) id.Secret {
	t.Helper()
	password := id.New[id.Secret]()
	for i := range mostOfStrays {
		tr.add(org, password, fmt.Sprintf("02:00:00:00:00:%02x", i), at)
	}
	if !tr.slowed(org, password, stray, at) {
		t.Fatal("a new device may still try")
	}
	return password
}

// stray is a device that tries for the first time.
const stray = "02:00:00:00:01:01"

// TestPasswords_AnotherOrganizationDoesNotMakeTriesForgotten: nor does the own one with other accounts, as long as they
// are tried less. What all have is bounded.
func TestPasswords_AnotherOrganizationDoesNotMakeTriesForgotten(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tr, ours := newTrials(), id.New[id.Organization]()
	password := attacked(t, tr, ours, at)
	for _, loud := range []id.Organization{id.New[id.Organization](), ours} {
		for range maxTried {
			tr.add(loud, id.New[id.Secret](), stray, at)
		}
		if !tr.slowed(ours, password, stray, at) {
			t.Errorf("the tries are forgotten; by its own organization: %v", loud == ours)
		}
	}
	if n := tr.room.Used(); n > maxTried {
		t.Errorf("%d passwords are remembered", n)
	}
}

// TestPasswords_AnOrganizationRemembersSomeHoweverManyOthersHave: very many that share the room leave none to the next.
func TestPasswords_AnOrganizationRemembersSomeHoweverManyOthersHave(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tr, ours := newTrials(), id.New[id.Organization]()
	tr.room.Hold(id.New[id.Organization](), maxTried)
	password := attacked(t, tr, ours, at)
	for range 20 * leastTried {
		tr.add(ours, id.New[id.Secret](), stray, at)
	}
	if n := len(tr.wrong[ours]); n != leastTried || !tr.slowed(ours, password, stray, at) {
		t.Errorf("%d passwords are remembered", n)
	}
}

// TestPasswords_WhatIsForgivenMakesRoom: for whoever tries next.
func TestPasswords_WhatIsForgivenMakesRoom(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tr, loud, ours := newTrials(), id.New[id.Organization](), id.New[id.Organization]()
	for range maxTried {
		tr.add(loud, id.New[id.Secret](), stray, at)
	}
	last := at.Add(triedFor - time.Second)
	password := attacked(t, tr, loud, last)
	tr.add(ours, id.New[id.Secret](), stray, at.Add(triedFor))
	if len(tr.wrong[loud]) != 1 || tr.room.Used() != 2 || !tr.slowed(loud, password, stray, last) {
		t.Errorf("%d passwords, room for %d is taken", len(tr.wrong[loud]), tr.room.Used())
	}
	for clock := last; tr.slowed(loud, password, "02:00:00:00:00:01", clock); clock = clock.Add(time.Second) {
		if clock.Sub(last) >= triedFor {
			t.Fatal("tries outlast the time for which they are remembered")
		}
	}
}
