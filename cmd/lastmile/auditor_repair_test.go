package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// TestAuditor_ARepairThatCannotBeMadeSaysWhatToDo: at a router that lets nobody read or write, and while reports wait
// elsewhere. A program that tells nothing for an hour holds nobody up, and what is on its disk is told as missing.
func TestAuditor_ARepairThatCannotBeMadeSaysWhatToDo(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	w.joins("amina", 1)
	w.later(3 * time.Minute)
	w.disturbs(w.r, "ppp/active", router.Item{"name": "amina"}, router.Item{"name": "stranger"})
	d := w.shows(w.r, "session of another name", "stale_session", "unknown_session")["unknown_session"]
	refused := func(when, code string) {
		t.Helper()
		if got := w.repair(d); got != code {
			t.Errorf("repair %s: %s, want %s", when, got, code)
		}
	}
	w.r.SetFaults(router.Faults{Unauthorized: true})
	refused("with another password of the platform's user", "router_not_readable")
	if look := w.all(w.admin, "/access-audits")[0]; look.text("why") != "router_refuses" {
		t.Errorf("look %v", look)
	}
	w.r.SetFaults(router.Faults{DenyWrites: true})
	refused("without the right to write", "repair_refused")
	w.r.SetFaults(router.Faults{})

	w.otherTells(time.Minute)
	w.spoolsAge(time.Minute)
	refused("while reports wait", "access_reports_waiting")
	since := w.spoolsAge(time.Hour)
	w.eventually("look without the program that is gone", func(context.Context) (bool, error) {
		w.look(w.r)
		looks, rows := w.all(w.admin, "/access-audits"), w.all(w.admin, "/access-differences")
		told := since.Format(time.RFC3339Nano)
		return looks[0]["why"] == nil && looks[0].text("reportsMissingSince") == told && len(rows) > 0 &&
			rows[0].text("reportsMissingSince") == told, fmt.Errorf("%v, %v", looks, rows)
	})
	refused("again", "done")
	if err := w.app.telemetry.Leave(t.Context(), "another host"); err != nil {
		t.Fatal(err)
	}
	if look := w.all(w.admin, "/access-audits")[0]; look["reportsMissingSince"] != nil {
		t.Errorf("look %v", look)
	}
}
