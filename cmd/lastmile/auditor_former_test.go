package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/handset"
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
		if err := w.r.SwitchOn(name, g.device); err != nil {
			t.Fatal(err)
		}
		w.eventually(name+" to be online", func(context.Context) (bool, error) {
			w.later(15 * time.Second)
			was[name] = w.shown(name)
			return was[name] != "", nil
		})
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
	w.says(d, "full", "the last sign-in was refused: unknown_user")
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
