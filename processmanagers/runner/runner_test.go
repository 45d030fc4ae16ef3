package processrunner_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

func TestRunner_CommandsAndJobsOfAnEventCarryItsStory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t, "courier")
	b.happen("p1", "deliver", "ring")
	b.office.until(t, "done", func() bool { return len(b.office.acts) == 2 && len(b.office.jobs) == 1 })
	event := b.log.Events()[0]
	for i, why := range []string{"0", "again"} {
		got := b.office.acts[i]
		if got.Cmd != (deliver{"p1", why}) {
			t.Errorf("command %d is %+v", i, got.Cmd)
		}
		if got.Meta.OrgID != meta.OrgID || got.Meta.CorrelationID != "the story" ||
			got.Meta.CausationID != event.ID.String() ||
			got.Meta.Actor != (events.Actor{Kind: events.ActorProcess, ID: "courier"}) {
			t.Errorf("command %d has %+v", i, got.Meta)
		}
	}
	if c := b.office.causes[0]; c.Actor != meta.Actor || c.CorrelationID != "the story" || c.OrgID != meta.OrgID {
		t.Errorf("the job has %+v", c)
	}
	poll(t, "emptied", func() bool { return b.rows(t, "commands") == 0 })
}

func TestRunner_InstancesSeeTheirEventsInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	var last uint64
	const parcels, steps = 20, 30
	for step := range steps {
		for no := range parcels {
			last = b.happen(fmt.Sprint("p", no), fmt.Sprint("step ", step))
		}
	}
	taken(t, r, "courier", last)
	var want []string
	for step := range steps {
		want = append(want, fmt.Sprint("step ", step))
	}
	for no := range parcels {
		if diff := cmp.Diff(want, b.seen(t, "courier", fmt.Sprint("p", no))); diff != "" {
			t.Errorf("p%d: %s", no, diff)
		}
	}
}

func TestRunner_TakesEveryEventOnceThroughRestarts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var want []string
	var last uint64
	for round := range 5 {
		r := b.open(t, "courier")
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for step := range 40 {
			w := fmt.Sprint("step ", round, " ", step)
			want = append(want, w)
			for no := range 5 {
				last = b.happen(fmt.Sprint("p", no), w)
			}
		}
		r.Stop() // while events are being taken
	}
	taken(t, b.start(t, "courier"), "courier", last)
	for no := range 5 {
		if diff := cmp.Diff(want, b.seen(t, "courier", fmt.Sprint("p", no))); diff != "" {
			t.Errorf("p%d: %s", no, diff)
		}
	}
}

func TestRunner_RedeliveredEventsAreIgnored(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.open(t, "courier")
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken(t, first, "courier", b.happen("p1", "deliver", "ring", "on", "over"))
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
	poll(t, "emptied", func() bool { return b.rows(t, "commands") == 0 })
	first.Stop()
	if _, err := b.db.Owner.Exec(t.Context(),
		`update `+b.db.Namespace.Schema("processes")+`.processes set checkpoint = 0`); err != nil {
		t.Fatal(err)
	}
	// Whether the row of the ended instance was deleted depends on the checkpoint. The outputs have the same ids in
	// both cases.
	taken(t, b.start(t, "courier"), "courier", b.happen("p2", "on"))
	poll(t, "emptied", func() bool { return b.rows(t, "commands") == 0 })
	if len(b.office.acts) != 2 || len(b.office.jobs) != 1 {
		t.Errorf("%d commands acted and %d jobs, want 2 and 1", len(b.office.acts), len(b.office.jobs))
	}
}

func TestRunner_HistoryIsNeverReplayedAtCustomers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.happen("p1", "deliver", "ring", "wait")
	b.happen("p2", "wait", "calm")
	b.clock.Advance(24 * time.Hour) // the timer of p1 is long overdue
	r := b.start(t, "courier")
	taken(t, r, "courier", b.happen("p3", "on"))
	b.office.until(t, "reminded", func() bool { return len(b.office.jobs) == 1 })
	poll(t, "taken", func() bool { return b.rows(t, "timers") == 0 })
	for _, job := range b.office.jobs {
		if job.No != "late" {
			t.Errorf("a job of the past was enqueued: %+v", job)
		}
	}
	if len(b.office.acts) != 0 {
		t.Errorf("commands of the past were executed: %+v", b.office.acts)
	}
	if diff := cmp.Diff([]string{"deliver", "ring", "wait", "timeout patience"},
		b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
	b.happen("p3", "deliver")
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
}

