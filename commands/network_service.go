package commands

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ServiceCategory begins the names of the streams of services on routers.
const ServiceCategory = "nasservice"

// Operations on a router that can fail. A failure report names one.
const (
	OperationConnect = "connect"
	OperationRead    = "read"
	OperationVerify  = "verify"
	OperationAdd     = "add"
	OperationSet     = "set"
	OperationRemove  = "remove"
	OperationMove    = "move"
)

// ServiceCommand is a command to one service on a router.
//
//sumtype:decl
type ServiceCommand interface {
	Command
	serviceCommand()
}

// RequestService creates a service whose addresses are allocated already (AllocateAddresses). Fails: service_exists.
type RequestService struct {
	ServiceID    id.Service
	OrgID        id.Organization
	DeviceID     id.Device
	Binding      events.ServiceBinding
	Addressing   events.ServiceAddressing
	WalledGarden events.WalledGarden
}

// ChangeNasService states the whole desired service. It refuses a change of the binding, which disconnects customers
// and needs ConfirmNasServiceChange. Fails: service_not_found, service_removing, confirmation_required.
type ChangeNasService struct {
	ServiceID        id.Service
	Binding          events.ServiceBinding
	Addressing       events.ServiceAddressing
	WalledGarden     events.WalledGarden
	AffectedSessions int // sessions now; named in the refusal
}

// ConfirmNasServiceChange states the whole desired service and accepts that customers are disconnected. Without a
// change of the binding it does the same as ChangeNasService. Fails: service_not_found, service_removing.
type ConfirmNasServiceChange struct {
	ServiceID        id.Service
	Binding          events.ServiceBinding
	Addressing       events.ServiceAddressing
	WalledGarden     events.WalledGarden
	AffectedSessions int // sessions now; recorded with the change
}

// ReconcileService continues unfinished work, or applies the service again. Fails: service_not_found.
type ReconcileService struct {
	ServiceID id.Service
	RunID     id.Run
}

// RequestRemoval asks for the removal of the service. It needs Confirmed while sessions are up. Fails:
// service_not_found, confirmation_required.
type RequestRemoval struct {
	ServiceID        id.Service
	Confirmed        bool
	AffectedSessions int
}

// ReportApplied reports that the router was read again and is as desired. Fails: service_not_found.
type ReportApplied struct {
	ServiceID  id.Service
	RunID      id.Run
	Generation int // the desired state that was applied
}

// ReportTornDown reports that the old resources of a re-creation are removed. Fails: service_not_found.
type ReportTornDown struct {
	ServiceID  id.Service
	RunID      id.Run
	Generation int
}

// ReportServiceFailure reports the error that stopped a run. Fails: service_not_found.
type ReportServiceFailure struct {
	ServiceID  id.Service
	RunID      id.Run
	Generation int
	Phase      string // events.PhaseApply, PhaseTeardown or PhaseRemoval
	Path       string
	Operation  string
	Message    string // the router's error text, unchanged
	Refused    bool   // the router refused; false means that a later try may succeed
}

// ReportDrift reports the difference that a check found; empty Resources mean that there is none. Fails:
// service_not_found.
type ReportDrift struct {
	ServiceID  id.Service
	Generation int // the desired state that was compared
	Hash       string
	Resources  []events.DriftedResource
}

// ReportRemoved reports that the router has no resources of the service. Abandoned means that the router was not
// reached and the removal was given up. Fails: service_not_found, removal_not_requested.
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

// Validate checks form: the fields of the IPv4 plan must agree with each other. It does not look at the router.
func (c RequestService) Validate() error {
	var f failure.Faults
	f.Check(!c.ServiceID.IsZero(), "serviceId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.DeviceID.IsZero(), "deviceId", "is required")
	checkService(&f, c.Binding, c.Addressing, c.WalledGarden)
	return f.Err()
}

// Validate checks form like RequestService.
func (c ChangeNasService) Validate() error {
	var f failure.Faults
	f.Check(!c.ServiceID.IsZero(), "serviceId", "is required")
	f.Check(c.AffectedSessions >= 0, "affectedSessions", "must not be negative")
	checkService(&f, c.Binding, c.Addressing, c.WalledGarden)
	return f.Err()
}

// Validate checks form like ChangeNasService.
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

// Validate requires a hash for a difference.
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

// serviceNamed requires the id of a service.
func serviceNamed(s id.Service) error {
	var f failure.Faults
	f.Check(!s.IsZero(), "serviceId", "is required")
	return f.Err()
}

// checkService checks the form of all parts of a service.
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

// ErrNoService is the failure for a service that does not exist or belongs to another organization.
func ErrNoService() error {
	return failure.NewNotFound("service_not_found", "There is no such service.")
}

// ErrConfirmationRequired is the failure of an unconfirmed change that would disconnect customers. The number of
// sessions is in the message and, for programs, in the field affectedSessions.
func ErrConfirmationRequired(sessions int) error {
	return failure.NewConflict("confirmation_required", "This disconnects %d users. Repeat it with confirm=true.",
		sessions).With("affectedSessions", sessions)
}
