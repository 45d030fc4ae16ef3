package course

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
)

// stages computes when each state of an episode begins, and adds its reminders.
func (w *walk) stages(e episode) stages {
	p := w.rules.policy
	grace, ends := w.expires(e.due, p.GraceDays)
	var s stages
	if w.began.garden.at.IsZero() || !ends || grace.After(e.from) {
		w.began = stages{} // access came back with the episode, or was there all the time
	}
	s.garden = w.cut(e, stage{planned: grace, reason: ReasonGraceOver}, cutInput{
		state: events.DunningWalledGarden, before: w.began.garden, start: e.due, days: p.GraceDays,
	})
	s.suspend = w.cut(e, stage{reason: ReasonWalledGardenOver}, cutInput{
		state: events.DunningSuspended, before: w.began.suspend, start: s.garden.at, days: p.WalledGardenDays,
	})
	s.writeOff = w.writeOff(e, s.suspend)
	s.suspend = s.suspend.before(s.writeOff)
	s.garden = s.garden.before(s.suspend)
	s.remind = w.reminders(e, s)
	return s
}

// before is a stage that began with the next one when that one began without it: the stage had no time of its own.
func (s stage) before(next stage) stage {
	if !next.at.IsZero() && (s.at.IsZero() || s.at.After(next.at)) {
		return next
	}
	return s
}

// cutInput says how the beginning of a state that takes access away follows.
type cutInput struct {
	state  events.DunningState
	before stage     // from the episode before, when it goes on
	start  time.Time // zero = it never begins
	days   int
}

// cut is the beginning of a state that takes access away: the recorded one, or the first instant at which cuts are
// allowed after the days have passed. It never lies before the episode, nor before the present unless it is in force.
func (w *walk) cut(e episode, s stage, in cutInput) stage {
	if at, ok := w.entered(e, in.state); ok {
		s.at, s.planned = at, at
		return s
	}
	if !in.before.at.IsZero() {
		return in.before
	}
	if in.start.IsZero() {
		return stage{}
	}
	floor := later(w.earliest(e, in.state), in.start)
	at := w.rules.daysLater(in.start, in.days)
	cut := w.rules.MayCut(later(at, floor))
	for _, p := range w.pauses {
		switch {
		case !p.Until.IsZero() && !in.start.Before(p.Until):
			continue // over before the clock began to run
		case p.From.After(cut):
			return stage{at: cut, planned: later(at, floor), reason: s.reason}
		case p.Until.IsZero():
			return stage{}
		}
		at = later(at.Add(p.Until.Sub(later(p.From, in.start))), p.Until)
		cut = w.rules.MayCut(later(at, floor))
	}
	return stage{at: cut, planned: later(at, floor), reason: s.reason}
}

// expires is the instant at which some days after a start have passed, pauses not counted; false when a pause without
// an end comes before it.
func (w *walk) expires(start time.Time, days int) (time.Time, bool) {
	at := w.rules.daysLater(start, days)
	for _, p := range w.pauses {
		switch {
		case !p.Until.IsZero() && !start.Before(p.Until):
			continue
		case p.From.After(at):
			return at, true
		case p.Until.IsZero():
			return time.Time{}, false
		}
		at = at.Add(p.Until.Sub(later(p.From, start)))
	}
	return at, true
}

// writeOff is when a write-off is proposed: not before the suspension, at any hour.
func (w *walk) writeOff(e episode, suspend stage) stage {
	if at, ok := w.entered(e, events.DunningWrittenOff); ok {
		return stage{at: at, planned: at, reason: ReasonWriteOff}
	}
	if suspend.at.IsZero() {
		return stage{}
	}
	at, ends := w.expires(e.due, w.rules.policy.WriteOffDays)
	if !ends {
		return stage{}
	}
	if before := w.began.writeOff; !before.at.IsZero() && !at.After(e.from) {
		return before
	}
	at = later(later(at, suspend.at), w.earliest(e, events.DunningWrittenOff))
	return stage{at: at, planned: at, reason: ReasonWriteOff}
}

// entered is when a state of the episode really began, in it or before. An entry within a pause does not count: a pause
// that is learned of too late gives access back.
func (w *walk) entered(e episode, state events.DunningState) (at time.Time, ok bool) {
	goesOn := w.goesOn(e)
	for _, entry := range w.history.Entered {
		began := e.has(entry.At) || goesOn && entry.At.Before(e.from)
		if entry.State == state && began && w.proves(entry, e.due) && !covers(w.pauses, entry.At) {
			at, ok = entry.At, true
		}
	}
	return at, ok
}

// goesOn reports whether the last review found the states that are in force to be so in an episode, too, when they
// began before it: what a policy says now about its grace comes too late. After a pause it says nothing, because that
// may have been learned of since.
func (w *walk) goesOn(e episode) bool {
	paused := slices.ContainsFunc(w.pauses, func(p Pause) bool {
		return !p.From.After(e.from) && (p.Until.IsZero() || p.Until.After(e.due))
	})
	return !paused && !e.due.After(w.found)
}

// proves reports whether an entry is the beginning of its state also under a due instant: that which led to it, that
// under which the last review found it in force, or an older one. One for a debt that was paid says nothing about a
// younger debt, whenever it was made: the payment came first, and who decided did not know of it. What is dated later
// than the present is from when a clock was ahead.
func (w *walk) proves(entry Entered, due time.Time) bool {
	led := entry.DueAt
	if led.IsZero() {
		led = entry.At // the due instant is not known; it was over
	}
	return !due.After(later(led, w.found)) && !entry.At.After(w.history.Late)
}

// earliest is the first instant at which a state of the episode can have begun, whatever its days are: when it came
// into force, for whichever debt, and the present when it is not in force. So the beginning of a state that goes on
// under another due instant does not move with the present.
func (w *walk) earliest(e episode, state events.DunningState) time.Time {
	at := w.history.Late
	for _, entry := range w.history.Entered {
		if entry.State.Rank() >= state.Rank() && entry.At.Before(at) {
			at = entry.At
		}
	}
	return later(e.from, at)
}

// reminders adds the reminders of an episode and gives the beginning of Reminding: the first reminder, and at the
// latest the due instant. A reminder whose time was over before the episode began is not sent. One that falls into a
// pause waits for its end, but not beyond the message hours of its day. Nobody is reminded who is suspended.
func (w *walk) reminders(e episode, s stages) stage {
	begin := stage{at: later(e.due, e.from), reason: ReasonDue}
	dueDate, hours := w.rules.dueDate(e.due), w.rules.policy.MessageHours
	for _, day := range w.rules.reminderDays(!e.owed[0].PaidUntil.IsZero()) {
		date := dueDate.AddDays(day)
		at := date.At(hours.From, w.rules.zone)
		if at.Before(e.from) {
			continue
		}
		until := date.At(hours.To, w.rules.zone)
		for _, p := range w.pauses {
			if !at.Before(p.From) && p.Until.IsZero() {
				at = until
			} else if !at.Before(p.From) && at.Before(p.Until) {
				at = p.Until
			}
		}
		suspended := s.suspend.begun(at)
		if !at.Before(until) || !e.has(at) || suspended {
			continue
		}
		w.course.Reminders = append(w.course.Reminders, Reminder{At: at, Until: until, Day: day, DueAt: e.due})
		if at.Before(begin.at) {
			begin = stage{at: at, reason: ReasonDueSoon}
		}
	}
	begin.planned = begin.at
	return begin
}

// later is the later of two instants, in UTC.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b.UTC()
	}
	return a.UTC()
}
