package commands

import (
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// BillingRunCategory begins the names of the streams of billing runs.
const BillingRunCategory = "billing_run"

// BillingRunCommand asks the stream of one billing run.
//
//sumtype:decl
type BillingRunCommand interface {
	Command
	billingRunCommand()
}

// BillingRunOf is the run of an organization for a date: there is one, however often it is asked for.
func BillingRunOf(org id.Organization, date calendar.Date) id.BillingRun {
	return id.Derive[id.BillingRun]("billing_run", org.String(), date.String())
}

// RequestBillingRun asks to invoice what is due by the end of a day. It changes nothing while the run is on its way,
// and looks again at a run that is held.
type RequestBillingRun struct {
	RunID id.BillingRun // of BillingRunOf
	OrgID id.Organization
	Date  calendar.Date // in the organization's zone
	Again bool          // a person asks: what an undo took back is invoiced again
}

// BeginBillingRun reports how much is due. When that is far more than usual, the run is held, unless a person has
// released it. Fails: billing_run_not_found.
type BeginBillingRun struct {
	RunID id.BillingRun
	Due   int
	Usual int
}

// ReleaseBillingRun lets a held run go on. Fails: billing_run_not_found, billing_run_not_held.
type ReleaseBillingRun struct {
	RunID  id.BillingRun
	OrgID  id.Organization
	Reason string
}

// FinishBillingRun reports that nothing is left to be invoiced but what failed. It changes nothing on a run that has
// not begun. Fails: billing_run_not_found.
type FinishBillingRun struct {
	RunID    id.BillingRun
	Failed   int
	Failures []events.BillingFailure
}

// MaxBillingFailures is how many failures of a run its event lists.
const MaxBillingFailures = 50

// MakeInvoicesDue is the job that invoices what is due in one organization, for a run.
type MakeInvoicesDue struct {
	RunID id.BillingRun   `json:"runId"`
	OrgID id.Organization `json:"orgId"`
	Date  calendar.Date   `json:"date"`
	Again bool            `json:"again,omitempty"` // what an undo of the run took back, too
}

// ErrNoBillingRun answers a command to a run that does not exist.
func ErrNoBillingRun() error {
	return failure.New(failure.NotFound, "billing_run_not_found", "There is no such billing run.")
}

func (MakeInvoicesDue) Kind() string      { return "billing_make_invoices_due" }
func (j MakeInvoicesDue) Request() string { return j.RunID.String() }

func (RequestBillingRun) CommandName() string { return "billing.RequestBillingRun" }
func (BeginBillingRun) CommandName() string   { return "billing.BeginBillingRun" }
func (ReleaseBillingRun) CommandName() string { return "billing.ReleaseBillingRun" }
func (FinishBillingRun) CommandName() string  { return "billing.FinishBillingRun" }

func (RequestBillingRun) billingRunCommand() {}
func (BeginBillingRun) billingRunCommand()   {}
func (ReleaseBillingRun) billingRunCommand() {}
func (FinishBillingRun) billingRunCommand()  {}

func (c RequestBillingRun) Target() Target { return At(BillingRunCategory, c.RunID) }
func (c BeginBillingRun) Target() Target   { return At(BillingRunCategory, c.RunID) }
func (c ReleaseBillingRun) Target() Target { return At(BillingRunCategory, c.RunID) }
func (c FinishBillingRun) Target() Target  { return At(BillingRunCategory, c.RunID) }

// Validate also checks that the run is that of the organization and the date.
func (c RequestBillingRun) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.Date.IsZero(), "date", "is required")
	f.Check(c.RunID == BillingRunOf(c.OrgID, c.Date), "runId", "is not of this organization and date")
	return f.Err()
}

// Validate checks form only.
func (c BeginBillingRun) Validate() error {
	var f failure.Faults
	f.Check(c.Due >= 0, "due", "must not be negative")
	f.Check(c.Usual >= 0, "usual", "must not be negative")
	return f.Err()
}

// Validate checks form only.
func (c ReleaseBillingRun) Validate() error {
	var f failure.Faults
	f.Check(strings.TrimSpace(c.Reason) != "", "reason", "is required")
	checkLines(&f, "reason", c.Reason)
	return f.Err()
}

// Validate checks form only.
func (c FinishBillingRun) Validate() error {
	var f failure.Faults
	f.Check(c.Failed >= len(c.Failures), "failed", "must not be less than the failures that are listed")
	f.Check(len(c.Failures) <= MaxBillingFailures, "failures", "must be at most %d", MaxBillingFailures)
	return f.Err()
}
