package networkcases_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// One service of one organization names the whole management plan of the platform: it is refused, and others go on
// getting subnets.
func TestCreate_NobodyTakesTheWholeManagementPlan(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	mole := id.New[id.Organization]()
	_, err := p.Bus.Execute(t.Context(), commands.AllocateAddresses{
		OrgID: mole, ServiceID: id.New[id.Service](), DeviceID: id.New[id.Device](),
		Wanted:  events.ServiceAddressing{Subnet: "10.20.0.0/16"},
		Binding: events.ServiceBinding{Type: events.ServiceCPEManagement, ParentInterface: "ether2"},
	}, coretest.Keyed(mole).Meta)
	coretest.Refused(t, "the whole plan", err, "management_subnet_too_large")
	in := p.pppoe("ether4")
	in.Type = events.ServiceCPEManagement
	if _, _, err := p.services.Create(t.Context(), p.asked(), in); err != nil {
		t.Errorf("another organization's first management service: %v", err)
	}
}

// RADIUS tries the secrets of all routers at one address.
func TestRegister_AnOrganizationHasABoundedNumberOfRoutersAtAnAddress(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.devices.PerAddress, p.devices.CountAt = 1, networkviews.DevicesQuery{Views: p.views}.CountAt
	address, shared, in := "198.51.100.76", input(), input()
	shared.IPAddress, in.IPAddress = address, "198.51.100.77"
	_, done, err := p.devices.Register(t.Context(), p.asked(), shared)
	if err != nil {
		t.Fatal(err)
	}
	p.shows(networkviews.DevicesName, done)
	_, _, err = p.devices.Register(t.Context(), p.asked(), shared)
	coretest.Refused(t, "another router at the address", err, "address_routers_reached")
	if _, _, err := p.devices.Register(t.Context(), coretest.Keyed(id.New[id.Organization]()), shared); err != nil {
		t.Errorf("another organization's router: %v", err)
	}
	second, _, err := p.devices.Register(t.Context(), p.asked(), in)
	if err != nil {
		t.Fatalf("at another address: %v", err)
	}
	_, err = p.devices.Change(t.Context(), p.asked(), second, networkcases.DeviceChange{IPAddress: &address})
	coretest.Refused(t, "a move to the address", err, "address_routers_reached")
	for _, typed := range []string{"::ffff:198.51.100.76", "::FFFF:C633:644C"} {
		shared.IPAddress = typed
		_, _, err = p.devices.Register(t.Context(), p.asked(), shared)
		coretest.Refused(t, "the address as "+typed, err, "address_routers_reached")
		_, err = p.devices.Change(t.Context(), p.asked(), second, networkcases.DeviceChange{IPAddress: &typed})
		coretest.Refused(t, "a move to "+typed, err, "address_routers_reached")
	}
}

func TestRegister_AnAddressOfIPv6HasOneSpelling(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := input()
	in.IPAddress = " 2001:DB8:0:0::1 "
	device, _, err := k.devices.Register(t.Context(), coretest.Keyed(k.org), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := k.device(device).Details.IPAddress; got != "2001:db8::1" {
		t.Errorf("the address is %s", got)
	}
}

// The tunnel has 65,533 addresses for all: one organization gets a part of them, and a repeat is no new router.
func TestRegister_AnOrganizationHasABoundedNumberOfRouters(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.devices.PerOrganization, p.devices.Count = 2, networkviews.DevicesQuery{Views: p.views}.Count
	second := p.asked()
	device, done, err := p.devices.Register(t.Context(), second, input())
	if err != nil {
		t.Fatal(err)
	}
	p.shows(networkviews.DevicesName, done)
	if again, _, err := p.devices.Register(t.Context(), second, input()); err != nil || again != device {
		t.Errorf("a repeat: %v", err)
	}
	_, _, err = p.devices.Register(t.Context(), p.asked(), input())
	coretest.Refused(t, "the third router", err, "router_quota_reached")
	if _, _, err := p.devices.Register(t.Context(), coretest.Keyed(id.New[id.Organization]()), input()); err != nil {
		t.Errorf("another organization's router: %v", err)
	}
	gone, err := p.devices.Decommission(t.Context(), p.asked(), device)
	if err != nil {
		t.Fatal(err)
	}
	p.shows(networkviews.DevicesName, gone)
	if _, _, err := p.devices.Register(t.Context(), p.asked(), input()); err != nil {
		t.Errorf("after one was deleted: %v", err)
	}
}
