package access_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/access/course"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// review is a review of what Amina owes under the default policy without reminders, in a zone; "" = the rules are not
// known.
func review(name string, owed ...events.DunningOwed) commands.ReviewDunning {
	var zone *time.Location
	if name != "" {
		var err error
		if zone, err = time.LoadLocation(name); err != nil {
			panic(err)
		}
	}
	p := access.DefaultDunningPolicy(money.KES)
	p.ReminderDays = nil
	return commands.ReviewDunning{
		Subject: amina, Owed: owed, Rules: commands.DunningRules{Policy: p, Zone: zone},
	}
}

// paid is prepaid time until an instant, known since an instant.
func paid(since, until time.Time) events.DunningOwed {
	return events.DunningOwed{At: since, PaidUntil: until}
}

// Nothing that is owed is an entry of its own; without any entry nobody knows.
func TestReview_NeedsWhatIsOwed(t *testing.T) {
	t.Parallel()
	if err := review("Africa/Nairobi").Validate(); failure.CodeOf(err) != "invalid_input" {
		t.Errorf("a review of nothing gives %v", err)
	}
}

func TestReview_WithoutRulesNobodyIsCut(t *testing.T) {
	t.Parallel()
	c := review("", paid(now, now.AddDate(0, 0, -90)))
	decidertest.For(t, access.Dunnings(), now).When(c).ThenFails("invalid_input")
}

// run drives one subscription through its reviews as the process does: a review at each fact and at each wake-up.
func run(t testing.TB, zone string, facts []events.DunningOwed, end time.Time, seen func(access.Dunning, time.Time)) {
	t.Helper()
	def := access.Dunnings()
	var s access.Dunning
	var history []events.DunningOwed
	look := func(at time.Time) {
		if len(history) == 0 {
			return
		}
		list, err := def.Decide(s, review(zone, history...), at)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			s = def.Evolve(s, e)
		}
		if again, err := def.Decide(s, review(zone, history...), at); err != nil || len(again) > 0 {
			t.Fatalf("a second review at %v: %v %v", at, again, err)
		}
		if s.Reviewed.State.Rank() == 0 {
			history = history[len(history)-1:]
		}
		seen(s, at)
	}
	for i := range facts {
		history = append(history, facts[i])
		next := end
		if i+1 < len(facts) {
			next = facts[i+1].At
		}
		look(facts[i].At)
		for wake := s.Reviewed.WakeAt; !wake.IsZero() && wake.Before(next); wake = s.Reviewed.WakeAt {
			look(wake)
		}
	}
}

func TestReview_WalksThroughTheCourseOverTheChangeToSummerTime(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)
	due := time.Date(2026, 3, 26, 9, 0, 0, 0, time.UTC) // a Thursday, 10:00 in Berlin
	var got []string
	run(t, "Europe/Berlin", []events.DunningOwed{paid(from, due), paid(due.AddDate(0, 0, 20), due.AddDate(0, 1, 0))},
		due.AddDate(0, 0, 21), func(s access.Dunning, at time.Time) {
			got = append(got, string(s.Reviewed.State)+" "+at.Format("2006-01-02 15:04"))
		})
	want := []string{
		"none 2026-03-20 09:00", "reminding 2026-03-26 09:00",
		// Three days later is Sunday the 29th, so it waits for Monday, midnight by summer time.
		"walled_garden 2026-03-29 22:00", "suspended 2026-04-05 22:00", "none 2026-04-15 09:00",
	}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("step %d is %s, want %s", i, got[i], want[i])
		}
	}
}

