package routerplan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// house is a router where every source of reserved interfaces occurs.
func house() routerplan.Snapshot {
	s := houseLinks()
	for menu, rows := range houseAddresses() {
		s[menu] = rows
	}
	return s
}

// houseInterfaces are the interfaces of that router, by type.
func houseInterfaces(service id.Service) []routerplan.Row {
	return []routerplan.Row{
		{"name": "ether1", "type": "ether"}, {"name": "ether2", "type": "ether"}, {"name": "ether3", "type": "ether"},
		{"name": "wan-fibre", "default-name": "sfp-sfpplus1", "type": "ether"}, {"name": "sfp2", "type": "ether"},
		{"name": "ether5", "type": "ether"}, {"name": "ether6", "type": "ether"}, {"name": "ether7", "type": "ether"},
		{"name": "fibre, south", "type": "wlan"},
		{"name": "bridge-lan", "type": "bridge"}, {"name": "bridge-east", "type": "bridge"},
		{"name": "br-svc-1", "type": "bridge"},
		{"name": "vlan20", "type": "vlan"}, {"name": "vlan-svc-" + routerplan.Slug(service), "type": "vlan"},
		{"name": "pppoe-out1", "type": "pppoe-out"}, {"name": "platform-tunnel", "type": "sstp-out"},
		{"name": "l2tp1", "type": "l2tp-out"},
		{"name": "wlan1", "type": "wlan"}, {"name": "<pppoe-jane>", "type": "pppoe-in", "dynamic": "true"},
	}
}

// houseLinks has the menus about bridges, lists, VLANs and DHCP clients of that router.
func houseLinks() routerplan.Snapshot {
	service := testService(1, events.ServicePPPoE, "ether5", 0)
	mark := routerplan.ServiceComment(service.ID)
	return routerplan.Snapshot{
		routerplan.MenuInterface: houseInterfaces(service.ID),
		routerplan.MenuBridgePort: {
			{"interface": "ether2", "bridge": "bridge-lan"}, {"interface": "ether7", "bridge": "bridge-east"},
		},
		routerplan.MenuBridge: {
			{"name": "br-svc-1", "comment": mark}, {"name": "bridge-east", "comment": "east"},
		},
		routerplan.MenuInterfaceList: {
			{"name": "WAN", "include": "UPLINK", "exclude": "SPARE"}, {"name": "UPLINK", "include": "WAN,FAR"},
			{"name": "FAR"}, {"name": "SPARE"},
		},
		routerplan.MenuListMember: {
			{"list": "UPLINK", "interface": "ether5", "disabled": "true"}, {"list": "FAR", "interface": "ether3"},
			{"list": "LAN", "interface": "ether6"},
			{"list": "FAR", "interface": "ether6"}, {"list": "SPARE", "interface": "ether6"},
			{"list": "WAN", "interface": "ether9"}, {"list": "SPARE", "interface": "ether9"},
		},
		routerplan.MenuVlan: {
			{"name": "vlan20", "interface": "bridge-lan", "vlan-id": "20"},
			{
				"name": "vlan-svc-" + routerplan.Slug(service.ID), "interface": "ether5", "vlan-id": "100",
				"comment": mark,
			},
		},
	}
}

// houseAddresses has the menus about addresses and routes of that router.
func houseAddresses() routerplan.Snapshot {
	service := testService(1, events.ServicePPPoE, "ether5", 0)
	return routerplan.Snapshot{
		routerplan.MenuDHCPClient: {{"interface": "ether1"}},
		routerplan.MenuRoute: {
			{
				"dst-address": "0.0.0.0/0", "gateway": "203.0.113.1",
				"immediate-gw": "203.0.113.1%wan-fibre,10.1.1.1%vlan20",
			},
			{"dst-address": "0.0.0.0/0", "gateway": "10.9.9.1", "disabled": "true", "immediate-gw": "10.9.9.1%ether5"},
			{"dst-address": "10.0.0.0/8", "immediate-gw": "10.1.1.1%ether5"},
		},
		routerplan.MenuAddress: {
			{"address": "192.168.88.1/24", "interface": "bridge-lan"},
			{"address": "10.50.9.1/24", "comment": routerplan.ServiceComment(service.ID)},
			{"address": "10.50.7.1/32", "dynamic": "true"}, {"address": "10.7.0.2/30", "interface": "ether6"},
			{"address": "100.64.8.9/22", "interface": "ether1", "dynamic": "true"},
		},
		routerplan.MenuDHCPNetwork: {{"address": "172.16.0.0/16"}},
		routerplan.MenuPool: {
			{"name": "homes", "ranges": "10.50.1.2-10.50.1.9,10.50.4.0/30"},
			{"name": "pool-svc-" + routerplan.Slug(service.ID), "ranges": "10.50.9.2-10.50.9.254"},
			{"name": "six", "ranges": "2001:db8::-2001:db8::f"}, {"name": "backwards", "ranges": "10.1.1.9-10.1.1.1"},
			{"name": "all", "ranges": "255.255.255.254-255.255.255.255"},
		},
	}
}

