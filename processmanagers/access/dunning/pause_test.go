package dunning_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/access/dunning"
)

// The line is paused for a month, from a day after its start.
var (
	pauses  = start.AddDate(0, 0, 1)
	resumes = pauses.AddDate(0, 1, 0)
	pause   = events.SubscriptionPaused{SubscriptionID: line, SubscriberID: who}
	stop    = commands.StopClock{Subject: subject, Cause: events.ClockPaused, From: pauses}
	begun   = commands.StartClock{Subject: subject, Cause: events.ClockPaused, Until: resumes}
	stopped = events.DunningClockStopped{DunningSubject: subject, Cause: events.ClockPaused, From: pauses}
	started = events.DunningClockStarted{DunningSubject: subject, Cause: events.ClockPaused}
)

// resume ends the pause with the paid time that follows from it.
func resume(until time.Time) events.Event {
	return events.SubscriptionResumed{SubscriptionID: line, SubscriberID: who, PaidUntil: until}
}

// does is the output of commands alone.
func does(list ...commands.Command) processmanagers.Output {
	return processmanagers.Output{Commands: list}
}

// A pause changes neither what is owed nor the beginning of the course; the clock stands still in it.
func TestPause_StopsTheClockOfWhoOwesAndKeepsTheCourse(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, dunning.Process(), start).With(at(start)).
		Given(created(events.Postpaid, calendar.Month), issued(line), reviewed(events.DunningSuspended, time.Time{})).
		At(pauses).With(at(pauses)).When(pause).Then(does(stop))
	for _, end := range []events.Event{
		resume(time.Time{}), events.SubscriptionEnded{SubscriptionID: line, SubscriberID: who},
	} {
		over := s.When(stopped).Then(looks(false, pauses.Add(time.Hour), owes(start, 1500))).
			Given(reviewed(events.DunningSuspended, time.Time{})).At(resumes).With(at(resumes)).Given(end)
		after := looks(false, resumes.Add(time.Hour), owes(start, 1500))
		if _, ended := end.(events.SubscriptionEnded); ended {
			after = looks(false, resumes.Add(time.Hour), owes(start, 1500), events.DunningOwed{At: resumes})
		}
		over.When(started).Then(after)
		after.Commands = append(does(begun).Commands, after.Commands...)
		over.When(events.DunningReviewAsked{DunningSubject: subject}).Then(after)
	}
	s.At(resumes).With(at(resumes)).Given(resume(time.Time{})). // before the clock is known to stand still
									When(stopped).Then(processmanagers.Output{
		Commands: append(does(begun).Commands, looks(false, start, owes(start, 1500)).Commands...),
		Timers:   looks(false, resumes.Add(time.Hour)).Timers,
	})
}

// A debt that was given up while a line was cut is not forgotten by a pause.
func TestPause_ALossCountsOn(t *testing.T) {
	t.Parallel()
	s := owing(t, events.DunningSuspended).Given(givenUp(1500, 0)...)
	s.At(pauses).With(at(pauses)).When(pause).Then(does(stop)).
		When(stopped).Then(looks(false, pauses.Add(time.Hour), owes(start, 1500), lost(start, 1500, 1500)))
}

// What is left of the paid time when the line is paused comes after the pause, and nobody is reminded of its end.
func TestPause_PaidTimeThatIsLeftOwesNothing(t *testing.T) {
	t.Parallel()
	for paid, owes := range map[time.Time]bool{pauses.Add(-time.Hour): true, pauses: true, pauses.Add(1): false} {
		s := processtest.For(t, dunning.Process(), start).With(at(start)).Given(
			created(events.Prepaid, calendar.Month),
			events.SubscriptionExtended{SubscriptionID: line, SubscriberID: who, PaidUntil: paid},
			reviewed(events.DunningReminding, time.Time{}),
		).At(pauses).With(at(pauses))
		before := events.DunningOwed{At: start, PaidUntil: paid}
		if owes {
			s = s.When(pause).Then(does(stop)).Given(stopped)
			s.When(events.SubscriptionExtended{SubscriptionID: line, SubscriberID: who, PaidUntil: resumes}).
				Then(looks(false, pauses.Add(time.Hour), before, events.DunningOwed{At: pauses}))
			continue
		}
		s = s.When(pause).Then(looks(false, pauses.Add(time.Hour), before, events.DunningOwed{At: pauses}))
		out := looks(false, pauses.Add(time.Hour), before, events.DunningOwed{At: pauses},
			events.DunningOwed{At: pauses, PaidUntil: start})
		out.Commands = append(does(stop).Commands, out.Commands...)
		s.When(events.PeriodWithdrawn{SubscriptionID: line, SubscriberID: who, Ordinal: 1, PaidUntil: start}).Then(out)
	}
}

