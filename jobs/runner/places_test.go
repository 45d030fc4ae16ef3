package jobrunner_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// visit is a job that calls a device.
type visit struct{ Router id.Device }

func (visit) Kind() string        { return "test.visit" }
func (v visit) Device() id.Device { return v.Router }

// otherOrg is an organization beside that of cause.
func otherOrg() id.Organization {
	return id.Must[id.Organization]("00000000-0000-7000-8000-00000000000b")
}

// byOther is the cause of a job of another organization.
func byOther() jobs.Cause {
	other := cause
	other.OrgID = otherOrg()
	return other
}

// router derives the id of a router.
func router(name string) id.Device { return id.Derive[id.Device]("router", name) }

// jobNamed derives the id of a job.
func jobNamed(name string, more ...string) id.Any { return id.Derive[id.Any](name, more...) }

// routers answers visits: those to dead ones hang until the test ends.
type routers struct {
	mu      sync.Mutex
	dead    map[id.Device]bool
	hanging chan struct{}
	met     chan id.Device // live ones
}

// work is the worker of visit.
func (r *routers) work(ctx context.Context, v visit, _ jobs.Cause) error {
	r.mu.Lock()
	dead, hanging := r.dead[v.Router], r.hanging
	r.mu.Unlock()
	if !dead {
		r.met <- v.Router
		return nil
	}
	select {
	case <-hanging:
	case <-ctx.Done():
	}
	return errors.New("no answer")
}

func TestDeadRouters_OfOneOrganizationStarveNoOther(t *testing.T) {
	t.Parallel()
	desk := &routers{dead: map[id.Device]bool{}, hanging: make(chan struct{}), met: make(chan id.Device, 10)}
	q := jobrunner.New(jobrunner.Config{DB: pgtest.New(t), Workers: 4})
	jobrunner.AddWorker(q, desk.work, fast)
	for i := range 80 {
		desk.dead[router(string(rune('0'+i)))] = true
	}
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Stop)
	t.Cleanup(func() { close(desk.hanging) })
	for i := range 80 {
		name := string(rune('0' + i))
		if err := q.Insert(t.Context(), visit{router(name)}, jobNamed(name), cause, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Insert(t.Context(), visit{router("alive")}, jobNamed("alive"), byOther(), 0); err != nil {
		t.Fatal(err)
	}
	if got := <-desk.met; got != router("alive") {
		t.Errorf("met %s", got)
	}
}

func TestDeadRouters_LeaveRoomForTheOthersOfTheirOrganization(t *testing.T) {
	t.Parallel()
	desk := &routers{dead: map[id.Device]bool{}, hanging: make(chan struct{}), met: make(chan id.Device, 100)}
	q := jobrunner.New(jobrunner.Config{DB: pgtest.New(t), Workers: 8})
	jobrunner.AddWorker(q, desk.work, fast)
	for i := range 20 {
		desk.dead[router(string(rune('0'+i)))] = true
	}
	close(desk.hanging) // the first attempts fail at once
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Stop)
	visitAll := func(run string) {
		for i := range 20 {
			name := string(rune('0' + i))
			if err := q.Insert(t.Context(), visit{router(name)}, jobNamed(run, name), cause, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Insert(t.Context(), visit{router("alive")}, jobNamed(run, "alive"), cause, 0); err != nil {
			t.Fatal(err)
		}
		<-desk.met
	}
	visitAll("first")
	desk.mu.Lock()
	desk.hanging = make(chan struct{})
	t.Cleanup(func() { close(desk.hanging) })
	desk.mu.Unlock()
	visitAll("second")
}

func TestDiscarded_JobsAreReportedUntilTheReportIsTaken(t *testing.T) {
	t.Parallel()
	type report struct {
		args  call
		cause jobs.Cause
		code  string
	}
	reports, refused := make(chan report, 10), false
	d := newDesk(func(_ context.Context, a attempt) error {
		switch a.Args.Number {
		case 1:
			return jobrunner.GiveUp(errors.New("hopeless"))
		case 2:
			panic("a fault")
		}
		return errors.New("no answer")
	})
	q := jobrunner.New(jobrunner.Config{DB: pgtest.New(t), Workers: 4})
	jobrunner.AddWorker(q, d.work, fast)
	jobrunner.OnDiscarded(q, func(_ context.Context, args call, cause jobs.Cause, code string) error {
		if args.Number == 3 && !refused {
			refused = true
			return errors.New("the log is away")
		}
		reports <- report{args, cause, code}
		return nil
	})
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Stop)
	for n := range 3 {
		if err := q.Insert(t.Context(), call{n + 1}, jobNamed("call", string(rune('1'+n))), cause, 0); err != nil {
			t.Fatal(err)
		}
	}
	codes := map[int]string{}
	for len(codes) < 3 {
		got := <-reports
		codes[got.args.Number] = got.code
		if got.cause.OrgID != cause.OrgID || got.cause.JobID.IsZero() || !got.cause.Last {
			t.Errorf("cause %+v", got.cause)
		}
	}
	if codes[1] != "JobCancelError: internal" && !strings.Contains(codes[1], "internal") ||
		codes[2] != "job_panicked" ||
		codes[3] != "internal" {
		t.Errorf("codes %v", codes)
	}
	select {
	case got := <-reports:
		t.Errorf("reported again: %+v", got)
	default:
	}
}

// lines counts the lines of a log.
type lines struct {
	slog.Handler
	mu    sync.Mutex
	count int
}

func (*lines) Enabled(context.Context, slog.Level) bool { return true }

// Handle counts a line.
func (l *lines) Handle(context.Context, slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	return nil
}
func (l *lines) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *lines) WithGroup(string) slog.Handler      { return l }

func TestLog_OfALostDatabaseHasOneLineForEachMessage(t *testing.T) {
	t.Parallel()
	out := &lines{}
	log := jobrunner.QuietForTest(slog.New(out))
	for range 500 {
		log.Error("Error fetching jobs", "error", "the database is away")
		log.Info("a step of the library")
	}
	log.With("queue", "default").Error("Error fetching jobs")
	log.Error("something else")
	if out.count != 2 {
		t.Errorf("%d lines, want 2", out.count)
	}
}
