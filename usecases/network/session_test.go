package networkcases_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/jobs/network"
	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// A session is ended by the router's own interface where RADIUS does not reach the router: that one, and not another of
// the same user.
func TestEndSession_RemovesTheOneSessionAndTellsWhetherItWasThere(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service := p.serving(events.ServicePPPoE, "10.60.0.0/24")
	dial := func(user, address string) {
		t.Helper()
		if _, err := p.router.Connect(router.Session{
			Kind: "pppoe", User: user, Server: "pppoe-svc-" + service.String()[:8], Address: address, Rate: "1M/10M",
		}); err != nil {
			t.Fatal(err)
		}
	}
	dial("ann", "10.60.0.9")
	dial("joann", "10.60.0.10")
	ann := networkjobs.OnlineSession{User: "ann", Key: "ffffffff", Address: "10.60.0.9"}
	if was, err := p.workers.EndSession(t.Context(), p.device, ann); was || err != nil {
		t.Errorf("another session of the same user: %v, %v", was, err)
	}
	if limit, err := p.workers.SessionLimit(t.Context(), p.device, ann); limit != "1000000/10000000" || err != nil {
		t.Errorf("limit %q, %v", limit, err)
	}
	ann.Key = "" // no id is known: the user's sessions
	for _, there := range []bool{true, false} {
		if was, err := p.workers.EndSession(t.Context(), p.device, ann); was != there || err != nil {
			t.Errorf("%v, %v", was, err)
		}
	}
	if limit, err := p.workers.SessionLimit(t.Context(), p.device, ann); limit != "" || err != nil {
		t.Errorf("limit %q, %v", limit, err)
	}
	left, err := p.workers.Sessions(t.Context(), p.device)
	if err != nil || len(left) != 1 || left[0].User != "joann" {
		t.Errorf("%+v, %v", left, err)
	}
	p.router.SetPower(false)
	if _, err := p.workers.EndSession(t.Context(), p.device, ann); err == nil {
		t.Error("a router without power has ended a session")
	}
}

// A hotspot's device would sign in again with its cookie, so that goes with the session; those of others stay.
func TestEndSession_TakesTheCookieOfTheDevice(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	server := "hs-svc-" + p.serving(events.ServiceHotspot, "10.60.0.0/24").String()[:8]
	if _, err := p.router.Script("/ip hotspot user add name=code password=pw\n" +
		"/ip hotspot profile set [find] login-by=cookie,http-chap"); err != nil {
		t.Fatal(err)
	}
	for _, mac := range []string{"02:00:00:00:00:01", "02:00:00:00:00:02"} {
		if _, err := p.router.SignIn(t.Context(), handset.Customer{
			Service: handset.Hotspot, Server: server, Name: "code", Password: "pw", MAC: mac,
		}); err != nil {
			t.Fatal(err)
		}
	}
	active := p.router.Snapshot(true)["ip/hotspot/active"]
	s := networkjobs.OnlineSession{Hotspot: true, User: "code", Address: active[0]["address"], MAC: "02:00:00:00:00:01"}
	if was, err := p.workers.EndSession(t.Context(), p.device, s); !was || err != nil {
		t.Errorf("%v, %v", was, err)
	}
	if left := p.router.Snapshot(true)["ip/hotspot/cookie"]; len(left) != 1 ||
		left[0]["mac-address"] != "02:00:00:00:00:02" {
		t.Errorf("cookies %v", left)
	}
}

// A hotspot's list has no ids. The session of a phone has ended, and its customer's laptop has the address now.
func TestEndSession_LeavesAnotherDeviceWithTheAddress(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	server := "hs-svc-" + p.serving(events.ServiceHotspot, "10.60.0.0/24").String()[:8]
	if _, err := p.router.Connect(router.Session{
		Kind: "hotspot", User: "ann", Server: server, Address: "10.60.0.9", MAC: "02:00:00:00:00:0A", Rate: "1M/10M",
	}); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		mac string
		was bool
	}{{"02:00:00:00:00:01", false}, {"02:00:00:00:00:0a", true}, {"", false}} {
		s := networkjobs.OnlineSession{Hotspot: true, User: "ann", Key: "80000001", Address: "10.60.0.9", MAC: of.mac}
		if was, err := p.workers.EndSession(t.Context(), p.device, s); was != of.was || err != nil {
			t.Errorf("of %q: %v, %v", of.mac, was, err)
		}
	}
}

// The limit that is read back is that of the session: not of a customer whose name ends or begins alike, and not of
// another session of the same customer.
func TestSessionLimit_IsThatOfTheSession(t *testing.T) {
	t.Parallel()
	for kind, of := range map[string]struct {
		service events.ServiceType
		server  string
	}{"pppoe": {events.ServicePPPoE, "pppoe-svc-"}, "hotspot": {events.ServiceHotspot, "hs-svc-"}} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPlant(t)
			server := of.server + p.serving(of.service, "10.60.0.0/24").String()[:8]
			for _, c := range []struct{ user, address, rate, limit string }{
				{"acme-1001", "10.60.0.9", "9M/9M", "9000000/9000000"},
				{"1001", "10.60.0.10", "1M/10M", "1000000/10000000"},
				{"1001", "10.60.0.11", "2M/20M", "2000000/20000000"},
				{"1001-acme", "10.60.0.12", "3M/30M", "3000000/30000000"},
			} {
				if _, err := p.router.Connect(router.Session{
					Kind: kind, User: c.user, Server: server, Address: c.address, Rate: c.rate,
				}); err != nil {
					t.Fatal(err)
				}
				s := networkjobs.OnlineSession{Hotspot: kind == "hotspot", User: c.user, Address: c.address}
				if limit, err := p.workers.SessionLimit(t.Context(), p.device, s); limit != c.limit || err != nil {
					t.Errorf("%s: %q, %v", c.user, limit, err)
				}
			}
			foreign := networkjobs.OnlineSession{Hotspot: kind == "hotspot", User: "001", Address: "10.60.0.10"}
			if limit, err := p.workers.SessionLimit(t.Context(), p.device, foreign); limit != "" || err != nil {
				t.Errorf("another user's: %q, %v", limit, err)
			}
		})
	}
}
