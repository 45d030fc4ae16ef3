package networkcases_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/simulators/router"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// The setup of a router is reconciled like a service. What could cut the platform off needs a confirmation, and arms a
// rollback on the router first, which is gone afterwards.
func TestRepairSetup_MustBeConfirmedAndArmsARollback(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	_, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, false)
	coretest.Refused(t, "unconfirmed", err, "setup_confirmation_required")
	if menus, _ := told(err).Details["menus"].([]string); !slices.Contains(menus, "ip/service") {
		t.Errorf("the refusal says %+v", told(err))
	}
	foreign := coretest.Keyed(id.New[id.Organization]())
	_, err = p.runs.RepairSetup(t.Context(), foreign, p.device, true)
	coretest.Refused(t, "another organization", err, "device_not_found")
	if _, err := p.router.Do("interface/sstp-client", "add", router.Item{
		"name": "platform-tunnel", "connect-to": "203.0.113.1", "user": "u", "profile": "default",
	}); err != nil {
		t.Fatal(err)
	}
	done, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
	if err != nil || done.Ended == nil || done.Ended.Kind != string(events.ReconcileSetup) {
		t.Fatalf("%+v, %v", done, err)
	}
	now := p.router.Snapshot(false)
	if secret := p.radiusSecret(); secret != "radius-secret" {
		t.Errorf("the RADIUS secret is %q", secret)
	}
	if left := now["system/scheduler"]; len(left) > 0 {
		t.Errorf("the rollback stays armed: %v", left)
	}
	writes := p.writes(done.Run)
	armed, risky := slices.Index(writes, "add system/scheduler"), slices.IndexFunc(writes, func(w string) bool {
		return strings.HasSuffix(w, "ip/service") || strings.HasSuffix(w, "ip/firewall/filter")
	})
	if armed < 0 || risky < armed || writes[len(writes)-1] != "remove system/scheduler" {
		t.Errorf("the writes are %v", writes)
	}
	if again, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, false); err != nil ||
		again.Ended == nil || again.Ended.Writes != 0 {
		t.Errorf("a setup that is as desired: %+v, %v", again, err)
	}
	secret := secrets.Text("another-secret")
	if _, err := p.devices.Change(t.Context(), p.asked(), p.device,
		networkcases.DeviceChange{RadiusSecret: &secret}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, false); err != nil {
		t.Fatalf("a RADIUS secret cuts nothing: %v", err)
	}
	if got := p.radiusSecret(); got != "another-secret" {
		t.Errorf("the router has the former secret: %q", got)
	}
}

// radiusSecret is the secret of the platform's RADIUS client on the router; "" without one.
func (p *plant) radiusSecret() string {
	for _, client := range p.router.Snapshot(false)["radius"] {
		if client["comment"] == "Platform" {
			return client["secret"]
		}
	}
	return ""
}

// writes lists the writes of a run, as operation and menu.
func (p *plant) writes(run id.Run) (list []string) {
	p.t.Helper()
	recorded, err := p.Store.Read(p.t.Context(), commands.ReconcileCategory+"-"+run.String(), 0)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range recorded {
		if w, is := e.Event.(events.RouterWritten); is {
			list = append(list, w.Step.Operation+" "+w.Step.Path)
		}
	}
	return list
}
