package acs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What the server makes of a number of instances before it asks the device for the first. Source:
// docs/facts/genieacs.md#provisions.
const (
	maxCalls = 255     // of the device in a session
	maxNotes = 1 << 20 // of instances to make; more than about so many take all memory of its process
)

// instances is the script's wish for a number of instances of an object, or for one instance less.
func (r *round) instances(path string, count any) {
	least, most := millis(count), millis(count)
	if list, ok := count.([]any); ok && len(list) > 1 {
		least, most = millis(list[0]), millis(list[1])
	}
	r.x.d.boxMu.Lock()
	defer r.x.d.boxMu.Unlock()
	object, last := path[:max(strings.LastIndexByte(path, '.'), 0)], path[strings.LastIndexByte(path, '.')+1:]
	for parent, have := range r.x.d.box.instancesOf(object) {
		if last != "*" {
			if slices.Contains(have, last) && most < 1 {
				r.drops = append(r.drops, parent+"."+last)
			}
			continue
		}
		if n := int64(len(have)); n < least {
			r.makes[parent] = max(r.makes[parent], least-n)
		}
		for _, one := range have[min(int64(len(have)), max(most, 0)):] {
			r.drops = append(r.drops, parent+"."+one)
		}
	}
}

// makeInstances has the device make and take away what a run has asked for.
func (r *round) makeInstances() *fault {
	for parent, count := range r.makes {
		if count > maxNotes {
			r.x.sim.line("process ended: heap out of memory")
			return scriptFault("Error", "the process ended")
		}
		for range count {
			if r.x.calls++; r.x.calls > maxCalls {
				return &fault{code: "too_many_rpcs", message: "Too many RPC requests"}
			}
			if f := r.x.addObject(parent, nil); f != nil {
				return f
			}
		}
	}
	for _, one := range r.drops {
		if f := r.x.deleteObject(one); f != nil {
			return f
		}
	}
	return nil
}

// instancesOf gives the objects that a pattern means, and the numbers of their instances in order; the box is locked.
func (b *box) instancesOf(pattern string) map[string][]string {
	out := map[string][]string{}
	depth := strings.Count(pattern, ".") + 1
	for path := range b.params {
		parts := strings.Split(path, ".")
		if len(parts) < depth+2 || !fitsPattern(strings.Join(parts[:depth], "."), pattern) {
			continue
		}
		if _, err := strconv.Atoi(parts[depth]); err != nil {
			continue
		}
		object := strings.Join(parts[:depth], ".")
		if !slices.Contains(out[object], parts[depth]) {
			out[object] = append(out[object], parts[depth])
		}
	}
	for _, have := range out {
		slices.SortFunc(have, func(a, b string) int {
			return strings.Compare(fmt.Sprintf("%9s", a), fmt.Sprintf("%9s", b))
		})
	}
	return out
}
