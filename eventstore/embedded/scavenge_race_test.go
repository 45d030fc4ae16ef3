package embedded_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// fourOfWhichOneIsSeen writes four events to a stream, and metadata that hides all but the last.
func fourOfWhichOneIsSeen(t *testing.T, client *esdb.Client, stream string) {
	t.Helper()
	mustAppend(t, client, stream, esdb.NoStream{}, several(4)...)
	setMeta(t, client, stream, func(m *esdb.StreamMetadata) { m.SetMaxCount(1) })
}

// TestScavenge_MetadataThatIsBeingCommittedCounts: an append under way shows all events of a stream again. The pass
// waits for it and removes none, whatever isolation the database has for transactions.
func TestScavenge_MetadataThatIsBeingCommittedCounts(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{"read committed", "repeatable read"} {
		t.Run(isolation, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig(t)
			config := cfg.Pool.Config()
			config.ConnConfig.RuntimeParams["default_transaction_isolation"] = isolation
			pool, err := pgxpool.NewWithConfig(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(pool.Close)
			cfg.Pool = pool
			metadataBesideAPass(t, cfg)
		})
	}
}

// metadataBesideAPass commits metadata that shows the events of a stream while a pass is about to remove them.
func metadataBesideAPass(t *testing.T, cfg embedded.Config) {
	t.Helper()
	n := start(t, cfg)
	fourOfWhichOneIsSeen(t, contract.Connect(t, n.URL()), "s")
	under, err := cfg.Pool.Begin(t.Context()) // as the sequencer's statement does it
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = under.Rollback(context.Background()) }()
	for _, sql := range []string{
		`select from {schema}.node for share`,
		`insert into {schema}.events select e.position + 1, s.id, 1,
				{schema}.event_record(e.position + 1, s.id, 1, gen_random_uuid(), '$metadata', true, 0, '', '{}')
			from {schema}.streams s, (select max(position) as position from {schema}.events) e where s.name = '$$s'`,
	} {
		if _, err := under.Exec(t.Context(), inSchema(cfg, sql)); err != nil {
			t.Fatal(err)
		}
	}
	passed := make(chan error, 1)
	go func() { passed <- embedded.Scavenge(t.Context(), n, nil) }()
	for waits := false; !waits; {
		select {
		case err := <-passed:
			t.Fatalf("the pass does not wait for the append: %v", err)
		default:
		}
		query(t, cfg, `select exists (select from pg_stat_activity where wait_event_type = 'Lock'
			and query like '%{schema}.node%for update')`, &waits)
	}
	if err := under.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-passed; err != nil {
		t.Fatal(err)
	}
	if left := countOf(t, cfg, `name = 's'`); left != 4 {
		t.Errorf("%d of four visible events are left", left)
	}
}

// TestScavenge_AnAppendWaitsForTheTransactionUnderWay, so that it shows nothing that is about to go.
func TestScavenge_AnAppendWaitsForTheTransactionUnderWay(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	fourOfWhichOneIsSeen(t, client, "s")
	// The transaction stops where it deletes, with the lock that it has by then.
	run(t, cfg, `create function {schema}.stop() returns trigger language plpgsql as $$ begin
			perform pg_advisory_xact_lock(hashtext('{schema}')); return old; end $$`,
		`create trigger stop before delete on {schema}.events for each row execute function {schema}.stop()`)
	stopped, err := cfg.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stopped.Release()
	if _, err := stopped.Exec(t.Context(), inSchema(cfg, `select pg_advisory_lock(hashtext('{schema}'))`)); err != nil {
		t.Fatal(err)
	}
	passed := make(chan error, 1)
	go func() { passed <- embedded.Scavenge(t.Context(), n, nil) }()
	waiting := func(statement string) {
		t.Helper()
		for waits := false; !waits; {
			select {
			case err := <-passed:
				t.Fatalf("the pass has ended: %v", err)
			default:
			}
			query(t, cfg, `select exists (select from pg_stat_activity where wait_event_type = 'Lock'
				and query like '%`+statement+`%')`, &waits)
		}
	}
	waiting("delete from {schema}.events")
	appended := make(chan error, 1)
	go func() {
		_, err := client.AppendToStream(t.Context(), "s", esdb.AppendToStreamOptions{}, oneEvent())
		appended <- err
	}()
	waiting("insert into {schema}.events")
	if _, err := stopped.Exec(t.Context(), inSchema(cfg, `select pg_advisory_unlock_all()`)); err != nil {
		t.Fatal(err)
	}
	if err := <-passed; err != nil {
		t.Error(err)
	}
	if err := <-appended; err != nil {
		t.Error(err)
	}
	if left := countOf(t, cfg, `name = 's'`); left != 2 {
		t.Errorf("%d events are left, want the last one and the new one", left)
	}
}

// TestScavenge_ANodeThatHasLostItsLogRemovesNothing: another one has written itself into the row of the node.
func TestScavenge_ANodeThatHasLostItsLogRemovesNothing(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	fourOfWhichOneIsSeen(t, contract.Connect(t, n.URL()), "s")
	if _, err := cfg.Pool.Exec(t.Context(), `update `+cfg.Schema+`.node set holder = $1, epoch = epoch + 1`,
		uuid.New()); err != nil {
		t.Fatal(err)
	}
	err := embedded.Scavenge(t.Context(), n, nil)
	if err == nil || !strings.Contains(err.Error(), "another node has taken over") {
		t.Errorf("a pass of a node that has lost its log: %v", err)
	}
	if left := countOf(t, cfg, `name = 's'`); left != 4 {
		t.Errorf("%d of four events are left", left)
	}
}

