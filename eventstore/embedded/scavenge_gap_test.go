package embedded_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// caughtUp takes the events of a subscription until it has caught up, and gives their positions and the last
// checkpoint.
func caughtUp(t *testing.T, sub *esdb.Subscription) (positions []uint64, checkpoint uint64) {
	t.Helper()
	for {
		switch e := sub.Recv(); {
		case e.SubscriptionDropped != nil:
			t.Fatal(e.SubscriptionDropped.Error)
		case e.EventAppeared != nil:
			positions = append(positions, e.EventAppeared.OriginalEvent().Position.Commit)
		case e.CheckPointReached != nil:
			checkpoint = e.CheckPointReached.Commit
		case e.CaughtUp != nil:
			return positions, checkpoint
		}
	}
}

// TestScavenge_ReadersGoOnFromInsideAGap: reads in both directions, and subscriptions of all kinds, which begin there
// or were there when the events went, from memory and from the database.
func TestScavenge_ReadersGoOnFromInsideAGap(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	mustAppend(t, client, "kept", esdb.NoStream{}, oneEvent())      // position 2
	mustAppend(t, client, "gone", esdb.NoStream{}, several(600)...) // 3 to 602, of which 602 stays
	mustAppend(t, client, "kept", esdb.Revision(0), several(2)...)  // 603, 604
	within := esdb.Position{Commit: 300, Prepare: 300}
	live, err := client.SubscribeToAll(t.Context(), esdb.SubscribeToAllOptions{From: within})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = live.Close() }()
	if got, _ := caughtUp(t, live); len(got) != 304 {
		t.Fatalf("%d events before", len(got))
	}
	deleteStream(t, client, "gone") // 605
	scavenge(t, n)
	mustAppend(t, client, "kept", esdb.Revision(2), oneEvent()) // 606
	for want := uint64(605); want <= 606; want++ {
		e := live.Recv()
		if e.EventAppeared == nil || e.EventAppeared.Event.Position.Commit != want {
			t.Fatalf("a subscriber of before gets %+v instead of %d", e, want)
		}
	}
	for _, when := range []string{"in memory", "in the database"} {
		readInGap(t, client, when, within)
		_ = client.Close()
		stop(t, n)
		n = start(t, cfg)
		client = contract.Connect(t, n.URL())
	}
}

