package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// AddressingEvent is an event of "addressing-<organization id>": the IPv4 subnets that services hold on the
// organization's routers.
//
//sumtype:decl
type AddressingEvent interface {
	Event
	addressingEvent()
}

// AddressesAllocated records that a service holds a subnet and a place on a router. During a change a service holds
// two: the present one and the future one.
type AddressesAllocated struct {
	OrgID      id.Organization   `json:"orgId"`
	ServiceID  id.Service        `json:"serviceId"`
	DeviceID   id.Device         `json:"deviceId"`
	Binding    ServiceBinding    `json:"binding"`
	Addressing ServiceAddressing `json:"addressing"`
	At         time.Time         `json:"at"`
}

// AddressesSettled records that a service gives back all allocations except these.
type AddressesSettled struct {
	OrgID     id.Organization `json:"orgId"`
	ServiceID id.Service      `json:"serviceId"`
	Kept      []AddressesHeld `json:"kept"`
	At        time.Time       `json:"at"`
}

// AddressesHeld is one subnet and one place on a router that a service holds.
type AddressesHeld struct {
	Binding    ServiceBinding    `json:"binding"`
	Addressing ServiceAddressing `json:"addressing"`
}

// AddressesReleased records that a service gave back all its allocations.
type AddressesReleased struct {
	OrgID     id.Organization `json:"orgId"`
	ServiceID id.Service      `json:"serviceId"`
	At        time.Time       `json:"at"`
}

// AddressingDeviceClosed records that a router without services accepts no new ones, because it is about to be
// decommissioned.
type AddressingDeviceClosed struct {
	OrgID    id.Organization `json:"orgId"`
	DeviceID id.Device       `json:"deviceId"`
	At       time.Time       `json:"at"`
}

// AddressingPeriodClosed is the last event of a full period. The next period begins with Opening, JSON of the
// aggregate's state.
type AddressingPeriodClosed struct {
	OrgID   id.Organization `json:"orgId"`
	Opening []byte          `json:"opening"`
}

func (AddressesAllocated) EventType() string     { return "network.AddressesAllocated.v1" }
func (AddressesSettled) EventType() string       { return "network.AddressesSettled.v1" }
func (AddressesReleased) EventType() string      { return "network.AddressesReleased.v1" }
func (AddressingDeviceClosed) EventType() string { return "network.AddressingDeviceClosed.v1" }
func (AddressingPeriodClosed) EventType() string { return "network.AddressingPeriodClosed.v1" }

func (AddressesAllocated) addressingEvent()     {}
func (AddressesSettled) addressingEvent()       {}
func (AddressesReleased) addressingEvent()      {}
func (AddressingDeviceClosed) addressingEvent() {}
func (AddressingPeriodClosed) addressingEvent() {}
