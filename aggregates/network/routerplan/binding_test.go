package routerplan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// stack is a router whose uplinks are above other interfaces: a PPPoE client on a VLAN, a DHCP client on a bond, and a
// VLAN below itself, which no router has but which must not hang the program.
func stack() routerplan.Snapshot {
	return routerplan.Snapshot{
		routerplan.MenuInterface: {
			{"name": "ether1", "type": "ether", "running": "true"}, {"name": "ether2", "type": "ether"},
			{"name": "ether3", "type": "ether"}, {"name": "ether4", "type": "ether"}, {
				"name": "ether5", "type": "ether",
			},
			{"name": "ether6", "type": "ether", "slave": "true"}, {"name": "vlan-up", "type": "vlan"},
			{"name": "bond-up", "type": "bond"}, {"name": "bond-lan", "type": "bond"}, {
				"name": "circle", "type": "vlan",
			},
			{"name": "pppoe-up", "type": "pppoe-out"},
		},
		routerplan.MenuVlan: {
			{"name": "vlan-up", "interface": "ether1"}, {"name": "circle", "interface": "circle"},
		},
		routerplan.MenuPPPoEClient: {{"name": "pppoe-up", "interface": "vlan-up"}},
		routerplan.MenuBonding: {
			{"name": "bond-up", "slaves": "ether2,ether3"}, {"name": "bond-lan", "slaves": "ether4"},
		},
		routerplan.MenuDHCPClient: {{"interface": "bond-up"}, {"interface": "circle"}},
	}
}

// inWords says obstacles in English.
func inWords(obstacles map[string]routerplan.Obstacle) map[string]string {
	words := map[string]string{}
	for name, o := range obstacles {
		words[name] = o.String()
	}
	return words
}

func TestReserved_HasWhatIsBelowAnUplink(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"bridge": "always reserved", "bridge-lan": "always reserved", "platform-tunnel": "always reserved",
		"bond-up": "has a DHCP client", "circle": "has a DHCP client", "pppoe-up": "PPPoE client",
		"vlan-up": "carries the uplink pppoe-up", "ether1": "carries the uplink pppoe-up",
		"ether2": "port of the bond bond-up", "ether3": "port of the bond bond-up",
		"ether4": "port of the bond bond-lan", "ether6": "port of another interface",
	}
	if diff := cmp.Diff(want, inWords(routerplan.Reserved(stack()))); diff != "" {
		t.Error(diff)
	}
}

