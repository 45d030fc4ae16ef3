package commands

import (
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// AllowanceCategory begins the names of the streams of allowances.
const AllowanceCategory = "allowance"

// AllowanceCommand is a command to "allowance-<id>".
//
//sumtype:decl
type AllowanceCommand interface {
	Command
	allowanceCommand()
}

// AllowanceOf derives the id: what a person gives away in an organization is counted anew on each of its days.
func AllowanceOf(org id.Organization, person id.User, date calendar.Date) id.Allowance {
	return id.Derive[id.Allowance]("allowance", org.String(), person.String(), date.String())
}

// UseAllowance lets one person do an act alone, when all that the person has given away on the day stays within the
// limit. An act that is there already with this amount changes nothing. Fails: second_person_needed.
type UseAllowance struct {
	AllowanceID id.Allowance // of AllowanceOf
	OrgID       id.Organization
	PersonID    id.User
	Date        calendar.Date
	ActID       id.Command
	Kind        string
	Amount      money.Amount
	Limit       money.Amount // the organization's at this moment
}

// ReturnAllowance gives back what an act took that was refused. An unknown act changes nothing.
type ReturnAllowance struct {
	AllowanceID id.Allowance
	ActID       id.Command
}

func (UseAllowance) CommandName() string    { return "billing.UseAllowance" }
func (ReturnAllowance) CommandName() string { return "billing.ReturnAllowance" }
func (UseAllowance) allowanceCommand()      {}
func (ReturnAllowance) allowanceCommand()   {}
func (c UseAllowance) Target() Target       { return At(AllowanceCategory, c.AllowanceID) }
func (c ReturnAllowance) Target() Target    { return At(AllowanceCategory, c.AllowanceID) }

// Validate also checks that the allowance is that of the person and the day.
func (c UseAllowance) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.PersonID.IsZero(), "personId", "is required")
	f.Check(!c.ActID.IsZero(), "actId", "is required")
	f.Check(c.Kind != "", "kind", "is required")
	f.Check(c.Amount.Positive(), "amount", "must be above zero")
	f.Check(c.AllowanceID == AllowanceOf(c.OrgID, c.PersonID, c.Date), "allowanceId", "is not of this person and day")
	return f.Err()
}

// Validate requires the act.
func (c ReturnAllowance) Validate() error {
	var f failure.Faults
	f.Check(!c.ActID.IsZero(), "actId", "is required")
	return f.Err()
}

// ErrNoAllowance is the failure for a day on which the person has given nothing away.
func ErrNoAllowance() error {
	return failure.NewNotFound("allowance_not_found", "Nothing was given away on this day.")
}

// ErrSecondPerson refuses what one person must not do alone.
func ErrSecondPerson() error {
	return failure.NewConflict("second_person_needed", "This needs a second person. Ask a colleague to approve it.")
}
