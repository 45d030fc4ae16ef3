package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// TestAuditor_TheWalledGardenIsNotWhatIsPaid: entries of the garden's address list that a fault removed or gave to
// somebody else, one that a person made, and a router that does not end the session of a blocked customer.
func TestAuditor_TheWalledGardenIsNotWhatIsPaid(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	w.dunningDays(map[string]any{"noCutDays": []string{}, "noCutAfter": map[string]string{}, "skipHolidays": false})
	amina, baraka := w.joins("amina", 1), w.joins("baraka", 2)
	w.now.Advance(36 * 24 * time.Hour)
	w.logins = time.Time{}
	w.later(time.Minute)
	w.dunning(amina.subscription, events.DunningWalledGarden)
	w.dunning(baraka.subscription, events.DunningWalledGarden)
	w.pays(amina)
	access := func(want string) func(answer) bool {
		return func(s answer) bool { return s["endedAt"] == nil && s.text("access") == want }
	}
	w.sessionIs("amina", "whole", access("full"))
	w.sessionIs("baraka", "walled in", access("walled_garden"))
	w.dunning(amina.subscription, events.DunningNone) // after it nothing changes what is paid
	w.later(3 * time.Minute)
	was := w.all(w.admin, "/sessions?username=amina")[0].text("id")
	w.r.Disconnect("amina")
	w.sessionIs("amina", "whole since the sign-in", func(s answer) bool {
		return s.text("id") != was && access("full")(s)
	})
	w.later(3 * time.Minute)
	w.shows(w.r, "one has paid")

	walled := router.Item{"list": "walled-garden"}
	address := func(name string) string { return w.all(w.admin, "/sessions?username="+name)[0].text("ipAddress") }
	w.endsNothing(true) // else the program brings right at once who has more than is paid
	w.disturbs(w.r, "ip/firewall/address-list", walled, router.Item{"address": address("amina")})
	found := w.shows(w.r, "another one's entry", "paid_but_walled_in", "unpaid_but_online")
	w.says(found["paid_but_walled_in"], "full", "in the walled garden by an entry that is not of the sign-in")
	if got := w.repair(found["paid_but_walled_in"]); got != "repair_by_hand" {
		t.Errorf("repair of another one's entry: %s", got)
	}
	w.says(found["unpaid_but_online"], "walled garden: overdue", "online without the walled garden")
	w.endsNothing(false)
	w.repairs(found["unpaid_but_online"])
	w.sessionIs("baraka", "walled in again", access("walled_garden"))
	w.later(3 * time.Minute)
	w.shows(w.r, "the entries are right")

	w.disturbs(w.r, "ip/firewall/address-list", walled, nil)
	w.pressed(w.shows(w.r, "removed entry", "unpaid_but_online")["unpaid_but_online"])
	w.later(3 * time.Minute)
	w.shows(w.r, "the entry is back")
	w.tells(baraka, "the customer is online with more than is paid.", 2)

	w.wallsInByHand(amina, address("amina"), 2)
	w.wallsInByHand(amina, "10.0.0.1-"+address("amina"), 3)
	w.staysWalledIn(baraka)
	w.refusesToEnd(amina)
}

// endsNothing has the first router refuse to change or to end sessions, or no more.
func (w *watched) endsNothing(refuses bool) {
	w.t.Helper()
	accept := "yes"
	if refuses {
		accept = "no"
	}
	w.do(w.r, "radius/incoming", "set", router.Item{"accept": accept})
	w.r.SetFaults(router.Faults{DenyWrites: refuses})
}

// staysWalledIn takes the money of a customer who is walled in while his router changes nothing, and has the program
// believe that it did. The button ends the session, which comes back whole.
func (w *watched) staysWalledIn(baraka guest) {
	w.t.Helper()
	w.endsNothing(true)
	w.paysInVain(baraka, "baraka")
	d := w.shows(w.r, "paid, and the router changes nothing", "paid_but_walled_in")["paid_but_walled_in"]
	w.says(d, "full", "in the walled garden")
	w.endsNothing(false)
	w.repairs(d)
	w.sessionIs("baraka", "whole", func(s answer) bool { return s["endedAt"] == nil && s.text("access") == "full" })
	w.later(3 * time.Minute)
	w.shows(w.r, "the customer is out of the walled garden")
	w.tells(baraka, "the customer has paid, and is in the walled garden.", 1)
}

// paysInVain takes the money of a walled-in customer whose router changes nothing, and has the program believe that it
// did.
func (w *watched) paysInVain(g guest, name string) {
	w.t.Helper()
	w.pays(g)
	subscription := id.Must[id.Subscription](g.subscription)
	session := id.Must[telemetry.SessionID](w.all(w.admin, "/sessions?username="+name)[0].text("id"))
	w.eventually("the payment to count", func(ctx context.Context) (bool, error) {
		grant := w.app.customers.directory.Present(subscription, w.now.Now()).Grant
		return grant.Access == entitlement.Full, w.app.telemetry.Regrant(ctx, session, telemetry.Given{
			Access: grant.Access.String(), RateDown: grant.Down, RateUp: grant.Up, Stamp: grant.Stamp(),
		})
	})
	w.eventually("the last try of enforcement to end", func(ctx context.Context) (bool, error) {
		var n int
		err := w.db.Owner.QueryRow(ctx, `select count(*) from `+w.db.Namespace.Schema("river")+`.river_job
			where kind like 'access_enforce%' and state = 'running'`).Scan(&n)
		return err == nil && n == 0, err
	})
}

