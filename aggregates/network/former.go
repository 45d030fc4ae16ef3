package network

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// Bounds of the time after which former subnets that are still in use are looked at again.
const (
	lookAgainMin = 5 * time.Minute
	lookAgainMax = 24 * time.Hour
)

// usedFor is the time after a change of the subnet in which devices may still have their former address. A session of
// PPPoE keeps its address as long as it lasts, which nobody knows: the time is that of the next look.
func usedFor(t events.ServiceType) time.Duration {
	switch t {
	case events.ServiceHotspot:
		return time.Hour + 10*time.Minute
	case events.ServiceCPEManagement:
		return 25 * time.Hour
	case events.ServicePPPoE:
	}
	return time.Hour
}

// evolveFormer follows the former subnets of a service. Other events are applied by evolveService, whose switch is
// complete.
func evolveFormer(s Service, e events.ServiceEvent) Service {
	switch e := e.(type) {
	case events.ServiceSubnetLeft:
		s.Former = append(slices.Clone(s.Former), e.Former)
	case events.ServiceSubnetsKept:
		s.Former = slices.Clone(s.Former)
		for i := range s.Former {
			s.Former[i].Until = e.Until
		}
	case events.ServiceAddressingChanged:
		s.Former = slices.DeleteFunc(slices.Clone(s.Former), func(f events.FormerSubnet) bool {
			return f.Subnet == e.Addressing.Subnet
		})
	case events.ServiceSubnetsRetired, events.ServiceRecreationConfirmed:
		s.Former = nil
	default:
	}
	return s
}

// leaving gives the event that the present subnet is left for another one.
func (s Service) leaving(to events.ServiceAddressing, now time.Time) []events.ServiceEvent {
	if s.Addressing.Subnet == to.Subnet {
		return nil
	}
	return []events.ServiceEvent{events.ServiceSubnetLeft{
		ServiceID: s.ID, DeviceID: s.Device, At: now, Former: events.FormerSubnet{
			Subnet: s.Addressing.Subnet, Gateway: s.Addressing.Gateway, Until: now.Add(usedFor(s.Binding.Type)),
		},
	}}
}

// decideReportFormer records that the former subnets are gone, once. While devices use them it records until when
// they stay, if they should have been gone by now: an operator may have made the leases longer, and sessions last.
func decideReportFormer(s Service, c commands.ReportFormerSubnets, now time.Time) ([]events.ServiceEvent, error) {
	over := !slices.ContainsFunc(s.Former, func(f events.FormerSubnet) bool { return f.Until.After(now) })
	switch {
	case len(s.Former) == 0 && !c.Due, s.Open != "":
		return nil, nil
	case !c.Used:
		return only[events.ServiceEvent](events.ServiceSubnetsRetired{
			ServiceID: s.ID, DeviceID: s.Device, RunID: c.RunID, At: now,
		})
	case !over:
		return nil, nil
	}
	return only[events.ServiceEvent](events.ServiceSubnetsKept{
		ServiceID: s.ID, DeviceID: s.Device, RunID: c.RunID, At: now,
		Until: now.Add(min(max(c.Again, lookAgainMin), lookAgainMax)),
	})
}
