// Package catalog writes events to the log and reads them again: it has the registry of all event types with their
// stable names and versions, the upcasters of old versions, and the codec that seals personal fields with the key of
// their subject.
package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
)

// nameForm is the stable name of an event type: area, business word, version.
var nameForm = regexp.MustCompile(`^[a-z]+\.[A-Z][A-Za-z0-9]*\.v[1-9][0-9]*$`)

// Upcaster converts the stored form of one old version to the next version. It may move sealed personal fields but must
// not change them: they are tokens of the form {"$sealed": "..."}.
type Upcaster struct {
	From string // "billing.InvoiceIssued.v1"
	To   string // "billing.InvoiceIssued.v2"
	Up   func(json.RawMessage) (json.RawMessage, error)
}

// registry has the present types by name, and the upcasters from old names. It is immutable.
type registry struct {
	types   map[string]reflect.Type
	names   []string // sorted, present names only
	upcasts map[string]Upcaster
	texts   places // of all types
}

// standard is the registry of the product; its list is checked when the program starts.
var standard = mustRegistry(all(), upcasters)

// Types lists the names of all present event types, sorted.
func Types() []string { return slices.Clone(standard.names) }

// Family is the name of a type without its version: "billing.InvoiceIssued". A text without a version is its own
// family.
func Family(name string) string {
	if end := strings.LastIndex(name, ".v"); end >= 0 {
		return name[:end]
	}
	return name
}

// newRegistry checks the names, the personal fields, and that every upcaster leads to a present type. It reports all
// faults together.
func newRegistry(list []events.Event, ups []Upcaster) (*registry, error) {
	r := &registry{types: make(map[string]reflect.Type), upcasts: make(map[string]Upcaster), texts: places{}}
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
		r.texts.learn(t)
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

// mustRegistry panics when a list is wrong. It is used for the product's own list only, which a test checks.
func mustRegistry(list []events.Event, ups []Upcaster) *registry {
	r, err := newRegistry(list, ups)
	if err != nil {
		panic(err)
	}
	return r
}

// ErrUnknownType reports an event whose type is neither registered nor upcast.
var ErrUnknownType = errors.New("unknown event type")

// present is the present name of a stored name, after all upcasters.
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

// upcast converts a stored payload to its present version; a present payload is returned unchanged.
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

// stored lists the names under which the log may have events of the given present types: the names themselves and those
// of old versions.
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
