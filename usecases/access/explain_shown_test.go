package accesscases_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// TestUnreported_WhoIsSeenAtARouterIsNotOffline: each service by its own differences; what reports tell counts first.
func TestUnreported_WhoIsSeenAtARouterIsNotOffline(t *testing.T) {
	t.Parallel()
	who := subscribersviews.SubscriberRow{ID: id.New[id.Subscriber](), OrgID: id.New[id.Organization]()}
	line, other := id.New[id.Subscription](), id.New[id.Subscription]()
	for name, c := range map[string]struct {
		kind  events.AccessDifferenceKind
		of    id.Subscription
		was   accesscases.Observed
		fails error
		want  accesscases.Observed
	}{
		"no reports":           {kind: events.UnknownSession, of: line, was: "offline", want: "online"},
		"cut, and no reports":  {kind: events.UnpaidButOnline, of: line, was: "offline", want: "online"},
		"walled in":            {kind: events.PaidButWalledIn, of: line, was: "offline", want: "walled_garden"},
		"refused":              {kind: events.PaidButOffline, of: line, was: "offline", want: "offline"},
		"another subscription": {kind: events.UnknownSession, of: other, was: "offline", want: "offline"},
		"not known":            {kind: events.UnknownSession, of: line, was: "unknown", want: "unknown"},
		"cannot be read":       {of: line, was: "offline", fails: errors.New("away"), want: "offline"},
	} {
		x := accesscases.Explanations{Logger: storetest.Quiet(), Shown: func(
			_ context.Context, org id.Organization, f accessviews.DifferenceFilter, _ accessviews.DifferenceKey, _ int,
		) ([]accessviews.DifferenceRow, error) {
			if org != who.OrgID || f.Subscriber != who.ID {
				t.Errorf("%s: asked about %s of %s", name, f.Subscriber, org)
			}
			return []accessviews.DifferenceRow{{Kind: c.kind, SubscriptionID: c.of}}, c.fails
		}}
		out := accesscases.Explanation{Observed: c.was, Services: []accesscases.Service{{
			Service: entitlement.Service{SubscriptionID: line}, Observed: c.was,
		}}}
		x.UnreportedForTest(t.Context(), &out, who)
		if out.Observed != c.want || out.Services[0].Observed != c.want {
			t.Errorf("%s: %s, service %s, want %s", name, out.Observed, out.Services[0].Observed, c.want)
		}
	}
}
