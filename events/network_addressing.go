package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// AddressingEvent is an event of "addressing-<organization id>": who has which IPv4 subnet on the organization's
// routers.
//
//sumtype:decl
type AddressingEvent interface {
	Event
	addressingEvent()
}

// AddressesAllocated records that a service holds a subnet and a place on a router. While a change is under way it
// holds two: the one on the router and the one to come.
type AddressesAllocated struct {
	OrgID      id.Organization   `json:"orgId"`
	ServiceID  id.Service        `json:"serviceId"`
	DeviceID   id.Device         `json:"deviceId"`
	Binding    ServiceBinding    `json:"binding"`
	Addressing ServiceAddressing `json:"addressing"`
	At         time.Time         `json:"at"`
}

// AddressesSettled records that a service gives back what it held beside these.
type AddressesSettled struct {
	OrgID     id.Organization `json:"orgId"`
	ServiceID id.Service      `json:"serviceId"`
	Kept      []AddressesHeld `json:"kept"`
	At        time.Time       `json:"at"`
}

// AddressesHeld is one subnet and place that a service holds.
type AddressesHeld struct {
	Binding    ServiceBinding    `json:"binding"`
	Addressing ServiceAddressing `json:"addressing"`
}

// AddressesReleased records that a service holds nothing more.
type AddressesReleased struct {
	OrgID     id.Organization `json:"orgId"`
	ServiceID id.Service      `json:"serviceId"`
	At        time.Time       `json:"at"`
}

// AddressingDeviceClosed records that a router without services takes none any more: it is about to be decommissioned.
type AddressingDeviceClosed struct {
	OrgID    id.Organization `json:"orgId"`
	DeviceID id.Device       `json:"deviceId"`
	At       time.Time       `json:"at"`
}

// AddressingPeriodClosed is the last event of a full period: the next begins with Opening.
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
