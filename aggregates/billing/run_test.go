package billing_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The run of these tests.
var (
	runDate = calendar.Date{Year: 2026, Month: 3, Day: 14}
	run     = commands.BillingRunOf(org, runDate)
	asksRun = commands.RequestBillingRun{RunID: run, OrgID: org, Date: runDate}

	runAsked    = events.BillingRunRequested{RunID: run, OrgID: org, Date: runDate, At: now}
	runBegan    = events.BillingRunBegan{RunID: run, OrgID: org, Due: 90, Usual: 7, At: now}
	runHeld     = events.BillingRunHeld{RunID: run, OrgID: org, Due: 301, Usual: 100, At: now}
	runReleased = events.BillingRunReleased{RunID: run, OrgID: org, Reason: "first of the month", At: now}
	runFinished = events.BillingRunFinished{RunID: run, OrgID: org, Date: runDate, At: now}

	begins   = commands.BeginBillingRun{RunID: run, Due: 90, Usual: 7}
	releases = commands.ReleaseBillingRun{RunID: run, OrgID: org, Reason: "first of the month"}
	finishes = commands.FinishBillingRun{RunID: run}
)

// aRun begins an example of one billing run.
func aRun(t *testing.T) *decidertest.Scenario[billing.Run, commands.BillingRunCommand, events.BillingRunEvent] {
	t.Helper()
	return decidertest.For(t, billing.Runs(), now)
}

func TestBillingRun_GoesFromItsRequestToItsEndAndCanBeAskedForAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []commands.BillingRunCommand{begins, releases, finishes} {
		aRun(t).When(c).ThenFails("billing_run_not_found")
	}
	aRun(t).When(asksRun).Then(runAsked)
	aRun(t).Given(runAsked).When(asksRun).ThenNothing()
	aRun(t).Given(runAsked).When(finishes).ThenNothing() // of an older job
	aRun(t).Given(runAsked).When(begins).Then(runBegan)
	aRun(t).Given(runAsked, runBegan).When(begins).ThenNothing() // the job was killed, and begins again
	aRun(t).Given(runAsked, runBegan).When(asksRun).ThenNothing()
	aRun(t).Given(runAsked, runBegan).When(finishes).Then(runFinished)
	aRun(t).Given(runAsked, runBegan, runFinished).When(finishes).ThenNothing()
	aRun(t).Given(runAsked, runBegan, runFinished).When(asksRun).Then(runAsked)
	aRun(t).Given(runAsked).BelongsTo(org, "billing_run_not_found")
}

func TestBillingRun_ThatIsFarAboveTheUsualWaitsForAPerson(t *testing.T) {
	t.Parallel()
	far := commands.BeginBillingRun{RunID: run, Due: 301, Usual: 100}
	aRun(t).Given(runAsked).When(far).Then(runHeld)
	aRun(t).Given(runAsked, runHeld).When(far).ThenNothing()
	aRun(t).Given(runAsked, runHeld).When(releases).Then(runReleased)
	aRun(t).Given(runAsked).When(releases).ThenFails("billing_run_not_held")
	aRun(t).Given(runAsked, runHeld, runReleased).When(releases).ThenNothing()
	aRun(t).Given(runAsked, runHeld, runReleased).When(far).
		Then(events.BillingRunBegan{RunID: run, OrgID: org, Due: 301, Usual: 100, At: now})
	aRun(t).Given(runAsked, runHeld).When(asksRun).Then(runAsked) // it is counted anew
	for _, c := range []struct {
		due, usual int
		held       bool
	}{{90, 0, false}, {91, 0, true}, {91, 31, false}, {300, 100, false}, {301, 100, true}} {
		if got := billing.Blows(c.due, c.usual); got != c.held {
			t.Errorf("%d where %d is usual: held %v", c.due, c.usual, got)
		}
	}
}

func TestBillingRun_IsThatOfItsOrganizationAndDate(t *testing.T) {
	t.Parallel()
	other := asksRun
	other.OrgID = id.Must[id.Organization]("0195a000-0000-7000-8000-0000000000ff")
	if other.Validate() == nil || asksRun.Validate() != nil {
		t.Errorf("own %v, foreign %v", asksRun.Validate(), other.Validate())
	}
}