// For random payments nobody who is paid up to now is ever cut, and the steps, taken one by one by reviews that see
// only the newest part of the history, are those of the course of the whole history.
func TestReview_NobodyWhoIsPaidUpIsCut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
		var facts []events.DunningOwed
		for range rapid.IntRange(1, 8).Draw(r, "facts") {
			at = at.Add(time.Duration(rapid.IntRange(1, 600).Draw(r, "pause")) * time.Hour)
			length := time.Duration(rapid.IntRange(-300, 800).Draw(r, "paid")) * time.Hour
			facts = append(facts, paid(at, at.Add(length)))
		}
		index, rules := 0, review("Africa/Nairobi").Rules
		var whole course.History
		for _, f := range facts {
			whole.Owed = append(whole.Owed, course.Owed{At: f.At, PaidUntil: f.PaidUntil})
		}
		way := course.Of(course.NewRules(rules.Policy, rules.Zone, nil), whole)
		run(t, "Africa/Nairobi", facts, at.AddDate(0, 3, 0), func(s access.Dunning, now time.Time) {
			for index+1 < len(facts) && !facts[index+1].At.After(now) {
				index++
			}
			if s.Reviewed.State.Cut() && facts[index].PaidUntil.After(now) {
				r.Fatalf("cut at %v although paid until %v", now, facts[index].PaidUntil)
			}
			if want := way.At(now).State; s.Reviewed.State != want {
				r.Fatalf("%s at %v, the course of the whole history says %s", s.Reviewed.State, now, want)
			}
			if s.State != s.Reviewed.State && !(s.State == "" && s.Reviewed.State == events.DunningNone) {
				r.Fatalf("state %s, reviewed %s", s.State, s.Reviewed.State)
			}
		})
	})
}

// A hold that begins in the grace adds its length, and a pause that is learned of after the cut gives access back.
func TestReview_PausesMoveTheCutAndGiveAccessBack(t *testing.T) {
	t.Parallel()
	def, zone := access.Dunnings(), "Africa/Nairobi"
	due := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) // a Monday, noon in Nairobi
	owed := review(zone, paid(due.AddDate(0, -1, 0), due))
	var s access.Dunning
	do := func(at time.Time, c commands.DunningCommand, state events.DunningState, next time.Time) {
		t.Helper()
		for _, c := range []commands.DunningCommand{c, owed} {
			list, err := def.Decide(s, c, at)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				s = def.Evolve(s, e)
			}
		}
		if s.Reviewed.State != state || !s.Reviewed.NextAt.Equal(next) {
			t.Errorf("at %v: %s, next %s at %v", at, s.Reviewed.State, s.Reviewed.NextState, s.Reviewed.NextAt)
		}
	}
	hour := func(n int) time.Time { return due.Add(time.Duration(n) * time.Hour) }
	do(hour(1), owed, events.DunningReminding, hour(72))
	do(hour(2), commands.PlaceHold{Subject: amina, Until: hour(14), Reason: "x"}, events.DunningReminding, hour(84))
	do(hour(8), commands.LiftHold{Subject: amina}, events.DunningReminding, hour(78)) // Thursday, 18:00 in Nairobi
	do(hour(78), owed, events.DunningWalledGarden, hour(78+7*24))
	do(hour(79), commands.StopClock{Subject: amina, Cause: "no_line", From: hour(76)}, events.DunningReminding,
		time.Time{})
	do(hour(80), commands.StartClock{Subject: amina, Cause: "no_line", Until: hour(80)},
		events.DunningReminding, hour(82))
}

func TestReview_TellsSinceWhenTheDueInstantHolds(t *testing.T) {
	t.Parallel()
	due := now.AddDate(0, 0, -20)
	debt := func(at time.Time, amount int64) events.DunningOwed {
		o := paid(at, due)
		o.Debts = []events.DunningDebt{{Amount: money.Major(amount, money.KES)}}
		return o
	}
	from := now.AddDate(0, 0, -40)
	owed := []events.DunningOwed{
		paid(from.Add(-time.Hour), due.AddDate(0, 0, -1)), debt(from, 1500), debt(now.Add(-time.Hour), 1499),
		debt(now, 1498),
	}
	def := access.Dunnings()
	list, err := def.Decide(access.Dunning{}, review("Africa/Nairobi", owed...), now)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := list[len(list)-1].(events.DunningReviewed)
	if !ok || !got.Since.Equal(from) {
		t.Errorf("since %v, want %v", got.Since, from)
	}
}

