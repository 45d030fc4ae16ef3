package network_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// allocate asks for a subnet for the service on ether5.
var allocate = commands.AllocateAddresses{OrgID: org, ServiceID: service, DeviceID: device, Binding: pppoe}

// allocated is the event by which a service gets a subnet.
func allocated(
	s id.Service, d id.Device, b events.ServiceBinding, a events.ServiceAddressing,
) events.AddressesAllocated {
	return events.AddressesAllocated{OrgID: org, ServiceID: s, DeviceID: d, Binding: b, Addressing: a, At: now}
}

func TestAddresses_AreAllocatedPerTenantAndReleased(t *testing.T) {
	t.Parallel()
	other := commands.AllocateAddresses{OrgID: org, ServiceID: service2, DeviceID: device2, Binding: pppoe}
	s := decidertest.For(t, plans, now).
		When(allocate).Then(allocated(service, device, pppoe, plan)).When(allocate).ThenNothing().
		When(other).Then(allocated(service2, device2, pppoe, plan2))
	survives(t, s)
	s.When(commands.ReleaseAddresses{OrgID: org, ServiceID: service}).Then(events.AddressesReleased{OrgID: org,
		ServiceID: service, At: now}).
		When(commands.ReleaseAddresses{OrgID: org, ServiceID: service}).ThenNothing().
		When(allocate).Then(allocated(service, device, pppoe, plan))
}

func TestAddresses_OfManagementComeFromTheirOwnPlan(t *testing.T) {
	t.Parallel()
	c := allocate
	c.Binding.Type = events.ServiceCPEManagement
	c.Occupied = []string{"10.20.0.0/23", "0.0.0.0/0"}
	decidertest.For(t, plans, now).When(c).Then(allocated(service, device, c.Binding, events.ServiceAddressing{
		Subnet: "10.20.2.0/24", Gateway: "10.20.2.1", PoolStart: "10.20.2.2", PoolEnd: "10.20.2.254",
	}))
}

func TestAddresses_OverridesAreChecked(t *testing.T) {
	t.Parallel()
	given := func(w events.ServiceAddressing) commands.AllocateAddresses {
		c := allocate
		c.ServiceID, c.DeviceID, c.Wanted = service2, device2, w
		return c
	}
	decidertest.For(t, plans, now).Given(allocated(service, device, pppoe, plan)).
		When(given(events.ServiceAddressing{Subnet: "10.50.0.128/25"})).ThenFails("subnet_overlaps").
		When(given(events.ServiceAddressing{Subnet: "192.168.8.0/22", Gateway: "192.168.11.254"})).
		Then(allocated(service2, device2, pppoe, events.ServiceAddressing{
			Subnet: "192.168.8.0/22", Gateway: "192.168.11.254", PoolStart: "192.168.8.1", PoolEnd: "192.168.11.253",
		}))
	for want, w := range map[string]events.ServiceAddressing{
		"subnet is required":      {Gateway: "10.50.0.1"},
		"subnet has host bits":    {Subnet: "10.50.0.1/24"},
		"subnet must be from":     {Subnet: "10.50.0.0/31"},
		"subnet must not overlap": {Subnet: "10.99.0.0/24"},
		"gateway must be a host":  {Subnet: "10.50.0.0/24", Gateway: "10.50.1.1"},
		"gateway must not be": {
			Subnet: "10.50.0.0/24", Gateway: "10.50.0.9", PoolStart: "10.50.0.2", PoolEnd: "10.50.0.99",
		},
		"poolStart must be a host": {Subnet: "10.50.0.0/24", PoolStart: "10.51.0.2"},
		"poolEnd must be a host":   {Subnet: "10.50.0.0/24", PoolEnd: "10.50.0.255"},
		"poolEnd must not be":      {Subnet: "10.50.0.0/24", PoolStart: "10.50.0.20", PoolEnd: "10.50.0.10"},
	} {
		if !hasFault(given(w).Validate(), want) {
			t.Errorf("%+v gives %v, want %q", w, given(w).Validate(), want)
		}
	}
}

