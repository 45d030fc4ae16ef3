package runner_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

func TestFollower_WaitsForWhatTheLeaderDidAndTakesOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.open(t, false, sales{})
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := *b
	second.db = pgtest.Open(t, b.db.URL, b.db.Namespace)
	r := second.start(t, sales{})
	want(t, r, "sales", b.sell("router", 3), sold{"router", 3})
	position := b.log.Append(events.Metadata{}, noise{})
	if err := r.Views().WaitFor(t.Context(), "sales", position); err != nil {
		t.Errorf("a follower does not reach an event that the projection does not take: %v", err)
	}
	if s := r.Status()[0]; s.State != runner.StateFollowing {
		t.Errorf("got %+v", s)
	}
	first.Stop()
	want(t, r, "sales", b.sell("router", 2), sold{"router", 5})
	until(t, r, "leading", func(s runner.Status) bool { return s.State == runner.StateLive })
}

func TestLeader_ThatLostItsLockDoesNotWriteBesideTheNext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	other := *b
	other.db = pgtest.Open(t, b.db.URL, b.db.Namespace)
	next := other.start(t, sales{})
	total := 0
	for range 6 {
		pgtest.EndHolder(t, b.db, "projection sales v1")
		position := b.sell("router", 300)
		total += 300
		for _, one := range []*runner.Runner{r, next} {
			until(t, one, "shown", func(s runner.Status) bool { return s.Position >= position })
			want(t, one, "sales", position, sold{"router", total})
		}
	}
}

func TestRunner_OnTheRealStoreThroughAFallOfItsNode(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	r := runner.New(runner.Config{
		Feed: feedtest.Start(t, feed.FromStore(kit.Store)), DB: kit.DB, Clock: clock.System(),
	})
	r.Register(plans{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	shown := 0
	for round := range 3 {
		for range 5 {
			done, err := kit.Store.Append(t.Context(), "plan-"+id.New[id.Plan]().String(), eventstore.NoStream,
				[]eventstore.New{archived(shown)})
			if err != nil {
				t.Fatal(err)
			}
			shown++
			until(t, r, "shown", func(s runner.Status) bool { return s.Position >= done.Position })
			var n []int
			sql := r.Views().SQL("plans", `select count(*) from {schema}.plans`)
			if err := r.Views().Tenant(t.Context(), orgA,
				func(q *postgres.Reads) { postgres.Collect(q, &n, pgx.RowTo[int], sql) }); err != nil {
				t.Fatal(err)
			}
			if n[0] != shown {
				t.Fatalf("%d shown, want %d", n[0], shown)
			}
		}
		if round < 2 {
			kit.StopNode()
			kit.StartNode()
		}
		for range 100 { // the first calls can meet the stopped node
			if err := kit.Store.Ping(t.Context()); err == nil {
				break
			}
		}
	}
}
