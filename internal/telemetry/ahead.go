package telemetry

import (
	"cmp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Our clock may be put back, as by NTP after a start with a wrong one. The tables then have instants that are still to
// come: they are from before all that is reported now, however late they look. While our clock is behind, all that has
// really happened looks like that. So what is over keeps its instants: nothing would put it right again.

// How much later than the present an instant may be that is not from when a clock was ahead.
const (
	// leastSet is for what one program has told in order: more than a machine's clock that is corrected slowly differs
	// between two rounds. What begins soon after the clock was put back is in order, too.
	leastSet = 5 * time.Second
	// Slack is for what several programs tell, whose clocks differ by less.
	Slack = time.Minute
	// endSlack is for what is ended because of it: clocks of programs that differ by more than they should, too, end
	// no session that another program hears.
	endSlack = 5 * time.Minute
	// lookSlack is for looks at routers, which count as of when they began: as long as one takes and waits for others.
	lookSlack = 5 * time.Minute
)

// inOrder compares two instants. What is later than come has not come yet by our clock, and so was before the other.
// come is zero where any instant may have come.
func inOrder(a, b, come time.Time) int {
	early := a.After(come)
	switch {
	case early == b.After(come):
		return a.Compare(b)
	case early:
		return -1
	default:
		return 1
	}
}

// comes notes when organizations were heard, and which instants have come before a group of reports is committed: those
// until now, and those of the reports, which can have waited since before our clock was put back.
func (b *book) comes(now time.Time, reports []Report) {
	for _, r := range reports {
		b.heard[r.Org] = maxTime(b.heard[r.Org], r.At)
	}
	if now.IsZero() {
		return
	}
	for _, r := range reports {
		now = maxTime(now, r.At)
	}
	b.come = now.Add(leastSet)
}

// early reports whether an instant is from when our clock was ahead.
func (b *book) early(at time.Time) bool { return !b.come.IsZero() && at.After(b.come) }

// latest is the last instant that can have come.
func (b *book) latest() pgtype.Timestamptz {
	if b.come.IsZero() {
		return pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}
	}
	return pgtype.Timestamptz{Time: b.come, Valid: true}
}

// ahead reports whether a session began when our clock was ahead.
func (b *book) ahead(s *Session) bool { return b.early(s.StartedAt) }

// later reports whether a session began after another one, also when our clock was ahead in between. Those of the same
// second are in the order of their names.
func (b *book) later(s, other *Session) bool {
	return cmp.Or(inOrder(s.StartedAt, other.StartedAt, b.come), cmp.Compare(s.SessionKey, other.SessionKey)) > 0
}

// before reports whether a session is from when our clock was ahead, and so from before another one that is not.
func (b *book) before(s, other *Session) bool { return b.ahead(s) && !b.ahead(other) }

// restartedSince reports whether this group tells a restart of the router of an open session that is not heard since
// our clock was put back. A session of later than the restart that another program heard, whose clock is a little
// ahead, goes on.
func (b *book) restartedSince(s *Session) bool {
	_, told := b.restarts[s.DeviceID]
	return told && !s.over() && b.early(s.UpdatedAt.Add(leastSet-endSlack))
}

// touchRestarted touches the sessions that a restart ends whose instants are later than it.
func (b *book) touchRestarted() {
	if len(b.restarts) == 0 {
		return
	}
	for _, list := range b.byName {
		for _, s := range list {
			if b.restartedSince(s) {
				b.touch(s)
			}
		}
	}
}

// putBack reports whether this program saw that its clock was put back.
func (b *book) putBack() bool {
	return slices.ContainsFunc(b.jumps, func(jump time.Duration) bool { return jump < 0 })
}

// over reports whether a session has an end in the tables.
func (s *Session) over() bool { return s.kept.endedBy != open }

// bring puts a session from when our clock was ahead to where its latest instant is the last one at which it can have
// been. Its reports may still tell the start that it had; one that tells an instant which has come tells the right one.
func (s *Session) bring(last time.Time) {
	latest := maxTime(s.StartedAt, s.UpdatedAt)
	if s.EndedAt != nil {
		latest = maxTime(latest, *s.EndedAt)
	}
	back := latest.Sub(last).Truncate(time.Second)
	if back <= 0 {
		return
	}
	s.StartedAt, s.UpdatedAt = s.StartedAt.Add(-back), s.UpdatedAt.Add(-back)
	if s.EndedAt != nil {
		s.EndedAt = new(s.EndedAt.Add(-back))
	}
	for i := range s.window.list {
		s.window.list[i].at -= int64(back / time.Second)
	}
	s.window.shift += back
	s.window.brought, s.window.behind = true, false
}

// beginAt puts the start of a session to where a report of now tells it. Reports may still tell the one that they told
// before.
func (s *Session) beginAt(start time.Time) {
	told := s.StartedAt.Add(s.window.shift)
	s.StartedAt, s.window.shift, s.window.brought = start, told.Sub(start).Truncate(time.Second), false
	s.window.behind = false
}

// putStart puts the start of a session that was brought to another instant to where a report of now tells it.
func (b *book) putStart(s *Session, r Report) {
	start := r.At.Add(-r.Online)
	if s.window.brought && (r.Online > 0 || r.Kind == Start) && !b.early(start) {
		s.beginAt(start)
		b.place(s)
	}
}
