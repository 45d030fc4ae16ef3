package acs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"
)

// numbers reads an object of instants or values.
func numbers(v goja.Value) map[string]any {
	if goja.IsNull(v) || goja.IsUndefined(v) {
		return nil
	}
	out, _ := v.Export().(map[string]any)
	return out
}

// millis makes an instant of a script's number.
func millis(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	}
	return 0
}

// declare is the script's wish about parameters.
func (r *round) declare(call goja.FunctionCall) goja.Value {
	path := call.Argument(0).String()
	at, values := numbers(call.Argument(1)), numbers(call.Argument(2))
	want, sets := values["value"]
	if list, ok := want.([]any); ok && len(list) > 0 {
		want = list[0]
	}
	root, rest, _ := strings.Cut(path, ".")
	switch root {
	case "DeviceID":
		value, ok := r.x.pseudo(path)
		return r.result(pick(path, ok), func(string) (any, string, bool) { return value, typeText, ok }, nil)
	case "Tags":
		return r.tag(rest, want, sets)
	case "Reboot", "FactoryReset":
		r.act(root, want, sets)
		return r.result([]string{path}, func(string) (any, string, bool) { return nil, "", false }, nil)
	case rootTR181, rootTR098, "VirtualParameters", "Events", "Downloads":
	default:
		return r.fail("Invalid parameter path: " + path)
	}
	if count, counts := values["path"]; counts && count != nil {
		r.instances(path, count)
	}
	return r.parameters(path, at, want, sets)
}

// pick is a list of one path, or of none.
func pick(path string, ok bool) []string {
	if ok {
		return []string{path}
	}
	return nil
}

// parameters declares paths of the device's tree.
func (r *round) parameters(path string, at map[string]any, want any, sets bool) goja.Value {
	x := r.x
	need, looks := millis(at["value"]), at["path"] != nil || at["writable"] != nil || at["object"] != nil
	if sets {
		need = max(need, 1)
	}
	if (looks || need > 0) && !x.seen[path] {
		r.looks[path] = true
	}
	paths := x.known(path)
	for _, p := range paths {
		l := x.doc.leaves[p]
		if need > 0 && (!l.read || l.at.UnixMilli() < min(need, x.now.UnixMilli())) && !x.missing[p] {
			r.reads[p] = need
		}
		if sets && l.writable && l.read {
			if plain, ok := coerce(want, l.kind); ok && plain != l.value && x.given[p] != plain {
				r.writes[p] = want
			}
		}
	}
	var wait func()
	pending := func(p string) bool { return r.reads[p] > 0 || r.writes[p] != nil }
	if r.looks[path] || slices.ContainsFunc(paths, pending) {
		wait = func() { r.vm.Interrupt(errStop) }
	}
	return r.result(paths, func(p string) (any, string, bool) {
		l := x.doc.leaves[p]
		return l.value, l.kind, l.read
	}, wait)
}

// known gives the paths of the document that a pattern means.
func (x *session) known(pattern string) []string {
	if _, ok := x.doc.leaves[pattern]; ok {
		return []string{pattern}
	}
	if !strings.Contains(pattern, "*") {
		return nil
	}
	out := []string{}
	for p := range x.doc.leaves {
		if fitsPattern(p, pattern) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// tag declares a tag: it is there, it is set, or it goes.
func (r *round) tag(name string, want any, sets bool) goja.Value {
	x := r.x
	tag := plainTag(name)
	has := slices.Contains(x.doc.tags, tag)
	if sets && truth(want) != has {
		r.flip(tag, has)
		has = !has
	}
	paths := pick("Tags."+name, has)
	if name == "*" {
		for _, t := range x.doc.tags {
			paths = append(paths, "Tags."+scriptTag(t))
		}
	}
	return r.result(paths, func(string) (any, string, bool) { return true, typeBool, true }, nil)
}

// truth reads a script's value as yes or no.
func truth(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case nil:
		return false
	case int64:
		return v != 0
	case string:
		return v != "" && v != "false"
	}
	return true
}

// act declares a reboot or a factory reset: it happens when its instant is later than the last one.
func (r *round) act(what string, want any, sets bool) {
	if l := r.x.doc.leaves[what]; sets && millis(want) > 0 && (!l.read || l.at.UnixMilli() < millis(want)) {
		r.reboots = r.reboots || what == "Reboot"
		r.resets = r.resets || what == "FactoryReset"
	}
}

// clear is the script's wish to forget what is older than an instant.
func (r *round) clear(call goja.FunctionCall) goja.Value {
	path, before := call.Argument(0).String(), call.Argument(1).ToInteger()
	for p, l := range r.x.doc.leaves {
		if (p == path || strings.HasPrefix(p, path+".")) && l.at.UnixMilli() < before && !r.x.cleared(path, before) {
			r.clears[path] = before
			break
		}
	}
	return goja.Undefined()
}

// cleared reports whether this session has forgotten a path already.
func (x *session) cleared(path string, before int64) bool {
	return x.seen[fmt.Sprintf("clear %s %d", path, before)]
}

// ext asks the extension, once in a session for the same arguments.
func (r *round) ext(call goja.FunctionCall) goja.Value {
	args := []string{}
	for _, a := range call.Arguments {
		args = append(args, a.String())
	}
	key, _ := json.Marshal(args)
	answer, ok := r.x.answers[string(key)]
	if !ok {
		r.asks = args
		r.vm.Interrupt(errStop)
		return goja.Undefined()
	}
	if answer.fault != nil {
		panic(r.vm.NewGoError(errors.New(fmt.Sprint(answer.fault.message))))
	}
	return r.vm.ToValue(answer.value)
}

// result is the iterator that declare gives. wait breaks the run off when a value is looked at that is not there yet.
func (r *round) result(paths []string, value func(path string) (any, string, bool), wait func()) goja.Value {
	vm := r.vm
	item := func(path string) *goja.Object {
		o := vm.NewObject()
		get := func(name string, do func() goja.Value) {
			_ = o.DefineAccessorProperty(name, vm.ToValue(func(goja.FunctionCall) goja.Value {
				if wait != nil {
					wait()
				}
				return do()
			}), nil, goja.FLAG_FALSE, goja.FLAG_TRUE)
		}
		get("path", func() goja.Value {
			if path == "" {
				return goja.Undefined()
			}
			return vm.ToValue(path)
		})
		get("size", func() goja.Value { return vm.ToValue(len(paths)) })
		get("value", func() goja.Value {
			v, kind, ok := value(path)
			if path == "" || !ok {
				return goja.Undefined()
			}
			if at, is := v.(time.Time); is {
				v = at.UnixMilli()
			}
			if n, is := v.(float64); is && n == math.Trunc(n) {
				v = int64(n)
			}
			return vm.NewArray(v, kind)
		})
		return o
	}
	first := ""
	if len(paths) > 0 {
		first = paths[0]
	}
	out := item(first)
	_ = out.SetSymbol(goja.SymIterator, func(goja.FunctionCall) goja.Value {
		if wait != nil {
			wait()
		}
		list := []any{}
		for _, p := range paths {
			list = append(list, item(p))
		}
		array := vm.NewArray(list...)
		begin, _ := goja.AssertFunction(array.GetSymbol(goja.SymIterator))
		iterator, err := begin(array)
		if err != nil {
			panic(err)
		}
		return iterator
	})
	return out
}
