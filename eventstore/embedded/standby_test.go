package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// waiting is a node that stands by, or has taken over.
type waiting struct {
	holders chan string // whom it stands behind, whenever that changes
	served  chan *embedded.Node
	failed  chan error
}

// standBy starts a node that stands by, and stops it at the end of the test.
func standBy(t testing.TB, cfg embedded.Config) *waiting {
	t.Helper()
	w := &waiting{holders: make(chan string, 100), served: make(chan *embedded.Node, 1), failed: make(chan error, 1)}
	cfg.Standby, cfg.StandingBy = true, func(holder string) { w.holders <- holder }
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		n, err := embedded.Start(ctx, cfg)
		if err != nil {
			w.failed <- err
			return
		}
		w.served <- n
		<-ctx.Done()
		stop(t, n)
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return w
}

// behind waits until the node stands behind another one.
func (w *waiting) behind(t testing.TB, holder string) {
	t.Helper()
	for got := ""; got != holder; {
		select {
		case got = <-w.holders:
		case err := <-w.failed:
			t.Fatalf("it does not stand by: %v", err)
		case <-time.After(waittest.Limit):
			t.Fatalf("it stands behind %q, want %q", got, holder)
		}
	}
}

// takesOver waits until the node serves.
func (w *waiting) takesOver(t testing.TB) *embedded.Node {
	t.Helper()
	select {
	case n := <-w.served:
		return n
	case err := <-w.failed:
		t.Fatalf("it does not take over: %v", err)
	case <-time.After(waittest.Limit):
		t.Fatal("it does not take over in time")
	}
	return nil
}

// seeds is the address by which clients find the one of several nodes that serves.
func seeds(addrs ...string) string { return "esdb://" + strings.Join(addrs, ",") + "?tls=false" }

// wantNoGap checks that each position of the log has one event.
func wantNoGap(t *testing.T, cfg embedded.Config) {
	t.Helper()
	var events, last int64
	if err := cfg.Pool.QueryRow(t.Context(), `select count(*), max(position) from `+cfg.Schema+`.events`).
		Scan(&events, &last); err != nil {
		t.Fatal(err)
	}
	if events != last {
		t.Errorf("%d events, the last position is %d", events, last)
	}
}

// TestStandby_TakesOverFromANodeThatIsKilled: one node after the other is killed during appends, and the one that
// stands by goes on. The stock client knows the addresses of both and finds who serves. Nothing acknowledged is lost or
// twice, and positions have no gap.
func TestStandby_TakesOverFromANodeThatIsKilled(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	addrs := []string{storetest.FreeAddr(t), storetest.FreeAddr(t)}
	serving := startChild(t, pgtest.URL(t), cfg.Schema, addrs[0])
	s := newStorm(t, seeds(addrs...), 16)
	for round := range 3 {
		next := launchChild(t, pgtest.URL(t), cfg.Schema, addrs[(round+1)%2], standby)
		if said := next.line(t); said != standby {
			t.Fatalf("beside a node that serves it says %q", said)
		}
		s.await(150)
		serving.kill(t)
		killed := time.Now()
		serving, next.url = next, next.line(t)
		t.Logf("%s serves after %s", next.url, time.Since(killed))
		s.await(150)
	}
	s.end()
	wantNoGap(t, cfg)
	_ = serving.input.Close()
	if err := serving.command.Wait(); err != nil {
		t.Errorf("the last node did not stop cleanly: %v", err)
	}
}

// TestStandby_ANodeThatWasPausedWritesNothingMore: the process of the node is stopped with appends on their way to it,
// PostgreSQL ends its session, and the other node takes over. When the first one goes on, it refuses the appends as
// unavailable, so that clients repeat them elsewhere, and ends with an error.
func TestStandby_ANodeThatWasPausedWritesNothingMore(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	paused := startChild(t, pgtest.URL(t), cfg.Schema, storetest.FreeAddr(t), "short silence")
	client := stormClient(t, paused.url)
	mustAppend(t, client, "before", esdb.NoStream{}, oneEvent())
	next := standBy(t, cfg)
	next.behind(t, paused.url)
	pause(t, paused.command.Process)
	answers := make(chan error, 20)
	patient := time.Minute
	for i := range cap(answers) {
		go func() {
			stream, at := fmt.Sprint("late-", i), esdb.ExpectedRevision(esdb.NoStream{})
			if i == 0 { // which is refused as far as the paused node knows, and not any more
				stream, at = "before", esdb.Revision(1)
			}
			_, err := client.AppendToStream(context.Background(), stream,
				esdb.AppendToStreamOptions{ExpectedRevision: at, Deadline: &patient}, oneEvent())
			answers <- err
		}()
	}
	other := contract.Connect(t, next.takesOver(t).URL())
	mustAppend(t, other, "after", esdb.NoStream{}, oneEvent())
	mustAppend(t, other, "before", esdb.Revision(0), oneEvent())
	if err := paused.command.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for range cap(answers) {
		wantCode(t, <-answers, esdb.ErrorUnavailable)
	}
	if err := paused.command.Wait(); err == nil {
		t.Error("the node that was paused ends as if it had been told to")
	}
	if said := paused.errors.String(); !strings.Contains(said, "another node has taken over this log") {
		t.Errorf("it says %q", said)
	}
	mustAppend(t, other, "after", esdb.Revision(0), oneEvent())
	if n := countOf(t, cfg, `name like 'late-%'`); n != 0 {
		t.Errorf("the node that was paused has written %d events", n)
	}
	wantNoGap(t, cfg)
}

