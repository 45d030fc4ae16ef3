package cpe

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Onus defines the ONUs of organizations: a stream for each serial number.
//
//	free ──► asked, steps ──► ready ──► leaving ──► free
//	           ├────► expired ────────────┘
//	           └────► failed ── registered ┘   not registered: free
func Onus() aggregates.Definition[Onu, commands.CpeOnuCommand, events.CpeOnuEvent] {
	return aggregates.Definition[Onu, commands.CpeOnuCommand, events.CpeOnuEvent]{
		Category: commands.CpeOnuCategory, Missing: commands.ErrNoCpeOperation, Evolve: evolveOnu, Decide: decideOnu,
		Owner: func(s Onu) id.Organization { return s.Org }, Close: closeOnu,
		Commands: []commands.CpeOnuCommand{
			commands.SetUpCpeOnu{}, commands.ReportCpeOnuStep{}, commands.FailCpeOnu{}, commands.ExpireCpeOnu{},
			commands.RemoveCpeOnu{}, commands.ReportCpeOnuTakenOut{},
		},
	}
}

// setUpWithin is the time in which a set-up is done, from the request on.
const setUpWithin = 24 * time.Hour

// Onu is the optical end of a CPE. The zero value does not exist.
type Onu struct {
	ID         id.CPEOnu
	Org        id.Organization
	CPE        id.CPE // whose it is; zero = it is free
	Operation  id.CPEOperation
	Place      events.CpeOnuPlace
	Steps      []string // of the latest set-up
	Done       []string
	Running    bool // the latest set-up has not ended
	Registered bool // the terminal has it
	Leaving    bool // the terminal is not to have it any more
	ExpiresAt  time.Time
}

// evolveOnu applies one recorded event.
func evolveOnu(s Onu, e events.CpeOnuEvent) Onu {
	switch e := e.(type) {
	case events.CpeOnuAsked:
		return Onu{
			ID: e.OnuID, Org: e.OrgID, CPE: e.CpeID, Operation: e.OperationID, Place: e.Place, Steps: e.Steps,
			Running: true, Registered: s.Registered, ExpiresAt: e.ExpiresAt,
		}
	case events.CpeOnuStepDone:
		s.Done = append(slices.Clone(s.Done), e.Step)
		s.Registered = s.Registered || e.Step == events.CpeOnuRegister
	case events.CpeOnuReady, events.CpeOnuExpired:
		s.Running = false
	case events.CpeOnuFailed:
		s.Running = false
		if e.Step == events.CpeOnuRegister && !s.Registered {
			s.CPE = id.CPE{}
		}
	case events.CpeOnuLeaving:
		s.Leaving = true
	case events.CpeOnuTakenOut:
		s.CPE, s.Registered, s.Leaving = id.CPE{}, false, false
	case events.CpeOnuPeriodClosed:
		return aggregates.Opened[Onu](e.Opening)
	}
	return s
}

// closeOnu passes the whole state on.
func closeOnu(s Onu) events.CpeOnuEvent {
	return events.CpeOnuPeriodClosed{OnuID: s.ID, OrgID: s.Org, Opening: aggregates.Opening(s)}
}

// subject says which set-up an event is about.
func (s Onu) subject() events.CpeOnuSubject {
	return events.CpeOnuSubject{OnuID: s.ID, CpeID: s.CPE, OrgID: s.Org, OperationID: s.Operation}
}

