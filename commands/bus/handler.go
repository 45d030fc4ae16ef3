package bus

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/joined"
)

// Register adds a kind of aggregate. It panics when the category, the type of the state or the name of a command is
// registered already. It calls Close with the zero state, to learn the type of the closing event.
func Register[S any, C commands.Command, E events.Event](b *Bus, def aggregates.Definition[S, C, E]) {
	if _, twice := b.categories[def.Category]; twice {
		panic("aggregate " + def.Category + " is registered twice")
	}
	cache, err := lru.New[id.Any, entry[S]](max(b.cfg.CachedStreams, def.Remembered))
	if err != nil {
		panic(err) // only for a size that is not positive
	} // fails only for a size below 1
	h := &handler[S, C, E]{bus: b, def: def, cache: cache}
	if def.Close != nil {
		var none S
		h.closing = def.Close(none).EventType()
	}
	for _, cmd := range def.Commands {
		b.store(cmd)
	}
	b.categories[def.Category] = h
	b.states[reflect.TypeFor[S]()] = reader[S]{h.read, h.owner, h.hidden, h.acted, def.Missing, h.history}
}

// handler executes the commands of one kind of aggregate.
type handler[S any, C commands.Command, E events.Event] struct {
	bus     *Bus
	def     aggregates.Definition[S, C, E]
	closing string // type of the event that ends a period; "" when periods never end
	cache   *lru.Cache[id.Any, entry[S]]
	loads   joined.Reads[id.Any, entry[S]]
}

// errBehind ends an attempt on a state in memory that decided nothing: a newer state may decide otherwise.
var errBehind = errors.New("decided on a state that may be old")

// attempt implements category. The first attempt decides on the state in memory, without a read: its append is refused
// when the stream has grown, and every other outcome but a repeated command is decided again on the state of the log.
// The command that begins an aggregate counts on an empty state.
func (h *handler[S, C, E]) attempt(ctx context.Context, x *execution) (Result, error) {
	cmd, ok := x.cmd.(C)
	if !ok {
		return Result{}, fmt.Errorf("command %s is not one of aggregate %s", x.cmd.CommandName(), h.def.Category)
	}
	at, known := h.cache.Get(x.cmd.Target().ID)
	if !known && h.begins(cmd) {
		at, known = newEntry[S](h.def.Category, x.cmd.Target().ID), true
	}
	if known && !x.read {
		at.seen = slices.Clip(at.seen) // as in load
		x.fromMemory = true
		result, err := h.act(ctx, x, cmd, at)
		x.fromMemory = false
		if err == nil || outcomeUnknown(err) {
			return result, err
		}
	}
	x.read = true
	at, err := h.load(ctx, x.cmd.Target().ID)
	if err != nil {
		return Result{}, err
	}
	return h.act(ctx, x, cmd, at)
}

// begins reports whether a command is the one with which an aggregate begins.
func (h *handler[S, C, E]) begins(cmd C) bool {
	return any(h.def.First) != nil && cmd.CommandName() == h.def.First.CommandName()
}

// act checks the owner, then the command id, then If-Match, and decides last.
func (h *handler[S, C, E]) act(ctx context.Context, x *execution, cmd C, at entry[S]) (Result, error) {
	now := h.bus.cfg.Clock.Now()
	if err := h.checkOwner(at.state, cmd, x.meta, now); err != nil {
		return Result{}, err
	}
	if first, acted := at.acted(x.meta.CommandID); acted {
		h.giveBack(ctx, x, at.state)
		return first, nil
	}
	if want := x.meta.ExpectedRevision; want != nil && !at.matches(*want) {
		h.giveBack(ctx, x, at.state)
		return Result{}, ErrStale()
	}
	at, err := h.closeIfFull(ctx, at, x, now)
	if err != nil {
		return Result{}, err
	}
	decided, err := h.def.Decide(at.state, cmd, now)
	switch {
	case err != nil:
		h.giveBack(ctx, x, at.state)
		return Result{}, err
	case len(decided) > 0:
		if h.def.Until != nil {
			x.until = h.def.Until(cmd, decided)
		}
		return h.record(ctx, x, at, decided, now)
	case x.fromMemory:
		return Result{}, errBehind
	}
	h.giveBack(ctx, x, at.state)
	return at.result(false), nil
}

