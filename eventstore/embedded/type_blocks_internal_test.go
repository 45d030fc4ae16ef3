package embedded

import (
	"fmt"
	"testing"
)

// TestTypeBlocks_NextPassesOverBlocksWithoutTheTypes, and over none whose types are not known.
func TestTypeBlocks_NextPassesOverBlocksWithoutTheTypes(t *testing.T) {
	t.Parallel()
	b := newTypeBlocks()
	for _, types := range [][]string{{"a", "rare-1"}, {"a"}, {"a", "b"}, {"a", "rare-2"}, {"a"}} {
		b.add(types)
	}
	rare, all := &filter{prefixes: []string{"rare-"}}, &filter{prefixes: []string{"a"}}
	for _, tc := range []struct {
		f          *filter
		from, want int64
	}{
		{rare, 0, 1}, {rare, 1, 1}, {rare, 700, 700}, {rare, 1024, 1024}, {rare, 1025, 3073}, {rare, 3072, 3073},
		{rare, 3500, 3500}, {rare, 4097, 5121}, {rare, 5121, 5121}, {rare, 9999, 9999}, {all, 2000, 2000},
		{&filter{prefixes: []string{"none"}}, 1, 5121}, {nil, 2000, 2000},
		{&filter{byStream: true, prefixes: []string{"rare-"}}, 2000, 2000},
	} {
		if got := b.next(tc.from, tc.f); got != tc.want {
			t.Errorf("%+v from %d: %d, want %d", tc.f, tc.from, got, tc.want)
		}
	}
	b.add([]string{"b"})
	b.add([]string{"rare-3"}) // a type that has come since the filter was asked
	if got := b.next(4097, rare); got != 6145 {
		t.Errorf("a new type is at %d", got)
	}
}

// TestTypeBlocks_TooManyTypesCountAsOneThatEveryFilterWants, so that what is kept of a block has a bound.
func TestTypeBlocks_TooManyTypesCountAsOneThatEveryFilterWants(t *testing.T) {
	t.Parallel()
	b := newTypeBlocks()
	for n := range 3 * typesKnown / 1024 * 2 {
		var types []string
		for m := range 1024 {
			types = append(types, fmt.Sprintf("type-%d-%d", n, m))
		}
		b.add(types)
	}
	b.add([]string{"type-0-0"})
	last := b.known() - 1
	for _, set := range b.blocks {
		if len(set) > typesKnown/64 {
			t.Fatalf("%d words of a block", len(set))
		}
	}
	for _, name := range []string{"type-9-9", "unknown"} {
		if got := b.next((last-1)<<blockBits+1, &filter{prefixes: []string{name}}); got != (last-1)<<blockBits+1 {
			t.Errorf("%s: passes over a block that may have it, to %d", name, got)
		}
	}
	if got := b.next(last<<blockBits+1, &filter{prefixes: []string{"type-1-1"}}); got != (last+1)<<blockBits+1 {
		t.Errorf("does not pass over the last block: %d", got)
	}
}
