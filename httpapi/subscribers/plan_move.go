package subscribersapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// planMoveRequest is the body of POST /plans/:id/move.
type planMoveRequest struct {
	Version int    `json:"version" doc:"the newest one, as it was seen"`
	Reason  string `json:"reason"`
}

// move begins to move the customers of a plan; the answer has the id of the batch.
func (a Plans) move(ctx context.Context, c *httpapi.Call) error {
	plan, err := httpapi.PathID[id.Plan](c, "id", commands.ErrNoPlan)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[planMoveRequest](c)
	if err != nil {
		return err
	}
	move, done, err := a.Moves.Ask(ctx, c.Asked(), plan, in.Version, in.Reason)
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, billingviews.BatchesName, done.Position); err != nil {
		return err
	}
	return c.Send(202, httpapi.Accepted{ID: move.String(), Status: "accepted"})
}
