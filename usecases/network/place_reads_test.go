package networkcases_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// carrierMenus list the interfaces of one type each, with what lies below them.
var carrierMenus = []string{
	"interface/bonding", "interface/macsec", "interface/macvlan", "interface/pppoe-client", "interface/vlan",
	"interface/vrrp",
}

// sent gives the requests that a wire has told of with this method, by menu and in order; the condition of a reading
// is left out.
func (w *wire) sent(method string) (menus []string) {
	for _, request := range w.told() {
		if menu, is := strings.CutPrefix(request, method+" /rest/"); is {
			menu, _, _ = strings.Cut(menu, "?")
			menus = append(menus, menu)
		}
	}
	return menus
}

// count gives how often a menu is among others.
func count(menus []string, menu string) int {
	return len(slices.DeleteFunc(slices.Clone(menus), func(one string) bool { return one != menu }))
}

// add adds a row to the router, as its operator does.
func (p *plant) add(menu string, values router.Item) {
	p.t.Helper()
	if _, err := p.router.Do(menu, "add", values); err != nil {
		p.t.Fatal(err)
	}
}

// reasons gives the reserved interfaces as the picker shows them, and the menus of carrierMenus that were read for it.
func (p *plant) reasons() (reserved map[string]string, read []string) {
	p.t.Helper()
	p.wire.watch(nil)
	groups, err := p.workers.Interfaces(p.t.Context(), p.device)
	if err != nil {
		p.t.Fatal(err)
	}
	reserved = map[string]string{}
	for _, group := range groups {
		for _, option := range group.Options {
			reserved[option.Name] = option.Reason.Text
		}
	}
	for _, menu := range p.wire.sent("GET") {
		if slices.Contains(carrierMenus, menu) {
			read = append(read, menu)
		}
	}
	slices.Sort(read)
	return reserved, read
}

func TestReserved_ReadsUplinkMenusOnlyWhereInterfacesOfThatKindExist(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	if _, read := p.reasons(); len(read) > 0 {
		t.Errorf("a router with ports and bridges alone was asked for %v", read)
	}
	p.add("interface/vlan", router.Item{"name": "up", "interface": "ether4", "vlan-id": "7"})
	p.add("ip/dhcp-client", router.Item{"interface": "up", "disabled": "no"})
	reserved, read := p.reasons()
	if reserved["ether4"] != "carries the uplink up" || !slices.Equal(read, []string{"interface/vlan"}) {
		t.Errorf("under a VLAN: %q, read %v", reserved["ether4"], read)
	}
	p.add("interface/pppoe-client", router.Item{"name": "dialled", "interface": "ether5", "user": "isp"}) // disabled
	p.add("interface/bonding", router.Item{"name": "pair", "slaves": "sfp1"})
	reserved, read = p.reasons()
	if reserved["ether5"] != "carries the uplink dialled" || reserved["sfp1"] != "port of the bond pair" ||
		!slices.Equal(read, []string{"interface/bonding", "interface/pppoe-client", "interface/vlan"}) {
		t.Errorf("under a PPPoE client %q, in a bond %q, read %v", reserved["ether5"], reserved["sfp1"], read)
	}
}

// What a new service needs to know is read when its place is chosen, and again, as one state, before the first write. A
// menu is read once for each, and once more after it was written.
func TestCreate_ReadsNoMenuTwiceForTheSameQuestion(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.wire.watch(nil)
	p.active("ether5")
	reads, writes := p.wire.sent("GET"), p.wire.sent("PUT")
	for menu, want := range map[string]int{
		"ip/pool": 3, "interface": 2, "ip/address": 2, "ip/route": 2, "interface/bridge/port": 2, "ppp/profile": 2,
		"ip/firewall/nat": 1, "ip/hotspot": 1, "ip/dhcp-server": 1, "ip/dhcp-server/lease": 1,
		"ip/dhcp-relay": 0, "interface/vlan": 0, "interface/macsec": 0,
	} {
		if got := count(reads, menu); got != want {
			t.Errorf("%s is read %d times, not %d", menu, got, want)
		}
	}
	for _, menu := range []string{"ip/pool", "ppp/profile", "interface/pppoe-server/server"} {
		story := p.wire.told()
		written := slices.Index(story, "PUT /rest/"+menu)
		if count(writes, menu) != 1 || !slices.Contains(story[written+1:], "GET /rest/"+menu) {
			t.Errorf("%s is written %d times and not read back", menu, count(writes, menu))
		}
	}
}

func TestReconcile_ReadsNoAddressesToCheckThePlace(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	service := p.active("ether5")
	p.wire.watch(nil)
	if _, err := p.services.Reconcile(p.t.Context(), p.asked(), service); err != nil {
		t.Fatal(err)
	}
	for menu, want := range map[string]int{"interface": 2, "ip/pool": 1, "ip/dhcp-server/network": 1} {
		if got := count(p.wire.sent("GET"), menu); got != want {
			t.Errorf("%s is read %d times, not %d", menu, got, want)
		}
	}
}

// A hotspot of its own fits only where no server of somebody else is, so that these are read.
func TestPlacement_ReadsServersWhereTheServiceNeedsItsOwn(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	for kind, want := range map[events.ServiceType]int{events.ServiceHotspot: 1, events.ServicePPPoE: 0} {
		p.wire.watch(nil)
		err := p.workers.Placement(t.Context(), p.device, id.New[id.Service](),
			events.ServiceBinding{Type: kind, ParentInterface: "ether5"})
		if err != nil {
			t.Fatal(err)
		}
		for _, menu := range []string{"ip/dhcp-server", "ip/dhcp-relay", "ip/hotspot"} {
			if got := count(p.wire.sent("GET"), menu); got != want {
				t.Errorf("for %s, %s is read %d times, not %d", kind, menu, got, want)
			}
		}
	}
}

// A router without VLANs gets one, so that the list of interfaces that was read is old. The VLAN is read back all the
// same, also when the answer to its addition was lost, so that it is added once.
func TestCreate_AVLANIsReadBack(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]router.Faults{
		"answered": {}, "answer lost": {LoseReplyAfterWrites: router.After(0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlant(t)
			p.wire.watch(nil)
			p.router.SetFaults(faults)
			vlan := 30
			in := p.pppoe("ether5")
			in.VlanID = &vlan
			service, _, err := p.services.Create(t.Context(), p.asked(), in)
			if err != nil {
				t.Fatal(err)
			}
			p.settled(service)
			added, rows := count(p.wire.sent("PUT"), "interface/vlan"), p.router.Snapshot(false)["interface/vlan"]
			if added != 1 || len(rows) != 1 {
				t.Errorf("added %d times, the router has %v", added, rows)
			}
		})
	}
}
