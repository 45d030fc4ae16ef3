package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ReconciliationCategory begins the names of the streams of reconciliations.
const ReconciliationCategory = "reconciliation"

// ReconciliationCommand asks the stream of one reconciliation.
//
//sumtype:decl
type ReconciliationCommand interface {
	Command
	reconciliationCommand()
}

// StartReconciliation begins to compare a statement that the vault has. A repeat changes nothing.
type StartReconciliation struct {
	ReconciliationID id.Reconciliation
	OrgID            id.Organization // zero = of the platform's shortcode
	Environment      string
	Shortcode        string
	Lines            int
	DateOrder        string    // "dmy" or "mdy" as the sender chose; "" = the rows decide
	From, To         time.Time // the earliest and the latest time of the statement
}

// FinishComparison reports the outcome. Fails: reconciliation_not_found.
type FinishComparison struct {
	ReconciliationID id.Reconciliation
	Figures          events.ReconciliationFigures
}

// FailReconciliation reports that the work ended without an outcome. Fails: reconciliation_not_found.
type FailReconciliation struct {
	ReconciliationID id.Reconciliation
	Code             string
}

// AdoptReconciliation takes in what is missing here. Fails: reconciliation_not_found, reconciliation_unfinished,
// statement_gone.
type AdoptReconciliation struct {
	ReconciliationID id.Reconciliation
	OrgID            id.Organization
}

// FinishAdoption reports that all was taken in. Fails: reconciliation_not_found.
type FinishAdoption struct {
	ReconciliationID id.Reconciliation
	Adopted          int
	Figures          events.ReconciliationFigures
}

func (StartReconciliation) CommandName() string { return "payments.StartReconciliation" }
func (FinishComparison) CommandName() string    { return "payments.FinishComparison" }
func (FailReconciliation) CommandName() string  { return "payments.FailReconciliation" }
func (AdoptReconciliation) CommandName() string { return "payments.AdoptReconciliation" }
func (FinishAdoption) CommandName() string      { return "payments.FinishAdoption" }

func (c StartReconciliation) Target() Target { return At(ReconciliationCategory, c.ReconciliationID) }
func (c FinishComparison) Target() Target    { return At(ReconciliationCategory, c.ReconciliationID) }
func (c FailReconciliation) Target() Target  { return At(ReconciliationCategory, c.ReconciliationID) }
func (c AdoptReconciliation) Target() Target { return At(ReconciliationCategory, c.ReconciliationID) }
func (c FinishAdoption) Target() Target      { return At(ReconciliationCategory, c.ReconciliationID) }

func (StartReconciliation) reconciliationCommand() {}
func (FinishComparison) reconciliationCommand()    {}
func (FailReconciliation) reconciliationCommand()  {}
func (AdoptReconciliation) reconciliationCommand() {}
func (FinishAdoption) reconciliationCommand()      {}

// Validate checks form.
func (c StartReconciliation) Validate() error {
	var f failure.Faults
	f.Check(!c.ReconciliationID.IsZero(), "reconciliationId", "is required")
	f.Check(c.Shortcode != "" && c.Environment != "", "shortcode", "is required")
	f.Check(c.Lines > 0 && !c.To.Before(c.From), "file", "has no rows below its header")
	return f.Err()
}

// Validate checks form.
func (c FinishComparison) Validate() error { return reconciliationNamed(c.ReconciliationID) }

// Validate checks form.
func (c FailReconciliation) Validate() error { return reconciliationNamed(c.ReconciliationID) }

// Validate checks form.
func (c AdoptReconciliation) Validate() error { return reconciliationNamed(c.ReconciliationID) }

// Validate checks form.
func (c FinishAdoption) Validate() error { return reconciliationNamed(c.ReconciliationID) }

// reconciliationNamed requires the id of a reconciliation.
func reconciliationNamed(r id.Reconciliation) error {
	var f failure.Faults
	f.Check(!r.IsZero(), "reconciliationId", "is required")
	return f.Err()
}

// ErrNoReconciliation is the failure for one that does not exist, or is another organization's.
func ErrNoReconciliation() error {
	return failure.NewNotFound("reconciliation_not_found", "There is no such reconciliation.")
}

// ErrStatementGone is the failure for a reconciliation whose statement is not kept any more.
func ErrStatementGone() error {
	return failure.NewConflict("statement_gone",
		"This statement is not kept any more. Upload it again to compare it with the receipts of today.")
}

// CompareStatement compares an uploaded statement with the receipts.
type CompareStatement struct {
	ReconciliationID id.Reconciliation `json:"reconciliationId"`
	Position         uint64            `json:"position"` // read models must have reached it
}

// AdoptStatement takes in the receipts of a statement that are missing here.
type AdoptStatement struct {
	ReconciliationID id.Reconciliation `json:"reconciliationId"`
	Position         uint64            `json:"position"`
}

func (CompareStatement) Kind() string { return "payments_compare_statement" }
func (AdoptStatement) Kind() string   { return "payments_adopt_statement" }
