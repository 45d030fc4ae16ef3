package networkcases_test

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/network"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// unchecked checks the router for drift, and gives why it could not be compared; nil when it was.
func (p *plant) unchecked() *networkviews.Unchecked {
	p.t.Helper()
	p.inTurn(func() error {
		cause := jobs.Cause{OrgID: p.org, JobID: id.New[id.Any]()}
		return p.workers.CheckDrift(p.t.Context(), commands.CheckDrift{DeviceID: p.device}, cause)
	})
	recorded, err := p.Store.Read(p.t.Context(), commands.DeviceCategory+"-"+p.device.String(), 0)
	if err != nil {
		p.t.Fatal(err)
	}
	coretest.WaitFor(p.t, p.views, recorded[len(recorded)-1].Position, networkviews.DevicesName)
	row, err := p.runs.Devices.Get(p.t.Context(), p.org, p.device)
	if err != nil || row == nil {
		p.t.Fatalf("%+v, %v", row, err)
	}
	return row.DriftUnchecked
}

// A router that answers polls and cannot be compared is not silently left out: its row says so until a check succeeds.
func TestDrift_ARouterThatCannotBeComparedIsTold(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.active("ether5")
	if got := p.unchecked(); got != nil {
		t.Errorf("at the start: %+v", got)
	}
	p.router.SetFaults(router.Faults{Unauthorized: true})
	want := "The router does not accept the API user name or password."
	for range 2 {
		if got := p.unchecked(); got == nil || got.Error != want || !got.Since.Equal(p.firstTold(want)) {
			t.Errorf("without a login: %+v", got)
		}
	}
	query := networkviews.DevicesQuery{Views: p.views}
	if n, err := query.Unchecked(t.Context()); n != 1 || err != nil {
		t.Errorf("counted: %d, %v", n, err)
	}
	p.router.SetFaults(router.Faults{})
	if got := p.unchecked(); got != nil {
		t.Errorf("compared again: %+v", got)
	}
	if n, err := query.Unchecked(t.Context()); n != 0 || err != nil {
		t.Errorf("counted: %d, %v", n, err)
	}
}

// TestDrift_ChecksThatWaitDoNotPileUpAndAreTold: where routers need more time than the interval has, a router has one
// waiting check, however many intervals pass. That it was not compared is told until its turn comes.
func TestDrift_ChecksThatWaitDoNotPileUpAndAreTold(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.active("ether5")
	// its checks only wait
	queue := jobrunner.New(jobrunner.Config{DB: pgtest.New(t), InsertOnly: true, Clock: p.clock})
	p.workers.Register(queue)
	coretest.Start(t, "waiting jobs", queue)
	coretest.Start(t, "rounds", networkjobs.NewBackground(p.workers, queue, true))
	waiting := func() int {
		list, err := jobrunner.Waiting[commands.CheckDrift](t.Context(), queue)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	told := func() int {
		n, err := networkviews.DevicesQuery{Views: p.views}.Unchecked(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	p.clock.Advance(15 * time.Minute)
	for waiting() == 0 {
		<-time.After(10 * time.Millisecond)
	}
	if told() != 0 {
		t.Error("a check that is due is told as one that was not made")
	}
	for told() == 0 {
		p.clock.Advance(15 * time.Minute)
		<-time.After(100 * time.Millisecond)
	}
	if n := waiting(); n != 1 {
		t.Errorf("%d checks wait for one router", n)
	}
	if got := p.unchecked(); got != nil {
		t.Errorf("compared after all, and still %+v", got)
	}
}

// TestRounds_GoOnWhenTheMachinesClockIsPutBack: the router is polled and compared by the clock as it is then, also at
// the instants at which it was compared before.
func TestRounds_GoOnWhenTheMachinesClockIsPutBack(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.active("ether5")
	db := pgtest.New(t)
	queue := jobrunner.New(jobrunner.Config{DB: db, InsertOnly: true, Clock: p.clock})
	p.workers.Register(queue)
	coretest.Start(t, "waiting jobs", queue)
	p.clock.Advance(5 * time.Hour)
	coretest.Start(t, "rounds", networkjobs.NewBackground(p.workers, queue, true))
	polls, err := networkjobs.OpenPolls(t.Context(), p.DB)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	compared := func() bool {
		list, err := jobrunner.Waiting[commands.CheckDrift](ctx, queue)
		if err != nil {
			t.Fatal(err)
		}
		return len(list) > 0
	}
	polled := func() bool { // lately, by the clock
		latest, err := polls.Latest(ctx, p.org, []id.Device{p.device})
		if err != nil {
			t.Fatal(err)
		}
		return p.clock.Now().Sub(latest[p.device].At).Abs() < time.Minute
	}
	next := func() {
		for !compared() || !polled() {
			<-time.After(10 * time.Millisecond)
		}
		if _, err := db.Owner.Exec(ctx, "update "+db.Namespace.Schema("river")+
			".river_job set state = 'completed', finalized_at = now()"); err != nil {
			t.Fatal(err)
		}
	}
	next()
	for range 4 {
		p.clock.Advance(15 * time.Minute)
		next()
	}
	p.machine.by.Store(int64(-time.Hour))
	p.clock.Advance(15 * time.Minute)
	next()
}

// firstTold gives the time of the only event with an error of a check.
func (p *plant) firstTold(message string) time.Time {
	p.t.Helper()
	recorded, err := p.Store.Read(p.t.Context(), commands.DeviceCategory+"-"+p.device.String(), 0)
	if err != nil {
		p.t.Fatal(err)
	}
	var at []time.Time
	for _, e := range recorded {
		if v, is := e.Event.(events.DeviceDriftUnchecked); is && v.Error == message {
			at = append(at, v.At)
		}
	}
	if len(at) != 1 {
		p.t.Fatalf("told %d times", len(at))
	}
	return at[0]
}
