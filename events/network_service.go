package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// ServiceEvent is an event of "nasservice-<id>": one service on a router.
//
//sumtype:decl
type ServiceEvent interface {
	Event
	serviceEvent()
}

// ServiceType is the way in which customers connect to the port.
type ServiceType string

// The types. Source: docs/rules/network.md#service-record.
const (
	ServicePPPoE         ServiceType = "pppoe"
	ServiceHotspot       ServiceType = "hotspot"
	ServiceCPEManagement ServiceType = "cpe-management"
)

// ServiceBinding is the place of a service on its router. Every change of it disconnects customers.
type ServiceBinding struct {
	Type            ServiceType `json:"type"`
	ParentInterface string      `json:"parentInterface"` // Ethernet or SFP port, VLAN, or a bridge of the operator
	VlanID          int         `json:"vlanId"`          // 1..4094; 0 = directly on the parent
}

// ServiceAddressing is the IPv4 plan of a service. All fields are set in events.
type ServiceAddressing struct {
	Subnet    string `json:"subnet"` // CIDR without host bits
	Gateway   string `json:"gateway"`
	PoolStart string `json:"poolStart"`
	PoolEnd   string `json:"poolEnd"`
}

// WalledGarden lists the addresses that a hotspot's customers reach before they sign in. Both lists are sorted and have
// each entry once.
type WalledGarden struct {
	Domains   []string `json:"domains"`   // "example.com" or "*.example.com", lower case
	Addresses []string `json:"addresses"` // IPv4 addresses or prefixes
}

// DriftedResource is one difference between the desired state and the router.
type DriftedResource struct {
	Path     string            `json:"path"` // menu, such as "ip/pool"
	Kind     string            `json:"kind"` // "missing", "extra", "changed" or "orphan"
	Name     string            `json:"name"`
	Expected map[string]string `json:"expected"` // the fields that differ; all fields of a missing resource
	Actual   map[string]string `json:"actual"`
}

// Phases of work on a router. A failure report names one.
const (
	PhaseApply    = "apply"
	PhaseTeardown = "teardown" // removal of the old resources before a re-creation
	PhaseRemoval  = "removal"
)

// ServiceRequested records a new service, which is pending until it is applied. Generation counts its desired states
// from 1.
type ServiceRequested struct {
	ServiceID    id.Service        `json:"serviceId"`
	OrgID        id.Organization   `json:"orgId"`
	DeviceID     id.Device         `json:"deviceId"`
	Binding      ServiceBinding    `json:"binding"`
	Addressing   ServiceAddressing `json:"addressing"`
	WalledGarden WalledGarden      `json:"walledGarden"`
	Generation   int               `json:"generation"`
	At           time.Time         `json:"at"`
}

// ServiceAddressingChanged records a new IPv4 plan. Sessions stay connected.
type ServiceAddressingChanged struct {
	ServiceID  id.Service        `json:"serviceId"`
	DeviceID   id.Device         `json:"deviceId"`
	Addressing ServiceAddressing `json:"addressing"`
	Generation int               `json:"generation"`
	At         time.Time         `json:"at"`
}

// ServiceWalledGardenChanged records a new walled garden. Sessions stay connected.
type ServiceWalledGardenChanged struct {
	ServiceID    id.Service   `json:"serviceId"`
	DeviceID     id.Device    `json:"deviceId"`
	WalledGarden WalledGarden `json:"walledGarden"`
	Generation   int          `json:"generation"`
	At           time.Time    `json:"at"`
}

// ServiceRecreationConfirmed records a confirmed change that disconnects customers: the old resources are removed, then
// new ones are created.
type ServiceRecreationConfirmed struct {
	ServiceID        id.Service        `json:"serviceId"`
	DeviceID         id.Device         `json:"deviceId"`
	From             ServiceBinding    `json:"from"`
	To               ServiceBinding    `json:"to"`
	Addressing       ServiceAddressing `json:"addressing"`
	WalledGarden     WalledGarden      `json:"walledGarden"`
	AffectedSessions int               `json:"affectedSessions"` // as it was shown to the operator
	Generation       int               `json:"generation"`
	At               time.Time         `json:"at"`
}

// ServiceTornDown records that the old resources are removed, and that the new ones can be created.
type ServiceTornDown struct {
	ServiceID  id.Service `json:"serviceId"`
	DeviceID   id.Device  `json:"deviceId"`
	RunID      id.Run     `json:"runId"`
	Generation int        `json:"generation"` // of the new desired state
	At         time.Time  `json:"at"`
}

// ServiceReconcileRequested records that a person asked to make the router as desired. It continues unfinished work.
type ServiceReconcileRequested struct {
	ServiceID  id.Service `json:"serviceId"`
	DeviceID   id.Device  `json:"deviceId"`
	RunID      id.Run     `json:"runId"`
	Phase      string     `json:"phase"` // the phase to continue with
	Generation int        `json:"generation"`
	At         time.Time  `json:"at"`
}

