package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// isObserved waits until the customer and the one service are observed so.
func (w *watched) isObserved(g guest, when, want string) {
	w.t.Helper()
	w.eventually(when+": to be observed "+want, func(ctx context.Context) (bool, error) {
		got, err := w.admin.call(ctx, "GET", "/subscribers/"+g.subscriber+"/access", "", nil)
		if err != nil {
			return false, err
		}
		service, _ := got["services"].([]any)[0].(map[string]any)
		return got.text("observed") == want && service["observed"] == want, fmt.Errorf("observed %v", got)
	})
}

// TestAuditor_WhoWasSeenAtARouterThatIsOffIsNotOnline: of a session whose reports did not come nobody knows anything
// any more.
func TestAuditor_WhoWasSeenAtARouterThatIsOffIsNotOnline(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	baraka := w.joins("baraka", 1)
	w.later(3 * time.Minute)
	w.losesReports(true)
	w.later(20 * time.Minute)
	w.sessionIs("baraka", "lost", func(s answer) bool { return s.text("endReason") == "lost" })
	w.shows(w.r, "no reports", "unknown_session")
	w.isObserved(baraka, "no reports", "online")
	w.r.SetPower(false)
	w.later(20 * time.Minute)
	w.look(w.r)
	w.isObserved(baraka, "the router is off", "unknown")
}

// TestAuditor_ADifferenceOfASessionThatWasReportedShowsNobodyOnline: once its end was told, or the router has told
// nothing for long; whether it was looked at since or not.
func TestAuditor_ADifferenceOfASessionThatWasReportedShowsNobodyOnline(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina, baraka := w.joins("amina", 1), w.joins("baraka", 2)
	w.later(3 * time.Minute)
	for _, name := range []string{"amina", "baraka"} {
		w.disturbs(w.r, "queue/simple", router.Item{"name": "<pppoe-" + name + ">"},
			router.Item{"max-limit": "1000000/2000000"})
	}
	w.shows(w.r, "other queues", "wrong_rate", "wrong_rate")
	w.r.SwitchOff("amina")
	w.sessionIs("amina", "ended", func(s answer) bool { return s["endedAt"] != nil })
	w.isObserved(amina, "its end was reported", "offline")
	w.r.SetPower(false)
	w.later(20 * time.Minute)
	w.sessionIs("baraka", "lost", func(s answer) bool { return s.text("endReason") == "lost" })
	w.isObserved(baraka, "the router is off", "offline")
	w.look(w.r)
	w.isObserved(baraka, "the router cannot be looked at", "offline")
}

// TestAuditor_AnOpenSessionIsAsItsRouterShowsIt: who was let in to everything, and is in the walled garden, and whose
// session the router does not have any more.
func TestAuditor_AnOpenSessionIsAsItsRouterShowsIt(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina, baraka := w.joins("amina", 1), w.joins("baraka", 2)
	w.later(3 * time.Minute)
	address := w.all(w.admin, "/sessions?username=amina")[0].text("ipAddress")
	w.do(w.r, "ip/firewall/address-list", "add", router.Item{"list": "walled-garden", "address": address})
	w.losesReports(true)
	w.r.SwitchOff("baraka")
	w.shows(w.r, "an entry by hand, and an end that was not reported", "paid_but_walled_in", "stale_session")
	w.isObserved(amina, "an entry by hand", "walled_garden")
	w.isObserved(baraka, "an end that was not reported", "offline")
}

// TestAuditor_WhoIsWalledInWithoutReportsIsShownSo, as long as it is right, and when the customer is to be offline.
func TestAuditor_WhoIsWalledInWithoutReportsIsShownSo(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	baraka := w.isWalledIn("baraka", 2)
	w.losesReports(true)
	w.fallsSilent("baraka")
	w.shows(w.r, "walled in, and no reports", "unknown_session")
	w.isObserved(baraka, "walled in", "walled_garden")
	w.r.SetFaults(router.Faults{DenyWrites: true})
	w.must(w.admin, "POST", "/subscribers/"+baraka.subscriber+"/block", map[string]any{"reason": "test"})
	w.shows(w.r, "blocked, and the router ends nothing", "unpaid_but_online")
	w.isObserved(baraka, "blocked", "walled_garden")
}
