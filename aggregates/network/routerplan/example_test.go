package routerplan_test

import (
	"fmt"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// uplink is a PPPoE service on VLAN 100 of a router's fifth port.
var uplink = routerplan.Service{
	ID:      id.Must[id.Service]("0195a000-0000-7000-8000-000000000001"),
	Binding: events.ServiceBinding{Type: events.ServicePPPoE, ParentInterface: "ether5", VlanID: 100},
	Addressing: events.ServiceAddressing{
		Subnet: "10.50.1.0/24", Gateway: "10.50.1.1", PoolStart: "10.50.1.2", PoolEnd: "10.50.1.254",
	},
}

// found is the router as it was read: the VLAN is right, the pool is too small, profile and server are missing. The
// hotspot profile remains from a time when the service had another type. The last pool belongs to the operator.
func found() routerplan.Snapshot {
	tag := routerplan.ServiceComment(uplink.ID)
	return routerplan.Snapshot{
		routerplan.MenuVlan: {{
			".id": "*7", "name": "vlan-svc-0195a000", "interface": "ether5", "vlan-id": "100", "disabled": "false",
			"comment": tag,
		}},
		routerplan.MenuPool: {
			{".id": "*1", "name": "pool-svc-0195a000", "ranges": "10.50.1.2-10.50.1.99", "comment": tag},
			{".id": "*2", "name": "office", "ranges": "192.168.88.10-192.168.88.99"},
		},
		routerplan.MenuHotspotProfile: {{".id": "*3", "name": "hs-prof-svc-0195a000", "hotspot-address": "10.50.1.1"}},
	}
}

func Example() {
	version := routerplan.ParseVersion("7.16 (stable)")

	fmt.Println("should be there, in the order of creation:")
	for _, r := range routerplan.Desired(uplink, version) {
		fmt.Println(" ", r.Path, r.Name)
	}

	diff := routerplan.CompareService(found(), uplink, version)
	fmt.Println("differs:")
	for _, d := range diff.Differences {
		fmt.Println(" ", d.Kind, d.Path, d.Name)
	}

	// The plan first removes, then changes and creates.
	fmt.Println("steps:")
	for _, s := range diff.Plan() {
		fmt.Println(" ", s.Operation, s.Path, s.Name)
	}
	pool := diff.Plan()[1]
	fmt.Println("write to row", pool.ID, pool.Before, "->", pool.After)

	// The worker reads a row again right before it changes it. A row that an operator has edited is not overwritten.
	row := found()[routerplan.MenuPool][0]
	fmt.Println("still the same row:", pool.Still(row))
	row["ranges"] = "10.50.1.2-10.50.1.50"
	fmt.Println("still the same row:", pool.Still(row))
	// Output:
	// should be there, in the order of creation:
	//   interface/vlan vlan-svc-0195a000
	//   ip/pool pool-svc-0195a000
	//   ppp/profile ppp-prof-svc-0195a000
	//   interface/pppoe-server/server pppoe-svc-0195a000
	// differs:
	//   changed ip/pool pool-svc-0195a000
	//   missing ppp/profile ppp-prof-svc-0195a000
	//   missing interface/pppoe-server/server pppoe-svc-0195a000
	//   extra ip/hotspot/profile hs-prof-svc-0195a000
	// steps:
	//   remove ip/hotspot/profile hs-prof-svc-0195a000
	//   set ip/pool pool-svc-0195a000
	//   add ppp/profile ppp-prof-svc-0195a000
	//   add interface/pppoe-server/server pppoe-svc-0195a000
	// write to row *1 map[ranges:10.50.1.2-10.50.1.99] -> map[ranges:10.50.1.2-10.50.1.254]
	// still the same row: true
	// still the same row: false
}
