package routerplan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
)

// TestObserve_ReadsEachMenu, also rows that make no sense: what is no MAC, address or speed is left out.
func TestObserve_ReadsEachMenu(t *testing.T) {
	t.Parallel()
	got := routerplan.Observe(routerplan.Snapshot{
		routerplan.MenuPPPActive: {
			{"name": "amina", "caller-id": "aa:bb:cc:00:11:22", "address": "100.64.0.1", "radius": "true",
				"session-id": "0x81A00001", "uptime": "1h2m"},
			{"name": "amina", "caller-id": "AA:BB:CC:00:11:22", "address": "100.64.0.2", "radius": "true"},
			{"name": "<b>x</b>", "caller-id": "<script>", "address": "nowhere", "radius": "maybe", "uptime": "soon"},
		},
		routerplan.MenuPPPoESession: {
			{"name": "<pppoe-amina>", "user": "amina", "remote-address": "AA:BB:CC:00:11:22"},
			{"name": "<pppoe-amina-1>", "user": "amina", "remote-address": "AA:BB:CC:00:11:22"},
		},
		routerplan.MenuHotspotActive: {
			{"user": "v1", "mac-address": "aa:bb:cc:00:11:33", "address": "10.50.0.5", "radius": "false"},
		},
		routerplan.MenuHotspotHost: {{"mac-address": "AA:BB:CC:00:11:44", "address": "10.50.0.6"}},
		routerplan.MenuQueue:       {{"target": "10.50.0.5/32", "max-limit": "1M/2M"}, {"target": "<pppoe-amina>"}},
		routerplan.MenuAddressList: {
			{"address": "100.64.0.1", "dynamic": "true"}, {"address": "100.64.0.3/32", "dynamic": "true"},
			{"address": "100.64.0.3"}, {"address": "100.64.1.0/24"}, {"address": "100.64.0.4", "disabled": "true"},
			{"address": "example.com"}, {"address": "100.64.2.5-100.64.2.7"}, {"address": "100.64.3.9-100.64.3.1"},
			{"address": "100.64.4.1-::1"}, {"address": "100.64.5.1-"}, {"address": "2001:db8::1-2001:db8::ff"},
			{"address": "100.64.0.5", "dynamic": "true", "timeout": "23h59m12s"},
		},
		routerplan.MenuPPPoEServer: {
			{"service-name": "lan", "interface": "vlan7"}, {
				"service-name": "off", "interface": "ether4", "disabled": "true",
			},
			{"service-name": "bridged", "interface": "bridge1"},
		},
		routerplan.MenuHotspot:      {{"name": "spot", "interface": "ether5"}},
		routerplan.MenuVlan:         {{"name": "vlan7", "interface": "ether4"}},
		routerplan.MenuEthernet:     {{"name": "ether4"}, {"name": "ether5"}},
		routerplan.MenuEthernetLink: {{"name": "ether4", "rate": "2.5Gbps"}, {"name": "ether5", "rate": "no-link"}},
	}, routerplan.Home{})
	want := []routerplan.ObservedSession{
		{User: "amina", Key: "81a00001", Address: "100.64.0.1", MAC: "AA:BB:CC:00:11:22", Interface: "<pppoe-amina>",
			Radius: true, Uptime: 62 * time.Minute},
		{User: "amina", Address: "100.64.0.2", MAC: "AA:BB:CC:00:11:22", Interface: "<pppoe-amina-1>", Radius: true},
		{User: "<b>x</b>"},
		{Hotspot: true, User: "v1", Address: "10.50.0.5", MAC: "AA:BB:CC:00:11:33"},
		{Hotspot: true, Bypass: true, Address: "10.50.0.6", MAC: "AA:BB:CC:00:11:44"},
	}
	if diff := cmp.Diff(want, got.Sessions); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]routerplan.ObservedPort{{Server: "lan", Name: "ether4", Rate: 2_500_000}},
		got.Ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if len(got.Queues) != 2 || got.Queues[0].Target != "10.50.0.5" || got.Queues[0].Limit != "1M/2M" {
		t.Errorf("queues %+v", got.Queues)
	}
	for address, want := range inGarden() {
		if walled, radius := got.Walled(address); walled != want[0] || radius != want[1] {
			t.Errorf("%q: walled in %v, by RADIUS %v", address, walled, radius)
		}
	}
}

// inGarden has what TestObserve_ReadsEachMenu shows of addresses: in the walled garden, and by RADIUS alone.
func inGarden() map[string][2]bool {
	return map[string][2]bool{
		"100.64.0.1": {true, true}, "100.64.0.3": {true, false}, "100.64.1.9": {true, false}, "100.64.0.4": {}, "": {},
		"100.64.0.5": {true, false}, // one with a timeout is dynamic, and not of RADIUS
		"100.64.2.4": {}, "100.64.2.5": {true, false}, "100.64.2.7": {true, false}, "100.64.2.8": {}, "100.64.3.5": {},
		"100.64.4.1": {}, "100.64.5.1": {}, "2001:db8::a": {true, false}, "2001:db8::1:0": {},
	}
}

// TestObserve_TakesEveryText without a panic, and gives MACs and addresses that are some, or none.
func TestObserve_TakesEveryText(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"true", "yes", "100.64.0.1", "100.64.0.0/10", "100.64.0.1-100.64.0.9", "-", "::1", "aa:bb:cc:00:11:22",
		"0x81a00001", "1Gbps", "-1Gbps", "NaNGbps", "1e300Gbps", "ether4", "lan", "vlan7",
	}))
	rows := rapid.SliceOfN(rapid.MapOf(rapid.SampledFrom([]string{
		"name", "user", "caller-id", "address", "radius", "session-id", "uptime", "remote-address", "mac-address",
		"target", "max-limit", "dynamic", "timeout", "disabled", "service-name", "interface", "rate",
	}), text), 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		snapshot := routerplan.Snapshot{routerplan.MenuEthernetLink: rowsIn(rows.Draw(t, "links"))}
		for _, read := range routerplan.ObserveReads() {
			snapshot[read.Menu] = rowsIn(rows.Draw(t, read.Menu))
		}
		got := routerplan.Observe(snapshot, routerplan.Home{})
		got.Walled(text.Draw(t, "address"))
		for _, s := range got.Sessions {
			if s.MAC != "" && (len(s.MAC) != 17 || s.MAC != strings.ToUpper(s.MAC)) {
				t.Fatalf("MAC %q", s.MAC)
			}
		}
	})
}

// rowsIn are maps as rows.
func rowsIn(list []map[string]string) []routerplan.Row {
	out := make([]routerplan.Row, len(list))
	for i, item := range list {
		out[i] = item
	}
	return out
}
