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
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/simulators/router"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// Requests of REST that a repair of the setup sends.
const (
	arming    = "PUT /rest/system/scheduler"
	disarming = "DELETE /rest/system/scheduler"
	newRule   = "PUT /rest/ip/firewall/filter"
	service   = "PATCH /rest/ip/service"
)

// isRisky reports whether a request could cut the platform off.
func isRisky(request string) bool {
	return strings.HasPrefix(request, newRule) || strings.HasPrefix(request, service)
}

// scheduled lists the entries of the router's scheduler.
func (p *plant) scheduled() []router.Item { return p.router.Snapshot(false)["system/scheduler"] }

// repaired repairs the setup and wants it done.
func (p *plant) repaired() id.Run {
	p.t.Helper()
	done, err := p.runs.RepairSetup(p.t.Context(), p.asked(), p.device, true)
	if err != nil || done.Ended == nil || done.Ended.Outcome != "done" {
		p.t.Fatalf("the repair: %+v, %v", done.Ended, err)
	}
	return done.Run
}

// stays makes sure that the router keeps its setup and has no rollback.
func (p *plant) stays() {
	p.t.Helper()
	rules := len(p.router.Snapshot(false)["ip/firewall/filter"])
	p.clock.Advance(20 * time.Minute)
	left := len(p.router.Snapshot(false)["ip/firewall/filter"])
	if left != rules || p.www()["address"] != "10.99.0.0/16" {
		p.t.Errorf("the router took it back: %d rules, then %d, www is %v", rules, left, p.www())
	}
	if left := p.scheduled(); len(left) > 0 {
		p.t.Errorf("in the scheduler is left %v", left)
	}
}

// The request that arms the rollback is sent and never arrives, once or as long as the run tries.
func TestRepairSetup_NothingRiskyIsWrittenBeforeTheRollbackWasReadBack(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]int{"once": 1, "always": 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlant(t)
			p.withTunnel()
			for range lost {
				p.wire.losing(arming)
			}
			var unarmed atomic.Int32
			p.wire.watch(func(request string) {
				if isRisky(request) && len(p.scheduled()) < 2 {
					unarmed.Add(1)
				}
			})
			ended, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
			if unarmed.Load() > 0 {
				t.Errorf("%d writes without a rollback on the router", unarmed.Load())
			}
			if (err == nil) != (lost == 1) || ended.Ended == nil {
				t.Fatalf("%+v, %v", ended.Ended, err)
			}
			if lost == 1 {
				p.stays()
			}
		})
	}
}

// Each round of writes has the rollback: what another editor undoes meanwhile is written again under it.
func TestRepairSetup_EveryRoundOfWritesHasARollback(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	p.router.SetFaults(router.Faults{EditAfterWrites: router.After(5), Edits: []router.Edit{
		{Menu: "ip/service", Command: "set", Args: router.Item{"numbers": "www", "address": ""}},
	}})
	var unarmed atomic.Int32
	p.wire.watch(func(request string) {
		if isRisky(request) && len(p.scheduled()) < 2 {
			unarmed.Add(1)
		}
	})
	p.repaired()
	if unarmed.Load() > 0 {
		t.Errorf("%d writes without a rollback on the router", unarmed.Load())
	}
	p.stays()
}

func TestRepairSetup_ARemovalOfTheRollbackThatIsLostIsRepeated(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	p.wire.losing(disarming)
	p.repaired()
	p.stays()
}

// The rollback fires between the last reading and its removal: the run writes again what was taken back.
func TestRepairSetup_ARollbackThatFiredBeforeItsRemovalIsNoticed(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	var fired atomic.Bool
	p.wire.watch(func(request string) {
		if strings.HasPrefix(request, disarming) && fired.CompareAndSwap(false, true) {
			entry := p.scheduled()[0]
			if _, faults := p.router.Paste(entry["on-event"]); len(faults) > 0 {
				t.Errorf("the rollback: %v", faults)
			}
		}
	})
	p.repaired()
	if !fired.Load() {
		t.Error("the rollback was never removed")
	}
	p.stays()
}

func TestRepairSetup_IsReadBackOverANewConnection(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	p.wire.watch(nil)
	p.repaired()
	story := p.wire.told()
	last := -1
	for i, request := range story {
		if isRisky(request) {
			last = i
		}
	}
	removal := slices.IndexFunc(story, func(r string) bool { return strings.HasPrefix(r, disarming) })
	if story[0] != "dial" || last < 0 || removal < last || !slices.Contains(story[last:removal], "dial") {
		t.Errorf("the story is\n%s", strings.Join(story, "\n"))
	}
}

