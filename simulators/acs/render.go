package acs

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// isoMillis is the form of instants in the server's JSON.
const isoMillis = "2006-01-02T15:04:05.000Z"

// plainValue gives a value the form of the server's JSON.
func plainValue(v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format(isoMillis)
	case oid:
		return string(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, one := range v {
			out[name] = plainValue(one)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, one := range v {
			out = append(out, plainValue(one))
		}
		return out
	}
	return v
}

// render writes a record. A nil projection is all of it.
func render(r record, projection []string) ([]byte, error) {
	var out map[string]any
	switch r := r.(type) {
	case *document:
		out = r.project(projection)
	case fields:
		out = r.project(projection)
	}
	return json.Marshal(plainValue(out))
}

// leaner drops the paths of a projection that another one of it contains, as the server does.
func leaner(paths []string) []string {
	out := []string{}
	for _, p := range paths {
		if !slices.ContainsFunc(paths, func(q string) bool { return strings.HasPrefix(p, q+".") }) {
			out = append(out, p)
		}
	}
	return out
}

// project gives the parts of a document.
func (f fields) project(paths []string) map[string]any {
	if paths == nil {
		return f
	}
	out := map[string]any{"_id": f["_id"]}
	for _, p := range paths {
		if v, ok := f.get(p); ok {
			put(out, p, v)
		}
	}
	return out
}

// put sets a value at a path, making the objects on the way.
func put(into map[string]any, path string, value any) {
	parts := strings.Split(path, ".")
	for _, part := range parts[:len(parts)-1] {
		next, ok := into[part].(map[string]any)
		if !ok {
			next = map[string]any{}
			into[part] = next
		}
		into = next
	}
	into[parts[len(parts)-1]] = value
}

// project gives the parts of a device's document.
func (d *document) project(paths []string) map[string]any {
	heads := d.heads()
	if paths == nil {
		for p := range d.leaves {
			d.branch(heads, p)
		}
		return heads
	}
	out := map[string]any{"_id": d.id}
	for _, p := range paths {
		if strings.HasPrefix(p, "_") {
			if v, ok := fields(heads).get(p); ok {
				put(out, p, v)
			}
			continue
		}
		base, field := splitField(p)
		l, isLeaf := d.leaves[base]
		switch {
		case isLeaf && field != "":
			if v, ok := l.fields()[field]; ok {
				put(out, p, v)
			}
		case isLeaf:
			put(out, base, l.fields())
		case field == "_object" && d.has(base):
			put(out, p, true)
		case field == "":
			for path := range d.leaves {
				if strings.HasPrefix(path, base+".") {
					d.branchBelow(out, base, path)
				}
			}
		}
	}
	return out
}

// has reports whether a path is an object of the tree.
func (d *document) has(object string) bool {
	for p := range d.leaves {
		if strings.HasPrefix(p, object+".") {
			return true
		}
	}
	return false
}

// branch puts a leaf and the objects above it.
func (d *document) branch(into map[string]any, path string) { d.branchBelow(into, "", path) }

// branchBelow puts a leaf, and the objects from a path down to it.
func (d *document) branchBelow(into map[string]any, from, path string) {
	put(into, path, d.leaves[path].fields())
	for at := strings.LastIndexByte(path, '.'); at > 0; at = strings.LastIndexByte(path[:at], '.') {
		object := path[:at]
		if from != "" && object != from && !strings.HasPrefix(object, from+".") {
			return
		}
		put(into, object+"._object", true)
		put(into, object+"._writable", false)
	}
}
