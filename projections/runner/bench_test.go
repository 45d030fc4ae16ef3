package runner_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// plans is a projection of the usual shape: an upsert for each event, whose few arguments go by position, or by name.
type plans struct{ byName bool }

func (plans) Name() string           { return "plans" }
func (plans) Version() int           { return 1 }
func (plans) Handles() []string      { return []string{events.PlanArchived{}.EventType()} }
func (plans) TenantTables() []string { return []string{"plans"} }

// DDL has one table under row-level security.
func (plans) DDL() string {
	return `create table {schema}.plans
		(org_id uuid not null, id uuid primary key, reason text not null, at timestamptz not null)`
}

// Apply upserts one row.
func (m plans) Apply(w *runner.Writes, e events.Envelope) error {
	p, _ := e.Event.(events.PlanArchived)
	if m.byName {
		w.Exec(`insert into {schema}.plans (org_id, id, reason, at) values (@org, @id, @reason, @at)
			on conflict (id) do update set reason = excluded.reason, at = excluded.at`,
			pgx.NamedArgs{"org": e.Meta.OrgID, "id": p.PlanID, "reason": p.Reason, "at": e.Meta.At})
		return nil
	}
	w.Exec(`insert into {schema}.plans (org_id, id, reason, at) values ($1, $2, $3, $4)
		on conflict (id) do update set reason = excluded.reason, at = excluded.at`,
		e.Meta.OrgID, p.PlanID, p.Reason, e.Meta.At)
	return nil
}

// archived makes an event that is ready to append, of a new plan.
func archived(i int) eventstore.New {
	return eventstore.New{
		Event: events.PlanArchived{PlanID: id.New[id.Plan](), Reason: fmt.Sprint("reason ", i)},
		Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), OrgID: orgA, Action: "test", At: noon,
			Actor: events.Actor{Kind: events.ActorOperator},
		},
	}
}

// copyRows copies the rows of a rebuild into a table of the same shape with COPY, and returns the time that COPY took.
func copyRows(b *testing.B, db *postgres.DB, from string) time.Duration {
	b.Helper()
	rows, _ := db.Owner.Query(b.Context(), `select org_id::text, id::text, reason, at from `+from)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
	if err != nil {
		b.Fatal(err)
	}
	table := pgx.Identifier{db.Namespace.Schema("runner"), "copied"} // without row-level security: COPY refuses that
	_, err = db.Owner.Exec(b.Context(),
		`drop table if exists `+table.Sanitize()+`; create table `+table.Sanitize()+` (like `+from+` including all)`)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now() //nolint:forbidigo // measures
	n, err := db.Owner.CopyFrom(b.Context(), table, []string{"org_id", "id", "reason", "at"}, pgx.CopyFromRows(list))
	if err != nil || n != int64(len(list)) {
		b.Fatal(n, err)
	}
	return time.Since(began) //nolint:forbidigo // measures
}

// rebuildAim is the wanted rate of a rebuild as a share of COPY's rate.
const rebuildAim = 0.4

// rebuildAgainstCopy reports the rate of a rebuild and that of a COPY of the same rows, in events per second.
func rebuildAgainstCopy(b *testing.B, db *postgres.DB, model plans, log feed.Log, n int) {
	b.Helper()
	benchtest.AsProgram()
	var rebuilding, copying time.Duration
	for b.Loop() {
		r := runner.New(runner.Config{Feed: feedtest.Start(b, log), DB: db, Clock: clock.System()})
		r.Register(model)
		if err := r.Prepare(b.Context()); err != nil {
			b.Fatal(err)
		}
		began := time.Now() //nolint:forbidigo // measures
		if err := r.Rebuild(b.Context(), "plans", nil); err != nil {
			b.Fatal(err)
		}
		rebuilding += time.Since(began) //nolint:forbidigo // measures
		copying += copyRows(b, db, r.Views().SQL("plans", "{schema}.plans"))
	}
	benchtest.Report(b, "events/s", float64(n*b.N)/rebuilding.Seconds(), float64(n*b.N)/copying.Seconds(), rebuildAim)
}

// BenchmarkRebuild_Memory reads from a log in memory, so that the store's speed does not count.
func BenchmarkRebuild_Memory(b *testing.B) { rebuildFromMemory(b, plans{}) }

// BenchmarkRebuild_Named is BenchmarkRebuild_Memory with named arguments; the difference shows the cost of names.
func BenchmarkRebuild_Named(b *testing.B) { rebuildFromMemory(b, plans{byName: true}) }

// rebuildFromMemory rebuilds from 100,000 events, or BENCH_MEMORY_EVENTS.
func rebuildFromMemory(b *testing.B, model plans) {
	b.Helper()
	log, n := feedtest.New(), benchtest.Size(b, "MEMORY_EVENTS", 100_000)
	for i := range n {
		e := archived(i)
		log.Append(e.Meta, e.Event)
	}
	rebuildAgainstCopy(b, pgtest.New(b), model, log, n)
}

// BenchmarkRebuild_Store reads from the embedded node on the same database: 1,000,000 events, or BENCH_EVENTS.
func BenchmarkRebuild_Store(b *testing.B) {
	kit, n := storetest.New(b), benchtest.Size(b, "EVENTS", 1_000_000)
	for first := 0; first < n; first += 500 {
		list := make([]eventstore.New, min(500, n-first))
		for i := range list {
			list[i] = archived(first + i)
		}
		if _, err := kit.Store.Append(b.Context(), "plan-"+id.New[id.Plan]().String(), eventstore.NoStream,
			list); err != nil {
			b.Fatal(err)
		}
	}
	rebuildAgainstCopy(b, kit.DB, plans{}, feed.FromStore(kit.Store), n)
}

// BenchmarkVisible measures the time from an append's reply until a reader sees the event.
func BenchmarkVisible(b *testing.B) {
	kit := storetest.New(b)
	r := runner.New(runner.Config{
		Feed: feedtest.Start(b, feed.FromStore(kit.Store)), DB: kit.DB, Clock: clock.System(),
	})
	r.Register(plans{})
	if err := r.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(r.Stop)
	var took []time.Duration
	for b.Loop() {
		done, err := kit.Store.Append(b.Context(), "plan-"+id.New[id.Plan]().String(), eventstore.NoStream,
			[]eventstore.New{archived(0)})
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now() //nolint:forbidigo // measures
		if err := r.Views().WaitFor(b.Context(), "plans", done.Position); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began)) //nolint:forbidigo // measures
	}
	var asked []time.Duration // the lower bound: one call to the node and its reply
	for range took {
		began := time.Now() //nolint:forbidigo // measures
		if err := kit.Store.Ping(b.Context()); err != nil {
			b.Fatal(err)
		}
		asked = append(asked, time.Since(began)) //nolint:forbidigo // measures
	}
	benchtest.Latencies(b, "shown", took, 50*time.Millisecond)
	benchtest.ReportTime(b, "shown", benchtest.Quantile(took, 50), benchtest.Quantile(asked, 50), benchtest.NoAim)
}