// pause stops a process and waits until all of it stands still: the signal alone lets it go on for a while.
func pause(t testing.TB, p *os.Process) {
	t.Helper()
	var state syscall.WaitStatus
	err := p.Signal(syscall.SIGSTOP)
	if err == nil {
		_, err = syscall.Wait4(p.Pid, &state, syscall.WUNTRACED, nil)
	}
	if err != nil || !state.Stopped() {
		t.Fatalf("the process is not stopped: %v, %v", state, err)
	}
}

// countOf counts the events of streams.
func countOf(t *testing.T, cfg embedded.Config, which string) (n int) {
	t.Helper()
	if err := cfg.Pool.QueryRow(t.Context(), `select count(*) from `+cfg.Schema+`.events join `+cfg.Schema+
		`.streams on id = stream_id where `+which).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestStandby_ANodeWhoseNetworkGoesAwayWritesNothingMore: a network that swallows everything is between the node and
// PostgreSQL. The other node takes over within the silence; the first one lets its subscribers go, who would wait for
// events that it does not hear of, and ends when the network is back.
func TestStandby_ANodeWhoseNetworkGoesAwayWritesNothingMore(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	network := newSwallower(t)
	cut := cfg
	cut.Pool, cut.HolderSilence = network.pool(t), shortSilence
	first := start(t, cut)
	client := stormClient(t, first.URL())
	mustAppend(t, client, "before", esdb.NoStream{}, oneEvent())
	all, err := client.SubscribeToAll(t.Context(), esdb.SubscribeToAllOptions{From: esdb.Start{}})
	if err != nil {
		t.Fatal(err)
	}
	one, err := client.SubscribeToStream(t.Context(), "before", esdb.SubscribeToStreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []*esdb.Subscription{all, one} {
		caughtUp(t, sub)
	}
	next := standBy(t, cfg)
	next.behind(t, first.URL())
	network.swallow()
	answer := make(chan error, 1)
	patient := time.Minute
	go func() {
		_, err := client.AppendToStream(context.Background(), "late",
			esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}, Deadline: &patient}, oneEvent())
		answer <- err
	}()
	other := contract.Connect(t, next.takesOver(t).URL())
	mustAppend(t, other, "after", esdb.NoStream{}, oneEvent())
	for name, sub := range map[string]*esdb.Subscription{"all": all, "one": one} {
		if e := sub.Recv(); e.SubscriptionDropped == nil {
			t.Errorf("a subscriber to %s hears %v of a node that may have lost the log", name, e)
		}
	}
	network.heal()
	wantFatal(t, first, "another node has taken over")
	wantCode(t, <-answer, esdb.ErrorUnavailable)
	if n := countOf(t, cfg, `name = 'late'`); n != 0 {
		t.Errorf("the node without a network has written %d events", n)
	}
	mustAppend(t, other, "after", esdb.Revision(0), oneEvent())
	wantNoGap(t, cfg)
}

