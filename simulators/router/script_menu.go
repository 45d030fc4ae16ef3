package router

import (
	"slices"
	"strings"
)

// isFolder reports whether a path is a menu or the beginning of one.
func (p *parser) isFolder(path string) bool {
	if path == "log" {
		return true
	}
	for name := range p.r.menus {
		if name == path || strings.HasPrefix(name, path+"/") {
			return true
		}
	}
	return false
}

// path reads menus, the command and its arguments. A path without a command changes the present menu.
func (p *parser) path(c command, menu string) command {
	for {
		p.blanks(false)
		from := p.at
		w := p.word()
		next := strings.TrimPrefix(menu+"/"+w, "/")
		if w == "" {
			if menu == p.menu || !p.ends() {
				p.fail("bad command name " + string(p.peek()))
			}
			p.menu, c.menu = menu, menu
			return c
		}
		if !p.isFolder(next) || p.r.menus[menu] != nil && p.r.menus[menu].has(w) && p.r.menus[next] == nil {
			p.at = from
			break
		}
		menu = next
		if p.peek() == '/' {
			if p.r.version < v7 {
				p.fail("bad command name " + w + "/")
			}
			p.at++
		}
	}
	c.menu, c.verb = menu, p.word()
	return p.verb(c)
}

// ends reports whether a statement ends here.
func (p *parser) ends() bool {
	c := p.peek()
	return c == 0 || strings.IndexByte(";\n]})", c) >= 0
}

// verb reads the arguments of a menu's command and checks names and fixed values.
func (p *parser) verb(c command) command {
	m := p.r.menus[c.menu]
	if c.menu == "log" && slices.Contains([]string{"info", "warning", "error", "debug"}, c.verb) {
		c.name, c.args = "log", p.arguments([]string{"message"}, false)
		return c
	}
	if m == nil || !m.has(c.verb) && c.verb != "find" && c.verb != "get" {
		p.fail("bad command name " + c.verb)
	}
	outer := p.menu
	p.menu = c.menu
	defer func() { p.menu = outer }()
	if c.verb == "find" {
		p.blanks(false)
		p.skipWhere()
		c.where = p.condition()
		return c
	}
	c.args = p.arguments(p.known(m, c.verb), false)
	if c.verb == "print" {
		p.blanks(false)
		if p.skipWhere() {
			c.where = p.condition()
		}
	}
	for _, a := range c.args {
		p.checkFixed(m, a)
	}
	return c
}

// skipWhere reads the word "where", if it stands here.
func (p *parser) skipWhere() bool {
	if p.has("where") && (p.at+5 == len(p.text) || !isWord(p.text[p.at+5])) {
		p.at += 5
		return true
	}
	return false
}

// known gives the names of the arguments that a menu's command has in this release.
func (p *parser) known(m *menu, verb string) []string {
	switch verb {
	case "print":
		return []string{"as-value", "count-only", "without-paging", "detail", "terse", "value-list", "where"}
	case "get":
		return []string{"number", "value-name"}
	case "remove", "enable", "disable":
		return []string{"numbers"}
	case "move":
		return []string{"numbers", "destination"}
	case "monitor-traffic":
		return []string{"once", "duration", "interface"}
	}
	names := []string{}
	for _, one := range m.props {
		if p.r.version.within(one.since, one.until) {
			names = append(names, one.name)
		}
	}
	if m.commented(p.r.version) {
		names = append(names, "comment")
	}
	if verb == "add" && m.ordered {
		names = append(names, "place-before", "copy-from")
	}
	if verb == "set" {
		names = append(names, "numbers")
	}
	return names
}

// checkFixed refuses a literal value of a fixed property that the release does not know.
func (p *parser) checkFixed(m *menu, a argument) {
	one := m.prop(p.r.version, a.name)
	if one == nil || !one.fixed || one.check == nil {
		return
	}
	if text, ok := a.value.(literal); ok {
		if _, trap := one.check(p.r, a.name, given(text.value)); trap != nil {
			p.fail(trap.Message)
		}
	}
}

// arguments reads values up to the end of the statement. Unknown names are refused, unless anyName is set.
func (p *parser) arguments(known []string, anyName bool) []argument {
	var out []argument
	for {
		p.blanks(false)
		if p.ends() {
			return out
		}
		from := p.at
		w := p.word()
		switch {
		case w != "" && p.peek() == '=':
			if !anyName && !slices.Contains(known, w) {
				p.at = from
				p.fail("expected end of command")
			}
			p.at++
			out = append(out, argument{w, p.value()})
		case w == "where" && slices.Contains(known, "where"):
			p.at = from
			return out
		case w != "" && slices.Contains(known, w) && p.endsWord():
			out = append(out, argument{w, literal{""}})
		default:
			p.at = from
			out = append(out, argument{value: p.value()})
		}
	}
}

// endsWord reports whether a word ends here.
func (p *parser) endsWord() bool { return p.ends() || p.peek() == ' ' || p.peek() == '\r' }
