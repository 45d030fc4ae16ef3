package routerplan_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
)

func TestDesired_OfEachTypeIsCreatedInTheOrderOfReference(t *testing.T) {
	t.Parallel()
	slug := routerplan.Slug(testService(1, events.ServicePPPoE, "", 0).ID)
	for name, c := range map[string]struct {
		service routerplan.Service
		want    []string
	}{
		"pppoe on a VLAN": {testService(1, events.ServicePPPoE, "ether5", 100), []string{
			"add interface/vlan vlan-svc-S", "add ip/pool pool-svc-S", "add ppp/profile ppp-prof-svc-S",
			"add interface/pppoe-server/server pppoe-svc-S",
		}},
		"hotspot": {testService(1, events.ServiceHotspot, "ether5", 0), []string{
			"add ip/address 10.50.1.1/24", "add ip/pool pool-svc-S", "add ip/dhcp-server dhcp-svc-S",
			"add ip/dhcp-server/network 10.50.1.0/24", "add ip/hotspot/profile hs-prof-svc-S",
			"add ip/hotspot hs-svc-S", "add ip/hotspot/walled-garden *.example.com",
			"add ip/hotspot/walled-garden pay.example.org", "add ip/hotspot/walled-garden/ip *.example.com",
			"add ip/hotspot/walled-garden/ip pay.example.org", "add ip/hotspot/walled-garden/ip 192.0.2.0/24",
		}},
		"cpe-management": {testService(1, events.ServiceCPEManagement, "ether5", 0), []string{
			"add ip/address 10.50.1.1/24", "add ip/pool pool-svc-S", "add ip/dhcp-server dhcp-svc-S",
			"add ip/dhcp-server/network 10.50.1.0/24",
		}},
	} {
		d := routerplan.CompareService(nil, c.service, modern)
		if diff := cmp.Diff(strings.Split(strings.ReplaceAll(strings.Join(c.want, "\n"), "svc-S", "svc-"+slug), "\n"),
			shown(d.Plan())); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		r := newModel(t, nil)
		r.run(t.Fatalf, d.Plan(), 100)
		removed := paths(routerplan.CompareRemoval(r.menu, c.service.ID).Plan())
		slices.Reverse(removed)
		if diff := cmp.Diff(paths(d.Plan()), removed); diff != "" {
			t.Errorf("%s: removal is not the reverse\n%s", name, diff)
		}
	}
}

// paths lists the menu of each step.
func paths(steps []routerplan.Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Path)
	}
	return out
}

func TestDesired_SendsWhatTheRouterDefaultsOtherwise(t *testing.T) {
	t.Parallel()
	s := testService(1, events.ServicePPPoE, "ether5", 100)
	byPath := map[string]map[string]string{}
	for _, r := range routerplan.Desired(s, modern) {
		byPath[r.Path] = r.Values
	}
	tag, slug := routerplan.ServiceComment(s.ID), routerplan.Slug(s.ID)
	want := map[string]map[string]string{
		routerplan.MenuVlan: {
			"name": "vlan-svc-" + slug, "interface": "ether5", "vlan-id": "100", "disabled": "no", "comment": tag,
		},
		routerplan.MenuPool: {"name": "pool-svc-" + slug, "ranges": "10.50.1.2-10.50.1.254", "comment": tag},
		routerplan.MenuPPPProfile: {
			"name": "ppp-prof-svc-" + slug, "local-address": "10.50.1.1", "remote-address": "pool-svc-" + slug,
			"comment": tag,
		},
		routerplan.MenuPPPoEServer: {
			"service-name": "pppoe-svc-" + slug, "interface": "vlan-svc-" + slug,
			"default-profile": "ppp-prof-svc-" + slug, "one-session-per-host": "yes", "disabled": "no", "comment": tag,
		},
	}
	if diff := cmp.Diff(want, byPath); diff != "" {
		t.Error(diff)
	}
	for _, r := range routerplan.Desired(s, routerplan.ParseVersion("6.49.10 (stable)")) {
		if _, has := r.Values["comment"]; has && r.Path == routerplan.MenuPPPProfile {
			t.Error("an old router has no comment on a profile")
		}
	}
}

