package accesscases

import (
	"context"
	"slices"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Shown gives the open differences of an organization. The method List of an accessviews.DifferencesQuery is one.
type Shown func(
	ctx context.Context, org id.Organization, f accessviews.DifferenceFilter, after accessviews.DifferenceKey, max int,
) ([]accessviews.DifferenceRow, error)

// mostShown is how many differences of one subscriber are read.
const mostShown = 100

// shownAs tells how a router shows a customer who has a difference of a kind, where no session is open here.
var shownAs = map[events.AccessDifferenceKind]Observed{
	events.UnknownSession: Online, events.UnpaidButOnline: Online, events.WrongRate: Online, events.LocalBypass: Online,
	events.PaidButWalledIn: WalledGarden,
}

// unreported corrects what reports do not tell: a customer without an open session whom the auditor has seen at a
// router is online.
func (x Explanations) unreported(ctx context.Context, out *Explanation, who subscribersviews.SubscriberRow) {
	if x.Shown == nil || !slices.ContainsFunc(out.Services, func(s Service) bool { return s.Observed == Offline }) {
		return
	}
	filter := accessviews.DifferenceFilter{Subscriber: who.ID}
	rows, err := x.Shown(ctx, who.OrgID, filter, accessviews.DifferenceKey{}, mostShown)
	if err != nil {
		x.Logger.WarnContext(ctx, "access differences cannot be read", "error", err)
		return
	}
	for i := range out.Services {
		s := &out.Services[i]
		for _, row := range rows {
			if seen, is := shownAs[row.Kind]; is && row.SubscriptionID == s.SubscriptionID && s.Observed != Online &&
				len(s.Sessions) == 0 && s.Observed != Unknown {
				s.Observed = seen
			}
		}
		if s.Observed == Online || s.Observed == WalledGarden && out.Observed == Offline {
			out.Observed = s.Observed
		}
	}
}
