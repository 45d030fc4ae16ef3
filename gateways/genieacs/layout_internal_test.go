package genieacs

import (
	"slices"
	"testing"
)

// TestKeysOf_DigitsAreWrittenWhereThereIsNoOtherPlace: a strict device refuses a passphrase in the place of digits, and
// with it the whole write.
func TestKeysOf_DigitsAreWrittenWhereThereIsNoOtherPlace(t *testing.T) {
	t.Parallel()
	band := bandsOf(TR098)[0]
	plain, below, digits := band.Keys[0], band.Keys[1], band.Keys[2]
	for _, c := range []struct{ has, want []string }{
		{[]string{plain, below, digits}, []string{plain, below}}, {[]string{below, digits}, []string{below}},
		{[]string{digits}, []string{digits}}, {nil, nil},
	} {
		values := map[string]Value{}
		for _, path := range c.has {
			values[path] = Value{}
		}
		if got := keysOf(band, values); !slices.Equal(got, c.want) {
			t.Errorf("of %v: %v, want %v", c.has, got, c.want)
		}
	}
}