// TestStandby_OneOfThreeInLineTakesOver: after an orderly stop one of them serves, and the others stand behind it. Who
// stands by listens nowhere.
func TestStandby_OneOfThreeInLineTakesOver(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	first, err := embedded.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	last := mustAppend(t, contract.Connect(t, first.URL()), "s", esdb.NoStream{}, oneEvent())
	line := map[string]*waiting{}
	for range 3 {
		addr := storetest.FreeAddr(t)
		mine := cfg
		mine.Addr = addr
		line[addr] = standBy(t, mine)
		line[addr].behind(t, first.URL())
	}
	for addr := range line {
		if err := dialled(addr); err == nil {
			t.Errorf("%s listens although it stands by", addr)
		}
	}
	holder := first
	for range 3 {
		stop(t, holder)
		holder = winner(t, line)
		delete(line, holder.Addr())
		for _, w := range line {
			w.behind(t, holder.URL())
		}
		r := mustAppend(t, contract.Connect(t, holder.URL()), "s", esdb.Revision(last.NextExpectedVersion), oneEvent())
		if r.CommitPosition != last.CommitPosition+1 {
			t.Errorf("the log goes on at %d after %d", r.CommitPosition, last.CommitPosition)
		}
		last = r
	}
}

// winner waits for the node that takes over, of all in line.
func winner(t *testing.T, line map[string]*waiting) *embedded.Node {
	t.Helper()
	won := make(chan *embedded.Node, len(line))
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	var watch sync.WaitGroup
	for _, w := range line {
		watch.Go(func() {
			select {
			case n := <-w.served:
				won <- n
				cancel()
			case <-ctx.Done():
			}
		})
	}
	watch.Wait()
	select {
	case n := <-won:
		return n
	default:
		t.Fatal("none of them takes over")
		return nil
	}
}

// TestStandby_GoesOnWaitingWhileTheDatabaseIsAway: it says so once, stands by again when the database is back, and
// takes over afterwards.
func TestStandby_GoesOnWaitingWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	cluster, err := postgres.StartCluster(t.Context(), postgres.ClusterConfig{
		DataDir: filepath.Join(t.TempDir(), "pg"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop(context.Background()) })
	lines := make(chan string, 1000)
	cfg := embedded.Config{
		Pool: ownPool(t, cluster.URL(), "standby"), Schema: "standby", Addr: "127.0.0.1:0", Logger: quiet(),
	}
	first := start(t, cfg)
	cfg.Logger = slog.New(said{Handler: quiet().Handler(), lines: lines})
	next := standBy(t, cfg)
	next.behind(t, first.URL())
	if err := syscall.Kill(cluster.PID(), syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	for line := ""; line != "event store database unreachable, the node stands by"; {
		select {
		case line = <-lines:
		case err := <-next.failed:
			t.Fatalf("it does not go on waiting: %v", err)
		}
	}
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	acceptedAgain(t, func() <-chan error { return appendedOnce(t, first.URL(), uuid.NewString()) })
	stop(t, first)
	mustAppend(t, contract.Connect(t, next.takesOver(t).URL()), "after", esdb.NoStream{}, oneEvent())
}

// said signals each line of a log.
type said struct {
	slog.Handler
	lines chan string
}

// Enabled implements slog.Handler.
func (said) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h said) Handle(_ context.Context, line slog.Record) error {
	h.lines <- line.Message
	return nil
}

// TestStandby_WaitsForTheEndOfAMigration: the holder migrates for longer than a node that does not stand by waits, with
// locks on the row that says who it is.
func TestStandby_WaitsForTheEndOfAMigration(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	first, err := embedded.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	stop(t, first)
	conn, err := cfg.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, sql := range []string{
		fmt.Sprintf(`select pg_advisory_lock(%d)`, embedded.LockKey(cfg.Schema)), `begin`,
		`lock table ` + cfg.Schema + `.node in access exclusive mode`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	log := &counted{Handler: quiet().Handler(), lines: map[string]int{}}
	cfg.Logger = slog.New(log)
	next := standBy(t, cfg)
	if holder := <-next.holders; holder != "" {
		t.Errorf("it stands behind %q although nobody can read who it is", holder)
	}
	for _, sql := range []string{`rollback`, `select pg_advisory_unlock_all()`} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	next.takesOver(t)
	if log.count("event store database unreachable, the node stands by") > 0 {
		t.Error("a migration is taken for an outage")
	}
}

// TestStandby_StopsWaitingWhenItIsTold: a start that waits ends with its context.
func TestStandby_StopsWaitingWhenItIsTold(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	first := start(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	cfg.Standby, cfg.StandingBy = true, func(string) { cancel() }
	if _, err := embedded.Start(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	mustAppend(t, contract.Connect(t, first.URL()), "s", esdb.NoStream{}, oneEvent())
}

// TestStandby_AnAddressThatIsTakenIsToldAtOnce: not at the take-over, when nobody serves.
func TestStandby_AnAddressThatIsTakenIsToldAtOnce(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Addr, cfg.Standby = start(t, cfg).Addr(), true
	if _, err := embedded.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("got %v", err)
	}
}
