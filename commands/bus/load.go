package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// carriedCommands is how many command ids a closed period hands on.
const carriedCommands = 256

// entry is an aggregate as far as the log was read. Immutable: what it refers to is never changed, only appended to.
type entry[S any] struct {
	state    S
	target   id.Any
	category string
	period   int
	stream   string              // of the period
	revision eventstore.Expected // of its last event
	position uint64              // of the last event read
	seen     []trace             // one for each event of the period
	carried  []id.Command        // that acted before the period
	previous eventstore.Expected // revision of the event that closed the period before
}

// trace is where a command's event stands.
type trace struct {
	command  id.Command
	revision uint64
	position uint64
}

// newEntry is an aggregate of which nothing was read.
func newEntry[S any](category string, target id.Any) entry[S] {
	return entry[S]{
		target: target, category: category, stream: periodStream(category, target, 0),
		revision: eventstore.NoStream, previous: eventstore.NoStream,
	}
}

// periodStream is the stream of period k: docs/rules/engine.md#closing-a-period.
func periodStream(category string, target id.Any, k int) string {
	if k > 0 {
		target = id.Any(uuid.NewSHA1(target.UUID(), []byte(strconv.Itoa(k))))
	}
	return category + "-" + target.String()
}

// with is the entry after one more event.
func (e entry[S]) with(state S, command id.Command, revision eventstore.Expected, position uint64) entry[S] {
	e.state, e.revision, e.position = state, revision, position
	e.seen = append(e.seen, trace{command, uint64(revision), position})
	return e
}

// next is the entry at the beginning of the next period.
func (e entry[S]) next(state S, carried []id.Command, revision eventstore.Expected, position uint64) entry[S] {
	n := newEntry[S](e.category, e.target)
	n.state, n.period, n.position = state, e.period+1, position
	n.stream = periodStream(e.category, e.target, n.period)
	n.carried, n.previous = carried, revision
	return n
}

// result is where the stream stands; a period without events yet stands where the one before was closed.
func (e entry[S]) result(changed bool) Result {
	r := Result{Stream: e.stream, Position: e.position, Changed: changed}
	switch {
	case e.revision >= 0:
		r.Revision = uint64(e.revision)
	case e.period > 0:
		r.Stream, r.Revision = periodStream(e.category, e.target, e.period-1), uint64(e.previous)
	}
	return r
}

// acted gives the outcome of a command that acted before.
func (e entry[S]) acted(command id.Command) (Result, bool) {
	for _, t := range slices.Backward(e.seen) {
		if t.command == command {
			return Result{Stream: e.stream, Revision: t.revision, Position: t.position}, true
		}
	}
	if slices.Contains(e.carried, command) {
		return Result{Stream: periodStream(e.category, e.target, e.period-1), Revision: uint64(e.previous),
			Position: e.position}, true
	}
	return Result{}, false
}

// matches compares with an If-Match. Closing a period changes nothing that a caller can have seen.
func (e entry[S]) matches(want uint64) bool {
	if e.revision < 0 && e.period > 0 {
		return want == uint64(e.previous) || want+1 == uint64(e.previous)
	}
	return e.revision >= 0 && uint64(e.revision) == want
}

// recent lists the last command ids, newest first.
func (e entry[S]) recent() []id.Command {
	out := make([]id.Command, 0, carriedCommands)
	add := func(c id.Command) {
		if len(out) < carriedCommands && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	for _, t := range slices.Backward(e.seen) {
		add(t.command)
	}
	for _, c := range e.carried {
		add(c)
	}
	return out
}

// load reads an aggregate from the log, forward from what the cache has: another replica may have written.
func (h *handler[S, C, E]) load(ctx context.Context, target id.Any) (entry[S], error) {
	at, cached := h.cache.Get(target)
	if !cached {
		at = newEntry[S](h.def.Category, target)
	}
	at.seen = slices.Clip(at.seen) // appending makes a copy: others may read the same entry
	read, err := h.catchUp(ctx, at)
	if err != nil {
		return read, err
	}
	if !cached || read.period > at.period || read.revision > at.revision {
		h.cache.Add(target, read)
	}
	return read, nil
}

// catchUp folds what the log has beyond an entry, over as many periods as there are.
func (h *handler[S, C, E]) catchUp(ctx context.Context, at entry[S]) (entry[S], error) {
	store := h.bus.cfg.Store
	for {
		page, more, err := store.ReadPage(ctx, at.stream, uint64(at.revision+1), eventstore.PageSize)
		if err != nil {
			return at, err
		}
		period := at.period
		if at, err = h.fold(at, page); err != nil {
			return at, err
		}
		if at.period > period {
			continue
		}
		if !more {
			return at, nil
		}
		// A long rest: if the period is closed, its last event says all.
		last, err := store.ReadLast(ctx, at.stream)
		if err != nil {
			return at, err
		}
		if last != nil && last.Type == h.closing {
			if at, err = h.fold(at, []events.Envelope{*last}); err != nil {
				return at, err
			}
		}
	}
}

// fold applies events in order.
func (h *handler[S, C, E]) fold(at entry[S], page []events.Envelope) (entry[S], error) {
	for _, e := range page {
		fact, ok := e.Event.(E)
		if !ok {
			return at, fmt.Errorf("stream %s revision %d: event %s is not one of aggregate %s", e.Stream, e.Revision,
				e.Type, h.def.Category)
		}
		if h.closing != "" && e.Type == h.closing {
			var none S
			return at.next(h.def.Evolve(none, fact), e.Meta.RecentCommands, eventstore.At(e.Revision), e.Position), nil
		}
		at = at.with(h.def.Evolve(at.state, fact), e.Meta.CommandID, eventstore.At(e.Revision), e.Position)
	}
	return at, nil
}

// maxClosing bounds the event that closes a period, in bytes of JSON: the log takes 1 MiB in one append, with metadata.
const maxClosing = 1<<20 - 64<<10

// closeIfFull ends a full period; one whose state is too large for an event goes on, longer than wanted, for what it
// decides about matters more. Its event's id is the stream's: replicas that close at the same moment close once.
func (h *handler[S, C, E]) closeIfFull(
	ctx context.Context, at entry[S], x *execution, now time.Time,
) (entry[S], error) {
	if h.closing == "" || int64(at.revision)+2 < int64(h.bus.cfg.PeriodLength) {
		return at, nil
	}
	meta := x.metadata(h.owner(at.state), now)
	meta.EventID = id.Derive[id.Event]("closing", at.stream)
	meta.CommandID = id.Derive[id.Command]("closing", at.stream)
	meta.Action, meta.Actor = "bus.ClosePeriod", events.Actor{Kind: events.ActorProcess, ID: "bus"}
	meta.OrgID, meta.RecentCommands = h.owner(at.state), at.recent()
	meta.IP, meta.RequestID, meta.Reason = personal.Text{}, "", ""
	closing := h.def.Close(at.state)
	if text, err := json.Marshal(closing); err == nil && len(text) > maxClosing {
		h.bus.cfg.Logger.WarnContext(ctx, "stream is full, and its state is too large to close it", "stream", at.stream,
			"bytes", len(text))
		return at, nil
	}
	done, err := h.bus.append(ctx, at.stream, at.revision, []eventstore.New{{Event: closing, Meta: meta}})
	if err != nil {
		return at, err
	}
	var none S
	at = at.next(h.def.Evolve(none, closing), meta.RecentCommands, eventstore.At(done.Revision), done.Position)
	h.cache.Add(at.target, at)
	return at, nil
}
