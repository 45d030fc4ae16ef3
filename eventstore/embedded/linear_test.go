package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// Expected revisions of a call beside the exact ones, which are the number of events before the append.
const (
	expectAnything  = -1
	expectSomething = -2
)

// logCall is one call of the history. The zero kind is an append.
type logCall struct {
	kind     callKind
	stream   string
	ids      []string // append
	expected int      // append: events in the stream, as far as the caller knows, or one of the constants
}

// callKind says what a call does.
type callKind int

// The kinds of calls.
const (
	callAppend callKind = iota
	callReadStream
	callReadAll
	callSee // a live subscriber gets an event: a read of its place
)

// logAnswer is the answer to a logCall.
type logAnswer struct {
	refused  bool   // append: with a wrong version
	revision int    // append: of the last event
	position uint64 // append: of the last event; see: of the event
	ids      []string
	places   []place // all that is in $all
}

// place is an event in $all.
type place struct {
	position uint64
	stream   string
	id       string
}

// logged is the state of the model: the last event of the log, and those before it. nil is an empty log. States are
// shared and never changed.
type logged struct {
	before   *logged
	events   int // so many, with this one
	place    place
	revision int
}

// stream gives the ids of a stream in order, and the place of the last.
func (l *logged) stream(name string) (ids []string, last *logged) {
	for e := l; e != nil; e = e.before {
		if e.place.stream == name {
			if last == nil {
				last = e
			}
			ids = append(ids, e.place.id)
		}
	}
	slices.Reverse(ids)
	return ids, last
}

// logModel describes a whole log that is used by one caller at a time: streams, positions, and repeats of an append.
// Events that the node writes by itself are before all others, as many as base.
func logModel(base uint64) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return (*logged)(nil) },
		// Two orders of the same appends differ in their positions, which the answers fix.
		Equal: func(a, b any) bool {
			x, y := a.(*logged), b.(*logged)
			if x == nil || y == nil {
				return x == y
			}
			return x.events == y.events && x.place == y.place
		},
		Step: func(state, input, output any) (bool, any) {
			l, in, out := state.(*logged), input.(logCall), output.(logAnswer)
			switch in.kind {
			case callReadStream:
				ids, _ := l.stream(in.stream)
				return slices.Equal(ids, out.ids), l
			case callReadAll:
				return slices.Equal(l.all(), out.places), l
			case callSee:
				return slices.Contains(l.all(), out.places[0]), l
			case callAppend:
			}
			return l.append(base, in, out)
		},
	}
}

// all lists the events in order.
func (l *logged) all() []place {
	var list []place
	for e := l; e != nil; e = e.before {
		list = append(list, e.place)
	}
	slices.Reverse(list)
	return list
}

// append decides an append, and reports whether the answer to it was right.
func (l *logged) append(base uint64, in logCall, out logAnswer) (bool, any) {
	ids, last := l.stream(in.stream)
	at := slices.Index(ids, in.ids[0])
	repeat := at >= 0 && at+len(in.ids) <= len(ids) && slices.Equal(ids[at:at+len(in.ids)], in.ids) &&
		(in.expected < 0 || in.expected == at)
	fits := in.expected == len(ids) || in.expected == expectAnything || in.expected == expectSomething && last != nil
	switch {
	case repeat:
		revision := at + len(in.ids) - 1
		for last.revision != revision || last.place.stream != in.stream {
			last = last.before
		}
		return !out.refused && out.revision == revision && out.position == last.place.position, l
	case !fits:
		return out.refused, l
	case out.refused:
		return false, l
	}
	next := l
	for n, id := range in.ids {
		events := 1
		if next != nil {
			events = next.events + 1
		}
		next = &logged{
			before: next, events: events, place: place{base + uint64(events), in.stream, id}, revision: len(ids) + n,
		}
	}
	return out.revision == next.revision && out.position == next.place.position, next
}

// history records calls with their times. For an append with unknown outcome, the test reads the log at the end.
type history struct {
	mu      sync.Mutex
	ops     []porcupine.Operation
	unknown []porcupine.Operation
	started time.Time
}

// since is the time since the start of the history, in nanoseconds.
func (h *history) since() int64 { return int64(time.Since(h.started)) }

