package telemetry

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// shared is a spool with reports of two organizations, numbered by Down.
type shared struct {
	*spool
	orgs        []id.Organization
	came, taken map[id.Organization]uint64
}

// come keeps further reports of each organization.
func (s *shared) come(t *testing.T, n int) {
	t.Helper()
	for range n {
		for _, org := range s.orgs {
			s.came[org]++
			if _, err := s.append([]Report{{Org: org, Down: s.came[org], At: time.Unix(0, 0)}}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// next gives what is taken next.
func (s *shared) next(t *testing.T) lot {
	t.Helper()
	l, err := s.spool.next(400)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// take takes the reports of a lot that are not of an organization, in order, and counts them.
func (s *shared) take(t *testing.T, l lot, without id.Organization) map[id.Organization]int {
	t.Helper()
	of := map[id.Organization]int{}
	for _, r := range l.reports {
		if r.Org == without {
			continue
		}
		of[r.Org]++
		if s.taken[r.Org]++; r.Down != s.taken[r.Org] {
			t.Fatalf("report %d of an organization comes as its %d", r.Down, s.taken[r.Org])
		}
	}
	if err := s.spool.taken(l.stretches); err != nil {
		t.Fatal(err)
	}
	return of
}

// TestSpool_WhatIsPutAsideIsTakenInOrderBetweenTheTurnsOfOthers: until nothing has happened for a while.
func TestSpool_WhatIsPutAsideIsTakenInOrderBetweenTheTurnsOfOthers(t *testing.T) {
	t.Parallel()
	watch, bad, calm := clock.NewManual(time.Unix(0, 0)), id.New[id.Organization](), id.New[id.Organization]()
	s := &shared{
		openSpool(t, t.TempDir()), []id.Organization{bad, calm}, map[id.Organization]uint64{},
		map[id.Organization]uint64{},
	}
	s.pace = clock.Pace(watch)
	s.come(t, 500)
	l := s.next(t)
	left := s.putAside(bad, l.stretches)
	if left == 0 || left == l.stretches || l.apart {
		t.Fatalf("%d of %d stretches are left, apart %v", left, l.stretches, l.apart)
	}
	l.stretches = left
	s.take(t, l, bad)
	if of := s.take(t, s.next(t), id.Organization{}); of[bad] != turnSize || of[calm] != 0 {
		t.Errorf("after the first trouble %v", of)
	}
	if of := s.take(t, s.next(t), id.Organization{}); of[bad] != 0 || of[calm] == 0 {
		t.Errorf("in the turn of the others %v", of)
	}
	l = s.next(t)
	if again := s.next(t); !l.apart || !again.apart || len(again.reports) != len(l.reports) {
		t.Errorf("the database was away: %d reports, then %d", len(l.reports), len(again.reports))
	}
	s.take(t, l, id.Organization{})
	s.come(t, 100)
	watch.Advance(doubtFor)
	if of := s.take(t, s.next(t), id.Organization{}); of[bad] == 0 || of[calm] == 0 {
		t.Errorf("later %v", of)
	}
	for !s.empty() {
		s.take(t, s.next(t), id.Organization{})
	}
	if s.taken[bad] != s.came[bad] || s.taken[calm] != s.came[calm] || s.bytes() != 0 || !s.journal.Empty() {
		t.Errorf("%v came, %v taken, %d octets left", s.came, s.taken, s.bytes())
	}
}
