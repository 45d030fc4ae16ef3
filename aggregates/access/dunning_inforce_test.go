package access_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// TestReview_WhoIsCutWhileTheClockIsAheadIsSuspendedInTime: the days of the walled garden count from the first review
// by the right clock that finds the customer there, however often reviews follow.
func TestReview_WhoIsCutWhileTheClockIsAheadIsSuspendedInTime(t *testing.T) {
	t.Parallel()
	one := owing(time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), "03-01")
	for _, ahead := range []int{10, 30, 365} {
		r := &reviews{t: t}
		r.look(midnight(t, "03-02"), one)
		r.look(midnight(t, "03-02").AddDate(0, 0, ahead), one)
		r.is(events.DunningWalledGarden)
		for _, day := range []string{"03-10", "03-11", "03-16"} {
			r.look(midnight(t, day), one)
			r.is(events.DunningWalledGarden)
		}
		r.look(midnight(t, "03-17").Add(-time.Second), one)
		r.is(events.DunningWalledGarden)
		r.look(midnight(t, "03-17"), one)
		r.is(events.DunningSuspended)
	}
}

// TestReview_WhoIsSuspendedWhileTheClockIsAheadIsSuspendedInTime, too, by the right clock.
func TestReview_WhoIsSuspendedWhileTheClockIsAheadIsSuspendedInTime(t *testing.T) {
	t.Parallel()
	one := owing(time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), "03-01")
	r := &reviews{t: t}
	r.look(midnight(t, "03-05"), one)
	r.look(midnight(t, "05-12"), one)
	r.is(events.DunningWrittenOff)
	r.look(midnight(t, "03-10"), one)
	r.is(events.DunningWalledGarden)
	r.look(midnight(t, "03-12"), one)
	r.is(events.DunningSuspended)
}

// TestReview_AZoneThatIsCorrectedUndoesNoCut: each due instant moves by hours, and a longer grace counts for the next
// course only.
func TestReview_AZoneThatIsCorrectedUndoesNoCut(t *testing.T) {
	t.Parallel()
	one := owing(time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), "02-28")
	for _, zone := range []string{"Africa/Harare", "Asia/Karachi", "America/Bogota", "Pacific/Honolulu"} {
		r := &reviews{t: t}
		for _, day := range []string{"03-01", "03-04", "03-11"} {
			r.look(midnight(t, day), one)
		}
		for i, zone := range []string{"Africa/Nairobi", zone, zone} {
			c := review(zone, one)
			c.Rules.Policy.GraceDays = 20
			decided(t, &r.s, c, midnight(t, "03-12").Add(time.Duration(i)*time.Hour))
			r.is(events.DunningSuspended)
		}
	}
}

// TestReview_ALongerGraceUndoesNoCutOfAYoungerDebt: the older one was paid, and the grace of the younger one was over.
func TestReview_ALongerGraceUndoesNoCutOfAYoungerDebt(t *testing.T) {
	t.Parallel()
	begin, paid := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), midnight(t, "03-12")
	before, after := owing(begin, "02-28", "03-05"), owing(paid, "03-05")
	for name, looked := range map[string]bool{"cut under both": true, "cut under the older one only": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &reviews{t: t}
			for _, day := range []string{"03-01", "03-04", "03-11"} {
				r.look(midnight(t, day), before)
			}
			if looked {
				r.look(paid.Add(time.Second), before, after)
				r.is(events.DunningSuspended)
			}
			longer := review("Africa/Nairobi", before, after)
			longer.Rules.Policy.GraceDays = 20
			decided(t, &r.s, longer, paid.Add(time.Hour))
			if r.s.State.Cut() != looked {
				t.Errorf("the state is %s", r.s.State)
			}
			r.look(paid.Add(2*time.Hour), before, after, owing(paid.Add(2*time.Hour)))
			r.is(events.DunningNone)
		})
	}
}

// TestReview_APauseThatIsLearnedOfLateGivesAccessBackUnderAYoungerDebt: in it her days of grace did not pass.
func TestReview_APauseThatIsLearnedOfLateGivesAccessBackUnderAYoungerDebt(t *testing.T) {
	t.Parallel()
	begin, paid := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), midnight(t, "03-12")
	before, after := owing(begin, "02-28", "03-05"), owing(paid, "03-05")
	r := &reviews{t: t}
	for _, day := range []string{"03-01", "03-04", "03-11"} {
		r.look(midnight(t, day), before)
	}
	r.look(paid.Add(time.Second), before, after)
	r.is(events.DunningSuspended)
	r.s = access.Dunnings().Evolve(r.s, events.DunningClockStarted{
		DunningSubject: amina, Cause: events.ClockNoLine, From: midnight(t, "03-07"), Until: midnight(t, "03-11"),
	})
	r.look(paid.Add(time.Hour), before, after)
	r.is(events.DunningReminding)
}

// TestReview_AnOlderOpeningSuspendsNobodyEarly: it may have a step into the walled garden for a debt that was paid.
func TestReview_AnOlderOpeningSuspendsNobodyEarly(t *testing.T) {
	t.Parallel()
	before := owing(time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), "03-01", "03-05")
	after, garden := owing(midnight(t, "03-06"), "03-05"), midnight(t, "03-09")
	opening, err := json.Marshal(map[string]any{
		"Subject": amina, "State": events.DunningWalledGarden, "Since": garden, "DueAt": midnight(t, "03-06"),
		"Entered": []any{
			map[string]any{"State": events.DunningWalledGarden, "At": midnight(t, "03-05")},
			map[string]any{"State": events.DunningWalledGarden, "At": garden},
		},
		"Reviewed": events.DunningReviewed{DunningSubject: amina, State: events.DunningWalledGarden, Owed: after},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &reviews{t: t}
	r.s = access.Dunnings().Evolve(r.s, events.DunningPeriodClosed{DunningSubject: amina, Opening: opening})
	for _, day := range []string{"03-10", "03-12", "03-15"} {
		r.look(midnight(t, day), before, after)
		r.is(events.DunningWalledGarden)
	}
	r.look(midnight(t, "03-16"), before, after)
	r.is(events.DunningSuspended)
}

// TestReview_AHigherMinimumKeepsNobodyCutWhoHasPaid: by a higher minimum what is owed leads to a younger debt, for
// which nobody was cut. Also where the one of before comes back.
func TestReview_AHigherMinimumKeepsNobodyCutWhoHasPaid(t *testing.T) {
	t.Parallel()
	part := func(o events.DunningOwed) events.DunningOwed {
		o.Debts[0].Amount = money.Major(300, money.KES)
		return o
	}
	old := part(owing(time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), "02-28"))
	both := part(owing(midnight(t, "03-05"), "02-28", "03-31"))
	paid := owing(midnight(t, "03-13"), "03-31")
	r := &reviews{t: t}
	r.look(midnight(t, "03-01"), old)
	r.look(midnight(t, "03-04"), old)
	r.is(events.DunningWalledGarden)
	r.look(midnight(t, "03-05"), old, both)
	r.look(midnight(t, "03-11"), old, both)
	r.is(events.DunningSuspended)
	higher := func(day string, owed ...events.DunningOwed) {
		c := review("Africa/Nairobi", owed...)
		c.Rules.Policy.MinimumDue = money.Major(500, money.KES)
		decided(t, &r.s, c, midnight(t, day))
	}
	higher("03-12", old, both)
	higher("03-13", old, both, paid)
	r.is(events.DunningNone)
	r.look(midnight(t, "03-25"), old, both, paid)
	r.is(events.DunningNone)
}
