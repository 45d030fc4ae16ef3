package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// TestAuditor_NoDifferenceHasTheCodeOfAVoucher: it has the voucher's id, as the list of vouchers has it.
func TestAuditor_NoDifferenceHasTheCodeOfAVoucher(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	plan, server := w.hotspot("day")
	made := w.must(w.admin, "POST", "/vouchers", map[string]any{"planId": plan, "count": 1, "prefix": "CAFE"})
	w.losesReports(true)
	const mac = "02:00:00:00:00:01"
	p := phones{k: w.kit, r: w.r, server: server, code: made["codes"].([]any)[0].(string)}
	w.eventually("sign-in", func(context.Context) (bool, error) {
		got := p.signIn(mac, "")
		return got.Outcome == handset.Accepted, fmt.Errorf("%+v", got)
	})
	w.later(3 * time.Minute)
	w.says(w.shows(w.r, "a session of a voucher", "unknown_session")["unknown_session"], "a session that is reported",
		"RADIUS let in the voucher "+w.all(w.admin, "/vouchers")[0].text("id")+", device "+mac+
			", and no session of it was reported")
}
