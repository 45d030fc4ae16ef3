package telemetry

import (
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/journal"
)

// openSpool opens a spool in a directory.
func openSpool(t *testing.T, dir string) *spool {
	t.Helper()
	s := &spool{
		limit: usualSpool, logger: slog.New(slog.DiscardHandler), step: func(string) {}, heard: func(Report) {},
		pace: clock.Pace(clock.System()),
	}
	if err := s.open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// TestSpool_MillionsOfReportsWaitInLittleMemory: the database is away for a weekend, and reports come one by one, of
// one organization or of several in turn. 4 GiB of them, about 18 million, take less than 256 MiB.
func TestSpool_MillionsOfReportsWaitInLittleMemory(t *testing.T) { //nolint:paralleltest // it measures the memory
	const count, most = 300_000, 15.0
	for _, several := range []int{1, 7} {
		orgs := make([]id.Organization, several)
		for i := range orgs {
			orgs[i] = id.New[id.Organization]()
		}
		s, places := openSpool(t, t.TempDir()), make([]journal.Place, 0, count)
		for n := 0; len(places) < count; n += 1000 {
			records := make([][]byte, 1000)
			for i := range records {
				records[i] = fmt.Appendf(nil, "report %08d", n+i)
			}
			some, err := s.journal.Append(records...)
			if err != nil {
				t.Fatal(err)
			}
			places = append(places, some...)
		}
		before := heap()
		for i, p := range places {
			s.wait(orgs[i%several], p, time.Time{})
		}
		if each := float64(heap()-before) / count; each > most {
			t.Errorf("%d organizations: %.1f octets of memory for each report", several, each)
		}
		runtime.KeepAlive(places)
		runtime.KeepAlive(s)
	}
}

// heap is the memory in use.
func heap() int64 {
	for range 3 { // what was freed last is counted a round later
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // smaller
}

// TestSpool_ReportsOfOneOrganizationStayInOrderBetweenThoseOfOthers: they come one by one, and are taken in small
// groups while more come; after a restart the others are there, in order.
func TestSpool_ReportsOfOneOrganizationStayInOrderBetweenThoseOfOthers(t *testing.T) {
	t.Parallel()
	dir, orgs := t.TempDir(), []id.Organization{id.New[id.Organization](), id.New[id.Organization](), {}}
	s, came, taken := openSpool(t, dir), map[id.Organization]uint64{}, map[id.Organization]uint64{}
	take := func(most int) {
		l, err := s.next(most)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range l.reports {
			if taken[r.Org]++; r.Down != taken[r.Org] {
				t.Fatalf("report %d of an organization comes as its %d", r.Down, taken[r.Org])
			}
		}
		if err := s.taken(l.stretches); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 900 {
		org := orgs[n*n%7%3]
		came[org]++
		if _, err := s.append([]Report{{Org: org, Down: came[org], At: time.Unix(0, 0)}}); err != nil {
			t.Fatal(err)
		}
		if n%250 == 249 {
			take(100)
		}
	}
	s.close()
	s = openSpool(t, dir)
	clear(taken)
	for _, r := range s.waitingFirst(t) {
		taken[r.Org] = r.Down - 1
	}
	for !s.empty() {
		take(100)
	}
	for _, org := range orgs {
		if came[org] != taken[org] || came[org] < 100 {
			t.Errorf("%d reports, %d taken", came[org], taken[org])
		}
	}
	if s.bytes() != 0 || !s.journal.Empty() {
		t.Errorf("%d octets and %d records are left", s.bytes(), s.journal.Len())
	}
}

// waitingFirst reads the oldest report of each organization.
func (s *spool) waitingFirst(t *testing.T) (list []Report) {
	t.Helper()
	s.waiting.Heads(func(one stretch) {
		records, err := s.journal.Read(one.place)
		if err != nil {
			t.Fatal(err)
		}
		r, err := decodeReport(records[0])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	})
	return list
}
