package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// FormerSubnet is a subnet that a service no longer has while devices may still have addresses of it, from leases or
// sessions. Its gateway stays on the router beside the new one, and nobody else gets it, until Until at least.
type FormerSubnet struct {
	Subnet  string    `json:"subnet"`
	Gateway string    `json:"gateway"`
	Until   time.Time `json:"until"` // UTC
}

// ServiceSubnetLeft records that a service has another subnet: the former one is held until no lease and no session has
// an address of it.
type ServiceSubnetLeft struct {
	ServiceID id.Service   `json:"serviceId"`
	DeviceID  id.Device    `json:"deviceId"`
	Former    FormerSubnet `json:"former"`
	At        time.Time    `json:"at"`
}

// ServiceSubnetsKept records that devices still had addresses of former subnets when nobody should have had one: the
// subnets stay, and are looked at again at Until.
type ServiceSubnetsKept struct {
	ServiceID id.Service `json:"serviceId"`
	DeviceID  id.Device  `json:"deviceId"`
	RunID     id.Run     `json:"runId"`
	Until     time.Time  `json:"until"`
	At        time.Time  `json:"at"`
}

// ServiceSubnetsRetired records that the router was read and has no former subnet of the service any more.
type ServiceSubnetsRetired struct {
	ServiceID id.Service `json:"serviceId"`
	DeviceID  id.Device  `json:"deviceId"`
	RunID     id.Run     `json:"runId"`
	At        time.Time  `json:"at"`
}

func (ServiceSubnetLeft) EventType() string     { return "network.ServiceSubnetLeft.v1" }
func (ServiceSubnetsKept) EventType() string    { return "network.ServiceSubnetsKept.v1" }
func (ServiceSubnetsRetired) EventType() string { return "network.ServiceSubnetsRetired.v1" }

func (ServiceSubnetLeft) serviceEvent()     {}
func (ServiceSubnetsKept) serviceEvent()    {}
func (ServiceSubnetsRetired) serviceEvent() {}
