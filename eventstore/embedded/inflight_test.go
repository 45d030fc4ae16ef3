package embedded_test

import (
	"errors"
	"io"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// TestLive_NothingIsPublishedBeforeItsCommit: a subscription that begins at the end of the log while a commit is under
// way begins before the events of that commit. If they were published already, it would begin behind them.
func TestLive_NothingIsPublishedBeforeItsCommit(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	client := contract.Connect(t, start(t, cfg).URL())
	release := held(t, cfg)
	defer release()
	acknowledged := make(chan *esdb.WriteResult, 1)
	go func() {
		r, err := client.AppendToStream(t.Context(), "s", esdb.AppendToStreamOptions{}, oneEvent())
		if err != nil {
			t.Error(err)
		}
		acknowledged <- r
	}()
	awaitHeldCommit(t, cfg)
	sub, err := client.SubscribeToAll(t.Context(), esdb.SubscribeToAllOptions{From: esdb.End{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Close() }()
	release()
	first := <-acknowledged
	second := mustAppend(t, client, "s", esdb.Revision(0), oneEvent())
	for _, want := range []*esdb.WriteResult{first, second} {
		for e := sub.Recv(); ; e = sub.Recv() {
			if e.SubscriptionDropped != nil {
				t.Fatal(e.SubscriptionDropped.Error)
			}
			if e.EventAppeared == nil {
				continue
			}
			if got := e.EventAppeared.Event.Position.Commit; got != want.CommitPosition {
				t.Fatalf("the subscription got position %d, want %d", got, want.CommitPosition)
			}
			break
		}
	}
}

// TestLive_WhatTheDatabaseRefusesIsNeverSeen: the events of a refused commit reach no subscriber.
func TestLive_WhatTheDatabaseRefusesIsNeverSeen(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	client := contract.Connect(t, start(t, cfg).URL())
	run(t, cfg, `alter table {schema}.events add check ({schema}.event_type(record) <> 'poison')`)
	sub, err := client.SubscribeToAll(t.Context(), esdb.SubscribeToAllOptions{From: esdb.End{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Close() }()
	for range 20 {
		poison := oneEvent()
		poison.EventType = "poison"
		if _, err := client.AppendToStream(t.Context(), "s", esdb.AppendToStreamOptions{}, poison); err == nil {
			t.Fatal("the poison was stored")
		}
		good := oneEvent()
		mustAppend(t, client, "s", esdb.Any{}, good)
		e := sub.Recv()
		for ; e.EventAppeared == nil; e = sub.Recv() {
			if e.SubscriptionDropped != nil {
				t.Fatal(e.SubscriptionDropped.Error)
			}
		}
		if e.EventAppeared.Event.EventID != good.EventID {
			t.Fatalf("the subscriber saw %s", e.EventAppeared.Event.EventType)
		}
	}
}

// TestKill_AnAppendInFlightIsInTheLogOnce: the node is killed while its commit is under way. PostgreSQL may finish the
// commit afterwards, or not; the client repeats the append at the next node, and the log has it once.
func TestKill_AnAppendInFlightIsInTheLogOnce(t *testing.T) {
	t.Parallel()
	for name, ended := range map[string]bool{"the commit is finished": false, "the commit is lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig(t)
			database, addr := pgtest.URL(t), storetest.FreeAddr(t)
			node := startChild(t, database, cfg.Schema, addr)
			client := stormClient(t, node.url)
			mustAppend(t, client, "before", esdb.NoStream{}, oneEvent())
			release, e := held(t, cfg), oneEvent()
			defer release()
			cut := make(chan error, 1)
			go func() {
				_, err := client.AppendToStream(t.Context(), "s", esdb.AppendToStreamOptions{
					ExpectedRevision: esdb.NoStream{},
				}, e)
				cut <- err
			}()
			awaitHeldCommit(t, cfg)
			node.kill(t)
			if ended {
				endHeldCommit(t, cfg)
			}
			release()
			if err := <-cut; err == nil {
				t.Error("an append was acknowledged by a node that was killed before its commit")
			}
			node = startChild(t, database, cfg.Schema, addr)
			defer node.kill(t)
			next := stormClient(t, node.url)
			if r := mustAppend(t, next, "s", esdb.NoStream{}, e); r.NextExpectedVersion != 0 {
				t.Errorf("the repeat is event %d", r.NextExpectedVersion)
			}
			wantOnly(t, next, "s", e)
		})
	}
}

// endHeldCommit ends the database session of a commit that awaitHeldCommit has seen.
func endHeldCommit(t *testing.T, cfg embedded.Config) {
	t.Helper()
	run(t, cfg, `select pg_terminate_backend(l.pid) from pg_locks l join pg_stat_activity a using (pid)
		where not l.granted and position('insert into {schema}.events' in a.query) > 0`)
}

// wantOnly checks that a stream has exactly one event.
func wantOnly(t *testing.T, client *esdb.Client, stream string, want esdb.EventData) {
	t.Helper()
	r, err := client.ReadStream(t.Context(), stream, esdb.ReadStreamOptions{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if e, err := r.Recv(); err != nil || e.Event.EventID != want.EventID {
		t.Errorf("got %+v, %v", e, err)
	}
	if e, err := r.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("a second event: %+v, %v", e, err)
	}
}
