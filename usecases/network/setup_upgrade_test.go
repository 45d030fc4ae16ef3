package networkcases_test

import (
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// After an upgrade of the program a router still has the script of the former one. The repair of its setup writes what
// it may and is done; that the script must run for the rest is told, and a repeat writes nothing.
func TestRepairSetup_AfterTheScriptOfAnOlderProgramIsDoneAndTellsTheRest(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	text, err := os.ReadFile("../../aggregates/network/routerplan/testdata/bootstrap-before.rsc")
	if err != nil {
		t.Fatal(err)
	}
	if _, faults := p.router.Paste(strings.ReplaceAll(string(text), "apiPassword1", routerPassword)); len(faults) > 0 {
		t.Fatal(faults)
	}
	p.router.SetSeenFrom(netip.MustParseAddr("10.99.0.1"))
	user, password := "platform", secrets.Text(routerPassword)
	change := networkcases.DeviceChange{APIUsername: &user, APIPassword: &password}
	changed, err := p.devices.Change(t.Context(), p.asked(), p.device, change)
	if err != nil {
		t.Fatal(err)
	}
	p.shows(networkviews.DevicesName, changed)
	if _, err := p.Bus.Execute(t.Context(), commands.ReportBootstrap{
		DeviceID: p.device, Version: commands.BootstrapVersion, By: commands.BootstrapByReport,
	}, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: p.org, Actor: events.Actor{Kind: events.ActorProcess, ID: "network"},
	}); err != nil {
		t.Fatal(err)
	}
	_, err = p.runs.RepairSetup(t.Context(), p.asked(), p.device, false)
	coretest.Refused(t, "unconfirmed", err, "setup_confirmation_required")
	for round, writes := range []bool{true, false} {
		done, err := p.runs.RepairSetup(t.Context(), p.asked(), p.device, true)
		if err != nil || done.Ended == nil || done.Ended.Outcome != string(events.ReconcileDone) ||
			!strings.Contains(done.Ended.Message, "only the bootstrap script can repair it") {
			t.Fatalf("repair %d: %+v, %v", round+1, done.Ended, err)
		}
		if done.Ended.Writes > 0 != writes {
			t.Errorf("repair %d made %d writes: %v", round+1, done.Ended.Writes, p.writes(done.Run))
		}
		if round == 0 {
			p.stays()
		}
	}
	if p.kit.device(p.device).Setup.DriftHash == "" {
		t.Error("what is left for the script is not told as drift")
	}
}
