package runner_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// sold is the only event that the projections of these tests handle.
type sold struct {
	Item string
	N    int
}

func (sold) EventType() string { return "test.Sold.v1" }

// noise is an event that no projection here handles.
type noise struct{}

func (noise) EventType() string { return "test.Noise.v1" }

// sales counts the sold items. It adds instead of setting, so that an event applied twice is found.
type sales struct {
	name    string
	version int
	poison  *atomic.Bool      // when true, the item "poison" is refused
	at      map[uint64]func() // called when the event at that position is applied
}

// Name is "sales" unless the test sets another one.
func (s sales) Name() string {
	if s.name == "" {
		return "sales"
	}
	return s.name
}
func (s sales) Version() int         { return max(s.version, 1) }
func (sales) Handles() []string      { return []string{"test.Sold.v1"} }
func (sales) TenantTables() []string { return []string{"sales"} }

// DDL has one table of tenants and one that only the platform reads.
func (sales) DDL() string {
	return `create table {schema}.sales
	(org_id uuid not null, item text not null, n int not null check (n < 1000000), primary key (org_id, item));
create table {schema}.seen (position bigint primary key)`
}

// Apply adds a sale. The item "poison" fails while the flag of that name is set. The items "panic", "unencodable" and
// "unwritable" always fail, each in its own way.
func (s sales) Apply(w *runner.Writes, e events.Envelope) error {
	if call := s.at[e.Position]; call != nil {
		call()
	}
	switch e := e.Event.(sold); e.Item {
	case "poison":
		if s.poison != nil && s.poison.Load() {
			return errors.New("cannot be sold")
		}
	case "panic":
		panic("out of stock")
	case "unencodable":
		w.Exec(`insert into {schema}.seen values ($1)`, make(chan int))
	case "unwritable":
		w.Exec(`insert into {schema}.seen values ($1 / 0)`, 1)
	}
	sale, _ := e.Event.(sold)
	w.Exec(`insert into {schema}.sales values ($1, $2, $3)
		on conflict (org_id, item) do update set n = sales.n + excluded.n`, e.Meta.OrgID, sale.Item, sale.N)
	w.Exec(`insert into {schema}.seen values ($1)`, int64(e.Position))
	return nil
}

// Two organizations, and the instant at which the tests begin.
var (
	orgA = id.Must[id.Organization]("00000000-0000-7000-8000-00000000000a")
	orgB = id.Must[id.Organization]("00000000-0000-7000-8000-00000000000b")
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// bench is a log in memory, a database and a clock that the test moves.
type bench struct {
	log   *feedtest.Log
	db    *postgres.DB
	clock *clock.Manual
}

// newBench makes a bench with an empty log and no tables.
func newBench(t testing.TB) *bench {
	t.Helper()
	return &bench{log: feedtest.New(), db: pgtest.New(t), clock: clock.NewManual(noon)}
}

// sell appends n sales of one piece and returns the position of the last.
func (b *bench) sell(item string, n int) (position uint64) {
	for range n {
		position = b.log.Append(events.Metadata{OrgID: orgA}, sold{item, 1})
	}
	return position
}

// open makes an engine that is not started; follow makes it fill no tables.
func (b *bench) open(t testing.TB, follow bool, ps ...runner.Projection) *runner.Runner {
	t.Helper()
	r := runner.New(runner.Config{Feed: feedtest.Start(t, b.log), DB: b.db, Clock: b.clock, FollowOnly: follow})
	r.Register(ps...)
	return r
}

// start makes a running engine; the test's end stops it.
func (b *bench) start(t testing.TB, ps ...runner.Projection) *runner.Runner {
	t.Helper()
	r := b.open(t, false, ps...)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// want waits for a position and compares how often an item was sold to orgA.
func want(t testing.TB, r *runner.Runner, projection string, position uint64, all sold) {
	t.Helper()
	if err := reach(t, r, projection, position); err != nil {
		t.Fatalf("wait for %s at %d: %v; %+v", projection, position, err, r.Status())
	}
	if got := count(t, r, projection, orgA, all.Item); got != all.N {
		t.Errorf("%s sold %d of %s, want %d", projection, got, all.Item, all.N)
	}
}

// reach waits until a projection shows a position, several times as long as a command does: on a busy machine.
func reach(t testing.TB, r *runner.Runner, projection string, position uint64) (err error) {
	for range 10 {
		if err = r.Views().WaitFor(t.Context(), projection, position); !errors.Is(err, runner.ErrBehind) {
			return err
		}
	}
	return err
}

// count reads the pieces sold of an item as an organization sees them; 0 without a row.
func count(t testing.TB, r *runner.Runner, projection string, org id.Organization, item string) int {
	t.Helper()
	var n *int
	sql := r.Views().SQL(projection, `select n from {schema}.sales where item = $1`)
	err := r.Views().Tenant(t.Context(), org, func(reads *postgres.Reads) {
		postgres.CollectMaybe(reads, &n, pgx.RowTo[int], sql, item)
	})
	if err != nil {
		t.Fatal(err)
	}
	if n == nil {
		return 0
	}
	return *n
}

// until waits up to 10 s until a projection is in a state that cond accepts, and returns its status.
func until(t testing.TB, r *runner.Runner, what string, cond func(runner.Status) bool) runner.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, s := range r.Status() {
			if cond(s) {
				return s
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("never %s: %s", what, describe(r))
		case <-tick.C:
		}
	}
}

// describe returns the state of every projection for failure messages.
func describe(r *runner.Runner) (text string) {
	for _, s := range r.Status() {
		text += fmt.Sprintf("%+v %+v; ", s, s.Rebuild)
	}
	return text
}
