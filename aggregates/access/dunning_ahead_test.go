package access_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// TestReview_APaymentOfAProgramWhoseClockIsAheadCountsAtOnce: what is dated later than the present is of the present.
func TestReview_APaymentOfAProgramWhoseClockIsAheadCountsAtOnce(t *testing.T) {
	t.Parallel()
	begin, now := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), midnight(t, "03-06")
	r := &reviews{t: t}
	r.look(midnight(t, "03-05"), owing(begin, "03-01"))
	r.is(events.DunningWalledGarden)
	r.look(now, owing(begin, "03-01"), owing(now.Add(time.Minute)))
	r.is(events.DunningNone)
}

// TestReview_APaymentAfterTheClockWasAheadIsTheLastWord: also beside one that is dated later.
func TestReview_APaymentAfterTheClockWasAheadIsTheLastWord(t *testing.T) {
	t.Parallel()
	begin, now := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), midnight(t, "03-06")
	for _, ahead := range []time.Duration{time.Hour, 24 * time.Hour, 366 * 24 * time.Hour} {
		r := &reviews{t: t}
		r.look(midnight(t, "03-05"), owing(begin, "03-01", "03-02"))
		part, rest := owing(now.Add(ahead), "03-02"), owing(now.Add(5*time.Minute))
		r.look(now.Add(ahead), owing(begin, "03-01", "03-02"), part)
		for _, after := range []time.Duration{5 * time.Minute, time.Hour, 24 * time.Hour, 30 * 24 * time.Hour} {
			r.look(now.Add(after), owing(begin, "03-01", "03-02"), part, rest)
			r.is(events.DunningNone)
		}
	}
}

// TestReview_AHoldOfAClockThatWasAheadHolds from the present on.
func TestReview_AHoldOfAClockThatWasAheadHolds(t *testing.T) {
	t.Parallel()
	one, garden := owing(time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), "03-01"), midnight(t, "03-05")
	r := &reviews{t: t}
	r.look(midnight(t, "03-02"), one)
	ahead := garden.Add(2 * time.Hour)
	list, err := access.Dunnings().Decide(r.s, commands.PlaceHold{
		Subject: amina, Until: garden.AddDate(0, 0, 30), Reason: "in hospital",
	}, ahead)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		r.s = access.Dunnings().Evolve(r.s, e)
	}
	for _, at := range []time.Time{garden.Add(-30 * time.Minute), garden, garden.AddDate(0, 0, 5)} {
		if r.look(at, one); r.s.State.Cut() {
			t.Errorf("%s at %s, on hold", r.s.State, at)
		}
	}
}

// TestReview_WhatAReviewFoundWhileTheClockWasAheadProvesNothing: the younger debt is in its days of grace.
func TestReview_WhatAReviewFoundWhileTheClockWasAheadProvesNothing(t *testing.T) {
	t.Parallel()
	begin, now := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), midnight(t, "04-01").Add(9*time.Hour)
	before, ahead := owing(begin, "02-28", "03-31"), now.AddDate(0, 0, 12)
	r := &reviews{t: t}
	for _, day := range []string{"03-01", "03-04", "03-11"} {
		r.look(midnight(t, day), before)
	}
	r.look(ahead, before, owing(ahead, "03-31"))
	r.is(events.DunningSuspended)
	r.look(now, before, owing(ahead, "03-31"))
	r.is(events.DunningReminding)
}

// TestReview_ADebtThatIsDatedAheadCountsFromTheFirstReviewOn: who is cut for it stays cut at times without cuts, and is
// suspended in time, also when the clock of dunning stood still before.
func TestReview_ADebtThatIsDatedAheadCountsFromTheFirstReviewOn(t *testing.T) {
	t.Parallel()
	begin := midnight(t, "03-02")
	for _, stood := range []bool{false, true} {
		r := &reviews{t: t}
		if stood {
			r.s = access.Dunnings().Evolve(r.s, events.DunningClockStarted{
				DunningSubject: amina, Cause: events.ClockNoLine,
				From: begin.AddDate(0, 0, -7), Until: begin.AddDate(0, 0, -6),
			})
		}
		ahead := owing(begin.AddDate(1, 0, 3), "02-10")
		r.look(begin, ahead)
		r.is(events.DunningWalledGarden)
		for day := range 60 {
			at := begin.AddDate(0, 0, day).Add(time.Hour)
			if r.look(at, ahead); !r.s.State.Cut() {
				t.Errorf("stood %t, %s: %s", stood, at, r.s.State)
			}
			if off := !at.Before(begin.AddDate(0, 0, 7)); r.s.State.Off() != off {
				t.Errorf("stood %t, %s: %s", stood, at, r.s.State)
			}
		}
	}
}

// do has a command decided and what follows from it recorded.
func (r *reviews) do(c commands.DunningCommand, at time.Time) {
	r.t.Helper()
	list, err := access.Dunnings().Decide(r.s, c, at)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range list {
		r.s = access.Dunnings().Evolve(r.s, e)
	}
}

