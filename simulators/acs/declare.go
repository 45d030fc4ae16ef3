package acs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
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

// pathForm matches a path in a script: parts with dots between, each of them a name, all of its place, or an alias.
// Source: docs/facts/genieacs.md#provisions.
var pathForm = regexp.MustCompile(`^(?:[A-Za-z0-9_-]+|\*|\[[^\]]*\])(?:\.(?:[A-Za-z0-9_-]+|\*|\[[^\]]*\]))*$`)

// path reads a path; of what is none the script fails.
func (r *round) path(v goja.Value) string {
	text := v.String()
	if pathForm.MatchString(text) {
		return text
	}
	thrown, err := r.vm.New(r.vm.Get("Error"), r.vm.ToValue("Invalid parameter path"))
	if err != nil {
		panic(err)
	}
	panic(thrown)
}

// declare is the script's wish about parameters.
func (r *round) declare(call goja.FunctionCall) goja.Value {
	w := wish{r.path(call.Argument(0)), numbers(call.Argument(1)), numbers(call.Argument(2))}
	switch root, _, _ := strings.Cut(w.path, "."); root {
	case "DeviceID", "Tags", "Reboot", "FactoryReset", rootTR181, rootTR098, "VirtualParameters", "Events", "Downloads":
	default:
		return r.fail("Invalid parameter path: " + w.path)
	}
	r.wishes, r.uncommitted = append(r.wishes, w), true
	_, sets := w.values["value"]
	return r.result(w.path, sets || millis(w.at["value"]) > 0)
}

// committed goes on to the state after what was declared; a run for which it is not there yet is broken off. It reports
// whether the run goes on.
func (r *round) committed() bool {
	r.revision, r.uncommitted = r.revision+1, false
	if r.revision < len(r.states) {
		return true
	}
	r.vm.Interrupt(errStop)
	return false
}

// sees gives the device as the script sees it: to look at something commits all that was declared. It is nil when the
// run is broken off.
func (r *round) sees() *document {
	if r.revision >= len(r.states) || r.uncommitted && !r.committed() {
		return nil
	}
	return r.states[r.revision]
}

// want finds out what is to be done for a wish.
func (r *round) want(w wish) {
	want, sets := w.values["value"]
	if list, ok := want.([]any); ok && len(list) > 0 {
		want = list[0]
	}
	switch root, rest, _ := strings.Cut(w.path, "."); root {
	case "DeviceID":
	case "Tags":
		if sets && !strings.Contains(rest, ".") { // a path of more parts is no tag
			r.tags = append(r.tags, flip{rest, truth(want)})
		}
	case "Reboot", "FactoryReset":
		r.act(root, want, sets)
	default:
		if count, counts := w.values["path"]; counts && count != nil {
			r.instances(w.path, count)
		}
		r.parameters(w.path, w.at, want, sets)
	}
}

// parameters declares paths of the device's tree.
func (r *round) parameters(path string, at map[string]any, want any, sets bool) {
	x := r.x
	need, looks := millis(at["value"]), at["path"] != nil || at["writable"] != nil || at["object"] != nil
	if sets {
		need = max(need, 1)
	}
	if (looks || need > 0) && !x.seen[path] {
		r.looks[path] = true
	}
	for _, p := range x.doc.matching(path) {
		l := x.doc.leaves[p]
		if need > 0 && (!l.read || l.at.UnixMilli() < min(need, x.now.UnixMilli())) && !x.missing[p] {
			r.reads[p] = need
		}
		if sets && l.writable && l.read {
			delete(r.writes, p) // what is declared last wins
			if plain, ok := coerce(want, l.kind); ok && plain != l.value && x.given[p] != plain {
				r.writes[p] = want
			}
		}
	}
}

// matching gives the paths of the document that a pattern means.
func (d *document) matching(pattern string) []string {
	if root, rest, _ := strings.Cut(pattern, "."); root == "Tags" {
		var out []string
		for _, form := range d.tags {
			if rest == "*" || rest == form {
				out = append(out, "Tags."+form)
			}
		}
		return out
	}
	if _, ok := d.leaves[pattern]; ok {
		return []string{pattern}
	}
	if _, ok := d.pseudo(pattern); ok {
		return []string{pattern}
	}
	if !strings.Contains(pattern, "*") {
		return nil
	}
	out := []string{}
	for p := range d.leaves {
		if fitsPattern(p, pattern) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// value gives what a script reads of a path, with its type; false when there is nothing.
func (d *document) value(path string) (any, string, bool) {
	if strings.HasPrefix(path, "Tags.") {
		return true, typeBool, true
	}
	if value, ok := d.pseudo(path); ok {
		return value, typeText, true
	}
	l := d.leaves[path]
	return l.value, l.kind, l.read
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
	path, before := r.path(call.Argument(0)), call.Argument(1).ToInteger()
	r.uncommitted = true
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

// ext asks the extension. Source: docs/facts/genieacs.md#extension.
func (r *round) ext(call goja.FunctionCall) goja.Value {
	args := []string{}
	for _, a := range call.Arguments {
		args = append(args, a.String())
	}
	answer, ok := r.x.answers[r.question(args)]
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

// question tells those calls of the extension from each other that are answered alike, as long as the presets have not
// run again: with the same arguments, behind as many commits.
func (r *round) question(args []string) string {
	text, _ := json.Marshal(args)
	return fmt.Sprintf("%d: %s", r.revision, text)
}

// result is the answer of declare: the first of the paths that a pattern means, and an iterator of all. Each look at it
// commits and finds them anew.
func (r *round) result(pattern string, values bool) *goja.Object {
	vm := r.vm
	out := vm.NewObject()
	get := func(name string, do func(d *document, paths []string) goja.Value) {
		_ = out.DefineAccessorProperty(name, vm.ToValue(func(goja.FunctionCall) goja.Value {
			d := r.sees()
			if d == nil {
				return goja.Undefined()
			}
			paths := d.matching(pattern)
			if len(paths) == 0 {
				return goja.Undefined()
			}
			return do(d, paths)
		}), nil, goja.FLAG_FALSE, goja.FLAG_TRUE)
	}
	get("path", func(_ *document, paths []string) goja.Value { return vm.ToValue(paths[0]) })
	get("size", func(_ *document, paths []string) goja.Value { return vm.ToValue(len(paths)) })
	if values {
		get("value", func(d *document, paths []string) goja.Value { return r.scriptValue(d.value(paths[0])) })
	}
	_ = out.SetSymbol(goja.SymIterator, func(goja.FunctionCall) goja.Value {
		list := []any{}
		if d := r.sees(); d != nil {
			for _, p := range d.matching(pattern) {
				list = append(list, r.result(p, values))
			}
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

// scriptValue is a value with its type as scripts have it.
func (r *round) scriptValue(v any, kind string, ok bool) goja.Value {
	if !ok {
		return goja.Undefined()
	}
	if at, is := v.(time.Time); is {
		v = at.UnixMilli()
	}
	if n, is := v.(float64); is && n == math.Trunc(n) {
		v = int64(n)
	}
	return r.vm.NewArray(v, kind)
}
