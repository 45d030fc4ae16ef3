package processrunner_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

// stopped waits until a number of instances and commands have stopped, and returns them.
func stopped(t *testing.T, r *processrunner.Runner, want int) []processrunner.Trouble {
	t.Helper()
	var list []processrunner.Trouble
	poll(t, "stopped", func() bool {
		var err error
		if list, err = r.Troubles(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
		return len(list) == want
	})
	return list
}

func TestPoison_StopsItsInstanceAloneVisibly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	b.happen("p2", "wait")
	b.happen("p1", "on", "wait", "bad", "after", "ring")
	taken(t, r, "courier", b.happen("p2", "deliver"))
	list := stopped(t, r, 1)
	if got := list[0]; got.Process != "courier" || got.Key != "p1" || !strings.Contains(got.Error, "no such parcel") ||
		got.Waiting != 3 || got.Since == nil {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff([]string{"on", "wait"}, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
	b.clock.Advance(2 * time.Hour) // the timer of the stopped instance waits, the other one fires
	b.office.until(t, "fired", func() bool { return len(b.office.jobs) == 1 })
	poll(t, "only the timer of the stopped instance is left", func() bool { return b.rows(t, "timers") == 1 })
	if s := r.Status()[0]; s.State != processrunner.StateRunning {
		t.Errorf("the process has stopped: %+v", s)
	}
}

func TestPoison_ARetryTakesWhatWasHeldInOrderAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.open(t, "courier")
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken(t, first, "courier", b.happen("p1", "on", "wait", "bad", "deliver"))
	stopped(t, first, 1)
	if err := first.Retry(t.Context(), "courier", "p1"); err != nil {
		t.Fatal(err)
	}
	poll(t, "tried again", func() bool { return b.rows(t, "requests") == 0 })
	stopped(t, first, 1)
	first.Stop()

	b.forgive.Store(true) // a repaired version of the program
	second := b.start(t, "courier")
	stopped(t, second, 0)
	taken(t, second, "courier", b.happen("p1", "last"))
	if diff := cmp.Diff([]string{"on", "wait", "bad", "deliver", "last"}, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
	b.clock.Advance(2 * time.Hour)
	b.office.until(t, "fired", func() bool { return len(b.office.jobs) == 1 })
}

func TestPanic_InDecideEvolveOrACommandStopsThatInstanceAndNothingElse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.office.setAnswer(func(d deliver) error {
		if d.No == "explosive" {
			panic("a rule of an aggregate")
		}
		return nil
	})
	for range 2 { // and again after a restart
		r := b.open(t, "courier")
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.happen("p1", "panic decide")
		b.happen("p2", "panic evolve")
		b.happen("explosive", "deliver")
		acts := len(b.office.acts)
		taken(t, r, "courier", b.happen("p3", "deliver"))
		b.office.until(t, "delivered", func() bool { return len(b.office.acts) == acts+2 })
		list := stopped(t, r, 3)
		for _, got := range list {
			if !strings.Contains(got.Error, "panic") {
				t.Errorf("got %+v", got)
			}
		}
		r.Stop()
	}
}

func TestPoison_ACommandThatCannotBeARowStopsTheInstance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	taken(t, r, "courier", b.happen("secret", "on", "deliver"))
	list := stopped(t, r, 1)
	if !strings.Contains(list[0].Error, "not for a row") {
		t.Errorf("got %+v", list)
	}
	if diff := cmp.Diff([]string{"on"}, b.seen(t, "courier", "secret")); diff != "" || b.rows(t, "commands") != 0 {
		t.Errorf("%d commands\n%s", b.rows(t, "commands"), diff)
	}
}

func TestCommand_ThatAlwaysFailsStopsAfterItsAttemptsAndGoesOnAfterARetry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var away atomic.Bool
	b.office.setAnswer(func(d deliver) error {
		if d.No == "p1" && !away.Load() {
			return fmt.Errorf("a fault of this account")
		}
		return nil
	})
	r := b.start(t, "courier")
	taken(t, r, "courier", b.happen("p1", "deliver"))
	if _, err := b.db.Owner.Exec(t.Context(), // as if it had been tried for minutes
		`update `+b.db.Namespace.Schema("processes")+`.commands set attempts = 18`); err != nil {
		t.Fatal(err)
	}
	b.happen("p2", "deliver")
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
	list := stopped(t, r, 1)
	if got := list[0]; got.Command != "test.Deliver" || got.Key != "p1" || got.Waiting != 1 ||
		!strings.Contains(got.Error, "a fault of this account") {
		t.Errorf("got %+v", got)
	}
	counts, err := r.Counts(t.Context())
	if err != nil || len(counts) != 1 || counts[0].Commands != 1 || counts[0].Waiting != 2 {
		t.Errorf("got %+v, %v", counts, err)
	}
	away.Store(true)
	if err := r.Retry(t.Context(), "courier", ""); err != nil {
		t.Fatal(err)
	}
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 4 })
	stopped(t, r, 0)
	if err := r.Retry(t.Context(), "nobody", ""); err == nil {
		t.Error("an unknown process was retried")
	}
}

