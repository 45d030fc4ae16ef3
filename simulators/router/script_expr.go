package router

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// value reads one operand in the form of an argument: operators are allowed in parentheses only.
func (p *parser) value() expr {
	switch p.peek() {
	case '"':
		return p.quoted()
	case '$':
		p.at++
		return variable{p.name()}
	case '[':
		p.at++
		return substitution{p.inside("]")}
	case '(':
		p.at++
		x := p.expression(0, false)
		p.expect(")")
		return x
	case '{':
		return p.braces()
	}
	from := p.at
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n;]})\"[{($", p.text[p.at]) < 0 {
		p.at++
	}
	if from == p.at {
		p.fail("syntax error: expected a value")
	}
	return literal{valueOf(p.text[from:p.at])}
}

// expect reads a text that must stand here.
func (p *parser) expect(text string) {
	p.blanks(true)
	if !p.has(text) {
		p.fail("syntax error: expected " + text)
	}
	p.at += len(text)
}

// braces reads {commands} as a block, or {1;2} as a list.
func (p *parser) braces() expr {
	from := p.at
	p.at++
	p.blanks(true)
	if p.has("}") {
		p.at++
		return block{}
	}
	if c := p.peek(); c == '"' || c >= '0' && c <= '9' || c == '$' && p.isList(from) {
		var out list
		for {
			p.blanks(true)
			out.items = append(out.items, p.value())
			p.blanks(true)
			if p.has("}") {
				p.at++
				return out
			}
			p.expect(";")
		}
	}
	return block{p.inside("}")}
}

// isList reports whether braces that begin with a variable hold values: a second variable follows a semicolon.
func (p *parser) isList(from int) bool {
	end := strings.IndexByte(p.text[from:], '}')
	return end > 0 && strings.Contains(p.text[from:from+end], ";$")
}

// valueOf converts a bare word: yes, no, true and false to a truth value, digits to a number.
func valueOf(word string) any {
	switch word {
	case "yes", "true":
		return true
	case "no", "false":
		return false
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n
	}
	return word
}

// quoted reads a string with its escapes, variables and commands.
func (p *parser) quoted() expr {
	p.at++
	var parts []expr
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			parts = append(parts, literal{text.String()})
			text.Reset()
		}
	}
	for {
		switch c := p.peek(); c {
		case 0:
			p.fail("syntax error: expected \"")
		case '"':
			p.at++
			if len(parts) == 0 {
				return literal{text.String()}
			}
			flush()
			return joined{parts}
		case '\\':
			p.at++
			text.WriteString(p.escape())
		case '$':
			p.at++
			flush()
			parts = append(parts, p.embedded())
		default:
			text.WriteByte(c)
			p.at++
		}
	}
}

// embedded reads the variable, command or expression after a $ in a string.
func (p *parser) embedded() expr {
	switch p.peek() {
	case '[', '(':
		return p.value()
	}
	return variable{p.name()}
}

// escape reads the character after a backslash in a string: a sign, a letter, or two hexadecimal digits.
func (p *parser) escape() string {
	c := p.peek()
	p.at++
	switch c {
	case '"', '\\', '$', '?':
		return string(c)
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case '_':
		return " "
	case '\r', '\n': // a continued line: the next line's indentation is skipped
		p.blanks(true)
		return ""
	}
	if p.at < len(p.text) {
		if n, err := strconv.ParseUint(p.text[p.at-1:p.at+1], 16, 8); err == nil {
			p.at++
			return string([]byte{byte(n)})
		}
	}
	p.fail("syntax error: bad escape")
	return ""
}

// levels are the operators by precedence, the loosest first.
var levels = [][]string{
	{"||", "or"}, {"&&", "and"}, {"in"}, {"!=", "<=", ">=", "=", "<", ">", "~"}, {","}, {"."}, {"+", "-"},
	{"*", "/", "%"}, {"->"},
}

// operator reads an operator of a level; "" when another one, or none, stands here.
func (p *parser) operator(level int) string {
	p.blanks(true)
	for _, op := range levels[level] {
		if !p.has(op) || op == "-" && p.has("->") {
			continue
		}
		if op[0] >= 'a' && op[0] <= 'z' && p.at+len(op) < len(p.text) && isWord(p.text[p.at+len(op)]) {
			continue
		}
		p.at += len(op)
		return op
	}
	return ""
}

// expression reads operands and operators of a level and of tighter ones. In a condition, words are properties.
func (p *parser) expression(level int, about bool) expr {
	if level == len(levels) {
		return p.operand(about)
	}
	left := p.expression(level+1, about)
	for {
		from := p.at
		op := p.operator(level)
		if op == "" {
			p.at = from
			return left
		}
		var right expr
		if about && level == 3 {
			right = p.comparand()
		} else {
			right = p.expression(level+1, about)
		}
		left = binary{op, left, right}
	}
}

// comparand reads the right side of a comparison in a condition, where a word is a value.
func (p *parser) comparand() expr {
	p.blanks(false)
	return p.value()
}

// numeric matches values that begin with a digit: addresses, times and numbers.
var numeric = regexp.MustCompile(`^(\d+\.\d+\.\d+\.\d+(/\d+)?|\d+:\d+:\d+|\d+[a-z][0-9a-z]*|\d+)`)

// operand reads one operand of an expression, with its signs.
func (p *parser) operand(about bool) expr {
	p.blanks(true)
	switch c := p.peek(); {
	case c == '!':
		p.at++
		return unary{"!", p.operand(about)}
	case c == '-':
		p.at++
		return unary{"-", p.operand(about)}
	case c == '(':
		p.at++
		x := p.expression(0, about)
		p.expect(")")
		return x
	case c == '"' || c == '$' || c == '[' || c == '{':
		return p.value()
	case c >= '0' && c <= '9':
		text := numeric.FindString(p.text[p.at:])
		p.at += len(text)
		return literal{valueOf(text)}
	}
	w := p.word()
	switch {
	case w == "not":
		return unary{"!", p.operand(about)}
	case w == "":
		p.fail("syntax error: expected an operand")
	case about:
		m := p.r.menus[p.menu]
		if m == nil || !m.shows(p.r.version, w) && w != "comment" && w != ".id" {
			p.fail("expected end of command")
		}
		return property{w}
	}
	return literal{valueOf(w)}
}

// condition reads the condition after find or where; several in a row must all hold.
func (p *parser) condition() expr {
	var all expr
	for {
		p.blanks(false)
		if p.ends() {
			return all
		}
		one := p.expression(0, true)
		if all == nil {
			all = one
		} else {
			all = binary{"&&", all, one}
		}
	}
}

// chunks splits a text into the parts that a terminal runs at a time: a line, or a block with all its lines.
func chunks(text string) []string {
	var out []string
	depth, from := 0, 0
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '#' && strings.TrimSpace(text[strings.LastIndexByte(text[:i], '\n')+1:i]) == "":
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case slices.Contains([]byte("{[("), c):
			depth++
		case slices.Contains([]byte("}])"), c):
			depth--
		case c == '\n' && depth <= 0:
			out = append(out, text[from:i])
			from, depth = i+1, 0
		}
	}
	return append(out, text[min(from, len(text)):])
}
