package accessjobs_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// TestEnforce_WhoIsPutOffAtAHotspotComesBackByTheMAC before any report of the end is heard, by both ways of ending. A
// session that began so is as much a reason to leave a customer alone who could not come back.
func TestEnforce_WhoIsPutOffAtAHotspotComesBackByTheMAC(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	phone := handset.Customer{
		Service: handset.Hotspot, Name: "amina", Password: "pw", MAC: "02:00:00:00:00:02", Address: "100.64.0.7",
	}
	signsIn := func(want handset.Outcome) {
		t.Helper()
		r, err := k.nas.SignIn(t.Context(), phone)
		if err != nil || r.Outcome != want {
			t.Fatalf("sign in: %+v, %v", r, err)
		}
		k.idle()
	}
	moves := func(address string) int {
		t.Helper()
		k.apply(events.SubscriptionAddressesAssigned{
			SubscriptionID: k.subscription, StaticIP: personal.Of(address),
		})
		_ = k.enforce() // looks once more later
		k.idle()
		return k.nas.Statistics().Online
	}
	signsIn(handset.Accepted)
	phone.Method = handset.MACLogin
	if n := moves("100.64.0.8"); n != 0 {
		t.Fatalf("%d online", n)
	}
	signsIn(handset.Accepted)
	k.deaf()
	if n := moves("100.64.0.9"); n != 0 {
		t.Fatalf("%d online", n)
	}
	signsIn(handset.Accepted)
	k.menus.deaf = true
	k.clock.Advance(time.Minute) // what was known of the router is asked again
	if n := moves("100.64.0.10"); n != 1 {
		t.Errorf("%d online where who is ended stays off", n)
	}
}
