package bus

import (
	"context"
	"fmt"

	"github.com/lastmile-isp/lastmile/commands"
)

// Foreseen says whether a command would do something now.
type Foreseen struct {
	Acted   bool // a command with this id acted before
	Changes bool // it would record something
}

// foreseer is a registered aggregate that decides without recording; claims are none.
type foreseer interface {
	foresee(ctx context.Context, x *execution) (Foreseen, error)
}

// Would decides a command on the present state, and records nothing: unique values are not looked at. The answer may
// have changed when the command arrives. It fails as Execute does.
func (b *Bus) Would(ctx context.Context, cmd commands.Command, meta commands.Meta) (Foreseen, error) {
	decides, ok := b.categories[cmd.Target().Category].(foreseer)
	if !ok {
		return Foreseen{}, fmt.Errorf("foresee %s: no such aggregate is registered", cmd.CommandName())
	}
	if err := checkMeta(cmd.CommandName(), meta); err != nil {
		return Foreseen{}, err
	}
	if err := cmd.Validate(); err != nil {
		return Foreseen{}, err
	}
	return decides.foresee(ctx, &execution{cmd: cmd, meta: meta})
}

// foresee implements foreseer, in the order of act.
func (h *handler[S, C, E]) foresee(ctx context.Context, x *execution) (Foreseen, error) {
	cmd, ok := x.cmd.(C)
	if !ok {
		return Foreseen{}, fmt.Errorf("command %s is not one of aggregate %s", x.cmd.CommandName(), h.def.Category)
	}
	at, err := h.load(ctx, x.cmd.Target().ID)
	if err != nil {
		return Foreseen{}, err
	}
	now := h.bus.cfg.Clock.Now()
	if err := h.checkOwner(at.state, cmd, x.meta, now); err != nil {
		return Foreseen{}, err
	}
	if _, acted := at.acted(x.meta.CommandID); acted {
		return Foreseen{Acted: true}, nil
	}
	if want := x.meta.ExpectedRevision; want != nil && !at.matches(*want) {
		return Foreseen{}, ErrStale()
	}
	decided, err := h.def.Decide(at.state, cmd, now)
	return Foreseen{Changes: len(decided) > 0}, err
}
