package commands

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// DifferenceCategory begins the names of the streams of differences between what customers are entitled to and what
// routers show.
const DifferenceCategory = "accessdifference"

// DifferenceCommand is a command to "accessdifference-<id>".
//
//sumtype:decl
type DifferenceCommand interface {
	Command
	differenceCommand()
}

// OpenDifference records a difference. One that is open already, and looks the same, gives no event.
type OpenDifference struct {
	Difference events.AccessDifference
	Expected   string
	Actual     personal.Text
	Walled     bool // the router has the session's address in the walled garden
}

// CloseDifference records that a difference is no more; one that is not open gives no event. Writes of a repair whose
// answer was lost are recorded as found.
type CloseDifference struct {
	DifferenceID id.Difference
}

// AskRepair records that a person wants an open difference repaired. Fails: difference_not_found.
type AskRepair struct {
	DifferenceID  id.Difference
	Steps         []events.RouterStep
	By            events.Actor
	CorrelationID string // of the request
}

// RecordRepairWrite records that the router took the first of the announced writes of a repair. Without one it does
// nothing.
type RecordRepairWrite struct {
	DifferenceID id.Difference
	Found        bool // there was nothing left to be written
}

func (OpenDifference) CommandName() string    { return "access.OpenDifference" }
func (CloseDifference) CommandName() string   { return "access.CloseDifference" }
func (AskRepair) CommandName() string         { return "access.AskRepair" }
func (RecordRepairWrite) CommandName() string { return "access.RecordRepairWrite" }

func (c OpenDifference) Target() Target    { return At(DifferenceCategory, c.Difference.DifferenceID) }
func (c CloseDifference) Target() Target   { return At(DifferenceCategory, c.DifferenceID) }
func (c AskRepair) Target() Target         { return At(DifferenceCategory, c.DifferenceID) }
func (c RecordRepairWrite) Target() Target { return At(DifferenceCategory, c.DifferenceID) }

func (OpenDifference) differenceCommand()    {}
func (CloseDifference) differenceCommand()   {}
func (AskRepair) differenceCommand()         {}
func (RecordRepairWrite) differenceCommand() {}

// Validate requires the ids that every difference has, its kind and what is expected.
func (c OpenDifference) Validate() error {
	var f failure.Faults
	d := c.Difference
	f.Check(!d.DifferenceID.IsZero(), "differenceId", "is required")
	f.Check(!d.OrgID.IsZero(), "orgId", "is required")
	f.Check(!d.DeviceID.IsZero(), "deviceId", "is required")
	f.Check(d.Kind != "", "kind", "is required")
	f.Check(c.Expected != "", "expected", "is required")
	return f.Err()
}

func (c CloseDifference) Validate() error   { return checkDifference(c.DifferenceID) }
func (c AskRepair) Validate() error         { return checkDifference(c.DifferenceID) }
func (c RecordRepairWrite) Validate() error { return checkDifference(c.DifferenceID) }

// checkDifference demands an id.
func checkDifference(d id.Difference) error {
	if d.IsZero() {
		return ErrNoDifference()
	}
	return nil
}

// ErrNoDifference is the failure for a difference that is not open, or that another organization has.
func ErrNoDifference() error {
	return failure.NewNotFound("difference_not_found", "There is no such difference, or it has gone.")
}

// ErrRepairByHand is the failure for a difference that only people can end. todo is one or more sentences.
func ErrRepairByHand(todo string) error {
	return failure.NewConflict("repair_by_hand", "Only people can end this difference. %s The next look closes it.",
		todo)
}

// ErrAccessUnreadable is the failure of a repair while an event of the organization cannot be read
// (docs/rules/access-radius.md#unreadable-events).
func ErrAccessUnreadable() error {
	return failure.NewUnavailable("access_events_unreadable", "A part of the organization's history cannot be read, "+
		"so nothing is changed on routers: customers could not sign in again. Waiting does not help. Tell whoever "+
		"runs the platform.", 0, nil)
}

// ErrAccessBehind is the failure of a repair while it is not known up to now who is entitled to what.
func ErrAccessBehind() error {
	return failure.NewUnavailable("access_directory_behind", "What customers are entitled to is not known up to this "+
		"moment, so nothing is changed on routers. Try again in a minute. If it lasts, tell whoever runs the platform.",
		0, nil)
}

// ErrReportsWaiting is the failure of a repair while the tables may lack what routers have reported.
func ErrReportsWaiting() error {
	return failure.NewUnavailable("access_reports_waiting", "Reports of routers have not come to the database yet, so "+
		"who is online is not certain, and nothing is changed on routers. Try again in some minutes. If it lasts, "+
		"tell whoever runs the platform.", 0, nil)
}

// ErrRouterUnreadable is the failure of a repair at a router that answers, and refuses to be read. words are its own.
func ErrRouterUnreadable(words string) error {
	return failure.New(failure.Refused, "router_not_readable", "The router answers, and cannot be read: %s Check the "+
		"platform's user on the router and its rights, or run the router's bootstrap script again.", words)
}

// ErrRepairRefused is the failure of a repair that the router refuses. words are its own.
func ErrRepairRefused(words string) error {
	return failure.New(failure.Refused, "repair_refused", "The router refuses the repair: %s Check the rights of the "+
		"platform's user on the router, or do it there by hand. The next look closes what has gone.", words)
}

// AuditAccess asks for the audits of routers that are due. Periodic.
type AuditAccess struct{}

// AuditRouter compares what one router shows with what its customers are entitled to.
type AuditRouter struct {
	DeviceID id.Device `json:"deviceId"`
}

// ConfirmAudit looks a second time at what a first look found.
type ConfirmAudit struct {
	DeviceID id.Device `json:"deviceId"`
	// Doubtful are differences that are seen and not recorded, or recorded and not seen.
	Doubtful []id.Difference `json:"doubtful"`
}

func (AuditAccess) Kind() string  { return "access_audit" }
func (AuditRouter) Kind() string  { return "access_audit_router" }
func (ConfirmAudit) Kind() string { return "access_audit_confirm" }

// Device names the router whose turn the job takes.
func (j AuditRouter) Device() id.Device { return j.DeviceID }

// Device names the router whose turn the job takes.
func (j ConfirmAudit) Device() id.Device { return j.DeviceID }

// Request is the router: one audit of it waits or runs.
func (j AuditRouter) Request() string { return j.DeviceID.String() }

// Request is the router and what is in doubt: one second look for that waits or runs. A first look that finds something
// else has a second look of its own, because the one that waits confirms only what was found before.
func (j ConfirmAudit) Request() string {
	doubts := []string{j.DeviceID.String()}
	for _, d := range j.Doubtful {
		doubts = append(doubts, d.String())
	}
	return id.Derive[id.Any]("second look", doubts...).String()
}