// The clock is set right again when a command about it was refused.
func TestPause_ARefusedCommandIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, dunning.Process(), start).With(at(start)).
		Given(created(events.Postpaid, calendar.Month), issued(line), reviewed(events.DunningReminding, time.Time{})).
		At(pauses).With(at(pauses)).Given(pause)
	again := processmanagers.Output{Timers: looks(false, pauses.Add(time.Minute)).Timers}
	s.WhenRefused(stop, "concurrent_change").Then(again)
	s.WhenRefused(begun, "concurrent_change").Then(again)
	review := commands.ReviewDunning{Subject: subject, Timed: true, Owed: []events.DunningOwed{owes(start, 1500)}}
	s.WhenDue("look:"+line.String(), pauses).Then(does(stop, review))
	s.Given(stopped, resume(time.Time{})).WhenDue("look:"+line.String(), pauses).
		Then(does(commands.StartClock{Subject: subject, Cause: events.ClockPaused, Until: pauses}, review))
}

// A line that was paused by a version that ended its course owes nothing until it is resumed.
func TestPause_OfAnOlderVersionLastsUntilItIsResumed(t *testing.T) {
	t.Parallel()
	process := dunning.Process()
	var s dunning.State
	take := func(when time.Time, e events.Event) processmanagers.Output {
		in := processmanagers.Input{Event: &events.Envelope{Event: e, Meta: at(when)}}
		out, err := process.Decide(s, in, when)
		if err != nil {
			t.Fatal(err)
		}
		s = process.Evolve(s, in)
		return out
	}
	take(start, created(events.Postpaid, calendar.Month))
	l := s.Lines[line]
	l.Resting = true
	s.Lines[line] = l
	if out := take(pauses, issued(line)); len(out.Commands) > 0 {
		t.Errorf("in the pause: %+v", out)
	}
	if out := take(resumes, resume(time.Time{})); len(out.Commands) != 2 || s.Lines[line].Owed[0].At != resumes {
		t.Errorf("after the pause: %+v, %+v", out, s.Lines[line])
	}
}

// A state that is derived anew keeps the debt that a version before took for settled in the pause: nothing changes at
// the resume, and it is reviewed all the same.
func TestPause_ThatEndedTheCourseIsReviewedAtTheResume(t *testing.T) {
	t.Parallel()
	processtest.For(t, dunning.Process(), start).With(at(start)).
		Given(created(events.Postpaid, calendar.Month), issued(line), reviewed(events.DunningSuspended, time.Time{})).
		At(pauses).With(at(pauses)).Given(pause, reviewed(events.DunningNone, time.Time{})).
		At(resumes).With(at(resumes)).When(resume(time.Time{})).
		Then(goesOn(resumes, looks(false, resumes.Add(time.Hour), owes(start, 1500))))
}

// A version that does not know of pauses may have led while the line was paused: what the state says of the clock is
// lost then, and the clock goes on at the resume, and at the end, all the same.
func TestPause_ThatTheStateHasForgottenEnds(t *testing.T) {
	t.Parallel()
	process := dunning.Process()
	for _, end := range []events.Event{
		resume(time.Time{}), events.SubscriptionEnded{SubscriptionID: line, SubscriberID: who},
	} {
		var s dunning.State
		var out processmanagers.Output
		for _, e := range []events.Event{created(events.Postpaid, calendar.Month), issued(line), pause, stopped, end} {
			in := processmanagers.Input{Event: &events.Envelope{Event: e, Meta: at(resumes)}}
			l := s.Lines[line]
			if l.Paused, l.Stopped = (events.TimeSpan{}), false; s.Lines != nil {
				s.Lines[line] = l
			}
			out, _ = process.Decide(s, in, resumes)
			s = process.Evolve(s, in)
		}
		if len(out.Commands) == 0 || out.Commands[0] != commands.Command(begun) {
			t.Errorf("%T: %+v", end, out.Commands)
		}
	}
}
