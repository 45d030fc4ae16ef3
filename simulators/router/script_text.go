package router

import (
	"errors"
	"fmt"
	"strings"
)

// pick cuts a part out of a text or a list: values are the text, the first place, and the place after the last.
func pick(values []any) (any, error) {
	if len(values) < 2 {
		return nil, errors.New("missing value of pick")
	}
	from, ok := values[1].(int64)
	to, bounded := from+1, true
	if len(values) > 2 {
		to, bounded = values[2].(int64)
	}
	if !ok || !bounded || from < 0 {
		return nil, errors.New("expected a number")
	}
	if items, ok := values[0].([]any); ok {
		n := int64(len(items))
		if len(values) == 2 {
			if from < n {
				return items[from], nil
			}
			return nil, nil
		}
		return items[min(from, n):max(min(to, n), min(from, n))], nil
	}
	text := show(values[0])
	n := int64(len(text))
	return text[min(from, n):max(min(to, n), min(from, n))], nil
}

// search gives the place of a text in a text, or of an item in a list; nothing when it is absent.
func search(values []any) (any, error) {
	if len(values) < 2 {
		return nil, errors.New("missing value of find")
	}
	from := int64(-1)
	if len(values) > 2 {
		from, _ = values[2].(int64)
	}
	if items, ok := values[0].([]any); ok {
		for i := from + 1; i < int64(len(items)); i++ {
			if same(items[i], values[1]) {
				return i, nil
			}
		}
		return nil, nil
	}
	text := show(values[0])
	if at := min(max(from+1, 0), int64(len(text))); strings.Contains(text[at:], show(values[1])) {
		return at + int64(strings.Index(text[at:], show(values[1]))), nil
	}
	return nil, nil
}

// kindOf gives the name that :typeof has for a value's type.
func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "nothing"
	case int64:
		return "num"
	case bool:
		return "bool"
	case []any:
		return "array"
	case function:
		return "code"
	case string:
		if _, ok := parseID(v); ok {
			return "id"
		}
	}
	return "str"
}

// given converts a value to an argument of a menu's command: truth values become yes and no.
func given(value any) string {
	switch value {
	case true:
		return "yes"
	case false:
		return "no"
	}
	return show(value)
}

// show converts a value to text: lists are joined by semicolons.
func show(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case []any:
		words := make([]string, len(v))
		for i, one := range v {
			words[i] = show(one)
		}
		return strings.Join(words, ";")
	case function:
		return "(code)"
	}
	return fmt.Sprint(value)
}
