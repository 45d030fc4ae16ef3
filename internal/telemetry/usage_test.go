package telemetry_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/calendar"
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
		{march(8), 23 * 100, 23, 23 * 3600}, {march(9), 3 * 100, 3, 3 * 3600},
	}
	if diff := cmp.Diff(want, k.usage(t, telemetry.Day)); diff != "" {
		t.Errorf("days, -want +got\n%s", diff)
	}
	want = []telemetry.UsageRow{{march(1), 26 * 100, 26, 26 * 3600}}
	if diff := cmp.Diff(want, k.usage(t, telemetry.Month)); diff != "" {
		t.Errorf("months, -want +got\n%s", diff)
	}
	if used, err := k.UsedSince(t.Context(), k.org, k.subscription, march(9)); used != 303 || err != nil {
		t.Errorf("used %d, %v", used, err)
	}
}

func TestUsage_SurvivesANewSessionIDAndAnotherRouter(t *testing.T) {
	t.Parallel()
	k := open(t)
	next := k.at(telemetry.Stop, time.Hour, 50, 5)
	next.Session, next.At = "81000002", noon.Add(4*time.Hour)
	k.commit(t, k.at(telemetry.Stop, time.Hour, 100, 10))
	k.commit(t, next)
	if used, err := k.UsedSince(t.Context(), k.org, k.subscription, march(2)); used != 165 || err != nil {
		t.Errorf("used %d, %v", used, err)
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