func TestCommand_IsTriedWithoutEndWhileAPartIsAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var tries atomic.Int64
	faults := []error{
		failure.NewUnavailable("eventstore_unavailable", "", 0, nil), &pgconn.PgError{Code: "42P01"},
		&pgconn.PgError{Code: "54000"},
	}
	b.office.setAnswer(func(deliver) error {
		if n := tries.Add(1); n <= int64(len(faults)) {
			return faults[n-1]
		}
		return nil
	})
	r := b.start(t, "courier")
	taken(t, r, "courier", b.happen("p1", "deliver"))
	_, _ = b.db.Owner.Exec(t.Context(), `update `+b.db.Namespace.Schema("processes")+`.commands set attempts = 19`)
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
	stopped(t, r, 0)
}

func TestEnded_ALateRefusalAndALateEventLeaveNoRow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.office.setAnswer(func(d deliver) error {
		if d.Why != "refused" {
			return failure.NewConflict("nobody_home", "")
		}
		return nil
	})
	r := b.start(t, "courier")
	b.happen("p1", "deliver", "over")
	b.office.until(t, "the refusals were acted on", func() bool { return len(b.office.acts) == 2 })
	b.log.Append(meta, echo{"p1"}) // an event that only follows
	taken(t, r, "courier", b.happen("p2", "over"))
	b.office.until(t, "acted on", func() bool { return len(b.office.jobs) == 1 })
	taken(t, r, "courier", b.happen("p3", "over"))
	poll(t, "removed", func() bool { return b.rows(t, "instances") == 0 && b.rows(t, "commands") == 0 })
}

func TestBurst_OfOneOrganizationLetsAnotherOnesCommandThrough(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.open(t, "courier")
	if err := first.Start(t.Context()); err != nil { // registers: later events are no history
		t.Fatal(err)
	}
	first.Stop()
	const burst = 3000
	for i := range burst {
		b.happen(fmt.Sprint("burst ", i), "deliver")
	}
	other := meta
	other.OrgID = id.Must[id.Organization]("00000000-0000-7000-8000-00000000000b")
	b.log.Append(other, parcel{"single", "deliver"})
	b.start(t, "courier")
	place := -1
	b.office.until(t, "delivered", func() bool {
		for i, a := range b.office.acts {
			if a.Cmd.No == "single" && place < 0 {
				place = i
			}
		}
		return place >= 0
	})
	if place > burst/2 {
		t.Errorf("the command of the other organization was number %d of %d", place, 2*burst)
	}
}

func TestSlots_OneOrganizationNeverHoldsThemAll(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	hanging := make(chan struct{})
	b.office.setAnswer(func(d deliver) error {
		if strings.HasPrefix(d.No, "stuck") {
			<-hanging
		}
		return nil
	})
	b.start(t, "courier")
	t.Cleanup(func() { close(hanging) }) // before the engine stops
	for i := range 20 {
		b.happen(fmt.Sprint("stuck ", i), "deliver")
	}
	other := meta
	other.OrgID = id.Must[id.Organization]("00000000-0000-7000-8000-00000000000b")
	b.log.Append(other, parcel{"single", "deliver"})
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 2 })
}

func TestText_WithNULStopsNoProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	b.happen("p1", "a\x00b")
	taken(t, r, "courier", b.happen("p1", "after"))
	if diff := cmp.Diff([]string{"a\uFFFDb", "after"}, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
}

func TestRunner_WaitsForALogAndADatabaseThatWereLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	var want []string
	for i := range 5 {
		b.log.SetAway(true)
		b.log.SetAway(false)
		pgtest.EndConnections(t, b.db)
		want = append(want, fmt.Sprint("step ", i))
		taken(t, r, "courier", b.happen("p1", want[i]))
	}
	if diff := cmp.Diff(want, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
}

func TestRunner_OneProgramDrivesAndAnotherTakesOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.open(t, "courier")
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken(t, first, "courier", b.happen("p0", "on")) // it leads before the other one begins
	second := &bench{log: b.log, db: pgtest.Open(t, b.db.URL, b.db.Namespace), clock: b.clock, office: b.office}
	next := second.start(t, "courier")
	taken(t, first, "courier", b.happen("p1", "on"))
	if s := next.Status()[0]; s.State != processrunner.StateWaiting {
		t.Errorf("both drive: %+v", s)
	}
	first.Stop()
	taken(t, next, "courier", b.happen("p1", "off"))
	if diff := cmp.Diff([]string{"on", "off"}, b.seen(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
}

// breakLead breaks the connection that has the leader's lock.
func (b *bench) breakLead(t *testing.T) {
	t.Helper()
	pgtest.EndHolder(t, b.db, "processes")
}

func TestLeader_ThatLostItsLockDoesNotActBesideTheNext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.start(t, "courier")
	taken(t, first, "courier", b.happen("p0", "on")) // it leads before the other one begins
	second := &bench{log: b.log, db: pgtest.Open(t, b.db.URL, b.db.Namespace), clock: b.clock, office: b.office}
	second.start(t, "courier")
	var want []string
	for round := range 4 {
		b.breakLead(t)
		for step := range 20 {
			want = append(want, fmt.Sprint(round, " ", step))
			b.happen("p1", want[len(want)-1])
		}
		b.happen("p2", "deliver", "ring")
		poll(t, "taken", func() bool { return len(b.seenMaybe(t, "courier", "p1")) == len(want) })
	}
	if diff := cmp.Diff(want, b.seenMaybe(t, "courier", "p1")); diff != "" {
		t.Error(diff)
	}
	b.office.until(t, "delivered", func() bool { return len(b.office.acts) == 8 && len(b.office.jobs) == 4 })
	poll(t, "emptied", func() bool { return b.rows(t, "commands") == 0 })
	if len(b.office.acts) != 8 || len(b.office.jobs) != 4 {
		t.Errorf("%d commands and %d jobs, want 8 and 4", len(b.office.acts), len(b.office.jobs))
	}
}

