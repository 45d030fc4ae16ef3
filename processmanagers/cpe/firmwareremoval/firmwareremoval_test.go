package firmwareremoval_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/firmwareremoval"
)

func TestFirmwareRemoval_AsksUntilTheServerDoesNotHaveTheFile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	file, acme := id.Derive[id.CPEFirmware]("test", "box.bin"), id.Derive[id.Organization]("test", "acme")
	removed := events.CpeFirmwareRemoved{FirmwareID: file, OrgID: acme, StoredAs: "lastmile-acme-box.bin", At: now}
	deleted := events.CpeFirmwareDeleted{FirmwareID: file, OrgID: acme, At: now}
	process := func(list ...events.Event) processtest.Scenario[firmwareremoval.State] {
		return processtest.For(t, firmwareremoval.Process(), now).Given(list...)
	}
	looks := func(at time.Time, list ...commands.Job) processmanagers.Output {
		return processmanagers.Output{Jobs: list, Timers: []processmanagers.Timer{{Name: "look", At: at}}}
	}
	job := commands.DeleteCpeFirmware{
		FirmwareID: file, OrgID: acme, StoredAs: removed.StoredAs, Position: processtest.Position,
	}
	soon := now.Add(time.Minute)
	process().When(removed).Then(looks(soon)).ThenGoesOn()
	process(removed).At(soon).WhenDue("look", soon).Then(looks(soon.Add(10*time.Minute), job)).ThenGoesOn()
	process(removed).When(deleted).Then(looks(time.Time{})).ThenEnded()
	processtest.CheckKeys(t, firmwareremoval.Process(), file.String(), removed, deleted)
}
