package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/httpapi/network"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// demoRouterPassword is the password of the user admin on every simulated router of the demo.
const demoRouterPassword = "demo-router"

// demoRouter is one router of the demo ISP. The last one is not registered: people who try the demo register it.
type demoRouter struct {
	name, version, address string
	port                   int // the apiPort at the registration: 80 for REST, or that of the API protocol
	services               []map[string]any
	// customers are the parts of the town whose customers have a device that dials through the service, and beside them
	// some by their usernames. Those who may not be online are refused again and again.
	customers []string
	off       bool // it has no power at the present, and is in a demo with a year only
	// former are users whom the router knows by itself, from the time before Lastmile: for an import.
	former []router.Edit
}

// formerLine is a customer of the time before, known to a router by a PPP secret.
func formerLine(name, profile, comment string, more router.Item) router.Edit {
	args := router.Item{
		"name": name, "password": demoLogin(name), "profile": profile, "service": "pppoe", "comment": comment,
	}
	maps.Copy(args, more)
	return router.Edit{Menu: "ppp/secret", Command: "add", Args: args}
}

// formerGuest is a customer of the time before, known to a hotspot.
func formerGuest(name, comment string) router.Edit {
	return router.Edit{Menu: "ip/hotspot/user", Command: "add", Args: router.Item{
		"name": name, "password": demoLogin(name), "profile": "lodgers", "comment": comment,
	}}
}

// formerLines are those of tower-north, as they are found at an ISP that kept its books on the router.
var formerLines = []router.Edit{
	{Menu: "ppp/profile", Command: "add", Args: router.Item{"name": "Old 5M", "rate-limit": "2M/5M"}},
	{Menu: "ppp/profile", Command: "add", Args: router.Item{
		"name": "Old 10M", "rate-limit": "5M/10M 10M/20M 4M/8M 16/16 6",
	}},
	{Menu: "ppp/profile", Command: "add", Args: router.Item{"name": "Friends"}},
	formerLine("juma.kit", "Old 5M", "Juma Kitui 0722 000 501", nil),
	formerLine("salma", "Old 10M", "Salma Hassan +254722000502", router.Item{"remote-address": "10.77.0.12"}),
	formerLine("mwangi.shop", "Old 10M", "Mwangi's shop, 0722-000-503", router.Item{"caller-id": "02:00:5E:10:00:03"}),
	formerLine("Grace", "Old 5M", "Grace Wanjiru", nil),
	formerLine("grace", "Friends", "Grace, the teacher 0722000505", nil),
	formerLine("0722000506", "Old 5M", "", nil),
	formerLine("kamau", "Old 5M", "Kamau, moved away 0722000507", router.Item{"disabled": "yes"}),
	formerLine("branch-office", "default", "tunnel of the branch", router.Item{"service": "l2tp"}),
}

// formerGuests are those of market-square.
var formerGuests = []router.Edit{
	{Menu: "ip/hotspot/user/profile", Command: "add", Args: router.Item{"name": "lodgers", "rate-limit": "1M/3M"}},
	formerGuest("room1", "Asha Omar 0722000511"),
	formerGuest("room2", "Peter Otieno 0722000512"),
}

// demoRouters has routers of three releases; between them both protocols are used. All are new enough to sign their
// RADIUS requests, which the server demands of routers that share an address.
var demoRouters = []demoRouter{
	{
		name: "hill-east", version: "7.16", address: "10.99.250.6", port: 80, off: true,
		customers: []string{"east"}, services: []map[string]any{{"type": "pppoe", "parentInterface": "ether4"}},
	},
	{
		name: "tower-north", version: "7.16", address: "10.99.250.2", port: 80, former: formerLines,
		customers: []string{"north", "fig", "lantana", "mvule", "sandalwood", "mkungu"}, services: []map[string]any{
			{"type": "pppoe", "parentInterface": "ether4"},
			{"type": "cpe-management", "parentInterface": "ether4", "vlanId": 20},
		},
	},
	{
		name: "market-square", version: "7.20.5", address: "10.99.250.3", port: 8728, former: formerGuests,
		customers: []string{"ebony", "mihogo", "orchid"}, services: []map[string]any{
			{
				"type": "hotspot", "parentInterface": "ether4", "walledGarden": map[string]any{
					"domains": []string{"*.example.com"}, "addresses": []string{"198.51.100.7"},
				},
			},
		},
	},
	{
		name: "lodge-south", version: "7.23.7", address: "10.99.250.4", port: 80,
		customers: []string{"south", "grevillea"},
		services: []map[string]any{
			{"type": "pppoe", "parentInterface": "sfp1"},
		},
	},
	{name: "spare", version: "7.16", address: "10.99.250.5", port: 80},
}

