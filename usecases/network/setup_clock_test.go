package networkcases_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// year is a step of a router's clock after which nothing that was planned comes in time.
const year = 365 * 24 * time.Hour

// The router's clock goes back a year, without a boot, while the first rule is on its way. The way is cut by then, and
// the open connection goes on: over it the rollback is given again, so that the router comes back in time.
func TestRepairSetup_ARollbackAfterAClockThatWasSetBackIsGivenAgain(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"lost": true, "reached": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlant(t)
			p.withTunnel()
			if lost {
				p.router.SetSeenFrom(netip.MustParseAddr("192.0.2.1"))
			}
			var stepped atomic.Bool
			p.wire.watch(func(request string) {
				if strings.HasPrefix(request, newRule) && stepped.CompareAndSwap(false, true) {
					p.router.StepClock(-year)
				}
			})
			if !lost {
				p.repaired()
				p.stays()
				return
			}
			ended, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
			coretest.Refused(t, "a router that is lost", err, "device_unreachable")
			if ended.Ended == nil || !strings.Contains(ended.Ended.Message, "by itself within three minutes") ||
				p.www()["address"] == "" || !stepped.Load() {
				t.Fatalf("%+v, www is %v", ended.Ended, p.www())
			}
			p.clock.Advance(4 * time.Minute)
			if left := p.scheduled(); p.www()["address"] != "" || len(left) > 0 {
				t.Errorf("www is %v, in the scheduler is left %v", p.www(), left)
			}
		})
	}
}

// The clock goes back as soon as the rollback is there: nothing risky is written under it.
func TestRepairSetup_NothingRiskyIsWrittenUnderARollbackThatComesInAYear(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	var stepped atomic.Bool
	var late atomic.Int32
	p.wire.watch(func(request string) {
		if len(p.scheduled()) == 2 && stepped.CompareAndSwap(false, true) {
			p.router.StepClock(-year)
		}
		if isRisky(request) && !p.restoresSoon() {
			late.Add(1)
		}
	})
	p.repaired()
	if !stepped.Load() || late.Load() > 0 {
		t.Errorf("%d writes under a rollback that comes in a year", late.Load())
	}
	p.stays()
}

// restoresSoon reports whether an entry of the router's scheduler runs within five minutes by the router's own clock.
func (p *plant) restoresSoon() bool {
	read := func(menu string) []router.Item {
		rows, err := p.router.Do(menu, "print", nil)
		if err != nil {
			p.t.Error(err)
		}
		return rows
	}
	now := read("system/clock")[0]
	return slices.ContainsFunc(read("system/scheduler"), func(entry router.Item) bool {
		at, err := time.Parse(time.DateTime, now["date"]+" "+now["time"])
		next, bad := time.Parse(time.DateTime, entry["next-run"])
		return err == nil && bad == nil && next.Sub(at) < 5*time.Minute
	})
}

// A run that lost its router after a step back of the clock leaves entries, which nothing removes but a repair: the
// setup differs until then. While the run is in progress, also between two attempts, its entries are no difference.
func TestSetupDrift_TellsTheRollbackThatAnEndedRunHasLeft(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	p.repaired()
	if _, err := p.router.Do("ip/service", "set", router.Item{"numbers": "www", "address": ""}); err != nil {
		t.Fatal(err)
	}
	told := func() (names []string) {
		t.Helper()
		live, err := p.workers.SetupDrift(t.Context(), p.device)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range live.Resources {
			if x.Path == routerplan.MenuScheduler {
				names = append(names, x.Name)
			}
		}
		return names
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.wire.watch(func(request string) {
		if isRisky(request) {
			cancel()
		}
	})
	job := commands.ReconcileSetup{DeviceID: p.device, RunID: id.New[id.Run]()}
	cause := jobs.Cause{OrgID: p.org, JobID: id.New[id.Any](), Attempt: 1}
	err := turn(func() error { return p.workers.ReconcileSetup(ctx, job, cause) })
	if err == nil || len(p.scheduled()) != 2 {
		t.Fatalf("the attempt that dies: %v, the scheduler has %v", err, p.scheduled())
	}
	p.wire.watch(nil)
	if names := told(); len(names) > 0 {
		t.Errorf("while the run is in progress it is told that %v are left", names)
	}
	p.router.SetSeenFrom(netip.MustParseAddr("192.0.2.1"))
	cause.Attempt++
	p.inTurn(func() error { return p.workers.ReconcileSetup(t.Context(), job, cause) })
	p.router.StepClock(-year)
	p.clock.Advance(10 * time.Minute) // past the pause of the breaker
	p.router.SetSeenFrom(netip.MustParseAddr("10.99.0.1"))
	if names := told(); len(names) != 2 {
		t.Errorf("after the end of the run it is told that %v are left", names)
	}
	p.repaired()
	if names := told(); len(names) > 0 || len(p.scheduled()) > 0 {
		t.Errorf("after the repair it is told that %v are left, the scheduler has %v", names, p.scheduled())
	}
}
