package telemetry

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// shared is a spool with reports of several organizations, numbered by Down.
type shared struct {
	*spool
	watch       *clock.Manual
	dir         string
	orgs        []id.Organization
	came, taken map[id.Organization]uint64
}

// share opens a spool for n organizations.
func share(t *testing.T, n int) *shared {
	t.Helper()
	s := &shared{
		watch: clock.NewManual(time.Unix(0, 0)), dir: t.TempDir(),
		came: map[id.Organization]uint64{}, taken: map[id.Organization]uint64{},
	}
	for range n {
		s.orgs = append(s.orgs, id.New[id.Organization]())
	}
	s.restart(t)
	return s
}

// restart opens the spool again, as after a kill.
func (s *shared) restart(t *testing.T) {
	t.Helper()
	if s.spool != nil {
		s.close()
	}
	s.spool = openSpool(t, s.dir)
	s.pace = clock.Pace(s.watch)
}

// come keeps further reports of an organization.
func (s *shared) come(t *testing.T, org id.Organization, n int) {
	t.Helper()
	var list []Report
	for range n {
		s.came[org]++
		list = append(list, Report{Org: org, Down: s.came[org], At: time.Unix(0, 0)})
	}
	if _, err := s.append(list); err != nil {
		t.Fatal(err)
	}
}

// next gives what is taken next.
func (s *shared) next(t *testing.T) lot {
	t.Helper()
	l, err := s.spool.next(400)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.reports) == 0 && !s.empty() {
		t.Fatal("nothing is taken, although reports wait")
	}
	return l
}

