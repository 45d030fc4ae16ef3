package jobrunner

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestPlaces_TheMemoryOfDevicesInTroubleIsBounded: a device that was removed in trouble has no further attempt that
// would end its row.
func TestPlaces_TheMemoryOfDevicesInTroubleIsBounded(t *testing.T) {
	t.Parallel()
	p := newPlaces(4)
	for n := range troubledMost + 10 {
		s, spread := p.enter(id.Organization{}, id.Derive[id.Device]("router", strconv.Itoa(n)))
		if spread > 0 {
			t.Fatal("no place")
		}
		p.leave(s, true, false)
	}
	if len(p.troubled) != 10 {
		t.Errorf("%d devices are remembered", len(p.troubled))
	}
}

// TestPlaces_AGivenBackPlaceIsAnnouncedWhileJobsMayWait: once after each taking that was cut off by a share.
func TestPlaces_AGivenBackPlaceIsAnnouncedWhileJobsMayWait(t *testing.T) {
	t.Parallel()
	p := newPlaces(4)
	for _, step := range []struct {
		count, room int
		want        bool
	}{{3, 4, true}, {0, 1, false}, {1, 1, false}, {1, 2, true}} {
		p.took(step.count, step.room)
		s, _ := p.enter(id.New[id.Organization](), id.Device{})
		if again := p.leave(s, true, true); again != step.want {
			t.Errorf("%d of %d were taken: announced %v", step.count, step.room, again)
		}
		s, _ = p.enter(id.New[id.Organization](), id.Device{})
		if p.leave(s, true, true) {
			t.Error("announced twice")
		}
	}
}

// TestPlaces_JobsThatWaitForADeviceComeAgainTheLaterTheMoreTheyAre: each time is a writing. When the device has no
// running job, the count begins again.
func TestPlaces_JobsThatWaitForADeviceComeAgainTheLaterTheMoreTheyAre(t *testing.T) {
	t.Parallel()
	p, org, device := newPlaces(16), id.New[id.Organization](), id.New[id.Device]()
	for range 2 {
		first, _ := p.enter(org, device)
		second, _ := p.enter(org, device)
		var got []time.Duration
		for n := range 2000 {
			_, spread := p.enter(org, device)
			if n == 0 || n == 319 || n == 1999 {
				got = append(got, spread)
			}
		}
		if want := []time.Duration{busyPause, 10 * time.Second, longestSpread}; !slices.Equal(got, want) {
			t.Errorf("spread over %v, want %v", got, want)
		}
		p.leave(first, true, true)
		p.leave(second, true, true)
	}
	if len(p.refused) != 0 {
		t.Errorf("%d devices are remembered", len(p.refused))
	}
}

// TestDeadRouters_OfOneOrganizationLeaveAPlaceToTheSlowOnesOfAnother: jobs on slow routers may take five minutes each.
// Another organization's router that once needed six seconds does not wait behind them, nor is its job spread over the
// time of theirs. Devices that answer keep half of the places, however many organizations have slow ones.
func TestDeadRouters_OfOneOrganizationLeaveAPlaceToTheSlowOnesOfAnother(t *testing.T) {
	t.Parallel()
	p, big := newPlaces(16), id.New[id.Organization]()
	slow := func(name string) id.Device {
		device := id.Derive[id.Device]("router", name)
		p.troubled[device] = true
		return device
	}
	var seats []seat
	for n := range 1000 {
		if s, spread := p.enter(big, slow(strconv.Itoa(n))); spread == 0 {
			seats = append(seats, s)
		}
	}
	if len(seats) != 4 {
		t.Errorf("one organization alone has %d places, want a quarter", len(seats))
	}
	for n := range 4 {
		org := id.New[id.Organization]()
		s, spread := p.enter(org, slow("first "+strconv.Itoa(n)))
		if spread > 0 {
			t.Fatalf("organization %d beside the first has no place", n)
		}
		seats = append(seats, s)
		if _, spread := p.enter(org, slow("second "+strconv.Itoa(n))); spread != busyPause {
			t.Errorf("a second job of organization %d: spread over %v", n, spread)
		}
	}
	if _, spread := p.enter(id.New[id.Organization](), slow("late")); spread == 0 {
		t.Error("slow devices have more than half of the places")
	}
	for n := range 8 {
		if _, spread := p.enter(id.New[id.Organization](), id.Derive[id.Device]("well", strconv.Itoa(n))); spread > 0 {
			t.Error("a device that answers has no place")
		}
	}
	for _, s := range seats {
		p.leave(s, true, false)
	}
	if p.inTrouble.all+len(p.inTrouble.ofOrg)+len(p.refusedTrouble) != 0 {
		t.Errorf("left behind: %+v, %v", p.inTrouble, p.refusedTrouble)
	}
}
