package runner_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// beside is the same installation, as another program sees it.
func (b *bench) beside(t *testing.T) *bench {
	t.Helper()
	return &bench{log: b.log, db: pgtest.Open(t, b.db.URL, b.db.Namespace), clock: b.clock}
}

// broader is sales in a version of the program that handles one more type of event, with the same number.
type broader struct{ sales }

func (broader) Handles() []string { return []string{"test.Noise.v1", "test.Sold.v1"} }

// Apply ignores the additional type.
func (b broader) Apply(w *runner.Writes, e events.Envelope) error {
	if _, ok := e.Event.(sold); ok {
		return b.sales.Apply(w, e)
	}
	return nil
}

func TestVersions_EachProgramReadsItsOwnTablesUntilTheSwitchAndAfterIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := b.start(t, sales{})
	want(t, old, "sales", b.sell("router", 30), sold{"router", 30})

	building, goOn := make(chan struct{}), make(chan struct{})
	next := b.beside(t).start(t, sales{version: 2, at: map[uint64]func(){100: func() {
		close(building)
		<-goOn
	}}})
	<-building
	s := until(t, next, "building", func(s runner.Status) bool { return s.State == runner.StateBuilding })
	if s.CaughtUp {
		t.Errorf("got %+v", s)
	}
	position := b.sell("router", 5)
	want(t, old, "sales", position, sold{"router", 35}) // the old program goes on meanwhile
	if err := next.Views().WaitFor(t.Context(), "sales", position); !errors.Is(err, runner.ErrBehind) {
		t.Errorf("got %v", err)
	}
	if err := readSales(t, next); !errors.Is(err, runner.ErrBuilding) {
		t.Errorf("new statements ran on old tables: %v", err)
	}

	close(goOn)
	until(t, next, "switched", func(s runner.Status) bool { return s.State == runner.StateLive && s.Version == 2 })
	position = b.sell("router", 5)
	want(t, next, "sales", position, sold{"router", 40})
	want(t, old, "sales", position, sold{"router", 40}) // until nobody needs it
	if s := old.Status()[0]; s.Version != 1 || s.State != runner.StateLive {
		t.Errorf("the old program: %+v", s)
	}
}

// readSales reads the sales of an organization.
func readSales(t *testing.T, r *runner.Runner) error {
	t.Helper()
	var n []int
	sql := r.Views().SQL("sales", `select n from {schema}.sales`)
	return r.Views().Tenant(t.Context(), orgA, func(q *postgres.Reads) { postgres.Collect(q, &n, pgx.RowTo[int], sql) })
}

func TestVersions_AnOlderProgramNeverBuildsBelowANewerOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sell("router", 3)
	next := b.start(t, sales{version: 2})
	until(t, next, "live", func(s runner.Status) bool { return s.State == runner.StateLive })
	old := b.beside(t).start(t, sales{})
	until(t, old, "outdated", func(s runner.Status) bool { return s.State == runner.StateOutdated })
	next.Stop() // now the older one could lead
	want(t, b.beside(t).start(t, sales{version: 2}), "sales", b.sell("router", 1), sold{"router", 4})
	if s := old.Status()[0]; s.State != runner.StateOutdated || s.Rebuild != nil {
		t.Errorf("got %+v", s)
	}
	if err := readSales(t, old); !errors.Is(err, runner.ErrBuilding) {
		t.Errorf("old statements ran on new tables: %v", err)
	}
}

func TestUnknownType_StopsTheReadModelBeforeItAndNothingIsMissingAfterwards(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := b.start(t, sales{}, sales{name: "others"})
	position := b.sell("router", 3)
	want(t, old, "sales", position, sold{"router", 3})
	strange := b.log.Append(events.Metadata{OrgID: orgA},
		feed.Undecodable{Type: "test.Sold.v2", Unknown: true, Cause: errors.New("unknown event type")})
	b.sell("router", 3)
	s := until(t, old, "stopped", func(s runner.Status) bool { return s.State == runner.StateStopped })
	if s.Position >= strange || !strings.Contains(s.Error, "test.Sold.v2") {
		t.Errorf("got %+v", s)
	}
	b.log.Learn(strange, sold{"router", 10})
	next := b.beside(t).start(t, sales{}, sales{name: "others"}) // the old program gives its place away
	position = b.sell("router", 1)
	until(t, next, "shown", func(s runner.Status) bool { return s.Name == "sales" && s.Position >= position })
	want(t, next, "sales", position, sold{"router", 17})
}

func TestTypes_MoreWithoutAHigherVersionAreReadFromTheStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.open(t, false, sales{})
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, first, "sales", b.sell("router", 3), sold{"router", 3})
	first.Stop()
	b.clock.Advance(time.Minute)
	next := b.start(t, narrower{})
	s := until(t, next, "built", func(s runner.Status) bool { return s.State == runner.StateLive })
	if s.Generation != 2 {
		t.Errorf("got %+v", s)
	}
}

// narrower is sales with two types, both of which this version of the program knows.
type narrower struct{ broader }

