package router

import (
	"fmt"
	"slices"
	"strings"
)

// language are the commands that need no menu, and what named arguments they take.
var language = map[string][]string{
	"put": nil, "local": nil, "global": nil, "set": nil, "if": {"do", "else"}, "foreach": {"in", "do"}, "for": {"from", "to", "step", "do"}, "while": {"do"},
	"do": {"while", "on-error"}, "delay": nil, "error": nil, "return": nil, "len": nil, "pick": nil, "find": nil, "tostr": nil, "tonum": nil, "typeof": nil,
	"parse": nil, "execute": {"script"}, "toarray": nil, "nothing": nil, "log": nil,
}

// bare are those that may be written without a colon.
var bare = []string{"put", "local", "global", "if", "foreach", "for", "while", "do", "delay", "error", "return", "execute"}

// parser reads a script for a release: unknown commands, parameters and fixed values are faults of the text.
type parser struct {
	r    *Router
	text string
	at   int
	menu string // where commands without a path belong to
}

// parseFault is a fault of the text.
type parseFault struct{ message string }

// Error gives the message.
func (f parseFault) Error() string { return f.message }

// fail stops reading; parse catches it.
func (p *parser) fail(message string) {
	before := p.text[:min(p.at, len(p.text))]
	panic(parseFault{fmt.Sprintf("%s (line %d column %d)", message, 1+strings.Count(before, "\n"), len(before)-strings.LastIndex(before, "\n"))})
}

// parse reads a whole script.
func (r *Router) parse(text, menu string) (body []command, after string, err error) {
	p := &parser{r: r, text: text, menu: menu}
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case parseFault:
			err = fault
		default:
			panic(fault)
		}
	}()
	body = p.commands("")
	return body, p.menu, nil
}

// peek is the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// has tells whether the rest begins with a text.
func (p *parser) has(text string) bool { return strings.HasPrefix(p.text[p.at:], text) }

// blanks skips spaces and continued lines, and line ends too when lines is set.
func (p *parser) blanks(lines bool) {
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || lines && c == '\n':
			p.at++
		case p.has("\\\n"):
			p.at += 2
		case p.has("\\\r\n"):
			p.at += 3
		default:
			return
		}
	}
}

// commands reads statements up to a closing byte or, without one, to the end.
func (p *parser) commands(closing string) []command {
	var out []command
	for {
		p.blanks(true)
		switch c := p.peek(); {
		case c == 0:
			if closing != "" {
				p.fail("syntax error: expected " + closing)
			}
			return out
		case closing != "" && string(c) == closing:
			p.at++
			return out
		case c == ';':
			p.at++
		case c == '#':
			for p.peek() != 0 && p.peek() != '\n' {
				p.at++
			}
		default:
			out = append(out, p.command())
			p.blanks(false)
			if c := p.peek(); c != 0 && c != ';' && c != '\n' && string(c) != closing {
				p.fail("expected end of command")
			}
		}
	}
}

// line is the number of the present line.
func (p *parser) line() int { return 1 + strings.Count(p.text[:p.at], "\n") }

// word reads letters, digits and dashes.
func (p *parser) word() string {
	from := p.at
	for p.at < len(p.text) && isWord(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

// isWord tells whether a byte belongs to a name.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// command reads one statement.
func (p *parser) command() command {
	c := command{line: p.line()}
	switch p.peek() {
	case '{':
		p.at++
		c.scope, c.inner = true, p.inside("}")
		return c
	case '[':
		p.at++
		c.scope, c.inner = true, p.inside("]")
		return c
	case '$':
		p.at++
		c.call = p.name()
		c.args = p.arguments(nil, true)
		return c
	case ':':
		p.at++
		return p.spoken(c)
	case '/':
		p.at++
		return p.path(c, "")
	}
	from := p.at
	if w := p.word(); p.menu == "" && slices.Contains(bare, w) || w != "" && p.menu != "" && slices.Contains(bare, w) && !p.menuHas(w) {
		p.at = from
		return p.spoken(c)
	}
	p.at = from
	return p.path(c, p.menu)
}

// menuHas tells whether the present menu has a command.
func (p *parser) menuHas(verb string) bool {
	m := p.r.menus[p.menu]
	return m != nil && m.has(verb)
}

// inside reads the statements of a block, whose menu changes do not reach out of it.
func (p *parser) inside(closing string) []command {
	menu := p.menu
	defer func() { p.menu = menu }()
	return p.commands(closing)
}

// spoken reads a command of the language.
func (p *parser) spoken(c command) command {
	c.name = p.word()
	known, ok := language[c.name]
	if !ok {
		p.fail("bad command name " + c.name)
	}
	if c.name == "local" || c.name == "global" || c.name == "set" || c.name == "foreach" || c.name == "for" {
		p.blanks(false)
		c.args = append(c.args, argument{value: literal{p.variableNames()}})
	}
	c.args = append(c.args, p.arguments(known, false)...)
	return c
}

// variableNames reads a, "a" or a,b.
func (p *parser) variableNames() string {
	if p.peek() == '"' {
		if text, ok := p.quoted().(literal); ok {
			return fmt.Sprint(text.value)
		}
	}
	name := p.name()
	for p.peek() == ',' {
		p.at++
		name += "," + p.name()
	}
	return name
}

// name reads the name of a variable: letters and digits only.
func (p *parser) name() string {
	if p.peek() == '"' {
		if text, ok := p.quoted().(literal); ok {
			return fmt.Sprint(text.value)
		}
	}
	from := p.at
	for p.at < len(p.text) && isWord(p.text[p.at]) && p.text[p.at] != '-' && p.text[p.at] != '_' {
		p.at++
	}
	if from == p.at {
		p.fail("syntax error: expected the name of a variable")
	}
	return p.text[from:p.at]
}

// isFolder tells whether menus begin with a path.
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

// path reads menus, the command and its arguments.
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

// ends tells whether a statement ends here.
func (p *parser) ends() bool {
	c := p.peek()
	return c == 0 || strings.IndexByte(";\n]})", c) >= 0
}

// verb reads the arguments of a menu's command and checks what can be known from the text.
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

// skipWhere reads the word "where".
func (p *parser) skipWhere() bool {
	if p.has("where") && (p.at+5 == len(p.text) || !isWord(p.text[p.at+5])) {
		p.at += 5
		return true
	}
	return false
}

// known lists the named arguments of a menu's command in this release.
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
	if m.comment {
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

// checkFixed refuses a written value that the release does not know.
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

// arguments reads values up to the end of the statement. Names that are not known are refused unless any may be given.
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

// endsWord tells whether a word ends here.
func (p *parser) endsWord() bool { return p.ends() || p.peek() == ' ' || p.peek() == '\r' }
