package embedded

import (
	"testing"

	"github.com/google/uuid"
)

func TestRecent_ForgetsTheOldestFirst(t *testing.T) {
	t.Parallel()
	r := newRecentEvents()
	again := identity{1, uuid.New()}
	add := func(position int64, event identity) { r.add(event, seat{revision: position, position: position}) }
	add(1, again)
	first := identity{1, uuid.New()}
	add(2, first)
	add(3, again) // written once more, so it is as new as this
	for position := range int64(recentCapacity - 2) {
		add(4+position, identity{2, uuid.New()})
	}
	if _, ok := r.seats[first]; !ok {
		t.Error("forgotten too early")
	}
	if at := r.seats[again]; at.position != 3 {
		t.Errorf("the event that was written twice is at %+v", at)
	}
	add(recentCapacity+2, identity{2, uuid.New()})
	if _, ok := r.seats[first]; ok {
		t.Error("the oldest one is not forgotten")
	}
	add(recentCapacity+3, identity{2, uuid.New()})
	if _, ok := r.seats[again]; ok || len(r.seats) != recentCapacity || len(r.order) != recentCapacity {
		t.Errorf("%d events are known, %d in order", len(r.seats), len(r.order))
	}
}
