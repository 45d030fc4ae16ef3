package networkcases_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/network"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// A router that may not fetch cannot report. That the new script ran is read from its tunnel interface: by the mark of
// the password that the script has, and not by a script from before the rotation, or one from before another one.
func TestRotateSecrets_ARouterThatCannotReportIsUpToDateAfterTheNewScript(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.router.SetSeenFrom(netip.MustParseAddr("10.99.0.1"))
	user, password := "platform", secrets.Text(routerPassword)
	p.changed(networkcases.DeviceChange{APIUsername: &user, APIPassword: &password})
	first := p.script()
	p.ran(first)
	if got := p.kit.device(p.device); got.Bootstrap != commands.BootstrapVersion || got.Rotated ||
		got.Setup.RadiusGiven != got.RadiusRef {
		t.Errorf("after the first script: %+v", got)
	}
	p.rotated()
	p.ran(first)
	between := p.script()
	p.rotated()
	p.ran(between)
	if got := p.kit.device(p.device); !got.Rotated {
		t.Error("a script from before the rotation counts")
	}
	p.ran(p.script())
	if got := p.kit.device(p.device); got.Rotated || got.Setup.RadiusGiven != got.RadiusRef {
		t.Errorf("after the new script: %+v", got)
	}
	revision := p.revision()
	p.ran(p.script())
	if again := p.revision(); again != revision+1 { // the showing
		t.Errorf("the same mark is recorded again: %d, before %d", again, revision)
	}
	name := "hill"
	p.changed(networkcases.DeviceChange{Name: &name}) // shown, and with it all that was before
	if row := p.deviceRow(p.device); row.Rotated || row.RadiusGiven != row.RadiusRef {
		t.Errorf("the router is shown to need the script: %+v", row)
	}
}

// changed changes the router's registration.
func (p *plant) changed(change networkcases.DeviceChange) {
	p.t.Helper()
	done, err := p.devices.Change(p.t.Context(), p.asked(), p.device, change)
	if err != nil {
		p.t.Fatal(err)
	}
	p.shows(networkviews.DevicesName, done)
}

// rotated rotates the router's secrets.
func (p *plant) rotated() {
	p.t.Helper()
	done, err := p.devices.RotateSecrets(p.t.Context(), p.asked(), p.device)
	if err != nil {
		p.t.Fatal(err)
	}
	p.shows(networkviews.DevicesName, done)
}

// script shows the router's script, which has no address to report to.
func (p *plant) script() string {
	p.t.Helper()
	writer := networkjobs.New(networkjobs.Config{
		Bus: p.Bus, Views: p.views, DB: p.DB, Secrets: p.Vault.Secrets, Clock: p.clock, Logger: storetest.Quiet(),
		Script: networkjobs.ScriptSettings{
			Concentrator: "vpn.example.net", ConcentratorPort: 443, RadiusHost: "10.99.0.1",
		},
	})
	text, radius, err := writer.BootstrapScript(p.t.Context(), p.device, jobs.Cause{JobID: id.New[id.Any]()})
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.Bus.Execute(p.t.Context(), commands.ShowBootstrap{
		DeviceID: p.device, Version: commands.BootstrapVersion, RadiusRef: radius,
	}, p.asked().Meta); err != nil {
		p.t.Fatal(err)
	}
	return text
}

// ran pastes a script into the router, and lets the platform ask the router for its version.
func (p *plant) ran(script string) {
	p.t.Helper()
	if out, faults := p.router.Paste(script); len(faults) > 0 {
		p.t.Fatalf("%v: %s", faults, out)
	}
	p.clock.Advance(10 * time.Minute)
	if err := p.workers.PollFleet(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// revision is the number of events of the first router.
func (p *plant) revision() int {
	p.t.Helper()
	return len(p.actions(commands.DeviceCategory, id.Any(p.device)))
}
