package networkjobs

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// shownError gives a router's error as the API answers it: unreachable with the reason, a refusal in the router's own
// words.
func shownError(err error) error {
	if failure.KindOf(err) != failure.Unavailable || failure.CodeOf(err) != "device_unreachable" {
		return err
	}
	return failure.NewUnavailable("device_unreachable", messageOf(err), 0, err)
}

// ask opens a router and calls read with it. Fails: device_not_found, device_unreachable, router_refused.
func ask[T any](
	ctx context.Context, w *Workers, device id.Device, read func(ctx context.Context, r router) (T, error),
) (T, error) {
	r, err := w.open(ctx, device)
	if err != nil {
		var none T
		return none, shownError(err)
	}
	out, err := read(ctx, r)
	return out, shownError(err)
}

// Resource reads a router's load from system/resource.
func (w *Workers) Resource(ctx context.Context, device id.Device) (networkviews.LiveResource, error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) (networkviews.LiveResource, error) {
		item, err := r.resource(ctx)
		return loadOf(item), err
	})
}

// Interfaces reads the interfaces that a service can be placed on, in groups, with the reason why one is reserved.
func (w *Workers) Interfaces(ctx context.Context, device id.Device) ([]networkviews.LiveInterfaces, error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) ([]networkviews.LiveInterfaces, error) {
		snapshot, err := r.survey(ctx, routerplan.PickerMenus())
		if err != nil {
			return nil, err
		}
		rows := map[string]routerplan.Row{}
		for _, row := range snapshot[routerplan.MenuInterface] {
			rows[row["name"]] = row
		}
		var groups []networkviews.LiveInterfaces
		for _, g := range routerplan.Picker(snapshot) {
			group := networkviews.LiveInterfaces{Name: g.Name}
			for _, o := range g.Options {
				shown := interfaceOf(rows[o.Name])
				shown.Name, shown.Reserved = o.Name, o.Reserved
				shown.Reason, shown.Warning = obstacleOf(o.Reason), obstacleOf(o.Warning)
				group.Options = append(group.Options, shown)
			}
			groups = append(groups, group)
		}
		return groups, nil
	})
}

// obstacleOf shows an obstacle, with its English words.
func obstacleOf(o routerplan.Obstacle) networkviews.LiveObstacle {
	return networkviews.LiveObstacle{Code: o.Code, Of: o.Of, Text: o.String()}
}

// interfaceOf reads a row of the menu interface. The MTU in use is preferred, because the configured one may be "auto".
func interfaceOf(row routerplan.Row) networkviews.LiveInterface {
	mtu := number(row["actual-mtu"])
	if mtu == 0 {
		mtu = number(row["mtu"])
	}
	return networkviews.LiveInterface{
		Name: row["name"], Type: row["type"], Running: row["running"] == "true", Disabled: row["disabled"] == "true",
		Comment: row["comment"], RxBytes: number(row["rx-byte"]), TxBytes: number(row["tx-byte"]),
		RxPackets: number(row["rx-packet"]), TxPackets: number(row["tx-packet"]), LinkDowns: number(row["link-downs"]),
		MTU: mtu,
	}
}

// Sessions reads the customers that are online: PPP first, then hotspot.
func (w *Workers) Sessions(ctx context.Context, device id.Device) ([]networkviews.LiveSession, error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) ([]networkviews.LiveSession, error) {
		snapshot, err := r.read(ctx, []string{routerplan.MenuPPPActive, routerplan.MenuHotspotActive})
		if err != nil {
			return nil, err
		}
		var out []networkviews.LiveSession
		for _, s := range snapshot[routerplan.MenuPPPActive] {
			uptime, _ := routerplan.ParseDuration(s["uptime"])
			out = append(out, networkviews.LiveSession{
				ID: s[".id"], Kind: "ppp", User: s["name"], Service: s["service"], CallerID: s["caller-id"],
				Address: s["address"], UptimeSeconds: int64(uptime.Seconds()), Encoding: s["encoding"],
				Radius: s["radius"] == "true",
			})
		}
		for _, s := range snapshot[routerplan.MenuHotspotActive] {
			uptime, _ := routerplan.ParseDuration(s["uptime"])
			out = append(out, networkviews.LiveSession{
				ID: s[".id"], Kind: "hotspot", User: s["user"], Service: s["server"], CallerID: s["mac-address"],
				Address: s["address"], UptimeSeconds: int64(uptime.Seconds()), Radius: s["radius"] == "true",
			})
		}
		return out, nil
	})
}

// Leases reads DHCP leases. Values in use now (active-…) are preferred to the values that are reserved.
func (w *Workers) Leases(ctx context.Context, device id.Device) ([]networkviews.LiveLease, error) {
	return list(ctx, w, device, "ip/dhcp-server/lease", func(l routeros.Item) networkviews.LiveLease {
		first := func(names ...string) string {
			for _, name := range names {
				if l[name] != "" {
					return l[name]
				}
			}
			return ""
		}
		return networkviews.LiveLease{
			ID:      l.ID(),
			Address: first("active-address", "address"), MACAddress: first("active-mac-address", "mac-address"),
			HostName: l["host-name"], Status: l["status"], Server: first("active-server", "server"),
			ExpiresAfter: l["expires-after"], Dynamic: l["dynamic"] == "true",
		}
	})
}

