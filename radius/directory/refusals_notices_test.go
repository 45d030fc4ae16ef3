package directory_test

import (
	"testing"
	"time"

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
