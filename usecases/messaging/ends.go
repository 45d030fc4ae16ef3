package messagingcases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// late ends a message whose moment is over. One that has an address was offered to its gateway.
func (d *Delivery) late(ctx context.Context, a Attempt, which id.Message, m messaging.Message) error {
	if m.Channel != "" {
		return d.fail(ctx, a, which, codeGateway)
	}
	return d.drop(ctx, a, which, codeExpired)
}

// drop records why a message is not sent any more.
func (d *Delivery) drop(ctx context.Context, a Attempt, which id.Message, code string) error {
	_, err := d.Bus.Execute(ctx, commands.DropMessage{MessageID: which, Code: code}, a.meta("drop"))
	return err
}

// fail records why a message cannot be sent.
func (d *Delivery) fail(ctx context.Context, a Attempt, which id.Message, code string) error {
	_, err := d.Bus.Execute(ctx, commands.FailMessage{MessageID: which, Code: code}, a.meta("fail"))
	return err
}

// unwanted ends a message of this job of which its customer is not told any more: what the customer or the organization
// wants, the plan or the tax gateway has changed while it waited. When it was being handed over at a stop, the gateway
// may have it already, and its end says so.
func (d *Delivery) unwanted(ctx context.Context, a Attempt, which id.Message) error {
	m, err := d.message(ctx, which)
	if err != nil || m.Over || m.Org.IsZero() || m.Sender != a.Job {
		return err
	}
	a.back = m.Back != ""
	if m.Channel != "" && d.Offers != nil {
		before, err := d.Offers.Begin(ctx, a.offer(which))
		switch {
		case err != nil:
			return err
		case before.Taken:
			of := taken{which, m.Channel, Handed{before.Reference, before.Cost}, a.back}
			return d.confirm(ctx, a, of)
		case before.Before:
			return d.doubt(ctx, a, which)
		}
		if err := d.endOffer(ctx, a, which); err != nil {
			return err
		}
	}
	return d.drop(ctx, a, which, codeUnwanted)
}