// hasFault reports whether an error is Invalid and has a fault with this beginning.
func hasFault(err error, begin string) bool {
	var f *failure.Error
	if !errors.As(err, &f) || f.Kind != failure.Invalid {
		return false
	}
	for _, fault := range f.Faults {
		if strings.HasPrefix(fault, begin) {
			return true
		}
	}
	return false
}

func TestService_FormIsCheckedByField(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*commands.RequestService){
		"vlanId must be":          func(c *commands.RequestService) { c.Binding.VlanID = 4095 },
		"type must be":            func(c *commands.RequestService) { c.Binding.Type = "dhcp" },
		"parentInterface must be": func(c *commands.RequestService) { c.Binding.ParentInterface = "ether1\n" },
		"walledGarden belongs": func(c *commands.RequestService) {
			c.Binding.Type, c.WalledGarden = events.ServiceCPEManagement, garden
		},
		"walledGarden.domains": func(c *commands.RequestService) {
			c.Binding.Type, c.WalledGarden.Domains = events.ServiceHotspot, []string{"not a domain"}
		},
		"walledGarden.addresses": func(c *commands.RequestService) {
			c.Binding.Type, c.WalledGarden.Addresses = events.ServiceHotspot, []string{"!1.2.3.4"}
		},
		"walledGarden must have each entry once": func(c *commands.RequestService) {
			c.Binding.Type, c.WalledGarden.Domains = events.ServiceHotspot, []string{"b.com", "a.com"}
		},
	} {
		c := request
		change(&c)
		if !hasFault(c.Validate(), want) {
			t.Errorf("%v, want %q", c.Validate(), want)
		}
	}
	normal := commands.NormalWalledGarden(events.WalledGarden{
		Domains: []string{" B.com.", "a.com", "b.com"}, Addresses: []string{"192.0.2.9/24", "192.0.2.1/32"},
	})
	if fmt.Sprint(normal) != "{[a.com b.com] [192.0.2.0/24 192.0.2.1]}" {
		t.Errorf("normal form %v", normal)
	}
}

func TestAddresses_OnePlaceHasOneService(t *testing.T) {
	t.Parallel()
	second := allocate
	second.ServiceID = service2
	onVlan := second
	onVlan.Binding = vlan
	decidertest.For(t, plans, now).Given(allocated(service, device, pppoe, plan)).
		When(second).ThenFails("interface_in_use").
		When(onVlan).Then(allocated(service2, device, vlan, plan2))
}

func TestAddresses_AChangeHoldsBothUntilSettled(t *testing.T) {
	t.Parallel()
	move := allocate
	move.Binding, move.Wanted = vlan, events.ServiceAddressing{Subnet: plan2.Subnet}
	third := commands.AllocateAddresses{
		OrgID: org, ServiceID: service2, DeviceID: device2, Binding: pppoe,
		Wanted: events.ServiceAddressing{Subnet: plan.Subnet},
	}
	settle := commands.SettleAddresses{OrgID: org, ServiceID: service, Binding: vlan, Subnet: plan2.Subnet}
	former := commands.SettleAddresses{OrgID: org, ServiceID: service, Binding: pppoe, Subnet: plan.Subnet}
	abandoned := former
	abandoned.AbandonedBefore = now.Add(time.Second)
	settled := func(b events.ServiceBinding, a events.ServiceAddressing) events.AddressesSettled {
		return events.AddressesSettled{
			OrgID: org, ServiceID: service, Kept: []events.AddressesHeld{{Binding: b, Addressing: a}}, At: now,
		}
	}
	decidertest.For(t, plans, now).Given(allocated(service, device, pppoe, plan),
		allocated(service, device, vlan, plan2)).
		When(former).ThenNothing(). // the other allocation belongs to a coming change
		When(abandoned).Then(settled(pppoe, plan))
	s := decidertest.For(t, plans, now).Given(allocated(service, device, pppoe, plan)).
		When(settle).ThenFails("addresses_not_held").
		When(move).Then(allocated(service, device, vlan, plan2)).
		When(third).ThenFails("subnet_overlaps").
		When(settle).Then(settled(vlan, plan2)).
		When(settle).ThenNothing().
		When(third).Then(allocated(service2, device2, pppoe, plan))
	if held, ok := s.State().Of(service); !ok || held.Addressing != plan2 {
		t.Errorf("holds %+v", held)
	}
}

