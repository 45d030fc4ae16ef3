package jobrunner

import (
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// How the places of a queue are shared. A job that finds no place for its device comes again after busyPause, without
// using up an attempt, and lets another one in; so does one that was taken just before its organization had its share.
const (
	deviceShare = 2               // jobs of one device at the same time
	slow        = 5 * time.Second // an attempt that took longer makes its device one that is in trouble
	busyPause   = time.Second
	// Jobs that wait for the places of one device, or of an organization's devices in trouble, come again at a rate of
	// about comeAgain each second together, because each time is a writing; each of them after busyPause +
	// longestSpread at most.
	comeAgain     = 32
	longestSpread = 30 * time.Second
	// troubledMost is how many devices in trouble are remembered. Beyond it all are forgotten, also those that exist no
	// more, and each is known again after its next attempt.
	troubledMost = 10_000
	shutPause    = 50 * time.Millisecond // of a job that met the shut gate
)

// places counts the running jobs of one queue, so that neither one organization nor devices that do not answer take the
// places of all others. Safe for concurrent use.
type places struct {
	size int // workers of the queue

	mu        sync.Mutex
	ofOrg     map[id.Organization]int
	ofDevice  map[id.Device]int
	troubled  map[id.Device]bool // its last attempt failed or was slow
	inTrouble trouble            // running jobs of such devices
	// How often jobs found no place since the device, or the organization's devices in trouble, had no running job.
	refused        map[id.Device]int
	refusedTrouble map[id.Organization]int
	cut            bool // fewer jobs were taken than had room, and no place was given back since
}

// newPlaces makes the places of a queue with a number of workers.
func newPlaces(size int) *places {
	return &places{
		size: size, ofOrg: map[id.Organization]int{}, ofDevice: map[id.Device]int{}, troubled: map[id.Device]bool{},
		inTrouble: trouble{ofOrg: map[id.Organization]int{}}, refused: map[id.Device]int{},
		refusedTrouble: map[id.Organization]int{},
	}
}

// trouble counts the running jobs of devices in trouble.
type trouble struct {
	all   int
	ofOrg map[id.Organization]int // the sum of them is all
}

// full reports whether an organization must wait with a further job, in a queue with so many places. All have a quarter
// of them together. Beyond it an organization without such a job gets one place, until half of all places are taken: so
// the slow devices of one organization, each of which may need minutes, do not keep away those of another.
func (t trouble) full(org id.Organization, size int) bool {
	if t.ofOrg[org] == 0 {
		return t.all >= max(1, size/2)
	}
	return t.all >= max(1, size/4)
}

// seat is the place of one running job.
type seat struct {
	org     id.Organization
	device  id.Device // zero for a job that is not about a device
	trouble bool      // the device was in trouble when the job began
}

// enter takes a place: an organization has at most three quarters of them, a device deviceShare, and devices in trouble
// those that trouble leaves. When there is none, spread is above zero: the job should come again after busyPause, at
// an instant of its own within that time.
func (p *places) enter(org id.Organization, device id.Device) (s seat, spread time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s = seat{org, device, !device.IsZero() && p.troubled[device]}
	switch {
	case p.ofOrg[org] >= p.share():
		return seat{}, busyPause
	case !device.IsZero() && p.ofDevice[device] >= deviceShare:
		p.refused[device]++
		return seat{}, spreadOf(p.refused[device])
	case s.trouble && p.inTrouble.full(org, p.size):
		p.refusedTrouble[org]++
		return seat{}, spreadOf(p.refusedTrouble[org])
	}
	p.ofOrg[org]++
	if !device.IsZero() {
		p.ofDevice[device]++
	}
	if s.trouble {
		p.inTrouble.all++
		p.inTrouble.ofOrg[org]++
	}
	return s, 0
}

// spreadOf is the time over which jobs are spread that found no place so many times.
func spreadOf(refused int) time.Duration {
	return min(max(time.Duration(refused)*time.Second/comeAgain, busyPause), longestSpread)
}

// share is the number of places that one organization has at most.
func (p *places) share() int { return p.size - p.size/4 }

// taken lists the organizations with running jobs as texts, beside it how many each has, and the share of each.
func (p *places) taken() (orgs []string, running []int, share int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for org, count := range p.ofOrg {
		orgs, running = append(orgs, org.String()), append(running, count)
	}
	return orgs, running, p.share()
}

// took notes how many jobs were taken of those that had room. Fewer may mean that an organization's share was the
// limit.
func (p *places) took(count, room int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = p.cut || count > 0 && count < room
}

// leave gives a place back. again reports that jobs may wait for it, once after each took. known is false when the
// attempt says nothing about the device; well reports otherwise that the device answered soon.
func (p *places) leave(s seat, known, well bool) (again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	again, p.cut = p.cut, false
	if p.ofOrg[s.org]--; p.ofOrg[s.org] == 0 {
		delete(p.ofOrg, s.org)
	}
	if s.trouble {
		p.leaveTrouble(s.org)
	}
	if s.device.IsZero() {
		return again
	}
	if p.ofDevice[s.device]--; p.ofDevice[s.device] == 0 {
		delete(p.ofDevice, s.device)
		delete(p.refused, s.device)
	}
	switch {
	case !known:
	case well:
		delete(p.troubled, s.device)
	default:
		if len(p.troubled) >= troubledMost {
			clear(p.troubled)
		}
		p.troubled[s.device] = true
	}
	return again
}

// leaveTrouble counts one running job less of an organization's devices in trouble.
func (p *places) leaveTrouble(org id.Organization) {
	p.inTrouble.all--
	if p.inTrouble.ofOrg[org]--; p.inTrouble.ofOrg[org] == 0 {
		delete(p.inTrouble.ofOrg, org)
		delete(p.refusedTrouble, org)
	}
	if p.inTrouble.all == 0 {
		clear(p.refusedTrouble) // also of organizations that never got in
	}
}
