package commands

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ServiceCategory is the category of the streams of network services.
const ServiceCategory = "nasservice"

// Operations in which a router may fail.
const (
	OperationConnect = "connect"
	OperationRead    = "read"
	OperationVerify  = "verify"
	OperationAdd     = "add"
	OperationSet     = "set"
	OperationRemove  = "remove"
	OperationMove    = "move"
)

// ServiceCommand is a command to one network service.
//
//sumtype:decl
type ServiceCommand interface {
	Command
	serviceCommand()
}

// RequestService makes a service; it holds its addresses already (AllocateAddresses). Fails: service_exists.
type RequestService struct {
	ServiceID    id.Service
	OrgID        id.Organization
	DeviceID     id.Device
	Binding      events.ServiceBinding
	Addressing   events.ServiceAddressing
	WalledGarden events.WalledGarden
}

// ChangeNasService states the whole desired service, as long as that disconnects nobody: another binding has to be said
// again as ConfirmNasServiceChange. Fails: service_not_found, service_removing, confirmation_required.
type ChangeNasService struct {
	ServiceID        id.Service
	Binding          events.ServiceBinding
	Addressing       events.ServiceAddressing
	WalledGarden     events.WalledGarden
	AffectedSessions int // up at the moment, for the refusal
}

// ConfirmNasServiceChange states the whole desired service, by somebody who accepts that customers are disconnected. It
// does what ChangeNasService does where nobody is. Fails: service_not_found, service_removing.
type ConfirmNasServiceChange struct {
	ServiceID        id.Service
	Binding          events.ServiceBinding
	Addressing       events.ServiceAddressing
	WalledGarden     events.WalledGarden
	AffectedSessions int // up at the moment, for the record
}

// ReconcileService asks to go on with what is unfinished, or to apply again. Fails: service_not_found.
type ReconcileService struct {
	ServiceID id.Service
	RunID     id.Run
}

// RequestRemoval asks that the service goes. Needs Confirmed while sessions are up. Fails: service_not_found,
// confirmation_required.
type RequestRemoval struct {
	ServiceID        id.Service
	Confirmed        bool
	AffectedSessions int
}

// ReportApplied reports that the router was read back and is as desired. Fails: service_not_found.
type ReportApplied struct {
	ServiceID  id.Service
	RunID      id.Run
	Generation int // the desired state that was applied
}

// ReportTornDown reports that the old resources of a re-creation are gone. Fails: service_not_found.
type ReportTornDown struct {
	ServiceID  id.Service
	RunID      id.Run
	Generation int
}

// ReportServiceFailure reports what stopped a run. Fails: service_not_found.
type ReportServiceFailure struct {
	ServiceID  id.Service
	RunID      id.Run
	Generation int
	Phase      string // events.PhaseApply, ...
	Path       string
	Operation  string
	Message    string // the router's, word for word
	Refused    bool   // the router answered no; else it may be tried again
}

// ReportDrift reports the difference that a check found; no resources means none. Fails: service_not_found.
type ReportDrift struct {
	ServiceID  id.Service
	Generation int // the desired state that was compared
	Hash       string
	Resources  []events.DriftedResource
}

// ReportRemoved reports that nothing of the service is left. Abandoned: the router was not reached and is given up.
// Fails: service_not_found, removal_not_requested.
type ReportRemoved struct {
	ServiceID id.Service
	RunID     id.Run
	Abandoned bool
}

func (RequestService) CommandName() string          { return "network.RequestService" }
func (ChangeNasService) CommandName() string        { return "network.ChangeNasService" }
func (ConfirmNasServiceChange) CommandName() string { return "network.ConfirmNasServiceChange" }
func (ReconcileService) CommandName() string        { return "network.ReconcileService" }
func (RequestRemoval) CommandName() string          { return "network.RequestRemoval" }
func (ReportApplied) CommandName() string           { return "network.ReportApplied" }
func (ReportTornDown) CommandName() string          { return "network.ReportTornDown" }
func (ReportServiceFailure) CommandName() string    { return "network.ReportServiceFailure" }
func (ReportDrift) CommandName() string             { return "network.ReportDrift" }
func (ReportRemoved) CommandName() string           { return "network.ReportRemoved" }

