package networkcases_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// TestReconcile_AnExecutionThatRepeatsAnAttemptIsRecordedInFull: a move of the clock cancels work on a slow router, and
// the job begins again with the same number of attempt. All writes of both executions are in the run's record.
func TestReconcile_AnExecutionThatRepeatsAnAttemptIsRecordedInFull(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service := p.active("ether5")
	for _, menu := range []string{"ip/pool", "ppp/profile", "interface/pppoe-server/server"} {
		for _, item := range p.router.Snapshot(false)[menu] {
			if strings.Contains(item["name"]+item["service-name"], service.String()[:8]) {
				if _, err := p.router.Do(menu, "set",
					router.Item{".id": item[".id"], "comment": "changed"}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	job := commands.ReconcileDevice{DeviceID: p.device, RunID: id.New[id.Run]()}
	cause := jobs.Cause{OrgID: p.org, JobID: id.New[id.Any](), Attempt: 1}
	ctx, cancel := context.WithCancel(t.Context())
	p.wire.watch(func(request string) {
		if strings.HasPrefix(request, "PATCH") {
			cancel() // all writes are announced; this one gets through and is recorded
		}
	})
	first := turn(func() error { return p.workers.ReconcileDevice(ctx, job, cause) })
	if !errors.Is(first, context.Canceled) {
		t.Fatalf("the first execution ended with %v", first)
	}
	p.wire.watch(nil)
	p.inTurn(func() error { return p.workers.ReconcileDevice(t.Context(), job, cause) })
	if got := p.writes(job.RunID); len(got) != 3 {
		t.Errorf("recorded are %v", got)
	}
}
