package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// losesReports has the first router lose every report about its customers, or no more.
func (w *watched) losesReports(all bool) {
	w.t.Helper()
	faults := handset.Faults{}
	if all {
		faults = handset.Faults{LoseStarts: 1, LoseInterims: 1, LoseStops: 1}
	}
	if err := w.r.Handsets().SetFaults(faults); err != nil {
		w.t.Fatal(err)
	}
}

// shown gives the number of the session that the router has of a customer; "" = none.
func (w *watched) shown(name string) string {
	for _, row := range w.r.Snapshot(true)["ppp/active"] {
		if row["name"] == name {
			return row["session-id"]
		}
	}
	return ""
}

// leaves waits until the router shows another session of a customer than one, or none, while its clock goes on.
func (w *watched) leaves(name, session string) {
	w.t.Helper()
	w.eventually(name+" is ended at the router", func(context.Context) (bool, error) {
		w.later(6 * time.Second)
		w.idle()
		w.later(21 * time.Second)
		w.idle()
		return w.shown(name) != session, fmt.Errorf("the router still has %s", session)
	})
}

// TestAuditor_SessionsWhoseReportsDoNotCome: who may not be online is ended at the router although no session of his is
// open, whether it was reported once or never; who may be is left alone, also by the button, and is shown as online.
func TestAuditor_SessionsWhoseReportsDoNotCome(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina, baraka := w.joins("amina", 1), w.joins("baraka", 2)
	w.later(3 * time.Minute)
	w.losesReports(true)
	chris := w.subscribes("chris", 3)
	w.pays(chris)
	if err := w.r.SwitchOn("chris", chris.device); err != nil {
		t.Fatal(err)
	}
	w.later(20 * time.Minute)
	var lost answer
	w.sessionIs("baraka", "lost", func(s answer) bool {
		lost = s
		return s.text("endReason") == "lost"
	})
	w.sessionIs("amina", "lost", func(s answer) bool { return s.text("endReason") == "lost" })
	d := w.shows(w.r, "no reports", "unknown_session", "unknown_session", "unknown_session")["unknown_session"]
	was := map[string]string{"amina": w.shown("amina"), "baraka": w.shown("baraka"), "chris": w.shown("chris")}
	if got := w.repair(d); got != "repair_by_hand" {
		t.Errorf("repair of a session that is right: %s", got)
	}
	w.eventually("baraka to be seen online", func(ctx context.Context) (bool, error) {
		got, err := w.admin.call(ctx, "GET", "/subscribers/"+baraka.subscriber+"/access", "", nil)
		return err == nil && got.text("observed") == "online", fmt.Errorf("%v, %w", got, err)
	})

	w.must(w.admin, "POST", "/subscribers/"+amina.subscriber+"/block", map[string]any{"reason": "test"})
	w.leaves("amina", was["amina"])
	w.must(w.admin, "POST", "/subscriptions/"+chris.subscription+"/pause", map[string]any{"reason": "test"})
	w.leaves("chris", was["chris"])
	for name, session := range was {
		if still := w.shown(name); still != "" && name != "baraka" || name == "baraka" && still != session {
			t.Errorf("%s has %q, was %q", name, still, session)
		}
	}
	for _, g := range []guest{amina, chris} {
		w.isTold(g, "A session was ended: ", 1)
	}
	if got := w.routerWrites("session/"); fmt.Sprint(got) != "map[process:2]" {
		t.Errorf("writes in the audit log: %v", got)
	}

	w.isPutOff("baraka", was["baraka"], lost)
	w.losesReports(false)
	if err := w.r.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.later(time.Minute)
	w.sessionIs("baraka", "reported again", func(s answer) bool { return s["endedAt"] == nil })
	w.shows(w.r, "reports come again")
}

// isPutOff ends a lost session by hand at a router of which nothing is heard: only when that is confirmed.
func (w *watched) isPutOff(name, was string, lost answer) {
	w.t.Helper()
	path, reason := "/sessions/"+lost.text("id")+"/disconnect", map[string]any{"reason": "test"}
	if kept := w.must(w.admin, "POST", path, reason); kept["ended"] != false || w.shown(name) != was {
		w.t.Errorf("disconnect of a lost session: %v", kept)
	}
	ended := w.must(w.admin, "POST", path+"?confirm=true", reason)
	if ended["ended"] != true || ended["via"] == nil || w.shown(name) == was {
		w.t.Errorf("confirmed disconnect of a lost session: %v", ended)
	}
}

// TestAuditor_NobodyWhoHasPaidIsEndedWhereHeCouldNotComeBack: the router has another secret, so its reports are not
// taken and its sign-ins are refused. Neither the button nor the program ends a customer who has paid.
func TestAuditor_NobodyWhoHasPaidIsEndedWhereHeCouldNotComeBack(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina := w.joins("amina", 1)
	w.later(3 * time.Minute)
	ours := w.r.Snapshot(true)["radius"][0]
	w.do(w.r, "radius", "set", router.Item{".id": ours[".id"], "secret": "quite-another-secret"})
	w.later(20 * time.Minute)
	w.sessionIs("amina", "lost", func(s answer) bool { return s.text("endReason") == "lost" })
	was := w.shown("amina")
	w.eventually("the wrong secret to be recorded", func(ctx context.Context) (bool, error) {
		device, err := id.Parse[id.Device](w.r.device)
		if err != nil {
			return false, err
		}
		heard, err := w.app.telemetry.Heard(ctx, device, w.now.Now(), time.Hour)
		return heard.PPP.Refused.Last != nil, err
	})
	w.disturbs(w.r, "queue/simple", router.Item{"name": "<pppoe-amina>"}, router.Item{"max-limit": "1000000/2000000"})
	if got := w.repair(w.shows(w.r, "another speed", "wrong_rate")["wrong_rate"]); got != "repair_by_hand" {
		t.Errorf("repair of a speed: %s", got)
	}
	w.disturbs(w.r, "queue/simple", router.Item{"name": "<pppoe-amina>"},
		router.Item{"max-limit": "50000000/200000000"})
	if got := w.repair(w.shows(w.r, "right", "unknown_session")["unknown_session"]); got != "repair_by_hand" {
		t.Errorf("repair of a session that is right: %s", got)
	}
	if is := w.shown("amina"); is != was || is == "" {
		t.Errorf("the router has %q, had %q", is, was)
	}
	w.must(w.admin, "POST", "/subscribers/"+amina.subscriber+"/block", map[string]any{"reason": "test"})
	w.leaves("amina", was)
}