// take takes the reports of a lot that are not of some organizations, and counts them. They come in order; some of
// those that were taken can come again after a restart.
func (s *shared) take(t *testing.T, l lot, without ...id.Organization) map[id.Organization]int {
	t.Helper()
	of := map[id.Organization]int{}
	for _, r := range l.reports {
		if slices.Contains(without, r.Org) {
			continue
		}
		of[r.Org]++
		if r.Down > s.taken[r.Org]+1 {
			t.Fatalf("report %d of an organization comes after its %d", r.Down, s.taken[r.Org])
		}
		s.taken[r.Org] = max(s.taken[r.Org], r.Down)
	}
	var err error
	if l.try.IsZero() {
		err = s.spool.taken(l.stretches)
	} else {
		err = s.done(l.try, len(l.reports))
	}
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// rest takes all that waits, and fails when anything is lost or stays.
func (s *shared) rest(t *testing.T) {
	t.Helper()
	for !s.empty() {
		s.take(t, s.next(t))
	}
	for _, org := range s.orgs {
		if s.taken[org] != s.came[org] {
			t.Errorf("%d came, %d taken", s.came[org], s.taken[org])
		}
	}
	if s.bytes() != 0 || !s.journal.Empty() {
		t.Errorf("%d octets are left", s.bytes())
	}
}

// TestSpool_WhatIsPutAsideIsTakenInOrderBetweenTheTurnsOfOthers: until nothing has happened for a while.
func TestSpool_WhatIsPutAsideIsTakenInOrderBetweenTheTurnsOfOthers(t *testing.T) {
	t.Parallel()
	s := share(t, 2)
	bad, calm := s.orgs[0], s.orgs[1]
	s.come(t, bad, 500)
	s.come(t, calm, 1000)
	l := s.next(t)
	left := s.putAside(bad, doubtFor, l.stretches)
	if left == 0 || left == l.stretches || !l.try.IsZero() {
		t.Fatalf("%d of %d stretches are left", left, l.stretches)
	}
	l.stretches = left
	s.take(t, l, bad)
	for _, want := range []int{64, 32, 16, 8, 4, 2, 1, 1} { // one of the first reports cannot be stored
		l = s.next(t)
		if l.try != bad || len(l.reports) != want || l.reports[0].Down != 1 {
			t.Fatalf("a try has %d reports, want %d", len(l.reports), want)
		}
		s.failed(bad, len(l.reports))
	}
	for _, want := range []int{1, 2, 4, 8, 16, 32, 1, 64} { // a stretch ends, and another one begins
		l = s.next(t)
		if of := s.take(t, l); l.try != bad || of[bad] != want || of[calm] != 0 {
			t.Fatalf("a try has %v, want %d", of, want)
		}
	}
	s.used(true, time.Second)
	if l = s.next(t); !l.try.IsZero() || s.take(t, l)[calm] == 0 {
		t.Errorf("the others have no turn: %+v", l.try)
	}
	s.used(false, time.Second)
	l = s.next(t)
	s.come(t, bad, 300)
	s.watch.Advance(doubtFor) // but the stretch is not finished yet, if only a part of it was
	if again := s.next(t); again.try != l.try || len(again.reports) != len(l.reports) {
		t.Errorf("the database was away: %d reports, then %d", len(l.reports), len(again.reports))
	}
	if s.take(t, l); len(s.next(t).reports) <= turnSize {
		t.Error("it is taken apart for longer than a while")
	}
	s.rest(t)
}

// TestSpool_TriesUseNoMoreTimeThanTheTurnsOfOthers: a try is 't', and a turn of the others 'o'.
func TestSpool_TriesUseNoMoreTimeThanTheTurnsOfOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		try, turn time.Duration
		want      string
	}{
		"tries are short":            {30 * time.Millisecond, 100 * time.Millisecond, "ttttotttottttottt"},
		"tries are long":             {time.Second, 300 * time.Millisecond, "toootoootoootoooo"},
		"they take the same":         {time.Second, time.Second, "ttotototototototo"},
		"one takes half an eternity": {time.Hour, time.Second, "toooooooooooooooo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := share(t, 2)
			for _, org := range s.orgs {
				s.come(t, org, 10_000)
			}
			l := s.next(t)
			l.stretches = s.putAside(s.orgs[0], doubtFor, l.stretches)
			s.take(t, l, s.orgs[0])
			s.used(false, c.turn)
			got := ""
			for range len(c.want) {
				l := s.next(t)
				s.take(t, l)
				if l.try.IsZero() {
					got += "o"
					s.used(false, c.turn)
				} else {
					got += "t"
					s.used(true, c.try)
				}
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestSpool_WhatTriesUseWhileOthersHaveNothingIsNotPaidBack: but for the last one, for which others may wait.
func TestSpool_WhatTriesUseWhileOthersHaveNothingIsNotPaidBack(t *testing.T) {
	t.Parallel()
	s := share(t, 2)
	s.come(t, s.orgs[0], 1000)
	s.putAside(s.orgs[0], doubtFor, s.next(t).stretches)
	for range 9 {
		s.take(t, s.next(t))
		s.used(true, time.Second)
	}
	s.come(t, s.orgs[1], 1000)
	if l := s.next(t); !l.try.IsZero() {
		t.Error("who has just come waits for another try")
	} else {
		s.take(t, l)
		s.used(false, time.Second)
	}
	if s.next(t).try.IsZero() {
		t.Error("who is doubted waits for longer than the others had to")
	}
	s.rest(t)
}

// TestSpool_ARestartOfARouterIsATryByItself: it is not done again for each report beside it that fails.
func TestSpool_ARestartOfARouterIsATryByItself(t *testing.T) {
	t.Parallel()
	s := share(t, 1)
	org := s.orgs[0]
	for _, kind := range []Kind{Start, Start, On, Off, Start, On} {
		s.came[org]++
		if _, err := s.append([]Report{{Org: org, Kind: kind, Down: s.came[org], At: time.Unix(0, 0)}}); err != nil {
			t.Fatal(err)
		}
	}
	s.putAside(org, doubtFor, s.next(t).stretches)
	for i, want := range []int{2, 1, 1, 1, 1} {
		if of := s.take(t, s.next(t)); of[org] != want {
			t.Errorf("try %d has %d reports, want %d", i, of[org], want)
		}
	}
	s.rest(t)
}

// TestSpool_WhatIsPutAsideForNoTimeIsApartForOneStretch, however long that has no turn, or takes.
func TestSpool_WhatIsPutAsideForNoTimeIsApartForOneStretch(t *testing.T) {
	t.Parallel()
	s := share(t, 2)
	for _, org := range s.orgs {
		s.come(t, org, 500)
	}
	l := s.next(t)
	l.stretches = s.putAside(s.orgs[0], 0, l.stretches)
	s.take(t, l, s.orgs[0])
	s.used(false, time.Second)
	s.watch.Advance(time.Hour)
	for range 2 { // the first one comes to nothing
		l = s.next(t)
		if l.try != s.orgs[0] || len(l.reports) != turnSize {
			t.Fatalf("%d reports are tried", len(l.reports))
		}
	}
	s.take(t, l)
	if l = s.next(t); !l.try.IsZero() || s.take(t, l)[s.orgs[0]] == 0 {
		t.Errorf("it is not taken with the others: %+v", l.try)
	}
	s.rest(t)
}

// TestSpool_KeepsEverythingInOrderWhateverHappens: reports, takings, failures, doubts, time and restarts at random.
func TestSpool_KeepsEverythingInOrderWhateverHappens(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 17))
		s := share(t, 1+random.IntN(6))
		for range 150 {
			switch random.IntN(16) {
			case 0, 1, 2, 3, 4:
				s.come(t, s.orgs[random.IntN(len(s.orgs))], 1+random.IntN(100))
			case 5, 6:
				s.watch.Advance(time.Duration(random.IntN(40)) * time.Second)
			case 7:
				if random.IntN(4) == 0 {
					s.restart(t)
				}
			default:
				s.happen(t, random)
			}
		}
		s.rest(t)
	}
}