// add records a call that has returned, and its answer.
func (h *history) add(client int, in logCall, out logAnswer, call int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: call, Return: h.since()})
}

// lose records an append with unknown outcome: it may take effect at any later time.
func (h *history) lose(client int, in logCall, call int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unknown = append(h.unknown, porcupine.Operation{ClientId: client, Input: in, Call: call, Return: math.MaxInt64})
}

// readIDs reads the ids of a stream in order; a missing stream has none, as in the model.
func readIDs(ctx context.Context, client *esdb.Client, stream string) (ids []string, err error) {
	r, err := client.ReadStream(ctx, stream, esdb.ReadStreamOptions{}, math.MaxUint64)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		e, err := r.Recv()
		var missing *esdb.Error
		switch {
		case errors.Is(err, io.EOF), errors.As(err, &missing) && missing.Code() == esdb.ErrorCodeResourceNotFound:
			return ids, nil
		case err != nil:
			return nil, err
		}
		ids = append(ids, e.Event.EventID.String())
	}
}

// readPlaces reads $all after what the node has written by itself.
func readPlaces(ctx context.Context, client *esdb.Client, base uint64) (list []place, err error) {
	r, err := client.ReadAll(ctx, esdb.ReadAllOptions{}, math.MaxUint64)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		e, err := r.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		case e.Event.Position.Commit > base:
			list = append(list, placeOf(e.Event))
		}
	}
}

// placeOf is where an event stands.
func placeOf(e *esdb.RecordedEvent) place {
	return place{e.Position.Commit, e.StreamID, e.EventID.String()}
}

// caller is one client of the history. It makes its calls one after another.
type caller struct {
	number int
	client *esdb.Client
	random *rand.Rand
	base   uint64
	seen   map[string]int // number of events in each stream, as far as the caller knows
	last   *logCall       // the last append, which is repeated now and then
}

// act makes one random call: mostly appends at the last revision read, so that callers compete for the same place.
func (h *history) act(ctx context.Context, c *caller, stream string) {
	call := h.since()
	switch choice := c.random.IntN(12); {
	case choice < 3:
		if ids, err := readIDs(ctx, c.client, stream); err == nil {
			c.seen[stream] = len(ids)
			h.add(c.number, logCall{kind: callReadStream, stream: stream}, logAnswer{ids: ids}, call)
		}
	case choice == 3:
		if list, err := readPlaces(ctx, c.client, c.base); err == nil {
			h.add(c.number, logCall{kind: callReadAll}, logAnswer{places: list}, call)
		}
	case choice == 4 && c.last != nil:
		h.append(ctx, c, *c.last, call)
	default:
		in := logCall{stream: stream, ids: []string{uuid.NewString()}, expected: c.seen[stream]}
		if choice == 5 {
			in.expected = expectAnything
		}
		if choice == 6 {
			in.expected = expectSomething
		}
		if choice > 9 {
			in.ids = append(in.ids, uuid.NewString())
		}
		c.last = &in
		h.append(ctx, c, in, call)
	}
}

// append makes an append, or repeats one.
func (h *history) append(ctx context.Context, c *caller, in logCall, call int64) {
	expected := esdb.ExpectedRevision(esdb.NoStream{})
	switch {
	case in.expected == expectAnything:
		expected = esdb.Any{}
	case in.expected == expectSomething:
		expected = esdb.StreamExists{}
	case in.expected > 0:
		expected = esdb.Revision(uint64(in.expected - 1))
	}
	var list []esdb.EventData
	for _, id := range in.ids {
		list = append(list, esdb.EventData{
			EventID: uuid.MustParse(id), EventType: "e", ContentType: esdb.ContentTypeJson, Data: []byte(`{}`),
		})
	}
	options := esdb.AppendToStreamOptions{ExpectedRevision: expected}
	done, err := c.client.AppendToStream(ctx, in.stream, options, list...)
	var e *esdb.Error
	switch {
	case err == nil:
		h.add(c.number, in, logAnswer{revision: int(done.NextExpectedVersion), position: done.CommitPosition}, call)
		c.seen[in.stream] = int(done.NextExpectedVersion) + 1
	case errors.As(err, &e) && e.Code() == esdb.ErrorCodeWrongExpectedVersion:
		h.add(c.number, in, logAnswer{refused: true}, call)
		c.seen[in.stream]++ // another caller was faster
	default:
		h.lose(c.number, in, call)
	}
}

