package telemetry_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// Our clock jumps while a session lives, forwards or backwards, once or twice. Its use is counted once, whether the
// jumps are known or, where that leaves no doubt, follow from the reports.
func TestReports_AJumpOfOurClockCountsNoUseTwice(t *testing.T) {
	t.Parallel()
	k := open(t)
	rapid.Check(t, func(r *rapid.T) {
		device := id.New[id.Device]()
		var sum, unseen time.Duration // of jumps since the session began, and since the latest report
		directory := k.directory()
		directory.Jumps = func() []time.Duration {
			if unseen == 0 {
				return nil
			}
			return []time.Duration{unseen}
		}
		report := k.at(telemetry.Start, 0, 0, 0)
		report.Device = device
		jumpy := rapid.IntRange(1, 10).Draw(r, "first")
		for i := range 12 {
			if i == jumpy || i == jumpy+3 {
				unseen = time.Duration(rapid.IntRange(-48*3600, 48*3600).Draw(r, "jump")) * time.Second
				sum += unseen
			}
			report.Online = time.Duration(i) * 5 * time.Minute
			report.At = noon.Add(report.Online + sum)
			if report.Kind = telemetry.Interim; i == 0 {
				report.Kind = telemetry.Start
			} else if i == 11 {
				report.Kind = telemetry.Stop
			}
			if _, err := k.Commit(t.Context(), directory, []telemetry.Report{report, report}); err != nil {
				r.Fatal(err)
			}
			unseen = 0
			report.Down += uint64(rapid.IntRange(0, 5000).Draw(r, "down"))
		}
		rows := k.rows(t.Context(), t, device)
		used := k.outcome(t.Context(), t, device)
		var days int64
		for _, day := range used.Days {
			days += day.BytesDown
		}
		last := int64(0)
		if len(rows) == 1 {
			last = rows[0].Down
		}
		if len(rows) != 1 || days != last || rows[0].Seconds != 55*60 || rows[0].Ended.IsZero() {
			r.Fatalf("%s, used %d", fmt.Sprint(rows), days)
		}
	})
}

// Nobody has told of the jump, as when the program was off meanwhile: two sessions at the same time would be needed.
func TestReports_AnUnknownJumpWithinASessionIsNoOtherSession(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	k.commit(t, k.at(telemetry.Interim, 2*time.Hour, 1000, 10))
	for i := range 3 {
		after := k.at(telemetry.Interim, 2*time.Hour+time.Duration(i+1)*5*time.Minute, uint64(1100+100*i), 10)
		after.At = after.At.Add(time.Hour)
		k.commit(t, after)
	}
	back := k.at(telemetry.Stop, 3*time.Hour, 2000, 10)
	back.At = back.At.Add(-30 * time.Minute)
	k.commit(t, back)
	if got := k.only(t); got.Down != 2000 || got.Seconds != 3*3600 || !got.Started.Equal(noon) {
		t.Errorf("%+v", got)
	}
	if got := k.usage(t, telemetry.Day); len(got) != 1 || got[0].BytesDown != 2000 {
		t.Errorf("%+v", got)
	}
}

// TestCommit_AVeryLateReportIsBelievedWhereItsSessionProvesIt: the end is when it happened, so that the address was not
// the customer's in between. A router's clock that was set meanwhile proves nothing, and neither does a new session.
func TestCommit_AVeryLateReportIsBelievedWhereItsSessionProvesIt(t *testing.T) {
	t.Parallel()
	const days = 72 * time.Hour
	for name, c := range map[string]struct {
		known      bool
		came, late time.Duration
		ended      time.Duration
	}{
		"the end came three days later":      {true, time.Hour + days, days, time.Hour},
		"the router's clock was set by days": {true, time.Hour, days, time.Hour},
		"the session is not known":           {false, time.Hour + days, days, time.Hour + days},
	} {
		k := open(t)
		if c.known {
			k.commit(t, k.at(telemetry.Start, 0, 0, 0))
		}
		stop := k.at(telemetry.Stop, time.Hour, 5, 5)
		stop.At, stop.Late = noon.Add(c.came), c.late
		k.commit(t, stop)
		if got := k.only(t); !got.Ended.Equal(noon.Add(c.ended)) {
			t.Errorf("%s: it ended %s", name, got.Ended)
		}
	}
}
