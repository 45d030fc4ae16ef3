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

// move is a step of the course that began at due.
func move(reason string) commands.DunningMove {
	return commands.DunningMove{DueAt: due, Due: money.Major(1500, money.KES), Reason: reason, Planned: now}
}

// into is the recorded form of move.
func into(before events.DunningState, reason string, at time.Time) events.DunningStep {
	return events.DunningStep{
		Before: before, DueAt: due, Due: money.Major(1500, money.KES), Reason: reason, Planned: now, At: at,
	}
}

func TestDunning_StepsAreRecordedOnceAndAPaymentEndsThem(t *testing.T) {
	t.Parallel()
	later := now.Add(7 * 24 * time.Hour)
	begin := commands.BeginDunning{Subject: amina, Move: move("due")}
	garden := commands.EnterWalledGarden{Subject: amina, Move: move("grace_over")}
	suspend := commands.SuspendService{Subject: amina, Move: move("walled_garden_over")}
	propose := commands.ProposeWriteOff{Subject: amina, Move: move("write_off_days_over")}
	end := commands.EndDunning{Subject: amina, Reason: "owed_changed"}
	decidertest.For(t, access.Dunnings(), now).BelongsTo(id.Organization{}, "not_found").
		When(end).ThenNothing().
		When(begin).Then(events.DunningBegan{
		DunningSubject: amina, DunningStep: into(events.DunningNone, "due", now),
	}).When(begin).ThenNothing().BelongsTo(org, "not_found").
		When(garden).Then(events.WalledGardenEntered{
		DunningSubject: amina, DunningStep: into(events.DunningReminding, "grace_over", now),
	}).When(garden).ThenNothing().SurvivesClosing().At(later).
		When(suspend).Then(events.ServiceSuspended{
		DunningSubject: amina, DunningStep: into(events.DunningWalledGarden, "walled_garden_over", later),
	}).When(suspend).ThenNothing().
		When(propose).Then(events.WriteOffProposed{
		DunningSubject: amina, DunningStep: into(events.DunningSuspended, "write_off_days_over", later),
	}).When(propose).ThenNothing().
		When(end).Then(events.DunningEnded{
		DunningSubject: amina, Before: events.DunningWrittenOff, Reason: "owed_changed", At: later,
	}).When(end).ThenNothing().SurvivesClosing()
}

func TestDunning_AnotherDueInstantIsAnotherStepIntoTheSameState(t *testing.T) {
	t.Parallel()
	next := move("owed_changed")
	next.DueAt = due.Add(24 * time.Hour)
	s := decidertest.For(t, access.Dunnings(), now).
		Given(events.DunningBegan{DunningSubject: amina, DunningStep: into(events.DunningNone, "due", now)})
	s.When(commands.BeginDunning{Subject: amina, Move: next}).ThenEvents()
	if !s.State().DueAt.Equal(next.DueAt) {
		t.Errorf("%+v", s.State())
	}
}

func TestDunning_ADayIsRemindedOnceForEachDueInstant(t *testing.T) {
	t.Parallel()
	remind := commands.RemindCustomer{Subject: amina, Day: -3, DueAt: due}
	reminded := events.DunningReminded{DunningSubject: amina, Day: -3, DueAt: due, At: now}
	again := remind
	again.DueAt = due.Add(720 * time.Hour)
	decidertest.For(t, access.Dunnings(), now).
		When(remind).Then(reminded).When(remind).ThenNothing().
		When(commands.BeginDunning{Subject: amina, Move: move("due")}).Then(events.DunningBegan{
		DunningSubject: amina, DunningStep: into(events.DunningNone, "due", now),
	}).When(remind).ThenNothing().SurvivesClosing().
		When(again).Then(events.DunningReminded{DunningSubject: amina, Day: -3, DueAt: again.DueAt, At: now})
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
		When(stop("router_unreachable", now.Add(1))).ThenFails("invalid_input").
		When(stop("router_unreachable", from)).Then(events.DunningClockStopped{
		DunningSubject: amina, Cause: "router_unreachable", From: from, At: now,
	}).When(stop("router_unreachable", until)).ThenNothing().
		When(stop("no_receipts", until)).Then(events.DunningClockStopped{
		DunningSubject: amina, Cause: "no_receipts", From: until, At: now,
	}).SurvivesClosing().
		When(start(now.Add(1))).ThenFails("invalid_input").
		When(start(until)).Then(events.DunningClockStarted{
		DunningSubject: amina, Cause: "router_unreachable", From: from, Until: until, At: now,
	}).When(start(until)).ThenNothing().
		When(stop("router_unreachable", until)).Then(events.DunningClockStopped{
		DunningSubject: amina, Cause: "router_unreachable", From: until, At: now,
	}).When(start(from)).Then(events.DunningClockStarted{
		DunningSubject: amina, Cause: "router_unreachable", From: until, Until: until, At: now,
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
