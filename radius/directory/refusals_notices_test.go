package directory_test

import (
	"net/netip"
	"testing"
	"time"

	"layeh.com/radius/rfc2869"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// TestNotice_DroppedSignInsAreFoundWithCustomerOrRouter: wrong secrets of a router.
func TestNotice_DroppedSignInsAreFoundWithCustomerOrRouter(t *testing.T) {
	t.Parallel()
	s, ours, theirs := newSafe(), newISP(), newISP()
	refusals := directory.NewRefusals(clock.System())
	k := &kit{t: t, safe: s, refusals: refusals, dir: directory.New(directory.Config{Refusals: refusals})}
	k.apply(ours.begin(s, "127.0.0.1", "amina", "pw")...)
	k.apply(theirs.begin(s, "127.0.0.2", "brian", "pw")...)
	notice := func(r radius.Result, nas *radius.NAS, names map[string]int) radius.Notice {
		return radius.Notice{Result: r, NAS: nas, Count: 10, First: noon, Last: noon.Add(time.Second), Names: names}
	}
	router := &radius.NAS{ID: ours.router, Org: ours.org}
	k.dir.Notice([]radius.Notice{
		notice(radius.WrongSecret, router, map[string]int{"amina": 3, "brian": 4}),
		notice(radius.UnknownNAS, nil, map[string]int{"brian": 2, "nobody": 1}), // one of two organizations has it
		notice(radius.TooMuchPending, router, nil),
	})
	type kind struct {
		org  id.Organization
		who  id.Subscriber
		nas  id.Device
		code string
	}
	want := map[kind]int64{
		{ours.org, ours.subscriber, ours.router, "wrong_secret"}: 3,
		{ours.org, id.Subscriber{}, ours.router, "wrong_secret"}: 7,
	}
	list := refusals.Drain()
	for _, r := range list {
		if want[kind{r.OrgID, r.SubscriberID, r.DeviceID, r.Code}] != r.Count {
			t.Errorf("refusal %+v", r)
		}
	}
	if len(list) != len(want) {
		t.Errorf("%d kinds", len(list))
	}
}

// TestNotice_OfAnUnknownRouterTheOnlyOrganizationFindsItsCustomer, and each of several finds nobody: else a name of an
// own customer would show that another organization has it, too.
func TestNotice_OfAnUnknownRouterTheOnlyOrganizationFindsItsCustomer(t *testing.T) {
	t.Parallel()
	for others, want := range map[string]int64{"": 3, "somebody": 0, "amina": 0} {
		s, ours := newSafe(), newISP()
		refusals := directory.NewRefusals(clock.System())
		k := &kit{t: t, safe: s, refusals: refusals, dir: directory.New(directory.Config{Refusals: refusals})}
		k.apply(ours.begin(s, "10.99.0.2", "amina", "pw")...)
		if others != "" {
			k.apply(newISP().begin(s, "10.99.0.3", others, "pw")...)
		}
		k.dir.Notice([]radius.Notice{{
			Result: radius.UnknownNAS, Count: 5, First: noon, Last: noon, Names: map[string]int{"amina": 3, "x": 2},
		}})
		var got int64
		for _, r := range refusals.Drain() {
			if got += r.Count; r.SubscriberID != ours.subscriber || !r.DeviceID.IsZero() {
				t.Errorf("others %q: refusal %+v", others, r)
			}
		}
		if got != want {
			t.Errorf("others %q: %d refusals are found, want %d", others, got, want)
		}
	}
}

// TestNotice_AnUnprovenPacketCountsForEachRouterThatMayBeAtItsAddress: no claim of another organization hides what a
// router has lost, and customers are found by their names where all routers there are of one organization.
func TestNotice_AnUnprovenPacketCountsForEachRouterThatMayBeAtItsAddress(t *testing.T) {
	t.Parallel()
	for _, neighbour := range []string{"", "somebody", "amina"} {
		s, ours, theirs, far := newSafe(), newISP(), newISP(), newISP()
		refusals := directory.NewRefusals(clock.System())
		k := &kit{t: t, safe: s, refusals: refusals, dir: directory.New(directory.Config{Refusals: refusals})}
		k.apply(ours.begin(s, "", "amina", "pw")...)
		second := ours
		second.router = id.New[id.Device]()
		k.apply(second.begin(s, "", "", "")[1])
		k.apply(far.begin(s, "", "brian", "pw")...)
		k.apply(events.DeviceDetailsCorrected{
			DeviceID: far.router, Details: events.DeviceDetails{Name: "far", IPAddress: "203.0.113.2"},
		})
		type kind struct {
			who id.Subscriber
			nas id.Device
		}
		want := map[kind]int64{{nas: ours.router}: 6, {nas: second.router}: 6}
		if neighbour == "" {
			want[kind{who: ours.subscriber}] = 1
		} else {
			k.apply(theirs.begin(s, "", neighbour, "pw")...)
			want[kind{nas: theirs.router}] = 6
		}
		k.dir.Notice([]radius.Notice{{
			Result: radius.Unproven, Source: netip.MustParseAddr("203.0.113.1"), Count: 6, First: noon, Last: noon,
			Names: map[string]int{"amina": 1, "brian": 3},
		}})
		list := refusals.Drain()
		for _, r := range list {
			if want[kind{r.SubscriberID, r.DeviceID}] != r.Count {
				t.Errorf("neighbour %q: refusal %+v", neighbour, r)
			}
		}
		if len(list) != len(want) {
			t.Errorf("neighbour %q: %d kinds, want %d", neighbour, len(list), len(want))
		}
	}
}

// TestRefusals_AnUnknownNameBelongsToTheOrganizationOfTheRouter, also one that a neighbour's customer has.
func TestRefusals_AnUnknownNameBelongsToTheOrganizationOfTheRouter(t *testing.T) {
	t.Parallel()
	s, ours, theirs := newSafe(), newISP(), newISP()
	k := newKit(t, s, ours.begin(s, "127.0.0.1", "amina", "pw")...)
	k.apply(theirs.begin(s, "127.0.0.2", "brian", "pw")...)
	for _, name := range []string{"brian", "brian", "amina"} {
		p := request(name, "other")
		_ = rfc2869.NASPortID_SetString(p, "ether2")
		k.ask(p)
	}
	list := k.refusals.DrainTries()
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	for _, one := range list {
		want := telemetry.Try{
			OrgID: ours.org, DeviceID: ours.router, Code: "unknown_user", Username: "brian", Port: "ether2",
			Calling: "AA:BB:CC:00:11:22", FirstAt: noon, At: noon, Count: 2,
		}
		if one.Username == "amina" {
			want.Code, want.Username, want.Count = "wrong_password", "amina", 1
			want.SubscriberID, want.SubscriptionID = ours.subscriber, ours.subscription
		}
		if one != want {
			t.Errorf("%+v, want %+v", one, want)
		}
	}
	k.refusals.ReturnTries(list)
	if got := k.refusals.DrainTries(); len(got) != 2 || len(k.refusals.DrainTries()) != 0 {
		t.Errorf("given back %+v", got)
	}
}
