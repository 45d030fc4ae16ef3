package subscribersapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// writeOffRequest says how much of a debt is given up, and why (docs/rules/money.md#write-off).
type writeOffRequest struct {
	Amount *httpapi.Amount `json:"amount,omitempty" doc:"all that is due when absent"`
	Reason string          `json:"reason"`
}

// writeOff gives up what is due, and answers with the subscriber's balance after it; with 202 while no list shows it
// yet.
func (a Subscribers) writeOff(ctx context.Context, c *httpapi.Call) error {
	subscriber, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[writeOffRequest](c)
	if err != nil {
		return err
	}
	asked := billingcases.WriteOffInput{SubscriberID: subscriber, Reason: in.Reason}
	if in.Amount != nil {
		asked.Amount = new(in.Amount.Figure())
	}
	done, err := a.WriteOffs.WriteOff(ctx, c.Asked(), asked)
	if err != nil {
		return err
	}
	shown, err := c.WaitVisible(ctx, a.one().Model, done.Position)
	if err != nil {
		return err
	}
	if !shown {
		return c.Send(202, httpapi.Accepted{ID: subscriber.String(), Status: "accepted"})
	}
	row, err := a.one().Find(ctx, c, subscriber)
	if err != nil {
		return err
	}
	return httpapi.SendNamed(ctx, c, 200, a.one().Show(row))
}
