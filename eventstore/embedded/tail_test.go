package embedded

import (
	"slices"
	"testing"
)

// numbered makes records with the positions from first to last, each with size bytes of data.
func numbered(first, last int64, size int) []record {
	var rows []record
	for p := first; p <= last; p++ {
		rows = append(rows, record{position: p, data: make([]byte, size)})
	}
	return rows
}

// wantAfter checks which positions the tail returns after a position.
func wantAfter(t *testing.T, tl *tail, position int64, wantFirst, wantLast int64) {
	t.Helper()
	rows, _, held := tl.after(position, extent{1 << 20, 1 << 30}, nil)
	if !held || len(rows) != int(wantLast-wantFirst+1) {
		t.Fatalf("after %d: %d rows, held %t", position, len(rows), held)
	}
	for i := range rows {
		if rows[i].position != wantFirst+int64(i) {
			t.Fatalf("after %d: row %d is position %d", position, i, rows[i].position)
		}
	}
}

// TestTail_HoldsTheNewestWithinItsBounds checks both bounds, events and bytes, also where the ring begins again.
func TestTail_HoldsTheNewestWithinItsBounds(t *testing.T) {
	t.Parallel()
	tl := newTail(100)
	if _, _, held := tl.after(99, extent{1, 1 << 30}, nil); held {
		t.Error("claims to hold what was there before it")
	}
	rows, more, held := tl.after(100, extent{1, 1 << 30}, nil)
	if len(rows) != 0 || !held || more == nil {
		t.Fatalf("at the end: %v, %v, %t", rows, more, held)
	}
	tl.publish(numbered(101, 103, 0))
	<-more
	wantAfter(t, tl, 100, 101, 103)
	wantAfter(t, tl, 102, 103, 103)
	if rows, _, held := tl.after(200, extent{10, 1 << 30}, nil); len(rows) != 0 || !held {
		t.Errorf("ahead of the tail: %v, %t", rows, held)
	}
	for p := int64(104); p < 104+2*tailEvents; p += 1000 {
		tl.publish(numbered(p, p+999, 0))
	}
	last := tl.last.Load()
	wantAfter(t, tl, last-tailEvents, last-tailEvents+1, last)
	if _, _, held := tl.after(last-tailEvents-1, extent{1, 1 << 30}, nil); held {
		t.Error("holds more than its bound")
	}
	tl.publish(numbered(last+1, last+100, tailBytes/50))
	if _, _, held := tl.after(last+1, extent{1, 1 << 30}, nil); held || tl.bytes > tailBytes {
		t.Errorf("holds %d bytes", tl.bytes)
	}
	wantAfter(t, tl, last+60, last+61, last+100)
	tl.publish(numbered(last+101, last+101, 2*tailBytes)) // larger than the tail altogether
	if _, _, held := tl.after(last+100, extent{1, 1 << 30}, nil); held || tl.bytes != 0 {
		t.Errorf("holds %d bytes after an event that cannot be held", tl.bytes)
	}
	if _, more, held := tl.after(last+101, extent{1, 1 << 30}, nil); !held || more == nil {
		t.Error("the end is lost")
	}
}

