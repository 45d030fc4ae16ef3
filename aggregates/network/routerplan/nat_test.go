package routerplan_test

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
)

// working is a service as the platform wants it for customers: with name servers and translated addresses.
func working(t events.ServiceType) routerplan.Service {
	s := testService(1, t, "ether5", 0)
	s.DNS, s.Masquerade = []string{"192.0.2.53", "192.0.2.54"}, true
	return s
}

func TestService_CustomersAreToldNameServersThatTheyReach(t *testing.T) {
	t.Parallel()
	for kind, want := range map[events.ServiceType]string{
		events.ServicePPPoE: "192.0.2.53,192.0.2.54", events.ServiceCPEManagement: "192.0.2.53,192.0.2.54",
		events.ServiceHotspot: "10.50.1.1", // answers for its customers itself
	} {
		told := ""
		for _, r := range routerplan.Desired(working(kind), modern) {
			if r.Values["dns-server"] != "" {
				told = r.Values["dns-server"]
			}
		}
		if told != want {
			t.Errorf("%s: %q", kind, told)
		}
	}
}

func TestService_AddressesAreTranslatedOnceAndNotTowardsTheTunnel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule routerplan.Row // of the operator's
		ours bool
	}{
		"no rule": {nil, true},
		"the default one": {
			routerplan.Row{"chain": "srcnat", "action": "masquerade", "out-interface-list": "WAN"}, false,
		},
		"for a wider subnet": {
			routerplan.Row{"chain": "srcnat", "action": "src-nat", "src-address": "10.50.0.0/16"}, false,
		},
		"for another subnet": {
			routerplan.Row{"chain": "srcnat", "action": "masquerade", "src-address": "10.9.0.0/16"}, true,
		},
		"for a narrower one": {
			routerplan.Row{"chain": "srcnat", "action": "masquerade", "src-address": "10.50.1.0/25"}, true,
		},
		"disabled":             {routerplan.Row{"chain": "srcnat", "action": "masquerade", "disabled": "true"}, true},
		"for one protocol":     {routerplan.Row{"chain": "srcnat", "action": "masquerade", "protocol": "tcp"}, true},
		"of another direction": {routerplan.Row{"chain": "dstnat", "action": "dst-nat"}, true},
	} {
		r := newModel(t, nil)
		if c.rule != nil {
			r.add(routerplan.MenuNAT, c.rule, "")
		}
		before := len(r.menu[routerplan.MenuNAT])
		s := working(events.ServicePPPoE)
		r.run(t.Fatalf, routerplan.CompareService(r.menu, s, modern).Plan(), 100)
		added := r.menu[routerplan.MenuNAT][before:]
		if (len(added) == 1) != c.ours {
			t.Errorf("%s: %v", name, added)
		}
		if c.ours && (added[0]["src-address"] != "10.50.1.0/24" || added[0]["dst-address"] != "!10.99.0.0/16") {
			t.Errorf("%s: %v", name, added[0])
		}
		r.add(routerplan.MenuNAT, map[string]string{"chain": "srcnat", "action": "masquerade"}, "")
		if d := routerplan.CompareService(r.menu, s, modern); !d.InSync() {
			t.Errorf("%s: a rule of the operator's that came later is drift: %+v", name, d.Resources())
		}
		r.run(t.Fatalf, routerplan.CompareRemoval(r.menu, s.ID).Plan(), 100)
		if left := len(r.menu[routerplan.MenuNAT]); left != before+1 {
			t.Errorf("%s: %d rules are left of %d", name, left, before+1)
		}
	}
}

