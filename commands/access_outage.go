package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// OutageCategory begins the names of the streams about times in which customers could not pay.
const OutageCategory = "payoutage"

// OutageCommand acts on the times in which customers of an organization could not pay.
//
//sumtype:decl
type OutageCommand interface {
	Command
	outageCommand()
}

// InterruptPayments notes that customers cannot pay since an instant. While that is so, and for a beginning that lies
// before the end of the last such time, it changes nothing.
type InterruptPayments struct {
	OrgID    id.Organization
	Evidence string
	From     time.Time
}

// ResumePayments notes that customers can pay again, from an instant on that may be past.
type ResumePayments struct {
	OrgID id.Organization
	Until time.Time
}

// RecordAbsence notes a time in which no program of the platform could take money, beside the outages of the provider.
type RecordAbsence struct {
	OrgID id.Organization
	From  time.Time
	Until time.Time // after From
}

func (InterruptPayments) CommandName() string { return "access.InterruptPayments" }
func (ResumePayments) CommandName() string    { return "access.ResumePayments" }
func (RecordAbsence) CommandName() string     { return "access.RecordAbsence" }

func (c InterruptPayments) Target() Target { return At(OutageCategory, c.OrgID) }
func (c ResumePayments) Target() Target    { return At(OutageCategory, c.OrgID) }
func (c RecordAbsence) Target() Target     { return At(OutageCategory, c.OrgID) }

func (InterruptPayments) outageCommand() {}
func (ResumePayments) outageCommand()    {}
func (RecordAbsence) outageCommand()     {}

// Validate checks form.
func (c InterruptPayments) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Evidence != "", "evidence", "is required")
	f.Check(!c.From.IsZero(), "from", "is required")
	return f.Err()
}

// Validate checks form.
func (c ResumePayments) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.Until.IsZero(), "until", "is required")
	return f.Err()
}

// Validate checks form.
func (c RecordAbsence) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.From.IsZero(), "from", "is required")
	f.Check(c.From.Before(c.Until), "until", "must be after the beginning")
	return f.Err()
}
