package network

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// claimsAddressing claims the subnets of management services, in blocks of /24, on the whole platform: the CPE server
// reaches the devices of all organizations, so that no two may have the same address.
func claimsAddressing(s Addressing) []commands.Claim {
	var claims []commands.Claim
	for _, block := range s.ManagementBlocks() {
		claims = append(claims, block.Claim())
	}
	return claims
}

// ManagementBlock is a block of /24 in which an organization has addresses of management services.
type ManagementBlock struct {
	Prefix netip.Prefix
	Since  time.Time // when its first present allocation was made
}

// Claim is the unique value that keeps the block from other organizations.
func (b ManagementBlock) Claim() commands.Claim {
	return commands.Claim{
		Kind: "management_subnet", Value: b.Prefix.String(), Code: "management_subnet_taken",
		Message: "Another organization has management addresses in this subnet. Please give another one.",
	}
}

// ManagementBlocks lists the blocks of the plan's management services in the order of allocation, each once.
func (s Addressing) ManagementBlocks() []ManagementBlock {
	var blocks []ManagementBlock
	seen := map[netip.Prefix]bool{}
	for _, h := range s.Held {
		subnet, err := netip.ParsePrefix(h.Addressing.Subnet)
		if err != nil || h.Binding.Type != events.ServiceCPEManagement {
			continue
		}
		for _, block := range blocksOf(subnet) {
			if !seen[block] {
				seen[block] = true
				blocks = append(blocks, ManagementBlock{block, h.At})
			}
		}
	}
	return blocks
}

// blocksOf lists the blocks of /24 that a subnet is in or that it has. A subnet wider than /16, which no command takes,
// counts as its first /16.
func blocksOf(subnet netip.Prefix) []netip.Prefix {
	count := 1
	if subnet.Bits() < subnetBits {
		count = 1 << (subnetBits - max(subnet.Bits(), 16))
	}
	block := netip.PrefixFrom(subnet.Addr(), subnetBits).Masked()
	blocks := make([]netip.Prefix, 0, count)
	for range count {
		blocks = append(blocks, block)
		block = netip.PrefixFrom(commands.Broadcast(block).Next(), subnetBits)
	}
	return blocks
}

// mayManage refuses a subnet by which a management service would take too much of what all organizations share. A
// subnet that the service holds already passes. Fails: management_subnet_too_large, management_quota_reached.
func (s Addressing) mayManage(c commands.AllocateAddresses, wanted string) error {
	subnet, err := netip.ParsePrefix(wanted)
	if err != nil || c.Binding.Type != events.ServiceCPEManagement {
		return nil
	}
	plan := commands.ManagementPlan
	held := map[netip.Prefix]bool{}
	shared, own := 0, 0
	count := func(blocks []netip.Prefix) {
		for _, block := range blocks {
			switch {
			case held[block]:
				continue
			case plan.Overlaps(block):
				shared++
			default:
				own++
			}
			held[block] = true
		}
	}
	for _, b := range s.ManagementBlocks() {
		count([]netip.Prefix{b.Prefix})
	}
	sharedBefore, ownBefore := shared, own
	count(blocksOf(subnet))
	switch {
	case s.holdsManagement(c, wanted):
		return nil
	case plan.Overlaps(subnet) && subnet.Bits() < commands.SharedManagementBits:
		return failure.NewInvalid("management_subnet_too_large", fmt.Sprintf(
			"subnet must be a /%d or smaller in %s, which all organizations share; give a smaller one, or one outside",
			commands.SharedManagementBits, plan))
	case subnet.Bits() < commands.OwnManagementBits:
		return failure.NewInvalid("management_subnet_too_large", fmt.Sprintf(
			"subnet must be a /%d or smaller: no other organization can have management addresses in it; give a "+
				"smaller "+
				"one, and further services further ones", commands.OwnManagementBits))
	case shared > max(sharedBefore, commands.SharedManagementBlocks),
		own > max(ownBefore, commands.OwnManagementBlocks):
		return failure.NewConflict("management_quota_reached", "Your organization has as many management subnets in "+
			"this range as it may have. Delete a management service that is no longer used, or give a subnet in "+
			"another range.")
	}
	return nil
}

// holdsManagement reports whether a management service holds a subnet already.
func (s Addressing) holdsManagement(c commands.AllocateAddresses, subnet string) bool {
	for _, h := range s.Held {
		if h.Service == c.ServiceID && h.Binding.Type == events.ServiceCPEManagement && h.Addressing.Subnet == subnet {
			return true
		}
	}
	return false
}
