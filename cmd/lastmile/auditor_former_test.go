package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// isHis wants one difference at the first router, of a customer.
func (w *watched) isHis(g guest, kind string) {
	w.t.Helper()
	if d := w.shows(w.r, "no reports", kind)[kind]; d.text("subscriberId") != g.subscriber {
		w.t.Errorf("%s is of %v, not of %s", kind, d["subscriberId"], g.subscriber)
	}
}

// mayDial waits until sign-ins of a customer get what is paid, so that none is refused before.
func (w *watched) mayDial(g guest) {
	w.t.Helper()
	w.eventually("sign-ins to get what is paid", func(ctx context.Context) (bool, error) {
		got, err := w.admin.call(ctx, "GET", "/subscribers/"+g.subscriber+"/access", "", nil)
		if err != nil {
			return false, err
		}
		list := got.list("services")
		full := len(list) == 1 && list[0].text("entitled") == "full"
		return full && list[0]["difference"] == nil, fmt.Errorf("%v", got)
	})
}

// dialsUnreported switches a device on whose reports do not come, and gives the number that the router has of its
// session.
func (w *watched) dialsUnreported(name string, device handset.Customer) (session string) {
	w.t.Helper()
	if err := w.r.SwitchOn(name, device); err != nil {
		w.t.Fatal(err)
	}
	w.eventually(name+" to be online", func(context.Context) (bool, error) {
		w.later(15 * time.Second)
		session = w.shown(name)
		return session != "", nil
	})
	return session
}

// hotspot makes a plan for hotspots, and one at the first router.
func (w *watched) hotspot(period string) (plan, server string) {
	w.t.Helper()
	server = "hs-svc-" + w.service(w.r, map[string]any{"type": "hotspot", "parentInterface": "ether5"})[:8]
	return w.must(w.admin, "POST", "/plans", map[string]any{
		"code": "spot", "name": "Spot", "kind": "hotspot", "price": 1000, "currency": "KES",
		"billing": map[string]string{"mode": "prepaid", "period": period},
		"rates":   map[string]any{"down": 4000, "up": 1000},
	}).text("id"), server
}

// empties waits until a hotspot of the first router has nobody online, while its clock goes on.
func (w *watched) empties(what string) {
	w.t.Helper()
	w.eventually(what+" is ended at the router", func(context.Context) (bool, error) {
		w.look(w.r)
		active := w.r.Snapshot(true)["ip/hotspot/active"]
		return len(active) == 0, fmt.Errorf("the router still has %v", active)
	})
}

// TestAuditor_WhoHadTheNameOfASessionThatWasNeverReported: a contract that ends, and another username, leave a session
// under the former name. It is ended, as one that is reported is.
func TestAuditor_WhoHadTheNameOfASessionThatWasNeverReported(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	w.losesReports(true)
	guests := map[string]guest{"amina": w.subscribes("amina", 1), "chris": w.subscribes("chris", 2)}
	was := map[string]string{}
	for name, g := range guests {
		w.pays(g)
		w.mayDial(g)
		was[name] = w.dialsUnreported(name, g.device)
	}
	w.later(3 * time.Minute)
	w.shows(w.r, "no reports", "unknown_session", "unknown_session")

	amina, chris := guests["amina"], guests["chris"]
	w.must(w.admin, "POST", "/subscriptions/"+amina.subscription+"/end", map[string]any{"reason": "test"})
	w.leaves("amina", was["amina"])
	w.isCalled(chris, "chris2")
	w.leaves("chris", was["chris"])
	d := w.shows(w.r, "chris dials on under the former name", "paid_but_offline")["paid_but_offline"]
	if d.text("subscriberId") != chris.subscriber {
		t.Errorf("the difference is of %v, not of chris", d["subscriberId"])
	}
	w.says(d, "full", "a sign-in was refused: unknown_user; no session was reported since")
	w.tells(amina, "the customer is online with more than is paid.", 1)
}

// TestAuditor_ADeviceThatAHotspotKnowsByItsMACAndThatWasNeverReported is its customer's, and the voucher's that it had.
func TestAuditor_ADeviceThatAHotspotKnowsByItsMACAndThatWasNeverReported(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	plan, server := w.hotspot("day")
	mac := "02:00:00:00:00:77"
	who, _ := w.subscriber("254711000077")
	made := w.must(w.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": who, "planId": plan, "username": "amina", "password": "login-of-amina",
		"macAddresses": []string{mac},
	})
	amina := guest{subscriber: who, subscription: made.text("id")}
	w.pays(amina)
	w.losesReports(true)
	p := phones{k: w.kit, r: w.r, server: server}
	w.eventually("sign-in by MAC", func(context.Context) (bool, error) {
		got := p.signIn(mac, handset.MACLogin)
		return got.Outcome == handset.Accepted, fmt.Errorf("%+v", got)
	})
	w.later(3 * time.Minute)
	w.isHis(amina, "unknown_session")
	w.must(w.admin, "POST", "/subscribers/"+who+"/block", map[string]any{"reason": "test"})
	w.empties("amina")

	sold := w.must(w.admin, "POST", "/vouchers", map[string]any{"planId": plan, "count": 1, "prefix": "CAFE"})
	p.code = sold["codes"].([]any)[0].(string)
	w.eventually("sign-in with a code", func(context.Context) (bool, error) {
		got := p.signIn("02:00:00:00:00:01", "")
		return got.Outcome == handset.Accepted, fmt.Errorf("%+v", got)
	})
	p.r.Disconnect(p.code)
	if got := p.signIn("02:00:00:00:00:01", handset.MACLogin); got.Outcome != handset.Accepted {
		t.Fatalf("by its MAC: %+v", got)
	}
	w.later(3 * time.Minute)
	w.shows(w.r, "a voucher without reports", "unknown_session")
	w.must(w.admin, "POST", "/vouchers/"+p.code+"/void", map[string]any{"reason": "test"})
	w.empties("the voucher")
}

// TestAuditor_ASessionThatWasNeverReportedEndsWithItsPassword: the router tells that it began before. The next one
// stays, also when the router tells later that it began before, which cannot be.
func TestAuditor_ASessionThatWasNeverReportedEndsWithItsPassword(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	w.losesReports(true)
	amina := w.subscribes("amina", 1)
	w.pays(amina)
	w.mayDial(amina)
	was := w.dialsUnreported("amina", amina.device)
	w.later(3 * time.Minute)
	w.shows(w.r, "no reports", "unknown_session")
	const password = "another-login"
	w.must(w.admin, "POST", "/subscriptions/"+amina.subscription+"/credentials", map[string]any{"password": password})
	w.leaves("amina", was)
	w.r.SwitchOff("amina")
	amina.device.Password = password
	is := w.dialsUnreported("amina", amina.device)
	stays := func(when string) {
		t.Helper()
		w.later(3 * time.Minute)
		d := w.shows(w.r, when, "unknown_session")["unknown_session"]
		if got := w.repair(d); got != "repair_by_hand" || w.shown("amina") != is {
			t.Errorf("%s: repair %s, session %s, was %s", when, got, w.shown("amina"), is)
		}
	}
	stays("by the present password")
	w.disturbs(w.r, "ppp/active", router.Item{"name": "amina"}, router.Item{"uptime": "1w"})
	stays("a router whose clock is wrong")
	w.isTold(amina, "A session was ended: ", 1)
}
