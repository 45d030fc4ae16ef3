package router

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// call is one console command, whatever protocol brought it.
type call struct {
	menu, command string
	args          Item
	query         []string
	proplist      []string
	who           *caller
}

// reply is what a command gives.
type reply struct {
	rows []Item
	ret  *string // done-data
	row  *row    // the item that was added or set last
}

// caller is a logged-in user, or the owner of the house when nil.
type caller struct {
	name    string
	granted map[string]bool
}

// may tells whether a caller has a policy.
func (c *caller) may(policy string) bool { return c == nil || c.granted[policy] }

// reads tells whether a command changes nothing.
func reads(command string) bool {
	return command == "print" || command == "monitor-traffic" || command == ""
}

// run executes a command under the lock.
func (r *Router) run(c call) (reply, *Trap) {
	m, ok := r.menus[c.menu]
	if !ok || !m.has(c.command) {
		return reply{}, refuse("no such command")
	}
	if trap := r.permit(m, c); trap != nil {
		return reply{}, trap
	}
	switch c.command {
	case "print":
		return r.print(m, c)
	case "add":
		return r.add(m, c)
	case "set":
		return r.set(m, c)
	case "enable", "disable":
		c.args = maps.Clone(c.args)
		c.args["disabled"] = strconv.FormatBool(c.command == "disable")
		return r.set(m, c)
	case "remove":
		return r.remove(m, c)
	case "move":
		return r.move(m, c)
	case "monitor-traffic":
		return r.monitor(c)
	}
	return reply{}, refuse("no such command")
}

// permit checks policies and the device mode.
func (r *Router) permit(m *menu, c call) *Trap {
	need := "write"
	switch {
	case c.command == "reboot":
		need = "reboot"
	case reads(c.command):
		need = "read"
	case m.admin:
		need = "policy"
	}
	if !c.who.may(need) || !reads(c.command) && r.faults.DenyWrites && c.who != nil {
		return noPermission()
	}
	for _, forbidden := range r.cfg.DeviceMode {
		if !reads(c.command) && (m.path == forbidden || strings.HasPrefix(m.path, forbidden+"/")) {
			return noMode()
		}
	}
	return nil
}

// shown is a row as print gives it.
func (r *Router) shown(m *menu, w *row, who *caller) Item {
	out := Item{}
	if !m.single {
		out[".id"] = formatID(w.id)
	}
	for name, value := range w.props {
		p := m.prop(r.version, name)
		if !m.shows(r.version, name) || p != nil && p.secret && !who.may("sensitive") {
			continue
		}
		out[name] = value
	}
	if comment := w.props["comment"]; comment != "" {
		out["comment"] = comment
		if r.faults.ControlBytes && !strings.HasPrefix(comment, "Platform") {
			out["comment"] = comment + "\x01\x07 caf\xe9"
		}
	}
	if w.dynamic || !m.single && !m.closed && !m.admin && m.table != "interface" {
		out["dynamic"] = strconv.FormatBool(w.dynamic)
	}
	if m.show != nil {
		m.show(r, w, out)
	}
	return out
}

// print lists items.
func (r *Router) print(m *menu, c call) (reply, *Trap) {
	var out reply
	rows := r.rowsOf(m)
	if m.path == "ip/service" && r.version >= v7ServiceRows {
		rows = append(slices.Clone(rows), r.door.serviceRows()...)
	}
	if word, ok := c.args[".id"]; ok {
		w, trap := r.find(m, word)
		if trap != nil {
			return reply{}, trap
		}
		rows = []*row{w}
	}
	for _, w := range rows {
		item := r.shown(m, w, c.who)
		match, trap := matchQuery(c.query, item)
		if trap != nil {
			return reply{}, trap
		}
		if !match {
			continue
		}
		if c.proplist != nil {
			maps.DeleteFunc(item, func(name, _ string) bool { return !slices.Contains(c.proplist, name) })
		}
		out.rows = append(out.rows, item)
	}
	if _, ok := c.args["count-only"]; ok {
		n := strconv.Itoa(len(out.rows))
		return reply{ret: &n}, nil
	}
	return out, nil
}

