package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// routerPassword is the password of the user admin on every simulated router of the tests.
const routerPassword = "router-password"

// routerVersions has the RouterOS releases that the tests cover.
var routerVersions = []string{"6.49.10", "7.6", "7.16", "7.23.7"}

// simRouter is a simulated router, registered.
type simRouter struct {
	*router.Router
	address string
	device  string // its id
}

// withRouters starts simulated routers, one of each version, for the program to dial. Their operator has prepared them:
// they have a certificate, and RADIUS checks customers. It must be called before start.
func (k *kit) withRouters(versions ...string) *kit {
	k.t.Helper()
	k.withNewRouters(false, versions...)
	for _, r := range k.routers.Routers() {
		for _, prepare := range []func() error{r.Certify, r.UseRADIUS} {
			if err := prepare(); err != nil {
				k.t.Fatalf("prepare %s: %v", r.Name(), err)
			}
		}
	}
	return k
}

// withNewRouters starts simulated routers as they leave the factory; remote ones are reached through their SSTP client
// only.
func (k *kit) withNewRouters(remote bool, versions ...string) *kit {
	k.t.Helper()
	var list []router.RouterConfig
	for i, v := range versions {
		cfg := router.RouterConfig{Name: fmt.Sprintf("r%d", i), Version: v, Password: routerPassword,
			Tunnel: netip.MustParseAddr(simAddress(i)), Remote: remote}
		if k.answers != nil {
			cfg.RADIUS = func(asked netip.AddrPort) netip.AddrPort {
				if asked.Addr() == foreignRADIUS {
					return k.foreign
				}
				return k.answers.at(asked)
			}
		}
		list = append(list, cfg)
	}
	cfg := router.Config{Routers: list}
	if k.answers != nil {
		cfg.Clock = k.clock // sessions and reports of customers go by the program's clock
	}
	sim, err := router.New(cfg)
	if err == nil {
		err = sim.Start(context.Background())
	}
	if err != nil {
		k.t.Fatalf("start routers: %v", err)
	}
	atEnd(k.t, func() { _ = sim.Stop(context.Background()) })
	k.routers = sim
	return k
}

// simAddress gives the tunnel address of the i-th simulated router.
func simAddress(i int) string { return fmt.Sprintf("10.99.200.%d", i+2) }

// register registers the i-th simulated router for acme.
func (k *kit) register(i int) simRouter {
	k.t.Helper()
	address := simAddress(i)
	r := simRouter{Router: k.routers.Routers()[i], address: address}
	port := 80
	if strings.HasPrefix(r.Summary().Version, "7.6") {
		port = 443 // this release has REST over HTTPS only
	}
	made := k.must(k.admin, "POST", "/nas/devices", map[string]any{
		"name": r.Name(), "ipAddress": "203.0.113.20", "radiusSecret": "radiussecret", "apiUsername": "admin",
		"apiPassword": routerPassword, "apiPort": port, "managementAddress": address,
	})
	r.device = made.text("id")
	return r
}

// service makes a service and waits until it is active.
func (k *kit) service(r simRouter, body map[string]any) string {
	k.t.Helper()
	service := k.must(k.admin, "POST", "/nas/devices/"+r.device+"/services", body).text("id")
	k.serviceIs(service, "active")
	return service
}

// serviceIs waits until a service is in a state.
func (k *kit) serviceIs(service, state string) {
	k.t.Helper()
	var last answer
	k.eventually("service to be "+state, func(ctx context.Context) (bool, error) {
		var err error
		last, err = k.admin.call(ctx, "GET", "/nas/services/"+service, "", nil)
		if err == nil && last.text("state") != state {
			err = fmt.Errorf("it is %v", last)
		}
		return last.text("state") == state, err
	})
}

// foreign gives the operator's part of a router's configuration: everything without the platform's mark.
func foreign(r simRouter) router.Snapshot {
	return r.Snapshot(false).Without(func(_ string, item router.Item) bool {
		return strings.HasPrefix(item["comment"], "Platform-svc:") || strings.Contains(item["name"], "-svc-") ||
			item["comment"] == "Platform-fw:garden-allowed"
	})
}

