package provisioning_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/provisioning"
)

// One provision of these tests.
var (
	now   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	about = events.CpeProvisionSubject{
		ProvisionID: id.Derive[id.CPEProvision]("test", "script"), OrgID: id.Derive[id.Organization]("test", "acme"),
	}
	written = events.CpeProvisionWritten{CpeProvisionSubject: about, Version: 1, Script: "log(1);", At: now}
	removed = events.CpeProvisionRemoved{CpeProvisionSubject: about, Version: 2, At: now}
)

// asks is the job for a version, with the next look.
func asks(version int, at time.Time) processmanagers.Output {
	return processmanagers.Output{
		Jobs: []commands.Job{commands.InstallCpeProvision{
			ProvisionID: about.ProvisionID, OrgID: about.OrgID, Version: version,
		}},
		Timers: []processmanagers.Timer{{Name: "look", At: at}},
	}
}

func TestProvisioning_AsksUntilTheServerHasTheLatestVersion(t *testing.T) {
	t.Parallel()
	rest := processmanagers.Output{Timers: []processmanagers.Timer{{Name: "look"}}}
	later := now.Add(10 * time.Minute)
	process := func(list ...events.Event) processtest.Scenario[provisioning.State] {
		return processtest.For(t, provisioning.Process(), now).Given(list...)
	}
	process().When(written).Then(asks(1, later)).ThenGoesOn()
	process(written).At(later).WhenDue("look", later).Then(asks(1, later.Add(10*time.Minute))).ThenGoesOn()
	process(written).When(removed).Then(asks(2, later)).ThenGoesOn()
	for _, end := range []events.Event{
		events.CpeProvisionInstalled{CpeProvisionSubject: about, Version: 1, At: now},
		events.CpeProvisionRefused{CpeProvisionSubject: about, Version: 1, At: now},
		events.CpeProvisionUninstalled{CpeProvisionSubject: about, Version: 1, At: now},
	} {
		process(written).When(end).Then(rest).ThenEnded()
	}
}