func TestBuild_ThatMeetsPoisonSaysSo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var refuse atomic.Bool
	first := b.open(t, false, sales{poison: &refuse})
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, first, "sales", b.sell("poison", 1), sold{"poison", 1})
	first.Stop()
	refuse.Store(true)
	next := b.start(t, sales{version: 2, poison: &refuse})
	s := until(t, next, "stopped", func(s runner.Status) bool { return s.State == runner.StateStopped })
	if !strings.Contains(s.Error, "cannot be sold") || s.CaughtUp {
		t.Errorf("got %+v", s)
	}
	list, err := b.open(t, true, sales{version: 2}).List(t.Context())
	if err != nil || list[0].State != runner.StateStopped {
		t.Errorf("got %+v, %v", list, err)
	}
	refuse.Store(false)
	if err := next.Retry(t.Context(), "sales"); err != nil {
		t.Fatal(err)
	}
	until(t, next, "built", func(s runner.Status) bool { return s.State == runner.StateLive && s.Version == 2 })
}

func TestRebuild_ThatWasAskedForSurvivesACrash(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := b.open(t, true, sales{}).Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	schema := b.db.Namespace.Schema("runner")
	if _, err := b.db.Owner.Exec(t.Context(), // the leader that was asked died before it began
		`insert into `+schema+`.projection_requests (name, kind) values ('sales', 'rebuild')`); err != nil {
		t.Fatal(err)
	}
	r := b.start(t, sales{})
	until(t, r, "rebuilt", func(s runner.Status) bool { return s.Generation == 2 && s.Rebuild == nil })
	var left int
	if err := b.db.Owner.QueryRow(t.Context(),
		`select count(*) from `+schema+`.projection_requests`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d requests are left, %v", left, err)
	}
}

func TestTidy_DropsTablesOfRemovedProjectionsKilledVerifiesAndFailedBuilds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var refuse atomic.Bool
	first := b.open(t, false, sales{}, sales{name: "removed"})
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, first, "removed", b.sell("poison", 1), sold{"poison", 1})
	removed := first.Views().SQL("removed", "{schema}")
	first.Stop()
	refuse.Store(true)
	failed := b.open(t, false, sales{version: 2, poison: &refuse})
	if err := failed.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := until(t, failed, "stopped", func(s runner.Status) bool { return s.State == runner.StateStopped })
	failed.Stop()
	build := strings.TrimSuffix(removed, "removed_g1") + "sales_g2"
	if s.Rebuild == nil || !exists(t, b, build) {
		t.Fatalf("%+v has no schema %s", s, build)
	}
	if _, err := runner.NewScratch(t.Context(), b.db, sales{}, "verify"); err != nil { // and then it was killed
		t.Fatal(err)
	}
	scratch := strings.TrimSuffix(removed, "removed_g1") + "sales_verify"

	b.start(t, sales{}).Stop() // notes what is unused
	r := b.open(t, false, sales{})
	tidied(t, b, r, func() bool { return !exists(t, b, scratch) && exists(t, b, removed) && exists(t, b, build) })
	b.clock.Advance(2 * time.Hour)
	later := b.beside(t).open(t, false, sales{})
	tidied(t, b, later, func() bool { return !exists(t, b, removed) && !exists(t, b, build) })
}

// tidied starts an engine, waits for a condition on the database and stops the engine.
func tidied(t *testing.T, b *bench, r *runner.Runner, cond func() bool) {
	t.Helper()
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	until(t, r, "tidied", func(runner.Status) bool { return cond() })
}

func TestVerify_SaysWhatIsStoppedMissingOrLeftBehind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var refuse atomic.Bool
	refuse.Store(true)
	b.sell("router", 3)
	prepared := b.open(t, false, sales{poison: &refuse})
	if err := prepared.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	report, err := prepared.Verify(t.Context(), "sales")
	if err != nil || report.Equal() || !report.Behind || report.Head == 0 {
		t.Errorf("before the first start: %+v, %v", report, err)
	}
	r := b.start(t, sales{poison: &refuse})
	b.sell("poison", 1)
	until(t, r, "stopped", func(s runner.Status) bool { return s.State == runner.StateStopped })
	report, err = r.Verify(t.Context(), "sales")
	if err != nil || report.Equal() || !strings.Contains(report.Stopped, "cannot be sold") {
		t.Errorf("stopped: %+v, %v", report, err)
	}
	if _, err := b.db.Owner.Exec(t.Context(), r.Views().SQL("sales", `drop table {schema}.seen`)); err != nil {
		t.Fatal(err)
	}
	report, err = r.Verify(t.Context(), "sales")
	if err != nil || len(report.Tables) != 2 || !report.Tables[1].Missing || report.Tables[1].Replayed != 3 {
		t.Errorf("a table is missing: %+v, %v", report, err)
	}
}

// TestList_ALogThatIsShorterThanOneCheckpointIsTheErrorOfItsRow: the others are listed as usual.
func TestList_ALogThatIsShorterThanOneCheckpointIsTheErrorOfItsRow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{}, sales{name: "others"})
	last := b.sell("router", 3)
	want(t, r, "sales", last, sold{"router", 3})
	want(t, r, "others", last, sold{"router", 3})
	r.Stop()
	if _, err := b.db.Owner.Exec(t.Context(), `update `+b.db.Namespace.Schema("runner")+
		`.projection_versions set position = position + 1000 where name = 'sales'`); err != nil {
		t.Fatal(err)
	}
	list, err := b.open(t, true, sales{}, sales{name: "others"}).List(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if s := list[0]; s.State != runner.StateStopped || !strings.Contains(s.Error, "before the checkpoint") {
		t.Errorf("got %+v", s)
	}
	if s := list[1]; s.State != runner.StateLive || s.Error != "" {
		t.Errorf("got %+v", s)
	}
}
