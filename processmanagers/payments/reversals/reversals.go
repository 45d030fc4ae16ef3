// Package reversals asks the provider to send the money of a refund back, once, and asks about it until the end is
// known. Source: docs/rules/money.md#reversals.
//
//	approved (by reversal) ──► job SubmitReversal ──► submitted ──► timer result
//	timer result (5 min without a result) ──► DoubtRefund
//	in doubt ──► job AskRefundStatus, again after 1, 5, 15 min, then hourly for 2 days (timer ask); then a person
//	completed or failed ──► over
package reversals

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// The timers: until when a result is waited for, and when the provider is asked again.
const (
	timerResult = "result"
	timerAsk    = "ask"
)

// resultPatience is how long a reversal that was submitted waits for its result before it is in doubt.
const resultPatience = 5 * time.Minute

// asks are the times after the doubt at which the provider is asked; then hourly until askUntil.
var asks = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// askUntil is how long after the doubt the provider is asked; afterwards a person settles the refund.
const askUntil = 48 * time.Hour

// State has all that is known of one reversal.
type State struct {
	RefundID  id.Refund `json:"refundId"`
	DoubtedAt time.Time `json:"doubtedAt,omitzero"` // zero = not in doubt
	Over      bool      `json:"over,omitempty"`
}

// Process has one instance for each refund by reversal; it ends with the refund.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "reversals",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.RefundApproved) string {
				if e.By == commands.RefundManual {
					return ""
				}
				return e.RefundID.String()
			}),
			processmanagers.Follow(func(e events.RefundSubmitted) string { return e.RefundID.String() }),
			processmanagers.Follow(func(e events.RefundDoubted) string { return e.RefundID.String() }),
			processmanagers.Follow(func(e events.RefundCompleted) string { return e.RefundID.String() }),
			processmanagers.Follow(func(e events.RefundFailed) string { return e.RefundID.String() }),
		},
		Decide: Decide,
		Evolve: Evolve,
		Ended:  func(s State) bool { return s.Over || s.RefundID.IsZero() },
	}
}

// Evolve follows one reversal until its end.
func Evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.RefundApproved:
		return State{RefundID: e.RefundID}
	case events.RefundDoubted:
		s.DoubtedAt = e.At
	case events.RefundCompleted, events.RefundFailed:
		s.Over = true
	}
	return s
}

// Decide asks for the reversal once, and about it as long as nobody knows its end.
func Decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	var out processmanagers.Output
	switch {
	case in.Timeout != nil:
		return onTimeout(s, *in.Timeout, now), nil
	case in.Event == nil:
		return out, nil
	}
	switch e := in.Event.Event.(type) {
	case events.RefundApproved:
		out.Jobs = []commands.Job{commands.SubmitReversal{RefundID: e.RefundID, Position: in.Event.Position}}
	case events.RefundSubmitted:
		out.Timers = []processmanagers.Timer{{Name: timerResult, At: e.At.Add(resultPatience)}}
	case events.RefundDoubted:
		out.Timers = []processmanagers.Timer{{Name: timerResult}, {Name: timerAsk, At: e.At.Add(asks[0])}}
	case events.RefundCompleted, events.RefundFailed:
		out.Timers = []processmanagers.Timer{{Name: timerResult}, {Name: timerAsk}}
	}
	return out, nil
}

// onTimeout doubts a reversal whose result has not come, and asks about one in doubt.
func onTimeout(s State, t processmanagers.Timeout, now time.Time) processmanagers.Output {
	var out processmanagers.Output
	switch {
	case s.Over || s.RefundID.IsZero():
	case t.Name == timerResult:
		out.Commands = []commands.Command{
			commands.DoubtRefund{RefundID: s.RefundID, Cause: commands.DoubtNoResult},
		}
	case t.Name == timerAsk:
		out.Jobs = []commands.Job{commands.AskRefundStatus{RefundID: s.RefundID}}
		if at := nextAsk(s.DoubtedAt, now); at.Sub(s.DoubtedAt) <= askUntil {
			out.Timers = []processmanagers.Timer{{Name: timerAsk, At: at}}
		}
	}
	return out
}

// nextAsk is the first time of the schedule after now. Times that have passed are not made up for.
func nextAsk(doubted, now time.Time) time.Time {
	for _, after := range asks {
		if at := doubted.Add(after); at.After(now) {
			return at
		}
	}
	return doubted.Add((now.Sub(doubted)/time.Hour + 1) * time.Hour)
}
