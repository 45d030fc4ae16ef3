package access_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// A device that is online by a local secret, and the writes that take it away.
var (
	bypass = events.AccessDifference{
		DifferenceID: id.Derive[id.Difference]("test", "bypass"), OrgID: id.Derive[id.Organization]("test", "org"),
		DeviceID: id.Derive[id.Device]("test", "router"), Kind: events.LocalBypass,
	}
	disabling = events.RouterStep{Path: "ppp/secret", Operation: "set", After: map[string]string{"disabled": "yes"}}
	removal   = events.RouterStep{Path: "ppp/active", Operation: "remove"}
	clerk     = events.Actor{Kind: events.ActorUser, ID: "clerk"}
)

// found makes the event of a difference that was opened at now.
func found(actual string, at time.Time) events.AccessDifferenceOpened {
	return events.AccessDifferenceOpened{
		AccessDifference: bypass, Expected: "RADIUS", Actual: personal.Of(actual), Since: now, At: at,
	}
}

// difference begins a scenario with recorded events.
func difference(t *testing.T, given ...events.DifferenceEvent) *decidertest.Scenario[
	access.Difference, commands.DifferenceCommand, events.DifferenceEvent,
] {
	t.Helper()
	return decidertest.For(t, access.Differences(), now).Given(given...)
}

func TestDifference_IsOpenedAndClosedOnce(t *testing.T) {
	t.Parallel()
	open := func(actual string) commands.DifferenceCommand {
		return commands.OpenDifference{Difference: bypass, Expected: "RADIUS", Actual: personal.Of(actual)}
	}
	walled := commands.OpenDifference{Difference: bypass, Expected: "RADIUS", Actual: personal.Of("user"), Walled: true}
	inGarden := found("user", now)
	inGarden.Walled = true
	over := commands.CloseDifference{DifferenceID: bypass.DifferenceID}
	closed := events.AccessDifferenceClosed{AccessDifference: bypass, At: now}
	difference(t).When(open("secret")).Then(found("secret", now))
	difference(t, found("secret", now)).When(open("secret")).ThenNothing()
	difference(t, found("secret", now)).When(open("user")).Then(found("user", now))
	difference(t, found("user", now)).When(walled).Then(inGarden)
	difference(t, inGarden).When(walled).ThenNothing()
	difference(t, found("secret", now)).When(over).Then(closed)
	difference(t, found("secret", now), closed).When(over).ThenNothing()
	difference(t, found("secret", now), closed).When(open("secret")).Then(found("secret", now))
	difference(t).When(over).ThenNothing()
}

func TestDifference_EachWriteOfARepairIsRecorded(t *testing.T) {
	t.Parallel()
	ask := commands.AskRepair{
		DifferenceID: bypass.DifferenceID, Steps: []events.RouterStep{disabling, removal}, By: clerk,
	}
	asked := events.AccessRepairAsked{
		AccessDifference: bypass, Steps: []events.RouterStep{disabling, removal}, By: clerk, At: now,
	}
	record := commands.RecordRepairWrite{DifferenceID: bypass.DifferenceID}
	write := func(step events.RouterStep, found bool) events.AccessRepairWritten {
		return events.AccessRepairWritten{AccessDifference: bypass, Step: step, Found: found, By: clerk, At: now}
	}
	difference(t).When(ask).ThenFails("difference_not_found")
	difference(t, found("secret", now)).When(ask).Then(asked)
	difference(t, found("secret", now), asked).When(record).Then(write(disabling, false))
	difference(t, found("secret", now), asked, write(disabling, false)).When(record).Then(write(removal, false))
	difference(t, found("secret", now), asked, write(disabling, false), write(removal, false)).
		When(record).ThenNothing()
	again := commands.AskRepair{DifferenceID: bypass.DifferenceID, Steps: []events.RouterStep{removal}, By: clerk}
	difference(t, found("secret", now), asked).When(again).Then(write(disabling, true), events.AccessRepairAsked{
		AccessDifference: bypass, Steps: again.Steps, By: clerk, At: now,
	})
	difference(t, found("secret", now), asked, write(disabling, false)).
		When(commands.CloseDifference{DifferenceID: bypass.DifferenceID}).
		Then(write(removal, true), events.AccessDifferenceClosed{AccessDifference: bypass, At: now})
}

// Two writes of a repair can look the same: the one that was made and not recorded is found, the other one is announced
// once more. What was asked for keeps the request that asked for it.
func TestDifference_EqualWritesAreCounted(t *testing.T) {
	t.Parallel()
	asked := events.AccessRepairAsked{
		AccessDifference: bypass, Steps: []events.RouterStep{disabling, removal, removal}, By: clerk,
		CorrelationID: "first", At: now,
	}
	written := func(step events.RouterStep, found bool) events.AccessRepairWritten {
		return events.AccessRepairWritten{
			AccessDifference: bypass, Step: step, Found: found, By: clerk, CorrelationID: "first", At: now,
		}
	}
	again := commands.AskRepair{
		DifferenceID: bypass.DifferenceID, Steps: []events.RouterStep{removal}, By: clerk, CorrelationID: "second",
	}
	difference(t, found("secret", now), asked).When(again).
		Then(written(disabling, true), written(removal, true), events.AccessRepairAsked{
			AccessDifference: bypass, Steps: again.Steps, By: clerk, CorrelationID: "second", At: now,
		})
	difference(t, found("secret", now), asked).
		When(commands.RecordRepairWrite{DifferenceID: bypass.DifferenceID, Found: true}).Then(written(disabling, true))
}

// A difference that comes and goes for years has a short stream: a period passes on all that decisions need, and no
// personal text.
func TestDifference_APeriodPassesOnWhatIsNeeded(t *testing.T) {
	t.Parallel()
	def := access.Differences()
	asked := events.AccessRepairAsked{
		AccessDifference: bypass, Steps: []events.RouterStep{disabling}, By: clerk, CorrelationID: "first", At: now,
	}
	state := def.Evolve(def.Evolve(access.Difference{}, found("amina", now)), asked)
	closing := def.Close(state)
	got, err := def.Reopen(closing)
	if err != nil {
		t.Fatal(err)
	}
	state.Actual = ""
	if diff := cmp.Diff(state, got); diff != "" {
		t.Errorf("state (-before +after):\n%s", diff)
	}
	if body := string(closing.(events.AccessDifferencePeriodClosed).Opening); strings.Contains(body, "amina") {
		t.Errorf("personal text in %s", body)
	}
	difference(t, found("amina", now), asked,
		closing).When(commands.CloseDifference{DifferenceID: bypass.DifferenceID}).
		Then(events.AccessRepairWritten{
			AccessDifference: bypass, Step: disabling, Found: true, By: clerk, CorrelationID: "first", At: now,
		}, events.AccessDifferenceClosed{AccessDifference: bypass, At: now})
}
