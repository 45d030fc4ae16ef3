package networkjobs

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// mostPorts bounds the ports of one router whose speed is asked for: each is a round trip.
const mostPorts = 32

// Observe reads what a router shows about the customers who are online, some columns of thirteen menus, and the speed
// of the ports of customers. It writes nothing. A router that answers not at all, or not in time, gives an error and no
// part of it. Fails: device_not_found, device_unreachable, router_refused.
func (w *Workers) Observe(ctx context.Context, device id.Device) (routerplan.Observed, error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) (routerplan.Observed, error) {
		return r.observe(ctx, w.home(r))
	})
}

// home is how a router and the platform's RADIUS server reach each other.
func (w *Workers) home(r router) routerplan.Home {
	home := r.home()
	home.Server = w.cfg.Script.RadiusHost
	return home
}

// SignIns reads which sign-ins a router takes to the platform, of one whose reports come: its RADIUS client leads here
// whatever its address. Fails: device_not_found, device_unreachable, router_refused.
func (w *Workers) SignIns(ctx context.Context, device id.Device) (routerplan.SignIns, error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) (routerplan.SignIns, error) {
		snapshot, err := r.parts(ctx, routerplan.SignInReads())
		return routerplan.SignInsOf(snapshot, r.home()), err
	})
}

// home is how a router whose reports come and the platform's RADIUS server reach each other.
func (r router) home() routerplan.Home {
	return routerplan.Home{Tunnel: r.row.TunnelAddress, Address: r.row.Details.IPAddress}
}

// parts reads parts of menus.
func (r router) parts(ctx context.Context, reads []routerplan.Read) (routerplan.Snapshot, error) {
	snapshot := routerplan.Snapshot{}
	for _, read := range reads {
		items, err := r.Print(ctx, read.Menu, routeros.Query{Where: read.Where, Props: read.Props})
		if routeros.IsUnknownMenu(err) {
			items, err = nil, nil // a package that this router does not have: nothing is there
		}
		if err != nil {
			return nil, &at{path: read.Menu, err: err}
		}
		snapshot[read.Menu] = rowsOf(items)
	}
	return snapshot, nil
}

// observe is Observe of an open router.
func (r router) observe(ctx context.Context, home routerplan.Home) (routerplan.Observed, error) {
	snapshot, err := r.parts(ctx, routerplan.ObserveReads())
	if err != nil {
		return routerplan.Observed{}, err
	}
	snapshot[routerplan.MenuEthernetLink], err = r.links(ctx, snapshot)
	return routerplan.Observe(snapshot, home), err
}

// links asks for the speed of the ports of customers. A router that refuses to tell it is believed to be fast enough.
func (r router) links(ctx context.Context, s routerplan.Snapshot) ([]routerplan.Row, error) {
	var ports []string
	for _, port := range routerplan.ServerPorts(s) {
		if !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	slices.Sort(ports)
	var rows []routerplan.Row
	for _, port := range ports[:min(len(ports), mostPorts)] {
		items, err := r.Run(ctx, routerplan.MenuEthernet, "monitor", map[string]string{"numbers": port, "once": ""})
		switch {
		case failure.KindOf(err) == failure.Refused, failure.KindOf(err) == failure.Denied:
			return rows, nil
		case err != nil:
			return nil, &at{path: routerplan.MenuEthernetLink, err: err}
		}
		for _, item := range items {
			rows = append(rows, routerplan.Row{"name": port, "rate": item["rate"]})
		}
	}
	return rows, nil
}

// LocalLogin names what lets a device in without RADIUS, or a session that the router has and nobody knows.
type LocalLogin struct {
	Session OnlineSession
	Local   bool   // a secret, user or binding of the router lets it in, which is to be switched off
	Bypass  bool   // it is an ip-binding of the hotspot
	MAC     string // of the device
}

// LocalWrite is one write that takes a local login away. Names and values say nothing about a customer.
type LocalWrite struct {
	Path, Operation, ID string
	Before, After       map[string]string
}

// PlanLocal lists the writes that take a local login away: what lets the device in is disabled, and its session is
// removed. Nothing is listed when nothing is there any more.
func (w *Workers) PlanLocal(ctx context.Context, device id.Device, l LocalLogin) ([]LocalWrite, error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) ([]LocalWrite, error) {
		return r.planLocal(ctx, l)
	})
}

// planLocal is PlanLocal of an open router.
func (r router) planLocal(ctx context.Context, l LocalLogin) ([]LocalWrite, error) {
	var steps []LocalWrite
	if l.Local {
		menu, where := l.origin()
		rows, err := r.Print(ctx, menu, routeros.Query{Where: where})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if l.lets(row) && !routerplan.SameValue("disabled", row["disabled"], "yes") {
				steps = append(steps, LocalWrite{
					Path: menu, Operation: "set", ID: row.ID(), Before: map[string]string{"disabled": "no"},
					After: map[string]string{"disabled": "yes"},
				})
			}
		}
	}
	menu, _ := l.Session.menu()
	list := sessionRows
	if l.Bypass {
		menu, list = routerplan.MenuHotspotHost, l.hosts
	}
	rows, err := list(ctx, r, l.Session)
	for _, row := range rows {
		steps = append(steps, LocalWrite{
			Path: menu, Operation: "remove", ID: row.ID(), Before: map[string]string{
				"radius": strconv.FormatBool(routerplan.SameValue("radius", row["radius"], "yes")),
			},
		})
	}
	return steps, err
}

// origin is where the router has what lets a device in.
func (l LocalLogin) origin() (menu string, where map[string]string) {
	switch {
	case l.Bypass:
		return "ip/hotspot/ip-binding", map[string]string{"type": "bypassed"}
	case l.Session.Hotspot:
		return routerplan.MenuHotspotUser, map[string]string{"name": l.Session.User}
	}
	return routerplan.MenuPPPSecret, map[string]string{"name": l.Session.User}
}

// hosts reads the rows of a device that passes without a login.
func (l LocalLogin) hosts(ctx context.Context, r router, _ OnlineSession) ([]routeros.Item, error) {
	rows, err := r.Print(ctx, routerplan.MenuHotspotHost, routeros.Query{Where: map[string]string{"bypassed": "true"}})
	return slices.DeleteFunc(rows, func(row routeros.Item) bool {
		if l.MAC == "" {
			return l.Session.Address == "" || row["address"] != l.Session.Address
		}
		return !strings.EqualFold(row["mac-address"], l.MAC)
	}), err
}

// lets reports whether a row lets the device in: a secret and a user by their name, a binding by MAC, address, or both.
// A router may give more rows than it was asked for.
func (l LocalLogin) lets(row routeros.Item) bool {
	if !l.Bypass {
		return l.Session.User != "" && row["name"] == l.Session.User
	}
	mac, address := row["mac-address"], row["address"]
	return (mac != "" || address != "") && (mac == "" || strings.EqualFold(mac, l.MAC)) &&
		(address == "" || address == l.Session.Address || address == l.Session.Address+"/32")
}

// WriteLocal makes one write that PlanLocal has listed. It reports false when the item is gone already.
func (w *Workers) WriteLocal(ctx context.Context, device id.Device, step LocalWrite) (written bool, err error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) (bool, error) {
		var err error
		if step.Operation == "remove" {
			err = r.Remove(ctx, step.Path, step.ID)
		} else {
			err = r.Set(ctx, step.Path, step.ID, step.After)
		}
		if routeros.IsMissing(err) {
			return false, nil
		}
		return err == nil, err
	})
}
