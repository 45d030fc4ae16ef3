package acs

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// errCrash is a query or a task at which the server's process breaks off.
var errCrash = errors.New("the server breaks off")

// record is a document that can be looked into.
type record interface {
	get(path string) (any, bool)
}

// fields is a document of any collection but devices.
type fields map[string]any

// get implements record.
func (f fields) get(path string) (any, bool) {
	if v, ok := f[path]; ok {
		return v, true
	}
	first, rest, more := strings.Cut(path, ".")
	inner, ok := f[first].(map[string]any)
	if !more || !ok {
		return nil, false
	}
	return fields(inner).get(rest)
}

// heads are the fields of a device's document beside its tree.
func (d *document) heads() map[string]any {
	out := map[string]any{
		"_id": d.id, "_timestamp": d.registered, "_registered": d.registered,
		"_deviceId": map[string]any{
			"_Manufacturer": d.manufacturer, "_OUI": d.oui, "_ProductClass": d.class, "_SerialNumber": d.serial,
		},
	}
	if d.class == "" {
		delete(out["_deviceId"].(map[string]any), "_ProductClass")
	}
	for name, at := range map[string]time.Time{
		"_lastInform": d.inform, "_lastBoot": d.boot, "_lastBootstrap": d.reset,
	} {
		if !at.IsZero() {
			out[name] = at
		}
	}
	if len(d.tags) > 0 {
		tags := []any{}
		for _, t := range d.tags {
			tags = append(tags, t)
		}
		out["_tags"] = tags
	}
	return out
}

// get implements record.
func (d *document) get(path string) (any, bool) {
	switch {
	case path == "_id": // by which every list is sorted
		return d.id, true
	case path == "_lastInform" && !d.inform.IsZero():
		return d.inform, true
	case strings.HasPrefix(path, "_"):
		return fields(d.heads()).get(path)
	}
	base, field := splitField(path)
	l, ok := d.leaves[base]
	if !ok || field == "" {
		return nil, false
	}
	v, ok := l.fields()[field]
	return v, ok
}

// splitField takes the name of a leaf's own field from the end of a path; "" when it has none.
func splitField(path string) (base, field string) {
	at := strings.LastIndexByte(path, '.')
	if at < 0 || at+1 >= len(path) || path[at+1] != '_' {
		return path, ""
	}
	return path[:at], path[at+1:]
}

// fields are a leaf as the server stores it.
func (l leaf) fields() map[string]any {
	out := map[string]any{"_object": false, "_writable": l.writable}
	if l.read {
		out["_value"], out["_type"] = l.value, l.kind
	}
	if !l.at.IsZero() {
		out["_timestamp"] = l.at
	}
	return out
}

// matchesQuery decides about a device by a query as it came.
func matchesQuery(d *document, query map[string]any) (bool, error) {
	expanded, err := expand(query)
	if err != nil {
		return false, err
	}
	return match(d, expanded)
}

// The widening of texts in queries for devices. Source: docs/facts/genieacs.md#reading.
var (
	numberForm = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)
	slashForm  = regexp.MustCompile(`^/(.*?)/(g?i?m?y?)$`)
	special    = regexp.MustCompile(`[\[\]\\^$.|?+()]`)
)

// widen gives what a text may mean: itself, a number, an instant, a pattern.
func widen(text string) ([]any, error) {
	out := []any{text}
	add := func(pattern string) error {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return errCrash
		}
		out = append(out, map[string]any{"$regex": re})
		return nil
	}
	if m := slashForm.FindStringSubmatch(text); m != nil {
		flags := strings.Map(func(r rune) rune {
			if r == 'i' || r == 'm' {
				return r
			}
			return -1
		}, m[2])
		if flags != "" {
			flags = "(?" + flags + ")"
		}
		if err := add(flags + m[1]); err != nil {
			return nil, err
		}
	}
	if numberForm.MatchString(text) {
		n, err := strconv.ParseFloat(text, 64)
		if err == nil && !math.IsInf(n, 0) {
			out = append(out, n)
		}
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02"} {
		if at, err := time.Parse(form, text); err == nil && at.Year() > 1983 {
			out = append(out, at)
			break
		}
	}
	if strings.Contains(text, "*") {
		return out, add(glob(text))
	}
	return out, nil
}

