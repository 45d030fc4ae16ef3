package router

import (
	"fmt"
	"slices"
	"strings"
)

// language has the commands that need no menu, with the names of their arguments.
var language = map[string][]string{
	"put": nil, "local": nil, "global": nil, "set": nil, "if": {"do", "else"}, "foreach": {"in", "do"},
	"for": {"from", "to", "step", "do"}, "while": {"do"}, "do": {"while", "on-error"}, "delay": nil, "error": nil,
	"return": nil, "len": nil, "pick": nil, "find": nil, "tostr": nil, "tonum": nil, "typeof": nil, "parse": nil,
	"execute": {"script"}, "toarray": nil, "nothing": nil, "log": nil,
}

// bare has the commands that may be written without a colon.
var bare = []string{
	"put", "local", "global", "if", "foreach", "for", "while", "do", "delay", "error", "return", "execute",
}

// parser reads a script for a release: unknown commands, parameters and fixed values are faults of the text.
type parser struct {
	r    *Router
	text string
	at   int
	menu string // the menu of commands without a path
}

// parseFault is a fault of the text; parser.fail panics with it.
type parseFault struct{ message string }

// Error gives the router's message with line and column.
func (f parseFault) Error() string { return f.message }

// fail ends the parsing with a panic, which parse turns into an error.
func (p *parser) fail(message string) {
	before := p.text[:min(p.at, len(p.text))]
	panic(parseFault{
		fmt.Sprintf("%s (line %d column %d)", message, 1+strings.Count(before, "\n"),
			len(before)-strings.LastIndex(before, "\n")),
	})
}

// parse reads a whole script that begins in a menu; after is the menu in which it ends.
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

// peek gives the next byte; 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// has reports whether the rest of the text begins with text.
func (p *parser) has(text string) bool { return strings.HasPrefix(p.text[p.at:], text) }

// blanks skips spaces and continued lines; with lines set, line ends too.
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

// commands reads statements up to the closing byte; "" means up to the end.
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

// line gives the number of the present line, from 1.
func (p *parser) line() int { return 1 + strings.Count(p.text[:p.at], "\n") }

// word reads letters, digits, dashes and underscores; "" when none stands here.
func (p *parser) word() string {
	from := p.at
	for p.at < len(p.text) && isWord(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

// isWord reports whether a byte belongs to a word.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// command reads one statement: a block, a call of a variable, a command of the language, or one of a menu.
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
	if w := p.word(); p.menu == "" && slices.Contains(bare, w) ||
		w != "" && p.menu != "" && slices.Contains(bare, w) && !p.menuHas(w) {
		p.at = from
		return p.spoken(c)
	}
	p.at = from
	return p.path(c, p.menu)
}

// menuHas reports whether the present menu has a command.
func (p *parser) menuHas(verb string) bool {
	m := p.r.menus[p.menu]
	return m != nil && m.has(verb)
}

// inside reads the statements of a block; a change of menu ends with the block.
func (p *parser) inside(closing string) []command {
	menu := p.menu
	defer func() { p.menu = menu }()
	return p.commands(closing)
}

// spoken reads a command of the language and its arguments.
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

// variableNames reads the variables of a command: a, "a", or a,b for foreach.
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
