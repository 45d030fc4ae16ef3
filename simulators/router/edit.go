package router

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// Do runs a console command with all rights, like an operator with Winbox: checked like any other, but without
// faults and not counted as a write. It gives the items printed, or one with the returned value under "ret".
func (r *Router) Do(menu, command string, args Item) ([]Item, error) {
	r.lock()
	defer r.unlock()
	given := Item{}
	maps.Copy(given, args)
	return r.perform(call{
		menu: strings.ReplaceAll(strings.Trim(menu, "/"), " ", "/"), command: command, args: given,
	})
}

// perform runs a command and gives the items printed, or one with the returned value under "ret". The lock is held.
func (r *Router) perform(c call) ([]Item, error) {
	out, trap := r.run(c)
	switch {
	case trap != nil:
		return nil, trap
	case out.ret != nil:
		return []Item{{"ret": *out.ret}}, nil
	}
	return out.rows, nil
}

// Snapshot is the configuration by menu, in order, with ids and without computed state.
type Snapshot map[string][]Item

// Snapshot copies the configuration; dynamic items are included on request only.
func (r *Router) Snapshot(dynamic bool) Snapshot {
	r.lock()
	defer r.unlock()
	out := Snapshot{}
	for path, m := range r.menus {
		if m.path == "interface" || m.table == "interface" && m.kind == "" {
			continue
		}
		for _, w := range r.rowsOf(m) {
			if w.dynamic && !dynamic {
				continue
			}
			item := Item{".id": formatID(w.id)}
			for name, value := range w.props {
				if m.prop(r.version, name) != nil || name == "comment" || w.dynamic {
					item[name] = value
				}
			}
			out[path] = append(out[path], item)
		}
	}
	return out
}

// Without gives a copy without the items for which match is true.
func (s Snapshot) Without(match func(menu string, item Item) bool) Snapshot {
	out := Snapshot{}
	for path, items := range s {
		for _, item := range items {
			if !match(path, item) {
				out[path] = append(out[path], item)
			}
		}
	}
	return out
}

// Writes gives the number of writes applied over a protocol since the start.
func (r *Router) Writes() int {
	r.lock()
	defer r.unlock()
	return int(r.writes)
}

// Log gives the writes applied over a protocol, oldest first: "user /menu command".
func (r *Router) Log() []string {
	r.lock()
	defer r.unlock()
	return slices.Clone(r.lines)
}

// SetPower switches a router off, or on, which boots it. A router without power is silent: it neither answers nor
// refuses, on connections that are open and on new ones, and its clients run into their time limits. When it is on
// again, it resets the connections from before.
func (r *Router) SetPower(on bool) {
	r.lock()
	was := r.off
	r.off = !on
	r.restart()
	r.door.silent.Store(!on)
	if on && was {
		close(r.woken)
		r.woken = make(chan struct{})
	}
	r.unlock()
	if on {
		r.door.breakAll()
	}
}

// SetLink unplugs the cable of an interface, or plugs it in. Without it the sessions over the interface end, at once
// instead of after their keepalive time.
func (r *Router) SetLink(name string, up bool) {
	r.lock()
	defer r.unlock()
	r.unplugged[name] = !up
	if w := r.byName("interface", name); w != nil && !up {
		r.flowOf(w).downs++
	}
	if !up {
		r.loseCarrier()
	}
}

// SetLinkRate sets the speed that a port and its other end agree on, such as "100Mbps"; it is "1Gbps" at the start.
func (r *Router) SetLinkRate(name, rate string) {
	r.lock()
	defer r.unlock()
	r.linkRates[name] = rate
}

// Disturb changes properties of the dynamic items of a menu that have all values of match, as a fault of a router does;
// nil properties remove them. It gives the number of items. Nobody else can change dynamic items.
func (r *Router) Disturb(menu string, match, props Item) int {
	r.lock()
	defer r.unlock()
	n := 0
	for _, w := range append([]*row(nil), r.tableOf(menu).rows...) {
		is := w.dynamic
		for name, value := range match {
			is = is && w.props[name] == value
		}
		switch {
		case !is:
			continue
		case props == nil:
			r.drop(menu, w)
		default:
			maps.Copy(w.props, props)
		}
		n++
	}
	return n
}

// Lie makes print of a menu answer exactly these rows, whatever is asked, as a router with other software may do; their
// ids too. nil ends it. Commands work on what is really there.
func (r *Router) Lie(menu string, rows []Item) {
	r.lock()
	defer r.unlock()
	if r.lies[menu] = rows; rows == nil {
		delete(r.lies, menu)
	}
}

// SetSeenFrom sets the address that address filters see for loopback clients; 10.99.0.1 at the start.
func (r *Router) SetSeenFrom(ip netip.Addr) {
	r.lock()
	defer r.unlock()
	r.seenFrom = ip
}

// SetDeviceMode sets the menus that the device mode forbids, as a person at the router does. What is there already
// stays and becomes inactive. Source: docs/facts/routeros.md#permissions.
func (r *Router) SetDeviceMode(forbidden ...string) {
	r.lock()
	defer r.unlock()
	r.mode = forbidden
}