func TestReserved_HasAllSources(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"bridge": "always reserved", "bridge-lan": "always reserved", "platform-tunnel": "always reserved",
		"ether2": "member of bridge-lan", "ether7": "member of bridge-east", "ether1": "has a DHCP client",
		"wan-fibre": "a default route exits through it", "vlan20": "a default route exits through it",
		"ether3":     "member of interface list WAN",
		"ether9":     "member of interface list WAN", // its own member, which an exclusion does not remove
		"pppoe-out1": "PPPoE client", "l2tp1": "L2TP client",
		"br-svc-1": "bridge of a service",
	}
	if diff := cmp.Diff(want, inWords(routerplan.Reserved(house()))); diff != "" {
		t.Error(diff)
	}
}

func TestReserved_DefaultRoutesOfEveryVersionAreUnderstood(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		route routerplan.Row
		want  string
	}{
		"interface as gateway": {routerplan.Row{"gateway": "pppoe-out1", "immediate-gw": "pppoe-out1"}, "pppoe-out1"},
		"scoped gateway":       {routerplan.Row{"gateway": "10.7.0.1%ether6", "immediate-gw": ""}, "ether6"},
		"unreachable gateway":  {routerplan.Row{"gateway": "10.7.0.1", "immediate-gw": ""}, "ether6"},
		"version 6": {
			routerplan.Row{"gateway": "203.0.113.1", "gateway-status": "203.0.113.1 reachable via  ether7"}, "ether7",
		},
		"comma in the name": {
			routerplan.Row{"gateway": "203.0.113.1", "immediate-gw": "203.0.113.1%fibre, south,10.0.0.1%ether6"},
			"fibre, south",
		},
		"version 6, interface": {routerplan.Row{"gateway": "ether7", "gateway-status": "ether7 reachable"}, "ether7"},
	} {
		s := house()
		c.route["dst-address"] = "0.0.0.0/0"
		s[routerplan.MenuRoute] = []routerplan.Row{c.route}
		if _, is := routerplan.Reserved(s)[c.want]; !is {
			t.Errorf("%s: %s is not reserved: %v", name, c.want, routerplan.Reserved(s))
		}
	}
}

// because makes the reason that the picker shows.
func because(code, of string) routerplan.Obstacle { return routerplan.Obstacle{Code: code, Of: of} }

func TestPicker_GroupsAndLeavesReservedBridgesOut(t *testing.T) {
	t.Parallel()
	want := []routerplan.Group{
		{Name: "Bridges", Options: []routerplan.Option{{Name: "bridge-east"}}},
		{Name: "Ethernet", Options: []routerplan.Option{
			{Name: "ether1", Reserved: true, Reason: because("dhcp_client", "")},
			{Name: "ether2", Reserved: true, Reason: because("bridge_member", "bridge-lan")},
			{Name: "ether3", Reserved: true, Reason: because("list_member", "WAN")}, {Name: "ether5"},
			{Name: "ether6"}, {Name: "ether7", Reserved: true, Reason: because("bridge_member", "bridge-east")},
		}},
		{
			Name: "SFP", Options: []routerplan.Option{
				{Name: "wan-fibre", Reserved: true, Reason: because("default_route", "")}, {Name: "sfp2"},
			},
		},
		{
			Name: "VLAN", Options: []routerplan.Option{
				{Name: "vlan20", Reserved: true, Reason: because("default_route", "")},
			},
		},
	}
	if diff := cmp.Diff(want, routerplan.Picker(house())); diff != "" {
		t.Error(diff)
	}
	free := house()
	free[routerplan.MenuRoute] = nil
	if err := routerplan.CheckBinding(free, testService(2, events.ServicePPPoE, "", 0).ID,
		events.ServiceBinding{ParentInterface: "vlan20"}); err != nil {
		t.Errorf("a VLAN on a reserved bridge: %v", err)
	}
}