// routersOfDemo are the routers of a demo, the spare one last, behind the one that has drifted.
func routersOfDemo(noYear bool) []demoRouter {
	list := slices.Clone(demoRouters)
	return slices.DeleteFunc(list, func(d demoRouter) bool { return noYear && d.off })
}

// demoCoAPort is the first port on this machine at which the demo's routers take requests to change and to end
// sessions. Each has the next one.
const demoCoAPort = 3799

// startRouters starts the demo's routers, whose customers sign in at server. The dial function reaches them at their
// tunnel addresses; any other address is dialled as usual. When a port is taken, all are free ones.
func startRouters(
	ctx context.Context, c clock.Clock, server *demoRADIUS, list []demoRouter,
) (*router.Simulator, routeros.DialFunc, error) {
	cfg := router.Config{Addr: "127.0.0.1:8091", Clock: c}
	for i, d := range list {
		cfg.Routers = append(cfg.Routers, router.RouterConfig{
			Name: d.name, Version: d.version, Password: demoRouterPassword, Tunnel: netip.MustParseAddr(d.address),
			RADIUS: server.at, CoAPort: uint16(demoCoAPort + i),
		})
	}
	sim, err := router.New(cfg)
	if err != nil {
		return nil, nil, err
	}
	if err := sim.Start(context.WithoutCancel(ctx)); err != nil {
		cfg.Addr = ""
		for i := range cfg.Routers {
			cfg.Routers[i].CoAPort = 0
		}
		if sim, err = router.New(cfg); err != nil {
			return nil, nil, err
		}
		if err := sim.Start(context.WithoutCancel(ctx)); err != nil {
			return nil, nil, err
		}
	}
	machine := &net.Dialer{}
	return sim, func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, _ := net.SplitHostPort(address)
		if slices.ContainsFunc(list, func(d demoRouter) bool { return d.address == host }) {
			return sim.Dial(ctx, network, address)
		}
		return machine.DialContext(ctx, network, address)
	}, nil
}

// makeRouters registers all routers but the spare one, and makes their services. All speak RADIUS from this machine's
// address, so they are told apart by their secrets.
func (s *demoSeed) makeRouters(ctx context.Context) error {
	for i, d := range s.routers {
		if len(d.services) == 0 {
			continue
		}
		device, err := s.admin.call(ctx, http.MethodPost, "/nas/devices", "demo-router-"+d.name, map[string]any{
			"name": d.name, "ipAddress": "127.0.0.1", "radiusSecret": demoRadiusSecret(d.name), "apiUsername": "admin",
			"apiPassword": demoRouterPassword, "apiPort": d.port, "managementAddress": d.address,
			"coaPort": demoCoAPort + i,
		})
		if err != nil {
			return err
		}
		for i, service := range d.services {
			key := fmt.Sprintf("demo-service-%s-%d", d.name, i)
			if _, err := s.admin.call(ctx, http.MethodPost, "/nas/devices/"+device.text("id")+"/services", key,
				service); err != nil {
				return err
			}
		}
	}
	return nil
}

// plugRouters brings the simulated routers, which begin empty at every start, in line with what is registered, and
// connects the customers. With troubles, somebody then changes a pool by hand, which is the drift that the demo shows,
// and a router loses its power.
func (s *demoSeed) plugRouters(ctx context.Context, sim *router.Simulator, troubles bool) error {
	devices, err := s.admin.call(ctx, http.MethodGet, "/nas/devices?limit=100", "", nil)
	if err != nil {
		return err
	}
	for _, device := range devices.list("data") {
		at := slices.IndexFunc(s.routers, func(d demoRouter) bool { return d.name == device.text("name") })
		r := sim.Router(device.text("name"))
		if at < 0 || r == nil {
			continue
		}
		if err := s.plugRouter(ctx, s.routers[at], device, r); err != nil {
			return err
		}
	}
	if !troubles {
		return nil
	}
	s.cutPower(sim)
	return s.drift(sim)
}