// TestStory_RouterIsRegisteredServedDriftsAndIsRepaired is the main job of an engineer, over all releases and both
// protocols.
func TestStory_RouterIsRegisteredServedDriftsAndIsRepaired(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DRIFT_CHECK_INTERVAL=1s", "FLEET_POLL_INTERVAL=1s").withRouters(routerVersions...).start().signIn()
	for i := range routerVersions {
		r := k.register(i)
		before := foreign(r)
		ping := k.must(k.admin, "POST", "/nas/devices/"+r.device+"/ping", nil)
		if ping["reachable"] != true || ping["error"] != nil {
			t.Fatalf("%s: ping %v", r.Summary().Version, ping)
		}
		pppoe := k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether4"})
		hotspot := k.service(r, map[string]any{
			"type": "hotspot", "parentInterface": "ether5", "walledGarden": map[string]any{
				"domains": []string{"*.example.com", "pay.example.org"}, "addresses": []string{"198.51.100.7"}},
		})
		management := k.service(r, map[string]any{"type": "cpe-management", "parentInterface": "ether5", "vlanId": 20})
		for _, s := range []string{pppoe, hotspot, management} {
			if diff := k.must(k.admin, "GET", "/nas/services/"+s+"/diff", nil); diff["inSync"] != true {
				t.Errorf("%s: diff after apply: %v", r.Summary().Version, diff)
			}
		}
		k.driftsAndIsRepaired(r, pppoe)
		k.isPolledAndTold(r, pppoe)
		for _, s := range []string{pppoe, hotspot, management} {
			k.must(k.admin, "DELETE", "/nas/services/"+s, nil)
			k.refused(k.admin, "GET /nas/services/"+s, nil, 404, "service_not_found")
		}
		if diff := cmp.Diff(before, foreign(r)); diff != "" {
			t.Errorf("%s: foreign configuration (-before +after):\n%s", r.Summary().Version, diff)
		}
		if left := platformItems(r); len(left) != 0 {
			t.Errorf("%s: left on the router: %v", r.Summary().Version, left)
		}
	}
}

// isPolledAndTold fails unless a router has its newest poll, and the history of a service names who asked for it.
func (k *kit) isPolledAndTold(r simRouter, service string) {
	k.t.Helper()
	k.eventually("a poll", func(ctx context.Context) (bool, error) {
		device, err := k.admin.call(ctx, "GET", "/nas/devices/"+r.device, "", nil)
		poll, _ := device["poll"].(map[string]any)
		return poll["reachable"] == true, err
	})
	rows := k.must(k.admin, "GET", "/nas/services/"+service+"/history?limit=100", nil).list("data")
	first := rows[len(rows)-1]
	actor, _ := first["actor"].(map[string]any)
	if name, _ := actor["name"].(string); first.text("kind") != "requested" || name == "" {
		k.t.Errorf("the history begins with %v", first)
	}
}

// platformItems lists the rows of a router that bear the platform's mark.
func platformItems(r simRouter) (items []string) {
	for menu, list := range r.Snapshot(false) {
		for _, item := range list {
			if strings.HasPrefix(item["comment"], "Platform-svc:") || strings.Contains(item["name"], "-svc-") {
				items = append(items, menu+" "+fmt.Sprint(slices.Sorted(maps.Values(item))))
			}
		}
	}
	return items
}

// driftsAndIsRepaired lets somebody change a service's pool by hand.
func (k *kit) driftsAndIsRepaired(r simRouter, service string) {
	k.t.Helper()
	slug := service[:8]
	pools := r.Snapshot(false)["ip/pool"]
	at := slices.IndexFunc(pools, func(p router.Item) bool { return p["name"] == "pool-svc-"+slug })
	if at < 0 {
		k.t.Fatalf("no pool of service %s in %v", slug, pools)
	}
	if _, err := r.Do("ip/pool", "set",
		router.Item{".id": pools[at][".id"], "ranges": "10.50.77.2-10.50.77.9"}); err != nil {
		k.t.Fatalf("edit pool: %v", err)
	}
	k.serviceIs(service, "degraded")
	shown := k.must(k.admin, "GET", "/nas/devices/"+r.device+"/drift", nil)
	if list := shown.list("resources"); shown["inSync"] != false || len(list) != 1 ||
		list[0].text("kind") != "changed" || list[0].text("path") != "ip/pool" {
		k.t.Errorf("drift: %v", shown)
	}
	writes := r.Writes()
	repaired := k.must(k.admin, "POST", "/nas/services/"+service+"/reconcile", nil)
	if repaired.text("state") != "active" || r.Writes() != writes+1 {
		k.t.Errorf("repaired with %d writes: %v", r.Writes()-writes, repaired)
	}
	messages := k.must(k.admin, "GET", "/outbox?after=0", nil).list("data")
	var mine int
	for _, m := range messages {
		data, _ := m["data"].(map[string]any)
		if m.text("type") == "nas.service.drift_detected" && data["serviceId"] == service {
			mine++
		}
	}
	if mine != 1 {
		text, _ := json.Marshal(messages)
		k.t.Errorf("%d messages of one drift: %s", mine, text)
	}
}
