package cpe_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The ONU of these tests.
var (
	onuID   = commands.CpeOnuID(acme, "HWTC1A2B3C4D")
	onuPlan = events.CpeOnuPlace{OrgSlug: "acme", OLT: "hill", Port: "0/1/1", Serial: "HWTC1A2B3C4D", VLAN: 100}
	setUpID = id.Derive[id.CPEOperation]("test", "set-up")
	setUp   = commands.SetUpCpeOnu{
		OnuID: onuID, OrgID: acme, CpeID: box, SubscriberID: amina, OperationID: setUpID, Place: onuPlan, First: true,
	}
	ofOnu = events.CpeOnuSubject{OnuID: onuID, CpeID: box, OrgID: acme, OperationID: setUpID}
	asked = events.CpeOnuAsked{
		CpeOnuSubject: ofOnu, SubscriberID: amina, Place: onuPlan, Steps: []string{"register", "vlan", "tags"},
		First: true, ExpiresAt: now.Add(24 * time.Hour), At: now,
	}
	onuReady    = events.CpeOnuReady{CpeOnuSubject: ofOnu, At: now}
	onuFailed   = events.CpeOnuFailed{CpeOnuSubject: ofOnu, Step: "register", Code: "onu_not_seen", At: now}
	onuReleased = events.CpeOnuFailed{
		CpeOnuSubject: ofOnu, Code: "released", Message: "The device was released.", At: now,
	}
	onuLeaving  = events.CpeOnuLeaving{CpeOnuSubject: ofOnu, Place: onuPlan, At: now}
	onuTakenOut = events.CpeOnuTakenOut{CpeOnuSubject: ofOnu, At: now}
	removeOnu   = commands.RemoveCpeOnu{OnuID: onuID, CpeID: box}
)

// onuStep records that the terminal or the CPE has done its part.
func onuStep(name string) events.CpeOnuStepDone {
	return events.CpeOnuStepDone{CpeOnuSubject: ofOnu, Step: name, At: now}
}

// didStep is the report of a job.
func didStep(name string) commands.ReportCpeOnuStep {
	return commands.ReportCpeOnuStep{OnuID: onuID, OperationID: setUpID, Step: name}
}

// onu begins a scenario.
func onu(
	t *testing.T, list ...events.CpeOnuEvent,
) *decidertest.Scenario[cpe.Onu, commands.CpeOnuCommand, events.CpeOnuEvent] {
	t.Helper()
	return decidertest.For(t, cpe.Onus(), now).Given(list...)
}

func TestOnu_GoesThroughItsSteps(t *testing.T) {
	t.Parallel()
	onu(t).When(setUp).Then(asked).BelongsTo(acme, "cpe_operation_not_found")
	onu(t, asked).When(setUp).ThenNothing()
	onu(t, asked).When(didStep("register")).Then(onuStep("register"))
	onu(t, asked, onuStep("register")).When(didStep("register")).ThenNothing()
	onu(t, asked, onuStep("register"), onuStep("vlan")).When(didStep("tags")).Then(onuStep("tags"), onuReady)
	onu(t, asked).When(didStep("credentials")).ThenFails("cpe_operation_over") // it has no login
	fail := commands.FailCpeOnu{OnuID: onuID, OperationID: setUpID, Step: "register", Code: "onu_not_seen"}
	onu(t, asked).When(fail).Then(onuFailed)
	onu(t, asked, onuFailed).When(fail).ThenNothing()
	expire := commands.ExpireCpeOnu{OnuID: onuID, OperationID: setUpID}
	onu(t, asked).When(expire).ThenNothing()
	late := asked
	late.ExpiresAt = now
	onu(t, late).When(expire).Then(events.CpeOnuExpired{CpeOnuSubject: ofOnu, At: now})
}

// An ONU is that of one CPE until it was taken out; what was not registered is free.
func TestOnu_IsThatOfOneCpe(t *testing.T) {
	t.Parallel()
	theirs := setUp
	theirs.CpeID, theirs.OperationID = id.Derive[id.CPE]("test", "other"), id.New[id.CPEOperation]()
	theirs.First = false
	next := setUp
	next.OperationID, next.First = id.Derive[id.CPEOperation]("test", "next"), false
	onu(t, asked).When(theirs).ThenFails("onu_in_use")
	onu(t, asked).When(next).ThenFails("onu_busy")
	registered := []events.CpeOnuEvent{asked, onuStep("register"), onuStep("vlan"), onuStep("tags"), onuReady}
	first := next
	first.First = true
	onu(t, registered...).When(first).ThenFails("onu_in_use") // a claim that fails would take it out
	moved := next
	moved.Place.Port = "0/1/2"
	onu(t, registered...).When(moved).ThenFails("onu_elsewhere")
	again := asked
	again.OperationID, again.First = next.OperationID, false
	onu(t, registered...).When(next).Then(again)
	onu(t, append(registered, onuLeaving)...).When(next).ThenFails("onu_busy")
	taken := asked
	taken.CpeID, taken.OperationID, taken.First = theirs.CpeID, theirs.OperationID, false
	onu(t, asked, onuFailed).When(theirs).Then(taken)
	onu(t, append(registered, onuLeaving, onuTakenOut)...).When(theirs).Then(taken)
}

func TestOnu_IsTakenOut(t *testing.T) {
	t.Parallel()
	onu(t, asked).When(removeOnu).Then(onuReleased, onuLeaving)
	onu(t, asked, onuStep("register"), onuReleased, onuLeaving).When(removeOnu).ThenNothing()
	onu(t, asked, onuStep("register"), onuReleased, onuLeaving).When(didStep("vlan")).ThenFails("onu_removed")
	onu(t, asked, onuReleased, onuLeaving).When(didStep("register")).ThenFails("onu_removed")
	onu(t, asked, onuReleased, onuLeaving, onuTakenOut).When(didStep("register")).ThenFails("onu_removed")
	onu(t, asked, onuReleased, onuLeaving).When(commands.ReportCpeOnuTakenOut{OnuID: onuID}).Then(onuTakenOut)
	onu(t, asked).When(commands.ReportCpeOnuTakenOut{OnuID: onuID}).ThenNothing()
	other := removeOnu
	other.CpeID = id.Derive[id.CPE]("test", "other")
	onu(t, asked).When(other).ThenNothing()
	onu(t, asked, onuFailed).When(removeOnu).ThenNothing()
}

func TestSetUpCpeOnu_Form(t *testing.T) {
	t.Parallel()
	if err := setUp.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*events.CpeOnuPlace){
		func(p *events.CpeOnuPlace) { p.Serial = "hwtc1a2b3c4d" },
		func(p *events.CpeOnuPlace) { p.OLT = "../hill" },
		func(p *events.CpeOnuPlace) { p.Port = "0/1/1/1" },
		func(p *events.CpeOnuPlace) { p.VLAN = 4095 },
		func(p *events.CpeOnuPlace) { p.VLAN = 0 },
	} {
		c := setUp
		change(&c.Place)
		c.OnuID = commands.CpeOnuID(acme, c.Place.Serial)
		if c.Validate() == nil {
			t.Errorf("%+v is taken", c.Place)
		}
	}
}
