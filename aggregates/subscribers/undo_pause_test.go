package subscribers_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// act is a command at an instant.
type act struct {
	at time.Time
	c  commands.SubscriptionCommand
}

// pauses stops service at an instant.
func pauses(at time.Time) act {
	return act{at, commands.PauseSubscription{SubscriptionID: subscription, Reason: "away"}}
}

// resumes ends the pause at an instant.
func resumes(at time.Time) act {
	return act{at, commands.ResumeSubscription{SubscriptionID: subscription, Reason: "back"}}
}

// lives does commands after the others, and sums up the days that are given back of periods, by their beginning.
func lives(t *testing.T, s *scenario, acts ...act) map[time.Time]int {
	t.Helper()
	days := map[time.Time]int{}
	for _, a := range acts {
		for _, e := range s.At(a.at).When(a.c).ThenEvents() {
			var credits []events.DaysCredit
			switch e := e.(type) {
			case events.PeriodDue:
				credits = e.Credits
			case events.SubscriptionResumed:
				credits = e.Credits
			case events.BillingResumed:
				credits = e.Credits
			case events.SubscriptionEnded:
				credits = e.Credits
			default: // the others give nothing back
			}
			for _, c := range credits {
				period, _ := s.State().Period(c.InvoiceID)
				days[period.Begins] += c.Days
			}
		}
		s.SurvivesClosing()
	}
	return days
}

// TestUndoPeriod_APostpaidMonthThatIsMadeAgainGivesItsPausedDaysBack as if it had never been undone: those of pauses,
// and of cuts under terms that bill used days. A cut that only keeps the next month from being billed gives none back.
func TestUndoPeriod_APostpaidMonthThatIsMadeAgainGivesItsPausedDaysBack(t *testing.T) {
	t.Parallel()
	undo := act{noon(3, 12).Add(time.Hour), undoes(subscription, third)}
	stop := func(at time.Time) act { return act{at, cut(at)} }
	serve := func(at time.Time) act { return act{at, servedAgain(at)} }
	short := []act{pauses(noon(3, 10)), resumes(noon(3, 10).Add(time.Hour)), pauses(noon(3, 12))}
	remake := act{noon(4, 21), commands.MakePeriodDue{SubscriptionID: subscription, Received: true}}
	for name, c := range map[string]struct {
		by            events.SuspendedBilling
		before, after []act // the undo
		want          int
	}{
		"a pause":              {"", []act{pauses(noon(3, 10))}, []act{resumes(noon(3, 20))}, 10},
		"nearly a day":         {"", []act{pauses(noon(3, 12))}, []act{resumes(noon(3, 13).Add(-time.Hour))}, 1},
		"beyond the month":     {"", []act{pauses(noon(3, 10))}, []act{resumes(noon(4, 5))}, 22},
		"two pauses":           {"", short, []act{resumes(noon(3, 14))}, 2},
		"a cut":                {events.BillUsedDays, []act{stop(noon(3, 10))}, []act{serve(noon(3, 20))}, 10},
		"a cut after the undo": {events.BillUsedDays, nil, []act{stop(noon(3, 14)), serve(noon(3, 20))}, 6},
		"a cut, then paused": {
			events.BillUsedDays, []act{stop(noon(3, 10))}, []act{pauses(noon(3, 14)), resumes(noon(3, 20))}, 10,
		},
		"an end after it": {
			events.BillUsedDays, []act{stop(noon(3, 10))}, []act{serve(noon(3, 20)), {noon(3, 25), end}}, 17,
		},
		"the next month":        {events.BillNothing, []act{stop(noon(3, 10))}, []act{serve(noon(3, 20))}, 0},
		"the next month, later": {events.BillNothing, []act{stop(noon(3, 10))}, []act{serve(noon(4, 20))}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := func(acts ...act) int {
				s := suspends(t, c.by, 1)
				s.At(noon(2, 1)).When(due).ThenEvents()
				s.At(noon(3, 1)).When(due).ThenEvents()
				return lives(t, s, acts...)[local(time.March, 1, 0)]
			}
			if got := run(slices.Concat(c.before, c.after)...); got != c.want {
				t.Errorf("without an undo %d days are given back", got)
			}
			acts := slices.Concat(c.before, []act{undo}, c.after)
			if !slices.Contains(acts, act{noon(3, 25), end}) {
				acts = append(acts, remake)
			}
			if got := run(acts...); got != c.want {
				t.Errorf("%d days are given back, without an undo %d", got, c.want)
			}
		})
	}
}

// TestUndoPeriod_AMonthIsNotLongerByACutThatSkipsTheNextOne: it began before the cut, so it is billed whole, and the
// next one begins when service does.
func TestUndoPeriod_AMonthIsNotLongerByACutThatSkipsTheNextOne(t *testing.T) {
	t.Parallel()
	for serve, next := range map[time.Time]time.Time{noon(3, 20): noon(3, 31), noon(4, 20): noon(4, 20)} {
		s := suspends(t, events.BillNothing, 0)
		s.At(noon(2, 28)).When(due).ThenEvents()
		lives(t, s, act{noon(3, 10), undoes(subscription, second)}, act{noon(3, 12), cut(noon(3, 12))},
			act{serve, servedAgain(serve)})
		received := commands.MakePeriodDue{SubscriptionID: subscription, Received: true}
		again := dueOf(t, s.At(noon(4, 21)).When(received).ThenEvents())
		if !again.From.Equal(noon(2, 28)) || !again.To.Equal(noon(3, 31)) {
			t.Errorf("made again from %s to %s", again.From, again.To)
		}
		if after := dueOf(t, s.When(due).ThenEvents()); !after.From.Equal(next) {
			t.Errorf("the next one begins at %s", after.From)
		}
	}
}
