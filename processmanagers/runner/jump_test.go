package processrunner_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// alarms is a process that arms a timer for each parcel, as many hours after noon as the event's What says, and notes
// the instants of those that fired. The What "hold" waits until held is closed.
type alarms struct {
	held chan struct{}
	past time.Duration // after the hour

	mu    sync.Mutex
	fired []time.Time
}

// process makes the definition for the engine.
func (a *alarms) process() processmanagers.Process[trip] {
	return processmanagers.Process[trip]{
		Name: "alarms", On: []processmanagers.Handled{processmanagers.On(func(e parcel) string { return e.No })},
		Decide: func(_ trip, in processmanagers.Input, _ time.Time) (out processmanagers.Output, _ error) {
			if in.Timeout != nil {
				a.mu.Lock()
				a.fired = append(a.fired, in.Timeout.Due)
				a.mu.Unlock()
				return out, nil
			}
			if word(in) == "hold" {
				<-a.held
				return out, nil
			}
			hours, err := strconv.Atoi(word(in))
			at := noon.Add(time.Duration(hours)*time.Hour + a.past)
			out.Timers = []processmanagers.Timer{{Name: "alarm", At: at}}
			return out, err
		},
		Evolve: func(s trip, _ processmanagers.Input) trip { return s },
	}
}

// all gives the instants of the timers that fired, in the order in which they were taken.
func (a *alarms) all() []time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.fired)
}

func TestTimer_AJumpFiresAllInTheOrderOfTheirInstants(t *testing.T) {
	t.Parallel()
	b, a := newBench(t), &alarms{}
	r := b.open(t)
	r.Register(a.process())
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	const timers = 20
	var last uint64
	for n := range timers {
		last = b.happen(fmt.Sprint("p", n), fmt.Sprint(1+n*7%timers))
	}
	taken(t, r, "alarms", last)
	b.clock.Advance(30 * time.Minute)
	b.clock.Advance(100 * time.Hour)
	poll(t, "fired", func() bool { return len(a.all()) == timers })
	if got := a.all(); !slices.IsSortedFunc(got, time.Time.Compare) {
		t.Errorf("fired in the order %v", got)
	}
}

// TestTimer_IsNotDueBeforeItsInstant: the table keeps microseconds, and events have nanoseconds.
func TestTimer_IsNotDueBeforeItsInstant(t *testing.T) {
	t.Parallel()
	b, a := newBench(t), &alarms{past: 5*time.Minute + 1}
	r := b.open(t)
	r.Register(a.process())
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	taken(t, r, "alarms", b.happen("p", "1"))
	b.clock.Advance(2 * time.Hour)
	poll(t, "fired", func() bool { return len(a.all()) == 1 })
	asked := noon.Add(time.Hour + a.past)
	if got := a.all()[0]; got.Before(asked) || got.Sub(asked) >= time.Microsecond {
		t.Errorf("due %v, %v after what was asked for", got, got.Sub(asked))
	}
}

// An event that the log had before the jump may disarm a timer, so it is taken first.
func TestTimer_AfterAJumpWaitsForTheEventsBeforeIt(t *testing.T) {
	t.Parallel()
	b, a := newBench(t), &alarms{held: make(chan struct{})}
	r := b.open(t)
	r.Register(a.process())
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	taken(t, r, "alarms", b.happen("p1", "1"))
	position := b.happen("p2", "hold")
	poll(t, "known to the program", func() bool { return r.Status()[0].Head >= position })
	b.clock.Advance(2 * time.Hour)
	for range 20 { // something that should not happen cannot be waited for
		if len(a.all()) != 0 || b.rows(t, "timers") != 1 {
			t.Fatal("a timer fired before an event that was in the log")
		}
	}
	close(a.held)
	poll(t, "fired", func() bool { return len(a.all()) == 1 })
}

// An event that is not taken and a timer that is due keep the processes from being idle, a timer for later does not.
func TestIdle_EventsAndDueTimersCountAndTimersForLaterDoNot(t *testing.T) {
	t.Parallel()
	b, a := newBench(t), &alarms{held: make(chan struct{})}
	r := b.open(t)
	r.Register(a.process())
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	idle := func() bool {
		t.Helper()
		idle, err := r.Idle(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return idle
	}
	taken(t, r, "alarms", b.happen("p1", "1"))
	poll(t, "idle with a timer for later", idle)
	position := b.happen("p2", "hold")
	poll(t, "known to the program", func() bool { return r.Status()[0].Head >= position })
	b.clock.Advance(2 * time.Hour)
	if idle() {
		t.Error("an event that is not taken, and a timer that is due, are no work")
	}
	close(a.held)
	poll(t, "idle", idle)
	if len(a.all()) != 1 {
		t.Errorf("idle, and %d timers fired", len(a.all()))
	}
}

// A command that comes while the clock is moved is executed afterwards.
func TestCommand_WaitsWhileTheClockIsMoved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var gate clock.Gate
	r := b.openWith(t, &gate, "courier")
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	open, err := gate.Shut(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	taken(t, r, "courier", b.happen("p1", "deliver"))
	poll(t, "waiting", func() bool { return b.rows(t, "commands") == 2 })
	open()
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
}