// TestReview_AHoldOfAClockThatWasAheadLeavesTheDaysWhenItIsLifted: and it takes back no cut.
func TestReview_AHoldOfAClockThatWasAheadLeavesTheDaysWhenItIsLifted(t *testing.T) {
	t.Parallel()
	one := owing(time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), "03-01") // until midnight of 03-05 is grace
	for _, ahead := range []time.Duration{0, 12 * 24 * time.Hour, 366 * 24 * time.Hour} {
		for _, looks := range [][]int{nil, {2, 5, 8}} {
			for day, state := range map[string]events.DunningState{
				"03-02": events.DunningReminding, "03-05": events.DunningWalledGarden,
			} {
				r := &reviews{t: t}
				r.look(midnight(t, day), one)
				r.is(state)
				right := midnight(t, day).Add(9 * time.Hour)
				r.do(commands.PlaceHold{
					Subject: amina, Until: right.Add(ahead).AddDate(0, 0, 30), Reason: "in hospital",
				}, right.Add(ahead))
				r.look(right.Add(ahead), one)
				for _, days := range looks {
					r.look(right.AddDate(0, 0, days), one)
				}
				lift := right.AddDate(0, 0, 8)
				r.do(commands.LiftHold{Subject: amina}, lift)
				r.look(lift, one)
				r.is(state)
				if left := r.s.Reviewed.NextAt.Sub(lift); left < 48*time.Hour || left > 8*24*time.Hour {
					t.Errorf("%s ahead on %s: the next step comes %s after the end of the hold", ahead, day, left)
				}
				if p := r.s.Pauses[0]; p.From.After(p.Until) || !p.Until.Equal(lift) {
					t.Errorf("%s ahead: the hold was %+v", ahead, p)
				}
			}
		}
	}
}

// TestReview_ClocksOfTwoProgramsMakeAHoldNoLonger: they are never exactly the same.
func TestReview_ClocksOfTwoProgramsMakeAHoldNoLonger(t *testing.T) {
	t.Parallel()
	one := owing(time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), "03-01")
	r := &reviews{t: t}
	r.look(midnight(t, "03-02"), one)
	at := midnight(t, "03-04")
	r.do(commands.PlaceHold{Subject: amina, Until: at.AddDate(0, 0, 30), Reason: "in hospital"}, at.Add(time.Second))
	r.look(at, one)
	r.do(commands.LiftHold{Subject: amina}, at.AddDate(0, 0, 5))
	r.look(at.AddDate(0, 0, 5), one)
	if want := midnight(t, "03-10"); !r.s.Reviewed.NextAt.Equal(want) { // a day was left
		t.Errorf("cut at %s, want %s", r.s.Reviewed.NextAt, want)
	}
}

// TestReview_AHoldThatReplacesOneOfAClockThatWasAheadIsTheOnlyOne: the other one does not go on behind it.
func TestReview_AHoldThatReplacesOneOfAClockThatWasAheadIsTheOnlyOne(t *testing.T) {
	t.Parallel()
	right := midnight(t, "03-02").Add(9 * time.Hour)
	r := &reviews{t: t}
	r.look(right.Add(-time.Hour), owing(right.AddDate(0, 0, -20), "03-01"))
	ahead := right.AddDate(0, 0, 12)
	r.do(commands.PlaceHold{Subject: amina, Until: ahead.AddDate(0, 0, 30), Reason: "in hospital"}, ahead)
	r.do(commands.PlaceHold{Subject: amina, Until: right.AddDate(0, 0, 2), Reason: "in hospital"}, right)
	if len(r.s.Pauses) > 0 || r.s.HoldFrom.After(right) || !r.s.HoldUntil.Equal(right.AddDate(0, 0, 2)) {
		t.Errorf("on hold from %s to %s, before that %+v", r.s.HoldFrom, r.s.HoldUntil, r.s.Pauses)
	}
}

// TestReview_APauseThatEndedWhileTheClockWasAheadLastsNoLonger than until something came after its end.
func TestReview_APauseThatEndedWhileTheClockWasAheadLastsNoLonger(t *testing.T) {
	t.Parallel()
	one := owing(time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC), "03-01") // until midnight of 03-05 is grace
	begin := midnight(t, "03-03")
	for _, ahead := range []time.Duration{0, 24 * time.Hour, 365 * 24 * time.Hour} {
		end := begin.Add(time.Hour + ahead)
		for name, pause := range map[string][2]commands.DunningCommand{
			"hold": {
				commands.PlaceHold{Subject: amina, Until: begin.AddDate(2, 0, 0), Reason: "in hospital"},
				commands.LiftHold{Subject: amina},
			},
			"fault": {
				commands.StopClock{Subject: amina, Cause: events.ClockNoLine, From: begin},
				commands.StartClock{Subject: amina, Cause: events.ClockNoLine, Until: end},
			},
		} {
			r := &reviews{t: t}
			r.look(midnight(t, "03-02"), one)
			r.do(pause[0], begin)
			r.do(pause[1], end)
			r.look(begin.Add(2*time.Hour), one) // the clock is right again
			r.is(events.DunningReminding)
			if late := r.s.Reviewed.NextAt.Sub(midnight(t, "03-05")); late > 4*24*time.Hour { // over the weekend
				t.Errorf("%s that ended %s ahead: cut %s after the grace", name, ahead, late)
			}
		}
	}
}
