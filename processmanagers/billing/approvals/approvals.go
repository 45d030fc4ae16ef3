// Package approvals has acts done that a second person has approved, and ends what nobody decides about:
//
//	ApprovalRequested ──► timer "over" ──► ExpireApproval
//	ApprovalGranted ──► CarryOutApproval, a job that reports how the act ended
//	refused, withdrawn, expired ──► nothing more
//
// Source: docs/rules/approvals.md#approvals.
package approvals

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// timerOver comes due when nobody has decided in time.
const timerOver = "over"

// State is an approval that waits. The zero value is none.
type State struct {
	Waits id.Approval `json:"waits"`
}

// Process has an instance for each approval that waits.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "approvals",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.ApprovalRequested) string { return e.ApprovalID.String() }),
			processmanagers.Follow(func(e events.ApprovalGranted) string { return e.ApprovalID.String() }),
			processmanagers.Follow(func(e events.ApprovalRefused) string { return e.ApprovalID.String() }),
			processmanagers.Follow(func(e events.ApprovalWithdrawn) string { return e.ApprovalID.String() }),
			processmanagers.Follow(func(e events.ApprovalExpired) string { return e.ApprovalID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return s.Waits.IsZero() },
	}
}

// evolve remembers what waits. After the timer the approval itself says that it has expired.
func evolve(s State, in processmanagers.Input) State {
	switch {
	case in.Event == nil:
		return s
	default:
		if e, ok := in.Event.Event.(events.ApprovalRequested); ok {
			return State{Waits: e.ApprovalID}
		}
		return State{}
	}
}

// decide arms the timer, and asks for what was approved.
func decide(s State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	if in.Timeout != nil {
		return processmanagers.Output{Commands: []commands.Command{commands.ExpireApproval{ApprovalID: s.Waits}}}, nil
	}
	if in.Event == nil {
		return processmanagers.Output{}, nil
	}
	switch e := in.Event.Event.(type) {
	case events.ApprovalRequested:
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerOver, At: e.ExpiresAt}}}, nil
	case events.ApprovalGranted:
		return processmanagers.Output{Jobs: []commands.Job{commands.CarryOutApproval{
			OrgID: e.OrgID, ApprovalID: e.ApprovalID,
		}}}, nil
	}
	return processmanagers.Output{}, nil
}
