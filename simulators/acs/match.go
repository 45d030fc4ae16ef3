package acs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
)

// match decides about a record.
func match(r record, query map[string]any) (bool, error) {
	for key, want := range query {
		ok, err := matchKey(r, key, want)
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// matchKey decides about one condition.
func matchKey(r record, key string, want any) (bool, error) {
	if !strings.HasPrefix(key, "$") {
		have, _ := r.get(key)
		return matchValue(have, want)
	}
	list, ok := want.([]any)
	if !ok || len(list) == 0 || key != "$and" && key != "$or" && key != "$nor" {
		return false, errCrash
	}
	hits := 0
	for _, one := range list {
		q, ok := one.(map[string]any)
		if !ok {
			return false, errCrash
		}
		ok, err := match(r, q)
		if err != nil {
			return false, err
		}
		if ok {
			hits++
		}
	}
	switch key {
	case "$and":
		return hits == len(list), nil
	case "$or":
		return hits > 0, nil
	}
	return hits == 0, nil
}

// matchValue compares a value with what is wanted: another value, or operators.
func matchValue(have, want any) (bool, error) {
	operators, ok := want.(map[string]any)
	if !ok {
		return equal(have, want), nil
	}
	for op, arg := range operators {
		ok, err := operate(have, op, arg)
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// equal compares a value; a list is equal to each of its elements.
func equal(have, want any) bool {
	if list, ok := have.([]any); ok {
		return slices.ContainsFunc(list, func(one any) bool { return equal(one, want) })
	}
	n, ok := order(have, want)
	return ok && n == 0
}

// order compares two values of one type.
func order(a, b any) (int, bool) {
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return cmp.Compare(a, b), ok
	case oid:
		b, ok := b.(oid)
		return cmp.Compare(a, b), ok
	case float64:
		b, ok := b.(float64)
		return cmp.Compare(a, b), ok
	case time.Time:
		b, ok := b.(time.Time)
		return a.Compare(b), ok
	case bool:
		b, ok := b.(bool)
		return map[bool]int{true: 0, false: 1}[a == b], ok
	case nil:
		return 0, b == nil
	}
	return 0, false
}

// operate applies one operator.
func operate(have any, op string, arg any) (bool, error) {
	switch op {
	case "$eq":
		return equal(have, arg), nil
	case "$ne":
		return !equal(have, arg), nil
	case "$exists":
		return (have != nil) == truth(arg), nil
	case "$in", "$nin":
		list, ok := arg.([]any)
		if !ok {
			return false, errCrash
		}
		for _, one := range list {
			if _, nested := one.(map[string]any); nested {
				return false, errCrash
			}
		}
		in := slices.ContainsFunc(list, func(one any) bool { return equal(have, one) })
		return in == (op == "$in"), nil
	case "$gt", "$gte", "$lt", "$lte":
		n, ok := order(have, arg)
		return ok && map[string]bool{"$gt": n > 0, "$gte": n >= 0, "$lt": n < 0, "$lte": n <= 0}[op], nil
	case "$regex":
		re, ok := arg.(*regexp.Regexp)
		if text, is := arg.(string); is {
			var err error
			re, err = regexp.Compile(text)
			ok = err == nil
		}
		if !ok {
			return false, errCrash
		}
		list, ok := have.([]any)
		if !ok {
			list = []any{have}
		}
		return slices.ContainsFunc(list, func(one any) bool {
			text, ok := one.(string)
			return ok && re.MatchString(text)
		}), nil
	}
	return false, errCrash
}
