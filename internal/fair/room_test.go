package fair_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// fill takes as much as an organization may have and returns it.
func fill(r *fair.Room, org id.Organization) (n int64) {
	for r.Take(org, 1) {
		n++
	}
	return n
}

func TestRoom_WhoTakesAllItMayLeavesAsMuchToTheOthers(t *testing.T) {
	t.Parallel()
	r, a, b, c := fair.Room{Capacity: 120}, id.New[id.Organization](), id.New[id.Organization](), id.Organization{}
	if n := fill(&r, a); n != 60 {
		t.Errorf("one alone has %d of 120", n)
	}
	if n := fill(&r, b); n != 30 {
		t.Errorf("another one has %d of the other 60", n)
	}
	if n := fill(&r, c); n != 15 {
		t.Errorf("the third has %d of the other 30", n)
	}
	r.Give(a, 60)
	r.Hold(c, 1)
	if r.Take(c, 100) || !r.Take(c, 20) || r.Used() != 66 {
		t.Errorf("%d used after some was given back", r.Used())
	}
}