func TestRebuild_DerivesTheSameStateWithoutOutputs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.open(t, "courier")
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken(t, r, "courier", b.happen("p1", "deliver", "ring", "wait"))
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
	if err := b.open(t, "courier").Rebuild(t.Context(), "courier"); err == nil {
		t.Error("a driven process was rebuilt")
	}
	r.Stop()
	before := b.seen(t, "courier", "p1")
	again := b.open(t, "courier")
	if err := again.Rebuild(t.Context(), "courier"); err != nil {
		t.Fatal(err)
	}
	taken(t, b.start(t, "courier"), "courier", b.happen("p2", "on"))
	if diff := cmp.Diff(before, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
	if len(b.office.acts) != 2 || len(b.office.jobs) != 1 || b.rows(t, "timers") != 1 {
		t.Errorf("%d commands, %d jobs, %d timers", len(b.office.acts), len(b.office.jobs), b.rows(t, "timers"))
	}
}

func TestTimer_FiresWhenTheClockSaysSoAndNotWhenDisarmed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	b.happen("p1", "wait")
	taken(t, r, "courier", b.happen("p2", "wait", "calm"))
	b.clock.Advance(59 * time.Minute)
	taken(t, r, "courier", b.happen("p3", "wait"))
	if len(b.office.jobs) != 0 {
		t.Error("a timer fired too early")
	}
	b.clock.Advance(2 * time.Minute)
	b.office.until(t, "fired", func() bool { return len(b.office.jobs) == 1 })
	poll(t, "taken", func() bool { return b.rows(t, "timers") == 1 }) // of p3
	if diff := cmp.Diff([]string{"wait", "timeout patience"}, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
	if c := b.office.causes[0]; c.CorrelationID != "the story" || c.OrgID != meta.OrgID {
		t.Errorf("a timer's job has %+v", c)
	}
}

func TestCommand_RefusedIsAnInput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.office.setAnswer(func(d deliver) error {
		if d.Why == "again" {
			return failure.NewConflict("nobody_home", "")
		}
		return nil
	})
	b.start(t, "courier")
	b.happen("p1", "deliver")
	b.office.until(t, "redirected", func() bool { return len(b.office.acts) == 2 })
	if got := b.office.acts[1]; got.Cmd != (deliver{"neighbour", "refused"}) || got.Meta.CorrelationID != "the story" {
		t.Errorf("got %+v", got)
	}
	poll(t, "emptied", func() bool { return b.rows(t, "commands") == 0 })
	if diff := cmp.Diff([]string{"deliver", "refusal nobody_home"}, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
}

func TestCommand_IsTriedAgainInOrderUntilItIsTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var tries atomic.Int64
	b.office.setAnswer(func(d deliver) error {
		if d.No != "p1" {
			return nil
		}
		switch tries.Add(1) {
		case 1:
			return failure.NewUnavailable("eventstore_unavailable", "", 0, nil)
		case 2:
			return failure.NewConflict("concurrent_change", "")
		case 3:
			return fmt.Errorf("something unexpected")
		}
		return nil
	})
	b.start(t, "courier")
	b.happen("p1", "deliver")
	b.happen("p2", "deliver")
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 4 })
	var ofP1 []string
	for _, a := range b.office.acts {
		if a.Cmd.No == "p1" {
			ofP1 = append(ofP1, a.Cmd.Why)
		}
	}
	if diff := cmp.Diff([]string{"0", "again"}, ofP1); diff != "" {
		t.Error(diff)
	}
}

func TestCommand_LeftByAStoppedProgramIsExecutedByTheNext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.office.setAnswer(func(deliver) error { return failure.NewUnavailable("away", "", 0, nil) })
	r := b.open(t, "courier")
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken(t, r, "courier", b.happen("p1", "deliver"))
	r.Stop()
	if n := b.rows(t, "commands"); n != 2 {
		t.Fatalf("%d commands left, want 2", n)
	}
	b.office.setAnswer(nil)
	b.start(t, "courier")
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
}

func TestRunner_EventToCommandTakesMilliseconds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t, "courier")
	var slowest []time.Duration
	for i := range 20 {
		began := time.Now() //nolint:forbidigo // measures
		b.happen(fmt.Sprint("p", i), "deliver")
		b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2*i+2 })
		slowest = append(slowest, time.Since(began)) //nolint:forbidigo // measures
	}
	slices.Sort(slowest)
	t.Logf("median %v, slowest %v", slowest[len(slowest)/2], slowest[len(slowest)-1])
	if slowest[len(slowest)/2] > 250*time.Millisecond { // polling instead of waking would take longer
		t.Errorf("median %v", slowest[len(slowest)/2])
	}
}