// cutPower takes the power of a router away.
func (s *demoSeed) cutPower(sim *router.Simulator) {
	for _, d := range s.routers {
		if d.off {
			sim.Router(d.name).SetPower(false)
		}
	}
}

// drift lets somebody change the last router before the spare one by hand.
func (s *demoSeed) drift(sim *router.Simulator) error {
	return driftByHand(sim.Router(s.routers[len(s.routers)-2].name))
}

// plugRouter brings one simulated router in line and connects its customers.
func (s *demoSeed) plugRouter(ctx context.Context, d demoRouter, device answer, r *router.Router) error {
	path := "/nas/devices/" + device.text("id")
	port := r.Handsets().CoAAddr().Port()
	if now, _ := device["coaPort"].(float64); now != float64(port) {
		if _, err := s.admin.call(ctx, http.MethodPatch, path, "", map[string]any{"coaPort": port}); err != nil {
			return err
		}
	}
	if err := s.pasteScript(ctx, path, r); err != nil {
		return err
	}
	for _, e := range d.former {
		if _, err := r.Do(e.Menu, e.Command, e.Args); err != nil {
			return fmt.Errorf("%s of %s: %w", e.Menu, d.name, err)
		}
	}
	if _, err := s.admin.call(ctx, http.MethodPost, path+"/reconcile", "", nil); err != nil {
		s.app.logger.WarnContext(ctx, "a simulated router is not in line", "error", err)
		return nil // somebody has deleted or changed it
	}
	services, err := s.admin.call(ctx, http.MethodGet, path+"/services", "", nil)
	if err != nil {
		return err
	}
	for _, service := range services.list("data") {
		if err := s.switchOnCustomers(r, d, service); err != nil {
			return err
		}
	}
	return nil
}

// pasteScript gets a router's bootstrap script and runs it on the simulated router, as an engineer would.
func (s *demoSeed) pasteScript(ctx context.Context, path string, r *router.Router) error {
	script, err := s.admin.text(ctx, path+"/bootstrap-script")
	if err != nil {
		return err
	}
	r.Paste(script)
	_, err = s.admin.call(ctx, http.MethodPost, reportOf(script), "", nil)
	return err
}

// reportOf gives the path at which a bootstrap script reports, because simulated routers have no /tool fetch.
func reportOf(script string) string {
	_, after, _ := strings.Cut(script, networkapi.BootstrapPath)
	path, _, _ := strings.Cut(after, " ")
	return networkapi.BootstrapPath + strings.TrimRight(path, `\"`)
}

// demoLoad is the share of their rate that the demo's customers use at most.
const demoLoad = 0.1

// load is the share of the rate that a customer uses: of customers with a past, some use little.
func (c demoCustomer) load() float64 {
	if c.since == 0 {
		return demoLoad
	}
	return demoLoad * (0.1 + 0.9*chance(c.first+" surfs", 0).Float64())
}

// switchOnCustomers plugs the devices of customers in, which dial until the end. Services without sessions are passed
// over.
func (s *demoSeed) switchOnCustomers(r *router.Router, d demoRouter, service answer) error {
	kinds := map[string][2]string{"pppoe": {handset.PPPoE, "pppoe-svc-"}, "hotspot": {handset.Hotspot, "hs-svc-"}}
	kind, has := kinds[service.text("type")]
	if !has {
		return nil
	}
	for _, c := range s.customers {
		if !slices.Contains(d.customers, c.tag) && !slices.Contains(d.customers, c.user()) {
			continue
		}
		if err := r.SwitchOn(c.user(), handset.Customer{
			Service: kind[0], Server: kind[1] + service.text("slug"), Password: demoLogin(c.user()), Load: c.load(),
		}); err != nil {
			return err
		}
	}
	return nil
}

// driftByHand changes a pool on the router, as somebody at its console would.
func driftByHand(r *router.Router) error {
	for _, pool := range r.Snapshot(false)["ip/pool"] {
		if len(pool["name"]) > 9 && pool["name"][:9] == "pool-svc-" {
			_, err := r.Do("ip/pool", "set", router.Item{".id": pool[".id"], "ranges": "10.50.200.10-10.50.200.20"})
			return err
		}
	}
	return nil
}
