package networkcases_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/jobs/network"
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
