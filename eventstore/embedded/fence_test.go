package embedded_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// wantFatal waits up to 20 s for the node's fatal error, which must contain want.
func wantFatal(t *testing.T, n *embedded.Node, want string) {
	t.Helper()
	select {
	case err := <-n.Err():
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	case <-time.After(waittest.Limit):
		t.Fatal("the node does not notice")
	}
}

// TestFence_OtherHolderStopsTheNode: after another node has written itself into the node row, no event is committed.
func TestFence_OtherHolderStopsTheNode(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	before := mustAppend(t, client, "s", esdb.NoStream{}, oneEvent())
	if _, err := cfg.Pool.Exec(t.Context(), `update `+cfg.Schema+`.node set holder = $1, epoch = epoch + 1`,
		uuid.New()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := client.AppendToStream(ctx, "s", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Revision(0)},
		oneEvent()); err == nil {
		t.Error("an append by a fenced node was acknowledged")
	}
	wantFatal(t, n, "another node has taken over")
	var last uint64
	if err := cfg.Pool.QueryRow(t.Context(),
		`select max(position) from `+cfg.Schema+`.events`).Scan(&last); err != nil {
		t.Fatal(err)
	}
	if last != before.CommitPosition {
		t.Errorf("the log ends at %d, the last event acknowledged is at %d", last, before.CommitPosition)
	}
}

// TestFence_LostLockIsNoticedWhenIdle: a node whose session was ended, and whose lock another session holds, stops
// itself, although no write makes it check.
func TestFence_LostLockIsNoticedWhenIdle(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	conn, err := pgx.Connect(t.Context(), pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	// One statement: end the session that holds the node's lock, then wait for that lock.
	const takeOver = `with held as (
			select l.pid, (l.classid::bigint << 32) | l.objid::bigint as key
			from pg_locks l join pg_stat_activity a using (pid)
			where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
			and l.pid in (select pid from pg_locks
				where locktype = 'advisory' and ((classid::bigint << 32) | objid::bigint) = $1)
		), ended as (select key, pg_terminate_backend(pid) from held)
		select pg_advisory_lock(key) from ended`
	if _, err := conn.Exec(t.Context(), takeOver, embedded.LockKey(cfg.Schema)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `update `+cfg.Schema+`.node set holder = $1, epoch = epoch + 1`,
		uuid.New()); err != nil {
		t.Fatal(err)
	}
	wantFatal(t, n, "another node has taken over")
}

// TestFence_ALogThatWasReplacedUnderTheNodeStopsIt: the database came back with as many events, of which the last one
// is another. What the node has in memory is not in the log.
func TestFence_ALogThatWasReplacedUnderTheNodeStopsIt(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	mustAppend(t, contract.Connect(t, n.URL()), "s", esdb.NoStream{}, oneEvent(), oneEvent())
	if _, err := cfg.Pool.Exec(t.Context(), `update `+cfg.Schema+`.events
		set record = overlay(record placing uuid_send($1) from 3)
		where position = (select max(position) from `+cfg.Schema+`.events)`, uuid.New()); err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.Pool.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_locks
		where locktype = 'advisory' and objsubid = 1 and (classid::bigint << 32) | objid::bigint = $1`,
		embedded.LockKey(cfg.Schema)); err != nil {
		t.Fatal(err)
	}
	wantFatal(t, n, "restored to an older state")
}