func (c RequestService) Target() Target          { return At(ServiceCategory, c.ServiceID) }
func (c ChangeNasService) Target() Target        { return At(ServiceCategory, c.ServiceID) }
func (c ConfirmNasServiceChange) Target() Target { return At(ServiceCategory, c.ServiceID) }
func (c ReconcileService) Target() Target        { return At(ServiceCategory, c.ServiceID) }
func (c RequestRemoval) Target() Target          { return At(ServiceCategory, c.ServiceID) }
func (c ReportApplied) Target() Target           { return At(ServiceCategory, c.ServiceID) }
func (c ReportTornDown) Target() Target          { return At(ServiceCategory, c.ServiceID) }
func (c ReportServiceFailure) Target() Target    { return At(ServiceCategory, c.ServiceID) }
func (c ReportDrift) Target() Target             { return At(ServiceCategory, c.ServiceID) }
func (c ReportRemoved) Target() Target           { return At(ServiceCategory, c.ServiceID) }

// Validate checks form: the IPv4 plan must agree with itself, whatever router it is for.
func (c RequestService) Validate() error {
	var f failure.Faults
	f.Check(!c.ServiceID.IsZero(), "serviceId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.DeviceID.IsZero(), "deviceId", "is required")
	checkService(&f, c.Binding, c.Addressing, c.WalledGarden)
	return f.Err()
}

// Validate checks form, as RequestService does.
func (c ChangeNasService) Validate() error {
	var f failure.Faults
	f.Check(!c.ServiceID.IsZero(), "serviceId", "is required")
	f.Check(c.AffectedSessions >= 0, "affectedSessions", "must not be negative")
	checkService(&f, c.Binding, c.Addressing, c.WalledGarden)
	return f.Err()
}

// Validate checks form, as ChangeNasService does.
func (c ConfirmNasServiceChange) Validate() error { return ChangeNasService(c).Validate() }

// Validate checks form.
func (c ReconcileService) Validate() error {
	var f failure.Faults
	f.Check(!c.ServiceID.IsZero(), "serviceId", "is required")
	f.Check(!c.RunID.IsZero(), "runId", "is required")
	return f.Err()
}

// Validate checks form.
func (c ReportServiceFailure) Validate() error {
	var f failure.Faults
	f.Check(!c.ServiceID.IsZero(), "serviceId", "is required")
	f.Check(c.Phase == events.PhaseApply || c.Phase == events.PhaseTeardown || c.Phase == events.PhaseRemoval, "phase",
		"must be apply, teardown or removal")
	return f.Err()
}

// Validate checks form.
func (c ReportDrift) Validate() error {
	var f failure.Faults
	f.Check(!c.ServiceID.IsZero(), "serviceId", "is required")
	f.Check(c.Hash != "" || len(c.Resources) == 0, "hash", "is required")
	return f.Err()
}

func (c RequestRemoval) Validate() error { return serviceNamed(c.ServiceID) }
func (c ReportApplied) Validate() error  { return serviceNamed(c.ServiceID) }
func (c ReportTornDown) Validate() error { return serviceNamed(c.ServiceID) }
func (c ReportRemoved) Validate() error  { return serviceNamed(c.ServiceID) }

// serviceNamed checks that a service is named.
func serviceNamed(s id.Service) error {
	var f failure.Faults
	f.Check(!s.IsZero(), "serviceId", "is required")
	return f.Err()
}

// checkService checks the form of a whole service.
func checkService(f *failure.Faults, b events.ServiceBinding, a events.ServiceAddressing, w events.WalledGarden) {
	CheckBinding(f, b)
	CheckAddressing(f, a)
	CheckWalledGarden(f, b.Type, w)
}

func (RequestService) serviceCommand()          {}
func (ChangeNasService) serviceCommand()        {}
func (ConfirmNasServiceChange) serviceCommand() {}
func (ReconcileService) serviceCommand()        {}
func (RequestRemoval) serviceCommand()          {}
func (ReportApplied) serviceCommand()           {}
func (ReportTornDown) serviceCommand()          {}
func (ReportServiceFailure) serviceCommand()    {}
func (ReportDrift) serviceCommand()             {}
func (ReportRemoved) serviceCommand()           {}

// ErrNoService is the answer for a service that does not exist, and for another organization's.
func ErrNoService() error {
	return failure.NewNotFound("service_not_found", "There is no such service.")
}

// ErrConfirmationRequired is the answer to what would disconnect customers and was not confirmed. Their number stands
// in the message and, for programs, beside it.
func ErrConfirmationRequired(sessions int) error {
	return failure.NewConflict("confirmation_required", "This disconnects %d users. Repeat it with confirm=true.",
		sessions).With("affectedSessions", sessions)
}