// TestLeader_TellsThatTheLeadIsLostWhileItsWorkIsStillEnding: a command is executed and does not come back before that.
func TestLeader_TellsThatTheLeadIsLostWhileItsWorkIsStillEnding(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	executing, lost := make(chan struct{}, 9), make(chan struct{}, 9)
	b.lost = func() { lost <- struct{}{} }
	once := sync.OnceFunc(func() {
		executing <- struct{}{}
		<-lost
	})
	b.office.before = func(_ context.Context, at string) error {
		if at == "execute" {
			once()
		}
		return nil
	}
	r := b.start(t, "courier")
	<-lost // the leadership begins
	last := b.happen("p1", "deliver")
	<-executing
	b.breakLead(t)
	taken(t, r, "courier", last)
	poll(t, "emptied", func() bool { return b.rows(t, "commands") == 0 })
	<-lost // another one had begun
	r.Stop()
	if len(lost) > 0 {
		t.Error("a stop that was asked for is told as a loss")
	}
}

// TestLeader_TellsThatALeadershipBeginsBeforeItsFirstWork: a program takes the lead over from one that may have lost
// its database first.
func TestLeader_TellsThatALeadershipBeginsBeforeItsFirstWork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.start(t, "courier")
	taken(t, first, "courier", b.happen("p1", "deliver"))
	poll(t, "emptied", func() bool { return b.rows(t, "commands") == 0 })
	var told, worked atomic.Bool
	b.lost = func() { told.Store(true) }
	b.office.before = func(_ context.Context, at string) error {
		if at == "execute" && !told.Load() {
			t.Error("it works before it tells")
		}
		worked.Store(true)
		return nil
	}
	next := b.start(t, "courier")
	first.Stop()
	taken(t, next, "courier", b.happen("p2", "deliver"))
	poll(t, "emptied", func() bool { return b.rows(t, "commands") == 0 })
	if !told.Load() || !worked.Load() {
		t.Errorf("told %v, worked %v", told.Load(), worked.Load())
	}
}

func TestRunner_KilledAtEachStepDoesEverythingOnce(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"job", "execute", "executed"} {
		for _, lateError := range []bool{false, true} {
			t.Run(fmt.Sprint(step, " ", lateError), func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				r := b.open(t, "courier")
				killed := make(chan struct{})
				b.office.before = func(ctx context.Context, at string) error {
					if at != step {
						return nil
					}
					select {
					case <-killed: // only the first time
						return nil
					default:
					}
					close(killed)
					go r.Stop()
					<-ctx.Done()
					if lateError {
						return nil // the next statement finds the connection closed
					}
					return ctx.Err()
				}
				if err := r.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				last := b.happen("p1", "ring", "deliver", "on")
				<-killed
				r.Stop()
				next := b.start(t, "courier")
				taken(t, next, "courier", last)
				poll(t, "emptied", func() bool { return b.rows(t, "commands") == 0 })
				if diff := cmp.Diff([]string{"ring", "deliver", "on"}, b.seen(t, "courier", "p1")); diff != "" {
					t.Error(diff)
				}
				if len(b.office.acts) != 2 || len(b.office.jobs) != 1 {
					t.Errorf("%d commands and %d jobs, want 2 and 1", len(b.office.acts), len(b.office.jobs))
				}
			})
		}
	}
}

// TestLog_ShorterThanTheCheckpointStopsTheProcessVisibly: a log that was restored to an older state gives positions
// again that the process has passed already.
func TestLog_ShorterThanTheCheckpointStopsTheProcessVisibly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.open(t, "courier")
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken(t, first, "courier", b.happen("p1", "on"))
	first.Stop()
	if _, err := b.db.Owner.Exec(t.Context(), `update `+b.db.Namespace.Schema("processes")+
		`.processes set checkpoint = checkpoint + 1000`); err != nil {
		t.Fatal(err)
	}
	r := b.start(t, "courier")
	poll(t, "the process has stopped", func() bool {
		s := r.Status()[0]
		return s.State == processrunner.StateStopped && strings.Contains(s.Error, "before the checkpoint")
	})
}
