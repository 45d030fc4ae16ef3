package router

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Item is one row by property; the id is under ".id".
type Item = map[string]string

// row is one stored item. Its address identifies it: traffic and owners refer to it.
type row struct {
	id      uint64
	props   Item      // set or filled in; computed state is added when shown
	dynamic bool      // made by the router itself: read-only
	builtin bool      // cannot be removed
	owner   *row      // removed together with its owner
	ends    time.Time // of a lease; zero for all other rows
	session string    // id of the handset's session that the row shows; "" = RADIUS did not make it
}

// name gives the name by which the console finds the row; "" when the menu has none.
func (w *row) name() string { return w.props["name"] }

// table holds rows in their order. Ids are never used again.
type table struct {
	rows []*row
	last uint64 // the newest id given
}

// byID finds a row; nil when there is none.
func (t *table) byID(id uint64) *row {
	for _, w := range t.rows {
		if w.id == id {
			return w
		}
	}
	return nil
}

// index gives the place of a row; -1 after its removal.
func (t *table) index(w *row) int { return slices.Index(t.rows, w) }

// formatID writes an id in the router's form, "*1A".
func formatID(id uint64) string { return fmt.Sprintf("*%X", id) }

// parseID reads an id in the form "*1A"; false for anything else.
func parseID(text string) (uint64, bool) {
	digits, ok := strings.CutPrefix(text, "*")
	if !ok || digits == "" {
		return 0, false
	}
	id, err := strconv.ParseUint(digits, 16, 64)
	return id, err == nil
}

// tableOf gives the table of a menu, created at the first use.
func (r *Router) tableOf(name string) *table {
	t, ok := r.tables[name]
	if !ok {
		t = &table{}
		r.tables[name] = t
	}
	return t
}

// insert adds a row at the end of a table. A row without an id gets the next one.
func (r *Router) insert(name string, w *row) *row {
	t := r.tableOf(name)
	if w.id == 0 {
		t.last++
		w.id = t.last
	}
	t.rows = append(t.rows, w)
	return w
}

// drop removes a row and all that it owns. References to it become dangling, with its id in place of the name, as on a
// router.
func (r *Router) drop(name string, w *row) {
	t := r.tableOf(name)
	at := t.index(w)
	if at < 0 {
		return
	}
	t.rows = slices.Delete(t.rows, at, at+1)
	delete(r.traffic, w)
	delete(r.due, w)
	r.hangUp(w)
	if w.name() != "" && !w.dynamic {
		r.rename(name, w.name(), formatID(w.id))
	}
	r.dropOwned(w)
}

// dropOwned removes all rows that a row owns.
func (r *Router) dropOwned(owner *row) {
	for _, name := range slices.Sorted(maps.Keys(r.tables)) {
		for _, w := range slices.Clone(r.tables[name].rows) {
			if w.owner == owner {
				r.drop(name, w)
			}
		}
	}
}

// rename replaces a changed name in all properties that refer to it.
func (r *Router) rename(target, from, to string) {
	for _, m := range r.menus {
		for _, p := range m.props {
			if p.ref != target {
				continue
			}
			for _, w := range r.tableOf(m.table).rows {
				if w.props[p.name] == from && (m.kind == "" || w.props["type"] == m.kind) {
					w.props[p.name] = to
				}
			}
		}
	}
}

// rowsOf gives the rows that a menu shows, in order.
func (r *Router) rowsOf(m *menu) []*row {
	all := r.tableOf(m.table).rows
	if m.kind == "" {
		return all
	}
	var rows []*row
	for _, w := range all {
		if w.props["type"] == m.kind {
			rows = append(rows, w)
		}
	}
	return rows
}

// find resolves an id, or a name where the menu has names.
func (r *Router) find(m *menu, word string) (*row, *Trap) {
	id, isID := parseID(word)
	for _, w := range r.rowsOf(m) {
		if isID && w.id == id || !isID && m.named && w.name() == word && !(w.dynamic && m.path == "ip/service") {
			return w, nil
		}
	}
	return nil, noItem()
}

// hasName reports whether a table has an item of this name.
func (r *Router) hasName(name, item string) bool {
	return slices.ContainsFunc(r.tableOf(name).rows, func(w *row) bool { return w.name() == item })
}
