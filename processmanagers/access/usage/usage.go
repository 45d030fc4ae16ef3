// Package usage ends what a cap does when its period is over, and has top-ups invoiced that were sold:
//
//	CapReached ──► timer "reset" ──► ResetCap ──► CapReset, SubscriptionEnded ──► the instance ends
//	                  ▲                 │ refused
//	CapPeriodMoved ───┘◄────────────────┘ a minute later
//	TopUpAdded with a price that is not paid ──► DraftTopUpInvoice
//
// Access does not wait for it: it comes back at the instant that CapReached tells. The event is for those who are told
// about it, such as the timeline. However long the clock jumps, there is one reset for one cap that was reached.
package usage

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// timerName is the name of an instance's only timer.
const timerName = "reset"

// retry is the wait before a command that was refused is given again.
const retry = time.Minute

// State is the cap that acts at present. The zero value is none: the instance has ended.
type State struct {
	Subject events.UsageSubject `json:"subject,omitzero"`
	Period  events.CapPeriod    `json:"period,omitzero"`
}

// Process has one instance for each subscription whose cap is reached.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "usage",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.CapReached) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(func(e events.CapPeriodMoved) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(func(e events.TopUpAdded) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(func(e events.CapReset) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(func(e events.SubscriptionEnded) string { return e.SubscriptionID.String() }),
		},
		Decide: decide, Evolve: evolve, Ended: func(s State) bool { return s.Period.Period == "" },
	}
}

// evolve follows the cap.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.CapReached:
		return State{Subject: e.UsageSubject, Period: e.CapPeriod}
	case events.CapPeriodMoved:
		if s.Period.Same(e.CapPeriod) {
			s.Period = e.CapPeriod
		}
	case events.CapReset, events.SubscriptionEnded:
		return State{}
	}
	return s
}

// decide arms the timer for the end of the period, and resets the cap when it comes due.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	if in.Event != nil {
		if sold, ok := in.Event.Event.(events.TopUpAdded); ok {
			return invoiced(sold), nil
		}
	}
	if in.Refusal != nil {
		if draft, ok := in.Refusal.Asked.(commands.DraftTopUpInvoice); ok {
			return again(draft, in.Refusal.Code), nil
		}
	}
	after := evolve(s, in)
	switch {
	case after.Period.Period == "": // nothing to wait for
		return processmanagers.Output{}, nil
	case in.Timeout != nil:
		return processmanagers.Output{Commands: []commands.Command{
			commands.ResetCap{Subject: s.Subject, Starts: s.Period.Starts},
		}}, nil
	case in.Refusal != nil:
		return armed(now.Add(retry)), nil
	}
	return armed(after.Period.ResetsAt), nil
}

// invoiced drafts the invoice of a top-up that has a price, unless it was ordered and is paid.
func invoiced(e events.TopUpAdded) processmanagers.Output {
	if !e.Price.Positive() || e.Paid {
		return processmanagers.Output{}
	}
	return processmanagers.Output{Commands: []commands.Command{
		commands.TopUpInvoice(e.UsageSubject, e.InvoiceID, e.Bytes, e.Price, e.At),
	}}
}

// again drafts an invoice again when others were faster. Another refusal has no better outcome later.
func again(draft commands.DraftTopUpInvoice, code string) processmanagers.Output {
	if code != "concurrent_change" {
		return processmanagers.Output{}
	}
	return processmanagers.Output{Commands: []commands.Command{draft}}
}

// armed is the output that sets the timer.
func armed(at time.Time) processmanagers.Output {
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerName, At: at}}}
}
