// Package paymentprompt follows one prompt attempt until its end: it sends the prompt once, asks the provider for the
// verdict repeatedly, gives up after a day, and then frees the account for the next prompt. Source:
// docs/rules/payments.md#verdicts, docs/rules/payments.md#one-open-prompt.
//
//	initiated ──► job SubmitPrompt ──► accepted ─┐            ┌─► succeeded │ cancelled │ failed ──► ReleasePrompt
//	                     │                       ├─ callback ─┤
//	                     └──► in doubt ──────────┘   query    └─► a day passed, last query answered ──► expired
//	expired ──► ReleasePrompt
//	timer recheck: 30 s, 1, 2, 5, 15, 60 min after the start, then hourly ──► job QueryPrompt
//	without an id at the provider: after 2 min ──► AbandonPrompt, if it was never sent
//	                               after 5 min ──► DoubtPrompt, ReleasePrompt: another prompt of the amount is allowed
//	reserved on the account, but not initiated within 5 min (timer abandoned): a crash in between ──► ReleasePrompt
//	no answer on the handset (1019, 1025, 1037), repeated by a re-check: stays open ──► ReleasePrompt: ask again
//	timer expire: 24 h after the start ──► job QueryPrompt, whose answer allows ExpirePayment
package paymentprompt

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Names of the timers; each attempt has one of each.
const (
	timerRecheck   = "recheck"
	timerExpire    = "expire"
	timerAbandoned = "abandoned"
)

// abandonedAfter is how long a reservation waits for its attempt. After that a crash happened between the two.
const abandonedAfter = 5 * time.Minute

// rechecks are the times after the start at which the provider is asked; after the last one it is asked hourly. Source:
// docs/rules/payments.md#verdicts.
var rechecks = []time.Duration{
	30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour,
}

// offHandset are the codes by which the provider reports that the prompt is no longer on the handset, though the
// payment stays PENDING (docs/rules/payments.md#result-codes). When the first re-check repeats such a code, the account
// is freed for a new prompt of the same amount, long before the attempt expires. If the customer pays both, both are
// credited: they are two receipts.
var offHandset = map[string]bool{"1019": true, "1025": true, "1037": true}

// State is the part of one attempt's history that the next step depends on.
type State struct {
	PaymentID    id.Payment    `json:"paymentId"`
	SubscriberID id.Subscriber `json:"subscriberId"`
	StartedAt    time.Time     `json:"startedAt"`
	ExpiresAt    time.Time     `json:"expiresAt"`
	Named        bool          `json:"named"` // the provider's id of the prompt is known, so a query is possible
	Initiated    bool          `json:"initiated"`
	Freed        bool          `json:"freed,omitempty"` // the account was released while the outcome is unknown
	Over         bool          `json:"over"`
}

// Process has one instance for each attempt; the instance ends with the verdict.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "paymentprompt",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.PromptReserved) string { return e.PaymentID.String() }),
			processmanagers.On(func(e events.PaymentInitiated) string { return e.PaymentID.String() }),
			processmanagers.On(func(e events.PromptAccepted) string { return e.PaymentID.String() }),
			processmanagers.On(func(e events.PromptChecked) string { return e.PaymentID.String() }),
			processmanagers.On(func(e events.PromptCheckRequested) string { return e.PaymentID.String() }),
			processmanagers.On(func(e events.PaymentSucceeded) string { return e.PaymentID.String() }),
			processmanagers.On(func(e events.PaymentCancelled) string { return e.PaymentID.String() }),
			processmanagers.On(func(e events.PaymentFailed) string { return e.PaymentID.String() }),
			processmanagers.On(func(e events.PaymentExpired) string { return e.PaymentID.String() }),
		},
		Decide: Decide,
		Evolve: Evolve,
		Ended:  func(s State) bool { return s.Over || s.PaymentID.IsZero() },
	}
}

// Evolve follows one attempt. A reservation that no attempt follows ends by its timer.
func Evolve(s State, in processmanagers.Input) State {
	if in.Timeout != nil && in.Timeout.Name == timerAbandoned && !s.Initiated {
		s.Over = true
	}
	if in.Timeout != nil && s.unknown(*in.Timeout) && s.waited(*in.Timeout) >= commands.DoubtPatience {
		s.Freed = true
	}
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.PromptReserved:
		return State{PaymentID: e.PaymentID, SubscriberID: e.SubscriberID}
	case events.PaymentInitiated:
		return State{
			PaymentID: e.PaymentID, SubscriberID: e.SubscriberID, StartedAt: e.InitiatedAt, ExpiresAt: e.ExpiresAt,
			Initiated: true,
		}
	case events.PromptAccepted:
		s.Named = true
	case events.PaymentSucceeded, events.PaymentCancelled, events.PaymentFailed, events.PaymentExpired:
		s.Over = true
	}
	return s
}

