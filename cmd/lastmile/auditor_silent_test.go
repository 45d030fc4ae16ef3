package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// tellsNoInterims has the first router report the begin and the end of sessions, and nothing in between.
func (w *watched) tellsNoInterims() {
	w.t.Helper()
	if err := w.r.Handsets().SetFaults(handset.Faults{LoseInterims: 1}); err != nil {
		w.t.Fatal(err)
	}
}

// fallsSilent waits until a customer's session is lost, and gives the number that the router has of it.
func (w *watched) fallsSilent(name string) string {
	w.t.Helper()
	w.later(18 * time.Minute)
	w.sessionIs(name, "lost", func(s answer) bool { return s.text("endReason") == "lost" })
	return w.shown(name)
}

// looks has the auditor look at the first router some times, an interval apart.
func (w *watched) looks(times int) {
	w.t.Helper()
	for range times {
		w.later(6 * time.Minute)
		w.look(w.r)
	}
}

// TestAuditor_ACustomerWhoseRouterMakesTheSameAgainIsEndedOnce: a script of the router gives each session another speed
// than was paid for, and its interims do not come. The first end could have helped; then it is for people, until
// something has changed in what the customer is entitled to.
func TestAuditor_ACustomerWhoseRouterMakesTheSameAgainIsEndedOnce(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina := w.joins("amina", 1)
	w.joins("dora", 9)
	w.tellsNoInterims()
	disturbed := func() {
		w.disturbs(w.r, "queue/simple", router.Item{"name": "<pppoe-amina>"}, router.Item{"max-limit": "1M/2M"})
	}
	ended := func() {
		t.Helper()
		disturbed()
		was := w.fallsSilent("amina")
		w.redials("dora")
		w.eventually("amina to be ended", func(context.Context) (bool, error) {
			w.look(w.r)
			return w.shown("amina") != was, fmt.Errorf("the router still has %s", was)
		})
		w.sessionIs("amina", "online again", func(s answer) bool { return s["endedAt"] == nil })
	}
	ended()
	for range 2 {
		disturbed()
		was := w.fallsSilent("amina")
		w.redials("dora")
		d := w.shows(w.r, "another speed once more", "wrong_rate")["wrong_rate"]
		w.looks(2)
		if is := w.shown("amina"); is != was {
			t.Errorf("%s was ended once more, now %q", was, is)
		}
		if got := w.repair(d); got != "repair_by_hand" {
			t.Errorf("repair: %s", got)
		}
		w.r.Disconnect("amina")
		w.sessionIs("amina", "online again", func(s answer) bool { return s["endedAt"] == nil })
	}
	w.pays(amina)
	ended()
	w.isTold(amina, "A session was ended: ", 2)
}

// TestAuditor_AnEntryWithATimeoutIsNotRADIUS: routers show it as dynamic, and another sign-in does not take it away.
func TestAuditor_AnEntryWithATimeoutIsNotRADIUS(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	w.joins("amina", 1)
	w.tellsNoInterims()
	w.do(w.r, "ip/firewall/address-list", "add", router.Item{
		"list": "walled-garden", "address": w.r.Snapshot(true)["ppp/active"][0]["address"], "timeout": "1d",
	})
	w.later(3 * time.Minute)
	was := w.shown("amina")
	press := func(when string) {
		t.Helper()
		d := w.shows(w.r, when, "paid_but_walled_in")["paid_but_walled_in"]
		if got := w.repair(d); got != "repair_by_hand" || w.shown("amina") != was {
			t.Errorf("%s: repair %s, session %s, was %s", when, got, w.shown("amina"), was)
		}
	}
	press("an entry of a person")
	w.fallsSilent("amina")
	press("and no reports")
}

// TestAuditor_WhoSignedInByAFormerPasswordIsEnded, although the reports of the session do not come.
func TestAuditor_WhoSignedInByAFormerPasswordIsEnded(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina := w.joins("amina", 1)
	w.joins("dora", 9)
	w.losesReports(true)
	was := w.fallsSilent("amina")
	w.redials("dora")
	w.must(w.admin, "POST", "/subscriptions/"+amina.subscription+"/credentials", map[string]any{
		"password": "another-login",
	})
	w.leaves("amina", was)
	w.isTold(amina, "A session was ended: ", 1)
}