// TestScavenge_ANodeThatTakesTheLogAgainGoesOn with its new epoch, of which the pass hears.
func TestScavenge_ANodeThatTakesTheLogAgainGoesOn(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	fourOfWhichOneIsSeen(t, client, "s")
	endSession(t, cfg)
	mustAppend(t, client, "after", esdb.Any{}, oneEvent())
	if epochOf(t, cfg) < 2 {
		t.Fatal("the node has its old session")
	}
	scavenge(t, n)
	if left := countOf(t, cfg, `name = 's'`); left != 1 {
		t.Errorf("%d events are left", left)
	}
}

// TestScavenge_AKillBetweenTransactionsLeavesARightLog: each life of the node removes a part, the last one the rest.
func TestScavenge_AKillBetweenTransactionsLeavesARightLog(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	database, addr := pgtest.URL(t), storetest.FreeAddr(t)
	node := startChild(t, database, cfg.Schema, addr)
	client := stormClient(t, node.url)
	const events = 100
	mustAppend(t, client, "s", esdb.NoStream{}, several(events)...)
	setMeta(t, client, "s", func(m *esdb.StreamMetadata) { m.SetMaxCount(3) })
	mustAppend(t, client, "other", esdb.NoStream{}, several(2)...)
	seenBefore := seen(t, client, "s")
	for life := range 2 {
		node.kill(t)
		node = startChild(t, database, cfg.Schema, addr, scavenging)
		if line := node.line(t); line != scavenging {
			t.Fatal(line)
		}
		if left := countOf(t, cfg, `name = 's'`); left != events-embedded.ScavengeBegin*(life+1) {
			t.Errorf("life %d leaves %d events", life, left)
		}
		if got := seen(t, contract.Connect(t, node.url), "s"); got != seenBefore {
			t.Errorf("life %d shows %q, before %q", life, got, seenBefore)
		}
	}
	node.kill(t)
	n := start(t, cfg)
	scavenge(t, n)
	last := contract.Connect(t, n.URL())
	if got := seen(t, last, "s"); got != seenBefore || countOf(t, cfg, `name = 's'`) != 3 {
		t.Errorf("at last it shows %q, before %q", got, seenBefore)
	}
	if r := mustAppend(t, last, "s", esdb.Revision(events-1), oneEvent()); r.NextExpectedVersion != events {
		t.Errorf("it goes on at %d", r.NextExpectedVersion)
	}
}

// TestScavenge_ByItself: shortly after the start and then each day, by the node's clock, and soon after a failure.
func TestScavenge_ByItself(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	moved, lines := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), make(chan string, 100)
	cfg.Clock, cfg.ScavengeEvery = moved, 24*time.Hour
	cfg.Logger = slog.New(said{Handler: quiet().Handler(), lines: lines})
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	says := func(want string) {
		t.Helper()
		giveUp := time.After(waittest.Limit)
		for {
			select {
			case line := <-lines:
				if line == want {
					return
				}
				if strings.Contains(line, "scavenged") {
					t.Fatalf("the node says %q, want %q", line, want)
				}
			case <-giveUp:
				t.Fatalf("the node does not say %q", want)
			}
		}
	}
	const done, failed = "event store log scavenged", "event store log is not scavenged"
	round := func(stream string, after time.Duration) {
		t.Helper()
		fourOfWhichOneIsSeen(t, client, stream)
		moved.Advance(after - time.Second)
		moved.Advance(time.Second)
		says(done)
		if left := countOf(t, cfg, fmt.Sprintf(`name = '%s'`, stream)); left != 1 {
			t.Errorf("%s: %d events are left", stream, left)
		}
	}
	round("first", 5*time.Minute)
	round("second", 24*time.Hour)
	fourOfWhichOneIsSeen(t, client, "third")
	run(t, cfg, `alter table {schema}.streams rename to away`)
	moved.Advance(24 * time.Hour)
	says(failed)
	run(t, cfg, `alter table {schema}.away rename to streams`)
	round("fourth", 5*time.Minute)
	if left := countOf(t, cfg, `name = 'third'`); left != 1 {
		t.Errorf("%d events are left of those that could not be removed at first", left)
	}
}

// TestScavenge_CanBeLeftOut: nothing is removed by a node that was not told to, or is told so.
func TestScavenge_CanBeLeftOut(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	moved := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	cfg.Clock = moved
	n := start(t, cfg)
	fourOfWhichOneIsSeen(t, contract.Connect(t, n.URL()), "s")
	moved.Advance(1000 * time.Hour)
	stop(t, n) // after it nothing runs any more
	if left := countOf(t, cfg, `name = 's'`); left != 4 {
		t.Errorf("%d events are left", left)
	}
	cfg.ScavengeEvery = -1
	if _, err := embedded.Start(t.Context(), cfg); err == nil {
		t.Error("a negative time is taken")
	}
}
