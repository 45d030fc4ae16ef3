package outagescases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/outages"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Telling finds who is told of an outage. All fields are required. Safe for concurrent use.
type Telling struct {
	Outages Outages
	Views   *runner.Views
}

// How many customers one job tells, and how long news about an outage is of use.
const (
	toldAtOnce = 500
	toldFor    = 24 * time.Hour
)

// Messages lists the messages to a part of the customers of an outage, or of the routers that came to it later; last is
// set when others follow after it. Whoever has several subscriptions, or was hit at several routers, is told once.
func (u Telling) Messages(
	ctx context.Context, args commands.TellOutage,
) (list []commands.SendMessage, last id.Subscriber, err error) {
	if err := u.Views.WaitFor(ctx, outagesviews.OutagesName, args.Position); err != nil {
		return nil, last, err
	}
	row, err := outagesviews.OutagesQuery{Views: u.Views}.Get(ctx, args.OrgID, args.OutageID)
	if err != nil || row == nil {
		return nil, last, err
	}
	if len(args.Devices) > 0 {
		row.Devices = args.Devices
	}
	if args.Over { // whoever was told hears of it, also where the end was set to an instant before
		row.EndedAt = new(u.Outages.Clock.Now())
	}
	customers, err := u.Outages.Hit(ctx, *row, args.After, toldAtOnce)
	if err != nil || len(customers) == 0 {
		return nil, last, err
	}
	lines, err := u.Outages.Places.Area.Of(ctx, args.OrgID, customers)
	if err != nil {
		return nil, last, err
	}
	now := u.Outages.Clock.Now()
	for _, line := range lines {
		list = append(list, commands.SendMessage{
			OrgID: args.OrgID, SubscriberID: line.SubscriberID, SubscriptionID: line.SubscriptionID,
			Template: events.NoticeOutage, OutageID: args.OutageID, At: now, Until: now.Add(toldFor),
			Position: args.Position,
		})
		if args.Over {
			list[len(list)-1].Template = events.NoticeOutageOver
		}
	}
	if len(customers) == toldAtOnce {
		last = customers[len(customers)-1]
	}
	return list, last, nil
}