// decideOnu only dispatches. What is said of another set-up than the latest comes too late.
func decideOnu(s Onu, c commands.CpeOnuCommand, now time.Time) ([]events.CpeOnuEvent, error) {
	if ask, first := c.(commands.SetUpCpeOnu); first {
		return decideSetUp(s, ask, now)
	}
	if s.ID.IsZero() {
		return nil, commands.ErrNoCpeOperation()
	}
	switch c := c.(type) {
	case commands.SetUpCpeOnu: // above
	case commands.ReportCpeOnuStep:
		return decideOnuStep(s, c, now)
	case commands.FailCpeOnu:
		if s.Running && c.OperationID == s.Operation {
			return noted(events.CpeOnuFailed{
				CpeOnuSubject: s.subject(), Step: c.Step, Code: c.Code, Message: c.Message, At: now,
			})
		}
	case commands.ExpireCpeOnu:
		if s.Running && c.OperationID == s.Operation && !now.Before(s.ExpiresAt) {
			return noted(events.CpeOnuExpired{CpeOnuSubject: s.subject(), At: now})
		}
	case commands.RemoveCpeOnu:
		return decideRemoveOnu(s, c, now), nil
	case commands.ReportCpeOnuTakenOut:
		if s.Leaving {
			return noted(events.CpeOnuTakenOut{CpeOnuSubject: s.subject(), At: now})
		}
	}
	return nil, nil
}

// noted returns one event as a decision.
func noted(e events.CpeOnuEvent) ([]events.CpeOnuEvent, error) { return []events.CpeOnuEvent{e}, nil }

// decideSetUp takes an ONU for a CPE. Registered at another port it has to be taken out there first.
func decideSetUp(s Onu, c commands.SetUpCpeOnu, now time.Time) ([]events.CpeOnuEvent, error) {
	switch {
	case s.Operation == c.OperationID && !s.ID.IsZero():
		return nil, nil
	case s.Leaving:
		return nil, commands.ErrOnuBusy()
	case !s.CPE.IsZero() && (s.CPE != c.CpeID || c.First):
		return nil, commands.ErrOnuInUse()
	case s.Running:
		return nil, commands.ErrOnuBusy()
	case s.Registered && (s.Place.OLT != c.Place.OLT || s.Place.Port != c.Place.Port):
		return nil, failure.NewConflict("onu_elsewhere", "The ONU is registered at another port. Remove it there.")
	}
	return noted(events.CpeOnuAsked{
		CpeOnuSubject: events.CpeOnuSubject{
			OnuID: c.OnuID, CpeID: c.CpeID, OrgID: c.OrgID, OperationID: c.OperationID,
		},
		SubscriberID: c.SubscriberID, Place: c.Place, Steps: commands.CpeOnuSteps(c.Login), First: c.First,
		ExpiresAt: now.Add(setUpWithin), At: now,
	})
}

// decideOnuStep ends the set-up with its last step.
func decideOnuStep(s Onu, c commands.ReportCpeOnuStep, now time.Time) ([]events.CpeOnuEvent, error) {
	switch {
	case c.OperationID == s.Operation && slices.Contains(s.Done, c.Step):
		return nil, nil
	case s.Leaving || s.CPE.IsZero():
		return nil, commands.ErrOnuRemoved()
	case c.OperationID != s.Operation || !s.Running || !slices.Contains(s.Steps, c.Step):
		return nil, commands.ErrCpeOperationOver()
	}
	list := []events.CpeOnuEvent{events.CpeOnuStepDone{CpeOnuSubject: s.subject(), Step: c.Step, At: now}}
	if len(s.Done)+1 == len(s.Steps) {
		list = append(list, events.CpeOnuReady{CpeOnuSubject: s.subject(), At: now})
	}
	return list, nil
}

// decideRemoveOnu ends a set-up that still runs. The terminal is asked in any case: an answer may have been lost.
func decideRemoveOnu(s Onu, c commands.RemoveCpeOnu, now time.Time) []events.CpeOnuEvent {
	if s.Leaving || s.CPE.IsZero() || s.CPE != c.CpeID {
		return nil
	}
	var list []events.CpeOnuEvent
	if s.Running {
		list = append(list, events.CpeOnuFailed{
			CpeOnuSubject: s.subject(), Code: commands.CpeOnuReleased,
			Message: "The device was released.", At: now,
		})
	}
	return append(list, events.CpeOnuLeaving{CpeOnuSubject: s.subject(), Place: s.Place, At: now})
}
