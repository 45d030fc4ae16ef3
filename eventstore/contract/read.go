package contract

import (
	"math"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/go-cmp/cmp"
)

// testReadStream covers plain reads of one stream, in both directions and from every kind of place.
func testReadStream(t *testing.T, k *kit) {
	s := stream("read")
	k.append(t, s, esdb.NoStream{}, several("a", "b", "c", "d", "e")...)
	back, on := esdb.Backwards, esdb.Forwards
	for _, c := range []struct {
		name  string
		dir   esdb.Direction
		from  esdb.StreamPosition
		count uint64
		want  []uint64
	}{
		{"forwards from the start", on, esdb.Start{}, 10, []uint64{0, 1, 2, 3, 4}},
		{"forwards, some", on, esdb.Start{}, 2, []uint64{0, 1}},
		{"forwards from a revision, inclusive", on, esdb.Revision(3), 10, []uint64{3, 4}},
		{"forwards from beyond the end", on, esdb.Revision(9), 10, []uint64{}},
		{"forwards, as many as can be said", on, esdb.Start{}, math.MaxUint64, []uint64{0, 1, 2, 3, 4}},
		{"forwards from the end", on, esdb.End{}, 10, []uint64{}},
		{"backwards from the end, last included", back, esdb.End{}, 2, []uint64{4, 3}},
		{"backwards from a revision, inclusive", back, esdb.Revision(2), 10, []uint64{2, 1, 0}},
		{"backwards from beyond the end, clamped", back, esdb.Revision(99), 2, []uint64{4, 3}},
		{"none", on, esdb.Start{}, 0, []uint64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := k.read(t, s, esdb.ReadStreamOptions{Direction: c.dir, From: c.from}, c.count)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, revisions(got)); diff != "" {
				t.Errorf("revisions (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("many pages", func(t *testing.T) { t.Parallel(); readManyPages(t, k) })
	t.Run("missing stream", func(t *testing.T) {
		t.Parallel()
		_, err := k.read(t, stream("read"), esdb.ReadStreamOptions{}, 1)
		wantCode(t, err, esdb.ErrorCodeResourceNotFound)
	})
	t.Run("large events", func(t *testing.T) { t.Parallel(); readLargeEvents(t, k) })
}

// readManyPages reads a stream that is longer than any page, in both directions.
func readManyPages(t *testing.T, k *kit) {
	const n = 3000
	s := stream("read")
	for range n / 500 {
		given := make([]esdb.EventData, 500)
		for i := range given {
			given[i] = event("many")
		}
		k.append(t, s, esdb.Any{}, given...)
	}
	for _, dir := range []esdb.Direction{esdb.Forwards, esdb.Backwards} {
		var from esdb.StreamPosition = esdb.Start{}
		if dir == esdb.Backwards {
			from = esdb.End{}
		}
		got, err := k.read(t, s, esdb.ReadStreamOptions{Direction: dir, From: from}, math.MaxUint64)
		if err != nil || len(got) != n {
			t.Fatalf("got %d events, %v", len(got), err)
		}
		for i, e := range got {
			want := uint64(i)
			if dir == esdb.Backwards {
				want = n - 1 - want
			}
			if e.OriginalEvent().EventNumber != want {
				t.Fatalf("event %d is number %d", i, e.OriginalEvent().EventNumber)
			}
		}
	}
}

// readLargeEvents: pages are also bounded in bytes, and no event is lost between two pages.
func readLargeEvents(t *testing.T, k *kit) {
	s := stream("read")
	want := []uint64{}
	for i := range 24 {
		e := event("large")
		e.Data = make([]byte, 700<<10)
		k.append(t, s, esdb.Any{}, e)
		want = append(want, uint64(i))
	}
	k.wantRevisions(t, s, want...)
}

// testReadAll covers plain reads of $all while other tests write.
func testReadAll(t *testing.T, k *kit) {
	s := stream("readall")
	var at []uint64
	for range 4 {
		at = append(at, k.append(t, s, esdb.Any{}, event("a")).CommitPosition)
	}
	position := func(p uint64) esdb.Position { return esdb.Position{Commit: p, Prepare: p} }
	t.Run("forwards from a position, inclusive", func(t *testing.T) {
		t.Parallel()
		got := k.readAll(t, esdb.ReadAllOptions{From: position(at[1])}, 1)
		if len(got) != 1 || got[0].Event.Position.Commit != at[1] {
			t.Errorf("got %v", got)
		}
	})
	t.Run("backwards from a position, exclusive", func(t *testing.T) {
		t.Parallel()
		got := k.readAll(t, esdb.ReadAllOptions{Direction: esdb.Backwards, From: position(at[1])}, 1)
		if len(got) != 1 || got[0].Event.Position.Commit >= at[1] || got[0].Event.Position.Commit < at[0] {
			t.Errorf("got %v", got)
		}
	})
	t.Run("in order, without gaps in what was acknowledged", func(t *testing.T) {
		t.Parallel()
		got := k.readAll(t, esdb.ReadAllOptions{From: position(at[0])}, math.MaxUint64)
		seen, last := 0, uint64(0)
		for _, e := range got {
			if e.Event.Position.Commit <= last {
				t.Fatalf("position %d after %d", e.Event.Position.Commit, last)
			}
			last = e.Event.Position.Commit
			if e.Event.StreamID == s {
				seen++
			}
		}
		if seen != 4 {
			t.Errorf("saw %d of 4", seen)
		}
	})
	t.Run("ends", func(t *testing.T) {
		t.Parallel()
		if got := k.readAll(t, esdb.ReadAllOptions{From: esdb.Start{}}, 1); len(got) != 1 ||
			got[0].Event.Position.Commit == 0 {
			t.Errorf("first event: %v", got)
		}
		if got := k.readAll(t, esdb.ReadAllOptions{Direction: esdb.Backwards, From: esdb.End{}}, 1); len(got) != 1 ||
			got[0].Event.Position.Commit < at[3] {
			t.Errorf("last event: %v", got)
		}
		if got := k.readAll(t, esdb.ReadAllOptions{From: esdb.End{}}, 1); len(got) != 0 {
			t.Errorf("after the end: %v", got)
		}
	})
	t.Run("first user event of a server", func(t *testing.T) {
		t.Parallel()
		got, err := k.read(t, "$users", esdb.ReadStreamOptions{}, 1)
		if err != nil || got[0].Event.EventType != "$User" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}
