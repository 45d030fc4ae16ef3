package telemetry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

func TestSessions_FollowStartInterimStop(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	if got := k.only(t); !got.Ended.IsZero() {
		t.Errorf("after the start: %+v", got)
	}
	k.commit(t, k.at(telemetry.Interim, 5*time.Minute, 5<<32, 7))
	stop := k.at(telemetry.Stop, 6*time.Minute, 6<<32, 9)
	stop.Cause = 4
	k.commit(t, stop)
	want := row{"81000001", "amina", noon, noon.Add(6 * time.Minute), "idle_timeout", 6 << 32, 9, 360}
	if diff := cmp.Diff(want, k.only(t)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestSessions_AStopAloneTellsTheWholeSession(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Stop, time.Hour, 100, 50), k.at(telemetry.Start, 0, 0, 0))
	want := row{"81000001", "amina", noon, noon.Add(time.Hour), telemetry.ReasonStopped, 100, 50, 3600}
	if diff := cmp.Diff(want, k.only(t)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestSessions_ANewOneOfTheSameDeviceEndsTheOldOne(t *testing.T) {
	t.Parallel()
	k := open(t)
	next, other := k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Start, 0, 0, 0)
	next.Session, next.At = "81000002", noon.Add(time.Hour)
	other.Session, other.MAC, other.At = "81000003", "AA:BB:CC:00:11:33", noon.Add(time.Hour)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Interim, 5*time.Minute, 1, 1))
	k.commit(t, next, other)
	k.commit(t, k.at(telemetry.Interim, 10*time.Minute, 2, 2)) // late
	got := k.rows(t.Context(), t, k.device)
	if len(got) != 3 || got[0].Reason != telemetry.ReasonReplaced || !got[0].Ended.Equal(noon.Add(10*time.Minute)) ||
		!got[1].Ended.IsZero() || !got[2].Ended.IsZero() {
		t.Errorf("%+v", got)
	}
}

func TestSessions_OneThatReportsBesideANewerOneIsOpen(t *testing.T) {
	t.Parallel()
	k := open(t)
	report := func(key string, kind telemetry.Kind, started, after time.Duration) {
		r := k.at(kind, after, uint64(after), 1)
		r.Session, r.At = key, noon.Add(started+after)
		k.commit(t, r)
	}
	report("mine", telemetry.Start, 0, 0)
	report("copy", telemetry.Start, 10*time.Minute, 0)
	report("mine", telemetry.Interim, 0, 15*time.Minute) // late, or sent before the newer one began
	if got := k.rows(t.Context(), t, k.device); got[0].Reason != telemetry.ReasonReplaced || got[1].Reason != "" {
		t.Errorf("%+v", got)
	}
	for h := time.Hour; h <= 3*time.Hour; h += time.Hour {
		report("mine", telemetry.Interim, 0, h)
		report("copy", telemetry.Interim, 10*time.Minute, h)
	}
	list, err := k.OpenOf(t.Context(), k.subscriber)
	if err != nil || len(list) != 2 {
		t.Errorf("%d open of two that report, %v; %+v", len(list), err, k.rows(t.Context(), t, k.device))
	}
	report("mine", telemetry.Stop, 0, 4*time.Hour)
	if got := k.rows(t.Context(), t, k.device); got[0].Reason != telemetry.ReasonStopped || got[1].Reason != "" {
		t.Errorf("%+v", got)
	}
}

func TestSessions_ARestartOfTheRouterEndsItsOwnOnly(t *testing.T) {
	t.Parallel()
	k := open(t)
	far := k.at(telemetry.Start, 0, 0, 0)
	far.Device = id.New[id.Device]()
	k.commit(t, k.at(telemetry.Start, 0, 0, 0), far)
	k.commit(t, telemetry.Report{Kind: telemetry.On, Org: k.org, Device: k.device, At: noon.Add(time.Minute)})
	if got := k.only(t); got.Reason != telemetry.ReasonRestarted {
		t.Errorf("%+v", got)
	}
	if got := k.rows(t.Context(), t, far.Device); got[0].Reason != "" {
		t.Errorf("the other router's session has ended: %+v", got)
	}
	k.commit(t, k.at(telemetry.Interim, 5*time.Minute, 1, 1))
	if got := k.only(t); got.Reason != "" || !got.Ended.IsZero() {
		t.Errorf("a session that goes on has ended: %+v", got)
	}
}

func TestSessions_ASilentOneIsLostUntilItIsHeardAgain(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Interim, 5*time.Minute, 1, 1))
	if n, err := k.CloseLost(t.Context(), telemetry.Silence{Since: noon.Add(5 * time.Minute)}); n != 0 || err != nil {
		t.Errorf("%d closed, %v", n, err)
	}
	if n, err := k.CloseLost(t.Context(), telemetry.Silence{Since: noon.Add(6 * time.Minute)}); n != 1 || err != nil {
		t.Errorf("%d closed, %v", n, err)
	}
	k.commit(t, k.at(telemetry.Interim, 5*time.Minute, 1, 1)) // a repeat says nothing new
	if got := k.only(t); got.Reason != telemetry.ReasonLost || !got.Ended.Equal(noon.Add(5*time.Minute)) {
		t.Errorf("%+v", got)
	}
	k.commit(t, k.at(telemetry.Interim, 40*time.Minute, 2, 2))
	if got := k.only(t); got.Reason != "" || !got.Ended.IsZero() || got.Down != 2 {
		t.Errorf("%+v", got)
	}
}

