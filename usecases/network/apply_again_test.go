package networkcases_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// Several jobs may wait for one service: after each of some quick changes, or where an older program asked again and
// again. The first one does the work of all; the others must not read the whole router once more each.
func TestApply_AJobWhoseWorkIsDoneDoesNotCallTheRouter(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service := p.active("ether5")
	row := p.row(service)
	apply := func(job commands.ApplyService) []string {
		t.Helper()
		job.ServiceID, job.DeviceID, job.Generation = service, p.device, row.Generation
		p.wire.watch(nil)
		cause := jobs.Cause{OrgID: p.org, JobID: id.New[id.Any](), Attempt: 1}
		if err := p.workers.ApplyService(t.Context(), job, cause); err != nil {
			t.Fatal(err)
		}
		return p.wire.told()
	}
	late := id.New[id.Run]()
	if told := apply(commands.ApplyService{RunID: late}); len(told) != 0 {
		t.Errorf("the router was called %d times for work that is done: %q", len(told), told[0])
	}
	if names := p.actions(commands.ReconcileCategory, id.Any(late)); len(names) != 0 {
		t.Errorf("a run was recorded: %v", names)
	}
	if told := apply(commands.ApplyService{RunID: id.New[id.Run](), Anyway: true}); len(told) == 0 {
		t.Error("the router was not read for a person")
	}

	half := id.New[id.Run]() // its program died after the report and before the end of the run
	done := p.Run(t, p.asked().Step("start"), commands.StartReconcile{
		RunID: half, OrgID: p.org, DeviceID: p.device, ServiceID: service, Kind: events.ReconcileApply,
	})
	p.shows(networkviews.HistoryName, done)
	apply(commands.ApplyService{RunID: half})
	if names := p.actions(commands.ReconcileCategory, id.Any(half)); len(names) != 2 {
		t.Errorf("recorded of the run that was begun: %v, want its start and its end", names)
	}
}
