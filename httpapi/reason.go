package httpapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
)

// reasonRequest is the body of actions that somebody will have to explain.
type reasonRequest struct {
	Reason string `json:"reason"`
}

// executeWithReason executes the command that a path's id and the body's reason make; the reason is kept with its
// events.
func executeWithReason[I ~[16]byte](
	ctx context.Context, c *Call, b *bus.Bus, missing func() error,
	command func(target I, reason string) commands.Command,
) (I, bus.Result, error) {
	target, err := PathID[I](c, "id", missing)
	if err != nil {
		return target, bus.Result{}, err
	}
	in, err := Decode[reasonRequest](c)
	if err != nil {
		return target, bus.Result{}, err
	}
	meta := c.Meta()
	meta.Reason = in.Reason
	done, err := b.Execute(ctx, command(target, in.Reason), meta)
	return target, done, err
}

// archiveRequest may say why.
type archiveRequest struct {
	Reason string `json:"reason,omitempty"`
}
