package acs

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// collection gives the records of a collection in the order of their making; nil for an unknown one.
func (st *state) collection(name string) []record {
	out := []record{}
	switch name {
	case "devices":
		for _, d := range st.devices {
			if d.doc != nil {
				out = append(out, d.doc)
			}
		}
	case "tasks":
		for _, t := range st.tasks {
			out = append(out, fields(t.fields()))
		}
	case "faults":
		for _, f := range st.faults {
			out = append(out, fields(f.fields()))
		}
	case "presets":
		for _, p := range st.presets {
			out = append(out, fields(p))
		}
	case "objects":
		for _, o := range st.objects {
			out = append(out, fields(o))
		}
	case "provisions":
		for name, script := range st.provisions {
			out = append(out, fields{"_id": name, "script": script})
		}
	case "virtual_parameters":
		for name, script := range st.virtual {
			out = append(out, fields{"_id": name, "script": script})
		}
	case "files":
		for _, f := range st.files {
			out = append(out, fields(f.fields()))
		}
	case "operations", "config", "permissions", "users", "cache", "locks":
	default:
		return nil
	}
	return out
}

// query answers a list, or the count of one.
func query(x *exchange) {
	values := x.r.URL.Query()
	x.s.mu.Lock()
	all := x.s.state.collection(x.part[0])
	x.s.mu.Unlock()
	if all == nil {
		x.text(http.StatusNotFound, "404 Not Found")
		return
	}
	q := map[string]any{}
	if text := values.Get("query"); values.Has("query") && json.Unmarshal([]byte(text), &q) != nil {
		x.syntax()
		return
	}
	found, err := chosenOf(x.part[0], all, q)
	if err != nil {
		x.s.crash(x.r.Context())
	}
	var by map[string]float64
	if values.Has("sort") && json.Unmarshal([]byte(values.Get("sort")), &by) != nil {
		x.syntax()
		return
	}
	sortRecords(x.part[0], found, by)
	x.w.Header().Set("Content-Type", "application/json")
	x.w.Header()["total"] = []string{strconv.Itoa(len(found))}
	x.w.WriteHeader(http.StatusOK)
	if x.r.Method == http.MethodHead {
		return
	}
	var projection []string
	if values.Has("projection") {
		for _, p := range strings.Split(values.Get("projection"), ",") {
			projection = append(projection, strings.TrimSpace(p))
		}
		projection = leaner(projection)
	}
	skip, _ := strconv.Atoi(values.Get("skip"))
	limit, _ := strconv.Atoi(values.Get("limit"))
	found = found[min(max(skip, 0), len(found)):]
	if limit > 0 {
		found = found[:min(limit, len(found))]
	}
	x.list(found, projection)
}

// chosenOf gives the records that a query means.
func chosenOf(collection string, all []record, q map[string]any) ([]record, error) {
	var err error
	switch collection {
	case "devices":
		q, err = expand(q)
	case "tasks":
		err = typed(q, map[string]func(any) (any, error){"_id": toOID, "timestamp": toTime})
	case "faults":
		err = typed(q, map[string]func(any) (any, error){"timestamp": toTime})
	}
	if err != nil {
		return nil, err
	}
	out := []record{}
	for _, r := range all {
		ok, err := match(r, q)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, r)
		}
	}
	if len(all) == 0 { // the database looks at a query also when there is nothing to find
		_, err = match(fields{}, q)
	}
	return out, err
}

// sortRecords sorts by the keys of a sort, and by ids.
func sortRecords(collection string, list []record, by map[string]float64) {
	value := func(r record, key string) any {
		if last := key[strings.LastIndexByte(key, '.')+1:]; collection == "devices" && !strings.HasPrefix(last, "_") {
			key += "._value"
		}
		v, _ := r.get(key)
		return v
	}
	keys := append(slices.Sorted(maps.Keys(by)), "_id")
	slices.SortStableFunc(list, func(a, b record) int {
		for _, key := range keys {
			n, _ := order(value(a, key), value(b, key))
			if by[key] < 0 {
				n = -n
			}
			if n != 0 {
				return n
			}
		}
		return 0
	})
}

// list writes the records as the server streams them.
func (x *exchange) list(found []record, projection []string) {
	cut := x.s.Faults().CutLists
	_, _ = io.WriteString(x.w, "[\n")
	for i, r := range found {
		text, err := render(r, projection)
		if err != nil {
			panic(aborted)
		}
		if i > 0 {
			_, _ = io.WriteString(x.w, ",\n")
		}
		if cut && i == len(found)/2 {
			_, _ = x.w.Write(text[:len(text)/2])
			panic(aborted)
		}
		_, _ = x.w.Write(text)
	}
	_, _ = io.WriteString(x.w, "\n]")
}
