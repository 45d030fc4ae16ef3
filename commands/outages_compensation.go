package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// CompensationCategory begins the names of the streams of compensations.
const CompensationCategory = "compensation"

// MaxCompensated is how many subscriptions one compensation has at most: its preview is one append.
const MaxCompensated = 4000

// CompensationCommand acts on one compensation.
//
//sumtype:decl
type CompensationCommand interface {
	Command
	compensationCommand()
}

// PreviewCompensation records what each subscription would get. Fails: compensation_not_over, compensation_empty.
type PreviewCompensation struct {
	CompensationID id.Compensation
	OrgID          id.Organization
	Place          events.NetworkPlace
	OutageID       id.Outage // zero = a place that a person chose
	From           time.Time
	To             time.Time
	Give           events.CompensationGive
	Reason         string
	Items          []events.CompensationItem
}

// ApplyCompensation has the previewed compensation given. It changes nothing when that was asked for before. Fails:
// compensation_not_found.
type ApplyCompensation struct{ CompensationID id.Compensation }

// FinishCompensationPart reports what became of a part; a repeat changes nothing. Fails: compensation_not_found.
type FinishCompensationPart struct {
	CompensationID id.Compensation
	Part           int
	Given          int
	Refused        []events.CompensationRefusal
}

func (PreviewCompensation) CommandName() string    { return "outages.PreviewCompensation" }
func (ApplyCompensation) CommandName() string      { return "outages.ApplyCompensation" }
func (FinishCompensationPart) CommandName() string { return "outages.FinishCompensationPart" }

func (c PreviewCompensation) Target() Target    { return At(CompensationCategory, c.CompensationID) }
func (c ApplyCompensation) Target() Target      { return At(CompensationCategory, c.CompensationID) }
func (c FinishCompensationPart) Target() Target { return At(CompensationCategory, c.CompensationID) }

func (PreviewCompensation) compensationCommand()    {}
func (ApplyCompensation) compensationCommand()      {}
func (FinishCompensationPart) compensationCommand() {}

// Validate checks form.
func (c PreviewCompensation) Validate() error {
	var f failure.Faults
	f.Check(!c.CompensationID.IsZero(), "compensationId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	checkNetworkPlace(&f, c.Place)
	checkCompensated(&f, c.From, c.To, c.Give)
	checkReason(&f, c.Reason)
	return f.Err()
}

// Validate has nothing to check: the id names the stream.
func (ApplyCompensation) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (FinishCompensationPart) Validate() error { return nil }

// ErrNoCompensation is the failure for a compensation that does not exist or belongs to another organization.
func ErrNoCompensation() error {
	return failure.NewNotFound("compensation_not_found", "There is no such compensation.")
}

// ErrCompensationNotOver is the failure for a time that is not over.
func ErrCompensationNotOver() error {
	return failure.New(failure.Invalid, "compensation_not_over", "Only a time that is over can be compensated.")
}
