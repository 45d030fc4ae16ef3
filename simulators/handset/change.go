package handset

import (
	"encoding/binary"
	"time"

	"layeh.com/radius"
)

// Numbers of attributes that a change may have.
const (
	sessionTimeoutType = 27
	idleTimeoutType    = 28
	groupType          = 3 // of MikroTik, as the next one
	rateLimitType      = 8
)

// known reports whether a request may have an attribute: those that name the session or prove the request, and those
// that RouterOS changes in a session, which are neither addresses nor pools, routes and address lists
// (docs/facts/radius.md#coa-and-disconnect).
func known(part vendorPart) bool {
	const ascend = 529
	switch part.vendor {
	case 0:
		switch part.number {
		case 1, 4, 5, 8, 25, 30, 31, 32, 33, 44, 55, 61, 80, 87: // who and which session
			return true
		case 11, sessionTimeoutType, idleTimeoutType, 62:
			return true
		}
	case vendorMikroTik:
		switch part.number {
		case 1, 2, groupType, rateLimitType, 11, 12, 13, 14, 15, 17, 18:
			return true
		}
	case ascend:
		return part.number == 197 || part.number == 255 // rates
	}
	return false
}

// turn changes a session as a request says, all of it or nothing, and gives the error cause. The lock is held.
func (n *NAS) turn(s *session, p *radius.Packet) uint32 {
	var todo []func()
	now := n.clock.Now()
	for _, part := range parts(p) {
		if !known(part) {
			return unsupported
		}
		timeout := part.vendor == 0 && (part.number == sessionTimeoutType || part.number == idleTimeoutType)
		switch {
		case timeout && len(part.value) != 4:
			return invalidValue
		case timeout:
			d := time.Duration(binary.BigEndian.Uint32(part.value)) * time.Second
			todo = append(todo, func() { s.limit(part.number, d, now) })
		case part.vendor == vendorMikroTik && part.number == groupType:
			todo = append(todo, func() { s.group = string(part.value) })
		case part.vendor == vendorMikroTik && part.number == rateLimitType:
			r, err := parseRate(string(part.value))
			if err != nil {
				return invalidValue
			}
			todo = append(todo, func() {
				s.rate, s.rateText = r, string(part.value)
				s.meter.turn(now, r, s.customer.Load)
			})
		}
	}
	for _, do := range todo {
		do()
	}
	n.schedule(s)
	if n.cfg.Changed != nil {
		shown := s.show(now)
		n.later(func() { n.cfg.Changed(shown) })
	}
	return 0
}

// limit sets a time limit of a session, counted from its start; 0 = none.
func (s *session) limit(number int, d time.Duration, now time.Time) {
	if number == idleTimeoutType {
		s.idleAfter = d
		return
	}
	s.ends = time.Time{}
	if d > 0 {
		s.ends = s.started.Add(d)
	}
	if d > 0 && s.ends.Before(now) {
		s.ends = now
	}
}
