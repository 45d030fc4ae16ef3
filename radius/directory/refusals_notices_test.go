package directory_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// TestNotice_DroppedSignInsAreFoundWithCustomerOrRouter: wrong secrets of a router, and a router that is not known.
func TestNotice_DroppedSignInsAreFoundWithCustomerOrRouter(t *testing.T) {
	t.Parallel()
	s, ours, theirs := newSafe(), newISP(), newISP()
	refusals := directory.NewRefusals()
	k := &kit{t: t, safe: s, refusals: refusals, dir: directory.New(directory.Config{Refusals: refusals})}
	k.apply(ours.begin(s, "127.0.0.1", "amina", "pw")...)
	k.apply(theirs.begin(s, "127.0.0.2", "brian", "pw")...)
	both := ours
	both.subscription, both.subscriber = id.New[id.Subscription](), id.New[id.Subscriber]()
	k.apply(both.begin(s, "", "same", "pw")[2:]...)
	both.org = theirs.org
	both.subscription, both.subscriber = id.New[id.Subscription](), id.New[id.Subscriber]()
	k.apply(both.begin(s, "", "same", "pw")[2:]...)
	notice := func(r radius.Result, nas *radius.NAS, names map[string]int) radius.Notice {
		return radius.Notice{Result: r, NAS: nas, Count: 10, First: noon, Last: noon.Add(time.Second), Names: names}
	}
	router := &radius.NAS{ID: ours.router, Org: ours.org}
	k.dir.Notice([]radius.Notice{
		notice(radius.WrongSecret, router, map[string]int{"amina": 3, "brian": 4}),
		notice(radius.UnknownNAS, nil, map[string]int{"brian": 2, "same": 5, "nobody": 1}),
		notice(radius.TooMuchPending, router, nil),
	})
	type kind struct {
		org  id.Organization
		who  id.Subscriber
		nas  id.Device
		code string
	}
	want := map[kind]int64{
		{ours.org, ours.subscriber, ours.router, "wrong_secret"}:    3,
		{ours.org, id.Subscriber{}, ours.router, "wrong_secret"}:    7,
		{theirs.org, theirs.subscriber, id.Device{}, "unknown_nas"}: 2,
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

// TestNotice_AWrongSecretCountsForOrganizationsAtTheAddressAlone: nobody else's customer is named by such a packet.
func TestNotice_AWrongSecretCountsForOrganizationsAtTheAddressAlone(t *testing.T) {
	t.Parallel()
	s, ours, neighbours, theirs := newSafe(), newISP(), newISP(), newISP()
	refusals := directory.NewRefusals()
	k := &kit{t: t, safe: s, refusals: refusals, dir: directory.New(directory.Config{Refusals: refusals})}
	k.apply(ours.begin(s, "", "amina", "pw")...)
	k.apply(neighbours.begin(s, "", "wanjiku", "pw")...)
	k.apply(theirs.begin(s, "", "brian", "pw")...)
	k.apply(events.DeviceDetailsCorrected{
		DeviceID: theirs.router, Details: events.DeviceDetails{Name: "far", IPAddress: "203.0.113.2"},
	})
	again := theirs
	again.subscription, again.subscriber = id.New[id.Subscription](), id.New[id.Subscriber]()
	k.apply(again.begin(s, "", "amina", "pw")[2:]...)
	k.dir.Notice([]radius.Notice{{
		Result: radius.WrongSecret, Source: netip.MustParseAddr("203.0.113.1"), Count: 6, First: noon, Last: noon,
		Names: map[string]int{"amina": 1, "wanjiku": 2, "brian": 3},
	}})
	want := map[id.Subscriber]int64{ours.subscriber: 1, neighbours.subscriber: 2}
	list := refusals.Drain()
	for _, r := range list {
		if want[r.SubscriberID] != r.Count || !r.DeviceID.IsZero() {
			t.Errorf("refusal %+v", r)
		}
	}
	if len(list) != len(want) {
		t.Errorf("%d kinds, want %d", len(list), len(want))
	}
}