func TestAddresses_ADeviceIsClosedWhenItHasNoServices(t *testing.T) {
	t.Parallel()
	closing := commands.CloseAddressingDevice{OrgID: org, DeviceID: device}
	s := decidertest.For(t, plans, now).Given(allocated(service, device, pppoe, plan)).
		When(closing).ThenFails("device_has_services").
		Given(events.AddressesReleased{OrgID: org, ServiceID: service, At: now}).
		When(closing).Then(events.AddressingDeviceClosed{OrgID: org, DeviceID: device,
		At: now}).When(closing).ThenNothing().
		When(allocate).ThenFails("device_closed")
	survives(t, s)
}

// Every change of the wish is a change of the place: the same again is none.
func TestAddresses_AreAskedForAgainOnlyWhenSomethingIsAnother(t *testing.T) {
	t.Parallel()
	held := decidertest.For(t, plans, now).Given(allocated(service, device, pppoe, plan))
	same, elsewhere, router, fixed := allocate, allocate, allocate, allocate
	same.Wanted = events.ServiceAddressing{Subnet: plan.Subnet}
	elsewhere.Binding.ParentInterface = "ether6"
	router.DeviceID = device2
	fixed.Wanted = events.ServiceAddressing{Subnet: plan2.Subnet}
	held.When(allocate).ThenNothing().When(same).ThenNothing().
		When(elsewhere).Then(allocated(service, device, elsewhere.Binding, plan))
	decidertest.For(t, plans, now).Given(allocated(service, device, pppoe, plan)).
		When(router).Then(allocated(service, device2, pppoe, plan))
	decidertest.For(t, plans, now).Given(allocated(service, device, pppoe, plan)).
		When(fixed).Then(allocated(service, device, pppoe, plan2))
}

func TestAddresses_AnotherTryTakesTheNextFreeSubnet(t *testing.T) {
	t.Parallel()
	again := allocate
	again.Try, again.Occupied = 1, []string{"10.50.0.0/24"}
	third := events.ServiceAddressing{
		Subnet: "10.50.2.0/24", Gateway: "10.50.2.1", PoolStart: "10.50.2.2", PoolEnd: "10.50.2.254",
	}
	decidertest.For(t, plans, now).When(again).Then(allocated(service, device, pppoe, third))
}

func TestAddresses_TwoServicesOfOneRouterAreOnTwoInterfaces(t *testing.T) {
	t.Parallel()
	beside := allocate
	beside.ServiceID, beside.Binding.ParentInterface = service2, "ether6"
	twin := beside
	twin.ServiceID = service
	twin.ServiceID[15]++ // the same first 8 digits
	twin.DeviceID = device2
	decidertest.For(t, plans, now).Given(allocated(service, device, pppoe, plan)).
		When(beside).Then(allocated(service2, device, beside.Binding, plan2))
	decidertest.For(t, plans, now).Given(allocated(service, device, pppoe, plan)).
		When(twin).Then(allocated(twin.ServiceID, device2, twin.Binding, plan2))
}

func TestAddresses_OfOneServiceLeaveThoseOfOthersAlone(t *testing.T) {
	t.Parallel()
	later := now.Add(time.Hour)
	s := decidertest.For(t, plans, now).Given(allocated(service, device, pppoe, plan),
		allocated(service2, device2, pppoe, plan2), allocated(service, device, vlan, plan)).At(later)
	again := allocated(service, device, pppoe, plan)
	again.At = later
	s.Given(again)
	held, _ := s.State().Of(service)
	if other, ok := s.State().Of(service2); !ok || other.Addressing != plan2 || held.Binding != pppoe ||
		!held.At.Equal(later) || len(s.State().Held) != 3 {
		t.Errorf("held: %+v", s.State().Held)
	}
	s.When(commands.SettleAddresses{OrgID: org, ServiceID: service, Binding: pppoe, Subnet: plan2.Subnet}).
		ThenFails("addresses_not_held").
		When(commands.SettleAddresses{OrgID: org, ServiceID: service, Binding: hotspot, Subnet: plan.Subnet}).
		ThenFails("addresses_not_held").
		When(commands.SettleAddresses{OrgID: org, ServiceID: service, Binding: pppoe, Subnet: plan.Subnet}).
		Then(events.AddressesSettled{OrgID: org, ServiceID: service,
			Kept: []events.AddressesHeld{{Binding: pppoe, Addressing: plan}}, At: later})
	if len(s.State().Held) != 2 {
		t.Errorf("held after it: %+v", s.State().Held)
	}
}

