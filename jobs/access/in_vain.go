package accessjobs

import (
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

const (
	// disturbMost is the longest pause of a customer who has the access that he should, and another address, login or
	// speed: each end disturbs him, and does him no good. Other pauses are up to pauseMost.
	disturbMost = time.Hour
	// vainTold is the time between two lines of the log about ends in vain.
	vainTold = time.Minute
)

// spot is where the sessions of one device of a customer follow each other.
type spot struct {
	router            id.Device
	subscription      id.Subscription
	username, station string
}

// spotOf takes the spot from the facts of a session.
func spotOf(s telemetry.Session) spot {
	return spot{s.DeviceID, s.SubscriptionID, s.Username, s.Calling}
}

// ends remembers which sessions were ended so that the next sign-in gives something else, and leaves the sessions alone
// that followed and got the same again. Then the program that answers the sign-ins does not know what this one compares
// with, and would give the same each time. It is kept in memory only, as pauses are. The zero value has none. Safe for
// concurrent use.
type ends struct {
	mu   sync.Mutex
	of   map[spot]ended
	vain int       // that no line of the log has told
	told time.Time // when the last line did
}

// ended is the last end at a spot.
type ended struct {
	session telemetry.SessionID
	began   time.Time
	stamp   string // of what the session had
	next    string // of what the next one should get
	via     events.EnforcementVia
	tries   int // of the same, one after the other
	until   time.Time
	vain    bool // it is known that the next one got the same
}

// same reports whether an end was that of a session with the same, for the same.
func (e ended) same(s telemetry.Session, next string) bool {
	return e.stamp == s.Stamp && e.next == next
}

// follows reports whether a session follows one that was ended, and has the same as that one.
func (e ended) follows(s telemetry.Session, next string) bool {
	return e.same(s, next) && e.session != s.ID && !s.StartedAt.Before(e.began)
}

// looked tells about a session what the end of the one before says.
type looked struct {
	rests bool
	vain  events.EnforcementVia // of the end before, which is seen for the first time to have been in vain; "" = not so
	tell  int                   // ends in vain that the log has to tell now
}

// look tells about a session that should have something else, the stamp of which is next, at an instant.
func (p *ends) look(s telemetry.Session, next string, at time.Time) (out looked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, has := p.of[spotOf(s)]
	if !has || !one.follows(s, next) {
		return looked{}
	}
	out.rests = at.Before(one.until)
	if one.vain {
		return out
	}
	one.vain, out.vain = true, one.via
	p.of[spotOf(s)] = one
	p.vain++
	if p.told.IsZero() || at.Sub(p.told) >= vainTold {
		out.tell, p.vain, p.told = p.vain, 0, at
	}
	return out
}

// made notes that a router has ended a session. What follows and gets the same is left alone, each time for longer, up
// to most.
func (p *ends) made(s telemetry.Session, next string, via events.EnforcementVia, at time.Time, most time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.of[spotOf(s)]
	again, follows := one.same(s, next), one.follows(s, next)
	if again && one.session == s.ID {
		return // its router has said before that it ended
	}
	if !again {
		one = ended{stamp: s.Stamp, next: next}
	}
	one.session, one.began, one.via = s.ID, s.StartedAt, via
	if !again || follows { // else it was older than the one before, or the clock was put back
		one.tries, one.vain = one.tries+1, false
		one.until = at.Add(jobrunner.Doubling(pauseFirst, most)(one.tries))
	}
	if p.of == nil {
		p.of = map[spot]ended{}
	}
	p.of[spotOf(s)] = one
}

// right forgets the end before an open session that has what it should: the next change is another one.
func (p *ends) right(s telemetry.Session) {
	if s.EndedAt != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.of, spotOf(s))
}

// tidy forgets the ends whose pauses were over long before an instant.
func (p *ends) tidy(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.of, func(_ spot, one ended) bool { return at.Sub(one.until) > pauseMost })
}

// due is wanted without the sessions that rest because the end of the one before was in vain. Who may not be online is
// always due.
func (e *Enforcer) due(s telemetry.Session, at time.Time) (change, bool) {
	c, wrong := e.wanted(s, at)
	switch {
	case !wrong:
		e.inVain.right(s)
		return c, false
	case c.next == "":
		return c, true
	}
	found := e.inVain.look(s, c.next, e.paced())
	if found.vain != "" {
		e.count(events.EndOnline, found.vain, outcomeInVain)
	}
	if found.tell > 0 {
		e.Logger.Warn("ends of sessions were in vain: the next sign-in was given the same",
			slog.Int("ends", found.tell), slog.String("device_id", s.DeviceID.String()),
			slog.String("session_id", s.ID.String()))
	}
	return c, !found.rests
}

// noteEnd remembers that a router has ended a session so that the next sign-in gives something else.
func (e *Enforcer) noteEnd(s telemetry.Session, c change, done result) {
	if c.next == "" || done.action != events.EndOnline || done.found {
		return
	}
	most := pauseMost
	if s.Access == c.after.Access {
		most = disturbMost
	}
	e.inVain.made(s, c.next, done.via, e.paced(), most)
}
