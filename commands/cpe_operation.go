package commands

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// CpeOperationCategory begins the names of the streams of operations.
const CpeOperationCategory = "cpeoperation"

// CpeValuesPurpose is the use of the values of an operation, which the vault binds them to.
const CpeValuesPurpose = "cpe_operation"

// Limits of operations. Source: docs/rules/cpe.md#operations.
const (
	maxCpeParameters = 100
	maxCpeName       = 256
	maxCpeFault      = 64
	maxCpeMessage    = 500
	maxCpeTasks      = 20
	maxCpeWritten    = 500
)

// CpeOperationCommand acts on one operation.
//
//sumtype:decl
type CpeOperationCommand interface {
	Command
	cpeOperationCommand()
}

// QueueCpeOperation asks for a write. The caller has made sure that the organization has the CPE, and has put the
// values into the vault.
type QueueCpeOperation struct {
	OperationID  id.CPEOperation
	CpeID        id.CPE
	OrgID        id.Organization
	SubscriberID id.Subscriber // zero = no customer's
	Kind         events.CpeOperationKind
	Names        []string
	ValuesRef    id.Secret // zero = there are none
	CallNow      bool
	Deployed     *events.CpeDeployed // of firmware alone
}

// BeginCpeOperation announces that the CPE server is about to be asked. Only whoever is told that this changed
// something asks; everybody else looks. Fails: cpe_operation_not_found, cpe_operation_over.
type BeginCpeOperation struct{ OperationID id.CPEOperation }

// ReportCpeOperationSent says that the CPE server has the tasks. The same ones again change nothing, nor do others than
// those of before with one that reads back. Fails: cpe_operation_not_found.
type ReportCpeOperationSent struct {
	OperationID id.CPEOperation
	Tasks       []events.CpeTask
	Names       []string // of the parameters that are written, where the device's tree decides; nil = as before
	Call        string   // "ok", "queued" or "failed"
}

// ConfirmCpeOperation says that the write was found done. Fails: cpe_operation_not_found.
type ConfirmCpeOperation struct {
	OperationID id.CPEOperation
	Result      *events.CpeTestResult // nil = it was no test
}

// FailCpeOperation says why the write did not happen. Fails: cpe_operation_not_found.
type FailCpeOperation struct {
	OperationID id.CPEOperation
	Code        string
	Message     string
}

// ExpireCpeOperation ends an operation whose time is over; before that it changes nothing. Fails:
// cpe_operation_not_found.
type ExpireCpeOperation struct{ OperationID id.CPEOperation }

func (QueueCpeOperation) CommandName() string      { return "cpe.QueueCpeOperation" }
func (BeginCpeOperation) CommandName() string      { return "cpe.BeginCpeOperation" }
func (ReportCpeOperationSent) CommandName() string { return "cpe.ReportCpeOperationSent" }
func (ConfirmCpeOperation) CommandName() string    { return "cpe.ConfirmCpeOperation" }
func (FailCpeOperation) CommandName() string       { return "cpe.FailCpeOperation" }
func (ExpireCpeOperation) CommandName() string     { return "cpe.ExpireCpeOperation" }

func (c QueueCpeOperation) Target() Target      { return At(CpeOperationCategory, c.OperationID) }
func (c BeginCpeOperation) Target() Target      { return At(CpeOperationCategory, c.OperationID) }
func (c ReportCpeOperationSent) Target() Target { return At(CpeOperationCategory, c.OperationID) }
func (c ConfirmCpeOperation) Target() Target    { return At(CpeOperationCategory, c.OperationID) }
func (c FailCpeOperation) Target() Target       { return At(CpeOperationCategory, c.OperationID) }
func (c ExpireCpeOperation) Target() Target     { return At(CpeOperationCategory, c.OperationID) }

func (QueueCpeOperation) cpeOperationCommand()      {}
func (BeginCpeOperation) cpeOperationCommand()      {}
func (ReportCpeOperationSent) cpeOperationCommand() {}
func (ConfirmCpeOperation) cpeOperationCommand()    {}
func (FailCpeOperation) cpeOperationCommand()       {}
func (ExpireCpeOperation) cpeOperationCommand()     {}

