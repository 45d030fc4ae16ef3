package access_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// amina is the subscription of these tests, and due its due instant.
var (
	amina = events.DunningSubject{
		SubscriptionID: id.Derive[id.Subscription]("amina"), OrgID: org,
		SubscriberID: id.Derive[id.Subscriber]("amina"),
	}
	due = now.Add(-72 * time.Hour)
)

// owes is a review of 1,500 shillings that were due at an instant, by rules without times in which nobody is cut.
func owes(due time.Time, days ...int) commands.ReviewDunning {
	o := paid(due.AddDate(0, -1, 0), due)
	o.Debts = []events.DunningDebt{{Amount: money.Major(1500, money.KES)}}
	c := review("Africa/Nairobi", o)
	c.Rules.Policy.ReminderDays, c.Rules.Policy.NoCutDays, c.Rules.Policy.NoCutAfter = days, nil, nil
	return c
}

// into is the recorded form of a step of owes(due).
func into(before events.DunningState, reason string, planned, at time.Time) events.DunningStep {
	return events.DunningStep{
		Before: before, DueAt: due, Due: money.Major(1500, money.KES), Reason: reason, Planned: planned, At: at,
		InvoiceIDs: []id.Invoice{{}},
	}
}

// decided are the events of a review but for the last one, which tells what comes next.
func decided(t *testing.T, s *access.Dunning, c commands.ReviewDunning, at time.Time) []events.DunningEvent {
	t.Helper()
	def := access.Dunnings()
	list, err := def.Decide(*s, c, at)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		*s = def.Evolve(*s, e)
	}
	if again, err := def.Decide(*s, c, at); err != nil || len(again) > 0 {
		t.Fatalf("a second review: %v %v", again, err)
	}
	if n := len(list); n > 0 {
		if _, last := list[n-1].(events.DunningReviewed); last {
			list = list[:n-1]
		}
	}
	return list
}

func TestDunning_StepsAreRecordedOnceAndAPaymentEndsThem(t *testing.T) {
	t.Parallel()
	garden, suspension := due.AddDate(0, 0, 3), due.AddDate(0, 0, 10)
	writeOff := due.AddDate(0, 0, 60)
	var s access.Dunning
	for _, step := range []struct {
		at   time.Time
		want events.DunningEvent
	}{
		{due, events.DunningBegan{DunningSubject: amina, DunningStep: into(events.DunningNone, "due", due, due)}},
		{garden, events.WalledGardenEntered{
			DunningSubject: amina, DunningStep: into(events.DunningReminding, "grace_over", garden, garden),
		}},
		{suspension, events.ServiceSuspended{
			DunningSubject: amina,
			DunningStep:    into(events.DunningWalledGarden, "walled_garden_over", suspension, suspension),
		}},
		{writeOff, events.WriteOffProposed{
			DunningSubject: amina,
			DunningStep:    into(events.DunningSuspended, "write_off_days_over", writeOff, writeOff),
		}},
	} {
		early := decided(t, &s, owes(due), step.at.Add(-1))
		if len(early) > 0 {
			t.Errorf("before %v: %v", step.at, early)
		}
		if diff := cmp.Diff([]events.DunningEvent{step.want}, decided(t, &s, owes(due), step.at)); diff != "" {
			t.Error(diff)
		}
	}
	end := commands.ReviewDunning{
		Subject: amina, Rules: owes(due).Rules,
		Owed: append(owes(due).Owed, paid(writeOff.Add(1), writeOff.AddDate(0, 1, 0))),
	}
	want := []events.DunningEvent{events.DunningEnded{
		DunningSubject: amina, Before: events.DunningWrittenOff, Reason: "owed_changed", At: writeOff.Add(1),
	}}
	if diff := cmp.Diff(want, decided(t, &s, end, writeOff.Add(1))); diff != "" {
		t.Error(diff)
	}
}

