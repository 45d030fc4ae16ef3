package accessjobs

import (
	"maps"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// Pauses of a session whose router answers and refuses, or of which something else failed. The first is the time
// between two looks at all sessions.
const (
	pauseFirst = enforceEvery
	pauseMost  = 5 * time.Minute
)

// pauses remembers the sessions that are left alone for a while, so that the other sessions of their routers need not
// wait for them. It is kept in memory only: after a start, and in another program, they are tried again at once. The
// zero value has none. Safe for concurrent use.
type pauses struct {
	mu sync.Mutex
	of map[telemetry.SessionID]pause
}

// pause is that of one session.
type pause struct {
	until time.Time
	tries int  // in vain, one after the other
	ours  bool // the router did not refuse: something else failed
}

// paced is the present time of pauses and seats: somebody who sets the machine's clock makes none of them longer.
func (e *Enforcer) paced() time.Time { return clock.Pace(e.Clock).Now() }

// rests reports whether a session is left alone at an instant.
func (p *pauses) rests(session telemetry.SessionID, at time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return at.Before(p.of[session].until)
}

// ours reports whether the newest try at a session failed for a reason that is not its router's.
func (p *pauses) ours(session telemetry.SessionID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.of[session].ours
}

// refused leaves a session alone that its router refused to change, each time for longer.
func (p *pauses) refused(session telemetry.SessionID, at time.Time) { p.inVain(session, at, false) }

// failed leaves a session alone of which something else failed, each time for longer.
func (p *pauses) failed(session telemetry.SessionID, at time.Time) { p.inVain(session, at, true) }

// inVain leaves a session alone after a try in vain.
func (p *pauses) inVain(session telemetry.SessionID, at time.Time, ours bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.of[session]
	one.ours = ours
	one.tries++
	one.until = at.Add(jobrunner.Doubling(pauseFirst, pauseMost)(one.tries))
	p.keep(session, one)
}

// rest leaves a session alone until an instant.
func (p *pauses) rest(session telemetry.SessionID, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(session, pause{until: until, tries: p.of[session].tries})
}

// keep writes a pause. The lock is held.
func (p *pauses) keep(session telemetry.SessionID, one pause) {
	if p.of == nil {
		p.of = map[telemetry.SessionID]pause{}
	}
	p.of[session] = one
}

// tidy forgets the pauses that ended long before an instant: those sessions are right by now, or have ended.
func (p *pauses) tidy(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.of, func(_ telemetry.SessionID, one pause) bool { return at.Sub(one.until) > pauseMost })
}
