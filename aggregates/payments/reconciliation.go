package payments

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Reconciliations defines the reconciliations: one short stream for each statement.
func Reconciliations() aggregates.Definition[
	Reconciliation, commands.ReconciliationCommand, events.ReconciliationEvent,
] {
	return aggregates.Definition[Reconciliation, commands.ReconciliationCommand, events.ReconciliationEvent]{
		Category: commands.ReconciliationCategory, Missing: commands.ErrNoReconciliation,
		Evolve: evolveReconciliation, Decide: decideReconciliation,
		Owner: func(s Reconciliation) id.Organization { return s.Org },
		Commands: []commands.ReconciliationCommand{
			commands.StartReconciliation{}, commands.FinishComparison{}, commands.FailReconciliation{},
			commands.AdoptReconciliation{}, commands.FinishAdoption{},
		},
	}
}

// ReconciliationState says how far a reconciliation is.
type ReconciliationState uint8

// The states. Source: docs/rules/money.md#reconciliation.
const (
	ReconciliationNone ReconciliationState = iota
	ReconciliationComparing
	ReconciliationCompared
	ReconciliationAdopting
	ReconciliationFailed
)

// Reconciliation is the state of one reconciliation. The zero value is "does not exist".
type Reconciliation struct {
	ID          id.Reconciliation
	Org         id.Organization // zero: of the platform's shortcode
	Environment string
	Shortcode   string
	DateOrder   string // "dmy" or "mdy" as the sender chose; "" = the rows decide
	From, To    time.Time
	State       ReconciliationState
	MissingHere int // in the latest comparison
}

// evolveReconciliation applies one recorded event.
func evolveReconciliation(s Reconciliation, e events.ReconciliationEvent) Reconciliation {
	switch e := e.(type) {
	case events.ReconciliationStarted:
		return Reconciliation{
			ID: e.ReconciliationID, Org: e.OrgID, Environment: e.Environment, Shortcode: e.Shortcode,
			DateOrder: e.DateOrder, From: e.From, To: e.To, State: ReconciliationComparing,
		}
	case events.ReconciliationCompared:
		s.State, s.MissingHere = ReconciliationCompared, e.Figures.MissingHere
	case events.ReconciliationFailed:
		s.State = ReconciliationFailed
	case events.ReconciliationAdoptionStarted:
		s.State = ReconciliationAdopting
	case events.ReconciliationAdopted:
		s.State, s.MissingHere = ReconciliationCompared, e.Figures.MissingHere
	}
	return s
}

// decideReconciliation dispatches; every command but the first needs a reconciliation that exists.
func decideReconciliation(
	s Reconciliation, c commands.ReconciliationCommand, now time.Time,
) ([]events.ReconciliationEvent, error) {
	if c, ok := c.(commands.StartReconciliation); ok {
		if s.State == ReconciliationComparing || s.State == ReconciliationAdopting {
			return nil, nil // the same file comes again while it is worked on
		}
		return []events.ReconciliationEvent{events.ReconciliationStarted{
			ReconciliationID: c.ReconciliationID, OrgID: c.OrgID, Environment: c.Environment, Shortcode: c.Shortcode,
			Lines: c.Lines, DateOrder: c.DateOrder, From: c.From, To: c.To, At: now,
		}}, nil
	}
	if s.State == ReconciliationNone {
		return nil, commands.ErrNoReconciliation()
	}
	switch c := c.(type) {
	case commands.StartReconciliation:
	case commands.FinishComparison:
		if s.State == ReconciliationComparing {
			return []events.ReconciliationEvent{events.ReconciliationCompared{
				ReconciliationID: s.ID, Figures: c.Figures, At: now,
			}}, nil
		}
	case commands.FailReconciliation:
		if s.State == ReconciliationComparing || s.State == ReconciliationAdopting {
			return []events.ReconciliationEvent{events.ReconciliationFailed{
				ReconciliationID: s.ID, Code: c.Code, At: now,
			}}, nil
		}
	case commands.AdoptReconciliation:
		return decideAdopt(s, c, now)
	case commands.FinishAdoption:
		if s.State == ReconciliationAdopting {
			return []events.ReconciliationEvent{events.ReconciliationAdopted{
				ReconciliationID: s.ID, Adopted: c.Adopted, Figures: c.Figures, At: now,
			}}, nil
		}
	}
	return nil, nil
}

// decideAdopt begins an adoption. While one is under way, and when nothing is missing here, it changes nothing.
func decideAdopt(
	s Reconciliation, c commands.AdoptReconciliation, now time.Time,
) ([]events.ReconciliationEvent, error) {
	switch {
	case s.Org != c.OrgID:
		return nil, commands.ErrNoReconciliation()
	case s.State == ReconciliationAdopting, s.State == ReconciliationCompared && s.MissingHere == 0:
		return nil, nil
	case s.State == ReconciliationComparing:
		return nil, failure.NewConflict("reconciliation_unfinished",
			"This statement is still being compared. Try again when that has ended.")
	}
	return []events.ReconciliationEvent{events.ReconciliationAdoptionStarted{
		ReconciliationID: s.ID, OrgID: s.Org, At: now,
	}}, nil
}