// TestAuditor_OneLoginOnThreeDevicesWithoutReports: the newest one stays, as where reports come, and then the only one
// that may use it. A device that dials again and again is ended once a day.
func TestAuditor_OneLoginOnThreeDevicesWithoutReports(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina := w.joins("amina", 1)
	w.losesReports(true)
	joins := func(mac string) {
		t.Helper()
		got, err := w.r.SignIn(t.Context(), handset.Customer{
			Name: "amina", Password: amina.device.Password, Server: w.lan, MAC: mac,
		})
		if err != nil || got.Outcome != handset.Accepted {
			t.Fatalf("%+v %v", got, err)
		}
	}
	const second, third = "02:00:00:00:00:21", "02:00:00:00:00:22"
	online := func() (macs []string) {
		for _, row := range w.r.Snapshot(true)["ppp/active"] {
			macs = append(macs, row["caller-id"])
		}
		return macs
	}
	joins(second)
	w.later(time.Minute)
	joins(third)
	w.later(18 * time.Minute)
	w.eventually("one device with one login", func(context.Context) (bool, error) {
		w.looks(1)
		macs := online()
		return len(macs) == 1, fmt.Errorf("%v", macs)
	})
	w.must(w.admin, "PATCH", "/subscriptions/"+amina.subscription, map[string]any{"macAddresses": []string{third}})
	w.eventually("the only device that is allowed", func(context.Context) (bool, error) {
		w.looks(1)
		macs := online()
		return len(macs) == 0 || len(macs) == 1 && macs[0] == third, fmt.Errorf("%v", macs)
	})
}

// TestAuditor_AVoucherThatMovedWithoutReports is on its new device alone.
func TestAuditor_AVoucherThatMovedWithoutReports(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	service := w.service(w.r, map[string]any{"type": "hotspot", "parentInterface": "ether5"})
	plan := w.must(w.admin, "POST", "/plans", map[string]any{
		"code": "day", "name": "A day", "kind": "hotspot", "price": 50, "currency": "KES",
		"billing": map[string]string{"mode": "prepaid", "period": "day"},
		"rates":   map[string]any{"down": 4000, "up": 1000},
	}).text("id")
	made := w.must(w.admin, "POST", "/vouchers", map[string]any{"planId": plan, "count": 1, "prefix": "CAFE"})
	p := phones{k: w.kit, r: w.r, server: "hs-svc-" + service[:8], code: made["codes"].([]any)[0].(string)}
	const first, second = "02:00:00:00:00:01", "02:00:00:00:00:02"
	w.losesReports(true)
	for _, mac := range []string{first, second} {
		w.eventually("sign-in of "+mac, func(context.Context) (bool, error) {
			got := p.signIn(mac, "")
			return got.Outcome == handset.Accepted, fmt.Errorf("%+v", got)
		})
		w.later(3 * time.Minute)
	}
	w.looks(2)
	rows := w.r.Snapshot(true)["ip/hotspot/active"]
	if len(rows) != 1 || rows[0]["mac-address"] != second {
		t.Errorf("online with the voucher: %v", rows)
	}
}

// TestAuditor_DevicesThatTakeTurnsAreEndedOnceADay: two dial by one login of a plan for one, and neither stays off.
func TestAuditor_DevicesThatTakeTurnsAreEndedOnceADay(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina := w.joins("amina", 1)
	w.losesReports(true)
	w.fallsSilent("amina")
	const second = "02:00:00:00:00:21"
	for range 6 {
		online := false
		for _, row := range w.r.Snapshot(true)["ppp/active"] {
			online = online || row["caller-id"] == second
		}
		if !online {
			got, err := w.r.SignIn(t.Context(), handset.Customer{
				Name: "amina", Password: amina.device.Password, Server: w.lan, MAC: second,
			})
			if err != nil || got.Outcome != handset.Accepted {
				t.Fatalf("%+v %v", got, err)
			}
		}
		w.looks(1)
	}
	w.isTold(amina, "A session was ended: ", 2)
}