func TestBinding_ADisabledOrDeadParentIsSeenBeforeAnyWrite(t *testing.T) {
	t.Parallel()
	service := testService(1, events.ServiceHotspot, "lan", 0)
	lan := func(properties ...string) routerplan.Row {
		row := routerplan.Row{"name": "lan", "type": "vlan", "running": "true"}
		for i := 0; i < len(properties); i += 2 {
			row[properties[i]] = properties[i+1]
		}
		return row
	}
	for name, c := range map[string]struct {
		rows routerplan.Snapshot
		want string // of the fault; "" = none
	}{
		"as it should be": {routerplan.Snapshot{routerplan.MenuInterface: {lan()}}, ""},
		"disabled": {
			routerplan.Snapshot{routerplan.MenuInterface: {lan("disabled", "true")}}, "lan is disabled",
		},
		"inactive":       {routerplan.Snapshot{routerplan.MenuInterface: {lan("inactive", "true")}}, "lan is inactive"},
		"without a link": {routerplan.Snapshot{routerplan.MenuInterface: {lan("running", "false")}}, ""},
		"on a disabled port": {routerplan.Snapshot{
			routerplan.MenuInterface: {lan("running", "false"), {"name": "ether9", "disabled": "true"}},
			routerplan.MenuVlan:      {{"name": "lan", "interface": "ether9"}},
		}, "lan is carried by ether9, which is disabled"},
		"on a bond with one disabled port": {routerplan.Snapshot{
			routerplan.MenuInterface: {lan(), {"name": "ether8"}, {"name": "ether9", "disabled": "true"}},
			routerplan.MenuVlan:      {{"name": "lan", "interface": "bond"}},
			routerplan.MenuBonding:   {{"name": "bond", "slaves": "ether9,ether8"}},
		}, ""},
		"with a DHCP server": {routerplan.Snapshot{
			routerplan.MenuInterface:  {lan()},
			routerplan.MenuDHCPServer: {{"name": "defconf", "interface": "lan", "disabled": "true"}},
		}, "lan has a DHCP server already: defconf"},
		"with a DHCP relay": {routerplan.Snapshot{
			routerplan.MenuInterface: {lan()}, routerplan.MenuDHCPRelay: {{"name": "relay1", "interface": "lan"}},
		}, "lan has a DHCP relay already: relay1"},
		"with a hotspot": {routerplan.Snapshot{
			routerplan.MenuInterface: {lan()}, routerplan.MenuHotspot: {{"name": "cafe", "interface": "lan"}},
		}, "lan has a hotspot already: cafe"},
		"with servers elsewhere, and its own": {routerplan.Snapshot{
			routerplan.MenuInterface: {lan()},
			routerplan.MenuHotspot:   {{"name": "hs-svc-" + routerplan.Slug(service.ID), "interface": "lan"}},
			routerplan.MenuDHCPServer: {
				{"name": "far", "interface": "ether2"},
				{"name": "x", "interface": "lan", "comment": routerplan.ServiceComment(service.ID)},
			},
		}, ""},
	} {
		err := routerplan.CheckBinding(c.rows, service.ID, service.Binding)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (failure.KindOf(err) != failure.Invalid || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestBinding_AServerBesideAnotherIsNoFaultOfAPPPoEServiceOrAVLAN(t *testing.T) {
	t.Parallel()
	service := testService(1, events.ServiceHotspot, "lan", 0)
	b := service.Binding
	b.Type = events.ServicePPPoE
	taken := routerplan.Snapshot{
		routerplan.MenuInterface:  {{"name": "lan", "type": "ether", "running": "true"}},
		routerplan.MenuDHCPServer: {{"name": "defconf", "interface": "lan"}},
	}
	if err := routerplan.CheckBinding(taken, service.ID, b); err != nil {
		t.Errorf("a PPPoE server beside a DHCP server: %v", err)
	}
	b.Type, b.VlanID = events.ServiceHotspot, 7
	if err := routerplan.CheckBinding(taken, service.ID, b); err != nil {
		t.Errorf("a VLAN of its own on a port with a DHCP server: %v", err)
	}
}

func TestPicker_WarnsOfWhatWouldNotWork(t *testing.T) {
	t.Parallel()
	warnings := map[string]string{}
	for _, group := range routerplan.Picker(routerplan.Snapshot{routerplan.MenuInterface: {
		{"name": "up", "type": "ether", "running": "true"}, {"name": "empty", "type": "ether", "running": "false"},
		{"name": "off", "type": "ether", "running": "false", "disabled": "true"},
	}}) {
		for _, o := range group.Options {
			warnings[o.Name] = o.Warning.String()
		}
	}
	if diff := cmp.Diff(map[string]string{"up": "", "empty": "has no link", "off": "is disabled"},
		warnings); diff != "" {
		t.Error(diff)
	}
}

func TestDrift_TellsAServiceThatTheRouterDoesNotRun(t *testing.T) {
	t.Parallel()
	s := testService(1, events.ServiceHotspot, "ether5", 0)
	for name, c := range map[string]struct {
		menu, property, value string
		dead                  bool
	}{
		"parent disabled":     {routerplan.MenuInterface, "disabled", "true", true},
		"parent is a port":    {routerplan.MenuInterface, "slave", "true", true},
		"parent inactive":     {routerplan.MenuInterface, "inactive", "true", true},
		"parent without link": {routerplan.MenuInterface, "running", "false", false},
		"server invalid":      {routerplan.MenuDHCPServer, "invalid", "true", true},
		"address inactive":    {routerplan.MenuAddress, "inactive", "true", true},
	} {
		r := newModel(t, routerplan.Snapshot{routerplan.MenuInterface: {{"name": "ether5", "running": "true"}}})
		r.run(t.Fatalf, routerplan.CompareService(r.menu, s, modern).Plan(), 100)
		if d := routerplan.CompareService(r.menu, s, modern); !d.InSync() || len(d.Faults()) > 0 {
			t.Fatalf("%s: before: %+v", name, d.Resources())
		}
		r.menu[c.menu][0][c.property] = c.value
		d := routerplan.CompareService(r.menu, s, modern)
		if len(d.Differences) != 1 || len(d.Plan()) > 0 || d.Hash() == "" ||
			d.Resources()[0].Actual[c.property] != c.value || d.Of(s.ID).InSync() {
			t.Errorf("%s: %+v, plan %v", name, d.Resources(), shown(d.Plan()))
		}
		if faults := d.Faults(); len(faults) > 0 != c.dead || c.dead && faults[0].Service != s.ID {
			t.Errorf("%s: faults %+v", name, faults)
		}
	}
}

// An operator may name a hotspot after a date, in the form of our names. It is ours only when it has the name of a
// service that the platform had, or one that a comment on the router names.
func TestOrphans_ANameInOurFormIsNoTag(t *testing.T) {
	t.Parallel()
	gone := testService(2, events.ServiceHotspot, "ether6", 0)
	r := newModel(t, routerplan.Snapshot{
		routerplan.MenuHotspot:        {{"name": "hs-svc-20241120", "mark": "x"}},
		routerplan.MenuHotspotProfile: {{"name": "hs-prof-svc-20241120", "mark": "x"}},
		routerplan.MenuPPPProfile:     {{"name": "ppp-prof-svc-20241120", "mark": "x"}},
		routerplan.MenuPool:           {{"name": "pool-svc-20241120", "mark": "x"}},
	})
	before := r.foreign()
	if d := routerplan.CompareDevice(r.menu, nil, modern); !d.InSync() {
		t.Fatalf("an operator's rows are orphans: %+v", d.Resources())
	}
	r.run(t.Fatalf, routerplan.CompareService(r.menu, gone, modern).Plan(), 100)
	for name, former := range map[string][]int{"by a comment": nil, "as a former service": {2}} {
		live := newModel(t, r.menu)
		if former != nil { // nothing but the rows without comments is left
			for _, menu := range routerplan.ServiceMenus() {
				if menu != routerplan.MenuHotspot && menu != routerplan.MenuHotspotProfile {
					live.menu[menu] = nil
				}
			}
			live.run(t.Fatalf, routerplan.CompareDevice(live.menu, nil, modern, gone.ID).Plan(), 100)
		} else {
			live.run(t.Fatalf, routerplan.CompareDevice(live.menu, nil, modern).Plan(), 100)
		}
		for _, menu := range []string{routerplan.MenuHotspot, routerplan.MenuHotspotProfile} {
			if rows := live.menu[menu]; len(rows) != 1 || rows[0]["mark"] == "" {
				t.Errorf("%s: %s has %v", name, menu, rows)
			}
		}
	}
	r.run(t.Fatalf, routerplan.CompareDevice(r.menu, nil, modern, gone.ID).Plan(), 100)
	if diff := cmp.Diff(before, r.foreign()); diff != "" {
		t.Error(diff)
	}
}

func TestUpgrade_PastTheCommentsOfProfilesIsNoDrift(t *testing.T) {
	t.Parallel()
	s := testService(1, events.ServicePPPoE, "ether5", 0)
	r := newModel(t, nil)
	old, upgraded := routerplan.ParseVersion("7.8 (stable)"), routerplan.ParseVersion("7.16 (stable)")
	r.run(t.Fatalf, routerplan.CompareService(r.menu, s, old).Plan(), 100)
	if d := routerplan.CompareDevice(r.menu, []routerplan.Service{s}, upgraded); !d.InSync() {
		t.Errorf("after the upgrade: %+v", d.Resources())
	}
	r.run(t.Fatalf, routerplan.CompareRemoval(r.menu, s.ID).Plan(), 100)
	if left := r.menu[routerplan.MenuPPPProfile]; len(left) > 0 {
		t.Errorf("removal leaves %v", left)
	}
}
