package embedded_test

import (
	"context"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// soon is less than the limit of a statement of the sequencer, which is 30 s, and more than the time after which writes
// are refused.
const soon = 20 * time.Second

// appended gives the answer of an append whose caller is patient.
func appended(client *esdb.Client, stream string) <-chan error {
	answer, patient := make(chan error, 1), time.Minute
	go func() {
		_, err := client.AppendToStream(context.Background(), stream,
			esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}, Deadline: &patient}, oneEvent())
		answer <- err
	}()
	return answer
}

// refusedSoon waits for an answer that leaves the outcome open.
func refusedSoon(t *testing.T, answer <-chan error) {
	t.Helper()
	select {
	case err := <-answer:
		wantCode(t, err, esdb.ErrorUnavailable)
	case <-time.After(soon):
		t.Fatal("the write has no answer")
	}
}

// TestStall_ACommitWhoseNetworkIsCutRefusesWritesSoon: also those that come meanwhile. The node goes on when the
// network is back.
func TestStall_ACommitWhoseNetworkIsCutRefusesWritesSoon(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	network := newSwallower(t)
	cfg.Pool = network.pool(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	mustAppend(t, client, "before", esdb.NoStream{}, oneEvent())
	network.swallow()
	refusedSoon(t, appended(client, "late"))
	refusedSoon(t, appended(client, "later"))
	network.heal()
	acceptedAgain(t, func() <-chan error { return appendedOnce(t, n.URL(), "after") })
	wantAlive(t, n)
}

// appendedOnce is appended by a client of its own, which ends with the answer: a node has no room for one each time.
func appendedOnce(t *testing.T, url, stream string) <-chan error {
	t.Helper()
	client, answer := stormClient(t, url), make(chan error, 1)
	go func() {
		err := <-appended(client, stream)
		_ = client.Close()
		answer <- err
	}()
	return answer
}

// acceptedAgain repeats an append that is refused as long as the statement has not ended.
func acceptedAgain(t *testing.T, appended func() <-chan error) {
	t.Helper()
	for err := <-appended(); err != nil; err = <-appended() {
		if wantCode(t, err, esdb.ErrorUnavailable); t.Failed() {
			t.FailNow()
		}
	}
}

// TestStall_ACommitThatEndsAfterItsWritersWereRefusedIsInTheLog: a session of somebody keeps the row that each commit
// looks at. Their outcome was unknown, and a repeat finds it out.
func TestStall_ACommitThatEndsAfterItsWritersWereRefusedIsInTheLog(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	sub, err := client.SubscribeToStream(t.Context(), "slow", esdb.SubscribeToStreamOptions{From: esdb.Start{}})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	tx, err := cfg.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `select from `+cfg.Schema+`.node for update`); err != nil {
		t.Fatal(err)
	}
	refusedSoon(t, appended(client, "slow"))
	refusedSoon(t, appended(client, "refused"))
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for e := sub.Recv(); e.EventAppeared == nil; e = sub.Recv() {
		if e.SubscriptionDropped != nil {
			t.Fatalf("the event is not published: %v", e.SubscriptionDropped.Error)
		}
	}
	client = stormClient(t, n.URL())
	mustAppend(t, client, "slow", esdb.Revision(0), oneEvent())
	mustAppend(t, client, "refused", esdb.NoStream{}, oneEvent())
	wantNoGap(t, cfg)
	wantAlive(t, n)
}

// TestStall_AWriteThatWasRefusedWhileHeadsWereReadIsNotInTheLog: its caller may have done something else by then. A
// lock of somebody holds up the reading.
func TestStall_AWriteThatWasRefusedWhileHeadsWereReadIsNotInTheLog(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	mustAppend(t, client, "before", esdb.NoStream{}, oneEvent())
	tx, err := cfg.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `lock table `+cfg.Schema+`.streams in access exclusive mode`); err != nil {
		t.Fatal(err)
	}
	refusedSoon(t, appended(client, "refused"))
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	client = stormClient(t, n.URL())
	for end := time.Now().Add(soon); ; { // refused until the statement has its answer
		_, err := client.AppendToStream(t.Context(), "after", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}},
			oneEvent())
		if err == nil {
			break
		}
		if wantCode(t, err, esdb.ErrorUnavailable); time.Now().After(end) {
			t.Fatal("the node does not go on")
		}
	}
	mustAppend(t, client, "refused", esdb.NoStream{}, oneEvent()) // the first of its stream
	wantNoGap(t, cfg)
	wantAlive(t, n)
}

// TestStall_ARefusedWriteWhoseCauseCannotBeLookedForRefusesWritesSoon: a session of somebody keeps the table that tells
// where the log ends, for which the node looks after a refusal. What waits beside the refused write is refused, too.
func TestStall_ARefusedWriteWhoseCauseCannotBeLookedForRefusesWritesSoon(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	for _, name := range []string{"one", "two"} {
		mustAppend(t, client, name, esdb.NoStream{}, oneEvent())
	}
	run(t, cfg, `alter table {schema}.events add check ({schema}.event_type(record) <> 'poison')`)
	tx, err := cfg.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `lock table `+cfg.Schema+`.streams in access exclusive mode`); err != nil {
		t.Fatal(err)
	}
	refused := after(t, client, "one", "poison")
	for waiting := 0; waiting == 0; { // the look has begun
		query(t, cfg, `select count(*) from pg_locks l join pg_stat_activity a using (pid)
			where not l.granted and position('{schema}.streams' in a.query) > 0`, &waiting)
	}
	other := after(t, client, "two", "e")
	refusedSoon(t, refused)
	refusedSoon(t, other)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	acceptedAgain(t, func() <-chan error { return after(t, client, "two", "e") })
	wantAlive(t, n)
}

// TestStall_ASessionThatCannotBeReplacedRefusesWritesSoon: the server takes a new one, and its look at the log is held
// up. The limit of that is long.
func TestStall_ASessionThatCannotBeReplacedRefusesWritesSoon(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	mustAppend(t, client, "before", esdb.NoStream{}, oneEvent())
	tx, err := cfg.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	lock := inSchema(cfg, `lock table {schema}.events in access exclusive mode`)
	if _, err := tx.Exec(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	endSession(t, cfg)
	refusedSoon(t, appended(client, "early"))
	refusedSoon(t, appended(client, "later"))
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	acceptedAgain(t, func() <-chan error { return appendedOnce(t, n.URL(), "after") })
	wantNoGap(t, cfg)
	wantAlive(t, n)
}

// TestStall_AnIdleNodeThatIsCutOffRefusesUntilItsDatabaseAnswers: not only while one statement or another waits.
func TestStall_AnIdleNodeThatIsCutOffRefusesUntilItsDatabaseAnswers(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	network := newSwallower(t)
	cfg.Pool = network.pool(t)
	n := start(t, cfg)
	network.swallow()
	for began := time.Now(); !embedded.Refuses(n); time.Sleep(time.Millisecond) {
		if time.Since(began) > soon {
			t.Fatal("the node does not notice")
		}
	}
	for began := time.Now(); time.Since(began) < 8*time.Second; time.Sleep(time.Millisecond) {
		if !embedded.Refuses(n) {
			t.Fatalf("the node takes writes again after %v", time.Since(began))
		}
	}
	network.heal()
	acceptedAgain(t, func() <-chan error { return appendedOnce(t, n.URL(), "after") })
	wantAlive(t, n)
}
