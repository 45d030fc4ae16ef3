package embedded_test

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// streamOp is one call of the history: an append of one event when id is set, otherwise a read of the whole stream.
type streamOp struct {
	stream   string
	id       string
	expected int // number of events in the stream, as far as the caller knows
}

// streamResult is the answer to a streamOp.
type streamResult struct {
	ok  bool   // append: in the log; false: refused with a wrong version
	ids string // read: ids in order, separated by spaces
}

// streamModel describes a single stream that is used by one caller at a time. The state is the ids in order.
var streamModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[string][]porcupine.Operation{}
		for _, op := range history {
			name := op.Input.(streamOp).stream
			parts[name] = append(parts[name], op)
		}
		var out [][]porcupine.Operation
		for _, part := range parts {
			out = append(out, part)
		}
		return out
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		ids, in, out := state.(string), input.(streamOp), output.(streamResult)
		if in.id == "" {
			return out.ids == ids, ids
		}
		n := len(strings.Fields(ids))
		if !out.ok {
			return n != in.expected, ids
		}
		return n == in.expected, strings.TrimSpace(ids + " " + in.id)
	},
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
func (h *history) add(client int, in streamOp, out streamResult, call int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: call, Return: h.since()})
}

// lose records an append with unknown outcome: it may take effect at any later time.
func (h *history) lose(client int, in streamOp, call int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unknown = append(h.unknown, porcupine.Operation{
		ClientId: client, Input: in, Output: streamResult{ok: true}, Call: call, Return: math.MaxInt64,
	})
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

// caller is one client of the history. It makes its calls one after another.
type caller struct {
	number int
	client *esdb.Client
	random *rand.Rand
	seen   map[string]int // number of events in each stream, as far as the caller knows
}

// act makes one random call: mostly appends at the last revision read, so that callers compete for the same place.
func (h *history) act(ctx context.Context, c *caller, stream string) {
	call := h.since()
	if c.random.IntN(3) == 0 {
		if ids, err := readIDs(ctx, c.client, stream); err == nil {
			c.seen[stream] = len(ids)
			h.add(c.number, streamOp{stream: stream}, streamResult{ids: strings.Join(ids, " ")}, call)
		}
		return
	}
	in := streamOp{stream: stream, id: uuid.NewString(), expected: c.seen[stream]}
	expected := esdb.ExpectedRevision(esdb.NoStream{})
	if in.expected > 0 {
		expected = esdb.Revision(uint64(in.expected - 1))
	}
	_, err := c.client.AppendToStream(ctx, stream, esdb.AppendToStreamOptions{ExpectedRevision: expected},
		esdb.EventData{
			EventID: uuid.MustParse(in.id), EventType: "e", ContentType: esdb.ContentTypeJson, Data: []byte(`{}`),
		})
	var e *esdb.Error
	switch {
	case err == nil:
		h.add(c.number, in, streamResult{ok: true}, call)
		c.seen[stream]++
	case errors.As(err, &e) && e.Code() == esdb.ErrorCodeWrongExpectedVersion:
		h.add(c.number, in, streamResult{}, call)
		c.seen[stream]++ // another caller was faster
	default:
		h.lose(c.number, in, call)
	}
}

// TestStreamModel_SeesALostAppend proves that the checker can fail.
func TestStreamModel_SeesALostAppend(t *testing.T) {
	t.Parallel()
	ops := []porcupine.Operation{
		{Input: streamOp{stream: "s", id: "a"}, Output: streamResult{ok: true}, Call: 1, Return: 2},
		{Input: streamOp{stream: "s"}, Output: streamResult{}, Call: 3, Return: 4},
	}
	if porcupine.CheckOperations(streamModel, ops) {
		t.Error("a read that misses an acknowledged append passed")
	}
	ops[1].Output = streamResult{ids: "a"}
	if !porcupine.CheckOperations(streamModel, ops) {
		t.Error("a right history was refused")
	}
}

// TestLinearizable_UnderKills: the answers that concurrent callers get from shared streams, across kills of the node,
// are possible with one call at a time.
func TestLinearizable_UnderKills(t *testing.T) {
	t.Parallel()
	const callers, rounds, calls = 6, 3, 40
	schema := pgtest.New(t).Namespace.Schema("eventstore")
	database, addr := pgtest.URL(t), freeAddr(t)
	node := startChild(t, database, schema, addr)
	ctx, cancel := context.WithTimeout(context.Background(), stormLimit)
	defer cancel()
	client := stormClient(t, node.url)
	streams := []string{"lin-a", "lin-b", "lin-c"}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	h := &history{started: time.Now()}
	for round := range rounds {
		var group sync.WaitGroup
		half := make(chan struct{}, callers)
		for number := range callers {
			c := &caller{number, client, rand.New(rand.NewPCG(seed, uint64(round*callers+number))), map[string]int{}}
			group.Go(func() {
				for i := range calls {
					if i == calls/2 {
						half <- struct{}{}
					}
					h.act(ctx, c, streams[c.random.IntN(len(streams))])
				}
			})
		}
		<-half // a caller is in the middle of its calls
		node.kill(t)
		node = startChild(t, database, schema, addr)
		group.Wait()
	}
	final := map[string][]string{}
	for i, stream := range streams {
		call := h.since()
		ids, err := readIDs(ctx, client, stream)
		if err != nil {
			t.Fatal(err)
		}
		final[stream] = ids
		h.add(callers+i, streamOp{stream: stream}, streamResult{ids: strings.Join(ids, " ")}, call)
	}
	for _, op := range h.unknown {
		if in := op.Input.(streamOp); slices.Contains(final[in.stream], in.id) {
			h.ops = append(h.ops, op)
		}
	}
	t.Logf("%d calls, %d appends with unknown outcome", len(h.ops), len(h.unknown))
	if result := porcupine.CheckOperationsTimeout(streamModel, h.ops, 30*time.Second); result != porcupine.Ok {
		t.Errorf("the history is not linearizable: %v", result)
	}
	node.kill(t)
}
