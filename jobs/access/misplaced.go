package accessjobs

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/access"
)

// faultSettled is how long after its beginning nothing else is done about a fault: the end was made sure of a last
// time, after all of settleAfter, by jobs that were up to half a day late.
func faultSettled() time.Duration {
	settled := commands.LongestFault + 12*time.Hour
	for _, wait := range settleAfter {
		settled += wait
	}
	return settled
}

// placeClocks puts right what stops the clocks of an organization and cannot be true: what begins in the future is from
// when a clock was ahead and stops them from now on, and what began longer ago than any fault lasts, which nothing has
// ended, ended when the longest would.
func (w Workers) placeClocks(ctx context.Context, org id.Organization, cause jobs.Cause) error {
	now := w.Clock.Now()
	rows, err := accessviews.DunningQuery{Views: w.Views}.Misplaced(ctx, org, now, now.Add(-faultSettled()), followed)
	if err != nil {
		return err
	}
	cause.OrgID = org
	return each(ctx, rows, func(ctx context.Context, r accessviews.StoppedRow) error {
		var c commands.Command = commands.StopClock{
			Subject: r.DunningSubject, Cause: r.Cause, From: now, Misplaced: true,
		}
		if !r.From.After(now) {
			c = commands.StartClock{
				Subject: r.DunningSubject, Cause: r.Cause, Until: r.From.Add(commands.LongestFault),
			}
		}
		_, err := w.Bus.Execute(ctx, c, cause.Meta("place "+r.Cause+" "+r.SubscriptionID.String()))
		return err
	})
}
