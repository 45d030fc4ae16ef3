package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// TestAuditor_AHealthyNetworkHasNoDifference, and a queue that a fault has changed, a removed one, and a slow port are
// each exactly that.
func TestAuditor_AHealthyNetworkHasNoDifference(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina := w.joins("amina", 1)
	w.later(3 * time.Minute)
	w.shows(w.r, "healthy")

	queue := router.Item{"name": "<pppoe-amina>"}
	w.disturbs(w.r, "queue/simple", queue, router.Item{"max-limit": "1000000/2000000"})
	d := w.shows(w.r, "other queue", "wrong_rate")["wrong_rate"]
	w.says(d, "down/up 200000/50000 kbit/s", "down/up 2000000/1000000 bit/s")
	if d.text("subscriberId") != amina.subscriber || d.text("subscriptionId") != amina.subscription ||
		d.text("deviceId") != w.r.device {
		t.Errorf("about %v", d)
	}
	w.look(w.r)
	w.repairs(d)
	w.shows(w.r, "other queue, repaired")
	w.disturbs(w.r, "queue/simple", queue, nil)
	d = w.shows(w.r, "no queue", "wrong_rate")["wrong_rate"]
	w.says(d, "down/up 200000/50000 kbit/s", "no limit")
	w.repairs(d)
	w.shows(w.r, "no queue, repaired")
	w.tells(amina, "the session has another speed than it should.", 2)
	if n := w.told(amina, "A repair was asked for: the session has another speed than it should."); n != 2 {
		t.Errorf("%d repairs told", n)
	}

	w.r.SetLinkRate("ether4", "100Mbps")
	d = w.shows(w.r, "slow port", "port_below_plan")["port_below_plan"]
	w.says(d, "a port of at least 200000 kbit/s", "port ether4 has 100000 kbit/s")
	for range 2 {
		if got := w.repair(d); got != "repair_by_hand" {
			t.Errorf("repair of a port: %s", got)
		}
	}
	w.r.SetLinkRate("ether4", "1Gbps")
	w.shows(w.r, "mended port")
}

// TestAuditor_LocalLoginsAreTakenAwayWhenAPersonWantsIt: a local secret, a local hotspot user and a bypassed device let
// in who has not paid. Nothing is removed unasked.
func TestAuditor_LocalLoginsAreTakenAwayWhenAPersonWantsIt(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	spot := "hs-svc-" + w.service(w.r, map[string]any{"type": "hotspot", "parentInterface": "ether5"})[:8]
	for _, way := range []struct {
		menu, disabled, active string
		item                   router.Item
		device                 handset.Customer
		actual                 string
		writes                 int // a router forgets a host by itself when its binding is disabled
	}{
		{
			"ppp/secret", "ppp/secret", "ppp/active",
			router.Item{"name": "bypass", "password": "pw", "profile": "ppp-prof" + w.lan[len("pppoe"):]},
			handset.Customer{Name: "bypass", Password: "pw", Server: w.lan, MAC: "02:00:00:00:00:02"},
			`a local PPP secret let in "bypass", device 02:00:00:00:00:02`, 2,
		},
		{
			"ip/hotspot/user", "ip/hotspot/user", "ip/hotspot/active", router.Item{"name": "cousin", "password": "pw"},
			handset.Customer{
				Name: "cousin", Password: "pw", Service: handset.Hotspot, Server: spot, MAC: "02:00:00:00:00:03",
			}, `a local hotspot user let in "cousin", device 02:00:00:00:00:03`, 2,
		},
		{
			"ip/hotspot/ip-binding", "ip/hotspot/ip-binding", "ip/hotspot/host",
			router.Item{"mac-address": "02:00:00:00:00:04", "type": "bypassed"},
			handset.Customer{Name: "printer", Service: handset.Hotspot, Server: spot, MAC: "02:00:00:00:00:04"},
			"an ip-binding bypassed of the hotspot lets in the device 02:00:00:00:00:04 at ", 1,
		},
	} {
		w.do(w.r, way.menu, "add", way.item)
		if got, err := w.r.SignIn(t.Context(), way.device); err != nil || got.Outcome != handset.Accepted {
			t.Fatalf("%s: %+v, %v", way.menu, got, err)
		}
		w.later(3 * time.Minute)
		writes := w.r.Writes()
		d := w.shows(w.r, way.menu, "local_bypass")["local_bypass"]
		if !strings.HasPrefix(d.text("actual"), way.actual) || d["subscriberId"] != nil {
			t.Errorf("%s: %v", way.menu, d)
		}
		if w.r.Writes() != writes {
			t.Errorf("%s: something was written unasked", way.menu)
		}
		w.repairs(d)
		w.shows(w.r, way.menu+" repaired")
		if n := w.r.Writes() - writes; n != way.writes {
			t.Errorf("%s: %d writes", way.menu, n)
		}
		for _, menu := range []string{way.disabled, way.active} {
			if got := w.routerWrites(menu); got["user"] != 1 || len(got) != 1 {
				t.Errorf("%s: writes in the audit log %v", menu, got)
			}
		}
	}
}

