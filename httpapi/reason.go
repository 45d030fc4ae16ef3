package httpapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
)

// ReasonRequest is the body of actions that need a reason, which the audit log keeps.
type ReasonRequest struct {
	Reason string `json:"reason"`
}

// ExecuteWithReason executes the command that the path's id and the body's reason make. The reason is kept in the
// metadata of its events.
func ExecuteWithReason[I ~[16]byte](
	ctx context.Context, c *Call, b *bus.Bus, missing func() error,
	command func(target I, reason string) commands.Command,
) (I, bus.Result, error) {
	target, err := PathID[I](c, "id", missing)
	if err != nil {
		return target, bus.Result{}, err
	}
	in, err := Decode[ReasonRequest](c)
	if err != nil {
		return target, bus.Result{}, err
	}
	meta := c.Meta()
	meta.Reason = in.Reason
	done, err := b.Execute(ctx, command(target, in.Reason), meta)
	return target, done, err
}

// ArchiveRequest is the body of actions that may have a reason.
type ArchiveRequest struct {
	Reason string `json:"reason,omitempty"`
}
