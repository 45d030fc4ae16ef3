package telemetry_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// someDay is before all stories.
var someDay = calendar.Date{Year: 2026, Month: time.January, Day: 1}

// told draws what one router tells in order: sessions of two users, some with counters that begin again, some without
// a stop, and restarts of the router. At most eight reports are about one session.
func told(t *rapid.T, org id.Organization, device id.Device) []telemetry.Report {
	var list []telemetry.Report
	for _, user := range []string{"amina", "brian"} {
		at := noon.Add(6 * time.Hour)
		for n := range rapid.IntRange(1, 4).Draw(t, "sessions") {
			session := fmt.Sprintf("81%06x", n%3) // the fourth has the name of the first
			at = at.Add(time.Duration(rapid.IntRange(1, 3600).Draw(t, "gap")) * time.Second)
			r := telemetry.Report{Kind: telemetry.Start, Org: org, Device: device, Session: session, User: user, At: at}
			list = append(list, r)
			interims, stops := rapid.IntRange(3, 6).Draw(t, "interims"), rapid.Bool().Draw(t, "stops")
			for i := range interims {
				at = at.Add(1800 * time.Second)
				r.Kind, r.At, r.Online = telemetry.Interim, at, time.Duration(i+1)*1800*time.Second
				if rapid.IntRange(0, 4).Draw(t, "counters") == 0 {
					r.Down, r.Up = 0, 0
				}
				r.Down += uint64(rapid.IntRange(0, 5000).Draw(t, "down"))
				r.Up += uint64(rapid.IntRange(0, 5000).Draw(t, "up"))
				list = append(list, r)
			}
			if stops || n == 0 { // a name that comes again was ended: see AnIDThatComesAgainIsAnotherSession
				at = at.Add(60 * time.Second)
				r.Kind, r.At, r.Online, r.Cause = telemetry.Stop, at, r.Online+60*time.Second, 1
				list = append(list, r)
			}
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "restarts") {
		after := time.Duration(rapid.IntRange(0, 86400).Draw(t, "restart")) * time.Second
		list = append(list, telemetry.Report{Kind: telemetry.On, Org: org, Device: device, At: noon.Add(after)})
	}
	slices.SortStableFunc(list, func(a, b telemetry.Report) int { return a.At.Compare(b.At) })
	return list
}

// outcome has everything that the reports of a router add up to.
type outcome struct {
	Sessions []row
	Days     []telemetry.UsageRow
	Months   []telemetry.UsageRow
}

// outcome reads what the reports of a router added up to.
func (k *kit) outcome(ctx context.Context, t testing.TB, device id.Device) outcome {
	out := outcome{Sessions: k.rows(ctx, t, device)}
	for step, into := range map[telemetry.Step]*[]telemetry.UsageRow{
		telemetry.Day: &out.Days, telemetry.Month: &out.Months,
	} {
		of := telemetry.UsageOf{Subscription: id.As[id.Subscription](device)}
		list, err := k.Usage(ctx, k.org, of, step, someDay, someDay.AddDays(400))
		if err != nil {
			t.Fatal(err)
		}
		*into = slices.DeleteFunc(list, func(u telemetry.UsageRow) bool { // a repeat took its part back
			return u.BytesDown == 0 && u.BytesUp == 0 && u.Seconds == 0
		})
	}
	return out
}

func TestReports_LostRepeatedAndReorderedOnesGiveTheSameSessions(t *testing.T) {
	t.Parallel()
	k := open(t)
	rapid.Check(t, func(r *rapid.T) {
		ordered, mixed := id.New[id.Device](), id.New[id.Device]()
		reports := told(r, k.org, ordered)
		reports = slices.DeleteFunc(reports, func(telemetry.Report) bool {
			return rapid.IntRange(0, 5).Draw(r, "lost") == 0
		})
		var arriving []telemetry.Report
		for _, report := range reports {
			if _, err := k.Commit(t.Context(), k.directory(), []telemetry.Report{report}); err != nil {
				r.Fatal(err)
			}
			report.Device = mixed
			arriving = append(arriving, report)
			if report.Kind != telemetry.On && rapid.IntRange(0, 3).Draw(r, "repeat") == 0 {
				report.At = report.At.Add(time.Duration(rapid.IntRange(0, 9).Draw(r, "late")) * time.Second)
				arriving = append(arriving, report)
			}
		}
		arriving = rapid.Permutation(arriving).Draw(r, "order")
		for len(arriving) > 0 {
			n := min(len(arriving), rapid.IntRange(1, 12).Draw(r, "group"))
			if _, err := k.Commit(t.Context(), k.directory(), arriving[:n]); err != nil {
				r.Fatal(err)
			}
			arriving = arriving[n:]
		}
		want, got := k.outcome(t.Context(), t, ordered), k.outcome(t.Context(), t, mixed)
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatalf("in order -, as they arrived +\n%s", diff)
		}
	})
}