// Many short faults take none of the long pause away that the customer had in the same course, and none is added that
// is longer than the time between two faults.
func TestPauses_ManyShortOnesLoseNoneOfTheCourse(t *testing.T) {
	t.Parallel()
	def := access.Dunnings()
	due := now.AddDate(0, 0, -90)
	s := def.Evolve(access.Dunning{}, events.DunningBegan{
		DunningSubject: amina, DunningStep: events.DunningStep{DueAt: due, At: due},
	})
	pause := func(from time.Time, length time.Duration) {
		s = def.Evolve(s, events.DunningClockStarted{DunningSubject: amina, From: from, Until: from.Add(length)})
	}
	pause(due.AddDate(0, 0, -5), time.Hour) // before the course
	pause(due.Add(time.Hour), 30*24*time.Hour)
	for n := range 120 {
		pause(due.AddDate(0, 0, 40).Add(time.Duration(n)*time.Hour), time.Minute)
	}
	if len(s.Pauses) > 50 || !s.Pauses[0].From.Equal(due.Add(time.Hour)) ||
		!s.Pauses[0].Until.Equal(due.Add(721*time.Hour)) {
		t.Errorf("%d pauses are kept, the first %+v", len(s.Pauses), s.Pauses[0])
	}
	var sum time.Duration
	for _, p := range s.Pauses {
		sum += p.Until.Sub(p.From)
	}
	if least := 720*time.Hour + 120*time.Minute; sum < least || sum > least+120*time.Hour {
		t.Errorf("pauses of %v, want at least %v", sum, least)
	}
}

// TestDunning_APermissionToCutHoldsForAMoment: the review waited for a log that was away, and somebody may have paid
// meanwhile.
func TestDunning_APermissionToCutHoldsForAMoment(t *testing.T) {
	t.Parallel()
	garden := due.AddDate(0, 0, 3)
	var s access.Dunning
	decided(t, &s, owes(due), due)
	late := owes(due)
	late.CutsBy = garden
	if _, err := access.Dunnings().Decide(s, late, garden); failure.CodeOf(err) != commands.CodeCutsWait {
		t.Errorf("too late: %v", err)
	}
	late.CutsBy = garden.Add(1)
	if list := decided(t, &s, late, garden); len(list) != 1 {
		t.Errorf("in time: %+v", list)
	}
}

// TestReview_OnlyADecisionThatCutsHasAnEnd: who gets access back gets it however slow the log is, also when that is the
// walled garden alone, because the customer could not pay when the suspension came.
func TestReview_OnlyADecisionThatCutsHasAnEnd(t *testing.T) {
	t.Parallel()
	garden := due.AddDate(0, 0, 3)
	suspended := garden.AddDate(0, 0, 7)
	fault := events.DunningClockStopped{DunningSubject: amina, Cause: "no_payment", From: suspended.Add(-time.Hour)}
	def := access.Dunnings()
	var s access.Dunning
	for _, step := range []struct {
		at    time.Time
		owes  events.DunningOwed
		into  events.DunningState
		limit bool
	}{
		{due, owes(due).Owed[0], events.DunningReminding, false},
		{garden, owes(due).Owed[0], events.DunningWalledGarden, true},
		{suspended, owes(due).Owed[0], events.DunningSuspended, true},
		{suspended.Add(time.Hour), owes(due).Owed[0], events.DunningWalledGarden, false},
		{suspended.Add(2 * time.Hour), events.DunningOwed{At: suspended.Add(2 * time.Hour)}, events.DunningNone, false},
	} {
		c := owes(due)
		c.Owed = append(c.Owed, step.owes)
		c.CutsBy = step.at.Add(3 * time.Second)
		list := decided(t, &s, c, step.at)
		if s.State != step.into {
			t.Fatalf("%+v, want %s", list, step.into)
		}
		if by := def.Until(c, list); by.IsZero() == step.limit || step.limit && !by.Equal(c.CutsBy) {
			t.Errorf("%+v may be appended until %v", list, by)
		}
		if s.State == events.DunningSuspended {
			s = def.Evolve(s, fault)
		}
	}
	if by := def.Until(commands.LiftHold{}, []events.DunningEvent{events.ServiceSuspended{}}); !by.IsZero() {
		t.Errorf("another command has an end: %v", by)
	}
}
