package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// TestTypes_WhatNoFilterAdmitsIsNotRead: who wants events of a seldom type reads a little of the log, not all of it.
func TestTypes_WhatNoFilterAdmitsIsNotRead(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	read := countedReads(t, &cfg)
	node := start(t, cfg)
	client := contract.Connect(t, node.URL())
	large := make([]byte, 500)
	for range 10 {
		batch := make([]esdb.EventData, 1000)
		for n := range batch {
			batch[n] = oneEvent()
			batch[n].ContentType, batch[n].Data = esdb.ContentTypeBinary, large
		}
		mustAppend(t, client, uuid.NewString(), esdb.NoStream{}, batch...)
	}
	seldom := oneEvent()
	seldom.EventType = "seldom"
	mustAppend(t, client, "s", esdb.NoStream{}, seldom)
	embedded.AwaitTypes(node)
	before := read.Load()
	if got := filtered(t, client, "seldom", 1); len(got) != 1 {
		t.Errorf("%d events", len(got))
	}
	if got := read.Load() - before; got > 1<<20 {
		t.Errorf("PostgreSQL sent %d bytes", got)
	}
}

// TestTypes_AMalformedRecordIsHiddenFromNobody: nobody knows its type, so its block is read for each, and told.
func TestTypes_AMalformedRecordIsHiddenFromNobody(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	node := start(t, cfg)
	client := contract.Connect(t, node.URL())
	batch := make([]esdb.EventData, 1000)
	for n := range batch {
		batch[n] = oneEvent()
	}
	batch[5].EventType = "ünï"
	mustAppend(t, client, "s", esdb.NoStream{}, batch...)
	run(t, cfg, `create table {schema}.was as select * from {schema}.events where position = 7`)
	run(t, cfg, `update {schema}.events set record = substring(record for 48) where position = 7`) // within a letter
	mustAppend(t, client, "other", esdb.NoStream{}, batch[10:60]...)
	if embedded.AwaitTypes(node) != 1 {
		t.Fatal("the block is not known")
	}
	stop(t, node) // which has the events in memory
	client = contract.Connect(t, start(t, cfg).URL())
	subscribe := func() *esdb.SubscriptionEvent {
		sub, err := client.SubscribeToAll(t.Context(), esdb.SubscribeToAllOptions{
			From: esdb.Start{}, Filter: &esdb.SubscriptionFilter{Type: esdb.EventFilterType, Prefixes: []string{"ün"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sub.Close() }()
		for {
			if e := sub.Recv(); e.EventAppeared != nil || e.SubscriptionDropped != nil || e.CaughtUp != nil {
				return e
			}
		}
	}
	if e := subscribe(); e.SubscriptionDropped == nil {
		t.Errorf("the malformed record is passed over: %+v", e)
	}
	run(t, cfg, `update {schema}.events e set record = w.record from {schema}.was w where w.position = e.position`)
	if e := subscribe(); e.EventAppeared == nil {
		t.Errorf("the repaired record is passed over: %+v", e)
	}
}

// TestTypes_FilteredSubscriptionsMissNothing: from any position, by types that are everywhere, seldom or nowhere,
// before blocks are known and after a restart, when they are read; and they catch up where nothing is left for them.
func TestTypes_FilteredSubscriptionsMissNothing(t *testing.T) {
	t.Parallel()
	config := testConfig(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var kinds []string // of the events after the first, which the node writes by itself
	for round := range 2 {
		node := start(t, config)
		client := contract.Connect(t, node.URL())
		if round > 0 && len(filtered(t, client, "nowhere", 1)) > 0 { // all blocks are full, and none is in memory
			t.Error("events of no type")
		}
		for n := range 6 {
			size := 512
			if n == 0 && round == 0 {
				size-- // the node has written one by itself
			}
			batch := make([]esdb.EventData, size)
			for n := range batch {
				kind := "often-" + fmt.Sprint(random.IntN(3))
				if random.IntN(900) == 0 {
					kind = "seldom"
				}
				kinds = append(kinds, kind)
				batch[n] = esdb.EventData{EventID: uuid.New(), EventType: kind, ContentType: esdb.ContentTypeJson}
			}
			mustAppend(t, client, uuid.NewString(), esdb.NoStream{}, batch...)
		}
		for _, settled := range []bool{false, true} {
			if settled && embedded.AwaitTypes(node) < 2 {
				t.Fatal("no block is known")
			}
			for _, prefix := range []string{"seldom", "often-1", "nowhere", "s"} {
				from := random.IntN(len(kinds))
				var want []uint64
				for n := from; n < len(kinds); n++ {
					if len(kinds[n]) >= len(prefix) && kinds[n][:len(prefix)] == prefix {
						want = append(want, uint64(n)+2)
					}
				}
				if got := filtered(t, client, prefix, uint64(from)+1); !slices.Equal(got, want) {
					t.Errorf("round %d, %s after %d: %d events, want %d", round, prefix, from+1, len(got), len(want))
				}
			}
		}
		_ = client.Close()
		stop(t, node)
	}
}

// filtered subscribes to the types with a prefix after a position, until it has caught up, and gives the positions.
func filtered(t *testing.T, client *esdb.Client, prefix string, after uint64) (positions []uint64) {
	t.Helper()
	sub, err := client.SubscribeToAll(t.Context(), esdb.SubscribeToAllOptions{
		From: esdb.Position{Commit: after, Prepare: after}, MaxSearchWindow: 100, CheckpointInterval: 1,
		Filter: &esdb.SubscriptionFilter{Type: esdb.EventFilterType, Prefixes: []string{prefix}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Close() }()
	for {
		switch e := sub.Recv(); {
		case e.SubscriptionDropped != nil:
			t.Fatal(e.SubscriptionDropped.Error)
		case e.EventAppeared != nil:
			positions = append(positions, e.EventAppeared.Event.Position.Commit)
		case e.CaughtUp != nil:
			return positions
		}
	}
}

// TestTypes_OfABlockThatIsNotFullAreNotNoted: a server that took over may lack the last events of a block, and gives
// their positions to others.
func TestTypes_OfABlockThatIsNotFullAreNotNoted(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	mustAppend(t, client, "s", esdb.NoStream{}, several(1000)...)
	if got := embedded.NoteTypes(t.Context(), n, 1); got != 0 {
		t.Errorf("%d blocks are noted that are not full", got)
	}
	mustAppend(t, client, "s", esdb.Any{}, several(100)...)
	if got := embedded.AwaitTypes(n); got != 1 {
		t.Errorf("%d blocks are known", got)
	}
}
