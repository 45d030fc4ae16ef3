package historycases

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// MostChanges bounds what is told of one event and of one difference. An import that is undone, or the beginning of a
// stream period, can change thousands of fields at once.
const MostChanges = 200

// mostListed is the number of elements up to which a list of plain values is told whole in a change.
const mostListed = 20

// Change is one field of a state that differs between two instants. Values are as in an Object; nil = absent or empty.
type Change struct {
	Field    string // with dots between, such as "invoices.<id>.due"; elements of lists by their number
	From, To any
}

// changes lists what differs between two states, at most MostChanges; more reports that there is more.
func (v view) changes(before, after any) (list []Change, more bool) {
	d := differ{view: v, most: MostChanges}
	d.walk("", reflect.ValueOf(before), reflect.ValueOf(after))
	if len(d.found) > MostChanges {
		return d.found[:MostChanges], true
	}
	return d.found, false
}

// fields lists all that a state has, as changes from nothing.
func (v view) fields(of any) []Change {
	d := differ{view: v, most: math.MaxInt}
	d.walk("", reflect.Zero(reflect.TypeOf(of)), reflect.ValueOf(of))
	return d.found
}

// differ collects changes until there are too many.
type differ struct {
	view
	most  int
	found []Change
}

// walk compares two values of one type; an invalid one is absent. States share maps and slices that no event changed,
// so most of a large state is passed without a look at it.
func (d *differ) walk(path string, a, b reflect.Value) {
	a, b = plainValue(a), plainValue(b)
	if len(d.found) > d.most || !a.IsValid() && !b.IsValid() {
		return
	}
	t := typeOf(a, b)
	switch {
	case a.IsValid() && b.IsValid() && a.Type() != b.Type():
		d.add(path, d.show(a), d.show(b))
	case isLeaf(t):
		d.leaf(path, a, b)
	case t.Kind() == reflect.Struct:
		for _, f := range shapeOf(t) {
			d.field(path, f, a, b)
		}
	case t.Kind() == reflect.Map:
		d.maps(path, a, b)
	case isLeaf(t.Elem()):
		d.plainList(path, a, b)
	default:
		d.list(path, a, b)
	}
}

// typeOf is the type of whichever is there.
func typeOf(a, b reflect.Value) reflect.Type {
	if a.IsValid() {
		return a.Type()
	}
	return b.Type()
}

// add notes a change. A value that came or went empty is none.
func (d *differ) add(path string, from, to any) {
	if empty(from) && empty(to) {
		return
	}
	d.found = append(d.found, Change{path, orNil(from), orNil(to)})
}

// orNil is nil for a text of no characters.
func orNil(x any) any {
	if x == "" {
		return nil
	}
	return x
}

// empty reports whether a value says nothing.
func empty(x any) bool {
	switch x := x.(type) {
	case nil:
		return true
	case string:
		return x == ""
	case bool:
		return !x
	case []any:
		return len(x) == 0
	}
	return false
}

// shownOf shows a value that may be absent.
func (d *differ) shownOf(x reflect.Value) any {
	if !x.IsValid() {
		return nil
	}
	return d.show(x)
}

// leaf compares two values without parts. Those that are hidden differ when what they hide differs.
func (d *differ) leaf(path string, a, b reflect.Value) {
	if a.IsValid() && b.IsValid() && sameLeaf(a, b) {
		return
	}
	from, to := d.shownOf(a), d.shownOf(b)
	if !a.IsValid() && isNothing(b) || !b.IsValid() && isNothing(a) {
		return
	}
	d.add(path, from, to)
}

// isNothing reports whether a value is the zero of its type: a new thing is not told with all that it does not have.
func isNothing(x reflect.Value) bool { return x.IsZero() }