func TestCheckBinding_ReservedIsMalformedAndTheRestNamesItsField(t *testing.T) {
	t.Parallel()
	self, other := testService(1, events.ServicePPPoE, "", 0).ID, testService(2, events.ServicePPPoE, "", 0).ID
	own := "vlan-svc-" + routerplan.Slug(self)
	for name, c := range map[string]struct {
		who     int
		parent  string
		vlan    int
		kind    failure.Kind
		code    string
		allowed bool
	}{
		"reserved":             {2, "ether1", 0, failure.Malformed, "reserved_interface", false},
		"reserved with a VLAN": {2, "bridge-lan", 30, failure.Malformed, "reserved_interface", false},
		"unknown":              {2, "ether99", 0, failure.Invalid, "invalid_input", false},
		"wireless":             {2, "wlan1", 0, failure.Invalid, "invalid_input", false},
		"session":              {2, "<pppoe-jane>", 0, failure.Invalid, "invalid_input", false},
		"of another service":   {2, own, 0, failure.Invalid, "invalid_input", false},
		"its own VLAN":         {1, own, 0, failure.Invalid, "invalid_input", false},
		"VLAN that exists":     {2, "ether5", 100, failure.Invalid, "invalid_input", false},
		"VLAN that is its own": {1, "ether5", 100, 0, "", true},
		"port":                 {2, "ether5", 0, 0, "", true},
		"bridge with a VLAN":   {2, "bridge-east", 7, 0, "", true},
	} {
		who := self
		if c.who == 2 {
			who = other
		}
		err := routerplan.CheckBinding(house(), who,
			events.ServiceBinding{Type: events.ServicePPPoE, ParentInterface: c.parent, VlanID: c.vlan})
		if (err == nil) != c.allowed || !c.allowed && (failure.KindOf(err) != c.kind || failure.CodeOf(err) != c.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOccupied_IsWhatTheRouterUsesForOtherThings(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{
		"192.168.88.0/24", "10.7.0.0/30", "100.64.8.0/22", "172.16.0.0/16", "10.50.1.2/31", "10.50.1.4/30",
		"10.50.1.8/31", "10.50.4.0/30", "255.255.255.254/31",
	}, routerplan.Occupied(house())); diff != "" {
		t.Error(diff)
	}
}

func TestReserved_ThePortUnderAnUplinkOfAnyKind(t *testing.T) {
	t.Parallel()
	for _, menu := range []string{
		routerplan.MenuVlan, routerplan.MenuMACVLAN, routerplan.MenuVRRP, routerplan.MenuMACsec,
		routerplan.MenuPPPoEClient,
	} {
		s := routerplan.Snapshot{
			routerplan.MenuInterface:  {{"name": "ether1", "type": "ether"}, {"name": "upper"}},
			menu:                      {{"name": "upper", "interface": "ether1"}},
			routerplan.MenuDHCPClient: {{"interface": "upper"}},
		}
		if got := routerplan.Reserved(s)["ether1"].String(); got != "carries the uplink upper" {
			t.Errorf("under %s ether1 is %q", menu, got)
		}
		if !slices.Contains(routerplan.InterfaceMenus(), menu) {
			t.Errorf("%s is not read", menu)
		}
	}
}

func TestReserved_ReadsUplinkMenusWhereATypeIsNotKnown(t *testing.T) {
	t.Parallel()
	plain := []routerplan.Row{{"name": "ether1", "type": "ether"}, {"name": "bridge", "type": "bridge"}}
	first, uplinks := routerplan.Stages(routerplan.InterfaceMenus())
	if len(uplinks) != 6 || !slices.Contains(first, routerplan.MenuInterface) ||
		len(first)+len(uplinks) != len(routerplan.InterfaceMenus()) {
		t.Fatalf("first %v, then %v", first, uplinks)
	}
	for name, c := range map[string]struct {
		more routerplan.Row
		read []string
	}{
		"ports and bridges alone": {plain[0], nil},
		"a VLAN":                  {routerplan.Row{"type": "vlan"}, []string{routerplan.MenuVlan}},
		"a bond":                  {routerplan.Row{"type": "bond"}, []string{routerplan.MenuBonding}},
		"a disabled PPPoE client": {
			routerplan.Row{"type": "pppoe-out", "disabled": "true"}, []string{routerplan.MenuPPPoEClient},
		},
		"a VRRP interface":        {routerplan.Row{"type": "vrrp"}, []string{routerplan.MenuVRRP}},
		"a MACVLAN":               {routerplan.Row{"type": "macvlan"}, []string{routerplan.MenuMACVLAN}},
		"a MACsec interface":      {routerplan.Row{"type": "macsec"}, []string{routerplan.MenuMACsec}},
		"a type of a new release": {routerplan.Row{"type": "vxlan"}, uplinks},
		"no type":                 {routerplan.Row{"name": "ether9"}, uplinks},
	} {
		s := routerplan.Snapshot{routerplan.MenuInterface: append(slices.Clone(plain), c.more)}
		var read []string
		for _, menu := range uplinks {
			if !routerplan.Vacant(s, menu) {
				read = append(read, menu)
			}
		}
		if !slices.Equal(read, c.read) {
			t.Errorf("with %s are read %v", name, read)
		}
	}
	for name, s := range map[string]routerplan.Snapshot{
		"not read": {}, "empty": {routerplan.MenuInterface: {}},
	} {
		if routerplan.Vacant(s, routerplan.MenuVlan) {
			t.Errorf("with the interfaces %s no VLANs are read", name)
		}
	}
	if routerplan.Vacant(routerplan.Snapshot{routerplan.MenuInterface: plain}, routerplan.MenuPool) {
		t.Error("a menu without interfaces is taken for empty")
	}
}

// TestPicker_TellsWhichServerOfTheOperatorIsThere, of each kind, and no server that a service has made.
func TestPicker_TellsWhichServerOfTheOperatorIsThere(t *testing.T) {
	t.Parallel()
	service := id.New[id.Service]()
	ports := []routerplan.Row{}
	for n := range 7 {
		ports = append(ports, routerplan.Row{"name": fmt.Sprintf("ether%d", n), "type": "ether", "running": "true"})
	}
	ports[6]["disabled"] = "true"
	ours := routerplan.ServiceComment(service)
	s := routerplan.Snapshot{
		routerplan.MenuInterface: ports,
		routerplan.MenuPPPoEServer: {
			{"service-name": "theirs", "interface": "ether1"},
			{"service-name": "ours", "interface": "ether5", "comment": ours},
		},
		routerplan.MenuHotspot:    {{"name": "hs1", "interface": "ether2"}},
		routerplan.MenuDHCPServer: {{"name": "dhcp1", "interface": "ether3"}, {"name": "dhcp2", "interface": "ether6"}},
		routerplan.MenuDHCPRelay:  {{"name": "relay1", "interface": "ether4"}},
	}
	got := map[string]string{}
	for _, group := range routerplan.Picker(s) {
		for _, o := range group.Options {
			got[o.Name] = o.Warning.String()
		}
	}
	want := map[string]string{
		"ether0": "", "ether1": "has a PPPoE server already: theirs", "ether2": "has a hotspot already: hs1",
		"ether3": "has a DHCP server already: dhcp1", "ether4": "has a DHCP relay already: relay1", "ether5": "",
		"ether6": "is disabled",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// It is a warning: two PPPoE servers can be on one interface, and staff decides.
	binding := events.ServiceBinding{Type: events.ServicePPPoE, ParentInterface: "ether1"}
	if err := routerplan.CheckBinding(s, service, binding); err != nil {
		t.Error(err)
	}
}
