package router

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// Do runs a console command as a colleague with all rights would with Winbox: checked like any other, but outside all
// faults and not counted as a write. It gives the items printed, or one with "ret".
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

// Snapshot copies the configuration; dynamic items only when asked for.
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

// Without gives a copy without the items that a condition matches.
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

// Writes counts the writes applied over a protocol.
func (r *Router) Writes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int(r.writes)
}

// Log lists the writes applied over a protocol: "user /menu command".
func (r *Router) Log() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// SetPower unplugs a router, or plugs it in, which boots it.
func (r *Router) SetPower(on bool) {
	r.mu.Lock()
	r.off = !on
	r.restart()
	r.mu.Unlock()
	r.door.breakAll()
}

// SetLink takes the cable out of an interface, or puts it in.
func (r *Router) SetLink(name string, up bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unplugged[name] = !up
	if w := r.byName("interface", name); w != nil && !up {
		r.flowOf(w).downs++
	}
}

// SetSeenFrom says whom a loopback client stands for when addresses are filtered; 10.99.0.1 at the start.
func (r *Router) SetSeenFrom(ip netip.Addr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seenFrom = ip
}
