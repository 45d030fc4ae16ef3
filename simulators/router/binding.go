package router

import (
	"cmp"
	"fmt"
)

// bindingMenu has the devices that a hotspot treats without a login: bypassed ones pass, blocked ones do not.
func bindingMenu(server prop) menu {
	return menu{
		path: "ip/hotspot/ip-binding", comment: true, ordered: true,
		props: []prop{
			{name: "address", check: prefix}, {name: "mac-address", check: hardware},
			{name: "to-address", check: address}, server,
			{name: "type", def: "regular", check: oneOf("regular", "bypassed", "blocked"), fixed: true}, onByDefault,
		},
		changed: func(r *Router, w *row, _ Item) { r.dropOwned(w) },
	}
}

// bound treats a device as the first IP binding for it says: it gives the host of a device that needs no login, and
// fails for a blocked one. nil, nil is for a device that must log in.
func (r *Router) bound(s *Session, server *row) (*row, error) {
	for _, w := range r.tableOf("ip/hotspot/ip-binding").rows {
		at, mac, ip := w.props["server"], w.props["mac-address"], w.props["address"]
		switch {
		case w.props["disabled"] == "true", at != "" && at != "all" && at != server.name():
			continue
		case mac == "" && ip == "", mac != "" && mac != s.MAC, ip != "" && ip != s.Address && ip != s.Address+"/32":
			continue
		case w.props["type"] == "blocked":
			return nil, fmt.Errorf("device %s is blocked by an IP binding", s.MAC)
		}
		s.Address = cmp.Or(w.props["to-address"], s.Address)
		if w.props["type"] != "bypassed" {
			return nil, nil
		}
		if err := r.host(s, server); err != nil {
			return nil, err
		}
		host := r.insert("ip/hotspot/host", &row{
			dynamic: true, owner: w, props: Item{
				"mac-address": s.MAC, "address": s.Address, "to-address": s.Address, "server": server.name(),
				"authorized": "false", "bypassed": "true",
			},
		})
		r.trickle(host, *s)
		return host, nil
	}
	return nil, nil
}
