package commands

import (
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// AddressingCategory is the category of the streams of address plans; their id is the organization's.
const AddressingCategory = "addressing"

// The plans that subnets come from. Source: docs/rules/network.md#address-plans.
var (
	CustomerPlan   = netip.MustParsePrefix("10.50.0.0/16")
	ManagementPlan = netip.MustParsePrefix("10.20.0.0/16")
)

// AddressingCommand is a command to an organization's address plan.
//
//sumtype:decl
type AddressingCommand interface {
	Command
	addressingCommand()
}

// AllocateAddresses takes a subnet for a service and its place on the router; the answer is in the state
// (bus.LoadOwned). Wanted may be empty in whole or part. A service that holds another allocation keeps both until
// SettleAddresses. Fails: subnet_overlaps, addresses_exhausted, interface_in_use, device_closed, service_slug_taken
// (choose another id).
type AllocateAddresses struct {
	OrgID     id.Organization
	ServiceID id.Service
	DeviceID  id.Device
	Binding   events.ServiceBinding
	Wanted    events.ServiceAddressing
	Occupied  []string // subnets that the router itself uses for something else, CIDR
}

// SettleAddresses lets a service keep one allocation and gives back those from before it. Later ones are for a change
// to come; of them it gives back what was allocated before AbandonedBefore. Fails: addresses_not_held.
type SettleAddresses struct {
	OrgID           id.Organization
	ServiceID       id.Service
	Binding         events.ServiceBinding
	Subnet          string
	AbandonedBefore time.Time // zero = none
}

// ReleaseAddresses gives back all that a service holds.
type ReleaseAddresses struct {
	OrgID     id.Organization
	ServiceID id.Service
}

// CloseAddressingDevice lets a router take no more services. Fails: device_has_services.
type CloseAddressingDevice struct {
	OrgID    id.Organization
	DeviceID id.Device
}

func (AllocateAddresses) CommandName() string     { return "network.AllocateAddresses" }
func (SettleAddresses) CommandName() string       { return "network.SettleAddresses" }
func (ReleaseAddresses) CommandName() string      { return "network.ReleaseAddresses" }
func (CloseAddressingDevice) CommandName() string { return "network.CloseAddressingDevice" }

func (c AllocateAddresses) Target() Target     { return At(AddressingCategory, c.OrgID) }
func (c SettleAddresses) Target() Target       { return At(AddressingCategory, c.OrgID) }
func (c ReleaseAddresses) Target() Target      { return At(AddressingCategory, c.OrgID) }
func (c CloseAddressingDevice) Target() Target { return At(AddressingCategory, c.OrgID) }

// Validate checks form: what is wanted must agree with itself.
func (c AllocateAddresses) Validate() error {
	var f failure.Faults
	checkAddressingTarget(&f, c.OrgID, c.ServiceID)
	f.Check(!c.DeviceID.IsZero(), "deviceId", "is required")
	CheckBinding(&f, c.Binding)
	if c.Wanted != (events.ServiceAddressing{}) {
		CheckAddressing(&f, CompleteAddressing(c.Wanted))
	}
	for _, o := range c.Occupied {
		_, err := netip.ParsePrefix(o)
		f.Check(err == nil, "occupied", "must be subnets")
	}
	return f.Err()
}

// Validate checks form.
func (c SettleAddresses) Validate() error {
	var f failure.Faults
	checkAddressingTarget(&f, c.OrgID, c.ServiceID)
	return f.Err()
}

// Validate checks form.
func (c ReleaseAddresses) Validate() error {
	var f failure.Faults
	checkAddressingTarget(&f, c.OrgID, c.ServiceID)
	return f.Err()
}

// Validate checks form.
func (c CloseAddressingDevice) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.DeviceID.IsZero(), "deviceId", "is required")
	return f.Err()
}

// checkAddressingTarget checks that plan and service are named.
func checkAddressingTarget(f *failure.Faults, org id.Organization, service id.Service) {
	f.Check(!org.IsZero(), "orgId", "is required")
	f.Check(!service.IsZero(), "serviceId", "is required")
}

func (AllocateAddresses) addressingCommand()     {}
func (SettleAddresses) addressingCommand()       {}
func (ReleaseAddresses) addressingCommand()      {}
func (CloseAddressingDevice) addressingCommand() {}