// Validate checks form.
func (c QueueCpeOperation) Validate() error {
	var f failure.Faults
	f.Check(!c.CpeID.IsZero(), "cpeId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(slices.Contains(events.CpeOperationKinds(), c.Kind), "kind", "is required")
	f.Check((c.Kind == events.CpeFirmware) == (c.Deployed != nil), "deployed", "is required")
	f.Check(len(c.Names) <= maxCpeParameters, "parameters", "must have at most %d entries", maxCpeParameters)
	return failure.JoinFaults(f.Err(), CheckCpeNames(c.Names))
}

// Validate has nothing to check: the id names the stream.
func (BeginCpeOperation) Validate() error { return nil }

// Validate checks form.
func (c ReportCpeOperationSent) Validate() error {
	var f failure.Faults
	f.Check(c.Call == "ok" || c.Call == "queued" || c.Call == "failed", "call", "is required")
	f.Check(len(c.Tasks) <= maxCpeTasks, "tasks", "must have at most %d entries", maxCpeTasks)
	f.Check(len(c.Names) <= maxCpeWritten, "names", "must have at most %d entries", maxCpeWritten)
	return f.Err()
}

// Validate checks form.
func (c ConfirmCpeOperation) Validate() error {
	var f failure.Faults
	if r := c.Result; r != nil {
		least := min(r.Bytes, r.BitsPerSecond, r.ReceivedBytes, int64(min(r.Answered, r.Lost)))
		f.Check(least >= 0 && min(r.AverageMs, r.LeastMs, r.MostMs) >= 0, "result", "must not be negative")
	}
	return f.Err()
}

// Validate checks form.
func (c FailCpeOperation) Validate() error {
	var f failure.Faults
	cpeText(&f, "code", c.Code, 1, maxCpeFault)
	f.Check(utf8.RuneCountInString(c.Message) <= maxCpeMessage, "message", "must be at most %d characters",
		maxCpeMessage)
	return f.Err()
}

// Validate has nothing to check.
func (ExpireCpeOperation) Validate() error { return nil }

// cpeName is the form of a parameter's name: the path of a leaf in one of the two data models.
var cpeName = regexp.MustCompile(`^(Device|InternetGatewayDevice)(\.[A-Za-z0-9_-]+)+$`)

// CheckCpeNames refuses names that are no parameters, and those that nobody writes by name: what leads the CPE to its
// server, and passwords, which have operations of their own. Fails: invalid_input.
func CheckCpeNames(names []string) error {
	var f failure.Faults
	for _, name := range names {
		f.Check(len(name) <= maxCpeName && cpeName.MatchString(name), "parameters",
			"must be names such as Device.DeviceInfo.ProvisioningCode")
		f.Check(!secretCpeName(name), "parameters", "must not be passwords, nor settings of the way to the CPE server")
	}
	return f.Err()
}

// secretCpeName reports whether a parameter leads the CPE to its server, or is a password or a key. Manufacturers have
// passwords of their own, which all say so in their last part.
func secretCpeName(name string) bool {
	lower := strings.ToLower(name)
	_, below, _ := strings.Cut(lower, ".")
	first, _, _ := strings.Cut(below, ".")
	leaf := lower[strings.LastIndexByte(lower, '.')+1:]
	return strings.HasSuffix(first, "managementserver") || strings.Contains(leaf, "passw") ||
		strings.Contains(leaf, "passphrase") || strings.Contains(leaf, "presharedkey") ||
		strings.Contains(leaf, "secret") || strings.HasSuffix(leaf, "key") ||
		strings.HasSuffix(leaf, "psk") || leaf == "pin"
}

// ErrNoCpeOperation is the failure for an unknown operation, and for that of another organization.
func ErrNoCpeOperation() error {
	return failure.NewNotFound("cpe_operation_not_found", "There is no such operation.")
}

// ErrCpeOperationsFull is the failure of a request for a CPE that has too many open ones.
func ErrCpeOperationsFull() error {
	return failure.NewConflict("cpe_operations_full",
		"So many changes and tests wait for this device already. Wait until some have ended.")
}

// ErrCpeOperationOver is the failure of work on an operation that has ended.
func ErrCpeOperationOver() error {
	return failure.NewConflict("cpe_operation_over", "This operation has ended.")
}