// TestTail_AStreamIsWatchedAlone: its subscribers are woken for its events alone and look at no others, of which one
// that the tail holds no longer has to be read from the log.
func TestTail_AStreamIsWatchedAlone(t *testing.T) {
	t.Parallel()
	tl := newTail(100)
	of := func(stream string, first, last int64) []record {
		rows := numbered(first, last, 0)
		for i := range rows {
			rows[i].stream = stream
		}
		return rows
	}
	tl.publish(of("own", 101, 110)) // before anybody watches
	w, unwatch := tl.watch("own")
	if _, _, held := tl.afterOf(w, 100, extent{10, 1 << 30}, nil); held {
		t.Error("it claims to have noted what came before")
	}
	look := func(after int64, size extent, want ...int64) <-chan struct{} {
		t.Helper()
		rows, more, held := tl.afterOf(w, after, size, nil)
		var got []int64
		for i := range rows {
			got = append(got, rows[i].position)
		}
		if !held || !slices.Equal(got, want) || (more == nil) != (len(want) > 0) {
			t.Errorf("after %d: %v, held %t, want %v", after, got, held, want)
		}
		return more
	}
	all := extent{1 << 20, 1 << 30}
	more := look(110, all)
	tl.publish(of("other", 111, 5_000))
	select {
	case <-more:
		t.Error("woken for another stream")
	default:
	}
	look(110, all)
	tl.publish(append(of("own", 5_001, 5_002), of("other", 5_003, 6_000)...))
	<-more
	look(110, all, 5_001, 5_002)
	look(5_001, all, 5_002)
	look(110, extent{1, 1 << 30}, 5_001)
	for p := int64(6_001); p < 6_001+tailEvents; p += 1_000 {
		tl.publish(of("other", p, p+999))
	}
	if _, _, held := tl.afterOf(w, 5_001, all, nil); held {
		t.Error("it claims to hold what has gone")
	}
	look(5_002, all) // nothing of the stream is missing, whatever else has gone
	last := tl.last.Load()
	tl.publish(of("own", last+1, last+1))
	look(5_002, all, last+1)
	unwatch()
	if len(tl.watched) != 0 {
		t.Error("the stream is not forgotten")
	}
}

// TestMemory_ALiveBatchEndsBeforeALargeEvent for which its reader has no room yet. It has one of them by itself.
func TestMemory_ALiveBatchEndsBeforeALargeEvent(t *testing.T) {
	t.Parallel()
	tl := newTail(0)
	w, unwatch := tl.watch("")
	defer unwatch()
	tl.publish(append(numbered(1, 2, 100), numbered(3, 3, 1<<20)...))
	tl.publish(numbered(4, 4, 100))
	size := extent{liveBatch, smallBytes}
	for position, want := range map[int64]int{0: 2, 1: 1, 2: 1, 3: 1} {
		all, _, _ := tl.after(position, size, nil)
		own, _, _ := tl.afterOf(w, position, size, nil)
		if len(all) != want || len(own) != want || all[0].position != position+1 {
			t.Errorf("after %d there are %d events, %d of the stream, not %d", position, len(all), len(own), want)
		}
	}
}

// TestTail_GivesNothingThatWasRemoved: what is gone is passed over, by all and by those who watch its stream, and its
// bytes are free.
func TestTail_GivesNothingThatWasRemoved(t *testing.T) {
	t.Parallel()
	tl := newTail(0)
	watched, unwatch := tl.watch("")
	defer unwatch()
	tl.publish(numbered(1, 10, 1000))
	tl.drop([]int64{1, 2, 3, 5, 10, 11})
	tl.drop([]int64{5})
	for name, after := range map[string]func(int64, extent, []record) ([]record, <-chan struct{}, bool){
		"all": tl.after,
		"own": func(p int64, size extent, buf []record) ([]record, <-chan struct{}, bool) {
			return tl.afterOf(watched, p, size, buf)
		},
	} {
		rows, _, held := after(0, extent{100, 1 << 20}, nil)
		var positions []int64
		for i := range rows {
			positions = append(positions, rows[i].position)
		}
		if !held || !slices.Equal(positions, []int64{4, 6, 7, 8, 9}) {
			t.Errorf("%s: %v, held %t", name, positions, held)
		}
		if rows, more, held := after(9, extent{100, 1 << 20}, nil); len(rows) > 0 || more == nil || !held {
			t.Errorf("%s: %d rows after the last", name, len(rows))
		}
	}
	if want := 5*(&record{data: make([]byte, 1000)}).size() + 5*(&record{}).size(); tl.bytes != want {
		t.Errorf("%d bytes, want %d", tl.bytes, want)
	}
	for tl.first <= 10 {
		tl.evict()
	}
	if tl.bytes != 0 {
		t.Errorf("%d bytes of nothing", tl.bytes)
	}
}