// TestAuditor_SessionsThatTheRouterAndTheReportsTellDifferently: a session with another number is unknown and stale at
// once, one that another RADIUS server let in is unknown, and both are ended when a person wants it, by two colleagues
// at the same time once.
func TestAuditor_SessionsThatTheRouterAndTheReportsTellDifferently(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina := w.joins("amina", 1)
	w.later(3 * time.Minute)
	w.disturbs(w.r, "ppp/active", router.Item{"name": "amina"}, router.Item{"session-id": "0x81F00077"})
	found := w.shows(w.r, "session with another number", "stale_session", "unknown_session")
	w.says(found["stale_session"], "a session that was reported", "the router does not have it")
	w.says(found["unknown_session"], "a session that is reported",
		`RADIUS let in "amina", device 02:00:00:00:00:01, and no session of it was reported`)
	before := w.all(w.admin, "/sessions?username=amina")[0].text("id")

	w.r.SetPower(false)
	unseen := w.now.Now()
	w.later(time.Minute)
	w.look(w.r)
	for _, d := range w.all(w.admin, "/access-differences") {
		since, _ := time.Parse(time.RFC3339Nano, d.text("unseenSince"))
		seen, _ := time.Parse(time.RFC3339Nano, d.text("lookedAt"))
		if since.Before(unseen) || !seen.Before(unseen) {
			t.Errorf("difference of a router that is off: %v", d)
		}
	}
	if list := w.all(w.admin, "/access-audits"); len(list) != 1 || list[0].text("why") != "router_unreachable" ||
		list[0]["unseenSince"] == nil || list[0].text("deviceId") != w.r.device {
		t.Errorf("looks %v", list)
	}
	if got := w.repair(found["stale_session"]); got != "device_unreachable" {
		t.Errorf("repair while the router is off: %s", got)
	}
	if n := w.told(amina, "The auditor "); n != 2 {
		t.Errorf("%d differences told while the router is off", n)
	}
	w.r.SetPower(true)
	w.later(3 * time.Minute)
	w.sessionIs("amina", "another one", func(s answer) bool { return s["endedAt"] == nil && s.text("id") != before })
	w.shows(w.r, "the power is back")
	if look := w.all(w.admin, "/access-audits")[0]; look["unseenSince"] != nil || look["why"] != nil {
		t.Errorf("look %v", look)
	}
	w.tells(amina, "a session that was reported is not on the router.", 1)
	w.tells(amina, "the router has a session of this customer that was not reported.", 1)

	w.r.SetPower(false)
	w.r.SwitchOff("amina") // nobody hears of it
	w.r.SetPower(true)
	w.later(3 * time.Minute)
	w.pressed(w.shows(w.r, "a session that was lost in a power cut", "stale_session")["stale_session"])
	w.sessionIs("amina", "gone", func(s answer) bool { return s.text("endReason") == "gone" })
	w.shows(w.r, "the lost session is closed")
	w.tells(amina, "a session that was reported is not on the router.", 2)
}

// pressed has two colleagues repair a difference at the same moment: it is done once.
func (w *watched) pressed(d answer) {
	w.t.Helper()
	var both sync.WaitGroup
	var outcomes [2]string
	for i := range outcomes {
		both.Go(func() { outcomes[i] = w.repair(d) })
	}
	both.Wait()
	slices.Sort(outcomes[:])
	if outcomes[0] != "done" && outcomes[1] != "done" || outcomes[0] == outcomes[1] {
		w.t.Errorf("%s repaired by two: %v", d.text("kind"), outcomes)
	}
}

// TestAuditor_AnotherRADIUSServerLetsSomebodyIn: the session is unknown here, although the platform's customers sign in
// at the same router. It is removed when a person wants it, once.
func TestAuditor_AnotherRADIUSServerLetsSomebodyIn(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	ours := w.r.Snapshot(true)["radius"][0][".id"]
	w.do(w.r, "radius", "add", router.Item{
		"service": "ppp", "address": foreignRADIUS.String(), "secret": foreignSecret, "require-message-auth": "no",
	})
	w.do(w.r, "radius", "set", router.Item{".id": ours, "disabled": "yes"})
	stranger := handset.Customer{
		Name: "stranger", Password: "pw", Server: w.lan, MAC: "02:00:00:00:00:05", Method: handset.PAP,
	}
	if got, err := w.r.SignIn(t.Context(), stranger); err != nil || got.Outcome != handset.Accepted {
		t.Fatalf("%+v, %v", got, err)
	}
	w.do(w.r, "radius", "set", router.Item{".id": ours, "disabled": "no"})
	amina := w.joins("amina", 1)
	w.later(3 * time.Minute)
	d := w.shows(w.r, "a session of another server", "unknown_session")["unknown_session"]
	w.says(d, "no session", `RADIUS let in "stranger", device 02:00:00:00:00:05, and no session of it was reported`)
	if d["subscriberId"] != nil {
		t.Errorf("it is of %v", d)
	}
	writes := w.r.Writes()
	w.pressed(d)
	w.shows(w.r, "the stranger is gone")
	if got := w.routerWrites("ppp/active"); fmt.Sprint(got) != "map[user:1]" || w.r.Writes() != writes+1 {
		t.Errorf("removals in the audit log: %v; %d writes", got, w.r.Writes()-writes)
	}
	w.sessionIs("amina", "untouched", func(s answer) bool { return s["endedAt"] == nil })
	if n := w.told(amina, "The auditor "); n != 0 {
		t.Errorf("%d differences told to a bystander", n)
	}
}
