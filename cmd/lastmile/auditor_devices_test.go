package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// TestAuditor_APlanThatRefusesKeepsTheFirstDevice, although its reports do not come, and a second one was let in.
func TestAuditor_APlanThatRefusesKeepsTheFirstDevice(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	w.plan = w.must(w.admin, "POST", "/plans", map[string]any{
		"code": "one", "name": "One", "kind": "pppoe", "price": 1000, "currency": "KES", "sessionLimit": 1,
		"onLimit": "refuse", "billing": map[string]string{"mode": "prepaid", "period": "month"},
		"rates": map[string]any{"down": 20000, "up": 5000},
	}).text("id")
	amina := w.joins("amina", 1)
	w.tellsNoInterims()
	was := w.fallsSilent("amina")
	const second = "02:00:00:00:00:21"
	got, err := w.r.SignIn(t.Context(), handset.Customer{
		Name: "amina", Password: amina.device.Password, Server: w.lan, MAC: second,
	})
	if err != nil || got.Outcome != handset.Accepted {
		t.Fatalf("%+v %v", got, err)
	}
	w.eventually("one device", func(context.Context) (bool, error) {
		w.looks(1)
		rows := w.r.Snapshot(true)["ppp/active"]
		return len(rows) == 1, fmt.Errorf("%v", rows)
	})
	if is := w.shown("amina"); is != was {
		t.Errorf("the first device had %s; the router has %s", was, is)
	}
}

// TestAuditor_WhoIsOnlineElsewhereIsNotToldOffline: a device that was left at one router dials on under the former
// username, and another router does not report the session.
func TestAuditor_WhoIsOnlineElsewhereIsNotToldOffline(t *testing.T) {
	t.Parallel()
	w := watch(t, 2)
	second := w.installed(1)
	lan := "pppoe-svc-" + w.service(second, map[string]any{"type": "pppoe", "parentInterface": "ether4"})[:8]
	amina := w.subscribes("amina", 1)
	w.pays(amina)
	w.mayDial(amina)
	w.isCalled(amina, "amina2")
	w.mayDial(amina)
	now := amina.device
	now.Server, now.MAC = lan, "02:00:00:00:00:55"
	if err := second.SwitchOn("amina2", now); err != nil {
		t.Fatal(err)
	}
	w.sessionIs("amina2", "online", func(s answer) bool { return s["endedAt"] == nil })
	w.later(time.Minute)
	if err := second.Handsets().SetFaults(handset.Faults{LoseInterims: 1}); err != nil {
		t.Fatal(err)
	}
	w.later(20 * time.Minute)
	w.sessionIs("amina2", "lost", func(s answer) bool { return s.text("endReason") == "lost" })
	w.shows(second, "no reports", "unknown_session")
	if err := w.r.SwitchOn("amina", amina.device); err != nil {
		t.Fatal(err)
	}
	w.eventually("the refusal", func(context.Context) (bool, error) {
		w.later(15 * time.Second)
		list := w.must(w.admin, "GET", "/subscribers/"+amina.subscriber+"/access", nil).list("refusals")
		return len(list) > 0 && list[0].text("code") == "unknown_user", fmt.Errorf("%v", list)
	})
	w.later(4 * time.Minute)
	w.look(w.r)
	w.look(w.r)
	if list := w.all(w.admin, "/access-differences?deviceId="+w.r.device); len(list) != 0 {
		t.Errorf("who is online is told offline: %v", list)
	}
}
