package course

import (
	"bytes"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Subject is one subscription with its history.
type Subject struct {
	Subscription id.Subscription
	History      History
}

// Outcome says what a policy would have done in a time of the past.
type Outcome struct {
	Subscriptions int      // all that were looked at
	WalledGarden  int      // how often a customer would have come into the walled garden
	Suspended     int      // how often one would have been suspended
	Restored      int      // how often access would have come back
	Changes       []Change // of access only: a course that ends with a reminder is no change
}

// Change is one change of a subscription's state.
type Change struct {
	Subscription id.Subscription
	At           time.Time
	From, To     events.DunningState
	Due          money.Amount // as that of the step
}

// Preview runs rules over the past [from, to). What really happened to the customers makes no difference: only what
// they owed and paid, and when the clock stood still. The changes ascend by instant, then by subscription.
func Preview(r Rules, subjects []Subject, from, to time.Time) Outcome {
	out := Outcome{Subscriptions: len(subjects)}
	for _, s := range subjects {
		s.History.Entered, s.History.Found, s.History.Late = nil, Owed{}, time.Time{}
		state := events.DunningNone
		for _, step := range Of(r, s.History).Steps {
			before := state
			state = step.State
			if step.At.Before(from) || !step.At.Before(to) || !before.Cut() && !state.Cut() {
				continue
			}
			out.Changes = append(out.Changes, Change{
				Subscription: s.Subscription, At: step.At, From: before, To: state, Due: step.Due,
			})
			switch {
			case state == events.DunningWalledGarden && !before.Cut():
				out.WalledGarden++
			case state.Off() && !before.Off():
				out.Suspended++
			case before.Cut() && !state.Cut():
				out.Restored++
			}
		}
	}
	slices.SortFunc(out.Changes, func(a, b Change) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return bytes.Compare(a.Subscription[:], b.Subscription[:])
	})
	return out
}