// Decide sends the prompt, asks for its verdict, and releases the account at the end.
func Decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	switch {
	case in.Timeout != nil:
		return onTimeout(s, *in.Timeout, now), nil
	case in.Event == nil:
		return processmanagers.Output{}, nil // a refused release or expiry needs nothing more
	}
	var out processmanagers.Output
	switch e := in.Event.Event.(type) {
	case events.PromptReserved:
		out.Timers = []processmanagers.Timer{{Name: timerAbandoned, At: e.At.Add(abandonedAfter)}}
	case events.PaymentInitiated:
		out.Jobs = []commands.Job{commands.SubmitPrompt{PaymentID: e.PaymentID, Position: in.Event.Position}}
		out.Timers = []processmanagers.Timer{
			{Name: timerRecheck, At: nextRecheck(e.InitiatedAt, now)}, {Name: timerExpire, At: e.ExpiresAt},
			{Name: timerAbandoned},
		}
	case events.PromptCheckRequested:
		out.Jobs = []commands.Job{commands.QueryPrompt{PaymentID: e.PaymentID, Position: in.Event.Position}}
	case events.PromptChecked:
		switch {
		case s.PaymentID.IsZero():
		case e.Answered && !e.At.Before(s.ExpiresAt):
			out.Commands = []commands.Command{commands.ExpirePayment{PaymentID: s.PaymentID}}
		case offHandset[e.Code] && !e.At.Before(s.StartedAt.Add(rechecks[0])):
			out.Commands = []commands.Command{
				commands.ReleasePrompt{SubscriberID: s.SubscriberID, PaymentID: s.PaymentID},
			}
		}
	case events.PaymentSucceeded:
		out = release(e.PaymentID, e.SubscriberID)
	case events.PaymentCancelled:
		out = release(e.PaymentID, e.SubscriberID)
	case events.PaymentFailed:
		out = release(e.PaymentID, e.SubscriberID)
	case events.PaymentExpired:
		out = release(e.PaymentID, e.SubscriberID)
	}
	return out, nil
}

// release frees the account and disarms the timers. It can happen twice, when a success follows a failure; the second
// one changes nothing.
func release(payment id.Payment, subscriber id.Subscriber) processmanagers.Output {
	return processmanagers.Output{
		Commands: []commands.Command{commands.ReleasePrompt{SubscriberID: subscriber, PaymentID: payment}},
		Timers:   []processmanagers.Timer{{Name: timerRecheck}, {Name: timerExpire}},
	}
}

// unknown reports that a re-check is due of an attempt that has no id at the provider, so that nobody can be asked.
func (s State) unknown(t processmanagers.Timeout) bool {
	return s.Initiated && !s.Named && !s.Freed && t.Name == timerRecheck
}

// waited is how long after the attempt's start a timeout is decided. A re-check that comes late counts the whole wait,
// because those that were due in between never come.
func (s State) waited(t processmanagers.Timeout) time.Duration { return t.At.Sub(s.StartedAt) }

// giveUp returns the commands about an attempt of which nothing is known: it is not sent any more, and its amount gets
// free although the customer may have been asked (docs/rules/payments.md#in-doubt).
func giveUp(s State, waited time.Duration) []commands.Command {
	var out []commands.Command
	if waited >= commands.PromptPatience {
		out = append(out, commands.AbandonPrompt{PaymentID: s.PaymentID})
	}
	if waited >= commands.DoubtPatience {
		out = append(out, commands.DoubtPrompt{PaymentID: s.PaymentID, Cause: "no_answer"},
			commands.ReleasePrompt{SubscriberID: s.SubscriberID, PaymentID: s.PaymentID})
	}
	return out
}

// onTimeout asks the provider again. An attempt that has no id at the provider cannot be asked about: it gives its
// amount back and expires. A reservation without an attempt is released.
func onTimeout(s State, t processmanagers.Timeout, now time.Time) processmanagers.Output {
	var out processmanagers.Output
	switch {
	case s.Over || s.PaymentID.IsZero() || s.Initiated && t.Name == timerAbandoned:
		return out
	case !s.Initiated:
		return release(s.PaymentID, s.SubscriberID)
	}
	switch {
	case s.Named:
		out.Jobs = []commands.Job{commands.QueryPrompt{PaymentID: s.PaymentID}}
	case t.Name == timerExpire:
		out.Commands = []commands.Command{commands.ExpirePayment{PaymentID: s.PaymentID}}
	case s.unknown(t):
		out.Commands = giveUp(s, s.waited(t))
	}
	if t.Name == timerRecheck {
		out.Timers = []processmanagers.Timer{{Name: timerRecheck, At: nextRecheck(s.StartedAt, now)}}
	}
	return out
}

// nextRecheck is the first time of the schedule after now. Times that have passed are not made up for.
func nextRecheck(start, now time.Time) time.Time {
	for _, after := range rechecks {
		if at := start.Add(after); at.After(now) {
			return at
		}
	}
	hours := now.Sub(start)/time.Hour + 1
	return start.Add(hours * time.Hour)
}
