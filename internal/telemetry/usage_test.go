package telemetry_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// zone loads a zone by name.
func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// march is a day of March 2026.
func march(day int) calendar.Date { return calendar.Date{Year: 2026, Month: time.March, Day: day} }

// usage reads rollups of the kit's subscriber.
func (k *kit) usage(t *testing.T, step telemetry.Step) []telemetry.UsageRow {
	t.Helper()
	list, err := k.Usage(t.Context(), k.org, telemetry.UsageOf{Subscriber: k.subscriber}, step, someDay, march(31))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// used is the use of the kit's subscription from a day on, in bytes of both directions.
func (k *kit) used(t *testing.T, from calendar.Date) (sum int64) {
	t.Helper()
	rows, err := k.Usage(t.Context(), k.org, telemetry.UsageOf{Subscription: k.subscription}, telemetry.Day, from,
		from.AddDays(365))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		sum += row.BytesDown + row.BytesUp
	}
	return sum
}

func TestUsage_ASessionOverMidnightsIsSplitByItsReports(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.zone = zone(t, "America/New_York") // 8 March 2026 has 23 hours there
	began := march(7).At(23*60, k.zone)
	for i := 0; i <= 26; i++ { // one report an hour: 00:00 on the 8th, …, 00:00 on the 9th after 24 hours
		r := k.at(telemetry.Interim, time.Duration(i)*time.Hour, uint64(i)*100, uint64(i))
		r.At = began.Add(time.Duration(i) * time.Hour)
		k.commit(t, r)
	}
	want := []telemetry.UsageRow{
		{march(7), 0, 0, 3600}, {march(8), 23 * 100, 23, 23 * 3600}, {march(9), 3 * 100, 3, 2 * 3600},
	}
	if diff := cmp.Diff(want, k.usage(t, telemetry.Day)); diff != "" {
		t.Errorf("days, -want +got\n%s", diff)
	}
	want = []telemetry.UsageRow{{march(1), 26 * 100, 26, 26 * 3600}}
	if diff := cmp.Diff(want, k.usage(t, telemetry.Month)); diff != "" {
		t.Errorf("months, -want +got\n%s", diff)
	}
	if used := k.used(t, march(9)); used != 303 {
		t.Errorf("used %d", used)
	}
}

func TestUsage_TimeOnlineIsThatOfTheDaysBeforeTheReport(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.zone = zone(t, "Africa/Nairobi")
	began := march(3).At(20*60, k.zone)
	told := func(after time.Duration) telemetry.Report {
		r := k.at(telemetry.Interim, after, uint64(after/time.Hour), 0)
		r.At = began.Add(after)
		return r
	}
	k.commit(t, told(60*time.Hour)) // the first that is heard, at 8:00 on the 6th
	want := []telemetry.UsageRow{
		{march(3), 0, 0, 4 * 3600}, {march(4), 0, 0, 24 * 3600}, {march(5), 0, 0, 24 * 3600},
		{march(6), 60, 0, 8 * 3600},
	}
	if diff := cmp.Diff(want, k.usage(t, telemetry.Day)); diff != "" {
		t.Errorf("after a silence, -want +got\n%s", diff)
	}
	k.commit(t, told(30*time.Hour)) // a report that was kept for a while takes back its part of the later one
	want[2].BytesDown, want[3].BytesDown = 30, 30
	if diff := cmp.Diff(want, k.usage(t, telemetry.Day)); diff != "" {
		t.Errorf("after a late report, -want +got\n%s", diff)
	}
}

