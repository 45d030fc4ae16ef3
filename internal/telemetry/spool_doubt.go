package telemetry

import (
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/journal"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// doubtFor is how long the reports of an organization are taken apart from those of others, after one of them could not
// be stored, or not in time.
const doubtFor = time.Minute

// How long an organization has no try after one that failed for another reason than its reports, longer each time. The
// others go on meanwhile.
const (
	firstPutOff = 200 * time.Millisecond
	lastPutOff  = 30 * time.Second
)

// doubt is about an organization of which a report could not be stored with those of others. Its reports are tried in
// order, in one transaction each time, by fewer after a failure and by more after a success, until the bad one is
// alone. Tries of all who are doubted have the turn as long as they have used no more time than the others: whatever a
// try costs, the others have half of the time, and wait about as long as their own last turn took, or for one try.
type doubt struct {
	until time.Time // by pace
	tried bool      // once at least
	size  int       // of the next try, at most
	after time.Time // by pace: no try before; zero = its last one did not have to be put off
	pause loop.Backoff
	// Whether those of others were stored since a try was put off, and whether it is told that it waits alone.
	others, told bool
	rest         []Report // of its first stretch that have not been done; this stretch waits until none is left
}

// trust takes organizations with the others again of which all has gone well for a while. The caller holds the lock.
func (s *spool) trust() {
	now := s.pace.Now()
	maps.DeleteFunc(s.doubted, func(_ id.Organization, d *doubt) bool {
		return d.tried && len(d.rest) == 0 && !now.Before(d.until)
	})
}

// doubts reports whether the reports of an organization are taken apart. The caller holds the lock.
func (s *spool) doubts(org id.Organization) bool {
	_, is := s.doubted[org]
	return is
}

// tries reports whether the reports of an organization are taken apart, and may be tried now. The caller holds the
// lock.
func (s *spool) tries(org id.Organization) bool {
	d, is := s.doubted[org]
	return is && !s.pace.Now().Before(d.after)
}

// putOff lets an organization wait before its next try. It reports whether it is known from now on that it waits alone:
// between two tries that were put off, reports of others were stored.
func (s *spool) putOff(org id.Organization) (alone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.doubted[org]
	d.after = s.pace.Now().Add(d.pause.Next())
	alone = d.others && !d.told
	d.others, d.told = false, d.others || d.told
	return alone
}

// putAside has the reports of an organization taken apart from now on: its first stretch, and what has its turn within
// a while. Of so many stretches that next gave it returns how many are left.
func (s *spool) putAside(org id.Organization, within time.Duration, stretches int) (left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doubted == nil {
		s.doubted = map[id.Organization]*doubt{}
	}
	s.doubted[org] = &doubt{
		until: s.pace.Now().Add(within), size: turnSize, pause: loop.Backoff{Min: firstPutOff, Max: lastPutOff},
	}
	var back, taking []stretch
	for i, one := range s.taking {
		switch {
		case one.org == org:
			back = append(back, one)
			continue
		case i < stretches:
			left++
		}
		taking = append(taking, one)
	}
	s.waiting.Return(org, back...)
	s.taking = taking
	return left
}

// try gives the reports that an organization tries next. A restart of a router can cost much, so it is a try by itself,
// and not one again for each report beside it that fails.
func (s *spool) try(org id.Organization) ([]Report, error) {
	d, place := s.begin(org)
	if len(d.rest) == 0 {
		rest, err := s.read(place)
		if err != nil {
			return nil, err
		}
		d.rest = rest
	}
	list := d.rest[:min(len(d.rest), d.size)]
	if i := slices.IndexFunc(list, Report.restarts); i >= 0 {
		list = list[:max(i, 1)]
	}
	return list, nil
}

// begin gives the doubt about an organization that has a try, and the place of its first stretch.
func (s *spool) begin(org id.Organization) (*doubt, journal.Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, first := s.doubted[org], s.waiting.First(org)
	first.whole, d.tried, s.trying = true, true, true
	return d, first.place
}

// restarts reports whether a router tells that it begins or ends to account.
func (r Report) restarts() bool { return r.Kind == On || r.Kind == Off }

// done forgets the first reports of a try: they are in the tables, or dropped.
func (s *spool) done(org id.Organization, n int) error {
	place, all := s.shorten(org, n)
	if !all {
		return nil
	}
	return s.forget(place)
}

// shorten forgets the first reports of a try, and gives the place of their stretch when they were all that it had.
func (s *spool) shorten(org id.Organization, n int) (place journal.Place, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.doubted[org]
	s.trying = false
	d.rest, d.size = d.rest[n:], min(max(d.size, 2*n), turnSize)
	d.pause.Reset()
	d.after, d.others = time.Time{}, false
	if len(d.rest) > 0 {
		return place, false
	}
	_, one, _ := s.waiting.Next(func(other id.Organization) bool { return other == org })
	s.room.Give(org, one.place.Size())
	return one.place, true
}

// failed notes that a try of so many reports was not stored: the next one has half of them.
func (s *spool) failed(org id.Organization, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.doubted[org]
	d.until, d.size = s.pace.Now().Add(doubtFor), max(n/2, 1)
}

// used notes how long a turn took that those who are doubted had, or in which reports of the others were stored, from
// the spool or at once. What one side has not used while it had nothing does not add up.
func (s *spool) used(doubted bool, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if doubted {
		s.trying = false
		s.owed = min(s.owed+took, took)
	} else {
		s.owed = max(s.owed-took, -took)
		for _, d := range s.doubted {
			d.others = !d.after.IsZero()
		}
	}
}