func TestAddresses_RunOut(t *testing.T) {
	t.Parallel()
	c := allocate
	c.Occupied = []string{"10.50.0.0/17", "10.50.128.0/17"}
	decidertest.For(t, plans, now).When(c).ThenFails("addresses_exhausted")
}

func TestAddresses_NeverOverlapAcrossTheTenantsRouters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s network.Addressing
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			who := id.Derive[id.Service]("rapid", fmt.Sprint(rapid.IntRange(1, 8).Draw(t, "service")))
			var c commands.AddressingCommand = commands.ReleaseAddresses{OrgID: org, ServiceID: who}
			if rapid.IntRange(0, 3).Draw(t, "release") > 0 {
				a := commands.AllocateAddresses{OrgID: org, ServiceID: who, DeviceID: device, Binding: pppoe}
				a.Binding.VlanID = rapid.IntRange(1, 4).Draw(t, "vlan")
				if rapid.Bool().Draw(t, "chosen") {
					a.Wanted.Subnet = fmt.Sprintf("10.50.%d.0/%d", 4*rapid.IntRange(0, 2).Draw(t, "net"),
						rapid.IntRange(22, 26).Draw(t, "bits"))
				}
				c = a
			}
			made, err := network.AddressPlans().Decide(s, c, now)
			if err != nil && len(made) > 0 {
				t.Fatalf("step %d: both", i)
			}
			for _, e := range made {
				s = network.AddressPlans().Evolve(s, e)
			}
			for i, a := range s.Held {
				for _, b := range s.Held[:i] {
					if a.Service != b.Service &&
						netip.MustParsePrefix(a.Addressing.Subnet).Overlaps(
							netip.MustParsePrefix(b.Addressing.Subnet)) {
						t.Fatalf("%v overlaps %v", a, b)
					}
				}
			}
		}
	})
}

func TestAddresses_ServicesOfOneDeviceDifferInTheirSlug(t *testing.T) {
	t.Parallel()
	twin := allocate
	twin.Binding = vlan
	twin.ServiceID = service
	twin.ServiceID[15]++ // the same first 8 digits
	decidertest.For(t, plans, now).Given(allocated(service, device, pppoe,
		plan)).When(twin).ThenFails("service_slug_taken")
}

// The CPE server reaches the devices of all organizations, so that management subnets are claimed on the whole
// platform.
func TestAddressing_ManagementSubnetsAreClaimedOnThePlatform(t *testing.T) {
	t.Parallel()
	claims := func(kind events.ServiceType, subnet string) (values []string) {
		state := network.Addressing{Held: []network.Allocation{{
			Binding: events.ServiceBinding{Type: kind}, Addressing: events.ServiceAddressing{Subnet: subnet},
		}}}
		for _, c := range network.AddressPlans().Claims(state) {
			values = append(values, c.Kind+" "+c.Value)
		}
		return values
	}
	if got := claims(events.ServicePPPoE, "10.50.1.0/24"); len(got) != 0 {
		t.Errorf("customers' subnets are claimed: %v", got)
	}
	for subnet, want := range map[string]int{
		"10.20.1.0/24": 1, "10.20.1.128/25": 1, "10.20.0.0/22": 4, "10.20.0.0/16": 256,
	} {
		if got := claims(events.ServiceCPEManagement, subnet); len(got) != want {
			t.Errorf("%s: %d claims, want %d", subnet, len(got), want)
		}
	}
	a, b := claims(events.ServiceCPEManagement, "10.20.1.0/25"), claims(events.ServiceCPEManagement, "10.20.1.128/25")
	if a[0] != b[0] || a[0] != "management_subnet 10.20.1.0/24" {
		t.Errorf("parts of one block: %v, %v", a, b)
	}
}

