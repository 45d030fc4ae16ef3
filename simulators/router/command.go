package router

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// call is one console command; both protocols, scripts and Do make it.
type call struct {
	menu, command string
	args          Item
	query         []string
	proplist      []string
	who           *caller
	service       string // of ip/service through which the command came; "" for Do and scripts
}

// reply is the result of a command that was not refused.
type reply struct {
	rows []Item
	ret  *string // the returned value, such as an id; nil without
	row  *row    // the item that was added or set last
}

// caller is a logged-in user. nil stands for the simulator's own Do, which may do everything.
type caller struct {
	name    string
	granted map[string]bool
}

// may reports whether a caller has a policy.
func (c *caller) may(policy string) bool { return c == nil || c.granted[policy] }

// reads reports whether a command changes nothing.
func reads(command string) bool {
	return command == "print" || command == "monitor-traffic" || command == "monitor" || command == ""
}

// run executes a command; the router's lock is held.
func (r *Router) run(c call) (reply, *Trap) {
	m, ok := r.menus[c.menu]
	if !ok || !m.has(c.command) {
		return reply{}, refuse("no such command")
	}
	if trap := r.permit(m, c); trap != nil {
		return reply{}, trap
	}
	outer := r.acting
	r.acting = c.who
	defer func() { r.acting = outer }()
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
	if m.command != nil {
		return m.command(r, c)
	}
	return reply{}, refuse("no such command")
}

// permit refuses a command for which the caller lacks the policy, or that the device mode forbids.
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
	if !reads(c.command) && c.command != "remove" && r.forbids(m.path) {
		return noMode()
	}
	return nil
}

// forbids reports whether the device mode forbids a menu. The lock is held.
func (r *Router) forbids(path string) bool {
	return slices.ContainsFunc(r.mode, func(menu string) bool {
		return path == menu || strings.HasPrefix(path, menu+"/")
	})
}

// shown gives a row as print shows it: with computed state, without secrets for a caller who lacks the policy
// sensitive.
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

// print gives the items that the query matches, or their number with count-only.
func (r *Router) print(m *menu, c call) (reply, *Trap) {
	var out reply
	if lie, is := r.lies[m.path]; is {
		return reply{rows: lie}, nil
	}
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
		if name == "comment" && m.commented(r.version) {
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

// without copies arguments and leaves out control words.
func without(args Item, words ...string) Item {
	out := maps.Clone(args)
	for _, w := range words {
		delete(out, w)
	}
	return out
}

// add creates an item with defaults filled in, and returns its id.
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
		if trap != nil || w.dynamic {
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
	if trap := r.fits(m, w); trap != nil {
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

// fits refuses a new item that another one excludes, or whose values do not fit together.
func (r *Router) fits(m *menu, w *row) *Trap {
	trap := r.duplicate(m, w)
	if trap == nil && m.guard != nil {
		trap = m.guard(r, w, w)
	}
	return trap
}

// duplicate refuses an item that equals another one in all of the menu's unique properties.
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