// readInGap checks the readers that begin at a position inside of the gap.
func readInGap(t *testing.T, client *esdb.Client, when string, within esdb.Position) {
	t.Helper()
	positions := func(in *esdb.ReadStream, err error) (list []uint64) {
		t.Helper()
		got, err := received(in, err)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range got {
			list = append(list, e.Event.Position.Commit)
		}
		return list
	}
	after := []uint64{602, 603, 604, 605, 606}
	up := positions(client.ReadAll(t.Context(), esdb.ReadAllOptions{From: within}, math.MaxUint64))
	one := positions(client.ReadAll(t.Context(), esdb.ReadAllOptions{From: within}, 1))
	down := positions(client.ReadAll(t.Context(), esdb.ReadAllOptions{
		Direction: esdb.Backwards, From: within,
	}, math.MaxUint64))
	if !slices.Equal(up, after) || !slices.Equal(one, after[:1]) || !slices.Equal(down, []uint64{2, 1}) {
		t.Errorf("%s: forwards %v, the first %v, backwards %v", when, up, one, down)
	}
	own, err := received(client.ReadStream(t.Context(), "gone", esdb.ReadStreamOptions{From: esdb.Revision(300)}, 10))
	if wantCode(t, err, esdb.ErrorCodeResourceNotFound); len(own) > 0 {
		t.Errorf("%s: the deleted stream has %d events", when, len(own))
	}
	follow := func(of string, o esdb.SubscribeToAllOptions, want []uint64) {
		t.Helper()
		o.From = within
		sub, err := client.SubscribeToAll(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sub.Close() }()
		got, checkpoint := caughtUp(t, sub)
		if !slices.Equal(got, want) || o.Filter != nil && checkpoint != 606 {
			t.Errorf("%s, a subscription %s: %v, checkpoint %d", when, of, got, checkpoint)
		}
	}
	follow("to $all", esdb.SubscribeToAllOptions{}, after)
	follow("by stream", esdb.SubscribeToAllOptions{Filter: &esdb.SubscriptionFilter{
		Type: esdb.StreamFilterType, Prefixes: []string{"kept"},
	}}, []uint64{603, 604, 606})
	follow("by type", esdb.SubscribeToAllOptions{Filter: &esdb.SubscriptionFilter{
		Type: esdb.EventFilterType, Prefixes: []string{"none"},
	}}, nil)
	sub, err := client.SubscribeToStream(t.Context(), "gone", esdb.SubscribeToStreamOptions{From: esdb.Revision(300)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Close() }()
	if got, _ := caughtUp(t, sub); len(got) > 0 {
		t.Errorf("%s: a subscription to the deleted stream gets %v", when, got)
	}
}

// TestScavenge_ABlockWithoutEventsIsPassedOver: its events went before anybody had looked at their types.
func TestScavenge_ABlockWithoutEventsIsPassedOver(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	looks, err := cfg.Pool.Begin(t.Context()) // nobody can look at a block meanwhile
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = looks.Rollback(context.Background()) }()
	if _, err := looks.Exec(t.Context(), inSchema(cfg, `lock table {schema}.type_blocks`)); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, client, "gone", esdb.NoStream{}, several(4000)...)
	deleteStream(t, client, "gone")
	mustAppend(t, client, "kept", esdb.NoStream{}, several(200)...)
	scavenge(t, n)
	if err := looks.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"before a restart", "after it"} {
		known := make(chan int64, 1)
		go func(n *embedded.Node) { known <- embedded.AwaitTypes(n) }(n)
		select {
		case blocks := <-known:
			if blocks != 4 {
				t.Errorf("%s: %d blocks are known", when, blocks)
			}
		case <-time.After(waittest.Limit):
			t.Fatalf("%s: the blocks do not become known", when)
		}
		if got := filtered(t, client, "e", 0); len(got) != 201 || got[0] != 4001 {
			t.Errorf("%s: %d events", when, len(got))
		}
		_ = client.Close()
		stop(t, n)
		n = start(t, cfg)
		client = contract.Connect(t, n.URL())
	}
}

// TestScavenge_AReadUnderWayHasNoHole: a stream is deleted, or ended, after a client has taken its first event. The
// read fails.
func TestScavenge_AReadUnderWayHasNoHole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		remove func(t *testing.T, client *esdb.Client, stream string)
		want   esdb.ErrorCode
	}{
		"deleted": {deleteStream, esdb.ErrorUnavailable},
		"ended":   {endStream, esdb.ErrorCodeStreamDeleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := start(t, testConfig(t))
			client := contract.Connect(t, n.URL())
			const events = 100 // more than is under way to a client that does not read
			for range events {
				large := oneEvent()
				large.ContentType, large.Data = esdb.ContentTypeBinary, make([]byte, 100<<10)
				mustAppend(t, client, "s", esdb.Any{}, large)
			}
			in, err := client.ReadStream(t.Context(), "s", esdb.ReadStreamOptions{}, math.MaxUint64)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if _, err := in.Recv(); err != nil {
				t.Fatal(err)
			}
			c.remove(t, client, "s")
			scavenge(t, n)
			for next := uint64(1); ; next++ {
				e, err := in.Recv()
				if err != nil {
					if wantCode(t, err, c.want); t.Failed() {
						t.Fatalf("it ends after %d events", next)
					}
					return
				}
				if e.Event.EventNumber != next {
					t.Fatalf("event %d comes after %d", e.Event.EventNumber, next-1)
				}
			}
		})
	}
}
