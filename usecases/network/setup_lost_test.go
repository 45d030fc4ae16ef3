package networkcases_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// The platform reaches the router from an address that the restriction of www shuts out: the router is lost in the
// middle of the run. It restores itself by its own scheduler, and the next repair starts clean.
func TestRepairSetup_ARouterThatIsLostRestoresItselfAndTheNextRepairStartsClean(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	p.router.SetSeenFrom(netip.MustParseAddr("192.0.2.1"))
	lost, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
	coretest.Refused(t, "a router that is lost", err, "device_unreachable")
	if lost.Ended == nil || lost.Ended.Outcome != "unreachable" ||
		!strings.Contains(lost.Ended.Message, "restores its former setup by itself within three minutes") {
		t.Fatalf("the run ended as %+v", lost.Ended)
	}
	if armed := p.router.Snapshot(false)["system/scheduler"]; len(armed) != 2 ||
		armed[0]["name"] != routerplan.RollbackName {
		t.Errorf("in the scheduler is %v", armed)
	}
	if p.www()["address"] == "" {
		t.Error("nothing was written that could cut the way")
	}
	_, err = p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
	coretest.Refused(t, "still lost", err, "device_unreachable")

	p.clock.Advance(4 * time.Minute) // past the rollback
	if p.www()["address"] != "" || len(p.router.Snapshot(false)["system/scheduler"]) > 0 {
		t.Errorf("www is %v, the scheduler has %v", p.www(), p.router.Snapshot(false)["system/scheduler"])
	}
	p.clock.Advance(10 * time.Minute) // past the pause of the breaker
	p.router.SetSeenFrom(netip.MustParseAddr("10.99.0.1"))
	done, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
	if err != nil || done.Ended == nil || done.Ended.Outcome != "done" {
		t.Fatalf("the next repair: %+v, %v", done.Ended, err)
	}
	if writes := p.writes(done.Run); !slices.Contains(writes, "add system/scheduler") ||
		writes[len(writes)-1] != "remove system/scheduler" {
		t.Errorf("its writes are %v", writes)
	}
	p.clock.Advance(4 * time.Minute)
	if got := p.www()["address"]; got != "10.99.0.0/16" || len(p.router.Snapshot(false)["system/scheduler"]) > 0 {
		t.Errorf("afterwards www is for %q, the scheduler has %v", got, p.router.Snapshot(false)["system/scheduler"])
	}
}

// A program that dies in the middle leaves an armed rollback, which would undo a setup that was found to be right.
func TestRepairSetup_ARollbackThatWasLeftIsRemovedFirst(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	if _, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true); err != nil {
		t.Fatal(err)
	}
	if _, err := p.router.Do("system/scheduler", "add", router.Item{
		"name": routerplan.RollbackName, "interval": "3m", "comment": "Platform",
		"on-event": `/ip service set www address=""`,
	}); err != nil {
		t.Fatal(err)
	}
	done, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, false)
	if err != nil || done.Ended == nil || done.Ended.Outcome != "done" {
		t.Fatalf("%+v, %v", done.Ended, err)
	}
	if writes := p.writes(done.Run); !slices.Equal(writes, []string{"remove system/scheduler"}) {
		t.Errorf("the writes are %v", writes)
	}
	if _, err := p.router.Do("system/scheduler", "add", router.Item{
		"name": routerplan.RollbackName, "interval": "3m", "comment": "Platform",
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.router.Do("ip/service", "set", router.Item{"numbers": "www", "address": ""}); err != nil {
		t.Fatal(err)
	}
	if done, err = p.runs.RepairSetup(t.Context(), p.asked(), p.device, true); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"remove system/scheduler", "add system/scheduler", "add system/scheduler", "set ip/service",
		"remove system/scheduler", "remove system/scheduler",
	}
	if writes := p.writes(done.Run); !slices.Equal(writes, want) {
		t.Errorf("the writes are %v", writes)
	}
	p.clock.Advance(4 * time.Minute)
	if got := p.www()["address"]; got != "10.99.0.0/16" {
		t.Errorf("afterwards www is for %q", got)
	}
}

// withTunnel gives the router the interface that the firewall's rules name.
func (p *plant) withTunnel() {
	p.t.Helper()
	if _, err := p.router.Do("interface/sstp-client", "add", router.Item{
		"name": routerplan.TunnelInterface, "connect-to": "203.0.113.1", "user": "u", "profile": "default",
	}); err != nil {
		p.t.Fatal(err)
	}
}

// www is the router's service over which the platform calls it.
func (p *plant) www() router.Item {
	p.t.Helper()
	all, err := p.router.Do("ip/service", "print", nil)
	at := slices.IndexFunc(all, func(one router.Item) bool { return one["name"] == "www" })
	if err != nil || at < 0 {
		p.t.Fatalf("no service www: %v", err)
	}
	return all[at]
}

// A run loses its router and says so, and a technician pastes the script at once. The rollback of the lost run takes
// nothing of the script's work back.
func TestBootstrap_PastedAtALostRouterKeepsItsWork(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.withTunnel()
	p.router.SetSeenFrom(netip.MustParseAddr("192.0.2.1"))
	_, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
	coretest.Refused(t, "a router that is lost", err, "device_unreachable")
	if len(p.scheduled()) != 2 {
		t.Fatalf("the scheduler has %v", p.scheduled())
	}
	script, err := routerplan.Bootstrap(routerplan.BootstrapConfig{
		Concentrator: "vpn.example.net", SSTPPort: 443, TunnelUser: "nas-1", TunnelSecret: "tunnelSecret1",
		RadiusHost: "10.99.0.1", RadiusSecret: "radius-secret", CoAPort: 3799, APIUser: "platform", APIPassword: "pw",
		APIPort: 80,
	})
	if err != nil {
		t.Fatal(err)
	}
	if out, faults := p.router.Paste(script); len(faults) > 0 {
		t.Fatalf("%v: %s", faults, out)
	}
	if rules := len(p.router.Snapshot(false)["ip/firewall/filter"]); rules < 5 || p.www()["address"] == "" {
		t.Fatalf("after the script there are %d rules, www is %v", rules, p.www())
	}
	p.stays()
	p.router.Reboot()
	p.clock.Advance(time.Minute)
	p.stays()
}
