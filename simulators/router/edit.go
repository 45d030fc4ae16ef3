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
	r.mu.Lock()
	defer r.mu.Unlock()
	given := Item{}
	maps.Copy(given, args)
	out, trap := r.run(call{menu: strings.ReplaceAll(strings.Trim(menu, "/"), " ", "/"), command: command, args: given})
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
	r.mu.Lock()
	defer r.mu.Unlock()
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
	r.mu.Lock()
	defer r.mu.Unlock()
	return int(r.writes)
}

// Log gives the writes applied over a protocol, oldest first: "user /menu command".
func (r *Router) Log() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// SetPower switches a router off, or on, which boots it. Connections break in both cases.
func (r *Router) SetPower(on bool) {
	r.mu.Lock()
	r.off = !on
	r.restart()
	r.mu.Unlock()
	r.door.breakAll()
}

// SetLink unplugs the cable of an interface, or plugs it in.
func (r *Router) SetLink(name string, up bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unplugged[name] = !up
	if w := r.byName("interface", name); w != nil && !up {
		r.flowOf(w).downs++
	}
}

// SetSeenFrom sets the address that address filters see for loopback clients; 10.99.0.1 at the start.
func (r *Router) SetSeenFrom(ip netip.Addr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seenFrom = ip
}
