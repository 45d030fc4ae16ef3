package bus

import (
	"context"
	"fmt"

	"github.com/lastmile-isp/lastmile/commands"
)

// Reserve takes a unique value for an aggregate that uses it since before such values were claimed: a command takes
// only what its aggregate did not use before. It reports whether it took the value; it takes none that the aggregate
// holds already, or does not use. It may be repeated. Fails: the claim's own code while somebody else uses the value.
func (b *Bus) Reserve(
	ctx context.Context, owner commands.Target, claim commands.Claim, meta commands.Meta,
) (bool, error) {
	c, ok := b.categories[owner.Category]
	if !ok {
		return false, fmt.Errorf("reserve %s: no aggregate %q is registered", claim.Kind, owner.Category)
	}
	if err := checkMeta("claim of "+claim.Kind, meta); err != nil {
		return false, err
	}
	unlock, err := b.locks.acquire(ctx, owner.Stream())
	if err != nil {
		return false, fmt.Errorf("reserve %s: %w", claim.Kind, err)
	}
	defer unlock()
	held := b.keyed([]commands.Claim{claim})[0]
	h, err := b.holder(ctx, held)
	if err != nil || h.by(owner) {
		return false, err
	}
	// Another program may end the use after this look. The value is freed then like that of a command that was killed.
	used, err := c.holds(ctx, owner.ID, held.key)
	if err != nil || !used {
		return false, err
	}
	x := &execution{cmd: reservation{owner: owner}, meta: meta}
	err = b.takeOne(ctx, x, held, h, x.metadata(meta.OrgID, b.cfg.Clock.Now()))
	return err == nil, err
}

// reservation stands for the command that should have taken a value.
type reservation struct{ owner commands.Target }

// CommandName is the action in the audit of the claim.
func (reservation) CommandName() string { return "claims.Reserve" }

// Target is the aggregate that uses the value.
func (r reservation) Target() commands.Target { return r.owner }

// Validate has nothing to check.
func (reservation) Validate() error { return nil }
