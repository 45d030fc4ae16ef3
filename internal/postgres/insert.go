package postgres

import (
	"slices"
	"strconv"
	"strings"
)

// Insert is a statement that adds one row of given values, of a form in which many executions are one statement with
// the same result: `insert into … values (…)`, each value a parameter or a constant, and `on conflict … do nothing` or
// `do update set …` from the old row, the new one and constants.
type Insert struct {
	Table  string // with its schema
	Params int    // how many parameters it has; each is a value
	Keys   []int  // of do update: the parameters of the row's key, from 0
	Update bool   // the row that is there is changed; a statement may do that once to each row

	head, values, tail []token // before the values, the values, and what follows their bracket
	sql                string
}

// ParseInsert reads a statement with positions for its arguments. ok is not set for any that is not surely of the form.
func ParseInsert(sql string) (in Insert, ok bool) {
	list, ok := tokens(sql)
	if !ok {
		return Insert{}, false
	}
	p := insertParser{list: list, in: Insert{sql: sql}}
	ok = p.whole()
	return p.in, ok
}

// Merged is the statement that does for each row of arrays what this one does for one row. types are the types of the
// parameters; arrays of these are its parameters.
func (in Insert) Merged(types []string) string {
	var b strings.Builder
	b.WriteString(in.part(in.head))
	b.WriteString(" select ")
	at := in.values[0].from
	for _, t := range in.values {
		if t.kind == tokenParam {
			b.WriteString(in.sql[at:t.from] + "u.p" + t.text[1:])
			at = t.to
		}
	}
	b.WriteString(in.sql[at:in.values[len(in.values)-1].to] + " from unnest(")
	for i, name := range types {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(i+1) + "::" + name + "[]")
	}
	b.WriteString(") as u(")
	for i := range types {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("p" + strconv.Itoa(i+1))
	}
	b.WriteString(") " + in.part(in.tail))
	return b.String()
}

// part is the text of tokens that follow each other.
func (in Insert) part(list []token) string {
	if len(list) == 0 {
		return ""
	}
	return in.sql[list[0].from:list[len(list)-1].to]
}

// insertParser reads an Insert from tokens.
type insertParser struct {
	list    []token
	at      int
	in      Insert
	columns []string // as listed
	plain   []int    // for each value the parameter that it is, from 0; -1 = a constant, or with a cast
}

// next gives the next token and goes on.
func (p *insertParser) next() token {
	t := p.list[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// has goes on when the next tokens are these words and signs.
func (p *insertParser) has(list ...string) bool {
	for i, text := range list {
		t := p.list[min(p.at+i, len(p.list)-1)]
		if t.text != text || t.kind != tokenWord && t.kind != tokenSign {
			return false
		}
	}
	p.at += len(list)
	return true
}

// word reads a name.
func (p *insertParser) word() (string, bool) {
	t := p.next()
	return t.text, t.kind == tokenWord
}

// whole reads everything up to the end.
func (p *insertParser) whole() bool {
	if !p.has("insert", "into") || !p.table() {
		return false
	}
	if p.has("(") {
		var ok bool
		if p.columns, ok = p.names(); !ok {
			return false
		}
	}
	p.in.head = p.list[:p.at]
	if !p.has("values", "(") {
		return false
	}
	from := p.at
	if !p.value() {
		return false
	}
	for p.has(",") {
		if !p.value() {
			return false
		}
	}
	p.in.values = p.list[from:p.at]
	if !p.has(")") || !p.numbered() || p.columns != nil && len(p.columns) != len(p.plain) {
		return false
	}
	from = p.at
	if p.has("on", "conflict") && !p.conflict() {
		return false
	}
	p.in.tail = p.list[from:p.at]
	return p.next().kind == tokenEnd
}

// table reads the table's name with its schema, and another name that it may have in the statement.
func (p *insertParser) table() bool {
	schema, ok := p.word()
	if !ok || !p.has(".") {
		return false
	}
	name, ok := p.word()
	p.in.Table = schema + "." + name
	if ok && p.has("as") {
		_, ok = p.word()
	}
	return ok
}

// names reads names up to the closing bracket.
func (p *insertParser) names() (list []string, ok bool) {
	for {
		name, ok := p.word()
		if !ok {
			return nil, false
		}
		list = append(list, name)
		if p.has(")") {
			return list, true
		}
		if !p.has(",") {
			return nil, false
		}
	}
}

// value reads a value: a parameter or a constant, each with a cast or without, or an array of one parameter.
func (p *insertParser) value() bool {
	if p.has("array", "[") {
		param, ok := p.single()
		p.plain = append(p.plain, -1)
		return ok && param >= 0 && p.has("]")
	}
	param, ok := p.single()
	if !ok {
		return false
	}
	if p.has("::") {
		if _, ok := p.word(); !ok {
			return false
		}
		p.has("[", "]")
		param = -1
	}
	p.plain = append(p.plain, param)
	return true
}

// single reads a parameter, which is numbered from 0, or a constant, which is -1.
func (p *insertParser) single() (param int, ok bool) {
	negative := p.has("-")
	t := p.next()
	switch {
	case t.kind == tokenNumber:
	case negative:
		return 0, false
	case t.kind == tokenText:
	case t.kind == tokenWord && (t.text == "null" || t.text == "true" || t.text == "false"):
	case t.kind == tokenParam:
		n, _ := strconv.Atoi(t.text[1:])
		p.in.Params = max(p.in.Params, n)
		return n - 1, true
	default:
		return 0, false
	}
	return -1, true
}

// numbered reports whether there are parameters, and every one up to the last is among the values.
func (p *insertParser) numbered() bool {
	seen := map[string]struct{}{}
	for _, t := range p.in.values {
		if t.kind == tokenParam {
			seen[t.text] = struct{}{}
		}
	}
	return len(seen) > 0 && len(seen) == p.in.Params
}

// conflict reads what follows `on conflict`.
func (p *insertParser) conflict() bool {
	var target []string
	if p.has("(") {
		var ok bool
		if target, ok = p.names(); !ok {
			return false
		}
	}
	if p.has("do", "nothing") {
		return true
	}
	if !p.has("do", "update", "set") || len(target) == 0 || !p.keys(target) {
		return false
	}
	p.in.Update = true
	return p.ofRows()
}

// keys finds the values of the key's columns, which must be parameters.
func (p *insertParser) keys(target []string) bool {
	for _, name := range target {
		at := slices.Index(p.columns, name)
		if at < 0 || p.plain[at] < 0 {
			return false
		}
		p.in.Keys = append(p.in.Keys, p.plain[at])
	}
	return true
}

// beforeBracket are the words that may stand before a bracket where values are computed. Any other word there is a
// function, and what it reads or returns is not known.
var beforeBracket = []string{
	"and", "or", "not", "where", "when", "then", "else", "case", "in", "coalesce", "greatest", "least", "nullif",
}

// notOfRows are words of what reads other rows, or begins another part of a statement.
var notOfRows = []string{
	"select", "table", "values", "with", "exists", "any", "all", "some", "returning", "default", "from",
}

// ofRows reads the rest of the statement: values that are computed from the two rows and constants alone.
func (p *insertParser) ofRows() bool {
	before := token{}
	for {
		t := p.next()
		switch {
		case t.kind == tokenEnd:
			return true
		case t.kind == tokenParam:
			return false
		case t.kind == tokenWord && slices.Contains(notOfRows, t.text):
			return false
		case t.text == "(" && before.kind == tokenWord && !slices.Contains(beforeBracket, before.text):
			return false
		}
		before = t
	}
}
