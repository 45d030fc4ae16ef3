package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// owesLater makes customers who pay afterwards, are walled in at the due day and never suspended, with some sessions.
func (w *watched) owesLater(sessions int) {
	w.t.Helper()
	w.dunningDays(map[string]any{"graceDays": 0, "walledGardenDays": 60})
	w.plan = w.must(w.admin, "POST", "/plans", map[string]any{
		"code": "post", "name": "Post", "kind": "pppoe", "price": 1500, "currency": "KES", "sessionLimit": sessions,
		"billing": map[string]string{"mode": "postpaid", "period": "month"},
		"rates":   map[string]any{"down": 10000, "up": 5000},
	}).text("id")
}

// owes lets the time pass until a customer is walled in.
func (w *watched) owes(who guest) {
	w.t.Helper()
	w.now.Advance(45 * 24 * time.Hour)
	w.logins = time.Time{}
	w.later(time.Minute)
	w.eventually("the walled garden", func(context.Context) (bool, error) {
		is := w.entitled(who.subscriber)
		return is == "walled_garden", fmt.Errorf("%s", is)
	})
}

// at counts the sessions of a name at the first router, and those of them that are in the walled garden.
func (w *watched) at(name string) (online, walled int) {
	garden := map[string]bool{}
	for _, row := range w.r.Snapshot(true)["ip/firewall/address-list"] {
		garden[row["address"]] = garden[row["address"]] || row["list"] == "walled-garden"
	}
	for _, row := range w.r.Snapshot(true)["ppp/active"] {
		if row["name"] == name {
			online++
			if garden[row["address"]] {
				walled++
			}
		}
	}
	return online, walled
}

// TestAuditor_WhoGetsOutOfTheWalledGardenIsEndedAgain: the router puts the customer there at the sign-in, and something
// takes him out later. Where it does so at each sign-in, an end does not help, and unasked there is one in an hour.
func TestAuditor_WhoGetsOutOfTheWalledGardenIsEndedAgain(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	w.owesLater(1)
	amina := w.subscribes("amina", 1)
	w.dials("amina", amina)
	w.losesReports(true)
	w.fallsSilent("amina")
	w.owes(amina)
	dials := func(when string) {
		t.Helper()
		w.eventually(when, func(context.Context) (bool, error) {
			online, walled := w.at("amina")
			if online == 0 || walled == 1 {
				w.later(15 * time.Second)
			} else {
				w.looks(1)
			}
			return walled == 1, fmt.Errorf("%d online, %d walled in", online, walled)
		})
	}
	out := func() {
		t.Helper()
		w.disturbs(w.r, "ip/firewall/address-list", router.Item{"list": "walled-garden"}, nil)
	}
	dials("walled in")
	for range 2 {
		w.looks(2)
		out()
		dials("walled in again")
	}
	out()
	was := w.shown("amina")
	w.looks(3)
	if is := w.shown("amina"); is != was {
		t.Errorf("%s was ended although the one before it was, and none was right since", was)
	}
	d := w.shows(w.r, "out of the walled garden", "unpaid_but_online")["unpaid_but_online"]
	if got := w.repair(d); got != "done" {
		t.Errorf("repair: %s", got)
	}
	dials("walled in by the button")
	w.isTold(amina, "A session was ended, and the next one gets other access: ", 4)
	out()
	w.later(time.Hour)
	dials("walled in an hour later")
}

// TestAuditor_WhoHasPaidIsEndedOnceADayForWhatComesLater: a script sets another speed long after the sign-in, and would
// do so once more. The button helps until then.
func TestAuditor_WhoHasPaidIsEndedOnceADayForWhatComesLater(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina := w.joins("amina", 1)
	w.joins("dora", 2)
	w.losesReports(true)
	w.fallsSilent("amina")
	disturbed := func() {
		w.redials("dora")
		w.disturbs(w.r, "queue/simple", router.Item{"name": "<pppoe-amina>"}, router.Item{"max-limit": "1M/2M"})
	}
	dials := func(was string) {
		t.Helper()
		w.eventually("another session", func(context.Context) (bool, error) {
			w.look(w.r)
			w.later(15 * time.Second)
			is := w.shown("amina")
			return is != "" && is != was, fmt.Errorf("the router has %q", is)
		})
		w.looks(2)
		w.shows(w.r, "as they should be", "unknown_session", "unknown_session")
	}
	was := w.shown("amina")
	disturbed()
	dials(was)
	was = w.shown("amina")
	disturbed()
	w.looks(2)
	if is := w.shown("amina"); is != was {
		t.Errorf("%s was ended once more, now %q", was, is)
	}
	if got := w.repair(w.shows(w.r, "another speed", "wrong_rate", "unknown_session")["wrong_rate"]); got != "done" {
		t.Errorf("repair: %s", got)
	}
	dials(was)
	was = w.shown("amina")
	w.later(25 * time.Hour)
	disturbed()
	dials(was)
	w.isTold(amina, "A session was ended", 3)
}