func TestSessions_AnIDThatComesAgainIsAnotherSession(t *testing.T) {
	t.Parallel()
	k := open(t)
	again := k.at(telemetry.Start, 0, 0, 0)
	again.At = noon.Add(24 * time.Hour)
	k.commit(t, k.at(telemetry.Stop, time.Hour, 100, 50))
	k.commit(t, again)
	if got := k.rows(t.Context(), t, k.device); len(got) != 2 || got[0].Down != 100 || got[1].Down != 0 {
		t.Errorf("%+v", got)
	}
}

func TestSessions_AnIDThatComesAgainSoonAfterItsStopIsAnotherSession(t *testing.T) {
	t.Parallel()
	k := open(t)
	stop := k.at(telemetry.Stop, 68*time.Second, 100, 100)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	k.commit(t, stop)
	late := k.at(telemetry.Start, 0, 0, 0)
	late.At = noon.Add(67 * time.Second)
	stop.At = stop.At.Add(100 * time.Second) // repeated by a router that does not tell its delay
	k.commit(t, late, stop)
	if got := k.only(t); !got.Ended.Equal(noon.Add(68*time.Second)) || got.Down != 100 {
		t.Errorf("%+v", got)
	}
	again := k.at(telemetry.Start, 0, 0, 0)
	again.At = noon.Add(195 * time.Second)
	later := k.at(telemetry.Interim, 5*24*time.Hour, 1000, 1000)
	later.At = again.At.Add(later.Online)
	k.commit(t, again)
	k.commit(t, later)
	if got := k.rows(t.Context(), t, k.device); len(got) != 2 || !got[0].Ended.Equal(noon.Add(68*time.Second)) ||
		!got[1].Started.Equal(again.At) || !got[1].Ended.IsZero() || got[1].Down != 1000 {
		t.Errorf("%+v", got)
	}
}

func TestSessions_TheFirstReportOfAnIDThatComesAgainCanBeAnInterim(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Stop, 68*time.Second, 100, 100))
	later := k.at(telemetry.Interim, time.Hour, 1000, 1000)
	later.At = noon.Add(195*time.Second + time.Hour)
	k.commit(t, later)
	if got := k.rows(t.Context(), t, k.device); len(got) != 2 || got[0].Down != 100 || !got[1].Ended.IsZero() {
		t.Errorf("%+v", got)
	}
}

func TestSessions_ASlowClockOfTheRouterMakesNoSecondSession(t *testing.T) {
	t.Parallel()
	k := open(t)
	for day := range 90 {
		r := k.at(telemetry.Interim, time.Duration(day)*24*time.Hour, uint64(day), 0)
		r.At = r.At.Add(time.Duration(day) * 10 * time.Second)
		k.commit(t, r)
	}
	if got := k.only(t); got.Down != 89 {
		t.Errorf("%+v", got)
	}
}

func TestSessions_HostileTextsAndCountersAreStored(t *testing.T) {
	t.Parallel()
	k := open(t)
	r := k.at(telemetry.Interim, 1<<62, 1<<63, 1<<63+5)
	r.At, r.User, r.Called = noon, "a\x00\xff", "\x00"
	k.commit(t, r, r)
	if got := k.only(t); got.User != "a\uFFFD\uFFFD" || got.Down != 1<<50 {
		t.Errorf("%+v", got)
	}
}

func TestSessions_NoTenantReadsAnothersRows(t *testing.T) {
	t.Parallel()
	k := open(t)
	foreign := k.at(telemetry.Start, 0, 0, 0)
	foreign.Org, foreign.Device = id.New[id.Organization](), id.New[id.Device]()
	on := telemetry.Report{Kind: telemetry.On, Org: foreign.Org, Device: foreign.Device, At: noon}
	k.commit(t, k.at(telemetry.Interim, time.Minute, 1, 1), foreign, on)
	tables := k.tables(t)
	for _, table := range tables {
		var orgs []uuid.UUID
		if table == "spools" { // it is of programs, and no tenant reads it at all
			err := k.db.TenantRead(t.Context(), k.org.UUID(), func(r *postgres.Reads) {
				postgres.Collect(r, &orgs, pgx.RowTo[uuid.UUID], "select null::uuid from "+k.schema()+"."+table)
			})
			if err == nil || !strings.Contains(err.Error(), "permission denied") {
				t.Errorf("a tenant reads %s: %v", table, err)
			}
			continue
		}
		err := k.db.TenantRead(t.Context(), k.org.UUID(), func(r *postgres.Reads) {
			postgres.Collect(r, &orgs, pgx.RowTo[uuid.UUID], "select org_id from "+k.schema()+"."+table)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, org := range orgs {
			if org != k.org.UUID() {
				t.Errorf("%s shows a row of another organization", table)
			}
		}
	}
	if len(tables) < 2 {
		t.Errorf("only %v", tables)
	}
}

// tables lists the tables of the schema, without that of the migrations.
func (k *kit) tables(t *testing.T) []string {
	t.Helper()
	rows, err := k.db.Owner.Query(t.Context(), `select table_name::text from information_schema.tables
		where table_schema = $1 and table_name <> 'goose_version'`, k.schema())
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}
