package cpe

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Operations defines the writes to CPEs: a stream for each.
//
//	queued ──► begun ──► sent ──► confirmed
//	   │         │         └────► failed
//	   └─────────┴──────────────► failed, expired
func Operations() aggregates.Definition[Operation, commands.CpeOperationCommand, events.CpeOperationEvent] {
	return aggregates.Definition[Operation, commands.CpeOperationCommand, events.CpeOperationEvent]{
		Category: commands.CpeOperationCategory, Missing: commands.ErrNoCpeOperation, Evolve: evolveOperation,
		Decide: decideOperation, Owner: func(s Operation) id.Organization { return s.Org },
		First: commands.QueueCpeOperation{},
		Commands: []commands.CpeOperationCommand{
			commands.QueueCpeOperation{}, commands.BeginCpeOperation{}, commands.ReportCpeOperationSent{},
			commands.ConfirmCpeOperation{}, commands.FailCpeOperation{}, commands.ExpireCpeOperation{},
		},
	}
}

// OperationState is how far an operation has come.
type OperationState string

// The states. A begun one counts as queued for people.
const (
	Queued    OperationState = "queued"
	Begun     OperationState = "begun" // the server may have it
	Sent      OperationState = "sent"
	Confirmed OperationState = "confirmed"
	Failed    OperationState = "failed"
	Expired   OperationState = "expired"
)

// Times within which an operation is written, from the request on. What interrupts the customer must not come long
// after somebody wanted it; settings may wait for a device that is switched on again the next day.
const (
	settingsWithin   = 24 * time.Hour
	interruptsWithin = time.Hour
	flashedWithin    = 3 * time.Hour // the CPE server itself waits an hour for the end of a download
)

// Operation is one write to a CPE. The zero value does not exist.
type Operation struct {
	ID        id.CPEOperation
	CPE       id.CPE
	Org       id.Organization
	Kind      events.CpeOperationKind
	State     OperationState
	Values    id.Secret // zero = there are none
	CallNow   bool
	ExpiresAt time.Time
	Tasks     []events.CpeTask
}

// Over reports whether nothing more happens to the operation.
func (s Operation) Over() bool {
	return s.State == Confirmed || s.State == Failed || s.State == Expired
}

// evolveOperation applies one recorded event.
func evolveOperation(s Operation, e events.CpeOperationEvent) Operation {
	switch e := e.(type) {
	case events.CpeOperationQueued:
		return Operation{
			ID: e.OperationID, CPE: e.CpeID, Org: e.OrgID, Kind: e.Kind, State: Queued, Values: e.ValuesRef,
			CallNow: e.CallNow, ExpiresAt: e.ExpiresAt,
		}
	case events.CpeOperationBegan:
		s.State = Begun
	case events.CpeOperationSent:
		s.State, s.Tasks = Sent, e.Tasks
	case events.CpeOperationMeasured: // for people alone
	case events.CpeOperationConfirmed:
		s.State = Confirmed
	case events.CpeOperationFailed:
		s.State = Failed
	case events.CpeOperationExpired:
		s.State = Expired
	}
	return s
}

// decideOperation lets an operation go forward alone. What comes after its end changes nothing, so that the first
// outcome stands.
func decideOperation(
	s Operation, c commands.CpeOperationCommand, now time.Time,
) ([]events.CpeOperationEvent, error) {
	if queue, first := c.(commands.QueueCpeOperation); first {
		return decideQueue(s, queue, now), nil
	}
	if s.ID.IsZero() {
		return nil, commands.ErrNoCpeOperation()
	}
	about := events.CpeOperationSubject{OperationID: s.ID, CpeID: s.CPE, OrgID: s.Org}
	if _, begins := c.(commands.BeginCpeOperation); begins && (s.Over() || !now.Before(s.ExpiresAt)) {
		return nil, commands.ErrCpeOperationOver()
	}
	if s.Over() {
		return nil, nil
	}
	switch c := c.(type) {
	case commands.QueueCpeOperation: // above
	case commands.BeginCpeOperation:
		if s.State == Queued {
			return step(events.CpeOperationBegan{CpeOperationSubject: about, At: now})
		}
	case commands.ReportCpeOperationSent:
		if s.State != Sent || s.readsBack(c.Tasks) {
			return step(events.CpeOperationSent{
				CpeOperationSubject: about, Tasks: c.Tasks, Names: c.Names, Call: c.Call, At: now,
			})
		}
	case commands.ConfirmCpeOperation:
		if s.State != Queued { // what nobody has sent was not done by this
			return confirmed(s, about, c.Result, now), nil
		}
	case commands.FailCpeOperation:
		return step(events.CpeOperationFailed{
			CpeOperationSubject: about, Code: c.Code, Message: c.Message, At: now,
		})
	case commands.ExpireCpeOperation:
		if !now.Before(s.ExpiresAt) {
			return step(events.CpeOperationExpired{CpeOperationSubject: about, At: now})
		}
	}
	return nil, nil
}

// readsBack reports whether tasks are those that the server had before, and one that reads what they have done.
func (s Operation) readsBack(tasks []events.CpeTask) bool {
	return len(s.Tasks) > 0 && len(tasks) > 1 && tasks[0] == s.Tasks[0] && !slices.Equal(tasks, s.Tasks)
}

// step returns one event as a decision.
func step(e events.CpeOperationEvent) ([]events.CpeOperationEvent, error) {
	return []events.CpeOperationEvent{e}, nil
}

// confirmed ends an operation with what it has measured.
func confirmed(
	s Operation, about events.CpeOperationSubject, result *events.CpeTestResult, now time.Time,
) []events.CpeOperationEvent {
	var list []events.CpeOperationEvent
	if result != nil {
		list = append(list, events.CpeOperationMeasured{
			CpeOperationSubject: about, Kind: s.Kind, Result: *result, At: now,
		})
	}
	return append(list, events.CpeOperationConfirmed{CpeOperationSubject: about, At: now})
}

// decideQueue changes nothing when the operation is there already.
func decideQueue(s Operation, c commands.QueueCpeOperation, now time.Time) []events.CpeOperationEvent {
	if !s.ID.IsZero() {
		return nil
	}
	return []events.CpeOperationEvent{events.CpeOperationQueued{
		CpeOperationSubject: events.CpeOperationSubject{OperationID: c.OperationID, CpeID: c.CpeID, OrgID: c.OrgID},
		SubscriberID:        c.SubscriberID, Kind: c.Kind, Names: c.Names, ValuesRef: c.ValuesRef, CallNow: c.CallNow,
		Deployed: c.Deployed, ExpiresAt: now.Add(within(c.Kind)), At: now,
	}}
}

// within is the time in which an operation of a kind is written.
func within(kind events.CpeOperationKind) time.Duration {
	switch kind {
	case events.CpeReboot, events.CpeFactoryReset, events.CpePing, events.CpeSpeedTest, events.CpeUploadTest:
		return interruptsWithin
	case events.CpeFirmware:
		return flashedWithin
	case events.CpeWifi, events.CpeParameters, events.CpeLogin:
	}
	return settingsWithin
}