// wallsInByHand adds an entry of a person for a customer who has paid, which only people remove. times is how often it
// has been told then.
func (w *watched) wallsInByHand(amina guest, address string, times int) {
	w.t.Helper()
	w.do(w.r, "ip/firewall/address-list", "add", router.Item{"list": "walled-garden", "address": address})
	d := w.shows(w.r, "an entry by hand", "paid_but_walled_in")["paid_but_walled_in"]
	w.says(d, "full", "in the walled garden by an entry that a person made")
	if got := w.repair(d); got != "repair_by_hand" {
		w.t.Errorf("repair of an entry by hand: %s", got)
	}
	for _, row := range w.r.Snapshot(false)["ip/firewall/address-list"] {
		if row["list"] == "walled-garden" {
			w.do(w.r, "ip/firewall/address-list", "remove", router.Item{".id": row[".id"]})
		}
	}
	w.shows(w.r, "nobody's entry")
	w.tells(amina, "the customer has paid, and is in the walled garden.", times)
}

// refusesToEnd blocks a customer while the router ends no session.
func (w *watched) refusesToEnd(amina guest) {
	w.t.Helper()
	w.endsNothing(true)
	w.must(w.admin, "POST", "/subscribers/"+amina.subscriber+"/block", map[string]any{"reason": "fraud"})
	d := w.shows(w.r, "a router that ends nothing", "unpaid_but_online")["unpaid_but_online"]
	w.says(d, "offline: blocked", "online")
	w.endsNothing(false)
	if got := w.repair(d); got != "done" && got != "gone" { // enforcement may have done it by itself
		w.t.Errorf("repair of a blocked customer: %s", got)
	}
	w.sessionIs("amina", "ended", func(s answer) bool { return s["endedAt"] != nil })
	w.later(3 * time.Minute)
	w.shows(w.r, "the blocked one is off")
	w.tells(amina, "the customer is online with more than is paid.", 1)
}

// TestAuditor_WhoHasPaidAndWasRefused: with a wrong password, the username of before a change, another device, another
// secret of the router, or by us before the payment. The device goes on dialing for as long as it is refused. Only the
// last cause needs nobody, and only where the device was switched off before it was over; each difference is over when
// the customer is online.
func TestAuditor_WhoHasPaidAndWasRefused(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina := w.joins("amina", 1)
	for _, cause := range []struct{ what, code, repair string }{
		{"another password at the device", "wrong_password", "repair_by_hand"},
		{"another username than the device has", "unknown_user", "repair_by_hand"},
		{"another device", "wrong_mac", "repair_by_hand"},
		{"another secret of the router", "wrong_secret", "repair_by_hand"},
		{"a block that is over", "blocked", "waiting"},
	} {
		w.r.SwitchOff("amina")
		w.sessionIs("amina", "over", func(s answer) bool { return s["endedAt"] != nil })
		w.later(time.Minute)
		w.isRefused(amina, cause.code)
		w.later(3 * time.Minute)
		d := w.shows(w.r, cause.what, "paid_but_offline")["paid_but_offline"]
		w.says(d, "full", "a sign-in was refused: "+cause.code+"; no session was reported since")
		for range 2 {
			if got := w.repair(d); got != cause.repair {
				t.Errorf("repair after %s: %s", cause.code, got)
			}
		}
		w.setSecret("radius-secret-" + w.r.Name())
		w.isCalled(amina, "amina")
		w.dials("amina", amina)
		w.later(3 * time.Minute)
		w.shows(w.r, cause.what+", mended")
	}
	w.tells(amina, "the customer has paid, and a sign-in was refused or came to nothing.", 5)

	w.r.SwitchOff("amina")
	w.later(10 * time.Minute)
	w.shows(w.r, "a device that is switched off")
}

// isCalled gives a customer another username; the password stays.
func (w *watched) isCalled(g guest, name string) {
	w.t.Helper()
	w.must(w.admin, "POST", "/subscriptions/"+g.subscription+"/credentials", map[string]any{
		"username": name, "password": g.device.Password,
	})
}

// setSecret gives the first router another RADIUS secret.
func (w *watched) setSecret(secret string) {
	w.t.Helper()
	w.do(w.r, "radius", "set", router.Item{".id": w.r.Snapshot(true)["radius"][0][".id"], "secret": secret})
}

// isRefused has a customer's device refused with a code. It dials on, but where the cause ends by itself.
func (w *watched) isRefused(g guest, code string) {
	w.t.Helper()
	device := g.device
	switch code {
	case "wrong_password":
		device.Password = "not the password"
	case "unknown_user":
		w.isCalled(g, "another-name")
	case "wrong_mac":
		w.must(w.admin, "PATCH", "/subscriptions/"+g.subscription, map[string]any{
			"macAddresses": []string{g.device.MAC},
		})
		device.MAC = "02:00:00:00:00:99"
	case "wrong_secret":
		w.setSecret("a secret of yesterday")
	case "blocked":
		w.must(w.admin, "POST", "/subscribers/"+g.subscriber+"/block", map[string]any{"reason": "fraud"})
	}
	if err := w.r.SwitchOn("amina", device); err != nil {
		w.t.Fatal(err)
	}
	w.eventually("refusal: "+code, func(context.Context) (bool, error) {
		w.later(15 * time.Second)
		list := w.must(w.admin, "GET", "/subscribers/"+g.subscriber+"/access", nil).list("refusals")
		return len(list) > 0 && list[0].text("code") == code, fmt.Errorf("%v", list)
	})
	if code == "blocked" {
		w.r.SwitchOff("amina")
		w.later(3 * time.Minute)
		w.shows(w.r, "a blocked customer")
		w.must(w.admin, "POST", "/subscribers/"+g.subscriber+"/unblock", map[string]any{"reason": "cleared"})
	}
}
