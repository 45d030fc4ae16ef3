package jobrunner

import (
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// How the places of a queue are shared. A job that finds no place for its organization or its device comes again after
// busyPause, without using up an attempt, and lets another one in.
const (
	deviceShare = 2               // jobs of one device at the same time
	slow        = 5 * time.Second // an attempt that took longer makes its device one that is in trouble
	busyPause   = time.Second
	shutPause   = 50 * time.Millisecond // of a job that met the shut gate
)

// places counts the running jobs of one queue, so that neither one organization nor devices that do not answer take the
// places of all others. Safe for concurrent use.
type places struct {
	size int // workers of the queue

	mu        sync.Mutex
	ofOrg     map[id.Organization]int
	ofDevice  map[id.Device]int
	troubled  map[id.Device]bool // its last attempt failed or was slow
	inTrouble int                // running jobs of such devices
}

// newPlaces makes the places of a queue with a number of workers.
func newPlaces(size int) *places {
	return &places{
		size: size, ofOrg: map[id.Organization]int{}, ofDevice: map[id.Device]int{}, troubled: map[id.Device]bool{},
	}
}

// seat is the place of one running job.
type seat struct {
	org     id.Organization
	device  id.Device // zero for a job that is not about a device
	trouble bool      // the device was in trouble when the job began
}

// enter takes a place: an organization has at most three quarters of them, a device deviceShare, and all devices in
// trouble together a quarter. ok is false when there is none.
func (p *places) enter(org id.Organization, device id.Device) (s seat, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s = seat{org, device, !device.IsZero() && p.troubled[device]}
	switch {
	case p.ofOrg[org] >= p.size-p.size/4,
		!device.IsZero() && p.ofDevice[device] >= deviceShare,
		s.trouble && p.inTrouble >= max(1, p.size/4):
		return seat{}, false
	}
	p.ofOrg[org]++
	if !device.IsZero() {
		p.ofDevice[device]++
	}
	if s.trouble {
		p.inTrouble++
	}
	return s, true
}

// leave gives a place back. known is false when the attempt says nothing about the device; well reports otherwise that
// the device answered soon.
func (p *places) leave(s seat, known, well bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ofOrg[s.org]--; p.ofOrg[s.org] == 0 {
		delete(p.ofOrg, s.org)
	}
	if s.trouble {
		p.inTrouble--
	}
	if s.device.IsZero() {
		return
	}
	if p.ofDevice[s.device]--; p.ofDevice[s.device] == 0 {
		delete(p.ofDevice, s.device)
	}
	switch {
	case !known:
	case well:
		delete(p.troubled, s.device)
	default:
		p.troubled[s.device] = true
	}
}