// Queues reads simple queues, the dynamic ones of PPP and hotspot sessions included.
func (w *Workers) Queues(ctx context.Context, device id.Device) ([]networkviews.LiveQueue, error) {
	return list(ctx, w, device, "queue/simple", func(q routeros.Item) networkviews.LiveQueue {
		return networkviews.LiveQueue{
			ID:   q.ID(),
			Name: q["name"], Target: q["target"], MaxLimit: q["max-limit"], BurstLimit: q["burst-limit"],
			Dynamic: q["dynamic"] == "true", Disabled: q["disabled"] == "true",
		}
	})
}

// Customers reads the users that a router itself knows, with their passwords, and their profiles. Who may have them is
// the caller's to check and to record. Fails: device_not_found, device_unreachable, router_refused.
func (w *Workers) Customers(ctx context.Context, device id.Device) (routerplan.Customers, error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) (routerplan.Customers, error) {
		snapshot, err := r.parts(ctx, routerplan.CustomerReads())
		return routerplan.CustomersOf(snapshot), err
	})
}

// list reads a whole menu and converts each item with show.
func list[T any](
	ctx context.Context, w *Workers, device id.Device, menu string, show func(routeros.Item) T,
) ([]T, error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) ([]T, error) {
		items, err := r.Print(ctx, menu, routeros.Query{})
		out := make([]T, 0, len(items))
		for _, item := range items {
			out = append(out, show(item))
		}
		return out, err
	})
}

// AffectedSessions counts the customers that are online through a service.
func (w *Workers) AffectedSessions(ctx context.Context, service id.Service) (int, error) {
	row, err := w.service(ctx, service)
	if err != nil {
		return 0, err
	}
	return ask(ctx, w, row.DeviceID, func(ctx context.Context, r router) (int, error) {
		snapshot, err := r.read(ctx, routerplan.SessionMenus())
		if err != nil {
			return 0, err
		}
		s := routerplan.Service{
			ID: row.ID, Binding: row.Binding, Addressing: row.Addressing, WalledGarden: row.WalledGarden,
		}
		return routerplan.Sessions(snapshot, s), nil
	})
}

// service reads a service from the read model. Fails: service_not_found, also when it was removed.
func (w *Workers) service(ctx context.Context, service id.Service) (networkviews.ServiceRow, error) {
	row, err := w.services.Any(ctx, service)
	if err == nil && (row == nil || row.RemovedAt != nil) {
		err = commands.ErrNoService()
	}
	if err != nil {
		return networkviews.ServiceRow{}, err
	}
	return *row, nil
}

// Diff compares a router with one service, at once and without recording anything.
func (w *Workers) Diff(ctx context.Context, service id.Service) (networkviews.LiveDiff, error) {
	row, err := w.service(ctx, service)
	if err != nil {
		return networkviews.LiveDiff{}, err
	}
	return ask(ctx, w, row.DeviceID, func(ctx context.Context, r router) (networkviews.LiveDiff, error) {
		version, err := r.version(ctx)
		if err != nil {
			return networkviews.LiveDiff{}, err
		}
		snapshot, err := r.read(ctx, routerplan.ServiceMenus())
		if err != nil {
			return networkviews.LiveDiff{}, err
		}
		wanted, err := w.wanted(ctx, row)
		return liveDiff(routerplan.CompareService(snapshot, wanted, version)), err
	})
}

// liveDiff gives a difference in the form of the API.
func liveDiff(d routerplan.Diff) networkviews.LiveDiff {
	return networkviews.LiveDiff{Resources: d.Resources(), Hash: d.Hash()}
}

// Drift compares a router with all its services, orphans included, and records nothing.
func (w *Workers) Drift(ctx context.Context, device id.Device) (networkviews.LiveDiff, error) {
	rows, err := w.services.OfDevice(ctx, device)
	if err != nil {
		return networkviews.LiveDiff{}, err
	}
	return ask(ctx, w, device, func(ctx context.Context, r router) (networkviews.LiveDiff, error) {
		former, err := w.services.Former(ctx, r.row.OrgID)
		if err != nil {
			return networkviews.LiveDiff{}, err
		}
		d, err := w.drift(ctx, r, rows, former)
		return liveDiff(d), err
	})
}

// FirewallDrift compares the platform's firewall rules with those on the router, order included, and records nothing.
func (w *Workers) FirewallDrift(ctx context.Context, device id.Device) (networkviews.LiveDiff, error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) (networkviews.LiveDiff, error) {
		rules, err := w.firewallOf(ctx, r.row)
		if err != nil {
			return networkviews.LiveDiff{}, err
		}
		snapshot, err := r.read(ctx, routerplan.FirewallMenus(rules))
		return liveDiff(routerplan.CompareFirewall(snapshot, rules)), err
	})
}
