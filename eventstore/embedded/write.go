package embedded

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// patienceClock counts how long callers wait, as their own contexts do: nobody sets it.
var patienceClock = clock.Steady(clock.System())

// writeKind is the effect of a write on its stream.
type writeKind int

// The kinds of write.
const (
	writeAppend writeKind = iota
	writeDelete           // soft delete: a metadata event
	writeTombstone
)

// proposal is one event that a client asks to store.
type proposal struct {
	id       uuid.UUID
	kind     string
	isJSON   bool
	metadata []byte
	data     []byte
}

// write is one request in the sequencer. From enqueue on it belongs to the sequencer, but for its reply.
type write struct {
	kind     writeKind
	stream   string
	expected int64 // a revision, or one of the expect constants
	events   []proposal
	load     *load           // memory of the events; nil = none is counted
	differs  bool            // it was compared with the log, which has not its event at the first place
	caller   context.Context // when it has ended, the caller has gone: do not commit
	deadline time.Time       // after which nothing is to be committed either; zero = none
	batch    *batch          // whose append it is; nil = it has a call of its own
	reply    chan reply      // has room for the answer
	answered atomic.Bool     // the reply was sent
	again    bool            // the database refused it alone and took another write; it is tried once more

	// keeping ends that the memory is given back when the caller has gone, from verdictCompare on.
	keeping func() bool
}

// reply is the answer to a write. While it waits, it keeps the events of none that is over.
type reply struct {
	batch   *batch
	compare *write // for verdictCompare: with its events and their memory
	outcome
}

// answer sends the reply, and gives the memory back unless the events are still needed. Only the first answer counts.
// Safe for concurrent use.
func (w *write) answer(o outcome) {
	if w.answered.Swap(true) {
		return
	}
	r := reply{batch: w.batch, outcome: o}
	if o.err == nil && o.verdict == verdictCompare {
		r.compare = w
		// The memory waits for the client, who holds the reply up when it reads no answers, or has gone.
		w.load.waits(true)
		w.keeping = context.AfterFunc(w.caller, w.load.giveBack)
	} else {
		w.load.free()
	}
	w.reply <- r
}

// isAbandoned reports whether the caller's context has ended, or its patience. Such a write is not committed.
func (w *write) isAbandoned() bool {
	return w.caller.Err() != nil || !w.deadline.IsZero() && patienceClock.Now().After(w.deadline)
}

// outcome is the answer to a write.
type outcome struct {
	verdict  verdict
	current  int64 // last event number of the stream: after the write; or before it, if it was refused
	position int64 // of the last event written or repeated
	err      error // the node could not decide or commit
}

// execute runs a write to its end. It never returns verdictCompare.
func (n *Node) execute(ctx context.Context, w *write) (outcome, error) {
	w.reply = make(chan reply, 1)
	if err := n.sequencer.enqueue(ctx, w); err != nil {
		return outcome{}, err
	}
	o, err := n.sequencer.await(ctx, w)
	if err != nil || o.verdict != verdictCompare {
		return o, err
	}
	return n.compared(ctx, w, o)
}

// compared gives the outcome of a write for which the rules ask for a comparison with the log. The write, its events
// and their memory are not to be used afterwards.
func (n *Node) compared(ctx context.Context, w *write, o outcome) (outcome, error) {
	w.keeping()
	w.load.waits(false)
	defer w.load.free()
	var repeat *seat
	err := n.log.retry(ctx, func() (err error) {
		repeat, _, err = w.compare(ctx, n.log.pool, n.log.queries.identities)
		return err
	})
	switch {
	case err != nil:
		return outcome{}, err
	case repeat != nil:
		return repeat.again(), nil
	}
	return outcome{verdict: verdictWrong, current: o.current}, nil
}

// again is the outcome of an append whose last event has this seat already.
func (at seat) again() outcome {
	return outcome{verdict: verdictRepeat, current: at.revision, position: at.position}
}

// compare compares an append at an earlier revision with the events stored there. If all that are still there are
// equal, and the last one is among them, it returns the seat of the last one. Otherwise differs is true unless the
// first event is there and equal. Stored events never change, and of those that are removed (scavenger) the last of a
// stream stays, so the result stays true: an append whose last event is gone is decided like a new one.
func (w *write) compare(ctx context.Context, db querier, identities string) (repeat *seat, differs bool, err error) {
	first, other, last := true, false, w.expected+int64(len(w.events))
	rows, err := db.Query(ctx, identities, w.stream, w.expected, last)
	if err != nil {
		return nil, false, fmt.Errorf("compare an append: %w", err)
	}
	var at seat
	var id uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&at.revision, &id, &at.position}, func() error {
		if id != w.events[at.revision-w.expected-1].id {
			other = true
			return nil
		}
		first = first && at.revision != w.expected+1
		if at.revision == last {
			repeat = &seat{revision: at.revision, position: at.position}
		}
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("compare an append: %w", err)
	}
	if other {
		repeat = nil
	}
	return repeat, first && repeat == nil, nil
}
