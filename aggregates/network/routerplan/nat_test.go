package routerplan_test

import (
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
