package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestAuditor_DoesNotCompareWhileAnotherProgramHoldsReports: a second program hears routers, too. While reports wait on
// its disk, and when it tells nothing any more, a session that was not reported is no difference.
func TestAuditor_DoesNotCompareWhileAnotherProgramHoldsReports(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina := w.joins("amina", 1)
	w.later(3 * time.Minute)
	w.shows(w.r, "before")
	why := func(when, want string) {
		t.Helper()
		w.eventually(when+": "+want, func(context.Context) (bool, error) {
			w.look(w.r)
			list := w.all(w.admin, "/access-audits")
			return len(list) == 1 && list[0].text("why") == want, fmt.Errorf("%v", list)
		})
	}
	theirs := map[id.Organization]time.Duration{id.New[id.Organization](): 4 * time.Minute}
	if err := w.app.telemetry.Tell(t.Context(), "another host", theirs, time.Hour); err != nil {
		t.Fatal(err)
	}
	why("reports of another organization wait", "")
	// The other program took the reports about a session that the router shows: these tables do not have it.
	if _, err := w.db.Owner.Exec(t.Context(), `delete from `+w.db.Namespace.Schema("telemetry")+`.sessions
		where subscription_id = $1`, amina.subscription); err != nil {
		t.Fatal(err)
	}
	w.otherTells(4 * time.Minute)
	why("reports wait", "reports_waiting")
	w.otherTells(0)
	w.spoolsAge(4 * time.Minute)
	why("it tells nothing", "reports_waiting")
	if list := w.all(w.admin, "/access-differences"); len(list) != 0 {
		t.Errorf("differences: %v", list)
	}
	if err := w.app.telemetry.Leave(t.Context(), "another host"); err != nil {
		t.Fatal(err)
	}
	w.r.SwitchOff("amina")
	why("it has left", "")
}

// TestAuditor_AllRoutersAreLookedAtOneAfterTheOther: who asks for all routers is told when the last one begins.
func TestAuditor_AllRoutersAreLookedAtOneAfterTheOther(t *testing.T) {
	t.Parallel()
	w := watch(t, 3)
	w.installed(1)
	w.installed(2)
	before := w.now.Now()
	asked := w.must(w.admin, "POST", "/access-audits", map[string]any{})
	last, err := time.Parse(time.RFC3339Nano, asked.text("lastBeginsAt"))
	if devices, _ := asked["deviceIds"].([]any); err != nil || len(devices) != 3 || last.Sub(before) < time.Second {
		t.Fatalf("%v, %v", asked, err)
	}
	rows, err := w.db.Owner.Query(t.Context(), `select scheduled_at from `+w.db.Namespace.Schema("river")+`.river_job
		where kind = 'access_audit_router' order by scheduled_at`)
	if err != nil {
		t.Fatal(err)
	}
	begin, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	if err != nil || len(begin) != 3 || begin[2].Sub(last).Abs() > time.Second {
		t.Fatalf("%v, last %v, %v", begin, last, err)
	}
	for i := range 2 {
		if pause := begin[i+1].Sub(begin[i]); pause < 400*time.Millisecond {
			t.Errorf("%v after the one before", pause)
		}
	}
}

// otherTells tells as the other host that a report of the customers' organization has waited there for so long.
func (w *watched) otherTells(waits time.Duration) {
	w.t.Helper()
	var org id.Organization
	of := w.db.Namespace.Schema("telemetry")
	err := w.db.Owner.QueryRow(w.t.Context(), `select org_id from `+of+`.sessions union
		select org_id from `+of+`.looks`).Scan(&org)
	if err == nil {
		aged := map[id.Organization]time.Duration{org: waits}
		err = w.app.telemetry.Tell(w.t.Context(), "another host", aged, time.Hour)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// spoolsAge makes what the other host has told older, and gives the instant since which its first report waits.
func (w *watched) spoolsAge(by time.Duration) (since time.Time) {
	w.t.Helper()
	err := w.db.Owner.QueryRow(w.t.Context(), `update `+w.db.Namespace.Schema("telemetry")+`.spools
		set told_at = told_at - $1::interval, waits_since = waits_since - $1::interval
		where program = 'another host' returning waits_since`, by).Scan(&since)
	if err != nil {
		w.t.Fatal(err)
	}
	return since.UTC()
}
