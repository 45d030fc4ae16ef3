package claims_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/identity/claims"
)

// The events of one unique value. Its key is only in the metadata.
var (
	now      = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	value    = id.Derive[id.Any]("test", "value")
	owner    = id.Derive[id.Any]("test", "owner")
	taken    = events.ClaimTaken{Kind: "username", OwnerCategory: "subscription", Owner: owner}
	released = events.ClaimReleased{Kind: "username", Owner: owner}
)

// at begins or goes on with an example whose next events are recorded at an instant.
func at(s processtest.Scenario[claims.State], at time.Time) processtest.Scenario[claims.State] {
	return s.At(at).With(events.Metadata{AggregateID: value, At: at})
}

// check arms the timer at an instant.
func check(at time.Time) processmanagers.Output {
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: "check", At: at}}}
}

func TestClaims_AreCheckedOnceAfterFiveMinutes(t *testing.T) {
	t.Parallel()
	later := now.Add(5 * time.Minute)
	at(processtest.For(t, claims.Process(), now), now).
		When(taken).Then(check(later)).ThenGoesOn().
		At(later).WhenDue("check", later).Then(processmanagers.Output{
		Commands: []commands.Command{commands.ReleaseUnusedClaim{Claim: value}},
	}).ThenEnded().
		WhenRefused(commands.ReleaseUnusedClaim{Claim: value}, "no").ThenNothing().ThenEnded().
		WhenDue("check", later).ThenNothing().ThenEnded()
}

func TestClaims_ThatAreTakenAgainAreCheckedLater(t *testing.T) {
	t.Parallel()
	again := now.Add(4 * time.Minute)
	first := at(processtest.For(t, claims.Process(), now), now).Given(taken)
	at(first, again).When(taken).Then(check(again.Add(5 * time.Minute))).ThenGoesOn()
	at(first, again).Given(released).When(taken).Then(check(again.Add(5 * time.Minute))).ThenGoesOn()
}

func TestClaims_ThatWereReleasedNeedNoCheck(t *testing.T) {
	t.Parallel()
	at(processtest.For(t, claims.Process(), now), now).Given(taken).When(released).ThenNothing().ThenEnded()
	at(processtest.For(t, claims.Process(), now), now).When(released).ThenNothing().ThenEnded()
}
