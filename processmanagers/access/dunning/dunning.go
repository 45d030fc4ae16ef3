// Package dunning follows what each subscription owes and asks for a review whenever that changes, and whenever the
// next step or reminder is due:
//
//	subscription, invoice, payment ──► ReviewDunning ──► step, reminder, DunningReviewed ──► timer "look:<id>"
//	                                        ▲                                                      │
//	hold, clock, DunningReviewAsked ────────┴──────────────────────────────────────────────────────┘
//	pause, resume ──► StopClock, StartClock ──► clock
//	the command is refused ──► timer "look:<id>"
//
// The process decides nothing about rules: those of the organization are read when the command is executed
// (accesscases.Reviews), because an instance cannot see another's state, and the aggregate takes the step. So a changed
// rule counts from the next review on. One instance serves all subscriptions of a subscriber, because an invoice that
// belongs to no subscription counts for all postpaid ones.
package dunning

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Waits before a review is made again that brought no news: it was refused, or the process is new and its commands for
// the past were not sent.
const (
	again = time.Second // when cuts wait, and twice as long after each time, up to soon: mostly it is for a moment
	soon  = time.Minute
	later = time.Hour
)

// timerPrefix begins the name of a subscription's timer.
const timerPrefix = "look:"

// Process has one instance for each subscriber; it never ends.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{Name: "dunning", On: handled(), Decide: decide, Evolve: evolve}
}

// handled lists the events about subscriptions, money and dunning.
func handled() []processmanagers.Handled {
	return []processmanagers.Handled{
		processmanagers.On(func(e events.SubscriptionCreated) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.PaidTimeCarriedOver) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.SubscriptionExtended) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.PeriodWithdrawn) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.PeriodCancelled) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.SubscriptionPaused) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.SubscriptionResumed) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.SubscriptionCompensated) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.SubscriptionPlanChanged) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.CompensationTakenBack) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.SubscriptionEnded) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.InvoiceIssued) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.BalanceCarriedOver) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.InvoiceAllocated) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.AllocationWithdrawn) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.InvoicePaid) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.InvoiceReopened) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.InvoiceVoided) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.InvoiceCancelled) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.InvoiceWrittenOff) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.DebtWrittenOff) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.WriteOffRecovered) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.RecoveryWithdrawn) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.HoldPlaced) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.HoldLifted) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.DunningClockStopped) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.DunningClockStarted) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.DunningReviewAsked) string { return e.SubscriberID.String() }),
		processmanagers.On(func(e events.DunningReviewed) string { return e.SubscriberID.String() }),
	}
}

// decide asks for reviews and sets the timers of the next ones.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	switch {
	case in.Timeout != nil:
		return s.timeout(*in.Timeout, now), nil
	case in.Refusal != nil:
		return s.refused(*in.Refusal, now), nil
	}
	after := evolve(s, in)
	if e, ok := in.Event.Event.(events.DunningReviewed); ok {
		return processmanagers.Output{Timers: []processmanagers.Timer{timer(e.SubscriptionID, e.WakeAt)}}, nil
	}
	var out processmanagers.Output
	asked := askedFor(in.Event.Event)
	for _, k := range slices.SortedFunc(maps.Keys(after.Lines), compareIDs) {
		line := after.Lines[k]
		before, known := s.Lines[k]
		if k == goesOn(in.Event.Event) {
			line.Stopped = true // also where a program of before this was kept has taken the pause in
		}
		out.Commands = append(out.Commands, line.clock()...)
		changed := known && !before.present().Same(line.present())
		if !changed && k != asked {
			continue
		}
		out.Commands = append(out.Commands, line.review(false))
		at := now.Add(later)
		if !line.WakeAt.IsZero() && line.WakeAt.Before(at) {
			at = line.WakeAt
		}
		out.Timers = append(out.Timers, timer(k, at))
	}
	return out, nil
}

// askedFor is the subscription that must be reviewed although it owes the same as before; null for other events.
func askedFor(e events.Event) id.Subscription {
	switch e := e.(type) {
	case events.HoldPlaced:
		return e.SubscriptionID
	case events.HoldLifted:
		return e.SubscriptionID
	case events.DunningClockStopped:
		return e.SubscriptionID
	case events.DunningClockStarted:
		return e.SubscriptionID
	case events.DunningReviewAsked:
		return e.SubscriptionID
	}
	return goesOn(e)
}

// goesOn is the subscription whose clock goes on after a pause, if it was paused; null for other events.
func goesOn(e events.Event) id.Subscription {
	switch e := e.(type) {
	case events.SubscriptionResumed:
		return e.SubscriptionID
	case events.SubscriptionEnded:
		return e.SubscriptionID
	}
	return id.Subscription{}
}

// timeout reviews the subscription of a timer. What comes next sets the timer again; it is set here only for a review
// that finds no news.
func (s State) timeout(t processmanagers.Timeout, now time.Time) processmanagers.Output {
	subscription, err := id.Parse[id.Subscription](strings.TrimPrefix(t.Name, timerPrefix))
	line, ok := s.Lines[subscription]
	if err != nil || !ok {
		return processmanagers.Output{}
	}
	out := processmanagers.Output{Commands: append(line.clock(), line.review(true))}
	switch {
	case line.WakeAt.After(now):
		out.Timers = []processmanagers.Timer{timer(subscription, line.WakeAt)}
	case !line.WakeAt.IsZero():
		out.Timers = []processmanagers.Timer{timer(subscription, now.Add(later))}
	}
	return out
}

// refused tries a review, and what its clock needs, again after a while.
func (s State) refused(r processmanagers.Refusal, now time.Time) processmanagers.Output {
	subject, pause := events.DunningSubject{}, later
	switch c := r.Asked.(type) {
	case commands.ReviewDunning:
		subject = c.Subject
	case commands.StopClock:
		subject = c.Subject
	case commands.StartClock:
		subject = c.Subject
	default:
		return processmanagers.Output{}
	}
	switch r.Code {
	case commands.CodeCutsWait:
		pause = min(again<<s.Lines[subject.SubscriptionID].Waits, soon)
	case "concurrent_change":
		pause = soon
	}
	return processmanagers.Output{
		Timers: []processmanagers.Timer{timer(subject.SubscriptionID, now.Add(pause))},
	}
}

// timer is the timer of a subscription; a zero instant disarms it.
func timer(subscription id.Subscription, at time.Time) processmanagers.Timer {
	return processmanagers.Timer{Name: timerPrefix + subscription.String(), At: at}
}

// compareIDs orders subscriptions, so that equal inputs give equal outputs.
func compareIDs(a, b id.Subscription) int { return strings.Compare(a.String(), b.String()) }
