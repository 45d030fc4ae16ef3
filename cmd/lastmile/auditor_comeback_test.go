package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// goesOn wants a customer to have the same session at the first router after the auditor has looked at it some times.
func (w *watched) goesOn(name, was string) {
	w.t.Helper()
	for range 3 {
		w.later(6 * time.Second)
		w.idle()
		w.look(w.r)
	}
	if is := w.shown(name); is != was || is == "" {
		w.t.Errorf("%s, who has paid, had the session %q and has %q", name, was, is)
	}
}

// isByHand wants the button of a difference at the first router to end nothing, and to say what to do.
func (w *watched) isByHand(kind string) {
	w.t.Helper()
	if got := w.repair(w.shows(w.r, "nobody can come back", kind)[kind]); got != "repair_by_hand" {
		w.t.Errorf("repair of %s: %s", kind, got)
	}
}

// setRADIUS changes the first router's RADIUS client.
func (w *watched) setRADIUS(props router.Item) {
	w.t.Helper()
	props[".id"] = w.r.Snapshot(true)["radius"][0][".id"]
	w.do(w.r, "radius", "set", props)
}

// redials has a customer's device dial again, so that the router is known to let people in.
func (w *watched) redials(name string) {
	w.t.Helper()
	was := w.shown(name)
	w.r.Disconnect(name)
	w.eventually(name+" to be online again", func(context.Context) (bool, error) {
		w.later(5 * time.Second)
		is := w.shown(name)
		return is != was && is != "", fmt.Errorf("the router has %q", is)
	})
}

// isLost waits until a customer's session is lost, and gives the number that the router has of it.
func (w *watched) isLost(name string) string {
	w.t.Helper()
	was := w.fallsSilent(name)
	w.shows(w.r, "no reports", "unknown_session")
	return was
}

// night makes a plan that has another speed from an hour or two on, and gives that instant.
func (w *watched) night() (begin time.Time) {
	w.t.Helper()
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		w.t.Fatal(err)
	}
	begin = w.now.Now().In(zone).Add(2 * time.Hour).Truncate(time.Hour)
	w.plan = w.must(w.admin, "POST", "/plans", map[string]any{
		"code": "night", "name": "Night", "kind": "pppoe", "price": 1000, "currency": "KES",
		"billing": map[string]string{"mode": "prepaid", "period": "month"},
		"rates":   map[string]any{"down": 20000, "up": 5000},
		"schedule": []map[string]any{{
			"days": []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"},
			"from": begin.Format("15:04"), "to": begin.Add(5 * time.Hour).Format("15:04"),
			"rates": map[string]any{"down": 40000, "up": 10000},
		}},
	}).text("id")
	return begin
}

// TestAuditor_WhoHasPaidIsNotEndedWhereTheRouterAsksNobody: its RADIUS client is off, or leads elsewhere, and the hours
// of the plan change. When sign-ins and reports come again, the session has what it should.
func TestAuditor_WhoHasPaidIsNotEndedWhereTheRouterAsksNobody(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]router.Item{
		"disabled":      {{"disabled": "yes"}, {"disabled": "no"}},
		"other address": {{"address": "10.99.0.200"}, {"address": "10.99.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := watch(t, 1)
			begin := w.night()
			w.joins("amina", 1)
			w.later(3 * time.Minute)
			w.setRADIUS(change[0])
			was := w.isLost("amina")
			w.later(begin.Sub(w.now.Now()) + 5*time.Minute)
			w.goesOn("amina", was)
			w.isByHand("wrong_rate")
			w.setRADIUS(change[1])
			w.eventually("the speed of the night", func(context.Context) (bool, error) {
				w.later(time.Minute)
				rows := w.r.Snapshot(true)["queue/simple"]
				return len(rows) == 1 && rows[0]["max-limit"] == "10000000/40000000", fmt.Errorf("%v", rows)
			})
		})
	}
}

// TestAuditor_WhoPaysOutOfTheWalledGardenIsNotEndedWhereTheRouterAsksNobody and whose session is silent: he would have
// no access at all.
func TestAuditor_WhoPaysOutOfTheWalledGardenIsNotEndedWhereTheRouterAsksNobody(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	baraka := w.isWalledIn("baraka", 2)
	w.setRADIUS(router.Item{"disabled": "yes"})
	was := w.isLost("baraka")
	w.pays(baraka)
	w.goesOn("baraka", was)
	w.isByHand("paid_but_walled_in")
}

// TestAuditor_NothingIsHeardOfARouter since the session fell silent: it has another secret, and shares its address with
// a router, so that nobody knows whose packets are dropped.
func TestAuditor_NothingIsHeardOfARouter(t *testing.T) {
	t.Parallel()
	w := watch(t, 2)
	w.installed(1)
	w.joins("amina", 1)
	w.later(3 * time.Minute)
	w.setSecret("quite-another-secret")
	was := w.isLost("amina")
	w.disturbs(w.r, "queue/simple", router.Item{"name": "<pppoe-amina>"}, router.Item{"max-limit": "1M/2M"})
	w.goesOn("amina", was)
	w.isByHand("wrong_rate")
}

// TestAuditor_WhoHasTheLoginNowIsNotEnded with the contract that ended, where the router's sign-ins are refused.
func TestAuditor_WhoHasTheLoginNowIsNotEnded(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina := w.joins("amina", 1)
	w.later(3 * time.Minute)
	w.setSecret("quite-another-secret")
	was := w.isLost("amina")
	w.must(w.admin, "POST", "/subscriptions/"+amina.subscription+"/end", map[string]any{"reason": "another plan"})
	amina.subscription = w.must(w.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": amina.subscriber, "planId": w.plan, "username": "amina", "password": "login-of-amina",
	}).text("id")
	w.pays(amina)
	w.mayDial(amina)
	w.goesOn("amina", was)
	w.isByHand("unpaid_but_online")
}

// TestEnforcement_WhoPaysIsNotEndedWhereTheRouterAsksNobody although its reports come; it is done as soon as sign-ins
// come again.
func TestEnforcement_WhoPaysIsNotEndedWhereTheRouterAsksNobody(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	baraka := w.isWalledIn("baraka", 2)
	w.do(w.r, "ppp/aaa", "set", router.Item{"use-radius": "no"})
	was := w.shown("baraka")
	w.pays(baraka)
	w.goesOn("baraka", was)
	w.isByHand("paid_but_walled_in")
	w.do(w.r, "ppp/aaa", "set", router.Item{"use-radius": "yes"})
	w.eventually("baraka to be out of the walled garden", func(context.Context) (bool, error) {
		w.later(time.Minute)
		is := w.shown("baraka")
		return is != was && is != "", fmt.Errorf("the router has %q", is)
	})
}
