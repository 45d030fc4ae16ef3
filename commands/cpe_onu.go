package commands

import (
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// CpeOnuCategory begins the names of the streams of ONUs.
const CpeOnuCategory = "cpeonu"

// CpeOnuReleased is the code of a set-up whose CPE is no longer, or not yet, the organization's.
const CpeOnuReleased = "released"

// maxVLAN is the highest number of a VLAN.
const maxVLAN = 4094

// CpeOnuID is the id of an organization's ONU with a serial number. Two CPEs of an organization cannot have the same
// one; whether it is on the fibre of another organization is known by the terminals alone.
func CpeOnuID(org id.Organization, serial string) id.CPEOnu {
	return id.Derive[id.CPEOnu]("cpe onu", org.String(), serial)
}

// CpeOnuCommand acts on one ONU.
//
//sumtype:decl
type CpeOnuCommand interface {
	Command
	cpeOnuCommand()
}

// SetUpCpeOnu asks for a set-up, or for one more. The same request again changes nothing. Fails: onu_in_use, onu_busy,
// onu_elsewhere.
type SetUpCpeOnu struct {
	OnuID        id.CPEOnu
	OrgID        id.Organization
	CpeID        id.CPE
	SubscriberID id.Subscriber // zero = no customer's
	OperationID  id.CPEOperation
	Place        events.CpeOnuPlace
	Login        bool // the CPE has a login of PPPoE
	// First refuses an ONU that the CPE has already, and leaves it every other one: what is asked for with a claim is
	// undone with it.
	First bool
}

// ReportCpeOnuStep says that a step was done. Fails: cpe_operation_over, onu_removed when the ONU was taken out, or is
// just being taken out.
type ReportCpeOnuStep struct {
	OnuID       id.CPEOnu
	OperationID id.CPEOperation
	Step        string
}

// FailCpeOnu says why a set-up ends; one that has ended stays as it is. Fails: cpe_operation_not_found.
type FailCpeOnu struct {
	OnuID       id.CPEOnu
	OperationID id.CPEOperation
	Step        string
	Code        string
	Message     string
}

// ExpireCpeOnu ends a set-up whose time is over; before that it changes nothing. Fails: cpe_operation_not_found.
type ExpireCpeOnu struct {
	OnuID       id.CPEOnu
	OperationID id.CPEOperation
}

// RemoveCpeOnu takes the ONU from a CPE; that of another one stays. Fails: cpe_operation_not_found.
type RemoveCpeOnu struct {
	OnuID id.CPEOnu
	CpeID id.CPE
}

// ReportCpeOnuTakenOut says that the terminal does not have the ONU any more. Fails: cpe_operation_not_found.
type ReportCpeOnuTakenOut struct{ OnuID id.CPEOnu }

func (SetUpCpeOnu) CommandName() string          { return "cpe.SetUpCpeOnu" }
func (ReportCpeOnuStep) CommandName() string     { return "cpe.ReportCpeOnuStep" }
func (FailCpeOnu) CommandName() string           { return "cpe.FailCpeOnu" }
func (ExpireCpeOnu) CommandName() string         { return "cpe.ExpireCpeOnu" }
func (RemoveCpeOnu) CommandName() string         { return "cpe.RemoveCpeOnu" }
func (ReportCpeOnuTakenOut) CommandName() string { return "cpe.ReportCpeOnuTakenOut" }

func (c SetUpCpeOnu) Target() Target          { return At(CpeOnuCategory, c.OnuID) }
func (c ReportCpeOnuStep) Target() Target     { return At(CpeOnuCategory, c.OnuID) }
func (c FailCpeOnu) Target() Target           { return At(CpeOnuCategory, c.OnuID) }
func (c ExpireCpeOnu) Target() Target         { return At(CpeOnuCategory, c.OnuID) }
func (c RemoveCpeOnu) Target() Target         { return At(CpeOnuCategory, c.OnuID) }
func (c ReportCpeOnuTakenOut) Target() Target { return At(CpeOnuCategory, c.OnuID) }

func (SetUpCpeOnu) cpeOnuCommand()          {}
func (ReportCpeOnuStep) cpeOnuCommand()     {}
func (FailCpeOnu) cpeOnuCommand()           {}
func (ExpireCpeOnu) cpeOnuCommand()         {}
func (RemoveCpeOnu) cpeOnuCommand()         {}
func (ReportCpeOnuTakenOut) cpeOnuCommand() {}

// Forms of the names at a terminal. Source: docs/facts/olt.md#names.
var (
	onuSerial = regexp.MustCompile(`^[A-Z]{4}[0-9A-F]{8}$`)
	oltName   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
	oltPort   = regexp.MustCompile(`^[0-9]{1,3}(/[0-9]{1,3}){0,2}$`)
)

// Validate checks form.
func (c SetUpCpeOnu) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.CpeID.IsZero(), "cpeId", "is required")
	f.Check(!c.OperationID.IsZero(), "operationId", "is required")
	f.Check(c.OnuID == CpeOnuID(c.OrgID, c.Place.Serial), "onuId", "must be an id")
	f.Check(onuSerial.MatchString(c.Place.Serial), "onu.serial",
		"must be four letters and eight hexadecimal digits, in capitals, such as HWTC1A2B3C4D")
	f.Check(oltName.MatchString(c.Place.OLT), "onu.olt", "must have 1 to 32 small letters, digits or dashes")
	f.Check(oltPort.MatchString(c.Place.Port), "onu.port",
		"must be a number, or two or three with slashes between, such as 0/1/3")
	f.Check(c.Place.VLAN >= 1 && c.Place.VLAN <= maxVLAN, "onu.vlan", "must be from %d to %d", 1, maxVLAN)
	return f.Err()
}

// Validate checks form.
func (c ReportCpeOnuStep) Validate() error {
	var f failure.Faults
	f.Check(slices.Contains(CpeOnuSteps(true), c.Step), "step", "is required")
	return f.Err()
}

// CpeOnuSteps lists the steps of a set-up, with or without those for a login of PPPoE.
func CpeOnuSteps(login bool) []string {
	if login {
		return []string{events.CpeOnuRegister, events.CpeOnuVLAN, events.CpeOnuCredentials, events.CpeOnuTags}
	}
	return []string{events.CpeOnuRegister, events.CpeOnuVLAN, events.CpeOnuTags}
}

// Validate checks form.
func (c FailCpeOnu) Validate() error {
	var f failure.Faults
	cpeText(&f, "code", c.Code, 1, maxCpeFault)
	f.Check(utf8.RuneCountInString(c.Message) <= maxCpeMessage, "message", "must be at most %d characters",
		maxCpeMessage)
	return f.Err()
}

// Validate has nothing to check: the id names the stream.
func (ExpireCpeOnu) Validate() error { return nil }

// Validate has nothing to check.
func (RemoveCpeOnu) Validate() error { return nil }

// Validate has nothing to check.
func (ReportCpeOnuTakenOut) Validate() error { return nil }

// ErrOnuInUse is the failure of an ONU that another CPE of the organization has, or the same one already.
func ErrOnuInUse() error {
	return failure.NewConflict("onu_in_use",
		"A device of the organization has this ONU already. Release that device first.")
}

// ErrOnuBusy is the failure of an ONU that is just being set up or taken out.
func ErrOnuBusy() error {
	return failure.NewConflict("onu_busy", "This ONU is just being set up or taken out. Try again in a moment.")
}

// ErrOnuRemoved is the failure of a step for an ONU that was taken out meanwhile.
func ErrOnuRemoved() error {
	return failure.NewConflict("onu_removed", "The ONU was taken out of its terminal meanwhile.")
}
