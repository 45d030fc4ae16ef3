package onusetup_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/onusetup"
)

// One ONU of these tests.
var (
	now   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	about = events.CpeOnuSubject{
		OnuID: id.Derive[id.CPEOnu]("test", "onu"), CpeID: id.Derive[id.CPE]("test", "box"),
		OrgID:       id.Derive[id.Organization]("test", "acme"),
		OperationID: id.Derive[id.CPEOperation]("test", "set-up"),
	}
	place = events.CpeOnuPlace{OrgSlug: "acme", OLT: "hill", Port: "1", Serial: "HWTC1A2B3C4D", VLAN: 100}
	work  = commands.CpeOnuWork{
		OnuID: about.OnuID, CpeID: about.CpeID, OrgID: about.OrgID, OperationID: about.OperationID, Place: place,
		Steps: []string{"register"},
	}
	expiry = now.Add(24 * time.Hour)
	asked  = events.CpeOnuAsked{
		CpeOnuSubject: about, Place: place, Steps: []string{"register"}, ExpiresAt: expiry, At: now,
	}
	leaving = events.CpeOnuLeaving{CpeOnuSubject: about, Place: place, At: now}
)

// after begins an example in which events have happened.
func after(t *testing.T, list ...events.Event) processtest.Scenario[onusetup.State] {
	t.Helper()
	return processtest.For(t, onusetup.Process(), now).Given(list...)
}

// asks expects one job of a set-up to be queued.
func asks(job commands.Job, timers ...processmanagers.Timer) processmanagers.Output {
	return processmanagers.Output{Jobs: []commands.Job{job}, Timers: timers}
}

func TestOnuSetUp_AsksUntilItEnds(t *testing.T) {
	t.Parallel()
	soon, later := now.Add(15*time.Second), now.Add(time.Minute)
	rest := processmanagers.Output{Timers: []processmanagers.Timer{{Name: "look"}, {Name: "expiry"}}}
	job := commands.PlaceCpeOnu{CpeOnuWork: work}
	after(t).When(asked).Then(asks(job, processmanagers.Timer{Name: "look", At: soon},
		processmanagers.Timer{Name: "expiry", At: expiry})).ThenGoesOn()
	after(t, asked).At(later).WhenDue("look", later).
		Then(asks(job, processmanagers.Timer{Name: "look", At: later.Add(time.Minute)})).ThenGoesOn()
	after(t, asked).At(expiry).WhenDue("expiry", expiry).Then(processmanagers.Output{
		Commands: []commands.Command{commands.ExpireCpeOnu{OnuID: about.OnuID, OperationID: about.OperationID}},
		Timers:   []processmanagers.Timer{{Name: "expiry", At: expiry.Add(10 * time.Minute)}},
	}).ThenGoesOn()
	for _, end := range []events.Event{
		events.CpeOnuReady{CpeOnuSubject: about, At: now},
		events.CpeOnuFailed{CpeOnuSubject: about, Step: "register", Code: "onu_not_seen", At: now},
		events.CpeOnuExpired{CpeOnuSubject: about, At: now},
	} {
		after(t, asked).When(end).Then(rest).ThenEnded()
	}
}

// The ONU of a claim that never came is given back.
func TestOnuSetUp_GivesBackWhatNobodyHas(t *testing.T) {
	t.Parallel()
	after(t, asked).When(events.CpeOnuFailed{CpeOnuSubject: about, Code: "released", At: now}).
		Then(processmanagers.Output{
			Commands: []commands.Command{commands.RemoveCpeOnu{OnuID: about.OnuID, CpeID: about.CpeID}},
			Timers:   []processmanagers.Timer{{Name: "look"}, {Name: "expiry"}},
		}).ThenEnded()
}

func TestOnuSetUp_TakesOutUntilItIsOut(t *testing.T) {
	t.Parallel()
	out := work
	out.Steps = nil
	job := commands.TakeOutCpeOnu{CpeOnuWork: out}
	soon := now.Add(15 * time.Second)
	after(t).When(leaving).Then(asks(job, processmanagers.Timer{Name: "look", At: soon},
		processmanagers.Timer{Name: "expiry"})).ThenGoesOn()
	after(t, leaving).At(soon).WhenDue("look", soon).
		Then(asks(job, processmanagers.Timer{Name: "look", At: soon.Add(15 * time.Second)})).ThenGoesOn()
	after(t, leaving).When(events.CpeOnuTakenOut{CpeOnuSubject: about, At: now}).
		Then(processmanagers.Output{Timers: []processmanagers.Timer{{Name: "look"}, {Name: "expiry"}}}).ThenEnded()
}
