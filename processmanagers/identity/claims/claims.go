// Package claims frees unique values that nobody uses: a program was killed between the reservation of a value and the
// first event of its owner, or between the event by which an owner drops a value and its release. Source:
// docs/rules/engine.md#claims.
//
//	taken ──► timer check, 5 min ──► ReleaseUnusedClaim ──► the bus frees the value, unless its owner uses it
//	  ├─ released before ──► over
//	  └─ settled: this program has just recorded the event by which its owner uses it ──► over
package claims

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// timerCheck comes due when the owner has had enough time to use the value.
const timerCheck = "check"

// checkAfter is counted from the newest reservation. It is longer than the patience of the bus, so that one look
// suffices although the clocks of two machines differ.
const checkAfter = 5 * time.Minute

// State is the newest reservation of one unique value. The zero value is none.
type State struct {
	Claim id.Any `json:"claim"`
}

// Process has one instance for each reserved value; the instance ends with the check, or with the release. Most values
// are used at once, and then there is none.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "claims",
		On: []processmanagers.Handled{
			{
				Type: events.ClaimTaken{}.EventType(), Key: key,
				// One before it has led to a check or to none, which finds whatever is true by then.
				Brief: func(events.Envelope) bool { return true },
			},
			{Type: events.ClaimReleased{}.EventType(), Key: key, Follows: true},
		},
		Decide: Decide, Evolve: Evolve,
		Ended: func(s State) bool { return s.Claim.IsZero() },
	}
}

// key is the key of the unique value, which only the metadata has: the owner in the payload can change.
func key(e events.Envelope) string { return e.Meta.AggregateID.String() }

// Evolve follows the newest reservation.
func Evolve(_ State, in processmanagers.Input) State {
	if in.Event != nil {
		if _, taken := in.Event.Event.(events.ClaimTaken); taken {
			return State{Claim: in.Event.Meta.AggregateID}
		}
	}
	return State{}
}

// Decide asks once for the release. The bus knows whether the owner uses the value, as it does when somebody else wants
// it, so the process need not know the owners.
func Decide(s State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	switch {
	case in.Timeout != nil && !s.Claim.IsZero():
		return processmanagers.Output{Commands: []commands.Command{commands.ReleaseUnusedClaim{Claim: s.Claim}}}, nil
	case in.Event != nil:
		if _, taken := in.Event.Event.(events.ClaimTaken); taken {
			at := in.Event.Meta.At.Add(checkAfter)
			return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerCheck, At: at}}}, nil
		}
	}
	return processmanagers.Output{}, nil
}
