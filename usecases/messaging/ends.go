package messagingcases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// late ends a message whose moment is over. One that has an address was offered to its gateway.
func (d *Delivery) late(ctx context.Context, a Attempt, which id.Message, m messaging.Message) error {
	a.back = m.Back != ""
	switch ended, err := d.endedAtGateway(ctx, a, which, m); {
	case ended || err != nil:
		return err
	case m.Channel != "":
		return d.fail(ctx, a, which, codeGateway)
	}
	return d.drop(ctx, a, which, codeExpired)
}

// untrue ends a message whose news does not hold any more.
func (d *Delivery) untrue(ctx context.Context, a Attempt, which id.Message, m messaging.Message) error {
	a.back = m.Back != ""
	if ended, err := d.endedAtGateway(ctx, a, which, m); ended || err != nil {
		return err
	}
	return d.drop(ctx, a, which, codeUntrue)
}

// endedAtGateway ends a message that was being handed over at a stop: its gateway has it, or may have it. Whatever it
// says now, its customer was told, so it is neither dropped nor failed. Without such a note it was not handed over.
func (d *Delivery) endedAtGateway(
	ctx context.Context, a Attempt, which id.Message, m messaging.Message,
) (ended bool, err error) {
	if m.Channel == "" || d.Offers == nil {
		return false, nil
	}
	before, err := d.Offers.Begin(ctx, a.offer(which))
	switch {
	case err != nil:
		return false, err
	case before.Taken:
		return true, d.confirm(ctx, a, taken{which, m.Channel, Handed{before.Reference, before.Cost}, a.back})
	case before.Before:
		return true, d.doubt(ctx, a, which)
	}
	return false, d.endOffer(ctx, a, which)
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
	if ended, err := d.endedAtGateway(ctx, a, which, m); ended || err != nil {
		return err
	}
	return d.drop(ctx, a, which, codeUnwanted)
}