// record takes the new claims and once more those to drop, appends the decided events, and releases the dropped claims.
// The order matters: a claim is taken before the append and released after it.
func (h *handler[S, C, E]) record(
	ctx context.Context, x *execution, at entry[S], decided []E, now time.Time,
) (Result, error) {
	state := at.state
	for _, e := range decided {
		state = h.def.Evolve(state, e)
	}
	if err := h.checkFounder(at.state, state, x.meta); err != nil {
		return Result{}, err
	}
	before, after := h.claims(at.state), h.claims(state)
	meta := x.metadata(h.owner(state), now)
	err := h.bus.take(ctx, x, without(after, before), meta)
	if err == nil {
		err = h.bus.renew(ctx, x, without(before, after), meta)
	}
	switch {
	case err != nil:
		if !outcomeUnknown(err) {
			h.giveBack(ctx, x, at.state)
		}
		return Result{}, err
	case len(x.taken) > 0 && !h.bus.inTime(now):
		return Result{}, eventstore.ErrWrongRevision // decides again, and takes the claims again if they are still free
	}
	list := drafts(decided, meta, x.nonce)
	done, err := h.bus.appendUntil(ctx, x.until, at.stream, at.revision, list)
	switch {
	case errors.Is(err, eventstore.ErrWrongRevision):
		return Result{}, err // the next attempt or abandon releases the claims
	case err != nil && outcomeUnknown(err):
		return Result{}, err // the claims stay, and can be taken over when nothing uses them
	case err != nil:
		h.giveBack(ctx, x, at.state)
		return Result{}, err
	}
	for i, e := range decided {
		at = at.with(h.def.Evolve(at.state, e), list[i].Meta.CommandID, at.revision+1, done.Position)
	}
	h.cache.Add(x.cmd.Target().ID, at)
	h.bus.settle(x, after)
	h.bus.release(ctx, h.bus.own(ctx, x, without(x.taken, after)), x, meta)
	result := at.result(true)
	result.Events = make([]events.Event, len(decided))
	for i, e := range decided {
		result.Events[i] = e
	}
	return result, nil
}

// giveBack releases the claims that this execution took and that the state does not have. A state in memory may be old
// and lack claims that the aggregate has by now, so nothing is released by it.
func (h *handler[S, C, E]) giveBack(ctx context.Context, x *execution, state S) {
	if x.fromMemory {
		return
	}
	over := h.bus.own(ctx, x, without(x.taken, h.claims(state)))
	h.bus.release(ctx, over, x, x.metadata(h.owner(state), h.bus.cfg.Clock.Now()))
	x.taken = nil
}

// abandon implements category. A failure is only logged, because unused claims can be taken over later.
func (h *handler[S, C, E]) abandon(ctx context.Context, x *execution) {
	if len(x.taken) == 0 {
		return
	}
	at, err := h.load(ctx, x.cmd.Target().ID)
	if err != nil {
		h.bus.cfg.Logger.Warn("claims of refused command not released", "command_id", x.meta.CommandID.String(),
			"error", err)
		return
	}
	h.giveBack(ctx, x, at.state)
}

// owner is the organization that owns a state; zero for aggregates of the platform.
func (h *handler[S, C, E]) owner(state S) id.Organization {
	if h.def.Owner == nil {
		return id.Organization{}
	}
	return h.def.Owner(state)
}

// checkOwner answers a command to another organization's aggregate as if the aggregate did not exist.
func (h *handler[S, C, E]) checkOwner(state S, cmd C, meta commands.Meta, now time.Time) error {
	owner := h.owner(state)
	if owner.IsZero() || meta.OrgID.IsZero() || owner == meta.OrgID {
		return nil
	}
	var none S
	if _, err := h.def.Decide(none, cmd, now); failure.KindOf(err) == failure.NotFound {
		return err
	}
	return commands.ErrNotFound()
}

// checkFounder refuses a command by which one organization would create an aggregate for another.
func (h *handler[S, C, E]) checkFounder(before, after S, meta commands.Meta) error {
	owner := h.owner(after)
	if !h.owner(before).IsZero() || owner.IsZero() || meta.OrgID.IsZero() || owner == meta.OrgID {
		return nil
	}
	return commands.ErrNotFound()
}

// claims lists the claims of a state, with their keys.
func (h *handler[S, C, E]) claims(state S) []heldClaim {
	if h.def.Claims == nil {
		return nil
	}
	return h.bus.keyed(h.def.Claims(state))
}

// holds implements category. It reads the state from the log.
func (h *handler[S, C, E]) holds(ctx context.Context, owner id.Any, key uuid.UUID) (bool, error) {
	at, err := h.load(ctx, owner)
	if err != nil {
		return false, err
	}
	for _, c := range h.claims(at.state) {
		if c.key == key {
			return true, nil
		}
	}
	return false, nil
}