// ServiceApplied records that the router was read again and is as desired: the service is active.
type ServiceApplied struct {
	ServiceID  id.Service `json:"serviceId"`
	DeviceID   id.Device  `json:"deviceId"`
	RunID      id.Run     `json:"runId"`
	Generation int        `json:"generation"`
	Repaired   bool       `json:"repaired"` // the service had drifted before
	At         time.Time  `json:"at"`
}

// ServiceApplyFailed records the router's error text unchanged. After a refusal a person must act; other failures are
// tried again.
type ServiceApplyFailed struct {
	ServiceID  id.Service `json:"serviceId"`
	DeviceID   id.Device  `json:"deviceId"`
	RunID      id.Run     `json:"runId"`
	Phase      string     `json:"phase"`
	Path       string     `json:"path"`      // menu; "" when no write was sent
	Operation  string     `json:"operation"` // "read", "add", "set", "remove", "move" or "connect"
	Message    string     `json:"message"`
	Refused    bool       `json:"refused"` // the router refused; false: it was unreachable or the run was interrupted
	Generation int        `json:"generation"`
	At         time.Time  `json:"at"`
}

// ServiceDriftDetected records that the router differs from the applied state: the service is degraded. There is one
// event for each hash, even when the difference is seen many times.
type ServiceDriftDetected struct {
	ServiceID   id.Service        `json:"serviceId"`
	OrgID       id.Organization   `json:"orgId"`
	DeviceID    id.Device         `json:"deviceId"`
	FirstSeenAt time.Time         `json:"firstSeenAt"` // start of the time in which the service differs without a break
	Hash        string            `json:"hash"`
	Resources   []DriftedResource `json:"resources"`
	At          time.Time         `json:"at"`
}

// ServiceDriftCleared records that the difference disappeared without a write by the platform.
type ServiceDriftCleared struct {
	ServiceID id.Service `json:"serviceId"`
	DeviceID  id.Device  `json:"deviceId"`
	At        time.Time  `json:"at"`
}

// ServiceRemovalRequested records that the service will be removed with all its resources.
type ServiceRemovalRequested struct {
	ServiceID        id.Service `json:"serviceId"`
	DeviceID         id.Device  `json:"deviceId"`
	AffectedSessions int        `json:"affectedSessions"`
	Generation       int        `json:"generation"`
	At               time.Time  `json:"at"`
}

// ServiceRemoved records that the router has no resources of the service, or that the removal was given up.
type ServiceRemoved struct {
	ServiceID id.Service      `json:"serviceId"`
	OrgID     id.Organization `json:"orgId"`
	DeviceID  id.Device       `json:"deviceId"`
	RunID     id.Run          `json:"runId"`
	Abandoned bool            `json:"abandoned"` // the router was not reached; resources that remain there are orphans
	At        time.Time       `json:"at"`
}

// ServicePeriodClosed is the last event of a full period. The next period begins with Opening, JSON of the aggregate's
// state.
type ServicePeriodClosed struct {
	ServiceID id.Service `json:"serviceId"`
	Opening   []byte     `json:"opening"`
}

func (ServiceRequested) EventType() string           { return "network.ServiceRequested.v1" }
func (ServiceAddressingChanged) EventType() string   { return "network.ServiceAddressingChanged.v1" }
func (ServiceWalledGardenChanged) EventType() string { return "network.ServiceWalledGardenChanged.v1" }
func (ServiceRecreationConfirmed) EventType() string { return "network.ServiceRecreationConfirmed.v1" }
func (ServiceTornDown) EventType() string            { return "network.ServiceTornDown.v1" }
func (ServiceReconcileRequested) EventType() string  { return "network.ServiceReconcileRequested.v1" }
func (ServiceApplied) EventType() string             { return "network.ServiceApplied.v1" }
func (ServiceApplyFailed) EventType() string         { return "network.ServiceApplyFailed.v1" }
func (ServiceDriftDetected) EventType() string       { return "network.ServiceDriftDetected.v1" }
func (ServiceDriftCleared) EventType() string        { return "network.ServiceDriftCleared.v1" }
func (ServiceRemovalRequested) EventType() string    { return "network.ServiceRemovalRequested.v1" }
func (ServiceRemoved) EventType() string             { return "network.ServiceRemoved.v1" }
func (ServicePeriodClosed) EventType() string        { return "network.ServicePeriodClosed.v1" }

func (ServiceRequested) serviceEvent()           {}
func (ServiceAddressingChanged) serviceEvent()   {}
func (ServiceWalledGardenChanged) serviceEvent() {}
func (ServiceRecreationConfirmed) serviceEvent() {}
func (ServiceTornDown) serviceEvent()            {}
func (ServiceReconcileRequested) serviceEvent()  {}
func (ServiceApplied) serviceEvent()             {}
func (ServiceApplyFailed) serviceEvent()         {}
func (ServiceDriftDetected) serviceEvent()       {}
func (ServiceDriftCleared) serviceEvent()        {}
func (ServiceRemovalRequested) serviceEvent()    {}
func (ServiceRemoved) serviceEvent()             {}
func (ServicePeriodClosed) serviceEvent()        {}
