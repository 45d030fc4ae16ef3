package bus

import (
	"context"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// claimKeeper is the category of the claims themselves. It executes ReleaseUnusedClaim, by the rule by which another
// owner may take a claim over.
type claimKeeper struct{ bus *Bus }

// attempt implements category. A claim that somebody takes between the look and the release loses the race for the
// revision, and is looked at again.
func (k claimKeeper) attempt(ctx context.Context, x *execution) (Result, error) {
	b, now := k.bus, k.bus.cfg.Clock.Now()
	c := heldClaim{key: x.cmd.Target().ID.UUID()}
	h, err := b.holder(ctx, c)
	if err != nil {
		return Result{}, err
	}
	r := Result{Stream: c.stream(), Revision: uint64(max(h.revision, 0))}
	if !h.held {
		return r, nil
	}
	if free, err := b.unused(ctx, h, c.key, now); err != nil || !free {
		return r, err
	}
	facts := []events.Event{events.ClaimReleased{Kind: h.kind, Owner: h.owner}}
	done, err := b.append(ctx, c.stream(), h.revision, claimDrafts(facts, x.metadata(h.org, now), c, h.after(x)))
	if err != nil {
		return Result{}, err
	}
	b.cfg.Logger.InfoContext(ctx, "unused claim released", "kind", h.kind, "stream", c.stream())
	return Result{Stream: c.stream(), Revision: done.Revision, Position: done.Position, Changed: true}, nil
}

// abandon implements category: the command takes no claims.
func (claimKeeper) abandon(context.Context, *execution) {}

// holds implements category: a claim has no claims.
func (claimKeeper) holds(context.Context, id.Any, uuid.UUID) (bool, error) { return false, nil }
