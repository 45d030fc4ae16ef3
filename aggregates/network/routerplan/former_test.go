package routerplan_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
)

// Devices keep the addresses of a changed subnet until their leases run out, and must reach their gateway for that
// time.
func TestChangeOfSubnet_TheFormerGatewayStaysWhileDevicesHaveLeases(t *testing.T) {
	t.Parallel()
	s := testService(1, events.ServiceHotspot, "ether5", 0)
	r := newModel(t, nil)
	r.run(t.Fatalf, routerplan.CompareService(r.menu, s, modern).Plan(), 100)
	s.Addressing = testService(2, events.ServiceHotspot, "", 0).Addressing
	gateways := func() (list []string) {
		for _, row := range r.menu[routerplan.MenuAddress] {
			list = append(list, row["address"])
		}
		for _, row := range r.menu[routerplan.MenuDHCPNetwork] {
			list = append(list, row["address"])
		}
		return list
	}
	r.menu[routerplan.MenuDHCPLease] = []routerplan.Row{
		{"address": "10.50.1.9", "active-address": "10.50.1.9", "status": "bound"},
	}
	r.run(t.Fatalf, routerplan.CompareService(r.menu, s, modern).Plan(), 100)
	both := []string{"10.50.1.1/24", "10.50.2.1/24", "10.50.1.0/24", "10.50.2.0/24"}
	if diff := cmp.Diff(both, gateways()); diff != "" {
		t.Fatalf("while a lease lasts: %s", diff)
	}
	if d := routerplan.CompareService(r.menu, s, modern); !d.InSync() {
		t.Errorf("what stays is told as a difference: %+v", d.Resources())
	}
	delete(r.menu, routerplan.MenuDHCPLease) // a drift check reads no leases
	if d := routerplan.CompareDevice(r.menu, []routerplan.Service{s}, modern); !d.InSync() {
		t.Errorf("a drift check: %+v", d.Resources())
	}
	r.menu[routerplan.MenuDHCPLease] = []routerplan.Row{{"address": "10.50.2.9", "status": "bound"}}
	r.run(t.Fatalf, routerplan.CompareService(r.menu, s, modern).Plan(), 100)
	if diff := cmp.Diff([]string{"10.50.2.1/24", "10.50.2.0/24"}, gateways()); diff != "" {
		t.Errorf("after the leases: %s", diff)
	}
	r.menu[routerplan.MenuDHCPLease] = []routerplan.Row{{"address": "10.50.2.9", "status": "bound"}}
	r.run(t.Fatalf, routerplan.CompareRemoval(r.menu, s.ID).Plan(), 100)
	if left := gateways(); len(left) > 0 {
		t.Errorf("a removal leaves %v", left)
	}
}

// Sessions keep the addresses of a changed subnet as long as they last: their translation stays for that time, and the
// subnet counts as used by whatever session has an address that the present subnet does not have, too.
func TestChangeOfSubnet_TheFormerOneIsUsedWhileSessionsHaveAddressesOfIt(t *testing.T) {
	t.Parallel()
	s := testService(1, events.ServicePPPoE, "ether5", 0)
	s.Masquerade = true
	r := newModel(t, nil)
	r.run(t.Fatalf, routerplan.CompareService(r.menu, s, modern).Plan(), 100)
	former := []events.FormerSubnet{{Subnet: s.Addressing.Subnet, Gateway: s.Addressing.Gateway}}
	s.Addressing = testService(2, events.ServicePPPoE, "", 0).Addressing
	translated := func() (list []string) {
		for _, row := range r.menu[routerplan.MenuNAT] {
			list = append(list, row["src-address"])
		}
		return list
	}
	r.menu[routerplan.MenuDHCPLease] = nil
	for _, menu := range []string{routerplan.MenuPPPActive, routerplan.MenuHotspotActive} {
		r.menu[menu] = []routerplan.Row{{"name": "ann", "address": "10.50.1.9"}, {"address": "10.50.2.9"}}
		r.run(t.Fatalf, routerplan.CompareService(r.menu, s, modern).Plan(), 100)
		if diff := cmp.Diff([]string{"10.50.1.0/24", "10.50.2.0/24"}, translated()); diff != "" {
			t.Errorf("with a session in %s: %s", menu, diff)
		}
		if used, again := routerplan.Former(r.menu, s, former); !used || again != time.Hour {
			t.Errorf("with a session in %s: %t, %s", menu, used, again)
		}
		r.menu[menu] = nil
	}
	r.run(t.Fatalf, routerplan.CompareService(r.menu, s, modern).Plan(), 100)
	if diff := cmp.Diff([]string{"10.50.2.0/24"}, translated()); diff != "" {
		t.Errorf("after the sessions: %s", diff)
	}
	if used, _ := routerplan.Former(r.menu, s, former); used {
		t.Error("it is used by nobody")
	}
	// A session that is in both subnets is in the present one.
	wider := []events.FormerSubnet{{Subnet: "10.50.2.0/25"}}
	r.menu[routerplan.MenuPPPActive] = []routerplan.Row{{"name": "ann", "address": "10.50.2.9"}}
	if used, _ := routerplan.Former(r.menu, s, wider); used {
		t.Error("a session of the present subnet counts for the former one")
	}
}
