package network_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
)

// left records that a hotspot's subnet was left for another one.
func left(subnet string) events.ServiceSubnetLeft {
	former := events.FormerSubnet{Subnet: subnet, Gateway: plan.Gateway, Until: now.Add(70 * time.Minute)}
	if subnet == plan2.Subnet {
		former.Gateway = plan2.Gateway
	}
	return events.ServiceSubnetLeft{ServiceID: service, DeviceID: device, Former: former, At: now}
}

// leftBySessions records that the first subnet of a PPPoE service was left for another one.
func leftBySessions() events.ServiceSubnetLeft {
	e := left(plan.Subnet)
	e.Former.Until = now.Add(time.Hour)
	return e
}

// moved records that a hotspot has other addresses.
func moved(to events.ServiceAddressing, generation int) events.ServiceAddressingChanged {
	return events.ServiceAddressingChanged{
		ServiceID: service, DeviceID: device, Addressing: to, Generation: generation, At: now,
	}
}

// leases is a report about the former subnets; due says that it was asked for at their time.
func leases(leased bool, longest time.Duration, due bool) commands.ReportFormerSubnets {
	return commands.ReportFormerSubnets{ServiceID: service, RunID: run, Used: leased, Again: longest, Due: due}
}

func TestFormerSubnet_StaysUntilNoDeviceHasALease(t *testing.T) {
	t.Parallel()
	spot := asked
	spot.Binding = hotspot
	latest := applied
	latest.Generation = 2
	retired := events.ServiceSubnetsRetired{ServiceID: service, DeviceID: device, RunID: run, At: now}
	given := []events.ServiceEvent{spot, applied, left(plan.Subnet), moved(plan2, 2), latest}
	scenario := func(
		at time.Time, more ...events.ServiceEvent,
	) *decidertest.Scenario[network.Service, commands.ServiceCommand, events.ServiceEvent] {
		return decidertest.For(t, services, at).Given(append(given[:len(given):len(given)], more...)...)
	}
	scenario(now).When(leases(true, time.Hour, false)).ThenNothing().
		When(leases(false, 0, false)).Then(retired).
		When(leases(false, 0, false)).ThenNothing().
		When(leases(false, 0, true)).Then(retired) // asked for by a process that knows no better
	over := now.Add(2 * time.Hour)
	for longest, wait := range map[time.Duration]time.Duration{
		0: 5 * time.Minute, 3 * time.Hour: 3 * time.Hour, 90 * 24 * time.Hour: 24 * time.Hour,
	} {
		scenario(over).When(leases(true, longest, true)).Then(events.ServiceSubnetsKept{
			ServiceID: service, DeviceID: device, RunID: run, Until: over.Add(wait), At: over,
		}).When(leases(true, longest, true)).ThenNothing() // until then
	}
	// Back in the first subnet only the second one is a former one; a re-creation leaves none.
	back := events.ServiceRecreationConfirmed{
		ServiceID: service, DeviceID: device, To: vlan, Addressing: plan, Generation: 4, At: now,
	}
	scenario(now).When(commands.ChangeNasService{ServiceID: service, Binding: hotspot, Addressing: plan}).
		Then(left(plan2.Subnet), moved(plan, 3))
	third := applied
	third.Generation = 3
	scenario(now, left(plan2.Subnet), moved(plan, 3)).When(leases(false, 0, false)).ThenNothing() // work is open
	scenario(now, left(plan2.Subnet), moved(plan, 3), third).When(leases(false, 0, false)).Then(retired)
	fourth := applied
	fourth.Generation = 4
	scenario(now, back, events.ServiceTornDown{ServiceID: service, DeviceID: device, Generation: 4, At: now}, fourth).
		When(leases(false, 0, false)).ThenNothing()
}
