package telemetry

import (
	"iter"
	"slices"
	"time"
)

// withUsername adds to a report without a username the one of the newest session with its id at its router.
func (b *book) withUsername(r Report) Report {
	var newest *Session
	if r.User == "" {
		for _, s := range b.byKey[sessionKey{r.Device, r.Session}] {
			if newest == nil || b.later(s, newest) {
				newest = s
			}
		}
	}
	if newest != nil {
		r.User = newest.Username
	}
	return r
}

// again gives a report that was taken before, and comes again without a word that it is late, the instant that it had.
// One that tells a start after the end of the known session is about another one, which can have the same counters.
func (b *book) again(r Report) Report {
	if r.Kind == Start || r.Online == 0 || r.Down == 0 && r.Up == 0 {
		return r
	}
	for _, s := range b.byName[nameKey{r.Device, r.Session, r.User}] {
		if !r.At.Add(-r.Online).Before(s.UpdatedAt) {
			continue
		}
		for _, known := range s.window.list {
			at := time.Unix(known.at, 0).UTC()
			if known.counts == r.counts(r.Online) && r.At.Sub(at) > r.tolerance() {
				r.At, r.Late = at, 0
				return r
			}
		}
	}
	return r
}

// believe gives a report that came very late the instant at which it happened, where a known session proves it: its
// start and the time online lead there, and not to when the report came.
func (b *book) believe(r Report) Report {
	if r.Late == 0 || r.Online == 0 {
		return r
	}
	early := r
	early.At = r.At.Add(-r.Late)
	proves := func(r Report) bool {
		return slices.ContainsFunc(b.byName[nameKey{r.Device, r.Session, r.User}], func(s *Session) bool {
			return r.At.Add(-r.Online).Sub(s.StartedAt).Abs() <= r.tolerance()
		})
	}
	if proves(early) && !proves(r) {
		return early
	}
	return r
}

// findSession gives the session that a report is about, nil when it is a new one. A report without time online is
// about the newest of its name that had begun. A report that tells a start after the end that the router reported is
// about another session.
func (b *book) findSession(r Report) *Session {
	var best *Session
	var distance time.Duration
	for _, s := range b.byName[nameKey{r.Device, r.Session, r.User}] {
		if r.Online == 0 && r.Kind != Start {
			if best == nil || b.follows(r, s, best) {
				best = s
			}
			continue
		}
		if s.overBefore(r) {
			continue
		}
		if d := s.distance(r); d <= r.tolerance() && (best == nil || d < distance) {
			best, distance = s, d
		}
	}
	if best == nil && r.Online > 0 {
		best = b.findJumped(r)
	}
	return best
}

// starts are the starts that a report can tell, whether or not it is late.
func (r Report) starts() iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		if start := r.At.Add(-r.Online); yield(start) && r.Late > 0 {
			yield(start.Add(-r.Late))
		}
	}
}

// overBefore reports whether the router had ended a session before the start that a report tells. A report that has
// come before tells a later start when it is repeated, and is still about its session.
func (s *Session) overBefore(r Report) bool {
	if s.EndedBy != reported || !r.At.Add(-r.Online).After(*s.EndedAt) {
		return false
	}
	return r.Kind == Start || !slices.ContainsFunc(s.window.list, func(known sample) bool {
		return known.counts == r.counts(r.Online)
	})
}

// findJumped gives the session that a report is about when its start is not the one that the report tells: our clock
// has jumped since the report before, or the session time of the router has. Later reports tell the start that this one
// tells.
func (b *book) findJumped(r Report) *Session {
	for _, s := range b.byName[nameKey{r.Device, r.Session, r.User}] {
		start := r.At.Add(-r.Online)
		moved := start.Sub(s.StartedAt)
		overlap := minTime(r.At, s.UpdatedAt).Sub(maxTime(start, s.StartedAt))
		switch {
		case b.clockJumped(s, r, overlap):
			switch {
			case b.ahead(s): // by this clock it began when it says now
				s.beginAt(start)
			case !s.window.brought:
				s.window.shift, s.window.behind = moved.Truncate(time.Second), false
			}
			return s
		case b.timeWentBack(s, r, overlap):
			s.window.shift, s.window.behind = moved.Truncate(time.Second), moved > 0
			return s
		}
	}
	return nil
}

// clockJumped reports whether our clock has jumped since the newest report of a session: nothing of the session has
// become less, and either the jump is known, or two sessions would have been at the same time, or the session has begun
// at an instant that is still to come, or was brought from there.
func (b *book) clockJumped(s *Session, r Report, overlap time.Duration) bool {
	if s.EndedBy == reported || int64(r.Online/time.Second) < s.window.last().Seconds || s.lower(r) {
		return false
	}
	moved := r.At.Add(-r.Online).Sub(s.StartedAt)
	return overlap > r.tolerance() || b.ahead(s) || s.window.brought && s.EndReason != ReasonRestarted ||
		slices.ContainsFunc(b.jumps, func(jump time.Duration) bool {
			return min((moved-jump).Abs(), (moved-s.window.shift-jump).Abs()) <= r.tolerance()
		})
}

// timeWentBack reports whether a report is about a session although it tells a later start: the router cannot
// have begun another one of that name, because it would have been beside this one, or because the counters go on. A
// restart of the router in between is the evidence of another one.
func (b *book) timeWentBack(s *Session, r Report, overlap time.Duration) bool {
	start := r.At.Add(-r.Online)
	restart := b.restarted[s.DeviceID]
	switch {
	case r.station() != "" && s.Calling != "" && r.station() != s.Calling:
		return false
	case restart.After(s.StartedAt) && !start.Before(restart.Add(-r.tolerance())):
		return false
	case overlap > r.tolerance():
		return true
	}
	last, silence := s.window.last(), r.At.Sub(s.UpdatedAt)
	goesOn := !s.lower(r) && last.Down > 0 && last.Up > 0
	return goesOn && s.EndedBy == open && start.After(s.StartedAt) && silence <= 3*ReportEvery
}

// lower reports whether a counter of a report is lower than the newest one of a session.
func (s *Session) lower(r Report) bool {
	last, told := s.window.last(), r.counts(0)
	return told.Down < last.Down || told.Up < last.Up
}

// follows reports whether a report without time online is about a session rather than about another one of its name.
func (b *book) follows(r Report, s, other *Session) bool {
	begun := func(s *Session) bool { return b.ahead(s) || s.StartedAt.Sub(r.At) <= r.tolerance() }
	if begun(s) != begun(other) {
		return begun(s)
	}
	return b.later(s, other)
}

// tolerance is by how much the starts may differ that two reports of a session tell.
func (r Report) tolerance() time.Duration { return startTolerance + r.Online/driftTolerance }

// distance is between the start of a session and the one that a report tells, before or after our clock jumped.
func (s *Session) distance(r Report) time.Duration {
	d := r.At.Add(-r.Online).Sub(s.StartedAt)
	return min(d.Abs(), (d - s.window.shift).Abs())
}

// minTime is the earlier one of two instants.
func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// maxTime is the later one of two instants.
func maxTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
