package messagingcases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/outages"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// mostMerged bounds the outages that are looked at because they became one.
const mostMerged = 100

// ofOutage reads the outage as which the one of a message goes on, and whether the customer was told that any part of
// that began: each hears of it once, and of its end once (docs/rules/outages.md#messages). For a message about a
// beginning, one of an earlier part counts that waits, too: of two that wait one goes, also when both look at once. For
// one about an end, a beginning counts that is at its gateway: what has no address by then does not go any more.
func (d *Delivery) ofOutage(ctx context.Context, args commands.SendMessage, f *facts) error {
	var err error
	if f.outage, err = usecases.WholeOutage(ctx, d.Bus, args.OrgID, args.OutageID); err != nil {
		return err
	}
	over, own := args.Template == events.NoticeOutageOver, args.OutageID
	args.Template = events.NoticeOutage
	parts, later := []id.Outage{f.outage.ID}, over
	for i := 0; i < len(parts) && i < mostMerged && !f.told; i++ {
		part := f.outage
		if i > 0 {
			if part, _, err = bus.LoadOwned[outages.Outage](ctx, d.Bus, args.OrgID, parts[i]); err != nil {
				return err
			}
		}
		if args.OutageID = parts[i]; !over && args.OutageID == own {
			parts, later = append(parts, part.Absorbed...), true
			continue
		}
		ended := false
		if i > 0 { // of the end of the whole this one may be the message
			ended, err = d.toldOver(ctx, args, f)
		}
		switch {
		case err != nil:
			return err
		case ended:
			continue
		}
		parts = append(parts, part.Absorbed...)
		began, err := d.message(ctx, f.message(args))
		if err != nil {
			return err
		}
		waits := !began.Org.IsZero() && !began.Dropped
		f.told = waits && (began.Over || !later)
		f.telling = f.telling || waits && !began.Over && began.Channel != ""
	}
	return nil
}

// toldOver reports whether the customer is told of the end of a part, and so of the end of its own parts: one that goes
// on is none of whose beginning they were told because of any of these.
func (d *Delivery) toldOver(ctx context.Context, args commands.SendMessage, f *facts) (bool, error) {
	args.Template = events.NoticeOutageOver
	over, err := d.message(ctx, f.message(args))
	return !over.Org.IsZero() && !over.Dropped, err
}
