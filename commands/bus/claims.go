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

// claimRaces is the number of lost races after which a claim is given up.
const claimRaces = 5

// renewAfter is the age at which the execution takes its own claim from an earlier attempt again. A fresh claim cannot
// be taken over between the check and the append.
const renewAfter = time.Second

// heldClaim is a claim with its key, the HMAC of its value.
type heldClaim struct {
	commands.Claim
	key uuid.UUID
}

// stream is the stream with the history of one unique value.
func (c heldClaim) stream() string { return commands.At(commands.ClaimCategory, c.key).Stream() }

// keyed adds the keys to claims, orders them by key and drops duplicates.
func (b *Bus) keyed(list []commands.Claim) []heldClaim {
	out := make([]heldClaim, 0, len(list))
	for _, c := range list {
		out = append(out, heldClaim{c, b.cfg.Claims(c.Kind, c.Value)})
	}
	slices.SortStableFunc(out, func(a, b heldClaim) int { return bytes.Compare(a.key[:], b.key[:]) })
	return slices.CompactFunc(out, func(a, b heldClaim) bool { return a.key == b.key })
}

// without keeps the order of a and compares keys only.
func without(a, b []heldClaim) []heldClaim {
	var out []heldClaim
	for _, c := range a {
		if !slices.ContainsFunc(b, func(o heldClaim) bool { return o.key == c.key }) {
			out = append(out, c)
		}
	}
	return out
}

// holding is the present owner of a unique value; held is false when it is free.
type holding struct {
	held     bool
	kind     string
	category string
	owner    id.Any
	org      id.Organization // of the command that took it; zero = the platform
	since    time.Time
	command  id.Command
	revision eventstore.Expected
	guessed  bool // nobody has read the stream
}

// holder folds the stream of a claim.
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
			h.held, h.kind, h.category, h.owner = true, fact.Kind, fact.OwnerCategory, fact.Owner
			h.org, h.since, h.command = e.Meta.OrgID, e.Meta.At, e.Meta.CommandID
		case events.ClaimReleased:
			h.held = false
		}
	}
	return h, nil
}

// by reports whether the target owns the value.
func (h holding) by(t commands.Target) bool {
	return h.held && h.category == t.Category && h.owner == t.ID
}