func TestChangeOfAddresses_SetsOnlyWhatDiffersAndReplacesNothing(t *testing.T) {
	t.Parallel()
	s := testService(1, events.ServiceHotspot, "ether5", 0)
	r := newModel(t, nil)
	r.run(t.Fatalf, routerplan.CompareService(r.menu, s, modern).Plan(), 100)
	s.Addressing = testService(2, events.ServiceHotspot, "", 0).Addressing
	d := routerplan.CompareService(r.menu, s, modern)
	for _, step := range d.Plan() {
		if step.Operation != "set" || step.Path == routerplan.MenuHotspot || step.Path == routerplan.MenuDHCPServer {
			t.Errorf("step %s %s %v", step.Operation, step.Path, step.Values)
		}
	}
	audit := d.Plan()[0].Audit()
	want := events.RouterStep{
		Path: routerplan.MenuAddress, Operation: "set", Name: "10.50.2.1/24",
		Before: map[string]string{"address": "10.50.1.1/24"}, After: map[string]string{"address": "10.50.2.1/24"},
	}
	if diff := cmp.Diff(want, audit); diff != "" {
		t.Error(diff)
	}
}

// TestHotspot_WhatAnOperatorMayAddToTheWaysOfSigningInStays, and a cookie goes without taking it along.
func TestHotspot_WhatAnOperatorMayAddToTheWaysOfSigningInStays(t *testing.T) {
	t.Parallel()
	for present, want := range map[string]string{
		"http-chap,mac": "", "mac,http-chap": "", "http-chap,mac,https": "", "https,http-pap, mac,http-chap": "",
		"cookie,http-chap":                  "http-chap,mac",
		"cookie,http-chap,https":            "http-chap,mac,https",
		"http-chap,https,mac,mac-cookie":    "http-chap,mac,https",
		"http-chap,http-pap,mac,trial":      "http-chap,mac,http-pap",
		"https":                             "http-chap,mac,https",
		"http-chap,mac,something else":      "http-chap,mac",
		"":                                  "http-chap,mac",
		"https,mac,https,http-pap,http-pap": "http-chap,mac,https,http-pap",
	} {
		s := testService(1, events.ServiceHotspot, "ether5", 0)
		r := newModel(t, nil)
		r.run(t.Fatalf, routerplan.CompareService(r.menu, s, modern).Plan(), 100)
		profile := r.menu[routerplan.MenuHotspotProfile][0]
		profile["login-by"] = present
		steps := routerplan.CompareService(r.menu, s, modern).Plan()
		if want == "" && len(steps) > 0 || want != "" && (len(steps) != 1 || steps[0].Values["login-by"] != want) {
			t.Errorf("%q becomes %+v, want %q", present, steps, want)
		}
		r.run(t.Fatalf, steps, 100)
		if again := routerplan.CompareService(r.menu, s, modern); !again.InSync() {
			t.Errorf("%q is still different: %+v", present, again.Resources())
		}
	}
}

func TestDiff_NamesWhatIsMissingExtraChangedAndOrphaned(t *testing.T) {
	t.Parallel()
	s, gone := testService(1, events.ServicePPPoE, "ether5", 0), testService(2, events.ServiceHotspot, "ether6", 0)
	r := newModel(t, nil)
	r.run(t.Fatalf, routerplan.CompareDevice(r.menu, []routerplan.Service{s, gone}, modern).Plan(), 100)
	kinds := func(d routerplan.Diff) map[string]int {
		n := map[string]int{}
		for _, x := range d.Resources() {
			n[x.Kind]++
		}
		return n
	}
	if d := routerplan.CompareService(r.menu, s, modern); !d.InSync() {
		t.Fatalf("another service is in the way: %+v", d.Resources())
	}
	orphans := routerplan.CompareDevice(r.menu, []routerplan.Service{s}, modern)
	if n := kinds(orphans); n["orphan"] != 11 || len(n) != 1 {
		t.Errorf("kinds %v", n)
	}
	r.menu[routerplan.MenuPool] = nil
	r.menu[routerplan.MenuPPPoEServer][0]["disabled"] = "true"
	r.add(routerplan.MenuBridge, map[string]string{"name": "br-svc-1",
		"comment": routerplan.ServiceComment(s.ID) + " by hand"}, "")
	d := routerplan.CompareService(r.menu, s, modern)
	part := routerplan.CompareDevice(r.menu, []routerplan.Service{s}, modern).Of(s.ID)
	if part.Hash() != d.Hash() || len(part.Plan()) != len(d.Plan()) {
		t.Error("the service's part of a device's difference is another difference")
	}
	if n := kinds(d); n["missing"] != 1 || n["changed"] != 1 || n["extra"] != 1 {
		t.Errorf("kinds %v", n)
	}
	if diff := cmp.Diff([]string{"remove", "add", "set"},
		[]string{d.Plan()[0].Operation, d.Plan()[1].Operation, d.Plan()[2].Operation}); diff != "" {
		t.Error(diff)
	}
}

