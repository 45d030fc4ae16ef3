package router

import (
	"errors"
	"strconv"
	"strings"
)

// spoken runs a command of the language. The commands handled first get their arguments unevaluated.
func (m *machine) spoken(c command, s *scope) (any, error) {
	switch c.name {
	case "local", "global", "set":
		return nil, m.assign(c, s)
	case "if":
		return m.choose(c, s)
	case "foreach", "for", "while":
		return nil, m.loop(c, s)
	case "do":
		return m.attempt(c, s)
	case "nothing":
		return nil, nil
	case "execute":
		return m.background(c, s)
	}
	var values []any
	for _, a := range c.args {
		value, err := m.eval(a.value, s, nil)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return m.word(c.name, values)
}

// word runs a command whose arguments are evaluated. :delay takes no time.
func (m *machine) word(name string, values []any) (any, error) {
	if len(values) == 0 {
		return nil, map[bool]error{true: returned{}, false: errors.New("missing value of " + name)}[name == "return"]
	}
	first := values[0]
	switch name {
	case "put":
		m.out.WriteString(show(first) + "\n")
	case "log":
		m.r.sim.log.Debug("router script", "router", m.r.cfg.Name, "text", show(first))
	case "delay":
		if _, ok := parseSpan(show(first)); !ok {
			return nil, errors.New("invalid time value")
		}
	case "error":
		return nil, errors.New(show(first))
	case "return":
		return nil, returned{first}
	case "len":
		if items, ok := first.([]any); ok {
			return int64(len(items)), nil
		}
		return int64(len(show(first))), nil
	case "pick":
		return pick(values)
	case "find":
		return search(values)
	case "tostr":
		return show(first), nil
	case "tonum":
		if n, err := strconv.ParseInt(show(first), 10, 64); err == nil {
			return n, nil
		}
		return nil, nil
	case "toarray":
		items := []any{}
		for _, one := range splitList(show(first)) {
			items = append(items, valueOf(one))
		}
		return items, nil
	case "typeof":
		return kindOf(first), nil
	case "parse":
		body, _, err := m.r.parse(show(first), "")
		return function{body}, err
	}
	return nil, nil
}

// assign runs :local, :global or :set.
func (m *machine) assign(c command, s *scope) error {
	words := c.positional()
	name := show(words[0].(literal).value)
	var value any
	if len(words) > 1 {
		if b, ok := words[1].(block); ok {
			value = function(b)
		} else {
			var err error
			if value, err = m.eval(words[1], s, nil); err != nil {
				return err
			}
		}
	}
	switch held := s.holder(name); {
	case c.name == "local":
		s.vars[name] = value
	case c.name == "global":
		if _, ok := m.globals[name]; !ok || len(words) > 1 {
			m.globals[name] = value
		}
	case held != nil:
		held.vars[name] = value
	default:
		if _, ok := m.globals[name]; !ok {
			return errors.New("no such variable " + name)
		}
		m.globals[name] = value
	}
	return nil
}

// choose runs :if, whose condition must be a truth value.
func (m *machine) choose(c command, s *scope) (any, error) {
	words := c.positional()
	if len(words) != 1 {
		return nil, errors.New("expected one condition")
	}
	value, err := m.eval(words[0], s, nil)
	if err != nil {
		return nil, err
	}
	yes, ok := value.(bool)
	if !ok {
		return nil, errors.New("conditional not boolean")
	}
	branch := c.arg("do")
	if !yes {
		branch = c.arg("else")
	}
	if branch == nil {
		return nil, nil
	}
	return m.block(branch, s, map[string]any{})
}

// attempt runs :do: with on-error another block after a failure, with while again while a condition holds.
func (m *machine) attempt(c command, s *scope) (any, error) {
	words := c.positional()
	if len(words) != 1 {
		return nil, errors.New("expected one block")
	}
	for {
		value, err := m.block(words[0], s, map[string]any{})
		if rescue := c.arg("on-error"); err != nil && rescue != nil && !errors.As(err, &returned{}) {
			return m.block(rescue, s, map[string]any{})
		}
		again := c.arg("while")
		if err != nil || again == nil {
			return value, err
		}
		more, err := m.eval(again, s, nil)
		if err != nil || !truth(more) {
			return value, err
		}
	}
}

// loop runs :foreach, :for or :while.
func (m *machine) loop(c command, s *scope) error {
	body := c.arg("do")
	if body == nil {
		return errors.New("missing value of do")
	}
	words := c.positional()
	if c.name == "while" {
		for {
			more, err := m.eval(words[0], s, nil)
			if err != nil || !truth(more) {
				return err
			}
			if _, err := m.block(body, s, map[string]any{}); err != nil {
				return err
			}
		}
	}
	names := strings.Split(show(words[0].(literal).value), ",")
	items, err := m.series(c, s)
	for i, item := range items {
		vars := map[string]any{names[len(names)-1]: item}
		if len(names) == 2 {
			vars[names[0]] = int64(i)
		}
		if _, err := m.block(body, s, vars); err != nil {
			return err
		}
	}
	return err
}

// series gives the values of the variable of :foreach or :for.
func (m *machine) series(c command, s *scope) ([]any, error) {
	if c.name == "foreach" {
		if c.arg("in") == nil {
			return nil, errors.New("missing value of in")
		}
		value, err := m.eval(c.arg("in"), s, nil)
		if items, ok := value.([]any); ok || err != nil {
			return items, err
		}
		return []any{value}, nil
	}
	ends := [3]int64{0, 0, 1}
	for i, name := range []string{"from", "to", "step"} {
		if x := c.arg(name); x != nil {
			value, err := m.eval(x, s, nil)
			n, ok := value.(int64)
			if err != nil || !ok {
				return nil, cmpErr(err, "expected a number for "+name)
			}
			ends[i] = n
		}
	}
	var items []any
	for n := ends[0]; ends[2] > 0 && n <= ends[1] || ends[2] < 0 && n >= ends[1]; n += ends[2] {
		if items = append(items, n); len(items) > maxSteps {
			return nil, errors.New("interrupted")
		}
	}
	return items, nil
}

// background runs :execute. A fault in the started script does not reach the script that started it.
func (m *machine) background(c command, s *scope) (any, error) {
	x := c.arg("script")
	if x == nil && len(c.positional()) > 0 {
		x = c.positional()[0]
	}
	body := []command(nil)
	if b, ok := x.(block); ok {
		body = b.body
	} else if x != nil {
		value, err := m.eval(x, s, nil)
		if err != nil {
			return nil, err
		}
		if body, _, err = m.r.parse(show(value), ""); err != nil {
			return "*1", nil //nolint:nilerr // a fault of a background script is not the caller's
		}
	}
	_, _ = m.commands(body, (&scope{}).with(map[string]any{}))
	return "*1", nil
}