// glob makes a pattern of a text with wildcards, as the server does: only the first special character is escaped, and
// only the first wildcard in the middle is one.
func glob(text string) string {
	if at := special.FindStringIndex(text); at != nil {
		text = text[:at[0]] + `\` + text[at[0]:]
	}
	if strings.HasPrefix(text, "*") {
		text = strings.TrimLeft(text, "*")
	} else {
		text = "^" + text
	}
	if strings.HasSuffix(text, "*") {
		text = strings.TrimRight(text, "*")
	} else {
		text += "$"
	}
	return strings.Replace(text, "*", ".*", 1)
}

// widened are the operators whose values are widened.
var widened = []string{"$eq", "$gt", "$gte", "$in", "$lt", "$lte", "$ne", "$nin"}

// readings gives all that a value of a query may mean.
func readings(value any) ([]any, error) {
	switch v := value.(type) {
	case string:
		return widen(v)
	case []any:
		out := []any{}
		for _, one := range v {
			r, err := readings(one)
			if err != nil {
				return nil, err
			}
			out = append(out, r...)
		}
		return []any{out}, nil
	case map[string]any:
		out := []any{map[string]any{}}
		for _, op := range slices.Sorted(maps.Keys(v)) {
			options := []any{v[op]}
			if slices.Contains(widened, op) {
				var err error
				if options, err = readings(v[op]); err != nil {
					return nil, err
				}
			}
			next := []any{}
			for _, so := range out {
				for _, o := range options {
					one := maps.Clone(so.(map[string]any))
					one[op] = o
					next = append(next, one)
				}
			}
			out = next
		}
		return out, nil
	}
	return []any{value}, nil
}

// expand makes a query for devices one of the database.
func expand(query map[string]any) (map[string]any, error) {
	out := map[string]any{}
	all := []any{}
	for _, key := range slices.Sorted(maps.Keys(query)) {
		value := query[key]
		if strings.HasPrefix(key, "$") {
			list, ok := value.([]any)
			if !ok {
				return nil, errCrash
			}
			inner := []any{}
			for _, one := range list {
				q, _ := one.(map[string]any)
				e, err := expand(q)
				if err != nil {
					return nil, err
				}
				inner = append(inner, e)
			}
			if key == "$and" {
				all = append(all, inner...)
				continue
			}
			out[key] = inner
			continue
		}
		values, err := readings(value)
		if err != nil {
			return nil, err
		}
		path := key
		if last := key[strings.LastIndexByte(key, '.')+1:]; !strings.HasPrefix(last, "_") {
			path += "._value"
		}
		each := []any{}
		for _, v := range values {
			each = append(each, map[string]any{path: v})
		}
		operators, _ := value.(map[string]any)
		switch {
		case len(each) > 1 && (operators["$ne"] != nil || operators["$not"] != nil):
			if len(operators) > 1 {
				return nil, errCrash
			}
			all = append(all, each...)
		default:
			all = append(all, map[string]any{"$or": each})
		}
	}
	if len(all) > 0 {
		out["$and"] = all
	}
	return out, nil
}

// typed changes the values of some keys of a query to their types, as the server does for tasks and faults.
func typed(query map[string]any, types map[string]func(any) (any, error)) error {
	for key, value := range query {
		if strings.HasPrefix(key, "$") {
			list, ok := value.([]any)
			if !ok {
				return errCrash
			}
			for _, one := range list {
				q, _ := one.(map[string]any)
				if err := typed(q, types); err != nil {
					return err
				}
			}
			continue
		}
		change, ok := types[key]
		if !ok {
			continue
		}
		changed, err := typedValue(value, change)
		if err != nil {
			return err
		}
		query[key] = changed
	}
	return nil
}

// typedValue changes one condition.
func typedValue(value any, change func(any) (any, error)) (any, error) {
	operators, ok := value.(map[string]any)
	if !ok {
		return change(value)
	}
	for op, arg := range operators {
		var err error
		switch op {
		case "$in", "$nin":
			list, ok := arg.([]any)
			if !ok {
				return nil, errCrash
			}
			for i := range list {
				if list[i], err = change(list[i]); err != nil {
					return nil, err
				}
			}
		case "$eq", "$gt", "$gte", "$lt", "$lte", "$ne":
			operators[op], err = change(arg)
		case "$exists", "$type":
		default:
			return nil, errCrash
		}
		if err != nil {
			return nil, err
		}
	}
	return operators, nil
}

// oidForm matches ids of tasks.
var oidForm = regexp.MustCompile(`^[0-9a-fA-F]{24}$`)

// toOID reads an id of a task; the server breaks off at another text.
func toOID(v any) (any, error) {
	text, ok := v.(string)
	if !ok || !oidForm.MatchString(text) {
		return nil, fmt.Errorf("%w: id %v", errCrash, v)
	}
	return oid(strings.ToLower(text)), nil
}

// toTime reads an instant.
func toTime(v any) (any, error) {
	switch v := v.(type) {
	case string:
		at, err := time.Parse(time.RFC3339Nano, v)
		if err != nil {
			return nil, errCrash
		}
		return at, nil
	case float64:
		return time.UnixMilli(int64(v)).UTC(), nil
	}
	return nil, errCrash
}
