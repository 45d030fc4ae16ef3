package accessjobs

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// How many jobs may work on the sessions of one router at the same time, once the first of them has lasted for so long.
// A router that answers late would else keep the places of the queue from the jobs of all other routers.
const (
	seatsOfLate = 2
	lateJob     = 2 * time.Second
)

// seats remembers which jobs of this program work on sessions of which router. The zero value has none. Safe for
// concurrent use.
type seats struct {
	mu sync.Mutex
	of map[id.Device][]time.Time // when they began
}

// take counts a job at a router from an instant on, until leave is called.
func (s *seats) take(device id.Device, at time.Time) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[id.Device][]time.Time{}
	}
	s.of[device] = append(s.of[device], at)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		place := slices.Index(s.of[device], at)
		if s.of[device] = slices.Delete(s.of[device], place, place+1); len(s.of[device]) == 0 {
			delete(s.of, device)
		}
	}
}

// full reports whether a router is late and has jobs enough at an instant.
func (s *seats) full(device id.Device, at time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.of[device]
	return len(list) >= seatsOfLate && at.Sub(slices.MinFunc(list, time.Time.Compare)) >= lateJob
}

// place takes seats at the routers of a customer's sessions that are wrong. here are the sessions that the caller works
// on until leave; crowded are late routers with jobs enough, whose own job has to bring the sessions right.
func (e *Enforcer) place(list []telemetry.Session) (leave func(), here []telemetry.Session, crowded []id.Device) {
	at, paced := e.Clock.Now(), e.paced()
	taken, full := map[id.Device]func(){}, map[id.Device]bool{}
	for _, s := range list {
		if _, wrong := e.wanted(s, at); !wrong {
			continue
		}
		if taken[s.DeviceID] == nil && e.seats.full(s.DeviceID, paced) {
			full[s.DeviceID] = true
			continue
		}
		if taken[s.DeviceID] == nil {
			taken[s.DeviceID] = e.seats.take(s.DeviceID, paced)
		}
		here = append(here, s)
	}
	return func() {
		for _, free := range taken {
			free()
		}
	}, here, slices.Collect(maps.Keys(full))
}
