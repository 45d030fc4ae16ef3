package embedded_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// endSession has PostgreSQL end the session that holds the log.
func endSession(t *testing.T, cfg embedded.Config) {
	t.Helper()
	tag, err := cfg.Pool.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_locks where granted
		and locktype = 'advisory' and objsubid = 1 and (classid::bigint << 32) | objid::bigint = $1`,
		embedded.LockKey(cfg.Schema))
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("%d sessions were ended, %v", tag.RowsAffected(), err)
	}
}

// epochOf is how often the log was taken.
func epochOf(t *testing.T, cfg embedded.Config) (epoch int64) {
	t.Helper()
	if err := cfg.Pool.QueryRow(t.Context(), `select epoch from `+cfg.Schema+`.node`).Scan(&epoch); err != nil {
		t.Fatal(err)
	}
	return epoch
}

// TestStandby_LeavesTheLogToAHolderThatHasLostItsSessionAlone: PostgreSQL ends the session of a node twenty times,
// while it writes and while it has nothing to do. It takes the log again before the one that stands by.
func TestStandby_LeavesTheLogToAHolderThatHasLostItsSessionAlone(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	first := start(t, cfg)
	client := contract.Connect(t, first.URL())
	mustAppend(t, client, "s", esdb.NoStream{}, oneEvent())
	next := standBy(t, cfg)
	next.behind(t, first.URL())
	for round := range 20 {
		before := epochOf(t, cfg)
		endSession(t, cfg)
		if round%2 == 1 {
			mustAppend(t, client, "s", esdb.Revision(uint64(round/2)), oneEvent())
		}
		for until := time.Now().Add(20 * time.Second); epochOf(t, cfg) == before; {
			if time.Now().After(until) {
				t.Fatal("nobody has taken the log again")
			}
			loop.Sleep(t.Context(), 5*time.Millisecond)
		}
	}
	wantAlive(t, first)
	select {
	case n := <-next.served:
		t.Fatalf("%s has taken the log over", n.URL())
	default:
	}
	mustAppend(t, client, "s", esdb.Revision(10), oneEvent())
	wantNoGap(t, cfg)
}

// TestStandby_TakesNothingWhereItCannotListen: its address was taken while it waited. Nobody would serve the log if it
// took it.
func TestStandby_TakesNothingWhereItCannotListen(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	first, err := embedded.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Addr = storetest.FreeAddr(t)
	next := standBy(t, cfg)
	next.behind(t, first.URL())
	taken, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	before := epochOf(t, cfg)
	stop(t, first)
	if err := <-next.failed; !strings.Contains(err.Error(), "in use") {
		t.Errorf("it says %v", err)
	}
	if after := epochOf(t, cfg); after != before {
		t.Errorf("it has taken the log: epoch %d after %d", after, before)
	}
	cfg.Addr = "127.0.0.1:0"
	start(t, cfg)
}
