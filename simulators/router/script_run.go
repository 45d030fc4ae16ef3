package router

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxSteps bounds the statements that a script may run, so that an endless loop ends with an error.
const maxSteps = 200_000

// maxDepth bounds how deep blocks and functions may be nested.
const maxDepth = 500

// machine runs one script on a router.
type machine struct {
	r       *Router
	who     *caller // whose rights the script has; nil = all
	inside  bool    // the router's lock is held, as it is for scripts that the router itself starts
	globals map[string]any
	out     strings.Builder
	steps   int
	depth   int // of nested blocks
}

// scope holds the local variables of a block.
type scope struct {
	vars  map[string]any
	outer *scope
}

// with opens a block inside a scope.
func (s *scope) with(vars map[string]any) *scope { return &scope{vars, s} }

// holder finds the scope that has a variable; nil when there is none.
func (s *scope) holder(name string) *scope {
	for at := s; at != nil; at = at.outer {
		if _, ok := at.vars[name]; ok {
			return at
		}
	}
	return nil
}

// function is a block used as a value, such as a variable that can be called.
type function struct{ body []command }

// returned carries the value of :return out of nested blocks, as an error.
type returned struct{ value any }

// Error is needed for the type error; scripts never show this text.
func (returned) Error() string { return "returned" }

// Script runs a script as /import does: the whole text is parsed first, and the run stops at the first fault. It gives
// the printed text.
func (r *Router) Script(text string) (string, error) {
	m := &machine{r: r, globals: map[string]any{}}
	err := m.text(text)
	return m.out.String(), err
}

// text parses a whole script and runs it.
func (m *machine) text(text string) error {
	body, _, err := m.r.parse(text, "")
	if err == nil {
		_, err = m.commands(body, (&scope{}).with(map[string]any{}))
	}
	if errors.As(err, &returned{}) {
		err = nil
	}
	return err
}

// perform runs one command of a menu with the rights of the script.
func (m *machine) perform(path, command string, args Item) ([]Item, error) {
	if !m.inside {
		m.r.lock()
		defer m.r.unlock()
	}
	given := Item{}
	maps.Copy(given, args)
	return m.r.perform(call{menu: path, command: command, args: given, who: m.who})
}

// Paste runs a script as a terminal does: each line or block is parsed and run alone, with its own local variables,
// and a fault does not stop the next. Tabs and unescaped question marks are faults, because a terminal acts on them.
func (r *Router) Paste(text string) (string, []error) {
	m := &machine{r: r, globals: map[string]any{}}
	var faults []error
	menu := ""
	for _, chunk := range chunks(text) {
		for i, c := range []byte(chunk) {
			if c == '\t' || c == '?' && (i == 0 || chunk[i-1] != '\\') {
				faults = append(faults, fmt.Errorf("a terminal acts on %q in %q", c, strings.TrimSpace(chunk)))
				break
			}
		}
		body, after, err := r.parse(chunk, menu)
		if err == nil {
			menu = after
			_, err = m.commands(body, (&scope{}).with(map[string]any{}))
		}
		if err != nil && !errors.As(err, &returned{}) {
			faults = append(faults, fmt.Errorf("%w in %q", err, strings.TrimSpace(chunk)))
		}
	}
	return m.out.String(), faults
}

// commands runs statements and gives the value of the last one.
func (m *machine) commands(body []command, s *scope) (last any, err error) {
	if m.depth++; m.depth > maxDepth {
		return nil, errors.New("maximum recursion depth exceeded")
	}
	defer func() { m.depth-- }()
	for _, c := range body {
		if err := m.step(); err != nil {
			return nil, err
		}
		switch {
		case c.scope:
			last, err = m.commands(c.inner, s.with(map[string]any{}))
		case c.call != "":
			last, err = m.invoke(c, s)
		case c.name != "":
			last, err = m.spoken(c, s)
		case c.verb != "":
			last, err = m.menu(c, s)
		}
		if err != nil {
			return nil, err
		}
	}
	return last, nil
}

// step counts a statement or a round of a loop; it fails after maxSteps.
func (m *machine) step() error {
	if m.steps++; m.steps > maxSteps {
		return errors.New("interrupted")
	}
	return nil
}

