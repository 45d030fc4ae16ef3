package network

import (
	"net/netip"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// AddressPlans defines the address plans: one for each organization. All services ask the same stream, so that no two
// get the same subnet.
func AddressPlans() aggregates.Definition[Addressing, commands.AddressingCommand, events.AddressingEvent] {
	return aggregates.Definition[Addressing, commands.AddressingCommand, events.AddressingEvent]{
		Category: commands.AddressingCategory, Missing: commands.ErrNotFound, Evolve: evolveAddressing,
		Decide: decideAddressing, Owner: ownerAddressing, Claims: claimsAddressing, Close: closeAddressing,
		Commands: []commands.AddressingCommand{
			commands.AllocateAddresses{}, commands.SettleAddresses{}, commands.ReleaseAddresses{},
			commands.CloseAddressingDevice{},
		},
	}
}

// subnetBits is the prefix length of a subnet that the platform chooses: one gateway and 253 customers.
const subnetBits = 24

// Addressing records which service holds which addresses on the routers of one organization. The zero value is a plan
// where everything is free.
type Addressing struct {
	Org    id.Organization
	Held   []Allocation // in the order of allocation
	Closed []id.Device  // routers that accept no more services
}

// Allocation is a subnet and a place on a router that one service holds. A service holds two during a change: the old
// one and, later in the list, the new one.
type Allocation struct {
	Service    id.Service
	Device     id.Device
	Binding    events.ServiceBinding
	Addressing events.ServiceAddressing
	At         time.Time
}

// held is the allocation as events store it, without service, router and time.
func (a Allocation) held() events.AddressesHeld {
	return events.AddressesHeld{Binding: a.Binding, Addressing: a.Addressing}
}

// ownerAddressing is zero until the first allocation of the organization.
func ownerAddressing(s Addressing) id.Organization { return s.Org }

// Of is the latest allocation of a service; false when it holds none.
func (s Addressing) Of(service id.Service) (Allocation, bool) {
	for _, a := range slices.Backward(s.Held) {
		if a.Service == service {
			return a, true
		}
	}
	return Allocation{}, false
}

// evolveAddressing applies one recorded event. An allocation that is recorded again moves to the end of Held.
func evolveAddressing(s Addressing, e events.AddressingEvent) Addressing {
	switch e := e.(type) {
	case events.AddressesAllocated:
		s.Org = e.OrgID
		a := Allocation{
			Service: e.ServiceID, Device: e.DeviceID, Binding: e.Binding, Addressing: e.Addressing, At: e.At,
		}
		s.Held = append(slices.DeleteFunc(slices.Clone(s.Held), func(h Allocation) bool {
			return h.Service == a.Service && h.held() == a.held()
		}), a)
	case events.AddressesSettled:
		s.Held = slices.DeleteFunc(slices.Clone(s.Held), func(h Allocation) bool {
			return h.Service == e.ServiceID && !slices.Contains(e.Kept, h.held())
		})
	case events.AddressesReleased:
		s.Held = slices.DeleteFunc(slices.Clone(s.Held), func(h Allocation) bool { return h.Service == e.ServiceID })
	case events.AddressingDeviceClosed:
		s.Org, s.Closed = e.OrgID, append(slices.Clone(s.Closed), e.DeviceID)
	case events.AddressingPeriodClosed:
		return aggregates.Opened[Addressing](e.Opening)
	}
	return s
}

// closeAddressing passes the whole state on: allocations never expire by age.
func closeAddressing(s Addressing) events.AddressingEvent {
	return events.AddressingPeriodClosed{OrgID: s.Org, Opening: aggregates.Opening(s)}
}

// decideAddressing dispatches; releasing what is not held gives no event.
func decideAddressing(s Addressing, c commands.AddressingCommand, now time.Time) ([]events.AddressingEvent, error) {
	switch c := c.(type) {
	case commands.AllocateAddresses:
		return decideAllocate(s, c, now)
	case commands.SettleAddresses:
		return decideSettle(s, c, now)
	case commands.ReleaseAddresses:
		if _, holds := s.Of(c.ServiceID); holds {
			return only[events.AddressingEvent](events.AddressesReleased{OrgID: s.Org, ServiceID: c.ServiceID, At: now})
		}
	case commands.CloseAddressingDevice:
		switch {
		case slices.Contains(s.Closed, c.DeviceID):
			return nil, nil
		case slices.ContainsFunc(s.Held, func(h Allocation) bool { return h.Device == c.DeviceID }):
			return nil, failure.NewConflict("device_has_services", "This device has services. Delete them first.")
		}
		return only[events.AddressingEvent](events.AddressingDeviceClosed{
			OrgID: c.OrgID, DeviceID: c.DeviceID, At: now,
		})
	}
	return nil, nil
}

// decideAllocate takes a subnet and a place on the router. It gives no event when the service's latest allocation is
// the one asked for.
func decideAllocate(s Addressing, c commands.AllocateAddresses, now time.Time) ([]events.AddressingEvent, error) {
	same := func(h Allocation) bool { return h.Device == c.DeviceID && h.Binding == c.Binding }
	last, holds := s.Of(c.ServiceID)
	wanted := commands.CompleteAddressing(c.Wanted)
	switch {
	case holds && same(last) && (c.Wanted == events.ServiceAddressing{} || wanted == last.Addressing):
		return nil, nil
	case slices.Contains(s.Closed, c.DeviceID):
		return nil, failure.NewConflict("device_closed", "This device is being decommissioned. Choose another one.")
	}
	taken := takenBy(c.Occupied)
	for _, h := range s.Held {
		if h.Service == c.ServiceID {
			continue
		}
		if h.Device == c.DeviceID && routerplan.Slug(h.Service) == routerplan.Slug(c.ServiceID) {
			return nil, failure.NewConflict("service_slug_taken",
				"Another service has the same short name on this device. Please try again.")
		}
		if h.Device == c.DeviceID && h.Binding.ParentInterface == c.Binding.ParentInterface &&
			h.Binding.VlanID == c.Binding.VlanID {
			return nil, failure.NewConflict("interface_in_use",
				"Another service is on this interface. Choose another interface or VLAN.")
		}
		taken = append(taken, netip.MustParsePrefix(h.Addressing.Subnet))
	}
	if wanted.Subnet == "" {
		subnet, ok := firstFree(planOf(c.Binding.Type), taken, c.Try)
		if !ok {
			return nil, failure.NewConflict("addresses_exhausted", "No subnet of the plan is free. Give a subnet.")
		}
		wanted = commands.CompleteAddressing(events.ServiceAddressing{Subnet: subnet.String()})
	} else if subnet := netip.MustParsePrefix(wanted.Subnet); slices.ContainsFunc(taken, subnet.Overlaps) {
		return nil, failure.NewInvalid("subnet_overlaps",
			"subnet overlaps one that is in use on the organization's routers")
	}
	if err := s.mayManage(c, wanted.Subnet); err != nil {
		return nil, err
	}
	return only[events.AddressingEvent](events.AddressesAllocated{
		OrgID: c.OrgID, ServiceID: c.ServiceID, DeviceID: c.DeviceID, Binding: c.Binding, Addressing: wanted, At: now,
	})
}

// takenBy parses the subnets that the router uses itself. It skips what is no prefix, and the default route.
func takenBy(occupied []string) []netip.Prefix {
	var taken []netip.Prefix
	for _, o := range occupied {
		if p, err := netip.ParsePrefix(o); err == nil && p.Bits() > 0 {
			taken = append(taken, p.Masked())
		}
	}
	return taken
}

// planOf is the range from which the platform chooses the subnets of a type of service.
func planOf(t events.ServiceType) netip.Prefix {
	if t == events.ServiceCPEManagement {
		return commands.ManagementPlan
	}
	return commands.CustomerPlan
}

// firstFree is the lowest subnet of the plan that overlaps no taken one, after passing over some; false when there is
// none.
func firstFree(plan netip.Prefix, taken []netip.Prefix, pass int) (netip.Prefix, bool) {
	for at := plan.Addr(); plan.Contains(at); {
		subnet := netip.PrefixFrom(at, subnetBits)
		if !slices.ContainsFunc(taken, subnet.Overlaps) {
			if pass == 0 {
				return subnet, true
			}
			pass--
		}
		at = commands.Broadcast(subnet).Next()
	}
	return netip.Prefix{}, false
}

// decideSettle keeps the allocation of the command. It gives back the older ones of the service, and the newer ones
// that were abandoned before they were used.
func decideSettle(s Addressing, c commands.SettleAddresses, now time.Time) ([]events.AddressingEvent, error) {
	var kept []events.AddressesHeld
	held := 0
	for _, h := range s.Held {
		if h.Service != c.ServiceID {
			continue
		}
		held++
		it := h.Binding == c.Binding && h.Addressing.Subnet == c.Subnet
		if it {
			kept = nil
		}
		if it || len(kept) > 0 && !h.At.Before(c.AbandonedBefore) {
			kept = append(kept, h.held())
		}
	}
	switch {
	case len(kept) == 0:
		return nil, failure.NewConflict("addresses_not_held", "The service does not hold this subnet.")
	case held == len(kept):
		return nil, nil
	}
	return only[events.AddressingEvent](events.AddressesSettled{
		OrgID: s.Org, ServiceID: c.ServiceID, Kept: kept, At: now,
	})
}
