package router_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/coa"
	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// TestCustomers_NobodyTypesAPasswordAgainAtAHotspot by himself: after a session the hotspot tries the MAC, where its
// profile says so, and otherwise the device stays at the page until somebody types.
func TestCustomers_NobodyTypesAPasswordAgainAtAHotspot(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	c := guest("kim")
	c.MAC, c.Server = "A4:17:31:41:CB:B6", "" // the first hotspot
	k.refuse("kim", true)
	if err := k.SwitchOn("kim", c); err != nil {
		t.Fatal(err)
	}
	k.advance(2 * time.Second)
	if n := k.asks("kim"); n != 2 {
		t.Errorf("who was not online yet has typed %d times", n)
	}
	k.refuse("kim", false)
	k.advance(4 * time.Second)
	k.next(radius.StatusStart)
	k.refuse(c.MAC, true)
	ends := func() {
		t.Helper()
		k.idle()
		a, err := (&coa.Client{}).Disconnect(t.Context(), k.ask(), named(*k.state("kim").Session))
		if err != nil || !a.Done {
			t.Fatalf("%+v, %v", a, err)
		}
		k.next(radius.StatusStop)
	}
	ends()
	k.advance(time.Second)
	if now := k.state("kim"); k.asks(c.MAC) != 1 || !now.Page || now.NextAt == nil || now.Message != "Not paid" {
		t.Errorf("by MAC %d times, %+v", k.asks(c.MAC), now)
	}
	k.refuse(c.MAC, false)
	k.advance(2 * time.Second)
	if r := k.next(radius.StatusStart); r.UserName != c.MAC || k.state("kim").Page {
		t.Errorf("%+v, %+v", r, k.state("kim"))
	}

	profile := k.do("ip/hotspot/profile", "print", nil)[0][".id"]
	k.do("ip/hotspot/profile", "set", router.Item{".id": profile, "login-by": "http-chap"})
	ends()
	before := k.asks(c.MAC)
	k.advance(time.Hour)
	if now := k.state("kim"); k.asks(c.MAC) != before || k.asks("kim") != 3 || !now.Page || now.NextAt != nil {
		t.Errorf("asked %d and %d times, %+v", k.asks(c.MAC), k.asks("kim"), now)
	}
	k.SetCustomer("kim", false)
	k.SetCustomer("kim", true)
	k.idle()
	if r := k.next(radius.StatusStart); r.UserName != "kim" {
		t.Errorf("%+v", r)
	}
	k.quiet()
}

// TestCustomers_OneSessionPerHostEndsTheOldOne: a device that lost its power dials again before its router notices.
func TestCustomers_OneSessionPerHostEndsTheOldOne(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	server := k.do("interface/pppoe-server/server", "print", nil)[0][".id"]
	k.do("interface/pppoe-server/server", "set", router.Item{".id": server, "one-session-per-host": "yes"})
	c := customer("jane")
	c.MAC = "A4:17:31:41:CB:B6"
	first := k.signIn(c, handset.Accepted).Session
	k.next(radius.StatusStart)
	if err := k.SwitchOn("kim", customer("kim")); err != nil {
		t.Fatal(err)
	}
	k.next(radius.StatusStart)
	k.signIn(c, handset.Accepted)
	stop, begun := k.replaced()
	if stop.SessionID != first.ID || begun.SessionID == first.ID || len(k.do("ppp/active", "print", nil)) != 2 {
		t.Errorf("ended %s, began %s, first %s", stop.SessionID, begun.SessionID, first.ID)
	}
	local := router.Session{Kind: "pppoe", Server: "s", User: "jane", MAC: c.MAC, Address: "10.50.0.19"}
	k.do("ppp/secret", "add", router.Item{"name": "jane", "password": "local"})
	if _, err := k.Connect(local); err != nil {
		t.Errorf("a local user of the same device: %v", err)
	}
	if stop := k.next(radius.StatusStop); stop.SessionID != begun.SessionID {
		t.Errorf("%+v", stop)
	}
	k.only("ppp/active", "caller-id", c.MAC)
	k.quiet()
}
