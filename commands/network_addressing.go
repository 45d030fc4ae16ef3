package commands

import (
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// AddressingCategory begins the names of the streams of address plans; the id is the organization's.
const AddressingCategory = "addressing"

// Address plans from which the platform takes subnets. Source: docs/rules/network.md#address-plans.
var (
	CustomerPlan   = netip.MustParsePrefix("10.50.0.0/16")
	ManagementPlan = netip.MustParsePrefix("10.20.0.0/16")
)

// minManagementBits is the prefix length of the largest subnet that a management service may have had: it is claimed
// block by block. What a service did not have before must be smaller.
const minManagementBits = 16

// Bounds on management subnets, so that no organization takes what all share. Both count only what a service does not
// hold already. Source: docs/rules/network.md#address-plans.
const (
	// SharedManagementBits is the prefix length of the largest subnet that a service may have within ManagementPlan.
	SharedManagementBits = 22
	// SharedManagementBlocks is how many of the 256 blocks of /24 in ManagementPlan an organization may have.
	SharedManagementBlocks = 32
	// OwnManagementBits is the prefix length of the largest subnet that a service may have outside ManagementPlan.
	OwnManagementBits = 20
	// OwnManagementBlocks is how many blocks of /24 outside ManagementPlan an organization may have: half of
	// 192.168.0.0/16, which others use as well.
	OwnManagementBlocks = 128
)

// AddressingCommand is a command to the address plan of an organization.
//
//sumtype:decl
type AddressingCommand interface {
	Command
	addressingCommand()
}

// AllocateAddresses takes a subnet for a service, and its place on the router. Read the result from the state
// (bus.LoadOwned). Empty fields of Wanted are completed. A service that holds another allocation keeps both until
// SettleAddresses. Fails: subnet_overlaps, addresses_exhausted, management_subnet_taken, management_subnet_too_large,
// management_quota_reached, interface_in_use, device_closed, service_slug_taken (choose another id).
type AllocateAddresses struct {
	OrgID     id.Organization
	ServiceID id.Service
	DeviceID  id.Device
	Binding   events.ServiceBinding
	Wanted    events.ServiceAddressing
	Occupied  []string // subnets that the router uses for other purposes, CIDR
	// Try passes over so many free subnets of the management plan: another organization took them at the same moment.
	Try int
}

// SettleAddresses keeps one allocation of a service and gives back the earlier ones. Later ones belong to a coming
// change and stay, except those from before AbandonedBefore. Fails: addresses_not_held.
type SettleAddresses struct {
	OrgID           id.Organization
	ServiceID       id.Service
	Binding         events.ServiceBinding
	Subnet          string
	AbandonedBefore time.Time // zero = keep all later ones
}

// ReleaseAddresses gives back all allocations of a service.
type ReleaseAddresses struct {
	OrgID     id.Organization
	ServiceID id.Service
}

// CloseAddressingDevice refuses further services on a router. Fails: device_has_services.
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

// Validate checks form: the wanted fields must agree with each other.
func (c AllocateAddresses) Validate() error {
	var f failure.Faults
	checkAddressingTarget(&f, c.OrgID, c.ServiceID)
	f.Check(!c.DeviceID.IsZero(), "deviceId", "is required")
	CheckBinding(&f, c.Binding)
	f.Check(c.Try >= 0, "try", "must not be negative")
	if subnet, err := netip.ParsePrefix(c.Wanted.Subnet); err == nil && c.Binding.Type == events.ServiceCPEManagement {
		f.Check(subnet.Bits() >= minManagementBits, "subnet", "must be at most a /%d for cpe-management",
			minManagementBits)
	}
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

// checkAddressingTarget requires the ids of organization and service.
func checkAddressingTarget(f *failure.Faults, org id.Organization, service id.Service) {
	f.Check(!org.IsZero(), "orgId", "is required")
	f.Check(!service.IsZero(), "serviceId", "is required")
}

func (AllocateAddresses) addressingCommand()     {}
func (SettleAddresses) addressingCommand()       {}
func (ReleaseAddresses) addressingCommand()      {}
func (CloseAddressingDevice) addressingCommand() {}
