package main

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// withWay is a configuration in which management networks reach the CPE server through the tunnel.
func withWay(change ...string) []string {
	return append([]string{"ACS_TUNNEL_ADDRESS=10.98.0.5", "ACS_CWMP_URL=http://acs.example.com:7547"}, change...)
}

// The address of the CPE server in the tunnel is refused where its route would lead another network, or the tunnel
// itself, into the tunnel.
func TestConfig_TheWayToTheCPEServerLeadsNothingElse(t *testing.T) {
	t.Parallel()
	const name = "ACS_TUNNEL_ADDRESS"
	for _, c := range []unsafe{
		{"sound", nil, nil},
		{"the server by its address", []string{"ACS_CWMP_URL=https://10.98.0.5"}, nil},
		{"off", []string{"ACS_TUNNEL_ADDRESS=", "ACS_CWMP_URL="}, nil},
		{"a public address", []string{name + "=198.51.100.7"}, []string{name}},
		{"a name", []string{name + "=acs.example.com"}, []string{name}},
		{"a network", []string{name + "=10.98.0.0/24"}, []string{name}},
		{"IPv6", []string{name + "=fd00::5"}, []string{name}},
		{"a customer's", []string{name + "=10.50.0.5"}, []string{name}},
		{"a device's", []string{name + "=10.20.0.5"}, []string{name}},
		{"a router's", []string{name + "=10.99.0.1"}, []string{name}},
		{"the concentrator's", []string{"TUNNEL_HOST=10.98.0.5"}, []string{name}},
		{"nothing to tell", []string{"ACS_CWMP_URL="}, []string{name}},
		{"another one is told", []string{"ACS_CWMP_URL=http://10.98.0.6:7547"}, []string{"ACS_CWMP_URL"}},
		{"files are elsewhere", []string{"ACS_FS_URL=http://198.51.100.7:7567"}, []string{"ACS_FS_URL"}},
	} {
		if diff := cmp.Diff(c.want, faulty(t, withWay(c.change...))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
	for ports, change := range map[string][]string{
		"7547": nil, "7547,7567": {"ACS_FS_URL=http://acs.example.com:7567"},
		"443": {"ACS_CWMP_URL=https://10.98.0.5/x"},
		"80":  {"ACS_CWMP_URL=http://10.98.0.5", "ACS_FS_URL=http://10.98.0.5/files"},
	} {
		cfg, err := loadConfig(withWay(change...))
		if err != nil {
			t.Fatal(err)
		}
		rules := routerplan.AccelFirewall(cfg.cpeServer())
		if !strings.Contains(rules, "tcp dport { "+strings.ReplaceAll(ports, ",", ", ")+" } accept") {
			t.Errorf("%v are not open: %s", ports, rules)
		}
	}
}

// A router is led the present subnets of its own networks and the former ones that devices may still use.
func TestTunnelConfig_EachRouterIsLedItsOwnNetworks(t *testing.T) {
	t.Parallel()
	a, b := id.New[id.Device](), id.New[id.Device]()
	clients := []routerplan.TunnelClient{
		{User: "nas-a", Secret: "secretOfA", Address: "10.99.0.2", Router: a},
		{User: "nas-b", Secret: "secretOfB", Address: "10.99.0.3", Router: b},
	}
	service := func(device id.Device, subnet string, former ...string) networkviews.ServiceRow {
		row := networkviews.ServiceRow{DeviceID: device, Addressing: events.ServiceAddressing{Subnet: subnet}}
		for _, f := range former {
			row.Former = append(row.Former, events.FormerSubnet{Subnet: f})
		}
		return row
	}
	lead(clients, []networkviews.ServiceRow{
		service(b, "10.20.3.0/24"), service(a, "10.20.1.0/24", "10.20.0.0/24"), service(a, "10.20.3.0/25"),
		service(b, "192.168.1.0/24"),
	})
	cfg, err := loadConfig(withWay())
	if err != nil {
		t.Fatal(err)
	}
	for target, file := range map[string]string{"accel-ppp": "routes", "router": "all"} {
		text, err := tunnelConfig{Target: target, File: file}.text(routerplan.TunnelConfig{
			Port: 443, Clients: clients, CPE: cfg.cpeServer(), Platform: netip.MustParseAddr("192.168.88.10"),
		})
		want := "10.20.1.0/24 10.99.0.2\n10.20.0.0/24 10.99.0.2\n10.20.3.0/24 10.99.0.3\nEND"
		if target == "router" {
			want = `routes="10.20.1.0/24 10.99.0.2 1,10.20.0.0/24 10.99.0.2 1"`
		}
		if err != nil || !strings.Contains(text, want) || strings.Contains(text, "192.168.1.0") ||
			strings.Contains(text, "10.20.3.0/25") {
			t.Errorf("%s: %v: %s", target, err, text)
		}
	}
}

// TestManagement_ARouterLeadsItsDevicesToTheCPEServer goes the way of an operator: script, service, another subnet
// while a device has its address, an edit by hand, repair, removal.
func TestManagement_ARouterLeadsItsDevicesToTheCPEServer(t *testing.T) {
	t.Parallel()
	k := newKit(t, withWay()...).withRouters("6.49.10", "7.16").start().signIn()
	for i := range 2 {
		r, first, second := k.register(i), fmt.Sprint("10.20.1", i), fmt.Sprint("10.20.2", i)
		k.bootstraps(r)
		path := "/nas/devices/" + r.device
		inSync := func(what string) bool { return k.must(k.admin, "GET", what, nil)["inSync"] == true }
		if !inSync(path + "/firewall") {
			t.Errorf("after the script: %v", k.must(k.admin, "GET", path+"/firewall", nil))
		}
		service := k.service(r, map[string]any{
			"type": "cpe-management", "parentInterface": "ether4", "subnet": first + ".0/24",
		})
		if !inSync("/nas/services/" + service + "/diff") {
			t.Errorf("after apply: %v", k.must(k.admin, "GET", "/nas/services/"+service+"/diff", nil))
		}
		informs := func(from string, port string) bool {
			got := r.Transit(router.Transit{
				In: "ether4", From: netip.MustParseAddr(from), To: netip.MustParseAddr("10.98.0.5"), Protocol: "tcp",
				Port: port,
			})
			return got.Passed && got.Out == routerplan.TunnelInterface && got.From.String() == from
		}
		if !informs(first+".7", "7547") || informs(first+".7", "7557") || informs("192.0.2.7", "7547") {
			t.Errorf("%s: devices do not reach their server, or more", r.Summary().Version)
		}
		if err := r.Lease(router.Lease{Server: "dhcp-svc-" + service[:8]}); err != nil {
			t.Fatal(err)
		}
		k.must(k.admin, "PATCH", "/nas/services/"+service, map[string]any{"subnet": second + ".0/24"})
		k.serviceIs(service, "active")
		if got := k.led(r); got != second+".0/24 "+first+".0/24" {
			t.Errorf("%s: while a device has its address %q are led to the router", r.Summary().Version, got)
		}
		if !informs(first+".7", "7547") || !informs(second+".7", "7547") {
			t.Errorf("%s: a subnet is not led to the server", r.Summary().Version)
		}
		withoutWay(t, r)
		if inSync(path+"/firewall") || informs(second+".7", "7547") {
			t.Errorf("%s: a removed route is no difference", r.Summary().Version)
		}
		k.must(k.admin, "POST", path+"/firewall/reconcile", nil)
		k.eventually("the way to be repaired", func(context.Context) (bool, error) {
			return inSync(path + "/firewall"), nil
		})
		if !informs(second+".7", "7547") {
			t.Errorf("%s: after the repair devices do not reach their server", r.Summary().Version)
		}
		k.must(k.admin, "DELETE", "/nas/services/"+service+"?confirm=true", nil)
		k.refused(k.admin, "GET /nas/services/"+service, nil, 404, "service_not_found")
		if got := k.led(r); got != "" || len(platformItems(r)) != 0 {
			t.Errorf("%s: after the removal: %s, %v", r.Summary().Version, got, platformItems(r))
		}
	}
}

// withoutWay removes the route to the CPE server by hand.
func withoutWay(t *testing.T, r simRouter) {
	t.Helper()
	for _, row := range r.Snapshot(false)["ip/route"] {
		if row["comment"] == "Platform-fw:management" {
			if _, err := r.Do("ip/route", "remove", router.Item{".id": row[".id"]}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// led gives the subnets that the concentrator leads to a router.
func (k *kit) led(r simRouter) string {
	k.t.Helper()
	clients, err := tunnelClients(k.t.Context(), k.app.storage, k.app.engines.views)
	if err != nil {
		k.t.Fatal(err)
	}
	services, err := networkviews.ServicesQuery{Views: k.app.engines.views}.Management(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	lead(clients, services)
	for _, c := range clients {
		if c.Router.String() == r.device {
			return strings.Join(c.Networks, " ")
		}
	}
	k.t.Fatal("the concentrator does not know " + r.device)
	return ""
}
