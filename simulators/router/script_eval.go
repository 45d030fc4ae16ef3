package router

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// eval gives the value of an expression; nil is nothing. item is the item that a condition is evaluated for.
func (m *machine) eval(x expr, s *scope, item Item) (any, error) {
	switch x := x.(type) {
	case literal:
		return x.value, nil
	case variable:
		if held := s.holder(x.name); held != nil {
			return held.vars[x.name], nil
		}
		return m.globals[x.name], nil
	case property:
		value, ok := item[x.name]
		if !ok {
			return nil, nil
		}
		return value, nil
	case block:
		return function(x), nil
	case substitution:
		return m.commands(x.body, s)
	case joined:
		var text strings.Builder
		for _, part := range x.parts {
			value, err := m.eval(part, s, item)
			if err != nil {
				return nil, err
			}
			text.WriteString(show(value))
		}
		return text.String(), nil
	case list:
		items := []any{}
		for _, one := range x.items {
			value, err := m.eval(one, s, item)
			if err != nil {
				return nil, err
			}
			items = append(items, value)
		}
		return items, nil
	case unary:
		return m.unary(x, s, item)
	case binary:
		return m.binary(x, s, item)
	}
	return nil, errors.New("syntax error")
}

// unary applies - to a number, or ! to a truth value.
func (m *machine) unary(x unary, s *scope, item Item) (any, error) {
	value, err := m.eval(x.x, s, item)
	if err != nil {
		return nil, err
	}
	if n, ok := value.(int64); ok && x.op == "-" {
		return -n, nil
	}
	if x.op == "!" {
		return !truth(value), nil
	}
	return nil, errors.New("cannot negate")
}

// binary applies an operator; the right side of && and || is not evaluated when the left side decides.
func (m *machine) binary(x binary, s *scope, item Item) (any, error) {
	left, err := m.eval(x.left, s, item)
	if err != nil {
		return nil, err
	}
	switch {
	case (x.op == "&&" || x.op == "and") && !truth(left):
		return false, nil
	case (x.op == "||" || x.op == "or") && truth(left):
		return true, nil
	}
	right, err := m.eval(x.right, s, item)
	if err != nil {
		return nil, err
	}
	_, about := x.left.(property)
	switch x.op {
	case "&&", "||", "and", "or":
		return truth(right), nil
	case "=", "!=":
		return (same(left, right) || about && loose(left, right)) == (x.op == "="), nil
	case "~":
		pattern, err := regexp.Compile(show(right))
		if err != nil {
			return nil, errors.New("bad regular expression")
		}
		return pattern.MatchString(show(left)), nil
	case ".":
		return show(left) + show(right), nil
	case ",":
		return append(slices.Clone(asList(left)), asList(right)...), nil
	case "in":
		return slices.ContainsFunc(asList(right), func(v any) bool { return same(v, left) }), nil
	case "->":
		i, ok := right.(int64)
		if items := asList(left); ok && i >= 0 && i < int64(len(items)) {
			return items[i], nil
		}
		return nil, nil
	case "<", ">", "<=", ">=":
		if about {
			left = valueOf(show(left))
		}
		return ordered(x.op, left, right)
	}
	return calculate(x.op, left, right)
}

// asList gives a list unchanged, another value as a list of one, and nothing as an empty list.
func asList(value any) []any {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{value}
}

// truth reports whether a value counts as true: true, or the texts "true" and "yes".
func truth(value any) bool {
	text, isText := value.(string)
	return value == true || isText && (text == "true" || text == "yes")
}

// same compares values of one type; functions are never equal.
func same(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case []any:
		other, ok := b.([]any)
		return ok && slices.EqualFunc(a, other, same)
	case function:
		return false
	}
	if _, ok := b.([]any); ok {
		return false
	}
	if _, ok := b.(function); ok {
		return false
	}
	return a == b
}

// loose compares a property, which is text, with a value of any type; an unset property equals no and "".
func loose(a, b any) bool {
	if yes, ok := b.(bool); ok {
		return truth(a) == yes
	}
	if ids, ok := b.([]any); ok && len(ids) == 1 {
		b = ids[0]
	}
	return show(a) == show(b)
}

// ordered compares two numbers or two texts; other types are an error.
func ordered(op string, left, right any) (any, error) {
	var order int
	a, okA := left.(int64)
	b, okB := right.(int64)
	switch {
	case okA && okB:
		order = cmp.Compare(a, b)
	case kindOf(left) == "str" && kindOf(right) == "str":
		order = cmp.Compare(show(left), show(right))
	default:
		return nil, errors.New("cannot compare if " + kindOf(left) + " is more than " + kindOf(right))
	}
	return map[string]bool{"<": order < 0, ">": order > 0, "<=": order <= 0, ">=": order >= 0}[op], nil
}

// calculate applies +, -, *, / or % to whole numbers.
func calculate(op string, left, right any) (any, error) {
	a, okA := left.(int64)
	b, okB := right.(int64)
	switch {
	case !okA || !okB:
		return nil, errors.New("cannot calculate " + kindOf(left) + " " + op + " " + kindOf(right))
	case op == "+":
		return a + b, nil
	case op == "-":
		return a - b, nil
	case op == "*":
		return a * b, nil
	case b == 0:
		return nil, errors.New("division by zero")
	case op == "/":
		return a / b, nil
	}
	return a % b, nil
}