// values checks arguments against a menu and gives them as they are stored.
func (r *Router) values(m *menu, args Item) (Item, *Trap) {
	out := Item{}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		value := args[name]
		if name == "comment" && m.comment {
			out[name] = value
			continue
		}
		p := m.prop(r.version, name)
		if p == nil {
			return nil, refuse("unknown parameter " + name)
		}
		if p.check != nil && !(value == "" && p.def == "" && !p.need) {
			var trap *Trap
			if value, trap = p.check(r, name, value); trap != nil {
				return nil, trap
			}
		}
		out[name] = value
	}
	return out, nil
}

// without copies arguments that are not control words.
func without(args Item, words ...string) Item {
	out := maps.Clone(args)
	for _, w := range words {
		delete(out, w)
	}
	return out
}

// add makes an item, with defaults filled in.
func (r *Router) add(m *menu, c call) (reply, *Trap) {
	before, placed := c.args["place-before"]
	args := c.args
	if m.ordered {
		args = without(args, "place-before", "copy-from")
	}
	given, trap := r.values(m, args)
	if trap != nil {
		return reply{}, trap
	}
	at := -1
	if placed && m.ordered {
		w, trap := r.find(m, before)
		if trap != nil {
			return reply{}, mismatch("place-before")
		}
		at = r.tableOf(m.table).index(w)
	}
	w := &row{props: Item{}}
	for i := range m.props {
		p := &m.props[i]
		value, ok := given[p.name]
		switch {
		case !r.version.within(p.since, p.until):
		case ok && (value != "" || p.def == blank):
			w.props[p.name] = value
		case !ok && p.need:
			return reply{}, &Trap{Category: 0, Message: "missing =" + p.name + "=", Status: 400}
		case p.def != "":
			w.props[p.name] = unblank(p.def)
		}
	}
	if m.kind != "" {
		w.props["type"] = m.kind
	}
	if comment := given["comment"]; comment != "" {
		w.props["comment"] = comment
	}
	if trap := r.duplicate(m, w); trap != nil {
		return reply{}, trap
	}
	r.insert(m.table, w)
	r.born(w)
	if m.added != nil {
		if trap := m.added(r, w); trap != nil {
			r.drop(m.table, w)
			return reply{}, trap
		}
	}
	if at >= 0 {
		t := r.tableOf(m.table)
		t.rows = slices.Insert(slices.Delete(t.rows, t.index(w), t.index(w)+1), at, w)
	}
	id := formatID(w.id)
	return reply{ret: &id, row: w}, nil
}

// duplicate refuses a second item with the same identity.
func (r *Router) duplicate(m *menu, w *row) *Trap {
	if m.unique == nil {
		return nil
	}
	for _, other := range r.tableOf(m.table).rows {
		if other != w && !slices.ContainsFunc(m.unique, func(p string) bool { return other.props[p] != w.props[p] }) {
			return refuse(m.dup)
		}
	}
	return nil
}

// targets resolves .id or numbers.
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

// set changes items; all or none of them.
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
		before := w.props
		w.props = changed.props
		if m.changed != nil {
			m.changed(r, w, before)
		}
		out.row = w
	}
	return out, nil
}

// remove deletes items.
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
		case m.path == "user/group" && slices.ContainsFunc(r.tableOf("user").rows, func(u *row) bool { return u.props["group"] == w.name() }):
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

// move puts items before another one, or at the end.
func (r *Router) move(m *menu, c call) (reply, *Trap) {
	rows, trap := r.targets(m, c.args)
	if trap != nil {
		return reply{}, trap
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

// monitor gives the present rates of interfaces.
func (r *Router) monitor(c call) (reply, *Trap) {
	var out reply
	for _, name := range splitList(c.args["interface"]) {
		w := r.byName("interface", name)
		if w == nil {
			return reply{}, mismatch("interface")
		}
		t := r.trafficOf(w)
		out.rows = append(out.rows, Item{
			"name": name, "rx-bits-per-second": strconv.FormatUint(t.rxRate*8, 10), "tx-bits-per-second": strconv.FormatUint(t.txRate*8, 10),
			"rx-packets-per-second": strconv.FormatUint(t.rxRate/900, 10), "tx-packets-per-second": strconv.FormatUint(t.txRate/900, 10),
		})
	}
	if out.rows == nil {
		return reply{}, &Trap{Category: 0, Message: "missing =interface=", Status: 400}
	}
	return out, nil
}
