package processrunner_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// archive counts events of plans that were archived.
type archive struct{}

func (archive) Name() string           { return "archive" }
func (archive) Version() int           { return 1 }
func (archive) Handles() []string      { return []string{events.PlanArchived{}.EventType()} }
func (archive) TenantTables() []string { return nil }
func (archive) DDL() string            { return `create table {schema}.seen (position bigint primary key)` }

// Apply notes the position.
func (archive) Apply(w *runner.Writes, e events.Envelope) error {
	w.Exec(`insert into {schema}.seen values ($1)`, int64(e.Position)) //nolint:gosec // positions fit
	return nil
}

// archivist asks for a job at every plan that was archived.
func archivist() processmanagers.Process[trip] {
	return processmanagers.Process[trip]{
		Name: "archivist", On: []processmanagers.Handled{
			processmanagers.On(func(e events.PlanArchived) string { return e.PlanID.String() }),
		},
		Decide: func(trip, processmanagers.Input, time.Time) (processmanagers.Output, error) {
			return processmanagers.Output{Jobs: []commands.Job{ring{"archived"}}}, nil
		},
		Evolve: func(s trip, _ processmanagers.Input) trip { return s },
	}
}

// readers are a read model and a process on a real event store, as of one start of a program.
type readers struct {
	feed      *feed.Feed
	models    *runner.Runner
	processes *processrunner.Runner
}

// startReaders starts them; the test's end stops them.
func startReaders(t *testing.T, kit *storetest.Kit, o *office) *readers {
	t.Helper()
	now := clock.NewManual(noon)
	r := &readers{feed: feedtest.Start(t, feed.FromStore(kit.Open()))}
	r.models = runner.New(runner.Config{Feed: r.feed, DB: kit.DB, Clock: now})
	r.models.Register(archive{})
	r.processes = processrunner.New(processrunner.Config{Feed: r.feed, DB: kit.DB, Clock: now, Bus: o, Jobs: o})
	r.processes.Register(archivist())
	if err := r.models.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.models.Stop)
	if err := r.processes.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.processes.Stop)
	return r
}

// reach waits until both have a position.
func (r *readers) reach(t *testing.T, position uint64) {
	t.Helper()
	poll(t, fmt.Sprintf("both at %d", position), func() bool {
		return r.models.Status()[0].Position >= position && r.processes.Status()[0].Position >= position
	})
}

// stopped waits until both have stopped.
func (r *readers) stopped(t *testing.T) {
	t.Helper()
	poll(t, "both stopped", func() bool {
		model, process := r.models.Status()[0], r.processes.Status()[0]
		return model.State == runner.StateStopped && model.Error != "" &&
			process.State == processrunner.StateStopped && process.Error != ""
	})
}

// stop ends the program.
func (r *readers) stop() {
	r.processes.Stop()
	r.models.Stop()
	r.feed.Stop()
}

