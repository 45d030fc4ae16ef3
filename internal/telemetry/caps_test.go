package telemetry_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

func TestTotals_AreThoseOfAnOrganizationInOneRollup(t *testing.T) {
	t.Parallel()
	k := open(t)
	next := k.at(telemetry.Interim, 26*time.Hour, 700, 70)
	k.commit(t, k.at(telemetry.Interim, time.Hour, 100, 10), next)
	day := calendar.On(noon, time.UTC)
	want := func(what string, org id.Organization, step telemetry.Step, starts calendar.Date, bytes ...int64) {
		t.Helper()
		var list []telemetry.Used
		for _, b := range bytes {
			list = append(list, telemetry.Used{
				Org: org, Subscription: k.subscription, Step: step, Starts: starts, Bytes: b,
			})
		}
		got, err := k.Totals(t.Context(), org, step, starts)
		if diff := cmp.Diff(list, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v %s", what, err, diff)
		}
	}
	want("the first day", k.org, telemetry.Day, day, 110)
	want("the second day", k.org, telemetry.Day, day.AddDays(1), 660)
	want("the month", k.org, telemetry.Month, telemetry.Month.Begin(day), 770)
	want("the month before", k.org, telemetry.Month, telemetry.Month.Begin(day.AddDays(-40)))
	want("another organization", id.New[id.Organization](), telemetry.Day, day)
}

func TestFirstSession_IsTheOldestOfTheSubscription(t *testing.T) {
	t.Parallel()
	k := open(t)
	first := func(org id.Organization, subscription id.Subscription) time.Time {
		t.Helper()
		at, err := k.FirstSession(t.Context(), org, k.subscriber, subscription)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	if at := first(k.org, k.subscription); !at.IsZero() {
		t.Errorf("without a session: %v", at)
	}
	older := k.at(telemetry.Stop, time.Hour, 1, 1)
	older.Session, older.At = "80000001", noon.Add(-47*time.Hour)
	k.commit(t, k.at(telemetry.Interim, time.Hour, 100, 10), older)
	if at := first(k.org, k.subscription); !at.Equal(noon.Add(-48 * time.Hour)) {
		t.Errorf("first: %v", at)
	}
	if at := first(k.org, id.New[id.Subscription]()); !at.IsZero() {
		t.Errorf("another subscription: %v", at)
	}
	if at := first(id.New[id.Organization](), k.subscription); !at.IsZero() {
		t.Errorf("another organization: %v", at)
	}
}