// The services are shut for new connections, and the kept one goes on; then the firewall is refused, because the router
// has no tunnel of this name.
func TestRepairSetup_RefusedHalfWayLeavesARouterThatRestoresItself(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.router.SetSeenFrom(netip.MustParseAddr("172.16.0.5"))
	before := p.router.Snapshot(false)["ip/service"]
	ended, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
	coretest.Refused(t, "a router without the tunnel", err, "router_refused")
	if ended.Ended == nil || !strings.HasSuffix(ended.Ended.Message,
		". The router restores its former setup by itself within three minutes.") {
		t.Errorf("the run ended as %+v", ended.Ended)
	}
	if p.www()["address"] == "" || len(p.scheduled()) != 2 {
		t.Errorf("www is %v, the scheduler has %v", p.www(), p.scheduled())
	}
	p.clock.Advance(4 * time.Minute)
	if after := p.router.Snapshot(false)["ip/service"]; !slices.EqualFunc(before, after, func(a, b router.Item) bool {
		return a["name"] == b["name"] && a["address"] == b["address"] && a["port"] == b["port"]
	}) || len(p.scheduled()) > 0 {
		t.Errorf("services %v, before %v; the scheduler has %v", after, before, p.scheduled())
	}
}

// A router takes the entry and does not run it: its device mode forbids the scheduler, or somebody switched it off.
func TestRepairSetup_AnEntryThatTheRouterWillNotRunIsNoRollback(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(r *router.Router) error{
		"switched off": func(r *router.Router) error {
			_, err := r.Do("system/scheduler", "set", router.Item{
				"numbers": routerplan.RollbackName, "disabled": "yes",
			})
			return err
		},
		"device mode": func(r *router.Router) error {
			r.SetDeviceMode("system/scheduler")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlant(t)
			p.withTunnel()
			var stopped atomic.Bool
			p.wire.watch(func(request string) {
				if len(p.scheduled()) > 1 && stopped.CompareAndSwap(false, true) {
					if err := stop(p.router); err != nil {
						t.Error(err)
					}
				}
			})
			ended, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
			coretest.Refused(t, name, err, "router_refused")
			if ended.Ended == nil || !strings.Contains(ended.Ended.Message, "does not run its scheduler") ||
				strings.Contains(ended.Ended.Message, "by itself") {
				t.Errorf("the run ended as %+v", ended.Ended)
			}
			if slices.ContainsFunc(p.wire.told(), isRisky) {
				t.Errorf("written was %v", p.writes(ended.Run))
			}
			if left := p.scheduled(); len(left) > 0 {
				t.Errorf("in the scheduler is %v", left)
			}
		})
	}
}

// A device mode that forbids the scheduler refuses the entry. Nothing risky is written, and the router's words are
// told; what carries no risk is repaired all the same.
func TestRepairSetup_ADeviceModeWithoutSchedulerLeavesTheFirewallAlone(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	p.router.SetDeviceMode("system/scheduler")
	ended, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
	coretest.Refused(t, "the device mode", err, "router_refused")
	if ended.Ended == nil || ended.Ended.Message != "failure: not allowed by device-mode" || p.www()["address"] != "" {
		t.Errorf("%+v, www is %v", ended.Ended, p.www())
	}
	if secret := p.radiusSecret(); secret != "radius-secret" {
		t.Errorf("the RADIUS secret is %q", secret)
	}
}

// The program dies in the middle of the run, twice. What the router would restore is the state before the first
// attempt, and the last attempt removes it.
func TestRepairSetup_ALaterAttemptKeepsWhatTheFirstOneWouldRestore(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	rules := len(p.router.Snapshot(false)["ip/firewall/filter"])
	job := commands.ReconcileSetup{DeviceID: p.device, RunID: id.New[id.Run]()}
	cause := jobs.Cause{OrgID: p.org, JobID: id.New[id.Any]()}
	attempt := func(risky int32) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cause.Attempt++
		var count atomic.Int32
		p.wire.watch(func(request string) {
			if isRisky(request) && count.Add(1) > risky {
				cancel()
			}
		})
		return turn(func() error { return p.workers.ReconcileSetup(ctx, job, cause) })
	}
	if err := attempt(2); err == nil || len(p.scheduled()) != 2 {
		t.Fatalf("the first attempt: %v, the scheduler has %v", err, p.scheduled())
	}
	first := p.scheduled()[0]["on-event"]
	p.clock.Advance(2 * time.Minute)
	if err := attempt(2); err == nil || len(p.scheduled()) != 2 || p.scheduled()[0]["on-event"] != first {
		t.Fatalf("the second attempt: %v, the scheduler has %v", err, p.scheduled())
	}
	p.clock.Advance(2 * time.Minute)
	if p.www()["address"] == "" || len(p.scheduled()) != 2 {
		t.Errorf("the rollback of the first attempt fired in the second one: www is %v", p.www())
	}
	p.clock.Advance(2 * time.Minute)
	left := len(p.router.Snapshot(false)["ip/firewall/filter"])
	if p.www()["address"] != "" || left != rules || len(p.scheduled()) > 0 {
		t.Errorf("restored was %v with %d rules, the scheduler has %v", p.www(), left, p.scheduled())
	}
	if err := attempt(100); err != nil {
		t.Fatal(err)
	}
	p.stays()
}

