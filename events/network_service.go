package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// ServiceEvent is an event of "nasservice-<id>": one customer-facing service on a router.
//
//sumtype:decl
type ServiceEvent interface {
	Event
	serviceEvent()
}

// ServiceType says what customers find on the port.
type ServiceType string

// The types. Source: docs/rules/network.md#service-record.
const (
	ServicePPPoE         ServiceType = "pppoe"
	ServiceHotspot       ServiceType = "hotspot"
	ServiceCPEManagement ServiceType = "cpe-management"
)

// ServiceBinding is what cannot be changed without disconnecting customers.
type ServiceBinding struct {
	Type            ServiceType `json:"type"`
	ParentInterface string      `json:"parentInterface"` // ether or SFP port, VLAN, or a bridge of the operator
	VlanID          int         `json:"vlanId"`          // 1..4094; 0 = directly on the parent
}

// ServiceAddressing is the IPv4 plan of a service; all fields are set.
type ServiceAddressing struct {
	Subnet    string `json:"subnet"` // CIDR without host bits
	Gateway   string `json:"gateway"`
	PoolStart string `json:"poolStart"`
	PoolEnd   string `json:"poolEnd"`
}

// WalledGarden is what a hotspot's customers reach before they sign in. Both lists are sorted and without repetition.
type WalledGarden struct {
	Domains   []string `json:"domains"`   // "example.com" or "*.example.com", lower case
	Addresses []string `json:"addresses"` // IPv4 addresses or prefixes
}

// DriftedResource is one difference between the desired state and the router.
type DriftedResource struct {
	Path     string            `json:"path"` // menu, "ip/pool"
	Kind     string            `json:"kind"` // "missing", "extra", "changed" or "orphan"
	Name     string            `json:"name"`
	Expected map[string]string `json:"expected"` // the fields that differ; all of them when missing
	Actual   map[string]string `json:"actual"`
}

// Phases of work on a router that may fail.
const (
	PhaseApply    = "apply"
	PhaseTeardown = "teardown" // of the old resources before a re-creation
	PhaseRemoval  = "removal"
)

// ServiceRequested records a new service; it is pending until applied. Generation counts its desired states from 1.
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

// ServiceAddressingChanged records another IPv4 plan. Sessions stay.
type ServiceAddressingChanged struct {
	ServiceID  id.Service        `json:"serviceId"`
	DeviceID   id.Device         `json:"deviceId"`
	Addressing ServiceAddressing `json:"addressing"`
	Generation int               `json:"generation"`
	At         time.Time         `json:"at"`
}

// ServiceWalledGardenChanged records another walled garden. Sessions stay.
type ServiceWalledGardenChanged struct {
	ServiceID    id.Service   `json:"serviceId"`
	DeviceID     id.Device    `json:"deviceId"`
	WalledGarden WalledGarden `json:"walledGarden"`
	Generation   int          `json:"generation"`
	At           time.Time    `json:"at"`
}

// ServiceRecreationConfirmed records a confirmed change that disconnects customers: the old resources go, new ones
// come.
type ServiceRecreationConfirmed struct {
	ServiceID        id.Service        `json:"serviceId"`
	DeviceID         id.Device         `json:"deviceId"`
	From             ServiceBinding    `json:"from"`
	To               ServiceBinding    `json:"to"`
	Addressing       ServiceAddressing `json:"addressing"`
	WalledGarden     WalledGarden      `json:"walledGarden"`
	AffectedSessions int               `json:"affectedSessions"` // as the operator was told
	Generation       int               `json:"generation"`
	At               time.Time         `json:"at"`
}

// ServiceTornDown records that the old resources are gone and the new ones may come.
type ServiceTornDown struct {
	ServiceID  id.Service `json:"serviceId"`
	DeviceID   id.Device  `json:"deviceId"`
	RunID      id.Run     `json:"runId"`
	Generation int        `json:"generation"` // of the new desired state
	At         time.Time  `json:"at"`
}

// ServiceReconcileRequested records that somebody wants the router brought in line. Unfinished work goes on with it.
type ServiceReconcileRequested struct {
	ServiceID  id.Service `json:"serviceId"`
	DeviceID   id.Device  `json:"deviceId"`
	RunID      id.Run     `json:"runId"`
	Phase      string     `json:"phase"` // the work to go on with
	Generation int        `json:"generation"`
	At         time.Time  `json:"at"`
}

// ServiceApplied records that the router was read back and is as desired: the service is active.
type ServiceApplied struct {
	ServiceID  id.Service `json:"serviceId"`
	DeviceID   id.Device  `json:"deviceId"`
	RunID      id.Run     `json:"runId"`
	Generation int        `json:"generation"`
	Repaired   bool       `json:"repaired"` // it had drifted
	At         time.Time  `json:"at"`
}

// ServiceApplyFailed records the router's error word for word. A refusal waits for somebody; the rest is tried again.
type ServiceApplyFailed struct {
	ServiceID  id.Service `json:"serviceId"`
	DeviceID   id.Device  `json:"deviceId"`
	RunID      id.Run     `json:"runId"`
	Phase      string     `json:"phase"`
	Path       string     `json:"path"`      // menu, "" when no write was reached
	Operation  string     `json:"operation"` // "read", "add", "set", "remove", "move" or "connect"
	Message    string     `json:"message"`
	Refused    bool       `json:"refused"` // the router answered no; else unreachable or interrupted
	Generation int        `json:"generation"`
	At         time.Time  `json:"at"`
}

// ServiceDriftDetected records that the router differs from what was applied: the service is degraded. One event for
// each hash, however often it is seen.
type ServiceDriftDetected struct {
	ServiceID   id.Service        `json:"serviceId"`
	OrgID       id.Organization   `json:"orgId"`
	DeviceID    id.Device         `json:"deviceId"`
	FirstSeenAt time.Time         `json:"firstSeenAt"` // since when the service is out of line without a pause
	Hash        string            `json:"hash"`
	Resources   []DriftedResource `json:"resources"`
	At          time.Time         `json:"at"`
}

// ServiceDriftCleared records that the difference went away without the platform writing.
type ServiceDriftCleared struct {
	ServiceID id.Service `json:"serviceId"`
	DeviceID  id.Device  `json:"deviceId"`
	At        time.Time  `json:"at"`
}

// ServiceRemovalRequested records that the service is to go with all its resources.
type ServiceRemovalRequested struct {
	ServiceID        id.Service `json:"serviceId"`
	DeviceID         id.Device  `json:"deviceId"`
	AffectedSessions int        `json:"affectedSessions"`
	Generation       int        `json:"generation"`
	At               time.Time  `json:"at"`
}

// ServiceRemoved records that nothing of the service is left on the router, or that the router was given up.
type ServiceRemoved struct {
	ServiceID id.Service      `json:"serviceId"`
	OrgID     id.Organization `json:"orgId"`
	DeviceID  id.Device       `json:"deviceId"`
	RunID     id.Run          `json:"runId"`
	Abandoned bool            `json:"abandoned"` // without reaching the router: what is left there is an orphan
	At        time.Time       `json:"at"`
}

// ServicePeriodClosed is the last event of a full period: the next begins with Opening.
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
