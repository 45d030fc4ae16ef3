package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// DunningCategory begins the names of the streams of dunning; the id is the subscription's.
const DunningCategory = "dunning"

// DunningCommand is a command to the dunning of a subscription.
//
//sumtype:decl
type DunningCommand interface {
	Command
	dunningCommand()
}

// PlaceHold stops the clock until an instant in the future, at most about five years ahead. Fails: invalid_input.
type PlaceHold struct {
	Subject events.DunningSubject
	Until   time.Time
	Reason  string
}

// LiftHold ends a hold now; without one it does nothing.
type LiftHold struct {
	Subject events.DunningSubject
}

// StopClock stops the clock for one cause, from an instant that may be past; a future one is of now. Fails:
// invalid_input.
type StopClock struct {
	Subject events.DunningSubject
	Cause   string
	From    time.Time
	// Misplaced says that a reader knows the cause to stop the clock from the future on, and needs the right beginning.
	// It stops no clock that runs.
	Misplaced bool
}

// StartClock ends one cause at an instant that may be past; a future one is of now. Other causes and holds go on.
// Fails: invalid_input.
type StartClock struct {
	Subject events.DunningSubject
	Cause   string
	Until   time.Time
}

func (PlaceHold) CommandName() string  { return "access.PlaceHold" }
func (LiftHold) CommandName() string   { return "access.LiftHold" }
func (StopClock) CommandName() string  { return "access.StopClock" }
func (StartClock) CommandName() string { return "access.StartClock" }

func (c PlaceHold) Target() Target  { return dunningOf(c.Subject) }
func (c LiftHold) Target() Target   { return dunningOf(c.Subject) }
func (c StopClock) Target() Target  { return dunningOf(c.Subject) }
func (c StartClock) Target() Target { return dunningOf(c.Subject) }

func (PlaceHold) dunningCommand()  {}
func (LiftHold) dunningCommand()   {}
func (StopClock) dunningCommand()  {}
func (StartClock) dunningCommand() {}

// dunningOf is the stream of a subscription.
func dunningOf(s events.DunningSubject) Target { return At(DunningCategory, s.SubscriptionID) }

func (c LiftHold) Validate() error { return dunningFaults(c.Subject).Err() }

// Validate checks form; the decision compares until with the present.
func (c PlaceHold) Validate() error {
	f := dunningFaults(c.Subject)
	f.Check(!c.Until.IsZero(), "until", "is required")
	checkReason(&f, c.Reason)
	return f.Err()
}

// Validate checks form.
func (c StopClock) Validate() error {
	f := dunningFaults(c.Subject)
	f.Check(c.Cause != "", "cause", "is required")
	f.Check(!c.From.IsZero(), "from", "is required")
	return f.Err()
}

// Validate checks form.
func (c StartClock) Validate() error {
	f := dunningFaults(c.Subject)
	f.Check(c.Cause != "", "cause", "is required")
	f.Check(!c.Until.IsZero(), "until", "is required")
	return f.Err()
}

// dunningFaults requires the ids of a subject.
func dunningFaults(s events.DunningSubject) failure.Faults {
	var f failure.Faults
	f.Check(!s.SubscriptionID.IsZero(), "subscriptionId", "is required")
	f.Check(s.OrgID != id.Organization{}, "orgId", "is required")
	f.Check(!s.SubscriberID.IsZero(), "subscriberId", "is required")
	return f
}