// TestDunning_WhatIsNotDueYetIsInNoStepAndNoReminder: who pays invoices has that of the running period beside the one
// that was not paid.
func TestDunning_WhatIsNotDueYetIsInNoStepAndNoReminder(t *testing.T) {
	t.Parallel()
	c := owes(due, -3)
	today := calendar.On(due, c.Rules.Zone)
	late, next := id.Derive[id.Invoice]("late"), id.Derive[id.Invoice]("next")
	c.Owed = []events.DunningOwed{{At: due.AddDate(0, -1, 0), Debts: []events.DunningDebt{
		{InvoiceID: late, DueOn: today, Amount: money.Major(1500, money.KES)},
		{InvoiceID: next, DueOn: today.AddDays(30), Amount: money.Major(1500, money.KES)},
	}}}
	midnight := today.AddDays(1).Start(c.Rules.Zone)
	steps := func(at time.Time, s *access.Dunning) (told []string) {
		for _, e := range decided(t, s, c, at) {
			switch e := e.(type) {
			case events.DunningBegan:
				told = append(told, fmt.Sprintf("began %v %v", e.Due, e.InvoiceIDs))
			case events.DunningReminded:
				told = append(told, fmt.Sprint("reminded ", e.Due))
			case events.WalledGardenEntered:
				told = append(told, fmt.Sprintf("garden %v %v", e.Due, e.InvoiceIDs))
			}
		}
		return told
	}
	var s access.Dunning
	got := append(steps(midnight.AddDate(0, 0, -4).Add(12*time.Hour), &s), steps(midnight.AddDate(0, 0, 3), &s)...)
	want := []string{
		fmt.Sprintf("began KES 0.00 [%v]", late), "reminded KES 1500.00",
		fmt.Sprintf("garden KES 1500.00 [%v]", late),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDunning_SurvivesTheClosingOfItsStream(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, access.Dunnings(), due).BelongsTo(id.Organization{}, "not_found")
	s.When(owes(due, 0)).ThenEvents()
	s.BelongsTo(org, "not_found").SurvivesClosing().At(due.AddDate(0, 0, 3)).When(owes(due, 0)).ThenEvents()
	s.SurvivesClosing().When(owes(due, 0)).ThenNothing()
}

func TestDunning_ADayIsRemindedOnceForEachDueInstant(t *testing.T) {
	t.Parallel()
	morning := time.Date(due.Year(), due.Month(), due.Day(), 8, 0, 0, 0, time.UTC) // in the message hours of the day
	until := morning.Add(9 * time.Hour)
	var s access.Dunning
	reminded := func(due, at time.Time) (days []int) {
		for _, e := range decided(t, &s, owes(due, 0), at) {
			if e, ok := e.(events.DunningReminded); ok && e.DueAt.Equal(due) && e.Due == money.Major(1500, money.KES) {
				days = append(days, e.Day)
			}
		}
		return days
	}
	first, second := reminded(until, morning), reminded(until, morning.Add(time.Hour))
	moved, again := reminded(until.Add(time.Hour), morning.Add(2*time.Hour)), reminded(until.Add(time.Hour), until)
	if diff := cmp.Diff([][]int{{0}, nil, {0}, nil}, [][]int{first, second, moved, again}); diff != "" {
		t.Error(diff)
	}
}

func TestDunning_AHoldEndsInTheFutureAndIsReplacedByTheNext(t *testing.T) {
	t.Parallel()
	place := func(until time.Time) commands.PlaceHold {
		return commands.PlaceHold{Subject: amina, Until: until, Reason: "in hospital"}
	}
	placed := func(from, until, at time.Time) events.HoldPlaced {
		return events.HoldPlaced{
			DunningSubject: amina, From: from, Until: until, Reason: personal.Of("in hospital"), At: at,
		}
	}
	lift := commands.LiftHold{Subject: amina}
	week, two, after := now.Add(168*time.Hour), now.Add(336*time.Hour), now.Add(400*time.Hour)
	s := decidertest.For(t, access.Dunnings(), now).
		When(place(now)).ThenFails("invalid_input").
		When(place(now.Add(-time.Hour))).ThenFails("invalid_input").
		When(place(now.Add(6 * 366 * 24 * time.Hour))).ThenFails("invalid_input").
		When(lift).ThenNothing().
		When(place(week)).Then(placed(now, week, now)).When(place(week)).ThenNothing().SurvivesClosing()
	if !s.State().Held(now) || s.State().Held(week) {
		t.Errorf("held: %+v", s.State())
	}
	day := now.Add(24 * time.Hour)
	s.At(day).When(place(two)).Then(placed(now, two, day)).
		When(lift).Then(events.HoldLifted{DunningSubject: amina, From: now, At: day}).When(lift).ThenNothing().
		When(place(two)).Then(placed(day, two, day)).
		At(after).When(lift).ThenNothing().
		When(place(after.Add(time.Hour))).Then(placed(after, after.Add(time.Hour), after))
}

func TestDunning_EachCauseStopsTheClockByItself(t *testing.T) {
	t.Parallel()
	from, until := now.Add(-2*time.Hour), now.Add(-time.Hour)
	stop := func(cause string, from time.Time) commands.StopClock {
		return commands.StopClock{Subject: amina, Cause: cause, From: from}
	}
	start := func(until time.Time) commands.StartClock {
		return commands.StartClock{Subject: amina, Cause: "router_unreachable", Until: until}
	}
	decidertest.For(t, access.Dunnings(), now).
		When(start(until)).ThenNothing().
		When(stop("router_unreachable", from)).Then(events.DunningClockStopped{
		DunningSubject: amina, Cause: "router_unreachable", From: from, At: now,
	}).When(stop("router_unreachable", until)).ThenNothing().
		When(stop("no_receipts", until)).Then(events.DunningClockStopped{
		DunningSubject: amina, Cause: "no_receipts", From: until, At: now,
	}).SurvivesClosing().
		When(start(until)).Then(events.DunningClockStarted{
		DunningSubject: amina, Cause: "router_unreachable", From: from, Until: until, At: now,
	}).When(start(until)).ThenNothing().
		When(stop("router_unreachable", until)).Then(events.DunningClockStopped{
		DunningSubject: amina, Cause: "router_unreachable", From: until, At: now,
	}).When(start(from)).Then(events.DunningClockStarted{
		DunningSubject: amina, Cause: "router_unreachable", From: until, Until: until, At: now,
	})
}

// TestDunning_AStopOfAClockThatWasAheadIsOfNow: its beginning and its end; refused, neither would ever be recorded.
func TestDunning_AStopOfAClockThatWasAheadIsOfNow(t *testing.T) {
	t.Parallel()
	ahead, later := now.AddDate(0, 0, 30), now.Add(time.Hour)
	stop := commands.StopClock{Subject: amina, Cause: "router_unreachable", From: ahead}
	place, start := stop, commands.StartClock{Subject: amina, Cause: "router_unreachable", Until: ahead}
	place.Misplaced = true
	decidertest.For(t, access.Dunnings(), now).When(place).ThenNothing().When(stop).Then(events.DunningClockStopped{
		DunningSubject: amina, Cause: "router_unreachable", From: now, At: now,
	}).At(later).When(start).Then(events.DunningClockStarted{
		DunningSubject: amina, Cause: "router_unreachable", From: now, Until: later, At: later,
	})
	decidertest.For(t, access.Dunnings(), ahead).When(stop).Then(events.DunningClockStopped{
		DunningSubject: amina, Cause: "router_unreachable", From: ahead, At: ahead,
	}).At(now).When(place).Then(events.DunningClockStopped{
		DunningSubject: amina, Cause: "router_unreachable", From: now, At: now,
	}).When(stop).ThenNothing().When(place).Then(events.DunningClockStopped{ // whoever asks has not heard of it
		DunningSubject: amina, Cause: "router_unreachable", From: now, At: now,
	}).At(later).When(start).Then(events.DunningClockStarted{
		DunningSubject: amina, Cause: "router_unreachable", From: now, Until: later, At: later,
	})
	decidertest.For(t, access.Dunnings(), ahead).When(stop).Then(events.DunningClockStopped{
		DunningSubject: amina, Cause: "router_unreachable", From: ahead, At: ahead,
	}).At(later).When(start).Then(events.DunningClockStarted{
		DunningSubject: amina, Cause: "router_unreachable", From: later, Until: later, At: later,
	})
}

// FuzzOpening checks that a stored opening is either a state that the next closing writes again, or a clear stop.
func FuzzOpening(f *testing.F) {
	def := access.Dunnings()
	held := def.Evolve(access.Dunning{}, events.HoldPlaced{DunningSubject: amina, From: now, Until: now.Add(1)})
	stopped := def.Evolve(held, events.DunningClockStopped{DunningSubject: amina, Cause: "c", From: now})
	f.Add(def.Close(stopped).(events.DunningPeriodClosed).Opening)
	f.Add([]byte(`{}`))
	f.Add([]byte(``))
	f.Add([]byte(`{"Reminded":[1],"State":"suspended"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		first, panicked := reopened(body)
		if panicked != "" {
			if !strings.Contains(panicked, "opening") {
				t.Fatalf("%s stops with %s", body, panicked)
			}
			return
		}
		if second, panicked := reopened(first); panicked != "" || !bytes.Equal(first, second) {
			t.Fatal(cmp.Diff(string(first), string(second)), panicked)
		}
	})
}

// reopened reads an opening and closes the period again; a panic gives its text.
func reopened(body []byte) (out []byte, panicked string) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprint(p)
		}
	}()
	def := access.Dunnings()
	s := def.Evolve(access.Dunning{}, events.DunningPeriodClosed{Opening: body})
	return def.Close(s).(events.DunningPeriodClosed).Opening, ""
}

// TestReview_WhoPaysOnTheDayOfAReminderIsNotRemindedAgain: in the message hours of a reminder that was sent.
func TestReview_WhoPaysOnTheDayOfAReminderIsNotRemindedAgain(t *testing.T) {
	t.Parallel()
	begin, morning := midnight(t, "02-01"), midnight(t, "02-28").Add(8*time.Hour)
	pays := morning.Add(time.Minute)
	for name, owed := range map[string][2]events.DunningOwed{
		"postpaid":                     {owing(begin, "02-28"), owing(pays)},
		"postpaid, another month left": {owing(begin, "02-28", "03-31"), owing(pays, "03-31")},
		"prepaid":                      {paid(begin, midnight(t, "03-01")), paid(pays, midnight(t, "04-01"))},
	} {
		r := &reviews{t: t}
		c := review("Africa/Nairobi", owed[0])
		c.Rules.Policy.ReminderDays = []int{0}
		list := decided(t, &r.s, c, morning)
		if _, reminded := list[len(list)-1].(events.DunningReminded); !reminded {
			t.Errorf("%s: nobody is reminded: %+v", name, list)
		}
		c.Owed = owed[:]
		list = decided(t, &r.s, c, pays)
		if _, ended := list[0].(events.DunningEnded); !ended || len(list) > 1 {
			t.Errorf("%s: after the payment %+v", name, list)
		}
	}
}