// watch records what a live subscriber gets, until its context ends; when the node goes, it subscribes again.
func (h *history) watch(ctx context.Context, number int, client *esdb.Client, base uint64) {
	from := esdb.AllPosition(esdb.Position{Commit: base, Prepare: base})
	for ctx.Err() == nil {
		sub, err := client.SubscribeToAll(ctx, esdb.SubscribeToAllOptions{From: from})
		if err != nil {
			continue
		}
		for dropped := false; !dropped; {
			e := sub.Recv()
			dropped = e.SubscriptionDropped != nil
			if e.EventAppeared != nil {
				at := placeOf(e.EventAppeared.Event)
				from = esdb.Position{Commit: at.position, Prepare: at.position}
				h.add(number, logCall{kind: callSee}, logAnswer{places: []place{at}}, h.since())
			}
		}
		_ = sub.Close()
	}
}

// settle gives appends with unknown outcome the one that the log shows: those that are not in it have never happened.
func (h *history) settle(final []place) {
	for _, op := range h.unknown {
		in := op.Input.(logCall)
		revision := -1
		for _, at := range final {
			if at.stream == in.stream {
				revision++
			}
			if at.id == in.ids[len(in.ids)-1] {
				op.Output = logAnswer{revision: revision, position: at.position}
				h.ops = append(h.ops, op)
				break
			}
		}
	}
}

// several are so many calls, one after the other.
func (h *history) several(ctx context.Context, c *caller, calls int) {
	for range calls {
		h.act(ctx, c, fmt.Sprint("lin-", c.random.IntN(3)))
	}
}

// TestLogModel_SeesFaults proves that the checker can fail.
func TestLogModel_SeesFaults(t *testing.T) {
	t.Parallel()
	appends := func(stream, id string, expected, revision int, position uint64) porcupine.Operation {
		return porcupine.Operation{
			Input:  logCall{stream: stream, ids: []string{id}, expected: expected},
			Output: logAnswer{revision: revision, position: position},
		}
	}
	a, b := appends("s", "a", 0, 0, 2), appends("r", "b", 0, 0, 3)
	reads := func(kind callKind, out logAnswer) porcupine.Operation {
		return porcupine.Operation{Input: logCall{kind: kind, stream: "s"}, Output: out}
	}
	first, second := place{2, "s", "a"}, place{3, "r", "b"}
	for name, tc := range map[string]struct {
		ops   []porcupine.Operation
		right bool
	}{
		"a read":                {[]porcupine.Operation{a, reads(callReadStream, logAnswer{ids: []string{"a"}})}, true},
		"a lost append":         {[]porcupine.Operation{a, reads(callReadStream, logAnswer{})}, false},
		"two streams":           {[]porcupine.Operation{a, b}, true},
		"a position left out":   {[]porcupine.Operation{a, appends("r", "b", 0, 0, 4)}, false},
		"a position twice":      {[]porcupine.Operation{a, appends("r", "b", 0, 0, 2)}, false},
		"against real time":     {[]porcupine.Operation{b, a}, false},
		"a repeat":              {[]porcupine.Operation{a, a}, true},
		"a repeat, stored anew": {[]porcupine.Operation{a, appends("s", "a", 0, 1, 3)}, false},
		"a repeat without a revision": {
			[]porcupine.Operation{a, appends("s", "a", expectAnything, 0, 2)}, true,
		},
		"a wrong version that is right": {[]porcupine.Operation{a, {
			Input: logCall{stream: "s", ids: []string{"c"}, expected: 1}, Output: logAnswer{refused: true},
		}}, false},
		"$all": {
			[]porcupine.Operation{a, b, reads(callReadAll, logAnswer{places: []place{first, second}})}, true,
		},
		"$all without an event": {
			[]porcupine.Operation{a, b, reads(callReadAll, logAnswer{places: []place{second}})}, false,
		},
		"an event that is seen": {[]porcupine.Operation{a, reads(callSee, logAnswer{places: []place{first}})}, true},
		"an event seen too soon": {
			[]porcupine.Operation{reads(callSee, logAnswer{places: []place{first}}), a}, false,
		},
	} {
		for n := range tc.ops {
			tc.ops[n].Call, tc.ops[n].Return = int64(2*n), int64(2*n+1)
		}
		if porcupine.CheckOperations(logModel(1), tc.ops) != tc.right {
			t.Errorf("%s: want %t", name, tc.right)
		}
	}
}

