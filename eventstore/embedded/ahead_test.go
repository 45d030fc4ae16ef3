package embedded_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc/codes"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// ahead is a node of which one commit is held up, so that it decides on what follows. Its appends are those of one
// call, so they have an order.
type ahead struct {
	t       *testing.T
	cfg     embedded.Config
	node    *embedded.Node
	call    streams.Streams_BatchAppendClient
	sent    []string // correlations
	each    int64    // bytes that an append holds
	release func()
}

// newAhead makes a node with some streams of one event each, whose heads it knows. It refuses events of the type
// "poison". The commit of the first append, to the first stream, is held up.
func newAhead(t *testing.T, kind string, names ...string) *ahead {
	t.Helper()
	cfg := testConfig(t)
	return newAheadOn(t, cfg, start(t, cfg), kind, names...)
}

// newAheadOn is newAhead with a node.
func newAheadOn(t *testing.T, cfg embedded.Config, n *embedded.Node, kind string, names ...string) *ahead {
	t.Helper()
	a := &ahead{t: t, cfg: cfg, node: n}
	run(t, a.cfg, `alter table {schema}.events add check ({schema}.event_type(record) <> 'poison')`)
	client := contract.Connect(t, a.node.URL())
	for _, name := range names {
		if _, err := client.AppendToStream(t.Context(), name, esdb.AppendToStreamOptions{}, oneEvent()); err != nil {
			t.Fatal(err)
		}
	}
	a.call, a.release = contract.OpenBatchCall(t, a.node.URL()), held(t, a.cfg)
	t.Cleanup(a.release)
	a.send(names[0], kind, 0)
	awaitHeldCommit(t, a.cfg)
	a.each = embedded.WriteMemory(a.node)
	return a
}

// send sends an append of one event.
func (a *ahead) send(stream, kind string, expected uint64) {
	a.t.Helper()
	req := contract.BatchRequest(stream, 1)
	req.Options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_StreamPosition{StreamPosition: expected}
	req.ProposedMessages[0].Metadata["type"] = kind
	if err := a.call.Send(req); err != nil {
		a.t.Fatal(err)
	}
	a.sent = append(a.sent, req.GetCorrelationId().String())
}

// want waits until the node has taken what was sent, and has then everything decided, in the log or without it. It
// compares the codes of the answers with those wanted for the appends as they were sent. No answer may come before.
func (a *ahead) want(decide func(), wanted ...codes.Code) {
	a.t.Helper()
	answers := make(chan *streams.BatchAppendResp, len(a.sent))
	go func() {
		defer close(answers)
		for range a.sent {
			resp, err := a.call.Recv()
			if err != nil {
				return
			}
			answers <- resp
		}
	}()
	for embedded.WriteMemory(a.node) < a.each/2*int64(2*len(a.sent)-1) {
		runtime.Gosched()
	}
	for range 1000 { // the last one is on its way
		runtime.Gosched()
	}
	if n := len(answers); n > 0 {
		a.t.Errorf("%d answers before what they were decided on is in the log", n)
	}
	decide()
	got := make([]codes.Code, len(a.sent))
	for resp := range answers {
		//nolint:gosec // codes are small
		got[slices.Index(a.sent, resp.GetCorrelationId().String())] = codes.Code(resp.GetError().GetCode())
	}
	if !slices.Equal(got, wanted) {
		a.t.Errorf("got %v, want %v", got, wanted)
	}
}

// TestAhead_WhatWasDecidedOnARefusedGroupIsDecidedAgain: what is not in the log is no ground for a decision.
func TestAhead_WhatWasDecidedOnARefusedGroupIsDecidedAgain(t *testing.T) {
	t.Parallel()
	a := newAhead(t, "poison", "one", "two", "three")
	a.send("one", "e", 1) // right only if the poison is in the log
	a.send("one", "e", 0) // right only if it is not
	a.send("two", "e", 0)
	a.send("two", "e", 1)
	a.send("three", "e", 7)
	a.send("one", "e", 1)
	a.want(a.release, codes.InvalidArgument, codes.AlreadyExists, codes.OK, codes.OK, codes.OK, codes.AlreadyExists,
		codes.OK)
}