// management asks for a subnet for a management service on a port of its own; "" for the first free one.
func management(n int, subnet string) commands.AllocateAddresses {
	name := fmt.Sprint("management", n)
	return commands.AllocateAddresses{
		OrgID: org, ServiceID: id.Derive[id.Service]("test", name), DeviceID: id.Derive[id.Device]("test", name),
		Binding: events.ServiceBinding{Type: events.ServiceCPEManagement, ParentInterface: "ether5"},
		Wanted:  events.ServiceAddressing{Subnet: subnet},
	}
}

// heldBy is the event by which a management service gets a subnet.
func heldBy(n int, subnet string) events.AddressesAllocated {
	c := management(n, subnet)
	return allocated(c.ServiceID, c.DeviceID, c.Binding, commands.CompleteAddressing(c.Wanted))
}

// One management plan serves all organizations: none takes it all, with one service or with many.
func TestAddressing_NoOrganizationTakesTheWholeManagementPlan(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, plans, now)
	for _, wide := range []string{"10.20.0.0/16", "10.20.0.0/21", "10.20.248.0/21"} {
		s.When(management(1, wide)).ThenFails("management_subnet_too_large")
	}
	s.When(management(1, "172.20.0.0/20")).Then(heldBy(1, "172.20.0.0/20")).
		When(management(2, "10.20.4.0/22")).Then(heldBy(2, "10.20.4.0/22"))
	var full []events.AddressingEvent
	for n := range commands.SharedManagementBlocks {
		full = append(full, heldBy(n, fmt.Sprintf("10.20.%d.0/24", n)))
	}
	s = decidertest.For(t, plans, now).Given(full...)
	s.When(management(100, "")).ThenFails("management_quota_reached").
		When(management(100, "10.20.200.0/22")).ThenFails("management_quota_reached").
		When(management(100, "172.20.0.0/24")).Then(heldBy(100, "172.20.0.0/24")).
		When(management(3, "10.20.3.0/24")).ThenNothing()
	release := commands.ReleaseAddresses{OrgID: org, ServiceID: management(3, "").ServiceID}
	s.When(release).Then(events.AddressesReleased{OrgID: org, ServiceID: release.ServiceID, At: now}).
		When(management(101, "")).Then(heldBy(101, "10.20.3.0/24"))
}

// Ranges such as 192.168.0.0/16 are in use at every provider: who takes one whole keeps all others from it.
func TestAddressing_NoOrganizationTakesAWholePrivateRange(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, plans, now)
	for _, wide := range []string{"192.168.0.0/16", "172.20.0.0/19"} {
		s.When(management(1, wide)).ThenFails("management_subnet_too_large")
	}
	var full []events.AddressingEvent
	for n := range commands.OwnManagementBlocks / 16 {
		full = append(full, heldBy(n, fmt.Sprintf("192.168.%d.0/20", 16*n)))
	}
	s.Given(full...).When(management(90, "172.24.0.0/24")).ThenFails("management_quota_reached").
		When(management(90, "192.168.240.0/24")).ThenFails("management_quota_reached").
		When(management(90, "")).Then(heldBy(90, "10.20.0.0/24"))
}

// A service that got a wider subnet before there was a bound keeps it through later changes.
func TestAddressing_AManagementSubnetFromBeforeTheBoundIsKept(t *testing.T) {
	t.Parallel()
	c := management(1, "10.20.0.0/16")
	moved := c
	moved.Binding.VlanID = 9
	decidertest.For(t, plans, now).Given(heldBy(1, "10.20.0.0/16")).When(c).ThenNothing().
		When(moved).Then(allocated(c.ServiceID, c.DeviceID, moved.Binding, commands.CompleteAddressing(c.Wanted)))
	c = management(1, "192.168.0.0/16")
	moved = c
	moved.Binding.VlanID = 9
	s := decidertest.For(t, plans, now).Given(heldBy(1, "192.168.0.0/16"), heldBy(2, "172.20.0.0/16"))
	s.When(c).ThenNothing().
		When(moved).Then(allocated(c.ServiceID, c.DeviceID, moved.Binding, commands.CompleteAddressing(c.Wanted))).
		When(management(3, "172.30.0.0/24")).ThenFails("management_quota_reached")
}
