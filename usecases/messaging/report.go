package messagingcases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Reports takes what the SMS provider says about messages later. Safe for concurrent use.
type Reports struct {
	Bus   *bus.Bus
	Views *runner.Views
}

// Take records a report about a message; found is false when no message has the reference, or not yet. A repeat changes
// nothing. meta names no organization: it is that of the message.
func (u Reports) Take(
	ctx context.Context, args commands.TakeMessageReport, meta commands.Meta,
) (found bool, err error) {
	which, found, err := messagingviews.MessagesQuery{Views: u.Views}.ByReference(ctx, args.Reference)
	if err != nil || !found {
		return false, err
	}
	// unchecked, because whoever knows the provider's token may report about every message
	m, _, err := bus.LoadUnchecked[messaging.Message](ctx, u.Bus, which)
	if err != nil {
		return false, err
	}
	meta.OrgID = m.Org
	_, err = u.Bus.Execute(ctx, commands.ReportMessage{
		MessageID: which, Delivered: args.Delivered, Reason: args.Reason,
	}, meta)
	if failure.CodeOf(err) == "message_over" { // dropped, and taken up by another job: nobody waits for the report
		err = nil
	}
	return true, err
}
