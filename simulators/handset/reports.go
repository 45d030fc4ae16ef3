package handset

import (
	"time"

	"layeh.com/radius/rfc2866"
)

// report makes a report of a session at an instant; the lock is held.
func (n *NAS) report(s *session, status rfc2866.AcctStatusType, at time.Time) report {
	in, out := s.meter.at(at)
	return report{status: status, at: at, seconds: uint32(max(at.Sub(s.started), 0) / time.Second), in: in, out: out}
}

// file sends a report as far as the faults let it; the lock is held.
func (n *NAS) file(s *session, r report) {
	if s.silent {
		return
	}
	s.filed++
	lost := map[rfc2866.AcctStatusType]float64{
		rfc2866.AcctStatusType_Value_Start: n.faults.LoseStarts, rfc2866.AcctStatusType_Value_Stop: n.faults.LoseStops,
		rfc2866.AcctStatusType_Value_InterimUpdate: n.faults.LoseInterims,
	}[r.status]
	if n.happens(lost, s.id, r.status, s.filed) {
		n.stats.ReportsLost++
		return
	}
	list := []report{r}
	if s.held != nil {
		list = append(list, *s.held)
		s.held = nil
	} else if n.faults.ReorderReports && r.status != rfc2866.AcctStatusType_Value_Stop {
		s.held = &r
		return
	}
	late := time.Duration(n.faults.LateSeconds) * time.Second
	for _, r := range list {
		n.pending++
		if late == 0 {
			n.enqueue(s, r)
			continue
		}
		n.agenda.at(n.clock.Now().Add(late), func() {
			n.lock()
			defer n.unlock()
			n.enqueue(s, r)
		})
	}
}

// enqueue puts a report behind those that wait, in place of an interim report that waits there, which it makes
// needless. The report counts as pending already. The lock is held.
func (n *NAS) enqueue(s *session, r report) {
	if s.life != n.boots {
		n.finished(1)
		return
	}
	for i, waits := range s.reports {
		if waits.status == r.status && r.status == rfc2866.AcctStatusType_Value_InterimUpdate {
			s.reports[i] = r
			n.finished(1)
			return
		}
	}
	s.reports = append(s.reports, r)
	if n.happens(n.faults.RepeatReports, s.id, "repeat", r.status, s.filed) {
		s.reports = append(s.reports, r)
		n.pending++
	}
	n.sendNext(s)
}

// sendNext sends the next report of a session unless one is on its way: reports of a session go one by one. The lock is
// held.
func (n *NAS) sendNext(s *session) {
	if s.life != n.boots {
		n.finished(len(s.reports))
		s.reports = nil
	}
	if s.sending || len(s.reports) == 0 {
		return
	}
	r := s.reports[0]
	s.reports = s.reports[1:]
	s.sending = true
	n.later(func() { n.account(s, r, n.servers(s.customer.Service, s.customer.Server)) })
}

// account sends a report to the first server, and to the next one when that is silent.
func (n *NAS) account(s *session, r report, servers []Server) {
	done := func(answer []byte, roundTrip time.Duration) {
		if answer == nil && len(servers) > 1 && n.lives(s) {
			n.account(s, r, servers[1:])
			return
		}
		n.lock()
		defer n.unlock()
		s.sending = false
		if answer != nil {
			n.stats.Reports++
			n.stats.reportTrips.add(roundTrip)
		} else {
			n.stats.ReportsUnanswered++
		}
		n.finished(1)
		n.sendNext(s)
	}
	if len(servers) == 0 {
		done(nil, 0)
		return
	}
	at := servers[0]
	c := n.callTo(at.Accounting, at, func(identifier byte) ([]byte, error) {
		return n.accountingRequest(s, r, at.Secret, identifier)
	})
	c.done = done
	n.books.post(c)
}

// lives reports whether the router has not restarted since a session began.
func (n *NAS) lives(s *session) bool {
	n.lock()
	defer n.unlock()
	return s.life == n.boots
}

// SignOut ends a session and reports its stop. It reports whether the session was online.
func (n *NAS) SignOut(id string, why Cause) bool {
	n.lock()
	defer n.unlock()
	s, ok := n.sessions[id]
	if ok {
		n.drop(s, n.clock.Now(), why)
	}
	return ok
}

// SignOutAll ends all sessions with their stops and gives their number.
func (n *NAS) SignOutAll(why Cause) int {
	n.lock()
	defer n.unlock()
	now, count := n.clock.Now(), len(n.sessions)
	for _, s := range n.sessions {
		n.drop(s, now, why)
	}
	return count
}

// PowerCut ends all sessions without a word to the server, drops every request on its way and restarts the router: ids
// of sessions begin anew. It gives the customers who were online.
func (n *NAS) PowerCut() []Customer {
	n.lock()
	now := n.clock.Now()
	gone := make([]Customer, 0, len(n.sessions))
	for _, s := range n.sessions {
		gone = append(gone, s.customer)
		n.forget(s, now, NASReboot)
	}
	n.boots++
	n.counter = 0
	n.unlock()
	n.access.abandon()
	n.books.abandon()
	return gone
}
