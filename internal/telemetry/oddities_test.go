package telemetry_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// interims commits one report for each value of the counter to the customer, five minutes apart.
func (k *kit) interims(t *testing.T, values ...uint64) row {
	t.Helper()
	for i, value := range values {
		k.commit(t, k.at(telemetry.Interim, time.Duration(i+1)*5*time.Minute, value, 1))
	}
	return k.only(t)
}

// TestUsage_ALowerCounterCountsNothing: a counter begins again only with another session.
func TestUsage_ALowerCounterCountsNothing(t *testing.T) {
	t.Parallel()
	const large = 2_600_000_000
	for name, c := range map[string]struct {
		values []uint64
		want   int64
	}{
		"a little lower":          {[]uint64{large, large - 50_000}, large},
		"lower six times":         {[]uint64{5e9, 5e9 - 1, 5e9 - 2, 5e9 - 3, 5e9 - 4, 5e9 - 5}, 5e9},
		"lower, then higher":      {[]uint64{large, large - 50_000, large + 7}, large + 7},
		"without counters":        {[]uint64{large, 0, large + 7}, large + 7},
		"much lower":              {[]uint64{1000, 200, 500, 499}, 1000},
		"without counters at max": {[]uint64{1<<32 - 5, 0, 1<<32 - 1}, 1<<32 - 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := open(t).interims(t, c.values...); got.Down != c.want {
				t.Errorf("%d octets are counted, not %d", got.Down, c.want)
			}
		})
	}
}

// TestUsage_ACounterOf32BitsThatIsFullGoesOn: of a router that sends no Gigawords, as far as its line can carry so
// much.
func TestUsage_ACounterOf32BitsThatIsFullGoesOn(t *testing.T) {
	t.Parallel()
	k := open(t)
	if got := k.interims(t, 4_294_000_000, 500_000, 700_000); got.Down != 1<<32+700_000 {
		t.Errorf("%d octets are counted", got.Down)
	}
	k = open(t)
	soon := k.at(telemetry.Stop, 5*time.Minute+time.Second, 1_000_000_000, 1) // a gigabyte in a second
	k.commit(t, k.at(telemetry.Interim, 5*time.Minute, 4_200_000_000, 1), soon)
	if got := k.only(t); got.Down != 4_200_000_000 {
		t.Errorf("%d octets are counted of a line that cannot carry them", got.Down)
	}
	k = open(t)
	wide := k.at(telemetry.Interim, 10*time.Minute, 500_000, 1)
	wide.Gigawords = true
	k.commit(t, k.at(telemetry.Interim, 5*time.Minute, 4_294_000_000, 1), wide)
	if got := k.only(t); got.Down != 4_294_000_000 {
		t.Errorf("%d octets are counted of a router that sends Gigawords", got.Down)
	}
}

// TestSessions_ATimeThatGoesBackAloneMakesNoOtherSession: the counters go on, or it would have been beside the first.
func TestSessions_ATimeThatGoesBackAloneMakesNoOtherSession(t *testing.T) {
	t.Parallel()
	for name, online := range map[string]time.Duration{
		"by ten minutes": 55 * time.Minute, "to nearly nothing": time.Minute, "is not told": 0,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			k.commit(t, k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Interim, time.Hour, 1000, 100))
			for n := range 3 {
				back := k.at(telemetry.Interim, 65*time.Minute+time.Duration(n)*5*time.Minute, 1100+uint64(n), 110)
				if back.Online = 0; online > 0 {
					back.Online = online + time.Duration(n)*5*time.Minute
				}
				k.commit(t, back)
			}
			want := row{"81000001", "amina", noon, time.Time{}, "", 1102, 110, 75 * 60}
			if got := k.only(t); got != want {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestSessions_ATimeOfNearlyNothingWithLowerCountersIsAnotherSession: the router has restarted and tells no start.
func TestSessions_ATimeOfNearlyNothingWithLowerCountersIsAnotherSession(t *testing.T) {
	t.Parallel()
	k := open(t)
	again := k.at(telemetry.Interim, time.Minute, 50, 5)
	again.At = noon.Add(65 * time.Minute)
	k.commit(t, k.at(telemetry.Interim, time.Hour, 1000, 100))
	k.commit(t, again)
	got := k.rows(t.Context(), t, k.device)
	if len(got) != 2 || got[0].Reason != telemetry.ReasonReplaced || got[0].Down+got[1].Down != 1050 {
		t.Errorf("%+v", got)
	}
}

// TestSessions_OneThatIsReportedLongAfterItsStopIsOpen: what is counted is shown online, in whatever order it comes.
func TestSessions_OneThatIsReportedLongAfterItsStopIsOpen(t *testing.T) {
	t.Parallel()
	k := open(t)
	stop := k.at(telemetry.Stop, 10*time.Minute, 1000, 1)
	later := []telemetry.Report{
		k.at(telemetry.Interim, 25*time.Minute, 5000, 1), k.at(telemetry.Interim, 30*time.Minute, 6000, 1),
	}
	k.commit(t, stop)
	k.commit(t, later[0])
	if got := k.only(t); !got.Ended.IsZero() || got.Down != 5000 {
		t.Errorf("after a later report %+v", got)
	}
	k.commit(t, stop, later[1])
	if got := k.only(t); !got.Ended.IsZero() || got.Down != 6000 {
		t.Errorf("after the stop came again %+v", got)
	}
	end := k.at(telemetry.Stop, 40*time.Minute, 7000, 1)
	end.Cause = 1
	k.commit(t, end)
	want := row{"81000001", "amina", noon, noon.Add(40 * time.Minute), "user_request", 7000, 1, 2400}
	if got := k.only(t); got != want {
		t.Errorf("after the second stop %+v", got)
	}
	all := open(t)
	all.commit(t, all.at(telemetry.Stop, 10*time.Minute, 1000, 1), all.at(telemetry.Interim, 25*time.Minute, 5000, 1),
		all.at(telemetry.Stop, 40*time.Minute, 7000, 1))
	if got := all.only(t); !got.Ended.Equal(noon.Add(40 * time.Minute)) {
		t.Errorf("in one group %+v", got)
	}
}

// TestSessions_AReportJustAfterTheStopOpensNothing: it was under way, and a stop without counters takes nothing back.
func TestSessions_AReportJustAfterTheStopOpensNothing(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Interim, 5*time.Minute, 1000, 1), k.at(telemetry.Stop, 10*time.Minute, 0, 0))
	k.commit(t, k.at(telemetry.Interim, 10*time.Minute+10*time.Second, 1500, 1))
	if got := k.only(t); !got.Ended.Equal(noon.Add(10*time.Minute)) || got.Down != 1500 {
		t.Errorf("%+v", got)
	}
}
