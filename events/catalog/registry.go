// Package catalog is how events are written to the log and read back: the registry of all event types with their stable
// names and versions, the upcasters of old versions, and the codec that seals personal fields with their subject's key.
package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"

	"github.com/lastmile-isp/lastmile/events"
)

// nameForm is the stable name of an event type: area, business word, version.
var nameForm = regexp.MustCompile(`^[a-z]+\.[A-Z][A-Za-z0-9]*\.v[1-9][0-9]*$`)

// Upcaster turns the stored form of one old version into that of the next. Sealed personal fields may be moved, never
// changed: they are tokens of the form {"$sealed": "..."}.
type Upcaster struct {
	From string // "billing.InvoiceIssued.v1"
	To   string // "billing.InvoiceIssued.v2"
	Up   func(json.RawMessage) (json.RawMessage, error)
}

// registry knows the present types by name and the way to them from old names. Immutable.
type registry struct {
	types   map[string]reflect.Type
	names   []string // sorted
	upcasts map[string]Upcaster
}

// standard is the registry of the product.
var standard = mustRegistry(all(), upcasters)

// Types lists the names of all present event types, sorted.
func Types() []string { return slices.Clone(standard.names) }

// newRegistry checks names, personal fields and that every upcaster leads to a present type.
func newRegistry(list []events.Event, ups []Upcaster) (*registry, error) {
	r := &registry{types: make(map[string]reflect.Type), upcasts: make(map[string]Upcaster)}
	var faults []error
	for _, e := range list {
		name, t := e.EventType(), reflect.TypeOf(e)
		switch {
		case !nameForm.MatchString(name):
			faults = append(faults, fmt.Errorf("event type %s: name %q is not <area>.<Word>.v<number>", t, name))
		case t.Kind() != reflect.Struct:
			faults = append(faults, fmt.Errorf("event type %s: want a struct", t))
		case r.types[name] != nil:
			faults = append(faults, fmt.Errorf("event type %s: name %q is taken by %s", t, name, r.types[name]))
		}
		if err := checkPersonal(t, e); err != nil {
			faults = append(faults, fmt.Errorf("event type %s: %w", t, err))
		}
		r.types[name] = t
		r.names = append(r.names, name)
	}
	slices.Sort(r.names)
	for _, u := range ups {
		if _, twice := r.upcasts[u.From]; twice || r.types[u.From] != nil || !nameForm.MatchString(u.From) {
			faults = append(faults, fmt.Errorf("upcaster from %q: not an old name, or a second one", u.From))
		}
		r.upcasts[u.From] = u
	}
	for from := range r.upcasts {
		if _, err := r.present(from); err != nil {
			faults = append(faults, err)
		}
	}
	return r, errors.Join(faults...)
}

// mustRegistry is newRegistry for the product's own list, which a test covers.
func mustRegistry(list []events.Event, ups []Upcaster) *registry {
	r, err := newRegistry(list, ups)
	if err != nil {
		panic(err)
	}
	return r
}

// ErrUnknownType is an event whose type neither the registry nor an upcaster knows.
var ErrUnknownType = errors.New("unknown event type")

// present is the name that a stored name leads to.
func (r *registry) present(stored string) (string, error) {
	name := stored
	for range len(r.upcasts) + 1 {
		if _, ok := r.types[name]; ok {
			return name, nil
		}
		u, ok := r.upcasts[name]
		if !ok {
			return "", fmt.Errorf("%w: %s", ErrUnknownType, stored)
		}
		name = u.To
	}
	return "", fmt.Errorf("upcasters of %q go in a circle", stored)
}

// upcast brings a stored payload to its present version.
func (r *registry) upcast(stored string, data json.RawMessage) (string, json.RawMessage, error) {
	name, err := r.present(stored)
	if err != nil {
		return "", nil, err
	}
	for at := stored; at != name; {
		u := r.upcasts[at]
		if data, err = u.Up(data); err != nil {
			return "", nil, fmt.Errorf("upcast %s to %s: %w", u.From, u.To, err)
		}
		at = u.To
	}
	return name, data, nil
}

// stored lists the names under which events of the given present types may stand in the log: themselves and their old
// versions.
func (r *registry) stored(names []string) []string {
	wanted := make(map[string]bool, len(names))
	for _, n := range names {
		wanted[n] = true
	}
	out := slices.Clone(names)
	for old := range r.upcasts {
		if now, err := r.present(old); err == nil && wanted[now] {
			out = append(out, old)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
