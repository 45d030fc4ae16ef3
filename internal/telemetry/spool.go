package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/journal"
)

// spoolName is the journal of the spool in its directory. It holds personal data.
const spoolName = "reports"

// turnSize is how many reports of one organization are taken in its turn at most.
const turnSize = 64

// crampedFor is how long nothing is brought together on a disk that did not take it.
const crampedFor = 10 * time.Second

// errSpoolFull refuses reports when the spool has reached its limit.
var errSpoolFull = errors.New("the spool is full")

// spool keeps reports on the disk until the database has them. What append has returned as kept is on the disk. Reports
// are taken by organizations in turn, and those of one organization in order. After a kill those of the last group can
// be there again. Safe for one goroutine that appends and another one that takes.
type spool struct {
	limit   int64
	segment int64 // bytes of a segment of the journal; 0 = as usual
	logger  *slog.Logger
	step    func(string)
	heard   func(Report) // is told what the disk has when the spool is opened
	pace    clock.Clock  // by which the age of reports is known
	journal *journal.Journal
	cramped time.Time // by pace: until then nothing is brought together, because the disk did not take it

	mu      sync.Mutex
	room    fair.Room
	waiting fair.Rota[stretch]
	taking  []stretch                  // of the group that is being taken
	doubted map[id.Organization]*doubt // whose reports are taken apart
	owed    time.Duration              // by which those have used more time than all others; below zero = less
	trying  bool                       // reports of one who is doubted are being tried
}

// stretch is where some reports of one organization lie, turnSize of them when as many wait: millions can wait, and
// each stretch takes memory.
type stretch struct {
	org   id.Organization
	place journal.Place
	since time.Time // when the first of them was kept, by pace
	whole bool      // no more are joined: it is being tried
}

// open opens the journal in a directory, and then takes over what older programs have left there.
func (s *spool) open(ctx context.Context, dir string) error {
	s.room.Capacity = s.limit
	now := s.pace.Now()
	j, err := journal.Open(ctx, journal.Config{
		Dir: filepath.Join(dir, spoolName), Segment: s.segment, Logger: s.logger, Step: s.step,
	}, func(p journal.Place, body []byte) {
		r, err := decodeReport(body)
		if err != nil { // of a form that a newer program has written
			s.logger.Error("a report in the spool cannot be read", slog.String("error", err.Error()))
		} else {
			s.heard(r)
		}
		s.room.Hold(r.Org, p.Size())
		s.wait(r.Org, p, now)
	})
	if err != nil {
		return fmt.Errorf("open spool: %w", err)
	}
	s.journal = j
	if err := s.takeOver(ctx, dir); err != nil {
		s.close()
		return fmt.Errorf("open old spool: %w", err)
	}
	return nil
}

// wait makes a record wait, in the last stretch of its organization if there is room. The caller holds the lock, or
// nobody else has the spool yet.
func (s *spool) wait(org id.Organization, p journal.Place, now time.Time) {
	if last := s.waiting.Last(org); last == nil || last.whole || last.place.Count >= turnSize || !last.place.Join(p) {
		s.waiting.Add(org, stretch{org: org, place: p, since: now})
	}
}

// append writes a group of reports through to the disk. It reports of each whether it is kept: an organization that has
// its share of the limit in the spool gets no more. After an error none is.
func (s *spool) append(reports []Report) (kept []bool, err error) {
	kept = make([]bool, len(reports))
	orgs, records, err := s.encode(reports, kept)
	if err != nil || len(records) == 0 {
		return kept, err
	}
	now := s.pace.Now()
	places, err := s.journal.Append(records...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.giveBack(orgs, records)
		clear(kept)
		return kept, err
	}
	for i, p := range places {
		s.wait(orgs[i], p, now)
	}
	return kept, nil
}

// encode makes the records of the reports for which there is room, which it takes.
func (s *spool) encode(reports []Report, kept []bool) (orgs []id.Organization, records [][]byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range reports {
		record, err := encodeReport(r)
		if err != nil {
			s.giveBack(orgs, records)
			clear(kept)
			return nil, nil, err
		}
		if kept[i] = s.room.Take(r.Org, journal.Size(record)); kept[i] {
			orgs, records = append(orgs, r.Org), append(records, record)
		}
	}
	return orgs, records, nil
}

// giveBack gives the room of records back. The caller holds the lock.
func (s *spool) giveBack(orgs []id.Organization, records [][]byte) {
	for i, org := range orgs {
		s.room.Give(org, journal.Size(records[i]))
	}
}

// empty reports whether all reports were taken.
func (s *spool) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting.Empty() && len(s.taking) == 0
}

// bytes is the size of the reports that were not taken.
func (s *spool) bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.room.Used()
}

// lot has reports that are taken at once.
type lot struct {
	reports   []Report
	stretches int             // 0 in a try
	try       id.Organization // of an organization that is doubted, which has the turn; zero = it is none
}

