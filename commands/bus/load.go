package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// carriedCommands is the number of command ids that a closed period passes to the next.
const carriedCommands = 256

// entry is an aggregate as it was read from the log. It is immutable: the slices that it shares are only appended to.
type entry[S any] struct {
	state    S
	target   id.Any
	category string
	period   int                 // 0 for the first
	stream   string              // of the period
	revision eventstore.Expected // of the last event in the period; eventstore.NoStream before the first
	position uint64              // of the last event that was read
	seen     []trace             // one for each event of the period
	carried  []id.Command        // command ids from earlier periods, newest first
	previous eventstore.Expected // revision of the event that closed the previous period
}

// trace is the place of one event and the command that it came from.
type trace struct {
	command  id.Command
	revision uint64
	position uint64
}

// newEntry is an aggregate before any event was read.
func newEntry[S any](category string, target id.Any) entry[S] {
	return entry[S]{
		target: target, category: category, stream: periodStream(category, target, 0),
		revision: eventstore.NoStream, previous: eventstore.NoStream,
	}
}

// periodStream is the stream of period k: docs/rules/engine.md#closing-a-period. Only the first period has the
// aggregate's id in its name.
func periodStream(category string, target id.Any, k int) string {
	if k > 0 {
		target = id.Any(uuid.NewSHA1(target.UUID(), []byte(strconv.Itoa(k))))
	}
	return category + "-" + target.String()
}

// with returns the entry after one more event.
func (e entry[S]) with(state S, command id.Command, revision eventstore.Expected, position uint64) entry[S] {
	e.state, e.revision, e.position = state, revision, position
	e.seen = append(e.seen, trace{command, uint64(revision), position})
	return e
}

// next returns the entry at the beginning of the next period.
func (e entry[S]) next(state S, carried []id.Command, revision eventstore.Expected, position uint64) entry[S] {
	n := newEntry[S](e.category, e.target)
	n.state, n.period, n.position = state, e.period+1, position
	n.stream = periodStream(e.category, e.target, n.period)
	n.carried, n.previous = carried, revision
	return n
}

// result is the present end of the stream. For a new period without events it is the end of the previous period.
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

// acted returns the outcome of a command that acted before. For a command of an earlier period it is the end of the
// previous period.
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

// matches compares the entry with an If-Match. The closing event changes nothing that a client can have seen, so the
// revision before it matches too.
func (e entry[S]) matches(want uint64) bool {
	if e.revision < 0 && e.period > 0 {
		closed := uint64(e.previous)
		return want == closed || closed > 0 && want == closed-1
	}
	if e.revision < 0 {
		return want == commands.NoRevision
	}
	return uint64(e.revision) == want
}

// recent lists the latest command ids for the next period, newest first.
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

// load returns the present state from the log. It starts from the cached entry and always reads on, because another
// replica may have appended. Those who ask for the same aggregate at the same time share a reading.
func (h *handler[S, C, E]) load(ctx context.Context, target id.Any) (entry[S], error) {
	return h.loads.Of(ctx, target, func(ctx context.Context) (entry[S], error) { return h.loadAlone(ctx, target) })
}

// loadAlone is load for one reader.
func (h *handler[S, C, E]) loadAlone(ctx context.Context, target id.Any) (entry[S], error) {
	at, cached := h.cache.Get(target)
	if !cached {
		at = newEntry[S](h.def.Category, target)
	}
	at.seen = slices.Clip(at.seen) // forces append to copy: other goroutines may read the same entry
	read, err := h.catchUp(ctx, at)
	if err != nil {
		return read, err
	}
	if !cached || read.period > at.period || read.revision > at.revision {
		h.cache.Add(target, read)
	}
	return read, nil
}

