package onurelease_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/onurelease"
)

// One CPE of these tests.
var (
	now  = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	box  = id.Derive[id.CPE]("test", "box")
	acme = id.Derive[id.Organization]("test", "acme")
)

// asked is a request for an ONU of an organization.
func asked(name string, org id.Organization) events.CpeOnuAsked {
	return events.CpeOnuAsked{
		CpeOnuSubject: events.CpeOnuSubject{OnuID: id.Derive[id.CPEOnu]("test", name), CpeID: box, OrgID: org}, At: now,
	}
}

func TestOnuRelease_TakesWhatTheCpeHasNoLonger(t *testing.T) {
	t.Parallel()
	first := asked("first", acme)
	removes := processmanagers.Output{
		Commands: []commands.Command{commands.RemoveCpeOnu{OnuID: first.OnuID, CpeID: box}},
	}
	released := events.CpeReleased{CpeID: box, OrgID: acme, At: now}
	after := func(list ...events.Event) processtest.Scenario[onurelease.State] {
		return processtest.For(t, onurelease.Process(), now).Given(list...)
	}
	after().When(first).ThenNothing().ThenGoesOn()
	after(first).When(first).ThenNothing().ThenGoesOn()
	after(first).When(asked("second", acme)).Then(removes).ThenGoesOn()
	after(first).When(released).Then(removes).ThenEnded()
	after().When(released).ThenNothing()
}

// An organization that asks for another one's CPE must not make its ONU be forgotten.
func TestOnuRelease_OrganizationsHaveInstancesOfTheirOwn(t *testing.T) {
	t.Parallel()
	rival := id.Derive[id.Organization]("test", "rival")
	process := onurelease.Process()
	mine := process.Key(events.Envelope{Event: asked("first", acme)})
	theirs := process.Key(events.Envelope{Event: asked("other", rival)})
	ends := process.Key(events.Envelope{Event: events.CpeReleased{CpeID: box, OrgID: acme}})
	if mine == theirs || mine != ends || mine == "" {
		t.Errorf("keys %q, %q, %q", mine, theirs, ends)
	}
}
