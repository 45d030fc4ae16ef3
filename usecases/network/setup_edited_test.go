package networkcases_test

import (
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// edit changes properties of one entry of the scheduler, as a person at the router does; nothing without the entry.
func (p *plant) edit(name string, values router.Item) {
	for _, row := range p.scheduled() {
		if row["name"] == name {
			values["numbers"] = name
			if _, err := p.router.Do("system/scheduler", "set", values); err != nil {
				p.t.Error(err)
			}
		}
	}
}

// editing changes an entry while the first rule of the next repair is on its way.
func (p *plant) editing(name string, values router.Item) {
	var done atomic.Bool
	p.wire.watch(func(request string) {
		if strings.HasPrefix(request, newRule) && done.CompareAndSwap(false, true) {
			p.edit(name, values)
		}
	})
}

// An entry whose comment a person replaced during a repair still belongs to its run, which removes it. What a person
// sets later is not undone.
func TestRepairSetup_AnEntryWithAnotherCommentStillBelongsToItsRun(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{routerplan.RollbackName, routerplan.RollbackName + "-boot"} {
		for _, comment := range []string{"who made this? Peter", "Platform run mine", ""} {
			t.Run(entry+" "+comment, func(t *testing.T) {
				t.Parallel()
				p := newPlant(t)
				p.withTunnel()
				p.editing(entry, router.Item{"comment": comment})
				p.repaired()
				p.stays()
			})
		}
	}
}

// The same, and the way is cut: the router restores itself once, and nothing is left that would do so again.
func TestRepairSetup_AnEntryWithAnotherCommentRestoresALostRouterOnce(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{routerplan.RollbackName, routerplan.RollbackName + "-boot"} {
		t.Run(entry, func(t *testing.T) {
			t.Parallel()
			p := newPlant(t)
			p.withTunnel()
			p.router.SetSeenFrom(netip.MustParseAddr("192.0.2.1"))
			p.editing(entry, router.Item{"comment": "do not touch"})
			_, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
			coretest.Refused(t, "a router that is lost", err, "device_unreachable")
			p.clock.Advance(4 * time.Minute)
			if left := p.scheduled(); len(left) > 0 || p.www()["address"] != "" {
				t.Errorf("in the scheduler is left %v, www is %v", left, p.www())
			}
		})
	}
}

// The program died and left an entry that somebody has noted something on. It is drift of the setup, and the next
// repair removes it.
func TestRepairSetup_AnEntryWithAnotherCommentThatWasLeftIsToldAndRemoved(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	p.router.SetSeenFrom(netip.MustParseAddr("192.0.2.1"))
	p.editing(routerplan.RollbackName, router.Item{"comment": "who made this? Peter"})
	_, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
	coretest.Refused(t, "a router that is lost", err, "device_unreachable")
	p.wire.watch(nil)
	left := p.scheduled()
	p.clock.Advance(20 * time.Minute)
	p.router.SetSeenFrom(netip.MustParseAddr("10.99.0.1"))
	for _, row := range left { // as if they had been left for longer
		if _, err := p.router.Do("system/scheduler", "add", router.Item{
			"name": row["name"], "comment": row["comment"], "on-event": row["on-event"], "interval": "0s",
			"start-time": "startup",
		}); err != nil {
			t.Fatal(err)
		}
	}
	if told := p.toldEntries(); len(left) != 2 || len(told) != 2 {
		t.Errorf("left are %v, told are %v", left, told)
	}
	p.repaired()
	p.stays()
}

// An entry of the operator's has the name of the rollback. It is told by its name, nothing removes it, and a repair
// that needs the rollback says what is in the way.
func TestRepairSetup_AnEntryOfTheOperatorsWithTheNameOfTheRollbackIsNamed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		routerplan.RollbackName, routerplan.RollbackName + "-2", routerplan.RollbackName + "-boot",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlant(t)
			p.withTunnel()
			if _, err := p.router.Do("system/scheduler", "add", router.Item{
				"name": name, "comment": "of mine", "on-event": ":put x", "interval": "1d",
			}); err != nil {
				t.Fatal(err)
			}
			if told := p.toldEntries(); len(told) != 1 || told[0] != "extra "+name {
				t.Errorf("told are %v", told)
			}
			ended, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
			coretest.Refused(t, "a name that is taken", err, "router_refused")
			if ended.Ended == nil || !strings.HasPrefix(ended.Ended.Message, name+" in the scheduler is not") ||
				!strings.HasSuffix(ended.Ended.Message, "Nothing was written that could cut the platform off.") {
				t.Errorf("the run ended as %+v", ended.Ended)
			}
			if left := p.scheduled(); len(left) != 1 || left[0]["comment"] != "of mine" || p.www()["address"] != "" {
				t.Errorf("in the scheduler is %v, www is %v", left, p.www())
			}
			p.edit(name, router.Item{"name": "mine"})
			p.repaired()
			if told := p.toldEntries(); len(told) != 0 || len(p.scheduled()) != 1 {
				t.Errorf("told are %v, in the scheduler is %v", told, p.scheduled())
			}
		})
	}
}

// toldEntries lists kind and name of the differences of the setup in the scheduler.
func (p *plant) toldEntries() (told []string) {
	p.t.Helper()
	live, err := p.workers.SetupDrift(p.t.Context(), p.device)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, x := range live.Resources {
		if x.Path == routerplan.MenuScheduler {
			told = append(told, x.Kind+" "+x.Name)
		}
	}
	return told
}

// The entry for a boot is disabled while the first rule is on its way, which cuts the way. The router is lost, and what
// is told is true: rules were written.
func TestRepairSetup_ARollbackThatFailsAfterTheFirstRuleDoesNotSayThatNothingWasWritten(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	p.router.SetSeenFrom(netip.MustParseAddr("192.0.2.1"))
	p.editing(routerplan.RollbackName+"-boot", router.Item{"disabled": "yes"})
	ended, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
	coretest.Refused(t, "a router that is lost", err, "device_unreachable")
	if ended.Ended == nil || strings.Contains(ended.Ended.Message, "Nothing was written") {
		t.Errorf("told is: %+v; written: %v", ended.Ended, p.writes(ended.Run))
	}
	p.clock.Advance(20 * time.Minute)
	if p.www()["address"] != "" {
		t.Errorf("www is %v", p.www())
	}
}

// The same on a router that is still reached: the refusal is told, without the claim that nothing was written.
func TestRepairSetup_AReachedRouterWhoseRollbackFailsInTheMiddleIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	p.editing(routerplan.RollbackName+"-boot", router.Item{"disabled": "yes"})
	ended, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
	coretest.Refused(t, "an entry that somebody disabled", err, "router_refused")
	if ended.Ended == nil || strings.Contains(ended.Ended.Message, "Nothing was written") ||
		!strings.Contains(ended.Ended.Message, "does not run its scheduler") ||
		!strings.Contains(ended.Ended.Message, "may restore its former setup") {
		t.Errorf("told is: %+v; written: %v", ended.Ended, p.writes(ended.Run))
	}
}
