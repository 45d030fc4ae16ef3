package access

import (
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/aggregates/access/course"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Dunnings defines how far subscriptions are in dunning: one stream for each subscription that ever came there or had a
// hold. A process asks for reviews; a review decides which step is due (package course) and records each step once.
func Dunnings() aggregates.Definition[Dunning, commands.DunningCommand, events.DunningEvent] {
	return aggregates.Definition[Dunning, commands.DunningCommand, events.DunningEvent]{
		Category: commands.DunningCategory, Missing: commands.ErrNotFound, Evolve: evolveDunning,
		Decide: decideDunning, Until: untilDunning, Owner: ownerDunning, Close: closeDunning, Remembered: remembered,
		Commands: []commands.DunningCommand{
			commands.ReviewDunning{}, commands.AskDunningReview{}, commands.PlaceHold{}, commands.LiftHold{},
			commands.StopClock{}, commands.StartClock{},
		},
	}
}

// remembered is the number of subscriptions whose dunning is kept in memory: those of a large installation, because all
// that are due on the same day are reviewed at once. Each takes about 2 KiB.
const remembered = 50_000

// Dunning is where one subscription stands. The zero value is "never in dunning". It has no personal text, so that
// it can be the opening of a period.
type Dunning struct {
	Subject   events.DunningSubject
	State     events.DunningState // "" = none
	Since     time.Time           // when the state began
	DueAt     time.Time           // zero in the state none
	Reminded  []int               // the days of DueAt that were reminded
	HoldFrom  time.Time           // zero = there never was a hold, or the last one was lifted
	HoldUntil time.Time           // may be past: the hold is over then
	Stopped   map[string]time.Time
	Pauses    []course.Pause   // that are over, the latest ones
	Entered   []course.Entered // the states that take access away and are in force
	Reviewed  events.DunningReviewed
}

// Held reports whether a hold stops the clock at an instant.
func (s Dunning) Held(at time.Time) bool { return !s.HoldFrom.IsZero() && at.Before(s.HoldUntil) }

// Owed has what is owed now, and of what was owed before as much as the stream knows: the due instants that led to the
// states in force. By it the same comes next as by the whole history.
func (s Dunning) Owed() []events.DunningOwed {
	present := s.Reviewed.Owed
	if !s.Reviewed.Since.IsZero() { // the present due instant holds for longer than the present debts
		present.At = s.Reviewed.Since
	}
	var list []events.DunningOwed
	for _, e := range s.Entered {
		if e.At.Before(present.At) && !e.DueAt.IsZero() {
			list = append(list, events.DunningOwed{At: e.At, PaidUntil: e.DueAt})
		}
	}
	return append(list, present)
}

// ownerDunning is the organization of the subscription.
func ownerDunning(s Dunning) id.Organization { return s.Subject.OrgID }

// evolveDunning applies one recorded event.
func evolveDunning(s Dunning, e events.DunningEvent) Dunning {
	switch e := e.(type) {
	case events.DunningBegan:
		return s.moved(e.DunningSubject, events.DunningReminding, e.DunningStep)
	case events.WalledGardenEntered:
		return s.moved(e.DunningSubject, events.DunningWalledGarden, e.DunningStep)
	case events.ServiceSuspended:
		return s.moved(e.DunningSubject, events.DunningSuspended, e.DunningStep)
	case events.WriteOffProposed:
		return s.moved(e.DunningSubject, events.DunningWrittenOff, e.DunningStep)
	case events.DunningEnded:
		return s.moved(e.DunningSubject, events.DunningNone, events.DunningStep{At: e.At})
	case events.DunningReminded:
		s.Subject = e.DunningSubject
		s.Reminded = append(s.remindedOf(e.DueAt), e.Day)
		s.DueAt = e.DueAt
	case events.HoldPlaced:
		s = s.withHold(e)
	case events.HoldLifted:
		s = s.seen(e.At)
		s = s.paused(s.HoldFrom, e.At)
		s.HoldFrom, s.HoldUntil = time.Time{}, time.Time{}
	case events.DunningClockStopped:
		s.Subject, s.Stopped = e.DunningSubject, s.stops()
		s.Stopped[e.Cause] = e.From
	case events.DunningClockStarted:
		s = s.paused(e.From, e.Until)
		s.Stopped = s.stops()
		delete(s.Stopped, e.Cause)
	case events.DunningReviewed:
		s = s.seen(e.At)
		s.Subject, s.Reviewed, s.Entered = e.DunningSubject, e, course.Reviewed(s.Entered, e.At)
	case events.DunningReviewAsked:
		s.Subject = e.DunningSubject
	case events.DunningPeriodClosed:
		return aggregates.Opened[Dunning](e.Opening).entered() // an older one may have states that were in force
	}
	return s
}

// moved is the state after a step. Reminders that were sent count as long as the due instant stays the same.
func (s Dunning) moved(subject events.DunningSubject, to events.DunningState, step events.DunningStep) Dunning {
	s.Reminded = s.remindedOf(step.DueAt)
	s.Subject, s.State, s.Since, s.DueAt = subject, to, step.At, step.DueAt
	return s.entered()
}

// entered is the state with the states that are in force by its step.
func (s Dunning) entered() Dunning {
	s.Entered = course.Enter(s.Entered, course.Entered{State: s.State, At: s.Since, DueAt: s.DueAt})
	return s
}

// maxPauses bounds the pauses that are kept. None of the present course is lost by it (course.Fewer).
const maxPauses = 50

// paused is the state with one more pause that is over.
func (s Dunning) paused(from, until time.Time) Dunning {
	list := append(slices.Clone(s.Pauses), course.Pause{From: from, Until: until})
	s.Pauses = course.Fewer(list, maxPauses, s.DueAt)
	return s
}

// withHold is the state with another hold. One that had ended before stays among the pauses.
func (s Dunning) withHold(e events.HoldPlaced) Dunning {
	s = s.seen(e.At)
	from := e.From
	switch {
	case s.HoldFrom.IsZero():
	case s.Held(e.At):
		from = earlier(from, s.HoldFrom)
	default:
		s = s.paused(s.HoldFrom, s.HoldUntil)
	}
	s.Subject, s.HoldFrom, s.HoldUntil = e.DunningSubject, from, e.Until
	return s
}

// apart is how far the clocks of two programs may be apart when none of them is wrong.
const apart = 5 * time.Minute

// seen is the state with nothing that begins or ended after an instant at which something came after it: it was
// recorded while a clock was ahead. A fault is of that instant then. When a person placed a hold is known to nobody
// then, so it counts from the beginning of the state in which it was placed: what is left of the days is not less than
// it was.
func (s Dunning) seen(at time.Time) Dunning {
	switch ahead := s.HoldFrom.Sub(at); {
	case ahead > apart && !s.Since.IsZero() && s.Since.Before(at):
		s.HoldFrom = s.Since.Add(time.Microsecond) // not in the instant itself: a pause comes before a step
	case ahead > 0:
		s.HoldFrom = at
	}
	for cause, from := range s.Stopped {
		if from.After(at) {
			s.Stopped = s.stops()
			s.Stopped[cause] = at
		}
	}
	if slices.ContainsFunc(s.Pauses, func(p course.Pause) bool { return p.Until.After(at) }) {
		s.Pauses = slices.Clone(s.Pauses)
		for i, p := range s.Pauses {
			s.Pauses[i] = course.Pause{From: earlier(p.From, at), Until: earlier(p.Until, at)}
		}
	}
	return s
}

// remindedOf is a copy of the reminded days when they belong to a due instant, and else empty.
func (s Dunning) remindedOf(due time.Time) []int {
	if !s.DueAt.Equal(due) {
		return nil
	}
	return slices.Clone(s.Reminded)
}

// stops is a copy of the causes that stop the clock; never nil.
func (s Dunning) stops() map[string]time.Time {
	out := map[string]time.Time{}
	maps.Copy(out, s.Stopped)
	return out
}

// closeDunning passes the whole state on.
func closeDunning(s Dunning) events.DunningEvent {
	return events.DunningPeriodClosed{DunningSubject: s.Subject, Opening: aggregates.Opening(s)}
}
