package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
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

// DunningMove has the results of a process about a step from one state to another.
type DunningMove struct {
	DueAt   time.Time
	Due     money.Amount
	Reason  string
	Planned time.Time
	PlanID  id.Plan
	// InvoiceIDs are the unpaid invoices, the oldest due date first.
	InvoiceIDs []id.Invoice
}

// BeginDunning begins to remind, or gives access back while the grace of another due instant runs.
type BeginDunning struct {
	Subject events.DunningSubject
	Move    DunningMove
}

// RemindCustomer records one reminder; the same day of the same due instant is reminded once.
type RemindCustomer struct {
	Subject events.DunningSubject
	Day     int
	DueAt   time.Time
	Due     money.Amount
	Until   time.Time // end of the message hours of the day
}

// EnterWalledGarden leaves the customer the payment page only.
type EnterWalledGarden struct {
	Subject events.DunningSubject
	Move    DunningMove
}

// SuspendService takes all access away.
type SuspendService struct {
	Subject events.DunningSubject
	Move    DunningMove
}

// ProposeWriteOff asks a person to decide about a write-off.
type ProposeWriteOff struct {
	Subject events.DunningSubject
	Move    DunningMove
}

// EndDunning gives all access back, because nothing is due.
type EndDunning struct {
	Subject events.DunningSubject
	Reason  string
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

// StopClock stops the clock for one cause, from an instant that may be past. Fails: invalid_input.
type StopClock struct {
	Subject events.DunningSubject
	Cause   string
	From    time.Time
}

// StartClock ends one cause at an instant that may be past; other causes and holds go on. Fails: invalid_input.
type StartClock struct {
	Subject events.DunningSubject
	Cause   string
	Until   time.Time
}

func (BeginDunning) CommandName() string      { return "access.BeginDunning" }
func (RemindCustomer) CommandName() string    { return "access.RemindCustomer" }
func (EnterWalledGarden) CommandName() string { return "access.EnterWalledGarden" }
func (SuspendService) CommandName() string    { return "access.SuspendService" }
func (ProposeWriteOff) CommandName() string   { return "access.ProposeWriteOff" }
func (EndDunning) CommandName() string        { return "access.EndDunning" }
func (PlaceHold) CommandName() string         { return "access.PlaceHold" }
func (LiftHold) CommandName() string          { return "access.LiftHold" }
func (StopClock) CommandName() string         { return "access.StopClock" }
func (StartClock) CommandName() string        { return "access.StartClock" }

func (c BeginDunning) Target() Target      { return dunningOf(c.Subject) }
func (c RemindCustomer) Target() Target    { return dunningOf(c.Subject) }
func (c EnterWalledGarden) Target() Target { return dunningOf(c.Subject) }
func (c SuspendService) Target() Target    { return dunningOf(c.Subject) }
func (c ProposeWriteOff) Target() Target   { return dunningOf(c.Subject) }
func (c EndDunning) Target() Target        { return dunningOf(c.Subject) }
func (c PlaceHold) Target() Target         { return dunningOf(c.Subject) }
func (c LiftHold) Target() Target          { return dunningOf(c.Subject) }
func (c StopClock) Target() Target         { return dunningOf(c.Subject) }
func (c StartClock) Target() Target        { return dunningOf(c.Subject) }

func (BeginDunning) dunningCommand()      {}
func (RemindCustomer) dunningCommand()    {}
func (EnterWalledGarden) dunningCommand() {}
func (SuspendService) dunningCommand()    {}
func (ProposeWriteOff) dunningCommand()   {}
func (EndDunning) dunningCommand()        {}
func (PlaceHold) dunningCommand()         {}
func (LiftHold) dunningCommand()          {}
func (StopClock) dunningCommand()         {}
func (StartClock) dunningCommand()        {}

// dunningOf is the stream of a subscription.
func dunningOf(s events.DunningSubject) Target { return At(DunningCategory, s.SubscriptionID) }

func (c BeginDunning) Validate() error      { return checkMove(c.Subject, c.Move) }
func (c EnterWalledGarden) Validate() error { return checkMove(c.Subject, c.Move) }
func (c SuspendService) Validate() error    { return checkMove(c.Subject, c.Move) }
func (c ProposeWriteOff) Validate() error   { return checkMove(c.Subject, c.Move) }
func (c LiftHold) Validate() error          { return dunningFaults(c.Subject).Err() }

// Validate checks form.
func (c RemindCustomer) Validate() error {
	f := dunningFaults(c.Subject)
	f.Check(!c.DueAt.IsZero(), "dueAt", "is required")
	return f.Err()
}

// Validate checks form.
func (c EndDunning) Validate() error {
	f := dunningFaults(c.Subject)
	f.Check(c.Reason != "", "reason", "is required")
	return f.Err()
}

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

// checkMove requires the ids, the due instant and the reason of a step.
func checkMove(s events.DunningSubject, m DunningMove) error {
	f := dunningFaults(s)
	f.Check(!m.DueAt.IsZero(), "dueAt", "is required")
	f.Check(m.Reason != "", "reason", "is required")
	return f.Err()
}