// sameLeaf compares what the values mean: times by their instant, personal texts by what they reveal.
func sameLeaf(a, b reflect.Value) bool {
	switch x := a.Interface().(type) {
	case personal.Text:
		y, _ := b.Interface().(personal.Text)
		return x.Equal(y)
	case money.Amount:
		y, _ := b.Interface().(money.Amount)
		return x == y || x.IsZero() && y.IsZero()
	}
	if a.Comparable() {
		if a.Type() == timeType {
			return showTyped(a.Interface()) == showTyped(b.Interface())
		}
		return a.Equal(b)
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// field compares one field of two structs.
func (d *differ) field(path string, f shownField, a, b reflect.Value) {
	var x, y reflect.Value
	if a.IsValid() {
		x = a.FieldByIndex(f.index)
	}
	if b.IsValid() {
		y = b.FieldByIndex(f.index)
	}
	at := below(path, f.name)
	why := d.hides(f)
	if why == "" {
		d.walk(at, x, y)
		return
	}
	if x.IsValid() && y.IsValid() && reflect.DeepEqual(x.Interface(), y.Interface()) {
		return
	}
	d.add(at, cover(x, why), cover(y, why))
}

// cover hides a value that is there.
func cover(x reflect.Value, why Hidden) any {
	if !x.IsValid() || x.IsZero() {
		return nil
	}
	return why
}

// below adds a name to a path.
func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// maps compares two maps by their keys.
func (d *differ) maps(path string, a, b reflect.Value) {
	if a.IsValid() && b.IsValid() && a.UnsafePointer() == b.UnsafePointer() {
		return
	}
	keys := map[string]reflect.Value{}
	for _, m := range []reflect.Value{a, b} {
		if !m.IsValid() {
			continue
		}
		for _, k := range m.MapKeys() {
			keys[keyText(k)] = k
		}
	}
	names := make([]string, 0, len(keys))
	for name := range keys {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	for _, name := range names {
		var x, y reflect.Value
		if a.IsValid() {
			x = a.MapIndex(keys[name])
		}
		if b.IsValid() {
			y = b.MapIndex(keys[name])
		}
		d.entry(below(path, name), keys[name], x, y)
	}
}

// entry compares two values of one key. A key that came or went is a change also when its value is empty.
func (d *differ) entry(path string, key, x, y reflect.Value) {
	before := len(d.found)
	switch {
	case !secretKey(key):
		d.walk(path, x, y)
	case !x.IsValid() || !y.IsValid() || !reflect.DeepEqual(x.Interface(), y.Interface()):
		d.add(path, cover(x, Secret), cover(y, Secret))
	}
	if len(d.found) == before && x.IsValid() != y.IsValid() {
		d.found = append(d.found, Change{path, d.shownOf(x), d.shownOf(y)})
	}
}

// sameList reports whether two lists are the same part of memory.
func sameList(a, b reflect.Value) bool {
	return a.IsValid() && b.IsValid() && a.Kind() == reflect.Slice && a.Len() == b.Len() &&
		a.UnsafePointer() == b.UnsafePointer()
}

// plainList compares two lists of plain values whole; of a long one it tells the number of elements alone.
func (d *differ) plainList(path string, a, b reflect.Value) {
	if sameList(a, b) {
		return
	}
	same := a.IsValid() && b.IsValid() && a.Len() == b.Len()
	for i := 0; same && i < a.Len(); i++ {
		same = sameLeaf(a.Index(i), b.Index(i))
	}
	if !same {
		d.add(path, d.short(a), d.short(b))
	}
}

// short shows a list, or how long it is.
func (d *differ) short(x reflect.Value) any {
	if x.IsValid() && x.Len() > mostListed {
		return Object{{"elements", jsonInt(x.Len())}}
	}
	return d.shownOf(x)
}

// list compares two lists of things element by element.
func (d *differ) list(path string, a, b reflect.Value) {
	if sameList(a, b) {
		return
	}
	length := func(x reflect.Value) int {
		if !x.IsValid() {
			return 0
		}
		return x.Len()
	}
	for i := range max(length(a), length(b)) {
		var x, y reflect.Value
		if i < length(a) {
			x = a.Index(i)
		}
		if i < length(b) {
			y = b.Index(i)
		}
		d.walk(below(path, strconv.Itoa(i)), x, y)
	}
}