// catchUp folds the events after an entry, through all later periods. The last event of a closed period has the whole
// state, so the others need not be read. A period is asked for it when many events are left in it, and each one behind
// a closed one at once: most of them are closed, too.
func (h *handler[S, C, E]) catchUp(ctx context.Context, at entry[S]) (entry[S], error) {
	store := h.bus.cfg.Store
	long, asked := false, -1 // the period that was asked last
	for {
		if long && asked < at.period {
			asked = at.period
			last, err := store.ReadLast(ctx, at.stream)
			if err != nil {
				return at, err
			}
			if last != nil && last.Type == h.closing {
				if at, err = h.fold(at, []events.Envelope{*last}); err != nil {
					return at, err
				}
				continue
			}
		}
		period := at.period
		page, more, err := store.ReadPage(ctx, at.stream, uint64(at.revision+1), eventstore.PageSize)
		if err != nil {
			return at, err
		}
		if at, err = h.fold(at, page); err != nil {
			return at, err
		}
		if !more && at.period == period {
			return at, nil
		}
		long = true
	}
}

// fold applies events in order. It stops at a closing event, whose entry belongs to the next period.
func (h *handler[S, C, E]) fold(at entry[S], page []events.Envelope) (entry[S], error) {
	for _, e := range page {
		state, closes, err := h.step(at.state, e)
		switch {
		case err != nil:
			return at, err
		case closes:
			return at.next(state, e.Meta.RecentCommands, eventstore.At(e.Revision), e.Position), nil
		}
		at = at.with(state, e.Meta.CommandID, eventstore.At(e.Revision), e.Position)
	}
	return at, nil
}

// step applies one event of the log. The event that closes a period gives the first state of the next.
func (h *handler[S, C, E]) step(state S, e events.Envelope) (next S, closes bool, err error) {
	fact, ok := e.Event.(E)
	if !ok {
		return state, false, fmt.Errorf("stream %s revision %d: event %s is not one of aggregate %s", e.Stream,
			e.Revision, e.Type, h.def.Category)
	}
	if h.closing == "" || e.Type != h.closing {
		return h.def.Evolve(state, fact), false, nil
	}
	if next, err = h.reopen(fact, e.Meta.At); err != nil {
		return state, true, fmt.Errorf("stream %s revision %d: %w", e.Stream, e.Revision, err)
	}
	return next, true, nil
}

// reopen makes the first state of a period from the event that closed the period before, at an instant.
func (h *handler[S, C, E]) reopen(closing E, at time.Time) (S, error) {
	state, err := h.def.Reopen(closing)
	if err != nil || h.def.ClosedAt == nil {
		return state, err
	}
	return h.def.ClosedAt(state, at), nil
}

// maxClosing is the largest closing event, in bytes of JSON. The log takes 1 MiB in one append, and 64 KiB of it are
// kept for metadata.
const maxClosing = 1<<20 - 64<<10

// closeIfFull closes a full period. A state that is too large for one event, or that could not be read again, leaves
// the period open, because deciding is more important than short streams. The closing event's id follows from the
// stream, so that two replicas that close at the same time close once.
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
	meta.Said, meta.SaidOf = personal.Text{}, id.Any{}
	closing := h.def.Close(at.state)
	if text, err := json.Marshal(closing); err == nil && len(text) > maxClosing {
		h.bus.cfg.Logger.WarnContext(ctx, "full stream not closed because its state is too large", "stream", at.stream,
			"bytes", len(text))
		return at, nil
	}
	state, err := h.reopen(closing, now)
	if err != nil {
		h.bus.cfg.Logger.ErrorContext(ctx, "full stream not closed because its state could not be read again", "stream",
			at.stream, "error", err)
		return at, nil
	}
	done, err := h.bus.append(ctx, at.stream, at.revision, []eventstore.New{{Event: closing, Meta: meta}})
	if err != nil {
		return at, err
	}
	at = at.next(state, meta.RecentCommands, eventstore.At(done.Revision), done.Position)
	h.cache.Add(at.target, at)
	return at, nil
}