// A rule for another way out, or for a part of the traffic, leaves the customers without the internet: hairpin NAT, a
// VPN, a rule for one device. An exit counts as an uplink by the same signs as for reserved interfaces.
func TestService_ARuleForAnotherExitDoesNotTranslateTheCustomers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		conditions routerplan.Row
		counts     bool
	}{
		"no exit":                {nil, true},
		"the uplink":             {routerplan.Row{"out-interface": "ether1"}, true},
		"the list WAN":           {routerplan.Row{"out-interface-list": "WAN"}, true},
		"a list with the uplink": {routerplan.Row{"out-interface-list": "outside"}, true},
		"all but the LAN":        {routerplan.Row{"out-interface-list": "!LAN"}, true},
		"all but the bridge":     {routerplan.Row{"out-interface": "!bridge-lan"}, true},
		"the default one": {
			routerplan.Row{"out-interface-list": "WAN", "ipsec-policy": "out,none", "log": "no", "packets": "7"}, true,
		},
		"not for itself":        {routerplan.Row{"dst-address-type": "!local"}, true},
		"a VPN":                 {routerplan.Row{"out-interface": "wireguard1"}, false},
		"the LAN":               {routerplan.Row{"out-interface": "bridge-lan"}, false},
		"the list LAN":          {routerplan.Row{"out-interface-list": "LAN"}, false},
		"all but the uplink":    {routerplan.Row{"out-interface": "!ether1"}, false},
		"all but WAN":           {routerplan.Row{"out-interface-list": "!WAN"}, false},
		"a tunnel with address": {routerplan.Row{"out-interface": "l2tp-hq", "to-addresses": "10.0.0.2"}, false},
		"one device":            {routerplan.Row{"src-mac-address": "AA:BB:CC:00:11:22"}, false},
		"for itself":            {routerplan.Row{"dst-address-type": "local"}, false},
		"in IPsec":              {routerplan.Row{"ipsec-policy": "out,ipsec"}, false},
		"what nobody knows":     {routerplan.Row{"new-matcher": "x"}, false},
	} {
		rule := routerplan.Row{".id": "*1", "chain": "srcnat", "action": "masquerade"}
		for property, value := range c.conditions {
			rule[property] = value
		}
		s := routerplan.Snapshot{
			routerplan.MenuNAT: {rule}, routerplan.MenuInterface: {{"name": "ether1"}, {"name": "bridge-lan"}},
			routerplan.MenuRoute: {{
				"dst-address": "0.0.0.0/0", "gateway": "203.0.113.1", "immediate-gw": "203.0.113.1%ether1",
			}},
			routerplan.MenuInterfaceList: {{"name": "LAN"}, {"name": "outside"}},
			routerplan.MenuListMember: {
				{"list": "LAN", "interface": "bridge-lan"}, {"list": "outside", "interface": "ether1"},
			},
		}
		missing := false
		for _, x := range routerplan.CompareService(s, working(events.ServicePPPoE), modern).Differences {
			missing = missing || x.Path == routerplan.MenuNAT
		}
		if missing == c.counts {
			t.Errorf("%s: counts %v", name, !missing)
		}
	}
}

// An organization with public addresses for its customers hides none of them: it may translate the private ones only.
func TestService_PublicAddressesAreNeverTranslated(t *testing.T) {
	t.Parallel()
	for subnet, hidden := range map[string]bool{
		"10.50.1.0/24": true, "172.31.255.0/24": true, "192.168.0.0/16": true, "100.64.0.0/22": true,
		"198.51.100.0/24": false, "172.32.0.0/24": false, "100.128.0.0/24": false, "8.0.0.0/6": false, "": false,
	} {
		for _, kind := range []events.ServiceType{events.ServicePPPoE, events.ServiceHotspot} {
			s := working(kind)
			s.Addressing.Subnet = subnet
			snapshot := routerplan.Snapshot{routerplan.MenuNAT: {{
				".id": "*1", "chain": "srcnat", "action": "masquerade", "src-address": "10.60.0.0/16",
			}}}
			found := false
			for _, x := range routerplan.CompareService(snapshot, s, modern).Plan() {
				found = found || x.Path == routerplan.MenuNAT
			}
			if found != hidden {
				t.Errorf("%s %q: translated %v", kind, subnet, found)
			}
		}
	}
}

// A service that gets public addresses loses its rule, but the private ones that customers still have keep theirs. A
// rule for the public ones, which an older version has written, goes.
func TestService_ThatGetsPublicAddressesKeepsTheTranslationOfTheFormerOnes(t *testing.T) {
	t.Parallel()
	s := working(events.ServicePPPoE)
	rule := func(row, subnet string) routerplan.Row {
		return routerplan.Row{
			".id": row, "chain": "srcnat", "action": "masquerade", "src-address": subnet,
			"dst-address": "!10.99.0.0/16", "disabled": "false", "comment": routerplan.ServiceComment(s.ID),
		}
	}
	snapshot := routerplan.Snapshot{
		routerplan.MenuDHCPLease: {}, routerplan.MenuPPPActive: {{"name": "mary", "address": s.Addressing.PoolStart}},
		routerplan.MenuNAT: {rule("*1", s.Addressing.Subnet), rule("*2", "198.51.100.0/24")},
	}
	s.Addressing = events.ServiceAddressing{
		Subnet: "198.51.100.0/24", Gateway: "198.51.100.1", PoolStart: "198.51.100.2", PoolEnd: "198.51.100.254",
	}
	writes := func() (found []string) {
		for _, x := range routerplan.CompareService(snapshot, s, modern).Plan() {
			if x.Path == routerplan.MenuNAT {
				found = append(found, x.Operation+" "+x.ID+" "+x.Values["comment"])
			}
		}
		slices.Sort(found)
		return found
	}
	note := routerplan.ServiceComment(s.ID) + " former"
	if got := writes(); !slices.Equal(got, []string{"remove *2 ", "set *1 " + note}) {
		t.Errorf("with a customer online the writes are %q", got)
	}
	snapshot[routerplan.MenuNAT] = []routerplan.Row{rule("*1", "10.50.1.0/24")}
	snapshot[routerplan.MenuNAT][0]["comment"] = note
	if got := writes(); len(got) > 0 {
		t.Errorf("the former rule is written: %q", got)
	}
	snapshot[routerplan.MenuPPPActive] = nil
	if got := writes(); !slices.Equal(got, []string{"remove *1 "}) {
		t.Errorf("with nobody online the writes are %q", got)
	}
}