// hosts has the first router take several sessions of one host, whose reports do not come.
func (w *watched) hosts() {
	w.t.Helper()
	w.losesReports(true)
	for _, row := range w.r.Snapshot(true)["interface/pppoe-server/server"] {
		w.do(w.r, "interface/pppoe-server/server", "set", router.Item{".id": row[".id"], "one-session-per-host": "no"})
	}
}

// dialsOnce signs a device in, which does not dial again by itself.
func (w *watched) dialsOnce(name string, device handset.Customer) {
	w.t.Helper()
	got, err := w.r.SignIn(w.t.Context(), handset.Customer{
		Name: name, Password: device.Password, Server: w.lan, MAC: device.MAC,
	})
	if err != nil || got.Outcome != handset.Accepted {
		w.t.Fatalf("%+v %v", got, err)
	}
}

// TestAuditor_EachSessionOfOneHostIsBroughtRight: what was done to one of them says nothing about those that were there
// before.
func TestAuditor_EachSessionOfOneHostIsBroughtRight(t *testing.T) {
	t.Parallel()
	for _, paid := range []bool{false, true} {
		t.Run(map[bool]string{false: "walled in", true: "paid"}[paid], func(t *testing.T) {
			t.Parallel()
			w := watch(t, 1)
			w.owesLater(3)
			amina := w.subscribes("amina", 1)
			w.hosts()
			dial := func() {
				for range 3 {
					w.dialsOnce("amina", amina.device)
				}
			}
			if !paid {
				dial()
			}
			w.owes(amina)
			if paid {
				dial()
				w.later(3 * time.Minute)
				w.must(w.admin, "POST", "/payments/cash", map[string]any{
					"subscriberId": amina.subscriber, "amount": 9000, "reference": "book 17",
				})
				w.eventually("full", func(context.Context) (bool, error) {
					is := w.entitled(amina.subscriber)
					return is == "full", fmt.Errorf("%s", is)
				})
			}
			w.later(3 * time.Minute)
			w.looks(2)
			if online, walled := w.at("amina"); online != 0 {
				t.Errorf("%d of three sessions stay, %d in the walled garden", online, walled)
			}
			dial()
			w.looks(2)
			online, walled := w.at("amina")
			if online != 3 || walled != map[bool]int{false: 3}[paid] {
				t.Errorf("%d of the next three sessions stay, %d in the walled garden", online, walled)
			}
		})
	}
}

// TestAuditor_SessionsOfOneHostBeyondTheLimitAreEndedOnceADay: the newest one stays, and those that dial again.
func TestAuditor_SessionsOfOneHostBeyondTheLimitAreEndedOnceADay(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	w.owesLater(1)
	amina := w.subscribes("amina", 1)
	w.hosts()
	dial := func(times int) {
		for range times {
			w.dialsOnce("amina", amina.device)
			w.later(time.Minute)
		}
	}
	dial(3)
	w.looks(2)
	if online, _ := w.at("amina"); online != 1 {
		t.Errorf("%d sessions of a plan for one", online)
	}
	dial(2)
	w.looks(3)
	w.isTold(amina, "A session was ended: ", 3)
	w.later(25 * time.Hour)
	w.looks(2)
	if online, _ := w.at("amina"); online != 1 {
		t.Errorf("%d sessions of a plan for one, a day later", online)
	}
}

// TestAuditor_EachSessionOfOneHostEndsWithItsPassword, although all of them began before the end of the first one.
func TestAuditor_EachSessionOfOneHostEndsWithItsPassword(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	w.owesLater(3)
	amina := w.subscribes("amina", 1)
	w.hosts()
	for range 3 {
		w.dialsOnce("amina", amina.device)
	}
	w.later(5 * time.Minute)
	w.must(w.admin, "POST", "/subscriptions/"+amina.subscription+"/credentials", map[string]any{
		"password": "another-login",
	})
	w.looks(2)
	if online, _ := w.at("amina"); online != 0 {
		t.Errorf("%d sessions are left by the former password", online)
	}
}
