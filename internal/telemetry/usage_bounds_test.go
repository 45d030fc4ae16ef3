package telemetry_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// mostUsed is the bound of what a session or a rollup adds up to, in one direction.
const mostUsed = 1 << 56

// bounded commits reports and fails when anything that is read afterwards is beyond the bounds of sums.
func (k *kit) bounded(t *testing.T, when string, reports ...telemetry.Report) {
	t.Helper()
	done, err := k.Commit(t.Context(), k.directory(), reports)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	within := func(what string, most int64, all ...int64) {
		t.Helper()
		for _, n := range all {
			if n < 0 || n > most {
				t.Errorf("%s: %s has %d", when, what, all)
				return
			}
		}
	}
	for _, one := range done.Used {
		within("what is told", 2*mostUsed, one.Bytes)
	}
	for _, one := range k.rows(t.Context(), t, k.device) {
		within("a session", mostUsed, one.Down, one.Up, one.Seconds)
	}
	day := calendar.On(noon, time.UTC)
	for _, of := range []telemetry.UsageOf{{Subscriber: k.subscriber}, {Subscription: k.subscription}} {
		for _, step := range []telemetry.Step{telemetry.Day, telemetry.Month} {
			rows, err := k.Usage(t.Context(), k.org, of, step, day, day.AddDays(60))
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			for _, one := range rows {
				within(string(step), mostUsed, one.BytesDown, one.BytesUp, one.Seconds)
			}
			totals, err := k.Totals(t.Context(), k.org, step, step.Begin(day))
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			for _, one := range totals {
				within("total", 2*mostUsed, one.Bytes)
			}
		}
	}
}

// counted is report j of session i of the kit's customer.
func (k *kit) counted(i, j int, bytes uint64) telemetry.Report {
	r := k.at(telemetry.Interim, time.Duration(10+j)*time.Second, bytes, bytes)
	r.Session, r.MAC = fmt.Sprintf("n%d", i), fmt.Sprintf("02:00:01:00:%02X:%02X", i>>8, i&255)
	return r
}

// TestUsage_WhatIsTakenBackStaysWithinTheBounds: counters that begin again with each report add up to more than counts,
// and with the same times online and more bytes they have not begun again.
func TestUsage_WhatIsTakenBackStaysWithinTheBounds(t *testing.T) {
	t.Parallel()
	const sessions, reports, unit = 40, 8, 1 << 50
	k := open(t)
	var up, down []telemetry.Report
	for i := range sessions {
		for j := range reports {
			up = append(up, k.counted(i, j, uint64(unit-j)))
			if j > 0 {
				down = append(down, k.counted(i, j, unit))
			}
		}
	}
	k.bounded(t, "added", up...)
	k.bounded(t, "taken back", down[:len(down)/2]...)
	k.bounded(t, "taken back again", down[len(down)/2:]...)
	k.bounded(t, "later", k.counted(sessions, 0, 7))
	if _, err := k.db.Owner.Exec(t.Context(), "delete from "+k.schema()+".usage"); err != nil { // it was too old
		t.Fatal(err)
	}
	k.bounded(t, "taken back from nothing", k.counted(0, 1, 1), k.counted(sessions, 0, 8))
	for _, old := range []string{"-9223372036854775808", "9223372036854775807"} { // of a program before the bounds
		if _, err := k.db.Owner.Exec(t.Context(), "update "+k.schema()+
			".usage set bytes_down = "+old+", bytes_up = "+old+", seconds = "+old); err != nil {
			t.Fatal(err)
		}
		if totals, err := k.Totals(t.Context(), k.org, telemetry.Month, march(1)); err != nil || len(totals) != 1 {
			t.Errorf("totals of %s: %v, %v", old, totals, err)
		}
		k.usage(t, telemetry.Day)
		k.bounded(t, "after "+old, k.counted(sessions+1, len(old), unit))
	}
}

// TestUsage_RandomReportsStayWithinTheBounds: of sessions with any counters in any order.
func TestUsage_RandomReportsStayWithinTheBounds(t *testing.T) {
	t.Parallel()
	k, random := open(t), rand.New(rand.NewPCG(17, 1))
	for n := range 12 {
		var list []telemetry.Report
		for range 200 {
			r := k.counted(random.IntN(12), random.IntN(20), random.Uint64()>>random.IntN(64))
			if random.IntN(8) == 0 {
				r.At = r.At.Add(time.Duration(random.IntN(48)) * time.Hour)
			}
			list = append(list, r)
		}
		k.bounded(t, fmt.Sprintf("group %d", n), list...)
	}
}
