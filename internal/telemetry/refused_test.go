package telemetry_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// rests records reports that the database refuses, lets the recorder rest 20 times, ends what makes the database
// refuse them, and waits until they are taken. It gives the log, and how long all took by our clock.
func (k *kit) rests(
	t *testing.T, mend func(), list ...telemetry.Report,
) (r *telemetry.Recorder, log string, took time.Duration) {
	t.Helper()
	var text bytes.Buffer
	now := clock.NewManual(noon)
	failed, rests := make(chan struct{}), 0
	r = telemetry.NewRecorder(telemetry.Config{
		Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir(), Clock: now,
		Logger: slog.New(slog.NewTextHandler(&text, nil)),
	})
	r.Watch(func(string) {}, func(d time.Duration) {
		if rests++; rests == 20 {
			close(failed)
		}
		now.Advance(d)
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	if n := record(r, list...); n != len(list) {
		t.Errorf("%d of %d acknowledged", n, len(list))
	}
	select {
	case <-failed:
	case <-time.After(waittest.Limit):
		t.Fatalf("nothing waits: %+v", r.Status())
	}
	mend()
	settle(t, r)
	r.Stop()
	return r, text.String(), now.Now().Sub(noon)
}

// TestRecorder_NoReportIsDroppedWhileTheTablesTakeNone: what the database says of each report is the same as of one
// that has values which it cannot store. Some organizations are alone on their platform.
func TestRecorder_NoReportIsDroppedWhileTheTablesTakeNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code, before string
		kind         telemetry.Kind
		alone        bool
		ofCustomer   bool // they refuse nobody else's
	}{
		"transactions have no more numbers":          {"54000", "insert on sessions", telemetry.Start, false, false},
		"they have none, for one organization":       {"54000", "insert on sessions", telemetry.Start, true, false},
		"a constraint refuses all that begins":       {"23502", "insert on sessions", telemetry.Start, false, false},
		"a constraint refuses all that goes on":      {"23514", "update on sessions", telemetry.Interim, true, false},
		"a sum that nobody can add to":               {"22003", "insert on usage", telemetry.Interim, true, false},
		"a constraint refuses a restart of a router": {"23502", "insert on routers", telemetry.On, true, false},
		"a constraint on what a customer begins":     {"23514", "insert on sessions", telemetry.Start, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			k.commit(t, k.at(telemetry.Start, 0, 0, 0))
			when := "true"
			if c.ofCustomer {
				when = "new.subscription_id = '" + k.subscription.String() + "'"
			}
			mend := k.failsBefore(t, c.code, c.before, when)
			crowd, calm := k.neighbours(6)
			list := []telemetry.Report{k.at(c.kind, time.Minute, 7, 7)}
			if c.kind == telemetry.Start {
				list = crowd
			}
			if !c.alone {
				list = append(list, calm)
			}
			r, log, _ := k.rests(t, mend, list...)
			if r.Status().Dropped != 0 {
				t.Errorf("%+v\n%s", r.Status(), log)
			}
			rows := k.rows(t.Context(), t, k.device)
			switch {
			case c.kind == telemetry.Start && len(rows) != 7, c.kind == telemetry.Interim && rows[0].Down != 7,
				c.kind == telemetry.On && rows[0].Reason != telemetry.ReasonRestarted:
				t.Errorf("%+v", rows)
			}
		})
	}
}

// TestRecorder_ReportsOfASessionThatCannotBeReadWait until somebody has mended it.
func TestRecorder_ReportsOfASessionThatCannotBeReadWait(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	run := func(sql string) {
		if _, err := k.db.Owner.Exec(t.Context(), strings.ReplaceAll(sql, "{schema}", k.schema())); err != nil {
			t.Fatal(err)
		}
	}
	run(`create table {schema}.good as select samples from {schema}.sessions`)
	run(`update {schema}.sessions set samples = ''`)
	mend := func() { run(`update {schema}.sessions s set samples = good.samples from {schema}.good`) }
	r, log, _ := k.rests(t, mend,
		k.at(telemetry.Interim, time.Minute, 7, 7), k.at(telemetry.Stop, time.Hour, 70, 70))
	if got := k.only(t); got.Down != 70 || got.Reason != telemetry.ReasonStopped || r.Status().Dropped != 0 {
		t.Errorf("%+v, %+v", got, r.Status())
	}
	if !strings.Contains(log, "samples of a session are damaged") || !strings.Contains(log, "org_id="+k.org.String()) {
		t.Error(log)
	}
}

// TestRecorder_WhyAnOrganizationWaitsIsTold whatever the database says, although no others report; not for each try.
func TestRecorder_WhyAnOrganizationWaitsIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ code, when string }{
		"a trigger":                            {"P0001", "new.org_id = '{org}'"},
		"what the server cannot do":            {"0A000", "new.org_id = '{org}'"},
		"two rows of one name":                 {"21000", "new.org_id = '{org}'"},
		"a constraint on the organization":     {"23514", "new.org_id = '{org}'"},
		"a pooler that prepares nothing":       {"26000", "true"},
		"a pooler, and all others have passed": {"26000", "new.org_id = '{org}'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			mend := k.fails(t, c.code, strings.ReplaceAll(c.when, "{org}", k.org.String()))
			crowd, calm := k.neighbours(6)
			r, log, took := k.rests(t, mend, append(crowd, calm)...)
			lines := 0
			for line := range strings.Lines(log) {
				if !strings.Contains(line, "accounting of an organization waits") {
					continue
				}
				lines++
				if !strings.Contains(line, c.code) || !strings.Contains(line, "org_id=") ||
					c.when != "true" && !strings.Contains(line, k.org.String()) {
					t.Error(line)
				}
			}
			if most := int(took/(10*time.Second)) + 1; lines == 0 || lines > most {
				t.Errorf("%d lines in %v:\n%s", lines, took, log)
			}
			if n := len(k.rows(t.Context(), t, k.device)); n != 6 || r.Status().Dropped != 0 {
				t.Errorf("%d sessions, %+v", n, r.Status())
			}
		})
	}
}

// TestRecorder_WhyPlainReportsAreRefusedIsTold beside why a report cannot be stored: it waits for the former alone.
func TestRecorder_WhyPlainReportsAreRefusedIsTold(t *testing.T) {
	t.Parallel()
	k := open(t)
	mend := k.fails(t, "P0001", "new.username <> '"+k.at(telemetry.Start, 0, 0, 0).User+"'")
	refuse := strings.ReplaceAll(`alter table {schema}.sessions add constraint short check (bytes_down < 9) not valid`,
		"{schema}", k.schema())
	if _, err := k.db.Owner.Exec(t.Context(), refuse); err != nil {
		t.Fatal(err)
	}
	r, log, _ := k.rests(t, mend, k.at(telemetry.Interim, time.Minute, 9, 9))
	for line := range strings.Lines(log) {
		if strings.Contains(line, "accounting of an organization waits") &&
			(!strings.Contains(line, "23514") || !strings.Contains(line, "P0001")) {
			t.Error(line)
		}
	}
	if r.Status().Dropped != 1 || !strings.Contains(log, "accounting of an organization waits") {
		t.Errorf("%+v\n%s", r.Status(), log)
	}
}
