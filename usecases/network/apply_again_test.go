package networkcases_test

import (
	"errors"
	"testing"

	"github.com/riverqueue/river"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/simulators/router"
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
		p.inTurn(func() error { return p.workers.ApplyService(t.Context(), job, cause) })
		return p.wire.told()
	}
	late := id.New[id.Run]()
	if told := apply(commands.ApplyService{RunID: late}); len(told) != 0 {
		t.Errorf("the router was called %d times for work that is done: %q", len(told), told[0])
	}
	if names := p.actions(commands.ReconcileCategory, id.Any(late)); len(names) != 0 {
		t.Errorf("a run was recorded: %v", names)
	}
	half := p.begun(service, events.ReconcileApply) // its program died after the report and before the end of the run
	if told := apply(commands.ApplyService{RunID: half}); len(told) != 0 {
		t.Errorf("the router was called %d times for the end of a run", len(told))
	}
	p.ended(half)

	cut := p.begun(service, events.ReconcileApply) // its program died in the middle of a write
	p.Run(t, p.asked().Step("plan"), commands.PlanWrites{RunID: cut, Steps: []events.RouterStep{
		{Path: "ip/pool", Operation: commands.OperationAdd, Name: "x"},
	}})
	if told := apply(commands.ApplyService{RunID: cut}); len(told) == 0 {
		t.Error("the router was not read for a write that was announced")
	}
	const servers = "interface/pppoe-server/server"
	for _, server := range p.router.Snapshot(false)[servers] {
		if _, err := p.router.Do(servers, "remove", router.Item{"numbers": server[".id"]}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := p.services.Reconcile(t.Context(), p.asked(), service)
	if left := p.router.Snapshot(false)[servers]; err != nil || len(left) != 1 {
		t.Errorf("after the request of a person the router has %v, %v", left, err)
	}
}

// inTurn does a job that has to succeed, as the queue does.
func (p *plant) inTurn(work func() error) {
	p.t.Helper()
	if err := turn(work); err != nil {
		p.t.Fatal(err)
	}
}

// turn does a job as the queue does: again while another one still has the router.
func turn(work func() error) error {
	var later *river.JobSnoozeError
	err := work()
	for errors.As(err, &later) {
		err = work()
	}
	return err
}

// begun starts a run over a service, as a program does that dies afterwards.
func (p *plant) begun(service id.Service, kind events.ReconcileKind) id.Run {
	p.t.Helper()
	run := id.New[id.Run]()
	p.shows(networkviews.HistoryName, p.Run(p.t, p.asked().Step("start"), commands.StartReconcile{
		RunID: run, OrgID: p.org, DeviceID: p.device, ServiceID: service, Kind: kind,
	}))
	return run
}

// ended wants the start and the end of a run recorded, and nothing else.
func (p *plant) ended(run id.Run) {
	p.t.Helper()
	if names := p.actions(commands.ReconcileCategory, id.Any(run)); len(names) != 2 {
		p.t.Errorf("recorded of the run that was begun: %v, want its start and its end", names)
	}
}

// A program died after the report of a removal and before the end of the run, and the job comes again.
func TestRemove_AJobThatWasKilledAfterItsReportEndsItsRun(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service := p.active("ether5")
	half := p.begun(service, events.ReconcileRemove)
	for _, command := range []commands.Command{
		commands.RequestRemoval{ServiceID: service, Confirmed: true},
		commands.ReportRemoved{ServiceID: service, RunID: half},
	} {
		p.shows(networkviews.ServicesName, p.Run(t, p.asked().Step(command.CommandName()), command))
	}
	cause := jobs.Cause{OrgID: p.org, JobID: id.New[id.Any](), Attempt: 2}
	job := commands.RemoveService{ServiceID: service, DeviceID: p.device, RunID: half, Generation: 2}
	p.inTurn(func() error { return p.workers.RemoveService(t.Context(), job, cause) })
	p.ended(half)
}

// An apply was killed in the middle, and meanwhile the service was asked to go. The job comes again.
func TestApply_AJobThatWasKilledBeforeARemovalEndsItsRun(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service := p.active("ether5")
	half := p.begun(service, events.ReconcileApply)
	p.shows(networkviews.ServicesName, p.Run(t, p.asked().Step("ask"), commands.RequestRemoval{
		ServiceID: service, Confirmed: true,
	}))
	cause := jobs.Cause{OrgID: p.org, JobID: id.New[id.Any](), Attempt: 2}
	job := commands.ApplyService{ServiceID: service, DeviceID: p.device, RunID: half, Generation: 1}
	p.inTurn(func() error { return p.workers.ApplyService(t.Context(), job, cause) })
	p.ended(half)
}
