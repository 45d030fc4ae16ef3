package journal

import (
	"bytes"
	"path/filepath"
	"testing"
)

// TestJournal_WhatCannotBeReadIsNotBroughtTogether: of two records in two segments the disk has damaged one, which is
// not taken for its neighbour's, and is not tried again. Its file is put aside in the end.
func TestJournal_WhatCannotBeReadIsNotBroughtTogether(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: t.TempDir(), Segment: 2000}
	j, err := Open(t.Context(), cfg, func(Place, []byte) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	var waits []Place
	for _, c := range []byte("ab") {
		places, err := j.Append(bytes.Repeat([]byte{c}, 1200), bytes.Repeat([]byte{c}, 100))
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Taken(places[0]); err != nil {
			t.Fatal(err)
		}
		waits = append(waits, places[1])
	}
	if _, err := j.Append(make([]byte, 1200)); err != nil || waits[0].in == waits[1].in {
		t.Fatal(err)
	}
	overwrite(t, j.path(waits[0].in.number), []byte("damaged"), int64(waits[0].first.at)+headSize)
	now, err := j.Gather(waits)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]byte{nil, bytes.Repeat([]byte("b"), 100)} {
		got, err := j.Read(now(waits[i]))
		if err != nil || !bytes.Equal(bytes.Join(got, nil), want) {
			t.Errorf("place %d: %q, %v", i, got, err)
		}
	}
	if now(waits[0]).in != waits[0].in || now(waits[1]).in == waits[1].in || j.Len() != 3 {
		t.Errorf("the damaged one has moved, or the other one has not; %d records", j.Len())
	}
	if j.littleUsed() != nil {
		t.Error("what cannot be read is to be brought together again")
	}
	if err := j.Taken(now(waits[0]), now(waits[1])); err != nil || j.Len() != 1 {
		t.Error(j.Len(), err)
	}
	if aside, err := filepath.Glob(filepath.Join(cfg.Dir, "*.unreadable")); len(aside) != 1 || err != nil {
		t.Errorf("%q is put aside, %v", aside, err)
	}
}
