package detecting

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// group has routers that are down because of one thing: a root and others behind it, all of which went away within a
// day.
type group struct {
	root        id.Device
	devices     []id.Device
	first, last time.Time // when routers of it went away
}

// groups parts those that are down of some routers, in an order that is the same at each replay: each comes to the
// nearest one above it within a day of which it went away, along routers that are down. So one that was given up,
// around which the network has another way, has nothing to do with what goes away later.
func (s State) groups(of func(id.Device) bool) (list []group) {
	at := map[id.Device]int{}
	for _, d := range s.topDown(of) {
		first, last := s.went(d)
		i := len(list)
		for above := range s.above(d) {
			in, is := at[above]
			if !is { // the way up ends here
				break
			}
			if list[in].takes(first, last) {
				i = in
				break
			}
		}
		if i == len(list) {
			list = append(list, group{root: d, first: first, last: last})
		}
		g := &list[i]
		g.devices, at[d] = append(g.devices, d), i
		g.first, g.last = earlier(g.first, first), later(g.last, last)
	}
	return list
}

// takes reports whether what went away in a time is of the group: all of it within a day.
func (g group) takes(first, last time.Time) bool {
	return later(g.last, last).Sub(earlier(g.first, first)) < apart
}

// went is when a router went away that is down: at first with the outage that has it, if that began by itself.
func (s State) went(d id.Device) (first, last time.Time) {
	first, last = s.Down[d], s.Down[d]
	for _, o := range s.Open {
		if o.Detected && s.has(o, d) {
			first = earlier(first, o.began())
		}
	}
	return first, last
}

// above lists the routers above one, the nearest first.
func (s State) above(d id.Device) iter.Seq[id.Device] {
	return func(yield func(id.Device) bool) {
		for range s.Upstreams {
			above, is := s.Upstreams[d]
			if !is || !yield(above) {
				return
			}
			d = above
		}
	}
}

// topDown lists those that are down of some routers, each after those that stand above it.
func (s State) topDown(of func(id.Device) bool) []id.Device {
	depth := func(d id.Device) (n int) {
		for range s.above(d) {
			n++
		}
		return n
	}
	down := slices.DeleteFunc(slices.Collect(maps.Keys(s.Down)), func(d id.Device) bool { return !of(d) })
	slices.SortFunc(down, func(a, b id.Device) int {
		return cmp.Or(cmp.Compare(depth(a), depth(b)), strings.Compare(a.String(), b.String()))
	})
	return down
}

// earlier is the first of two instants, and later the last.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// later is the last of two instants.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// covering lists the outages that have a router of a group.
func (s State) covering(g group) (list []Open) {
	for _, o := range s.Open {
		if slices.ContainsFunc(g.devices, func(d id.Device) bool { return s.has(o, d) }) {
			list = append(list, o)
		}
	}
	return list
}
