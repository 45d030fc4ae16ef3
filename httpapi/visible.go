package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Visibility waits until a read model shows a position of the log: *runner.Views.
type Visibility interface {
	// WaitFor waits at most 2 s, then gives runner.ErrBehind.
	WaitFor(ctx context.Context, projection string, position uint64) error
}

// Visible is a write whose result is to be read back.
type Visible struct {
	Projection string // the read model that read uses
	ID         string // of the resource, shown with status 202
	Result     bus.Result
}

// Accepted is the answer to a write that the read side does not show yet (docs/rules/http.md#read-your-write).
type Accepted struct {
	ID     string `json:"id"`
	Status string `json:"status" enum:"accepted,waiting" doc:"waiting: nothing is done before a second person agrees"`
	// ApprovalID is set when it waits.
	ApprovalID *id.Approval `json:"approvalId,omitempty" doc:"of waiting: GET /approvals/:id"`
}

// SendVisible waits until the read side has a write, then answers with the resource and, as ETag, with the revision of
// its stream; with 202 when the wait takes too long.
func SendVisible[T any](
	ctx context.Context, c *Call, status int, v Visible, read func(ctx context.Context) (T, error),
) error {
	err := c.server.cfg.Visibility.WaitFor(ctx, v.Projection, v.Result.Position)
	if errors.Is(err, runner.ErrBehind) {
		return c.Send(http.StatusAccepted, Accepted{ID: v.ID, Status: "accepted"})
	}
	if err != nil {
		return err
	}
	resource, err := read(ctx)
	if err != nil {
		return err
	}
	c.SetRevision(v.Result.Revision)
	return SendNamed(ctx, c, status, resource)
}

// WaitVisible only waits, as SendVisible does; shown is false when that takes too long. It is for writes that answer
// with something else than the resource.
func (c *Call) WaitVisible(ctx context.Context, projection string, position uint64) (shown bool, err error) {
	err = c.server.cfg.Visibility.WaitFor(ctx, projection, position)
	if errors.Is(err, runner.ErrBehind) {
		return false, nil
	}
	return err == nil, err
}
