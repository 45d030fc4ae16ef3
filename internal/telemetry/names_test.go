package telemetry_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// taken is the use of all in the tables, and the number of sessions of the kit's router.
func (k *kit) taken(t *testing.T) (octets int64, sessions int) {
	t.Helper()
	sql := "select coalesce(sum(bytes_down), 0)::bigint from " + k.schema() + ".usage where step = 'month'"
	if err := k.db.Owner.QueryRow(t.Context(), sql).Scan(&octets); err != nil {
		t.Fatal(err)
	}
	return octets, len(k.rows(t.Context(), t, k.device))
}

// TestCommit_ReportsThatComeAgainChangeNothingHoweverManyHaveTheirName: long after they were written, in another order.
func TestCommit_ReportsThatComeAgainChangeNothingHoweverManyHaveTheirName(t *testing.T) {
	t.Parallel()
	k := open(t)
	var list []telemetry.Report
	for i := range 12 {
		start := time.Duration(i) * 20 * time.Minute
		for n, kind := range []telemetry.Kind{telemetry.Start, telemetry.Interim, telemetry.Stop} {
			one := k.at(kind, time.Duration(n)*5*time.Minute, uint64(n)*500, 1)
			if one.At = one.At.Add(start); kind == telemetry.Interim && i%2 == 0 {
				one.Online, one.Down = 0, 0 // a router that tells no time
			}
			list = append(list, one)
		}
	}
	late := k.at(telemetry.Interim, 7*time.Minute, 700, 1) // told two days later
	late.At, late.Late = late.At.Add(48*time.Hour), 48*time.Hour
	list = append(list, late)
	for _, one := range list {
		k.commit(t, one)
	}
	before := k.rows(t.Context(), t, k.device)
	if octets, _ := k.taken(t); octets != 12_000 || len(before) != 12 {
		t.Fatalf("%d octets in %d sessions", octets, len(before))
	}
	for i := range list {
		k.commit(t, list[i*7%len(list)])
	}
	k.commit(t, list...)
	after := k.rows(t.Context(), t, k.device)
	for i, one := range after {
		if i >= len(before) || one != before[i] {
			t.Errorf("session %d is %+v", i, one)
		}
	}
	if octets, _ := k.taken(t); octets != 12_000 {
		t.Errorf("%d octets are counted", octets)
	}
}
