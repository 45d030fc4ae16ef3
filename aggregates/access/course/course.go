package course

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Reason names what led to a step, for programs and people.
type Reason string

// The reasons.
const (
	ReasonDueSoon          Reason = "due_soon"            // the first reminder
	ReasonDue              Reason = "due"                 // the due instant has come
	ReasonGraceOver        Reason = "grace_over"          // not paid within the grace days
	ReasonWalledGardenOver Reason = "walled_garden_over"  // not paid within the days of the walled garden
	ReasonWriteOff         Reason = "write_off_days_over" // not paid for so long that a write-off is proposed
	ReasonOwedChanged      Reason = "owed_changed"        // a payment, or another event of the account
)

// Step is the beginning of a state.
type Step struct {
	At     time.Time // UTC
	State  events.DunningState
	Reason Reason
	DueAt  time.Time // the due instant of the course; zero when nothing is due any more
	// Due is overdue at that instant. For prepaid it counts the unpaid period, also when that was invoiced later.
	Due money.Amount
	// Planned is the instant without the times in which nobody is cut; it differs from At when the cut had to wait.
	Planned time.Time
}

// Reminder is one message that asks for payment.
type Reminder struct {
	At    time.Time // in the message hours
	Until time.Time // end of the message hours: what was not sent by then is not sent any more
	Day   int       // relative to the due date; -3 is three days before
	DueAt time.Time
}

// Course lists everything that happens to one subscription. Both lists ascend by At. They reach into the future for as
// long as nothing else is paid or becomes due.
type Course struct {
	Steps     []Step
	Reminders []Reminder
	// Since is the instant from which the present due instant holds, or from which nothing leads to a course. DueAt is
	// that due instant; zero = none.
	Since, DueAt time.Time
}

// At is the step that holds at an instant: the last one that began then or earlier. Before the first step it is None
// without an instant.
func (c Course) At(at time.Time) Step {
	now := Step{State: events.DunningNone}
	for _, s := range c.Steps {
		if s.At.After(at) {
			break
		}
		now = s
	}
	return now
}

// Next is the first step after an instant; false when nothing comes by itself. Nothing comes in a pause without an end.
func (c Course) Next(at time.Time) (Step, bool) {
	for _, s := range c.Steps {
		if s.At.After(at) {
			return s, true
		}
	}
	return Step{}, false
}

// NextReminder is the first reminder after an instant; false when there is none.
func (c Course) NextReminder(at time.Time) (Reminder, bool) {
	for _, r := range c.Reminders {
		if r.At.After(at) {
			return r, true
		}
	}
	return Reminder{}, false
}

// Of gives the course of a history. A payment in the same instant as a cut comes first, and so does the beginning of a
// pause. It changes none of its arguments.
func Of(r Rules, h History) Course {
	w := walk{rules: r, history: h, pauses: merged(h.Pauses), found: r.found(h)}
	for i := 0; i < len(h.Owed); {
		e := episode{from: h.Owed[i].At, due: r.dueInstant(h.Owed[i]), owed: h.Owed[i : i+1]}
		for i++; i < len(h.Owed); i++ {
			if !r.dueInstant(h.Owed[i]).Equal(e.due) {
				e.until = h.Owed[i].At
				break
			}
			e.owed = h.Owed[i-len(e.owed) : i+1]
		}
		w.take(e)
		w.course.Since, w.course.DueAt = e.from, e.due
	}
	return w.course
}

// episode is a time [from, until) in which one due instant holds.
type episode struct {
	from  time.Time
	until time.Time // zero = for ever
	due   time.Time // zero = nothing leads to a course
	owed  []Owed    // the history in this time, never empty
}

// has reports whether an instant lies in the episode.
func (e episode) has(at time.Time) bool {
	return !at.Before(e.from) && (e.until.IsZero() || at.Before(e.until))
}

// walk goes through the episodes of a history.
type walk struct {
	rules   Rules
	history History
	pauses  []Pause
	found   time.Time // the due instant under which the last review found the states of Entered in force; zero = none
	course  Course
	state   events.DunningState
	began   stages // of the last episode, as far as they had begun at its end
}

// stages are the instants at which the states of an episode begin; zero = never.
type stages struct{ remind, garden, suspend, writeOff stage }

// stage is the beginning of one state.
type stage struct {
	at      time.Time
	planned time.Time
	reason  Reason
}

// begun reports whether the state has begun at an instant.
func (s stage) begun(at time.Time) bool { return !s.at.IsZero() && !s.at.After(at) }

// take adds the steps of an episode.
func (w *walk) take(e episode) {
	if !e.until.IsZero() && !e.from.Before(e.until) { // another event in the same instant came after it
		return
	}
	var s stages
	if !e.due.IsZero() {
		s = w.stages(e)
	}
	list := []struct {
		state events.DunningState
		stage
	}{
		{events.DunningReminding, s.remind}, {events.DunningWalledGarden, s.garden},
		{events.DunningSuspended, s.suspend}, {events.DunningWrittenOff, s.writeOff},
	}
	first := Step{At: e.from, State: events.DunningNone, Reason: ReasonOwedChanged}
	for _, l := range list {
		if l.begun(e.from) {
			first.State, first.Planned = l.state, l.planned
		}
	}
	if first.State.Rank() > w.state.Rank() { // it begins with the episode, and not by a payment
		for _, l := range list {
			if l.state == first.State {
				first.Reason = l.reason
			}
		}
	}
	w.step(e, first)
	for i, l := range list {
		last := i+1 == len(list) || !list[i+1].at.Equal(l.at)
		if e.has(l.at) && l.at.After(e.from) && last && l.state.Rank() > w.state.Rank() {
			w.step(e, Step{At: l.at, State: l.state, Reason: l.reason, Planned: l.planned})
		}
	}
	w.began = s
	for _, p := range []*stage{&w.began.garden, &w.began.suspend, &w.began.writeOff} {
		if e.until.IsZero() || !p.at.Before(e.until) {
			*p = stage{}
		}
	}
}

// step adds a step unless the state stays the same.
func (w *walk) step(e episode, s Step) {
	if s.State.Rank() == w.state.Rank() {
		return
	}
	s.DueAt = e.due
	if s.Planned.IsZero() {
		s.Planned = s.At
	}
	for _, o := range e.owed {
		late := s.Due.Minor == 0 && !o.PaidUntil.IsZero() // the next period was invoiced after the step
		if !o.At.After(s.At) || late {
			s.Due = w.rules.Overdue(o, s.At)
		}
	}
	w.state = s.State
	w.course.Steps = append(w.course.Steps, s)
}
