package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// isWalledIn brings a customer, whose reports come, into the walled garden of the first router.
func (w *watched) isWalledIn(name string, number int) guest {
	w.t.Helper()
	w.dunningDays(map[string]any{
		"noCutDays": []string{}, "noCutAfter": map[string]string{}, "skipHolidays": false, "walledGardenDays": 30,
	})
	g := w.joins(name, number)
	w.now.Advance(36 * 24 * time.Hour)
	w.logins = time.Time{}
	w.later(time.Minute)
	w.eventually(name+" to be walled in", func(context.Context) (bool, error) {
		w.later(6 * time.Second)
		list := w.all(w.admin, "/sessions?online=true&username="+name)
		return len(list) == 1 && list[0].text("access") == "walled_garden", fmt.Errorf("%v", list)
	})
	w.later(3 * time.Minute)
	return g
}

// losesEntry removes the only entry of the walled garden, and gives the session that the customer has.
func (w *watched) losesEntry(name string) string {
	w.t.Helper()
	w.disturbs(w.r, "ip/firewall/address-list", router.Item{"list": "walled-garden"}, nil)
	return w.shown(name)
}

// dialsAgain has the auditor look until a customer has another session than one at the first router, which is reported.
func (w *watched) dialsAgain(name, was string) {
	w.t.Helper()
	w.eventually(name+" dials again", func(context.Context) (bool, error) {
		w.look(w.r)
		is := w.shown(name)
		return is != "" && is != was, fmt.Errorf("the router has %q, had %q", is, was)
	})
	w.sessionIs(name, "reported", func(s answer) bool { return s["endedAt"] == nil })
}

// TestAuditor_WhoIsOutOfTheWalledGardenUnpaidIsBroughtBack: the entry of a session whose reports come is lost at the
// router. It is back after two looks, without anybody, and once only where the router makes the same again.
func TestAuditor_WhoIsOutOfTheWalledGardenUnpaidIsBroughtBack(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	baraka := w.isWalledIn("baraka", 2)
	before := w.told(baraka, "A session was ended: ") // one that began before the step of dunning
	was := w.losesEntry("baraka")
	w.dialsAgain("baraka", was)
	w.later(3 * time.Minute)
	w.shows(w.r, "the entry is back")
	w.isObserved(baraka, "walled in again", "walled_garden")
	w.tells(baraka, "the customer is online with more than is paid.", 1)
	w.isTold(baraka, "A session was ended: ", before+1)
	if got := w.routerWrites("session/"); got["process"] == 0 || got["user"] > 0 {
		t.Errorf("writes in the audit log: %v", got)
	}

	was = w.losesEntry("baraka")
	w.shows(w.r, "removed once more", "unpaid_but_online")
	w.isObserved(baraka, "removed once more", "online")
	w.looks(2)
	if is := w.shown("baraka"); is != was {
		t.Errorf("ended once more: %q, was %q", is, was)
	}
}

// TestAuditor_AnEntryThatIsLostLaterIsBroughtBackEachTime: the first end helped, so the next one is not in vain.
func TestAuditor_AnEntryThatIsLostLaterIsBroughtBackEachTime(t *testing.T) {
	t.Parallel()
	w := watch(t, 1, "ACCESS_AUDIT_INTERVAL=5m")
	baraka := w.isWalledIn("baraka", 2)
	before := w.told(baraka, "A session was ended: ")
	for range 2 {
		w.dialsAgain("baraka", w.losesEntry("baraka"))
		w.later(20 * time.Minute)
		w.sessionIs("baraka", "walled in", func(s answer) bool {
			return s["endedAt"] == nil && s.text("access") == "walled_garden"
		})
	}
	w.shows(w.r, "the entry is back")
	w.isTold(baraka, "A session was ended: ", before+2)
}

// TestAuditor_WhoHasPaidAndStaysWalledInIsBroughtOut, without anybody, where the program believes that the router has
// changed the session.
func TestAuditor_WhoHasPaidAndStaysWalledInIsBroughtOut(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	baraka := w.isWalledIn("baraka", 2)
	was := w.shown("baraka")
	w.endsNothing(true)
	w.paysInVain(baraka, "baraka")
	w.endsNothing(false)
	w.dialsAgain("baraka", was)
	w.sessionIs("baraka", "whole", func(s answer) bool { return s["endedAt"] == nil && s.text("access") == "full" })
	w.later(3 * time.Minute)
	w.shows(w.r, "out of the walled garden")
	if got := w.routerWrites("session/"); got["user"] > 0 {
		t.Errorf("writes in the audit log: %v", got)
	}
}
