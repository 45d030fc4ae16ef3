package accessviews_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// One difference looks different later and stays; one of nobody who is known stays; others are gone: seen no more, of
// a router that was decommissioned, also when the look at it is recorded afterwards, and of a customer who is
// forgotten.
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
			AccessDifference: d, Expected: "down/up 10000/2000 kbit/s", Actual: personal.Of(actual),
			Walled: d.Kind == events.WrongRate, Since: at, At: at,
		}
	}
	slow := about("slow", "tower", "amina", events.WrongRate)
	local := about("local", "tower", "", events.LocalBypass)
	ended := about("ended", "tower", "baraka", events.StaleSession)
	away := about("away", "mast", "chris", events.PaidButOffline)
	late := about("late", "mast", "", events.UnknownSession)
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
		Add("accessdifference-late", opened(late, "online"), opened(late, "online once more")).
		Add("subscriber-dora", events.SubscriberForgotten{SubscriberID: erased.SubscriberID})
	projectiontest.Check(t, accessviews.Differences{}, story)
}

// seen is when the differences of a query are opened.
var seen = time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)

// opens adds a difference to a log.
func opens(
	log *feedtest.Log, org id.Organization, device id.Device, who id.Subscriber, kind events.AccessDifferenceKind,
) {
	log.Append(events.Metadata{OrgID: org, At: seen}, events.AccessDifferenceOpened{
		AccessDifference: events.AccessDifference{
			DifferenceID: id.New[id.Difference](), OrgID: org, DeviceID: device, SubscriberID: who, Kind: kind,
		},
		Since: seen, At: seen,
	})
}

// differences serves what a log has.
func differences(t *testing.T, log *feedtest.Log) accessviews.DifferencesQuery {
	t.Helper()
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(seen)})
	r.Register(accessviews.Differences{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	head, _ := log.Head(t.Context())
	coretest.WaitFor(t, r.Views(), head, accessviews.DifferencesName)
	return accessviews.DifferencesQuery{Views: r.Views()}
}

// TestDifferencesQuery_FiltersByRouterCustomerAndKind, each alone and together.
func TestDifferencesQuery_FiltersByRouterCustomerAndKind(t *testing.T) {
	t.Parallel()
	acme := id.Derive[id.Organization]("test", "acme")
	tower, amina := id.Derive[id.Device]("test", "tower"), id.Derive[id.Subscriber]("test", "amina")
	log := feedtest.New()
	opens(log, acme, tower, amina, events.WrongRate)
	opens(log, acme, tower, id.Subscriber{}, events.LocalBypass)
	opens(log, acme, id.New[id.Device](), amina, events.PaidButOffline)
	q := differences(t, log)
	for want, filters := range map[int][]accessviews.DifferenceFilter{
		3: {{}},
		2: {{Device: tower}, {Subscriber: amina}},
		1: {{Device: tower, Subscriber: amina}, {Subscriber: amina, Kind: string(events.PaidButOffline)}},
		0: {{Subscriber: id.New[id.Subscriber]()}, {Device: tower, Kind: string(events.PaidButOffline)}},
	} {
		for _, f := range filters {
			if rows, err := q.List(t.Context(), acme, f, accessviews.DifferenceKey{}, 9); len(rows) != want ||
				err != nil {
				t.Errorf("%+v: %d rows, %v, want %d", f, len(rows), err, want)
			}
		}
	}
}

// TestDifferencesQuery_ShownAtHasEachKindThatASessionWithoutReportsCanHave, at other routers than the rest.
func TestDifferencesQuery_ShownAtHasEachKindThatASessionWithoutReportsCanHave(t *testing.T) {
	t.Parallel()
	acme, amina := id.New[id.Organization](), id.New[id.Subscriber]()
	log := feedtest.New()
	var want []id.Device
	for kind, has := range map[events.AccessDifferenceKind]bool{
		events.UnknownSession: true, events.UnpaidButOnline: true, events.PaidButWalledIn: true,
		events.WrongRate: true, events.PaidButOffline: false, events.StaleSession: false, events.LocalBypass: false,
		events.PortBelowPlan: false,
	} {
		router := id.New[id.Device]()
		opens(log, acme, router, amina, kind)
		opens(log, acme, router, amina, kind) // two lines of one customer
		opens(log, acme, id.New[id.Device](), id.New[id.Subscriber](), kind)
		if has {
			want = append(want, router)
		}
	}
	q := differences(t, log)
	got, err := q.ShownAt(t.Context(), acme, amina)
	if err != nil {
		t.Fatal(err)
	}
	order := func(a, b id.Device) int { return strings.Compare(a.String(), b.String()) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Errorf("routers %v, want %v", got, want)
	}
	if list, err := q.Elsewhere(t.Context(), acme, want[0], []id.Subscription{id.New[id.Subscription]()}); err != nil ||
		len(list) != 0 {
		t.Errorf("elsewhere %v, %v", list, err)
	}
	if others, err := q.ShownAt(t.Context(), id.New[id.Organization](), amina); err != nil || len(others) > 0 {
		t.Errorf("another organization has %v, %v", others, err)
	}
}
