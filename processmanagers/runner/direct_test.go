package processrunner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
// next one off to the next day, "deliver" asks for one at once, and "bad" is poison. After a refusal it tries in a
// minute.
func sentry() processmanagers.Process[trip] {
	return processmanagers.Process[trip]{
		Name: "sentry", On: []processmanagers.Handled{processmanagers.On(func(e parcel) string { return e.No })},
		Decide: func(s trip, in processmanagers.Input, now time.Time) (out processmanagers.Output, _ error) {
			wait := time.Hour
			switch w := word(in); {
			case w == "bad":
				return out, errors.New("no such parcel")
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
	r := b.guard(t, sentry())
	var last uint64
	for n := range watched {
		last = b.happen(fmt.Sprint("p", n), "on")
	}
	taken(t, r, "sentry", last)
	return r
}

// guard starts a process.
func (b *bench) guard(t *testing.T, p processmanagers.Any) *processrunner.Runner {
	t.Helper()
	r := b.open(t)
	r.Register(p)
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

// stored counts the rows of commands that there ever were.
func (b *bench) stored(t *testing.T) int {
	t.Helper()
	return b.count(t, `select coalesce(pg_sequence_last_value('{schema}.commands_seq_seq'), 0)`)
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
	if n := b.stored(t); n != 0 {
		t.Errorf("%d commands were stored", n)
	}
}

// To store the commands of a few timers takes no longer than to wait for their events.
func TestTimers_FewAreTakenAsAnyOtherInput(t *testing.T) {
	t.Parallel()
	for n, stored := range map[int]int{7: 7, 8: 0} {
		b := newBench(t)
		r := b.guard(t, sentry())
		var last uint64
		for no := range n {
			last = b.happen(fmt.Sprint("p", no), "on")
		}
		taken(t, r, "sentry", last)
		b.clock.Advance(time.Hour)
		b.office.until(t, "delivered", func() bool { return len(b.office.acts) == n })
		poll(t, "the timers are set again", func() bool { return b.due(t, noon.Add(2*time.Hour)) == n })
		if got := b.stored(t); got != stored {
			t.Errorf("%d commands of %d were stored, want %d", got, n, stored)
		}
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
		case len(d.No) == 3: // p10 to p19
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
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == watched-10 })
	poll(t, "the refused ones are tried in a minute, the others in an hour", func() bool {
		return b.due(t, noon.Add(time.Hour+time.Minute)) == 10 && b.due(t, noon.Add(2*time.Hour)) == watched-10 &&
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

// The events of commands are late: until they were taken, nothing is written of their timers, and none fires again.
func TestTimers_WaitForTheEventsOfTheirCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.watch(t)
	b.log.SetAway(true)
	for n := range watched {
		b.office.last = b.happen(fmt.Sprint("p", n), "seen")
	}
	var executed atomic.Int64
	b.office.before = func(_ context.Context, step string) error {
		if step == "executed" {
			executed.Add(1)
		}
		return nil
	}
	b.clock.Advance(time.Hour)
	poll(t, "executed", func() bool { return executed.Load() >= watched })
	for range 20 {
		if n := b.due(t, noon.Add(time.Hour)); n != watched {
			t.Fatalf("%d timers are as they were, want %d", n, watched)
		}
	}
	b.log.SetAway(false)
	poll(t, "all are put off to the next day", func() bool { return b.due(t, noon.Add(25*time.Hour)) == watched })
	if n := executed.Load(); n != watched {
		t.Errorf("%d commands were executed, want %d", n, watched)
	}
}

// postman is asked for deliveries by timers that do more than that: what they do is the word of the event "on" of their
// parcel.
func postman() processmanagers.Process[trip] {
	p := sentry()
	p.Decide = func(s trip, in processmanagers.Input, now time.Time) (out processmanagers.Output, _ error) {
		look := processmanagers.Timer{Name: "look", At: now.Add(time.Hour)}
		if in.Timeout == nil {
			out.Timers = []processmanagers.Timer{look}
			return out, nil
		}
		out.Commands = []commands.Command{deliver{s.Seen[0], fmt.Sprint("try", len(s.Seen)-1)}}
		switch s.Seen[1] {
		case "once":
			return out, nil
		case "ring":
			out.Jobs = []commands.Job{ring{s.Seen[0]}}
		case "rest":
			out.Timers = []processmanagers.Timer{{Name: "rest", At: now.Add(24 * time.Hour)}}
		}
		out.Timers = append(out.Timers, look)
		return out, nil
	}
	p.Evolve = func(s trip, in processmanagers.Input) trip {
		switch {
		case in.Event != nil:
			e, _ := in.Event.Event.(parcel)
			s.Seen = []string{e.No, e.What}
		case s.Seen[1] == "count":
			s.Seen = append(slices.Clone(s.Seen), "again")
		case s.Seen[1] == "end":
			s.Over = true
		}
		return s
	}
	p.Ended = func(s trip) bool { return s.Over }
	return p
}

// A timer that changes or ends its instance, asks for a job or sets another timer does so, although others of its batch
// only ask for commands.
func TestTimers_NothingIsLostOfWhatTheyDoBesideAsking(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.guard(t, postman())
	const each = 4
	kinds := []string{"ask", "once", "count", "end", "ring", "rest"}
	var last uint64
	for n := range each * len(kinds) {
		kind := kinds[n%len(kinds)]
		last = b.happen(fmt.Sprint(kind, n), kind)
	}
	taken(t, r, "sentry", last)
	for hour := range 2 {
		b.clock.Advance(time.Hour)
		next := noon.Add(time.Duration(hour+2) * time.Hour)
		poll(t, "the timers are set again", func() bool {
			return b.due(t, next) == 4*each && b.due(t, next.Add(23*time.Hour)) == each
		})
		b.office.until(t, "delivered", func() bool { return len(b.office.acts) == (6+4*hour)*each })
	}
	poll(t, "the timers of others are over", func() bool { return b.rows(t, "timers") == 5*each })
	if n := b.count(t, `select count(*) from {schema}.instances where not ended`); n != 5*each {
		t.Errorf("%d instances go on, want %d", n, 5*each)
	}
	b.office.until(t, "rung", func() bool { return len(b.office.jobs) == 2*each })
	if n := b.stored(t); n != 7*each { // twice of three kinds, and once of those that end
		t.Errorf("%d commands were stored, want %d", n, 7*each)
	}
	for no, why := range b.whys() {
		want := "try1 try1"
		switch strings.TrimRight(no, "0123456789") {
		case "once", "end":
			want = "try1"
		case "count":
			want = "try1 try2"
		}
		if why != want {
			t.Errorf("%s was delivered for %q, want %q", no, why, want)
		}
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
	b.guard(t, sentry())
	poll(t, "the timers are set again", func() bool { return b.due(t, noon.Add(2*time.Hour)) == watched })
	for no, why := range b.whys() {
		if why != "timer" {
			t.Errorf("%s was delivered for %q", no, why)
		}
	}
}

// A command that fails alone waits in its row, and what a timer of its instance asks for waits behind it.
func TestTimers_NoneOvertakesAnOlderCommandOfItsInstance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.watch(t)
	var repaired atomic.Bool
	b.office.setAnswer(func(d deliver) error {
		if d.Why == "event" && !repaired.Load() {
			return errors.New("the van is broken")
		}
		return nil
	})
	taken(t, r, "sentry", b.happen("p7", "deliver"))
	b.clock.Advance(time.Hour)
	poll(t, "all timers have acted", func() bool { return b.due(t, noon.Add(2*time.Hour)) == watched })
	repaired.Store(true)
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

// Commands that fail by an outage may hang, so the others of the batch are stored at once, and for half a minute those
// of all batches, also when the outage is over.
func TestTimers_AnOutageLeavesTheRestOfThemToTheirRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.watch(t)
	var last uint64
	const all = 10 * watched // more than are tried at the same time
	for n := range all - watched {
		last = b.happen(fmt.Sprint("q", n), "on")
	}
	taken(t, r, "sentry", last)
	b.office.setAnswer(away)
	var direct atomic.Int64
	b.office.mu.Lock()
	b.office.before = func(ctx context.Context, step string) error {
		if limit, ok := ctx.Deadline(); ok && step == "execute" && time.Until(limit) < 10*time.Second {
			direct.Add(1)
		}
		return nil
	}
	b.office.mu.Unlock()
	b.clock.Advance(time.Hour)
	poll(t, "all commands are stored", func() bool { return b.rows(t, "commands") == all })
	if n := direct.Load(); n == 0 || n > all/2 {
		t.Errorf("%d of %d commands were tried before they were stored", n, all)
	}
	b.office.setAnswer(nil)
	poll(t, "none waits", func() bool { return b.rows(t, "commands") == 0 })
	direct.Store(0)
	b.clock.Advance(time.Hour)
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2*all })
	if n := direct.Load(); n != 0 {
		t.Errorf("%d commands were tried before they were stored, soon after an outage", n)
	}
}

// Events of commands that were accepted do not wait for a command of the same batch that hangs.
func TestTimers_ACommandThatHangsKeepsNoEventOfTheOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.watch(t)
	released := make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	t.Cleanup(release)
	b.office.setAnswer(func(d deliver) error {
		if d.No == "p3" {
			<-released
		}
		b.happen(d.No, "seen")
		return nil
	})
	b.clock.Advance(time.Hour)
	tomorrow := noon.Add(25 * time.Hour)
	poll(t, "the others are put off to the next day", func() bool { return b.due(t, tomorrow) == watched-1 })
	release()
	poll(t, "all are", func() bool { return b.due(t, tomorrow) == watched })
}

// Timers of two instants are due. While those of the first one act, an event puts one of the second off, and another
// event stops an instance.
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
	b.happen("q3", "seen")
	taken(t, r, "sentry", b.happen("q4", "bad"))
	close(release)
	poll(t, "the others are set again", func() bool {
		return b.due(t, noon.Add(3*time.Hour+time.Minute)) == 2*watched-2
	})
	for _, no := range []string{"q3", "q4"} {
		if why := b.whys()[no]; why != "" {
			t.Errorf("%s was delivered for %q", no, why)
		}
	}
}