// take takes claims in the order of their keys, so that two commands never wait for each other. x.taken lists the
// claims that were taken, also after a failure.
func (b *Bus) take(ctx context.Context, x *execution, wanted []heldClaim, meta events.Metadata) error {
	// Most values are new, and the append finds those that are not. Only the first attempt guesses: what it has taken
	// may be gone at the next one.
	guess := !x.claimed
	x.claimed = true
	for _, c := range wanted {
		h, err := holding{revision: eventstore.NoStream, guessed: true}, error(nil)
		if !guess {
			h, err = b.holder(ctx, c)
		}
		if err == nil {
			err = b.takeOne(ctx, x, c, h, meta)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeOne takes one claim, whose stream may have gone on since h was read. It takes over a claim that another owner
// does not use, and renews an old one of the target.
func (b *Bus) takeOne(ctx context.Context, x *execution, c heldClaim, h holding, meta events.Metadata) (err error) {
	me := x.cmd.Target()
	for race := range claimRaces + 1 {
		if race > 0 {
			if h, err = b.holder(ctx, c); err != nil {
				return err
			}
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
		list := claimDrafts(facts, meta, c, h.after(x))
		_, err := b.append(ctx, c.stream(), h.revision, list)
		if errors.Is(err, eventstore.ErrWrongRevision) {
			continue
		}
		if err == nil {
			b.note(x, c)
			x.takes(c, list[len(list)-1].Meta.EventID)
		}
		return err
	}
	return ErrConcurrentChange()
}

// note adds a claim to x.taken, once.
func (b *Bus) note(x *execution, c heldClaim) {
	if len(without([]heldClaim{c}, x.taken)) > 0 {
		x.taken = append(x.taken, c)
	}
}

// mayTakeOver is nil when the owner does not use the value. Otherwise it is the claim's own failure.
func (b *Bus) mayTakeOver(ctx context.Context, h holding, c heldClaim, now time.Time) error {
	free, err := b.unused(ctx, h, c.key, now)
	if err == nil && !free {
		err = failure.NewConflict(c.Code, c.Message)
	}
	return err
}

// unused reports whether the owner of a value has not used it for ClaimPatience: its command died between claim and
// append, or could not release it.
func (b *Bus) unused(ctx context.Context, h holding, key uuid.UUID, now time.Time) (bool, error) {
	owner, ok := b.categories[h.category]
	if !ok || now.Sub(h.since) < b.cfg.ClaimPatience {
		return false, nil
	}
	used, err := owner.holds(ctx, h.owner, key)
	return err == nil && !used, err
}

// inTime reports whether claims that were taken at an instant can still be followed by the append of their owner. The
// rest of ClaimPatience is for the append itself, which ends after AppendPatience: nobody else may have the value
// before the owner's event is in the log.
func (b *Bus) inTime(taken time.Time) bool {
	return b.cfg.Clock.Now().Sub(taken) < b.cfg.ClaimPatience/2
}

// renew takes the claims again that the target holds and is about to drop. A program that is killed between the append
// of the target and the release then leaves them as one that is killed before the append leaves a new claim, and they
// end in the same way.
func (b *Bus) renew(ctx context.Context, x *execution, over []heldClaim, meta events.Metadata) error {
	for _, c := range over {
		h, err := b.holder(ctx, c)
		if err == nil && h.by(x.cmd.Target()) {
			err = b.takeOne(ctx, x, c, h, meta)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ending is a claim to release. The release is appended at this revision and fails if the claim was taken again since.
type ending struct {
	claim    heldClaim
	revision eventstore.Expected
}

// own selects the claims that this execution took, does not need, and still holds.
func (b *Bus) own(ctx context.Context, x *execution, over []heldClaim) []ending {
	var out []ending
	for _, c := range over {
		h, err := b.holder(ctx, c)
		if err != nil {
			b.cfg.Logger.Warn("claim not released", "kind", c.Kind, "stream", c.stream(), "error", err)
		} else if h.by(x.cmd.Target()) && h.command == x.meta.CommandID {
			out = append(out, ending{c, h.revision})
		}
	}
	return out
}

// release gives claims back. A claim that cannot be released now is found by ReleaseUnusedClaim.
func (b *Bus) release(ctx context.Context, over []ending, x *execution, meta events.Metadata) {
	for _, o := range over {
		facts := []events.Event{events.ClaimReleased{Kind: o.claim.Kind, Owner: x.cmd.Target().ID}}
		after := holding{revision: o.revision}.after(x)
		_, err := b.append(ctx, o.claim.stream(), o.revision, claimDrafts(facts, meta, o.claim, after))
		if err != nil && !errors.Is(err, eventstore.ErrWrongRevision) {
			b.cfg.Logger.Warn("claim not released", "kind", o.claim.Kind, "stream", o.claim.stream(), "error", err)
		}
	}
}

// after names what the next event of a claim follows. A guess is that of one execution: another one with the same
// command must not find its event and count as the owner, although somebody else is by now.
func (h holding) after(x *execution) string {
	if h.guessed {
		return x.nonce
	}
	return strconv.FormatInt(int64(h.revision), 10)
}

// claimDrafts makes the events of a claim's stream. Their ids follow from the command and from what they come after,
// so that a repeated append is recognized. Their aggregate is the claim, with its key as id, because a value can change
// its owner; the owner is in the payload.
func claimDrafts(facts []events.Event, meta events.Metadata, c heldClaim, after string) []eventstore.New {
	out := make([]eventstore.New, len(facts))
	meta.AggregateID = id.Any(c.key)
	for i, f := range facts {
		meta.EventID = id.Derive[id.Event]("claim", meta.CommandID.String(), c.key.String(), after, strconv.Itoa(i))
		out[i] = eventstore.New{Event: f, Meta: meta}
	}
	return out
}
