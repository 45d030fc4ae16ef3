package router

import "slices"

// blank is the default of a property that print shows as an empty text when it is unset.
const blank = "\x00"

// prop is a property that can be written, in the releases from since until before until.
type prop struct {
	name  string
	def   string // filled in on add; "" leaves it absent, blank shows it empty
	need  bool   // add refuses an item without it
	check check  // any text when nil
	ref   string // table whose names are its values
	// secret values are left out for a user without the policy sensitive.
	secret bool
	// fixed values are checked when a script is parsed, so a wrong one is a fault of the whole script.
	fixed        bool
	since, until version
}

// menu describes one menu of the console. Routers of one release share it; it is never changed.
type menu struct {
	path     string
	table    string // where the rows are; the path when empty
	kind     string // only rows of this interface type
	single   bool   // one item without an id
	ordered  bool   // place-before and move
	named    bool   // items are found by name
	comment  bool
	remarks  version  // the first release with comments, when comment is set
	closed   bool     // nothing is added or removed
	free     bool     // dynamic items may be removed
	admin    bool     // writes need the policy called "policy"
	unique   []string // no two items may be equal in all of them
	dup      string   // refusal of a second item
	props    []prop
	state    []string // shown, never written
	commands []string // besides the usual ones
	// command runs one of commands.
	command func(r *Router, c call) (reply, *Trap)
	// guard refuses values that do not fit together. w is the row, next has what it would become.
	guard func(r *Router, w, next *row) *Trap
	// show adds computed state to what is printed.
	show func(r *Router, w *row, out Item)
	// added may fill in state or refuse; the row is in its table.
	added func(r *Router, w *row) *Trap
	// changed is called after a write; before holds the old values.
	changed func(r *Router, w *row, before Item)
	since   version
	until   version
}

// prop finds a property that exists in a release; nil when there is none.
func (m *menu) prop(v version, name string) *prop {
	for i := range m.props {
		if p := &m.props[i]; p.name == name && v.within(p.since, p.until) {
			return p
		}
	}
	return nil
}

// commented reports whether items have a comment in a release.
func (m *menu) commented(v version) bool { return m.comment && v >= m.remarks }

// shows reports whether print gives a property in a release.
func (m *menu) shows(v version, name string) bool {
	return m.prop(v, name) != nil || slices.Contains(m.state, name) || name == "disabled" || name == "dynamic"
}

// has reports whether a command exists in the menu.
func (m *menu) has(command string) bool {
	switch command {
	case "print":
		return true
	case "set":
		return len(m.props) > 0 || m.comment
	case "add":
		return !m.single && !m.closed
	case "remove":
		return !m.single && (!m.closed || m.free)
	case "enable", "disable":
		return slices.ContainsFunc(m.props, func(p prop) bool { return p.name == "disabled" })
	case "move":
		return m.ordered
	}
	return slices.Contains(m.commands, command)
}

// Properties that many menus share.
var (
	offByDefault = prop{name: "disabled", def: "true", check: boolean}
	onByDefault  = prop{name: "disabled", def: "false", check: boolean}
	onUntilSet   = prop{name: "disabled", check: boolean} // absent until written
	nameProp     = prop{name: "name", need: true}
)

// ifaceProp makes a property whose value is the name of an interface, or one of some words.
func ifaceProp(name, def string, need bool, words ...string) prop {
	return prop{name: name, def: def, need: need, check: existing("interface", words...), ref: "interface"}
}

// text makes a property that accepts every text.
func text(name, def string) prop { return prop{name: name, def: def} }

// yes makes a boolean property that is on by default.
func yes(name string) prop { return prop{name: name, def: "true", check: boolean} }

// no makes a boolean property that is off by default.
func no(name string) prop { return prop{name: name, def: "false", check: boolean} }

// word makes a property of fixed words; the first is the default.
func word(name string, words ...string) prop {
	return prop{name: name, def: words[0], check: oneOf(words...), fixed: true}
}

// menusOf gives the menus that exist in a release, by path.
func menusOf(v version) map[string]*menu {
	all := map[string]*menu{}
	for _, list := range [][]menu{
		interfaceMenus(), groupingMenus(), pppMenus(), addressMenus(), hotspotMenus(), firewallMenus(),
		systemMenus(), scheduleMenus(), certificateMenus(),
	} {
		for _, m := range list {
			if !v.within(m.since, m.until) {
				continue
			}
			if m.table == "" {
				m.table = m.path
			}
			all[m.path] = &m
		}
	}
	return all
}
