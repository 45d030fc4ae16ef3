package router

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// targets finds the items that .id or numbers name, separated by commas.
func (r *Router) targets(m *menu, args Item) ([]*row, *Trap) {
	if m.single {
		return r.rowsOf(m), nil
	}
	words, ok := args[".id"]
	if !ok {
		words, ok = args["numbers"]
	}
	if !ok {
		return nil, &Trap{Category: 0, Message: "missing =.id=", Status: 400}
	}
	var rows []*row
	for word := range strings.SplitSeq(words, ",") {
		w, trap := r.find(m, word)
		if trap != nil {
			return nil, trap
		}
		rows = append(rows, w)
	}
	return rows, nil
}

// set changes items one after the other: a refusal leaves the items before it changed, as on a router.
func (r *Router) set(m *menu, c call) (reply, *Trap) {
	rows, trap := r.targets(m, c.args)
	if trap != nil {
		return reply{}, trap
	}
	given, trap := r.values(m, without(c.args, ".id", "numbers"))
	if trap != nil {
		return reply{}, trap
	}
	var out reply
	for _, w := range rows {
		if w.dynamic {
			return reply{}, refuse("failure: can not change dynamic item")
		}
		changed := &row{props: maps.Clone(w.props)}
		for name, value := range given {
			changed.props[name] = value
			if p := m.prop(r.version, name); value == "" && (p == nil || p.def != blank) {
				delete(changed.props, name)
			}
		}
		if slices.ContainsFunc(m.unique, func(p string) bool { return changed.props[p] != w.props[p] }) {
			if trap := r.duplicate(m, changed); trap != nil {
				return reply{}, trap
			}
		}
		if m.guard != nil {
			if trap := m.guard(r, w, changed); trap != nil {
				return reply{}, trap
			}
		}
		before := w.props
		w.props = changed.props
		if m.changed != nil {
			m.changed(r, w, before)
		}
		out.row = w
	}
	return out, nil
}

// remove deletes items: all of them or, after a refusal, none.
func (r *Router) remove(m *menu, c call) (reply, *Trap) {
	rows, trap := r.targets(m, c.args)
	if trap != nil {
		return reply{}, trap
	}
	for _, w := range rows {
		switch {
		case w.dynamic && !m.free:
			return reply{}, refuse("failure: can not remove dynamic item")
		case w.builtin:
			return reply{}, refuse("failure: can not remove default item")
		case m.path == "interface" && w.props["type"] == "ether":
			return reply{}, refuse("failure: can not remove physical interface")
		case m.path == "user/group" &&
			slices.ContainsFunc(r.tableOf("user").rows, func(u *row) bool { return u.props["group"] == w.name() }):
			return reply{}, refuse("failure: group has some users")
		}
	}
	for _, w := range rows {
		r.drop(m.table, w)
		if w.owner != nil && (w.owner.dynamic || m.path == "interface") { // closing the interface of a session ends it
			for _, path := range []string{"ppp/active", "ip/hotspot/active"} {
				r.drop(path, w.owner)
			}
		}
	}
	return reply{}, nil
}

// move puts items before the item destination, or at the end.
func (r *Router) move(m *menu, c call) (reply, *Trap) {
	rows, trap := r.targets(m, c.args)
	if trap != nil {
		return reply{}, trap
	}
	if slices.ContainsFunc(rows, func(w *row) bool { return w.dynamic }) {
		return reply{}, refuse("failure: can not move dynamic item")
	}
	t := r.tableOf(m.table)
	target, _ := r.find(m, c.args["destination"])
	if target != nil && slices.Contains(rows, target) {
		return reply{}, nil
	}
	t.rows = slices.DeleteFunc(t.rows, func(w *row) bool { return slices.Contains(rows, w) })
	at := len(t.rows)
	if target != nil {
		at = t.index(target)
	}
	t.rows = slices.Insert(t.rows, at, rows...)
	return reply{}, nil
}

// monitor gives the present rates of interfaces; packets are counted as 900 bytes each.
func (r *Router) monitor(c call) (reply, *Trap) {
	var out reply
	for _, name := range splitList(c.args["interface"]) {
		w := r.byName("interface", name)
		if w == nil {
			return reply{}, mismatch("interface")
		}
		t := r.trafficOf(w)
		out.rows = append(out.rows, Item{
			"name": name, "rx-bits-per-second": strconv.FormatUint(t.rxRate*8, 10),
			"tx-bits-per-second":    strconv.FormatUint(t.txRate*8, 10),
			"rx-packets-per-second": strconv.FormatUint(t.rxRate/900, 10),
			"tx-packets-per-second": strconv.FormatUint(t.txRate/900, 10),
		})
	}
	if out.rows == nil {
		return reply{}, &Trap{Category: 0, Message: "missing =interface=", Status: 400}
	}
	return out, nil
}
