package commands

import (
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TopologyCategory begins the names of the streams that say which router stands behind which; the id is the
// organization's.
const TopologyCategory = "topology"

// TopologyCommand is a command to the topology of an organization.
//
//sumtype:decl
type TopologyCommand interface {
	Command
	topologyCommand()
}

// ChooseUpstream says behind which router another one stands. The caller has made sure that the organization has both.
// Fails: upstream_cycle.
type ChooseUpstream struct {
	OrgID      id.Organization
	DeviceID   id.Device
	UpstreamID id.Device // zero = behind none
}

// LeaveTopology takes a router out that was decommissioned: those behind it stand behind its own upstream from then on.
type LeaveTopology struct {
	OrgID    id.Organization
	DeviceID id.Device
}

func (ChooseUpstream) CommandName() string { return "network.ChooseUpstream" }
func (LeaveTopology) CommandName() string  { return "network.LeaveTopology" }

func (c ChooseUpstream) Target() Target { return At(TopologyCategory, c.OrgID) }
func (c LeaveTopology) Target() Target  { return At(TopologyCategory, c.OrgID) }

// Validate checks form.
func (c ChooseUpstream) Validate() error { return checkTopologyTarget(c.OrgID, c.DeviceID) }

// Validate checks form.
func (c LeaveTopology) Validate() error { return checkTopologyTarget(c.OrgID, c.DeviceID) }

// checkTopologyTarget requires the ids of organization and router.
func checkTopologyTarget(org id.Organization, device id.Device) error {
	var f failure.Faults
	f.Check(!org.IsZero(), "orgId", "is required")
	f.Check(!device.IsZero(), "deviceId", "is required")
	return f.Err()
}

func (ChooseUpstream) topologyCommand() {}
func (LeaveTopology) topologyCommand()  {}