func TestUsage_TimeOnlineThatARouterInventsChangesFewDays(t *testing.T) {
	t.Parallel()
	k := open(t)
	r := k.at(telemetry.Interim, 10*365*24*time.Hour, 5, 5)
	r.At = march(20).At(12*60, time.UTC)
	k.commit(t, r)
	list, err := k.Usage(t.Context(), k.org, telemetry.UsageOf{Subscriber: k.subscriber}, telemetry.Day,
		march(20).AddDays(-4000), march(31))
	if err != nil {
		t.Fatal(err)
	}
	want := []telemetry.UsageRow{
		{march(16), 0, 0, (3650*24 - 84) * 3600}, {march(17), 0, 0, 24 * 3600}, {march(18), 0, 0, 24 * 3600},
		{march(19), 0, 0, 24 * 3600}, {march(20), 5, 5, 12 * 3600},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestUsage_SurvivesANewSessionIDAndAnotherRouter(t *testing.T) {
	t.Parallel()
	k := open(t)
	next := k.at(telemetry.Stop, time.Hour, 50, 5)
	next.Session, next.At = "81000002", noon.Add(4*time.Hour)
	k.commit(t, k.at(telemetry.Stop, time.Hour, 100, 10))
	k.commit(t, next)
	if used := k.used(t, march(2)); used != 165 {
		t.Errorf("used %d", used)
	}
}

func TestUsage_TotalsAreToldAfterEachCommit(t *testing.T) {
	t.Parallel()
	k := open(t)
	var mu sync.Mutex
	var told []telemetry.Used
	r := telemetry.NewRecorder(telemetry.Config{
		Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir(), Used: func(list []telemetry.Used) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, list...)
		},
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	for i := range 2 {
		record(r, k.at(telemetry.Interim, time.Duration(i+1)*time.Minute, uint64(i+1)*10, uint64(i+1)))
	}
	record(r, k.at(telemetry.Interim, 2*time.Minute, 20, 2)) // a repeat
	mu.Lock()
	defer mu.Unlock()
	slices.SortFunc(told, func(a, b telemetry.Used) int { return int(a.Bytes-b.Bytes)*2 + len(a.Step) - len(b.Step) })
	want := []telemetry.Used{
		{k.org, k.subscription, telemetry.Day, march(2), 11}, {k.org, k.subscription, telemetry.Month, march(1), 11},
		{k.org, k.subscription, telemetry.Day, march(2), 22}, {k.org, k.subscription, telemetry.Month, march(1), 22},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// full are stops of further sessions of the kit's customer with counters at their bound.
func (k *kit) full(from, n int) (list []telemetry.Report) {
	for i := range n {
		r := k.at(telemetry.Stop, time.Minute, 1<<50, 1<<50)
		r.Session, r.MAC = fmt.Sprintf("full%d", from+i), fmt.Sprintf("02:00:00:00:00:%02X", from+i)
		list = append(list, r)
	}
	return list
}

// TestUsage_WhatARouterCountsWithoutEndIsBounded: of a rollup, of a session, and of all subscriptions of a customer.
func TestUsage_WhatARouterCountsWithoutEndIsBounded(t *testing.T) {
	t.Parallel()
	k := open(t)
	const most = 1 << 56
	k.commit(t, k.full(0, 65)...)
	const old = ".usage set bytes_up = 9223372036854775807" // of a program before the bound
	if _, err := k.db.Owner.Exec(t.Context(), "update "+k.schema()+old); err != nil {
		t.Fatal(err)
	}
	done, err := k.Commit(t.Context(), k.directory(), k.full(65, 1))
	if err != nil || len(done.Used) != 2 || done.Used[0].Bytes != 2*most || done.Used[1].Bytes != 2*most {
		t.Errorf("one more: %+v, %v", done.Used, err)
	}
	k.commit(t, k.at(telemetry.Stop, time.Minute, 7, 7))
	day := calendar.On(noon, time.UTC)
	if used := k.used(t, day); used != 2*most {
		t.Errorf("used %d", used)
	}
	for i := range 65 { // counters that fall without a new session add nothing
		r := k.at(telemetry.Interim, time.Duration(2*i+1)*time.Minute, 1<<50, 0)
		r.Device = id.As[id.Device](k.org)
		zero := r
		zero.Down, zero.Online, zero.At = 0, r.Online+time.Minute, r.At.Add(time.Minute)
		k.commit(t, r, zero)
	}
	if got := k.rows(t.Context(), t, id.As[id.Device](k.org)); len(got) != 1 || got[0].Down != 1<<50 {
		t.Errorf("a session has %+v", got)
	}
	if _, err := k.db.Owner.Exec(t.Context(), `insert into `+k.schema()+`.usage select org_id, subscriber_id,
		gen_random_uuid(), step, starts, bytes_down, bytes_up, seconds
		from `+k.schema()+`.usage, generate_series(1, 70)`); err != nil {
		t.Fatal(err)
	}
	rows, err := k.Usage(t.Context(), k.org, telemetry.UsageOf{Subscriber: k.subscriber}, telemetry.Day, day,
		day.AddDays(1))
	if err != nil || len(rows) != 1 || rows[0].BytesDown != 1<<62 {
		t.Errorf("of all subscriptions %+v, %v", rows, err)
	}
}