// invoke runs a variable that holds a function; the arguments become its variables, unnamed ones as $1, $2, …
func (m *machine) invoke(c command, s *scope) (any, error) {
	value, err := m.eval(variable{c.call}, s, nil)
	f, ok := value.(function)
	if err != nil || !ok {
		return value, err
	}
	vars := map[string]any{}
	for i, a := range c.args {
		name := a.name
		if name == "" {
			name = strconv.Itoa(i + 1)
		}
		if vars[name], err = m.eval(a.value, s, nil); err != nil {
			return nil, err
		}
	}
	value, err = m.commands(f.body, (&scope{}).with(vars))
	var back returned
	if errors.As(err, &back) {
		return back.value, nil
	}
	return value, err
}

// block runs an argument that is a block or a function.
func (m *machine) block(x expr, s *scope, vars map[string]any) (any, error) {
	b, ok := x.(block)
	if !ok {
		value, err := m.eval(x, s, nil)
		f, isFunction := value.(function)
		if err != nil || !isFunction {
			return nil, cmpErr(err, "expected a block")
		}
		b.body = f.body
	}
	if err := m.step(); err != nil {
		return nil, err
	}
	return m.commands(b.body, s.with(vars))
}

// cmpErr gives err, or an error with the message when err is nil.
func cmpErr(err error, message string) error {
	if err != nil {
		return err
	}
	return errors.New(message)
}

// menu runs a menu's command. Only find, get and commands that return an id have a value.
func (m *machine) menu(c command, s *scope) (any, error) {
	switch c.verb {
	case "find":
		items, err := m.items(c, s)
		ids := []any{}
		for _, item := range items {
			ids = append(ids, item[".id"])
		}
		return ids, err
	case "print":
		items, err := m.items(c, s)
		if c.arg("count-only") != nil {
			return int64(len(items)), err
		}
		return nil, err
	case "get":
		return m.get(c, s)
	}
	args := Item{}
	for i, a := range c.args {
		value, err := m.eval(a.value, s, nil)
		if err != nil {
			return nil, err
		}
		name := a.name
		if name == "" {
			if name = "numbers"; i > 0 {
				name = "destination"
			}
		}
		args[name] = given(value)
	}
	if c.verb == "reboot" {
		return nil, m.reboot()
	}
	if numbers, ok := args["numbers"]; ok {
		if numbers == "" {
			return nil, nil // a find without a result changes nothing
		}
		if _, err := strconv.Atoi(numbers); err == nil {
			return nil, errors.New("no such item (4)") // the numbers of print are not valid in scripts
		}
		args["numbers"] = strings.ReplaceAll(numbers, ";", ",")
	}
	if before, ok := args["place-before"]; ok {
		args["place-before"], _, _ = strings.Cut(before, ";")
	}
	items, err := m.perform(c.menu, c.verb, args)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	return items[0]["ret"], nil
}

// reboot restarts the router, if the script may.
func (m *machine) reboot() error {
	if !m.who.may("reboot") {
		return noPermission()
	}
	if !m.inside {
		m.r.Reboot()
		return nil
	}
	m.r.restart()
	m.r.door.breakAll()
	return nil
}

// items gives the items of a find or print that meet its condition.
func (m *machine) items(c command, s *scope) ([]Item, error) {
	all, err := m.perform(c.menu, "print", nil)
	if err != nil || c.where == nil {
		return all, err
	}
	var out []Item
	for _, item := range all {
		value, err := m.eval(c.where, s, item)
		if err != nil {
			return nil, err
		}
		if truth(value) {
			out = append(out, item)
		}
	}
	return out, nil
}

// get reads one property of one item, or of the only item of a menu.
func (m *machine) get(c command, s *scope) (any, error) {
	var words []string
	for _, a := range c.args {
		value, err := m.eval(a.value, s, nil)
		if err != nil {
			return nil, err
		}
		if ids, ok := value.([]any); ok && len(ids) != 1 {
			return nil, errors.New("invalid internal item number")
		}
		words = append(words, show(value))
	}
	args := Item{}
	if !m.r.menus[c.menu].single {
		if len(words) == 0 {
			return nil, errors.New("no such item")
		}
		args[".id"], words = words[0], words[1:]
	}
	items, err := m.perform(c.menu, "print", args)
	if err != nil || len(words) == 0 || len(items) == 0 {
		return nil, cmpErr(err, "expected the name of a value")
	}
	value, ok := items[0][words[0]]
	if !ok {
		if menu := m.r.menus[c.menu]; !menu.shows(m.r.version, words[0]) &&
			!slices.Contains([]string{"comment", ".id"}, words[0]) {
			return nil, errors.New("unknown value name")
		}
		return nil, nil
	}
	return valueOf(value), nil
}