// The router's clock finds its time server in the middle of the run and jumps ahead, so that the rollback fires. What
// is risky is not sent without one, and the next one restores what was there before the run.
func TestRepairSetup_ARollbackThatFiresBetweenTheWritesIsNoticed(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	var risky, unarmed atomic.Int32
	var first, second atomic.Value
	p.wire.watch(func(request string) {
		if !isRisky(request) {
			return
		}
		armed := p.scheduled()
		switch risky.Add(1) {
		case 2:
			first.Store(armed[0]["on-event"])
			if _, faults := p.router.Paste(armed[0]["on-event"]); len(faults) > 0 {
				t.Errorf("the rollback: %v", faults)
			}
			return
		case 4:
			second.Store(armed[0]["on-event"])
		}
		if len(armed) < 2 {
			unarmed.Add(1)
		}
	})
	p.repaired()
	if unarmed.Load() > 0 || risky.Load() < 4 {
		t.Errorf("%d of %d risky writes were sent without a rollback", unarmed.Load(), risky.Load())
	}
	if first.Load() != second.Load() {
		t.Errorf("the second rollback restores\n%v\nthe first one\n%v", second.Load(), first.Load())
	}
	p.stays()
}

// The removal of an entry of the operator's is none of the platform's business, whatever its name begins with.
func TestRepairSetup_AnEntryOfTheOperatorsStaysWhenTheRollbackFires(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	if _, err := p.router.Do("system/scheduler", "add", router.Item{
		"name": "platform-rollback-mine", "interval": "1d", "on-event": ":put x",
	}); err != nil {
		t.Fatal(err)
	}
	p.router.SetSeenFrom(netip.MustParseAddr("192.0.2.1"))
	_, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
	coretest.Refused(t, "a router that is lost", err, "device_unreachable")
	p.clock.Advance(4 * time.Minute)
	if left := p.scheduled(); len(left) != 1 || left[0]["name"] != "platform-rollback-mine" ||
		p.www()["address"] != "" {
		t.Errorf("in the scheduler is left %v, www is %v", left, p.www())
	}
}

// The router is cut off, and the first thing that a person there does is to pull the plug.
func TestRepairSetup_ARouterThatIsLostRestoresItselfAtABoot(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	p.router.SetSeenFrom(netip.MustParseAddr("192.0.2.1"))
	_, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
	coretest.Refused(t, "a router that is lost", err, "device_unreachable")
	if p.www()["address"] == "" {
		t.Fatal("nothing was written that could cut the way")
	}
	p.router.Reboot()
	p.clock.Advance(10 * time.Second)
	if left := p.scheduled(); len(left) > 0 || p.www()["address"] != "" {
		t.Errorf("in the scheduler is left %v, www is %v", left, p.www())
	}
}

// The repair of the firewall alone has the same rollback, and needs no confirmation.
func TestRepairFirewall_HasTheSameRollback(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	p.wire.losing(arming)
	p.wire.losing(disarming)
	var unarmed atomic.Int32
	p.wire.watch(func(request string) {
		if isRisky(request) && len(p.scheduled()) < 2 {
			unarmed.Add(1)
		}
	})
	done, err := p.runs.Reconcile(t.Context(), p.asked(), p.device, events.ReconcileFirewall)
	if err != nil || done.Ended == nil || done.Ended.Outcome != "done" || unarmed.Load() > 0 {
		t.Errorf("%+v, %v, %d writes without a rollback", done.Ended, err, unarmed.Load())
	}
	rules := len(p.router.Snapshot(false)["ip/firewall/filter"])
	p.clock.Advance(20 * time.Minute)
	if left := len(p.router.Snapshot(false)["ip/firewall/filter"]); left != rules || len(p.scheduled()) > 0 {
		t.Errorf("%d rules, then %d; the scheduler has %v", rules, left, p.scheduled())
	}
}

// Routers hide the RADIUS secret: whether the new one is there shows only the answer to its write.
func TestRepairSetup_ARADIUSSecretWhoseWriteIsLostIsWrittenAgain(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	p.repaired()
	secret := secrets.Text("another-secret")
	done, err := p.devices.Change(t.Context(), p.asked(), p.device, networkcases.DeviceChange{RadiusSecret: &secret})
	if err != nil {
		t.Fatal(err)
	}
	p.shows(networkviews.DevicesName, done)
	for _, request := range []string{"PATCH /rest/radius", "POST /rest/radius/set"} {
		p.wire.losing(request)
	}
	p.repaired()
	if got := p.radiusSecret(); got != "another-secret" {
		t.Errorf("the router has %q, and counts as having the new one", got)
	}
}
