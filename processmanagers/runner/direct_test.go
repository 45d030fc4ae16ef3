package processrunner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

// watched is the number of parcels of these tests: so many timers of one instant act directly.
const watched = 20

// sentry asks for a delivery an hour after a parcel has come, and each hour from then on. The event "seen" puts the
// next one off to the next day, and "deliver" asks for one at once. After a refusal it tries in a minute.
func sentry() processmanagers.Process[trip] {
	return processmanagers.Process[trip]{
		Name: "sentry", On: []processmanagers.Handled{processmanagers.On(func(e parcel) string { return e.No })},
		Decide: func(s trip, in processmanagers.Input, now time.Time) (out processmanagers.Output, _ error) {
			wait := time.Hour
			switch w := word(in); {
			case w == "seen":
				wait = 24 * time.Hour
			case w == "deliver":
				p, _ := in.Event.Event.(parcel)
				out.Commands = []commands.Command{deliver{p.No, "event"}}
			case in.Refusal != nil:
				wait = time.Minute
			case in.Timeout != nil:
				out.Commands = []commands.Command{deliver{s.Seen[0], "timer"}}
			}
			out.Timers = []processmanagers.Timer{{Name: "look", At: now.Add(wait)}}
			return out, nil
		},
		Evolve: func(s trip, in processmanagers.Input) trip {
			if in.Event != nil {
				p, _ := in.Event.Event.(parcel)
				s.Seen = []string{p.No}
			}
			return s
		},
	}
}

// watch starts a sentry that has a timer for each of some parcels, all at one instant.
func (b *bench) watch(t *testing.T) *processrunner.Runner {
	t.Helper()
	r := b.guard(t)
	var last uint64
	for n := range watched {
		last = b.happen(fmt.Sprint("p", n), "on")
	}
	taken(t, r, "sentry", last)
	return r
}

// guard starts a sentry.
func (b *bench) guard(t *testing.T) *processrunner.Runner {
	t.Helper()
	r := b.open(t)
	r.Register(sentry())
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// due counts the timers that are set to an instant.
func (b *bench) due(t *testing.T, at time.Time) (n int) {
	t.Helper()
	if err := b.db.Owner.QueryRow(t.Context(), `select count(*) from `+b.db.Namespace.Schema("processes")+
		`.timers where due_at = $1`, at).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// whys are the reasons of the deliveries of each parcel, in their order.
func (b *bench) whys() map[string]string {
	b.office.mu.Lock()
	defer b.office.mu.Unlock()
	all := map[string]string{}
	for _, a := range b.office.acts {
		all[a.Cmd.No] = strings.TrimSpace(all[a.Cmd.No] + " " + a.Cmd.Why)
	}
	return all
}

// Timers that only ask for commands act before anything is written, and are set again after that.
func TestTimers_ThatOnlyAskLeaveNoRowOfTheirCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.watch(t)
	var once sync.Once
	b.office.before = func(_ context.Context, step string) error {
		if step == "executed" {
			once.Do(func() {
				if n := b.rows(t, "commands"); n != 0 {
					t.Errorf("%d commands are stored", n)
				}
				if n := b.due(t, noon.Add(time.Hour)); n != watched {
					t.Errorf("%d timers wait, want %d", n, watched)
				}
			})
		}
		return nil
	}
	for hour := 1; hour <= 2; hour++ {
		b.clock.Advance(time.Hour)
		b.office.until(t, "delivered", func() bool { return len(b.office.acts) == hour*watched })
		next := noon.Add(time.Duration(hour+1) * time.Hour)
		poll(t, "the timers are set again", func() bool { return b.due(t, next) == watched })
	}
}

// What is not accepted at once is stored as what any other input asks for: a refusal is told, a failure is tried again.
func TestTimers_WhatIsNotAcceptedAtOnceIsStored(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.watch(t)
	var mu sync.Mutex
	failed := map[string]bool{}
	b.office.setAnswer(func(d deliver) error {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case d.No == "p3":
			return failure.NewConflict("nobody_home", "")
		case d.No == "p4" && !failed[d.No]:
			failed[d.No] = true
			return errors.New("the van is broken")
		case d.No == "p5" && !failed[d.No]:
			failed[d.No] = true
			panic("the van is gone")
		}
		return nil
	})
	b.clock.Advance(time.Hour)
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == watched-1 })
	poll(t, "the refused one is tried in a minute, the others in an hour", func() bool {
		return b.due(t, noon.Add(time.Hour+time.Minute)) == 1 && b.due(t, noon.Add(2*time.Hour)) == watched-1 &&
			b.rows(t, "commands") == 0
	})
}

