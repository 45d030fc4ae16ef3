package onurelease_test

import (
	"encoding/json"
	"slices"
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

// claiming is a request that came with a claim.
func claiming(name string) events.CpeOnuAsked {
	e := asked(name, acme)
	e.First = true
	return e
}

// did records that a step of a set-up was done.
func did(e events.CpeOnuAsked, step string) events.CpeOnuStepDone {
	return events.CpeOnuStepDone{CpeOnuSubject: e.CpeOnuSubject, Step: step, At: now}
}

// removes takes ONUs away.
func removes(list ...events.CpeOnuAsked) (out processmanagers.Output) {
	for _, e := range list {
		out.Commands = append(out.Commands, commands.RemoveCpeOnu{OnuID: e.OnuID, CpeID: box})
	}
	return out
}

// after begins an example in which events have happened.
func after(t *testing.T, list ...events.Event) processtest.Scenario[onurelease.State] {
	t.Helper()
	return processtest.For(t, onurelease.Process(), now).Given(list...)
}

// released gives the CPE up.
var released = events.CpeReleased{CpeID: box, OrgID: acme, At: now}

// The ONU before it works until the terminal has the new one.
func TestOnuRelease_TakesWhatTheCpeHasNoLonger(t *testing.T) {
	t.Parallel()
	first, second, third := asked("first", acme), asked("second", acme), asked("third", acme)
	after(t).When(first).ThenNothing().ThenGoesOn()
	after(t, first).When(first).ThenNothing().ThenGoesOn()
	after(t, first).When(did(first, "register")).ThenNothing().ThenGoesOn()
	after(t, first).When(second).ThenNothing().ThenGoesOn()
	after(t, first, second).When(did(second, "vlan")).ThenNothing().ThenGoesOn()
	after(t, first, second).When(did(first, "register")).ThenNothing().ThenGoesOn()
	after(t, first, second).When(did(second, "register")).Then(removes(first)).ThenGoesOn()
	after(t, first, second, third).When(did(second, "register")).Then(removes(first)).ThenGoesOn()
	after(t, first, second, third).When(did(third, "register")).Then(removes(first, second)).ThenGoesOn()
	after(t, first, second, first).When(did(first, "register")).Then(removes(second)).ThenGoesOn()
	after(t, first).When(released).Then(removes(first)).ThenEnded()
	after(t, first, second).When(released).Then(removes(first, second)).ThenEnded()
	after(t, first, second, did(second, "register")).When(released).Then(removes(second)).ThenEnded()
	after(t).When(released).ThenNothing()
	after(t).When(did(first, "register")).ThenNothing()
}

// Of two claims at once one is refused and gives its ONU back itself: that of the other one stays, whichever was asked
// for or registered first.
func TestOnuRelease_AClaimTakesNoOnuAway(t *testing.T) {
	t.Parallel()
	won, lost := claiming("won"), claiming("lost")
	for _, order := range [][]events.Event{{won, lost}, {lost, won}} {
		both := after(t, order...)
		both.When(did(won, "register")).ThenNothing().When(did(lost, "register")).ThenNothing().ThenGoesOn()
	}
	after(t, won, did(won, "register"), lost).When(did(lost, "register")).ThenNothing().ThenGoesOn()
	after(t, won, lost).When(released).Then(removes(won, lost)).ThenEnded()
	next := asked("next", acme) // staff put another one in
	after(t, won, lost, next).When(did(next, "register")).Then(removes(won, lost)).ThenGoesOn()
}

// An instance of an earlier program, which remembered the latest ONU alone, goes on.
func TestOnuRelease_AStateOfAnEarlierProgram(t *testing.T) {
	t.Parallel()
	old, next := asked("old", acme), asked("next", acme)
	var before onurelease.State
	if err := json.Unmarshal([]byte(`{"onuId":"`+old.OnuID.String()+`"}`), &before); err != nil {
		t.Fatal(err)
	}
	process := onurelease.Process()
	decides := func(s onurelease.State, e events.Event) (onurelease.State, processmanagers.Output) {
		in := processmanagers.Input{Event: &events.Envelope{Event: e}}
		out, err := process.Decide(s, in, now)
		if err != nil || process.Ended(s) {
			t.Fatalf("%+v has ended, or %v", s, err)
		}
		return process.Evolve(s, in), out
	}
	both, none := decides(before, next)
	_, replaced := decides(both, did(next, "register"))
	end, given := decides(before, released)
	for got, want := range map[*processmanagers.Output]processmanagers.Output{
		&none: {}, &replaced: removes(old), &given: removes(old),
	} {
		if !slices.Equal(got.Commands, want.Commands) {
			t.Errorf("%v, want %v", got.Commands, want.Commands)
		}
	}
	if !process.Ended(end) {
		t.Errorf("%+v goes on", end)
	}
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