// archived appends n events and returns the position of the last one.
func archived(t *testing.T, store *eventstore.Store, n int) (position uint64) {
	t.Helper()
	for range n {
		stream := "plan-" + id.New[id.Plan]().String()
		done, err := store.Append(t.Context(), stream, eventstore.NoStream, []eventstore.New{{
			Event: events.PlanArchived{PlanID: id.New[id.Plan](), Reason: "old"},
			Meta: events.Metadata{
				EventID: id.New[id.Event](), CommandID: id.New[id.Command](), Action: "test", At: noon,
				Actor: events.Actor{Kind: events.ActorOperator},
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		position = done.Position
	}
	return position
}

// TestRestore_OfTheLogAloneStopsAllReadersVisibly: the event store is restored to an older state than the read models
// and processes, and grows beyond their checkpoints, while the program does not run and while it does. With the same
// log again they go on.
func TestRestore_OfTheLogAloneStopsAllReadersVisibly(t *testing.T) {
	t.Parallel()
	kit, o := storetest.New(t), newOffice()
	first := startReaders(t, kit, o)
	kept := archived(t, kit.Store, 5)
	first.reach(t, kept)
	first.stop()
	kit.StopNode()
	kit.StartNode()
	same := startReaders(t, kit, o)
	read := archived(t, kit.Open(), 4)
	same.reach(t, read)
	same.stop()

	kit.RestoreNode(kept)
	other := kit.Open()
	grown := archived(t, other, 9)
	again := startReaders(t, kit, o)
	again.stopped(t)
	if err := again.models.Rebuild(t.Context(), "archive", nil); err != nil {
		t.Fatal(err)
	}
	if err := again.processes.Retry(t.Context(), "archivist", ""); err != nil {
		t.Fatal(err)
	}
	again.reach(t, grown)

	kit.RestoreNode(kept)
	archived(t, kit.Open(), 30) // the readers connect again meanwhile
	again.stopped(t)
	if n := len(o.jobs); n != 14 { // 9 of the first log, 5 behind the checkpoint in the second one, none of the third
		t.Errorf("%d jobs", n)
	}
}

// TestRestore_OfLogAndProcessesUnderARunningProgramActsOnNoLostEvent: log and processes are in one database, which goes
// back while another program runs whose memory has the events that are lost. A process that is led anew there must not
// take them: nothing of the log is used until it has grown, and then it is known to be another one.
func TestRestore_OfLogAndProcessesUnderARunningProgramActsOnNoLostEvent(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	first := startReaders(t, kit, newOffice())
	kept := archived(t, kit.Store, 3)
	first.reach(t, kept)
	first.processes.Stop()
	table := kit.DB.Namespace.Schema("processes") + ".processes"
	var before string
	if err := kit.DB.Owner.QueryRow(t.Context(), `select mark from `+table).Scan(&before); err != nil {
		t.Fatal(err)
	}
	lost := archived(t, kit.Store, 2)
	if err := first.feed.Wait(t.Context(), lost-1); err != nil { // they are in memory
		t.Fatal(err)
	}
	kit.RestoreNode(kept)
	if _, err := kit.DB.Owner.Exec(t.Context(), `update `+table+` set checkpoint = $1, mark = $2`, int64(kept),
		before); err != nil {
		t.Fatal(err)
	}
	after := newOffice()
	var lines lineLog
	again := processrunner.New(processrunner.Config{
		Feed: first.feed, DB: kit.DB, Clock: clock.NewManual(noon), Bus: after, Jobs: after,
		Logger: slog.New(slog.NewTextHandler(&lines, nil)),
	})
	again.Register(archivist())
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(again.Stop)
	jobs := func() int {
		after.mu.Lock()
		defer after.mu.Unlock()
		return len(after.jobs)
	}
	poll(t, "it is tried", func() bool { return lines.has("process interrupted") || jobs() > 0 })
	if again.Status()[0].State == processrunner.StateStopped || first.feed.Short() == nil {
		t.Errorf("%+v, %v: a log that may lag stops nothing by itself", again.Status()[0], first.feed.Short())
	}
	other := kit.Open()
	for archived(t, other, 1) < lost {
		continue
	}
	poll(t, "the program ends", func() bool { return len(first.feed.Lost()) > 0 })
	if n := jobs(); n != 0 {
		t.Errorf("%d jobs of events that the log has lost", n)
	}
}

// lineLog keeps the lines of a logger. Safe for concurrent use.
type lineLog struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *lineLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// has reports whether a line has a text.
func (l *lineLog) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

// TestTimers_RestWhileTheLogIsShorterThanWhatWasReadOfIt: events may be missing that say whether they still count, such
// as that somebody has paid. When the log has them again, the timers fire.
func TestTimers_RestWhileTheLogIsShorterThanWhatWasReadOfIt(t *testing.T) {
	t.Parallel()
	kit, o, now := storetest.New(t), newOffice(), clock.NewManual(noon)
	var lines lineLog
	f := feedtest.Start(t, feed.FromStore(kit.Open()))
	r := processrunner.New(processrunner.Config{
		Feed: f, DB: kit.DB, Clock: now, Bus: o, Jobs: o, Logger: slog.New(slog.NewTextHandler(&lines, nil)),
	})
	r.Register(processmanagers.Process[trip]{
		Name: "waiter", On: []processmanagers.Handled{
			processmanagers.On(func(e events.PlanArchived) string { return e.PlanID.String() }),
		},
		Decide: func(_ trip, in processmanagers.Input, at time.Time) (out processmanagers.Output, err error) {
			if in.Timeout != nil {
				out.Jobs = []commands.Job{ring{"due"}}
			} else {
				out.Timers = []processmanagers.Timer{{Name: "look", At: at.Add(time.Hour)}}
			}
			return out, nil
		},
		Evolve: func(s trip, _ processmanagers.Input) trip { return s },
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	kept := archived(t, kit.Store, 3)
	last := archived(t, kit.Store, 1)
	poll(t, "the process at the end", func() bool { return r.Status()[0].Position >= last })
	kit.RestoreNode(kept)
	poll(t, "the log is known to be shorter", func() bool { return f.Short() != nil })
	now.Advance(2 * time.Hour)
	poll(t, "the timers rest", func() bool { return lines.has("timers cannot be read") })
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.jobs); n != 0 {
		t.Errorf("%d timers have fired", n)
	}
}
