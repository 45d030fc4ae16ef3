package routerplan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
)

// managed is a management network whose devices are told their server.
func managed(acs string) routerplan.Service {
	s := testService(1, events.ServiceCPEManagement, "ether4", 0)
	s.Addressing.Subnet, s.Addressing.Gateway = "10.20.1.0/24", "10.20.1.1"
	s.Addressing.PoolStart, s.Addressing.PoolEnd = "10.20.1.2", "10.20.1.254"
	s.Masquerade, s.ACS = true, acs
	return s
}

// Devices of a management network are told where their server is, and reach it; without an address neither.
func TestManagement_DevicesAreToldTheirServer(t *testing.T) {
	t.Parallel()
	s := managed("http://acs.example.com:7547")
	slug, byPath := routerplan.Slug(s.ID), map[string]map[string]string{}
	for _, r := range routerplan.Desired(s, modern) {
		byPath[r.Path] = r.Values
	}
	tag := routerplan.ServiceComment(s.ID)
	want := map[string]map[string]string{
		routerplan.MenuDHCPOption: {
			"name": "acs-svc-" + slug, "code": "43", "comment": tag,
			"value": "0x011b687474703a2f2f6163732e6578616d706c652e636f6d3a37353437",
		},
		routerplan.MenuDHCPNetwork: {
			"address": "10.20.1.0/24", "gateway": "10.20.1.1", "dns-server": "10.20.1.1",
			"dhcp-option": "acs-svc-" + slug, "comment": tag,
		},
		routerplan.MenuNAT: {
			"chain": "srcnat", "action": "masquerade", "src-address": "10.20.1.0/24", "dst-address": "!10.99.0.0/16",
			"disabled": "no", "comment": tag,
		},
	}
	for path, values := range want {
		if diff := cmp.Diff(values, byPath[path]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", path, diff)
		}
	}
	for _, r := range routerplan.Desired(managed(""), modern) {
		if r.Path == routerplan.MenuDHCPOption || r.Path == routerplan.MenuNAT || r.Values["dhcp-option"] != "" {
			t.Errorf("without a server: %s %v", r.Path, r.Values)
		}
	}
}

// Routers of each release take the option, another address, and the removal; what they had before is as it was.
func TestManagement_OnSimulatedRouters(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r := simulated(t, version)
		v := routerplan.ParseVersion(version)
		before := r.Snapshot(false)
		for _, acs := range []string{
			"", "http://acs.example.com:7547", "https://" + strings.Repeat("a", 180) + ".example:7547/x?y='z'",
		} {
			services := []routerplan.Service{managed(acs)}
			write(t, r, routerplan.CompareDevice(read(t, r, routerplan.ServiceMenus()), services, v).Plan())
			if d := routerplan.CompareDevice(read(t, r, routerplan.ServiceMenus()), services, v); !d.InSync() {
				t.Fatalf("%s, %q: %+v", version, acs, d.Resources())
			}
		}
		write(t, r, routerplan.CompareRemoval(read(t, r, routerplan.ServiceMenus()), managed("").ID).Plan())
		if diff := cmp.Diff(before, r.Snapshot(false)); diff != "" {
			t.Errorf("%s: something is left or was touched\n%s", version, diff)
		}
	}
}