func TestMatcherAddedByHand_IsReplacedNotHidden(t *testing.T) {
	t.Parallel()
	s := testService(1, events.ServiceHotspot, "ether5", 0)
	r := newModel(t, nil)
	r.run(t.Fatalf, routerplan.CompareService(r.menu, s, modern).Plan(), 100)
	r.menu[routerplan.MenuWalledGardenIP][0]["src-address"] = "10.50.1.7"
	r.menu[routerplan.MenuWalledGardenIP] = append(r.menu[routerplan.MenuWalledGardenIP], routerplan.Row{
		".id": "*99", "dynamic": "true", "dst-host": "pay.example.org", "comment": routerplan.ServiceComment(s.ID),
	})
	d := routerplan.CompareService(r.menu, s, modern)
	want := []string{
		"remove ip/hotspot/walled-garden/ip *.example.com", "add ip/hotspot/walled-garden/ip *.example.com",
	}
	if diff := cmp.Diff(want, shown(d.Plan())); diff != "" {
		t.Error(diff)
	}
}

func TestSameValue_ComparesByMeaning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		property, a, b string
		same           bool
	}{
		{"disabled", "no", "", true}, {"disabled", "yes", "true", true}, {"disabled", "yes", "", false},
		{"lease-time", "1h", "01:00:00", true}, {"lease-time", "1d", "24h", true}, {"lease-time", "1h", "1m", false},
		{"lease-time", "1w2d3h4m5s", "9d03:04:05", true}, {"timeout", "500ms", "0.5s", false}, {
			"timeout", "3s", "3s", true,
		},
		{"ranges", "10.0.0.2-10.0.0.9,10.0.0.20", "10.0.0.20-10.0.0.20,10.0.0.2-10.0.0.9", true}, {
			"ranges", "10.0.0.0/30", "10.0.0.0-10.0.0.3", true,
		},
		{"dst-address", "192.0.2.1", "192.0.2.1/32", true}, {"address", "10.0.0.1/24", "10.0.0.2/24", false},
		{"max-limit", "10M/512k", "10000000/512000", true}, {"max-limit", "10M", "10M/10M", true},
		{"vlan-id", "100", "0x64", true}, {"login-by", "cookie,http-chap", "http-chap,cookie", true},
		{"name", "yes", "true", false}, {"address-pool", "pool", "*1", false},
	} {
		if got := routerplan.SameValue(c.property, c.a, c.b); got != c.same {
			t.Errorf("%s: %q and %q: %v", c.property, c.a, c.b, got)
		}
	}
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]routerplan.Version{
		"7.16 (stable)": {Major: 7, Minor: 16}, "6.49.10 (stable)": {Major: 6, Minor: 49},
		"7.23rc1": {Major: 7, Minor: 23}, "": {}, "x.y": {},
	} {
		if got := routerplan.ParseVersion(text); got != want {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// busy is a router with customers of two services and of the operator's own servers, with addresses of all kinds.
func busy() (live routerplan.Snapshot, pppoe, hotspot routerplan.Service) {
	pppoe, hotspot = testService(1, events.ServicePPPoE, "ether5", 0),
		testService(2, events.ServiceHotspot, "ether6", 0)
	server := "pppoe-svc-" + routerplan.Slug(pppoe.ID)
	return routerplan.Snapshot{
		routerplan.MenuPPPoESession: {
			{"user": "jane", "service": server, "remote-address": "AA:00:00:00:00:01", "running": "true"},
			{"user": "joe", "service": server, "remote-address": "AA:00:00:00:00:02"},
			{"user": "ann", "service": "renamed", "remote-address": "AA:00:00:00:00:03"},
			{"user": "away", "service": server, "running": "false"}, {"user": "max", "service": "isp"},
			{"user": "joe", "service": "isp", "remote-address": "AA:00:00:00:00:09"}, {"user": "negotiating"},
		},
		routerplan.MenuPPPActive: {
			{
				".id": "*1", "name": "jane", "service": "pppoe", "caller-id": "aa:00:00:00:00:01",
				"address": "203.0.113.7", "session-id": "0x81A00001",
			},
			{".id": "*2", "name": "joe", "service": "pppoe", "caller-id": "AA:00:00:00:00:02", "address": "10.50.1.9"},
			{".id": "*3", "name": "joe", "service": "pppoe", "caller-id": "AA:00:00:00:00:09", "address": "10.50.1.8"},
			{".id": "*4", "name": "ann", "service": "pppoe", "address": "198.51.100.1"},
			{".id": "*5", "name": "max", "service": "pppoe", "address": "10.50.1.7"},
			{".id": "*6", "name": "jane", "service": "sstp", "address": "10.50.1.10"},
		},
		routerplan.MenuHotspotActive: {
			{".id": "*7", "server": "hs-svc-" + routerplan.Slug(hotspot.ID), "user": "v1"}, {
				".id": "*8", "server": "hs1",
			},
		},
		routerplan.MenuPPPoEServer: {
			{"service-name": "renamed", "comment": routerplan.ServiceComment(pppoe.ID)}, {"service-name": "isp"},
		},
	}, pppoe, hotspot
}

// A customer may have a static or public address, and a router may have another server: only the router's list of PPPoE
// sessions names the server of each.
func TestSessions_CountsWhoWouldBeDroppedWhateverTheAddress(t *testing.T) {
	t.Parallel()
	live, pppoe, hotspot := busy()
	for want, service := range map[int]routerplan.Service{
		3: pppoe, 1: hotspot, 0: testService(3, events.ServiceCPEManagement, "", 0),
	} {
		if got := routerplan.Sessions(live, service); got != want {
			t.Errorf("%s: %d sessions, want %d", service.Binding.Type, got, want)
		}
	}
}

func TestRemoval_EndsTheSessionsOfTheServiceAlone(t *testing.T) {
	t.Parallel()
	live, pppoe, _ := busy()
	removal := routerplan.CompareRemoval(live, pppoe.ID)
	var ended []string
	for _, step := range removal.Plan() {
		ended = append(ended, step.Path+" "+step.ID)
		if step.Path == routerplan.MenuPPPActive && strings.Contains(fmt.Sprint(step.Audit()), "203.0.113.7") {
			t.Errorf("the record names the customer: %+v", step.Audit())
		}
	}
	want := []string{"interface/pppoe-server/server ", "ppp/active *1", "ppp/active *2", "ppp/active *4"}
	if diff := cmp.Diff(want, ended); diff != "" {
		t.Error(diff)
	}
	jane := removal.Plan()[1]
	if !jane.Still(live[routerplan.MenuPPPActive][0]) {
		t.Error("the session is not recognised")
	}
	if reused := maps.Clone(live[routerplan.MenuPPPActive][4]); true {
		reused[".id"] = "*1"
		if jane.Still(reused) {
			t.Error("another customer's session would be ended")
		}
	}
}

func TestLost_AreTheWritesWhoseAnswerNobodySaw(t *testing.T) {
	t.Parallel()
	s := testService(1, events.ServicePPPoE, "ether5", 0)
	r := newModel(t, nil)
	plan := routerplan.CompareService(r.menu, s, modern).Plan()
	var announced []events.RouterStep
	for _, step := range plan {
		announced = append(announced, step.Audit())
	}
	r.run(t.Fatalf, plan, 2) // the first write was recorded; the program died after the second, before recording it
	lost := routerplan.Lost(announced[1:], routerplan.CompareService(r.menu, s, modern).Plan())
	if diff := cmp.Diff(announced[1:2], lost); diff != "" {
		t.Error(diff)
	}
	changed := slices.Clone(announced[2:3]) // the service was changed meanwhile: the row is needed with other values
	changed[0].After = map[string]string{"name": "other"}
	if lost := routerplan.Lost(changed, plan); len(lost) > 0 {
		t.Errorf("a write that is needed again counts as found: %v", lost)
	}
}
