package bus

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// claimRaces is how often a claim's stream may move on under us before we give up.
const claimRaces = 5

// renewAfter is the age from which a claim that an earlier, unfinished attempt took is taken again: nobody may take it
// over between our look at it and our append.
const renewAfter = time.Second

// heldClaim is a claim with its key.
type heldClaim struct {
	commands.Claim
	key uuid.UUID
}

// claimStream is where the history of one unique value stands.
func (c heldClaim) stream() string { return "claim-" + c.key.String() }

// keyed gives claims their keys, in key order, each once.
func (b *Bus) keyed(list []commands.Claim) []heldClaim {
	out := make([]heldClaim, 0, len(list))
	for _, c := range list {
		out = append(out, heldClaim{c, b.cfg.Claims(c.Kind, c.Value)})
	}
	slices.SortStableFunc(out, func(a, b heldClaim) int { return bytes.Compare(a.key[:], b.key[:]) })
	return slices.CompactFunc(out, func(a, b heldClaim) bool { return a.key == b.key })
}

// without lists the claims of a that b lacks.
func without(a, b []heldClaim) []heldClaim {
	var out []heldClaim
	for _, c := range a {
		if !slices.ContainsFunc(b, func(o heldClaim) bool { return o.key == c.key }) {
			out = append(out, c)
		}
	}
	return out
}

// holding is who has a value now.
type holding struct {
	held     bool
	category string
	owner    id.Any
	since    time.Time
	command  id.Command
	revision eventstore.Expected
}

// holder folds a claim's stream.
func (b *Bus) holder(ctx context.Context, c heldClaim) (holding, error) {
	h := holding{revision: eventstore.NoStream}
	list, err := b.cfg.Store.Read(ctx, c.stream(), 0)
	if err != nil {
		return h, err
	}
	for _, e := range list {
		h.revision = eventstore.At(e.Revision)
		switch fact := e.Event.(type) {
		case events.ClaimTaken:
			h.held, h.category, h.owner, h.since, h.command = true, fact.OwnerCategory, fact.Owner, e.Meta.At,
				e.Meta.CommandID
		case events.ClaimReleased:
			h.held = false
		}
	}
	return h, nil
}

// by tells whether a target has the value.
func (h holding) by(t commands.Target) bool {
	return h.held && h.category == t.Category && h.owner == t.ID
}

// take takes claims in key order, so that two commands never wait for each other's. What it took is noted in x.
func (b *Bus) take(ctx context.Context, x *execution, wanted []heldClaim, meta events.Metadata) error {
	for _, c := range wanted {
		if err := b.takeOne(ctx, x, c, meta); err != nil {
			return err
		}
	}
	return nil
}

// takeOne takes one claim, unless the target has it.
func (b *Bus) takeOne(ctx context.Context, x *execution, c heldClaim, meta events.Metadata) error {
	me := x.cmd.Target()
	for range claimRaces {
		h, err := b.holder(ctx, c)
		if err != nil {
			return err
		}
		facts := []events.Event{events.ClaimTaken{Kind: c.Kind, OwnerCategory: me.Category, Owner: me.ID}}
		switch {
		case h.by(me) && h.command == x.meta.CommandID && meta.At.Sub(h.since) < renewAfter:
			b.note(x, c)
			return nil
		case h.held && !h.by(me):
			if err := b.mayTakeOver(ctx, h, c, meta.At); err != nil {
				return err
			}
			facts = slices.Insert(facts, 0, events.Event(events.ClaimReleased{Kind: c.Kind, Owner: h.owner}))
		}
		_, err = b.append(ctx, c.stream(), h.revision, claimDrafts(facts, meta, c, h.revision))
		if errors.Is(err, eventstore.ErrWrongRevision) {
			continue
		}
		if err == nil {
			b.note(x, c)
		}
		return err
	}
	return ErrConcurrentChange()
}

// note remembers a claim as taken by the execution.
func (b *Bus) note(x *execution, c heldClaim) {
	if len(without([]heldClaim{c}, x.taken)) > 0 {
		x.taken = append(x.taken, c)
	}
}

// mayTakeOver is nil when the holder of a value let the time pass without using it: it was killed between claim and
// append, or could not release it.
func (b *Bus) mayTakeOver(ctx context.Context, h holding, c heldClaim, now time.Time) error {
	taken := failure.NewConflict(c.Code, c.Message)
	if now.Sub(h.since) < b.cfg.ClaimPatience {
		return taken
	}
	owner, ok := b.categories[h.category]
	if !ok {
		return taken
	}
	used, err := owner.holds(ctx, h.owner, c.key)
	if err != nil {
		return err
	}
	if used {
		return taken
	}
	return nil
}

// ending is a claim to release, with the revision of its stream at which that is right.
type ending struct {
	claim    heldClaim
	revision eventstore.Expected
}

// look notes, before the target drops claims, where their streams stand. Whoever takes one of them for the target again
// does so after the target's append, so that the release at this revision fails then, as it should.
func (b *Bus) look(ctx context.Context, x *execution, over []heldClaim) ([]ending, error) {
	var out []ending
	for _, c := range over {
		h, err := b.holder(ctx, c)
		if err != nil {
			return nil, err
		}
		if h.by(x.cmd.Target()) {
			out = append(out, ending{c, h.revision})
		}
	}
	return out, nil
}

// own finds, of claims that the execution took and has no use for, those that nobody took for the target since.
func (b *Bus) own(ctx context.Context, x *execution, over []heldClaim) []ending {
	var out []ending
	for _, c := range over {
		h, err := b.holder(ctx, c)
		if err != nil {
			b.cfg.Logger.Warn("claim is not released", "kind", c.Kind, "stream", c.stream(), "error", err)
		} else if h.by(x.cmd.Target()) && h.command == x.meta.CommandID {
			out = append(out, ending{c, h.revision})
		}
	}
	return out
}

// release gives claims back. One that cannot be released now may be taken over later.
func (b *Bus) release(ctx context.Context, over []ending, x *execution, meta events.Metadata) {
	for _, o := range over {
		facts := []events.Event{events.ClaimReleased{Kind: o.claim.Kind, Owner: x.cmd.Target().ID}}
		_, err := b.append(ctx, o.claim.stream(), o.revision, claimDrafts(facts, meta, o.claim, o.revision))
		if err != nil && !errors.Is(err, eventstore.ErrWrongRevision) {
			b.cfg.Logger.Warn("claim is not released", "kind", o.claim.Kind, "stream", o.claim.stream(), "error", err)
		}
	}
}

// claimDrafts gives the events of a claim's stream ids of the command and the place they go to. Their aggregate is the
// claim itself, whose id is its key: a value may go from owner to owner, and its history is one. Owners are in the
// payloads.
func claimDrafts(facts []events.Event, meta events.Metadata, c heldClaim, after eventstore.Expected) []eventstore.New {
	out := make([]eventstore.New, len(facts))
	meta.AggregateID = id.Any(c.key)
	for i, f := range facts {
		meta.EventID = id.Derive[id.Event]("claim", meta.CommandID.String(), c.key.String(),
			strconv.FormatInt(int64(after), 10), strconv.Itoa(i))
		out[i] = eventstore.New{Event: f, Meta: meta}
	}
	return out
}