// TestLinearizable_UnderKills: the answers that concurrent callers get, across kills of the node, are possible with one
// call at a time: of streams and of $all, positions, repeats, and what a live subscriber sees. Each kill comes while
// PostgreSQL commits appends, which it may finish or not. Then the node is started again, or one that stood by goes on.
func TestLinearizable_UnderKills(t *testing.T) {
	t.Parallel()
	t.Run("the node is started again", func(t *testing.T) {
		t.Parallel()
		cfg, addr := testConfig(t), storetest.FreeAddr(t)
		linearizable(t, cfg, startChild(t, pgtest.URL(t), cfg.Schema, addr), seeds(addr), func() *child {
			return startChild(t, pgtest.URL(t), cfg.Schema, addr)
		})
	})
	t.Run("another one takes over", func(t *testing.T) {
		t.Parallel()
		cfg, addrs := testConfig(t), []string{storetest.FreeAddr(t), storetest.FreeAddr(t)}
		first := startChild(t, pgtest.URL(t), cfg.Schema, addrs[0])
		line := func(round int) *child {
			next := launchChild(t, pgtest.URL(t), cfg.Schema, addrs[round%2], standby)
			if said := next.line(t); said != standby {
				t.Errorf("beside a node that serves it says %q", said)
			}
			return next
		}
		round := 1
		next := line(round)
		linearizable(t, cfg, first, seeds(addrs...), func() *child {
			serves := next
			serves.url = serves.line(t)
			round++
			next = line(round)
			return serves
		})
	})
}

// linearizable checks a history of calls to nodes at an address, of which the first one serves. goOn gives the one that
// serves after a kill.
func linearizable(t *testing.T, cfg embedded.Config, node *child, url string, goOn func() *child) {
	t.Helper()
	const callers, rounds, calls = 6, 3, 40
	ctx, cancel := context.WithTimeout(context.Background(), stormLimit)
	defer cancel()
	client := stormClient(t, url)
	own, err := readPlaces(ctx, client, 0)
	if err != nil {
		t.Fatal(err)
	}
	base, seed := uint64(len(own)), rand.Uint64()
	t.Logf("seed %d", seed)
	h := &history{started: time.Now()}
	watching, unwatch := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() { h.watch(watching, callers+1, stormClient(t, url), base) })
	for round := range rounds {
		var group sync.WaitGroup
		var killed atomic.Bool
		half := make(chan struct{}, callers)
		for number := range callers {
			random := rand.New(rand.NewPCG(seed, uint64(round*callers+number)))
			c := &caller{number: number, client: client, random: random, base: base, seen: map[string]int{}}
			group.Go(func() {
				h.several(ctx, c, calls/2)
				half <- struct{}{}
				for h.several(ctx, c, calls/2); !killed.Load(); h.several(ctx, c, 1) {
				}
			})
		}
		<-half // a caller is in the middle of its calls
		release := held(t, cfg)
		awaitHeldCommit(t, cfg)
		node.kill(t)
		killed.Store(true)
		if round == 1 {
			endHeldCommit(t, cfg)
		}
		release()
		node = goOn()
		group.Wait()
	}
	call := h.since()
	final, err := readPlaces(ctx, client, base)
	if err != nil {
		t.Fatal(err)
	}
	unwatch()
	watcher.Wait()
	h.add(callers, logCall{kind: callReadAll}, logAnswer{places: final}, call)
	h.settle(final)
	t.Logf("%d calls, %d appends with unknown outcome", len(h.ops), len(h.unknown))
	if len(h.unknown) < rounds {
		t.Error("a kill has hit no append")
	}
	if result := porcupine.CheckOperationsTimeout(logModel(base), h.ops, 30*time.Second); result != porcupine.Ok {
		t.Errorf("the history is not linearizable: %v", result)
	}
	node.kill(t)
}