// happen takes something, or fails to.
func (s *shared) happen(t *testing.T, random *rand.Rand) {
	t.Helper()
	l := s.next(t)
	s.used(!l.try.IsZero(), time.Duration(random.IntN(1000))*time.Millisecond)
	if !l.try.IsZero() {
		if n := len(l.reports); random.IntN(2) == 0 {
			s.failed(l.try, n)
			l.reports = l.reports[:min(n, random.IntN(2)+random.IntN(2)*n)] // none, one that is dropped, or all
		}
		s.take(t, l)
		return
	}
	var bad []id.Organization
	for _, org := range s.orgs {
		if slices.ContainsFunc(l.reports, func(r Report) bool { return r.Org == org }) && random.IntN(4) == 0 {
			bad = append(bad, org)
			l.stretches = s.putAside(org, time.Duration(random.IntN(2))*doubtFor, l.stretches)
		}
	}
	if random.IntN(4) > 0 { // else the database went away when some were known
		s.take(t, l, bad...)
	}
}

// TestSpool_WhoWaitsForLongKeepsNoFileOfOthers: reports of one organization are never taken, and a few come with many
// of others. After a kill they alone are there, in order, and take no more room than they have.
func TestSpool_WhoWaitsForLongKeepsNoFileOfOthers(t *testing.T) {
	t.Parallel()
	const segment = 20_000
	s := share(t, 3)
	s.close()
	s.segment = segment
	if err := s.open(t.Context(), s.dir); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		s.come(t, s.orgs[0], 2)
		s.come(t, s.orgs[1], 100)
		s.come(t, s.orgs[2], 100)
		for s.doubted == nil || s.others() {
			l, err := s.spool.next(400)
			if err != nil {
				t.Fatal(err)
			}
			if !l.try.IsZero() {
				s.putOff(l.try)
				continue
			}
			if s.doubted == nil {
				l.stretches = s.putAside(s.orgs[0], 1000*time.Hour, l.stretches)
			}
			s.take(t, l, s.orgs[0])
		}
	}
	wait := s.bytes()
	if most := 2*wait + 6*segment; s.journal.Disk() > most || s.room.Held(s.orgs[0]) != wait {
		t.Errorf("%d octets on the disk of %d that wait", s.journal.Disk(), wait)
	}
	if s.restart(t); s.bytes() != wait || s.others() {
		t.Errorf("after a restart %d octets wait, before it %d", s.bytes(), wait)
	}
	s.rest(t)
}

// others reports whether somebody waits who is not doubted.
func (s *shared) others() (wait bool) {
	s.waiting.Heads(func(one stretch) { wait = wait || one.org != s.orgs[0] })
	return wait || len(s.taking) > 0
}
