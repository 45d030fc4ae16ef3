package accessviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// One difference looks different later and stays; one of nobody who is known stays; others are gone: seen no more, of
// a router that was decommissioned, and of a customer who is forgotten.
func TestDifferences_Story(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)
	acme := id.Derive[id.Organization]("test", "acme")
	about := func(name, router, who string, kind events.AccessDifferenceKind) events.AccessDifference {
		d := events.AccessDifference{
			DifferenceID: id.Derive[id.Difference]("test", name), OrgID: acme,
			DeviceID: id.Derive[id.Device]("test", router), Kind: kind,
		}
		if who != "" {
			d.SubscriberID = id.Derive[id.Subscriber]("test", who)
			d.SubscriptionID = id.Derive[id.Subscription]("test", who)
		}
		return d
	}
	opened := func(d events.AccessDifference, actual string) events.Event {
		return events.AccessDifferenceOpened{
			AccessDifference: d, Expected: "down/up 10000/2000 kbit/s", Actual: personal.Of(actual), Since: at, At: at,
		}
	}
	slow := about("slow", "tower", "amina", events.WrongRate)
	local := about("local", "tower", "", events.LocalBypass)
	ended := about("ended", "tower", "baraka", events.StaleSession)
	away := about("away", "mast", "chris", events.PaidButOffline)
	erased := about("erased", "tower", "dora", events.UnpaidButOnline)
	story := projectiontest.NewStory(acme, at).
		Add("accessdifference-slow", opened(slow, "no limit"), opened(slow, "down/up 1/1 bit/s"),
			events.AccessRepairAsked{AccessDifference: slow, At: at}).
		Add("accessdifference-local", opened(local, `a local PPP secret let in "bypass"`)).
		Add("accessdifference-ended", opened(ended, "the router does not have it"),
			events.AccessDifferenceClosed{AccessDifference: ended, At: at}).
		Add("accessdifference-away", opened(away, "refused")).
		Add("accessdifference-erased", opened(erased, "online")).
		Add("device-mast", events.DeviceDecommissioned{DeviceID: away.DeviceID, OrgID: acme}).
		Add("subscriber-dora", events.SubscriberForgotten{SubscriberID: erased.SubscriberID})
	projectiontest.Check(t, accessviews.Differences{}, story)
}