// next gives the reports whose turn it is: a try of an organization that is doubted, or whole stretches of others, with
// at least one and about most reports. Until taken it gives those of the others again.
func (s *spool) next(most int) (l lot, err error) {
	taking, org, try := s.turn(most)
	if try {
		reports, err := s.try(org)
		return lot{reports: reports, try: org}, err
	}
	for n, one := range taking {
		if n > 0 && len(l.reports)+one.place.Count > most {
			return l, nil
		}
		reports, err := s.read(one.place)
		if err != nil {
			return lot{}, err
		}
		l.reports = append(l.reports, reports...)
		l.stretches++
	}
	return l, nil
}

// turn gives the stretches that are taken next, or an organization that is doubted and has a try instead.
func (s *spool) turn(most int) (taking []stretch, org id.Organization, try bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	org, try = s.fill(most)
	return s.taking, org, try
}

// read gives the reports of a place, without those that cannot be read, which open has told.
func (s *spool) read(p journal.Place) (reports []Report, err error) {
	records, err := s.journal.Read(p)
	for _, body := range records {
		if r, err := decodeReport(body); err == nil {
			reports = append(reports, r)
		}
	}
	return reports, err
}

// fill chooses the stretches that are taken next, for about most reports, or an organization that is doubted and has a
// try instead. The caller holds the lock.
func (s *spool) fill(most int) (org id.Organization, try bool) {
	s.trust()
	if s.owed <= 0 {
		if org, try = s.waiting.Turn(s.tries); try {
			return org, true
		}
	}
	have := 0
	for _, one := range s.taking {
		have += one.place.Count
	}
	for have < most {
		_, one, ok := s.waiting.Next(func(org id.Organization) bool { return !s.doubts(org) })
		if !ok {
			break
		}
		s.taking = append(s.taking, one)
		have += one.place.Count
	}
	if len(s.taking) == 0 {
		return s.waiting.Turn(s.tries)
	}
	return org, false
}

// ready reports whether some reports can be committed at once: nothing waits but of organizations that are doubted,
// none of the reports is of those, and none of those has the turn, which can take long.
func (s *spool) ready(reports []Report) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ready := len(s.taking) == 0 && !s.trying
	s.waiting.Heads(func(one stretch) { ready = ready && s.doubts(one.org) })
	return ready && (len(s.doubted) == 0 ||
		!slices.ContainsFunc(reports, func(r Report) bool { return s.doubts(r.Org) }))
}

// taken forgets so many stretches of those that next gave, without those that were put aside.
func (s *spool) taken(n int) error { return s.forget(s.free(n)...) }

// forget forgets places, and brings together what is left of them in the files: that of an organization which waits for
// long would keep each file in which one of its reports is, although all others are taken.
func (s *spool) forget(places ...journal.Place) error {
	if err := s.journal.Taken(places...); err != nil {
		return err
	}
	if s.pace.Now().Before(s.cramped) {
		return nil
	}
	scattered := s.journal.Scattered()
	if scattered == nil {
		return nil
	}
	var gathered []journal.Place
	s.each(func(one *stretch) {
		if scattered(one.place) {
			gathered = append(gathered, one.place)
		}
	})
	now, err := s.journal.Gather(gathered)
	s.each(func(one *stretch) { one.place = now(one.place) })
	if err != nil { // the disk is full, as a rule: to take more makes room there, too
		s.cramped = s.pace.Now().Add(crampedFor)
		s.logger.Warn("the spool has more files than it needs", slog.String("error", err.Error()))
	}
	return nil
}

// each calls look with all stretches.
func (s *spool) each(look func(*stretch)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.taking {
		look(&s.taking[i])
	}
	s.waiting.All(look)
}

// free forgets so many stretches that were taken, and gives their places.
func (s *spool) free(n int) []journal.Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	places := make([]journal.Place, n)
	for i, one := range s.taking[:n] {
		s.room.Give(one.org, one.place.Size())
		places[i] = one.place
	}
	if s.taking = s.taking[n:]; len(s.taking) == 0 {
		s.taking = nil
	}
	return places
}

// behind is since when, by pace, the report waits that was kept first of those that are not taken; zero = none waits.
func (s *spool) behind() (since time.Time) {
	for _, first := range s.waits() {
		if since.IsZero() || first.Before(since) {
			since = first
		}
	}
	return since
}

// backlog is since when, by pace, the oldest report waits of the organizations that are not doubted, zero = none does,
// and the size of theirs.
func (s *spool) backlog() (since time.Time, octets int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for org, first := range s.oldest() {
		if !s.doubts(org) && (since.IsZero() || first.Before(since)) {
			since = first
		}
	}
	octets = s.room.Used()
	for org := range s.doubted {
		octets -= s.room.Held(org)
	}
	return since, octets
}

// waits is since when, by pace, the oldest report of each organization waits.
func (s *spool) waits() map[id.Organization]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.oldest()
}

// oldest tells for waits. The caller holds the lock.
func (s *spool) oldest() map[id.Organization]time.Time {
	since := map[id.Organization]time.Time{}
	older := func(one stretch) {
		if before, some := since[one.org]; !some || one.since.Before(before) {
			since[one.org] = one.since
		}
	}
	for _, one := range s.taking {
		older(one)
	}
	s.waiting.Heads(older)
	return since
}

// close frees the journal.
func (s *spool) close() { s.journal.Close() }
