package router_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

func TestDisturb_ChangesAndRemovesWhatNobodyElseCan(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16").withRADIUS()
	k.do("interface/pppoe-server/server", "add", router.Item{
		"service-name": "s", "interface": "ether5", "disabled": "no",
	})
	k.do("queue/simple", "add", router.Item{"name": "mine", "target": "10.0.0.1/32", "max-limit": "1M/1M"})
	if _, err := k.Connect(router.Session{
		Kind: "pppoe", User: "jane", Server: "s", Address: "10.50.0.7", Rate: "5M/10M",
	}); err != nil {
		t.Fatal(err)
	}
	jane := router.Item{"name": "<pppoe-jane>"}
	if n := k.Disturb("queue/simple", jane, router.Item{"max-limit": "1/2"}); n != 1 {
		t.Errorf("%d queues changed", n)
	}
	if got := k.only("queue/simple", "name", "<pppoe-jane>"); got["max-limit"] != "1/2" {
		t.Errorf("%v", got)
	}
	if n := k.Disturb("queue/simple", router.Item{"name": "mine"}, nil); n != 0 {
		t.Errorf("%d items of a person removed", n)
	}
	if n := k.Disturb("queue/simple", jane, nil); n != 1 || k.Disturb("queue/simple", jane, nil) != 0 {
		t.Errorf("%d queues removed", n)
	}
	k.only("ppp/active", "name", "jane")
}

func TestLie_IsWhatPrintShowsUntilItEnds(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	k.do("ip/pool", "add", router.Item{"name": "p", "ranges": "10.0.0.2-10.0.0.9"})
	lie := []router.Item{{".id": "not an id", "name": "p"}, {".id": "not an id", "name": "p"}}
	k.Lie("ip/pool", lie)
	if got, err := k.Do("ip/pool", "print", nil); err != nil || len(got) != 2 || got[1][".id"] != "not an id" {
		t.Errorf("%v, %v", got, err)
	}
	k.Lie("ip/pool", nil)
	k.only("ip/pool", "name", "p")
}

func TestSetLinkRate_IsTheSpeedThatMonitorTells(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	rate := func() string {
		t.Helper()
		got, err := k.Do("interface/ethernet", "monitor", router.Item{"numbers": "ether4", "once": ""})
		if err != nil || len(got) != 1 {
			t.Fatalf("%v, %v", got, err)
		}
		return got[0]["rate"]
	}
	if got := rate(); got != "1Gbps" {
		t.Errorf("at the start %s", got)
	}
	k.SetLinkRate("ether4", "100Mbps")
	if got := rate(); got != "100Mbps" {
		t.Errorf("then %s", got)
	}
}
