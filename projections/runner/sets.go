package runner

import (
	"slices"

	"github.com/lastmile-isp/lastmile/events/catalog"
)

// sets are the tables of one projection, as one program sees them.
type sets struct {
	// own are the newest complete tables of this program's version, which its statements fit; nil when there are none.
	own *generation
	// active are the tables of the newest version that was ever complete.
	active *generation
	// building are tables of this program's version that are being filled; nil when there are none.
	building *generation
	// outdated says that a program of a newer version has replaced the tables: this program must not build its own
	// again.
	outdated bool
}

// setsOf picks the tables of a projection. all has every set in the order of their numbers.
func setsOf(e *entry, all []*generation) (s sets) {
	for _, g := range all {
		if g.Name != e.name {
			continue
		}
		fits := g.Version == e.p.Version() && e.fits(g)
		switch {
		case g.State == genBuilding:
			if fits {
				s.building = g
			}
			continue
		case g.State == genActive:
			s.active = g
		}
		if fits && (s.own == nil || s.own.State != genActive) {
			s.own = g
		}
	}
	s.outdated = s.replaced(e)
	return s
}

// replaced reports that the active tables are those of a newer program, and that there are none of this one.
func (s sets) replaced(e *entry) bool {
	switch {
	case s.own != nil || s.active == nil || s.active.Version < e.p.Version():
		return false
	case s.active.Version > e.p.Version():
		return true
	}
	// Of one version, but with other types of events: those that this program does not know come from a newer one.
	return slices.ContainsFunc(s.active.Types, func(t string) bool {
		_, known := slices.BinarySearch(catalog.Types(), t)
		return !known && !e.want.Has(t)
	})
}

// types lists the types of events that a projection handles, sorted; nil for all.
func (e *entry) types() []string {
	if e.p.Handles() == nil {
		return nil
	}
	return slices.Sorted(slices.Values(e.p.Handles()))
}

// fits reports whether tables were filled with the types of events that the code handles. Otherwise events of the other
// types would be missing for ever. Tables without a list are older than the lists, and are taken as they are.
func (e *entry) fits(g *generation) bool { return g.Types == nil || slices.Equal(g.Types, e.types()) }