// An event of a command sets the timer; the time-out does not.
func TestTimers_AnEventOfTheirCommandHasTheLastWord(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.watch(t)
	b.office.setAnswer(func(d deliver) error {
		b.happen(d.No, "seen")
		return nil
	})
	b.clock.Advance(time.Hour)
	poll(t, "all are put off to the next day", func() bool { return b.due(t, noon.Add(25*time.Hour)) == watched })
	if n := b.rows(t, "timers"); n != watched {
		t.Errorf("%d timers, want %d", n, watched)
	}
}

// A program that ends between a command and its timer's row repeats the command with the same id.
func TestTimers_ProgramsThatEndInBetweenLetEachCommandActOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.watch(t)
	acted := make(chan struct{}, 2*watched)
	b.office.mu.Lock()
	b.office.before = func(ctx context.Context, step string) error {
		if step == "executed" {
			acted <- struct{}{}
			<-ctx.Done()
		}
		return ctx.Err()
	}
	b.office.mu.Unlock()
	b.clock.Advance(time.Hour)
	<-acted
	r.Stop()
	if n := b.due(t, noon.Add(time.Hour)); n != watched {
		t.Errorf("%d timers are due, want %d", n, watched)
	}
	b.office.mu.Lock()
	b.office.before = nil
	b.office.mu.Unlock()
	b.guard(t)
	poll(t, "the timers are set again", func() bool { return b.due(t, noon.Add(2*time.Hour)) == watched })
	for no, why := range b.whys() {
		if why != "timer" {
			t.Errorf("%s was delivered for %q", no, why)
		}
	}
}

// While the rest of the installation is away, commands wait in their rows, and those of an instance keep their order.
func TestTimers_NoneOvertakesAnOlderCommandOfItsInstance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.watch(t)
	b.office.setAnswer(away)
	taken(t, r, "sentry", b.happen("p7", "deliver"))
	b.clock.Advance(time.Hour)
	poll(t, "all commands are stored", func() bool { return b.rows(t, "commands") == watched+1 })
	b.office.setAnswer(nil)
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == watched+1 })
	for no, why := range b.whys() {
		want := "timer"
		if no == "p7" {
			want = "event timer"
		}
		if why != want {
			t.Errorf("%s was delivered for %q, want %q", no, why, want)
		}
	}
}

// Commands that fail by an outage may hang, so the others of the batch are stored at once.
func TestTimers_AnOutageLeavesTheRestOfThemToTheirRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.watch(t)
	var last uint64
	for n := range watched {
		last = b.happen(fmt.Sprint("q", n), "on")
	}
	taken(t, r, "sentry", last)
	var direct atomic.Int64
	b.office.mu.Lock()
	b.office.before = func(ctx context.Context, step string) error {
		if limit, ok := ctx.Deadline(); ok && step == "execute" && time.Until(limit) < 10*time.Second {
			direct.Add(1)
		}
		return away(deliver{})
	}
	b.office.mu.Unlock()
	b.clock.Advance(time.Hour)
	poll(t, "all commands are stored", func() bool { return b.rows(t, "commands") == 2*watched })
	if n := direct.Load(); n == 0 || n > watched {
		t.Errorf("%d of %d commands were tried before they were stored", n, 2*watched)
	}
}

// Timers of two instants are due. While those of the first one act, an event puts one of the second off.
func TestTimers_OneThatWasSetBeforeItsTurnDoesNotAct(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.watch(t)
	b.clock.Advance(time.Minute)
	var last uint64
	for n := range watched {
		last = b.happen(fmt.Sprint("q", n), "on")
	}
	taken(t, r, "sentry", last)
	entered, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	b.office.setAnswer(func(deliver) error {
		once.Do(func() { close(entered); <-release })
		return nil
	})
	b.clock.Advance(2 * time.Hour)
	<-entered
	taken(t, r, "sentry", b.happen("q3", "seen"))
	close(release)
	poll(t, "all but one are set again", func() bool {
		return b.due(t, noon.Add(3*time.Hour+time.Minute)) == 2*watched-1
	})
	if why := b.whys()["q3"]; why != "" {
		t.Errorf("q3 was delivered for %q", why)
	}
}
