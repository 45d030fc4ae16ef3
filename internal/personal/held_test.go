package personal_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/personal"
)

// ring is a recursive type, which a search through types must not follow for ever.
type ring struct {
	At   time.Time
	Next *ring
}

func TestHeldBy_FindsPersonalTextAtAnyDepth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value any
		want  bool
	}{
		{personal.Text{}, true},
		{struct{ Phone *personal.Text }{}, true},
		{struct {
			People map[string][]struct{ Name personal.Text }
		}{}, true},
		{struct{ name [1]personal.Text }{}, true},
		{struct{ Anything any }{}, true},
		{struct{ Name string }{}, false},
		{ring{}, false},
		{map[string]int{}, false},
	} {
		if got := personal.HeldBy(reflect.TypeOf(c.value)); got != c.want {
			t.Errorf("%T: %v", c.value, got)
		}
	}
}