// TestAhead_OfAnUnknownOutcomeTheLogDecides: a group is lost with its session, and its writes are decided again, those
// that came meanwhile after them.
func TestAhead_OfAnUnknownOutcomeTheLogDecides(t *testing.T) {
	t.Parallel()
	a := newAhead(t, "e", "one", "two")
	a.send("one", "e", 1)
	a.send("one", "e", 2)
	a.send("one", "e", 0)
	a.send("two", "e", 0)
	a.want(func() {
		endSession(t, a.cfg)
		a.release()
	}, codes.OK, codes.OK, codes.OK, codes.AlreadyExists, codes.OK)
}

// TestAhead_WhatFollowsAGroupIsWrittenAfterIt also where some of it is refused.
func TestAhead_WhatFollowsAGroupIsWrittenAfterIt(t *testing.T) {
	t.Parallel()
	a := newAhead(t, "e", "one", "two")
	wanted := []codes.Code{codes.OK}
	for n := range 40 {
		a.send("one", "e", uint64(n+1))
		a.send("two", "e", uint64(n))
		a.send("two", "e", uint64(n))
		wanted = append(wanted, codes.OK, codes.OK, codes.AlreadyExists)
	}
	a.want(a.release, wanted...)
}

// TestAhead_TheHeadsOfABatchAreKnownUntilItIsDecided: also when those that are read for it leave no room for others.
func TestAhead_TheHeadsOfABatchAreKnownUntilItIsDecided(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	embedded.KnowHeads(n, 4)
	a := newAheadOn(t, cfg, n, "e", "two", "one")
	for range 3 {
		a.send("new "+a.sent[len(a.sent)-1], "e", 0) // nothing is there, and its head is read first
	}
	a.send("one", "e", 0)
	a.send("two", "e", 1)
	a.want(a.release, codes.OK, codes.AlreadyExists, codes.AlreadyExists, codes.AlreadyExists, codes.OK, codes.OK)
}

// TestAhead_WhatWaitsIsRefusedWhenTheDatabaseGoesAway: also what was taken while a commit was refused.
func TestAhead_WhatWaitsIsRefusedWhenTheDatabaseGoesAway(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	var away atomic.Bool
	config := cfg.Pool.Config()
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if away.Load() {
			return nil, errors.New("nobody answers")
		}
		return dial(ctx, network, address)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	cfg.Pool = pool
	n := start(t, cfg)
	client := contract.Connect(t, n.URL())
	for _, name := range []string{"one", "two"} {
		mustAppend(t, client, name, esdb.NoStream{}, oneEvent())
	}
	refuseInserts(t, cfg, "25006") // as of a server that has become a standby
	release := held(t, cfg)
	defer release()
	first := after(t, client, "one", "e")
	awaitHeldCommit(t, cfg)
	before := embedded.WriteMemory(n)
	second := after(t, client, "two", "e")
	for embedded.WriteMemory(n) == before || embedded.Queued(n) > 0 {
		runtime.Gosched()
	}
	away.Store(true)
	release()
	refusedSoon(t, first)
	refusedSoon(t, second)
	away.Store(false)
}

// after gives the answer of an append behind the first event of a stream, whose caller is patient.
func after(t *testing.T, client *esdb.Client, stream, kind string) <-chan error {
	t.Helper()
	answer, patient, e := make(chan error, 1), time.Minute, oneEvent()
	e.EventType = kind
	go func() {
		_, err := client.AppendToStream(context.Background(), stream,
			esdb.AppendToStreamOptions{ExpectedRevision: esdb.Revision(0), Deadline: &patient}, e)
		answer <- err
	}()
	return answer
}
