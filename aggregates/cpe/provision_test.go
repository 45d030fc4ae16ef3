package cpe_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The provision of these tests.
var (
	script  = commands.CpeProvisionID(acme, "custom-provision")
	ofAcme  = events.CpeProvisionSubject{ProvisionID: script, OrgID: acme}
	writeIt = commands.WriteCpeProvision{
		ProvisionID: script, OrgID: acme, Name: "custom-provision", StoredName: "acme-custom-provision", Place: 3,
		Tag: "org:acme", Script: "log(1);",
	}
	written = events.CpeProvisionWritten{
		CpeProvisionSubject: ofAcme, Name: "custom-provision", StoredName: "acme-custom-provision", Place: 3,
		Tag: "org:acme", Version: 1, Script: "log(1);", At: now,
	}
	installed      = events.CpeProvisionInstalled{CpeProvisionSubject: ofAcme, Version: 1, At: now}
	unfit          = events.CpeProvisionRefused{CpeProvisionSubject: ofAcme, Version: 1, Code: "refused", At: now}
	looped         = events.CpeProvisionRefused{CpeProvisionSubject: ofAcme, Version: 1, Code: "preset_loop", At: now}
	takenBack      = events.CpeProvisionRemoved{CpeProvisionSubject: ofAcme, Version: 2, At: now}
	installedAgain = events.CpeProvisionInstalled{CpeProvisionSubject: ofAcme, Version: 2, At: now}
	uninstalled    = events.CpeProvisionUninstalled{CpeProvisionSubject: ofAcme, Version: 2, At: now}

	takeBack = commands.RemoveCpeProvision{ProvisionID: script}
	settle   = func(version int) commands.SettleCpeProvision {
		return commands.SettleCpeProvision{ProvisionID: script, Version: version}
	}
	refuse = commands.RefuseCpeProvision{ProvisionID: script, Version: 1, Code: "refused"}
)

// provision begins a scenario.
func provision(
	t *testing.T, list ...events.CpeProvisionEvent,
) *decidertest.Scenario[cpe.Provision, commands.CpeProvisionCommand, events.CpeProvisionEvent] {
	t.Helper()
	return decidertest.For(t, cpe.Provisions(), now).Given(list...)
}

func TestProvision_GoesFromItsVersionsToItsRemoval(t *testing.T) {
	t.Parallel()
	again := written
	again.Version, again.Script = 2, "log(2);"
	other := writeIt
	other.Script, other.Place = "log(2);", 9 // it keeps its place
	provision(t).When(writeIt).Then(written).BelongsTo(acme, "provision_not_found")
	provision(t, written).When(writeIt).ThenNothing()
	provision(t, written).When(other).Then(again)
	provision(t, written).When(settle(1)).Then(installed)
	provision(t, written, installed).When(settle(1)).ThenNothing()
	provision(t, written, again).When(settle(1)).ThenNothing() // too late
	provision(t, written).When(refuse).Then(unfit)
	provision(t, written, installed).When(refuse).Then(unfit) // a later program looks more closely
	provision(t, written, installed, unfit).When(refuse).ThenNothing()
	provision(t, written, installed, unfit).When(settle(1)).Then(installed)
	gone := refuse
	gone.Version = 2
	provision(t, written, installed, takenBack, uninstalled).When(gone).ThenNothing()
	provision(t, written, installed, takenBack).When(gone).ThenNothing()   // the server still has it
	provision(t, written, installed, looped).When(settle(1)).ThenNothing() // it was brought before, and is not there
	provision(t, written, unfit).When(takeBack).Then(takenBack)
	provision(t, written, installed, looped, takenBack).When(settle(2)).Then(uninstalled)
	provision(t, written, installed).When(takeBack).Then(takenBack)
	provision(t, written, installed, takenBack).When(takeBack).ThenFails("provision_not_found")
	provision(t, written, installed, takenBack).When(settle(2)).Then(uninstalled)
	provision(t).When(takeBack).ThenFails("provision_not_found")
	retry := written
	retry.Version = 2
	provision(t, written, unfit).When(writeIt).Then(retry) // the cause may be gone
	provision(t, written, installed, looped).When(writeIt).Then(retry)
	provision(t, written, looped, retry).When(settle(2)).Then(installedAgain)
	back := written
	back.Version = 3
	provision(t, written, installed, takenBack, uninstalled).When(writeIt).Then(back)
}

// No organization takes a name of the platform's own scripts, however it is called.
func TestProvision_NamesOfThePlatformAreTaken(t *testing.T) {
	t.Parallel()
	c := writeIt
	c.Name = "bootstrap"
	c.ProvisionID, c.StoredName = commands.CpeProvisionID(acme, c.Name), "lastmile-bootstrap"
	provision(t).When(c).ThenFails("provision_name_taken")
}

// Name and place are held until the server does not have the script any more.
func TestProvision_ClaimsNameAndPlace(t *testing.T) {
	t.Parallel()
	def := cpe.Provisions()
	var s cpe.Provision
	for _, step := range []struct {
		e    events.CpeProvisionEvent
		held int
	}{{written, 2}, {installed, 2}, {takenBack, 2}, {uninstalled, 0}} {
		s = def.Evolve(s, step.e)
		if got := def.Claims(s); len(got) != step.held {
			t.Errorf("after %T: %v", step.e, got)
		}
	}
	s = def.Evolve(cpe.Provision{}, written)
	if got := def.Claims(s)[0]; got.Value != "acme-custom-provision" || got.Code != "provision_name_taken" {
		t.Errorf("claims %v", got)
	}
}

func TestWriteCpeProvision_Form(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "-a", "a b", "a/b", "ä", string(make([]byte, 65))} {
		c := writeIt
		c.Name, c.StoredName, c.ProvisionID = name, "acme-"+name, commands.CpeProvisionID(acme, name)
		if c.Validate() == nil {
			t.Errorf("%q is a name", name)
		}
	}
	for _, change := range []func(*commands.WriteCpeProvision){
		func(c *commands.WriteCpeProvision) { c.Script = " \n" },
		func(c *commands.WriteCpeProvision) { c.Script = string(make([]byte, commands.MaxCpeScript+1)) },
		func(c *commands.WriteCpeProvision) { c.Place = commands.CpeProvisionsPerOrganization + 1 },
		func(c *commands.WriteCpeProvision) { c.ProvisionID = id.New[id.CPEProvision]() },
	} {
		c := writeIt
		change(&c)
		if c.Validate() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}
