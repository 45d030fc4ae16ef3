package routerplan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Kinds of difference.
const (
	KindMissing = "missing"
	KindExtra   = "extra"   // of a service, and more than it should have
	KindChanged = "changed" // there, with other values
	KindOrphan  = "orphan"  // of a service that does not exist
)

// Difference is one thing on a router that is not as it should be.
type Difference struct {
	Path     string
	Kind     string
	Name     string
	Service  id.Service        // zero for an orphan known by its name only, and in the firewall
	Expected map[string]string // the properties that differ; all of them when missing, none when it should not be there
	Actual   map[string]string

	row     Row       // as read; nil when missing
	want    *Resource // nil when it should not be there
	replace bool      // a set could not take away what is too much
}

// Diff is all that differs, in the order of the menus, and the writes that end it.
type Diff struct {
	Differences []Difference
	steps       []Step
}

// InSync tells that nothing differs.
func (d Diff) InSync() bool { return len(d.Differences) == 0 }

// Plan is the writes that end the difference, in the order in which they must be sent.
func (d Diff) Plan() []Step { return d.steps }

// Of is the part of the difference that one service has. Its Plan is for that part alone.
func (d Diff) Of(service id.Service) Diff {
	var part Diff
	for _, x := range d.Differences {
		if x.Service == service {
			part.Differences = append(part.Differences, x)
		}
	}
	part.steps = order(part.Differences)
	return part
}

// Resources is the difference as events and the API give it. Secret values are masked.
func (d Diff) Resources() []events.DriftedResource {
	out := make([]events.DriftedResource, 0, len(d.Differences))
	for _, x := range d.Differences {
		out = append(out, events.DriftedResource{
			Path: x.Path, Kind: x.Kind, Name: x.Name, Expected: masked(x.Expected), Actual: masked(x.Actual),
		})
	}
	return out
}

// Hash identifies the difference: the same whatever the order of rows, their identifiers, or how a value is written. It
// is "" when nothing differs.
func (d Diff) Hash() string {
	if d.InSync() {
		return ""
	}
	var lines []string
	for _, x := range d.Differences {
		line := fmt.Sprintf("%q %q %q", x.Path, x.Kind, x.Name)
		for side, values := range []map[string]string{x.Expected, x.Actual} {
			for _, property := range slices.Sorted(maps.Keys(values)) {
				line += fmt.Sprintf(" %d %q=%q", side, property, Canonical(property, values[property]))
			}
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	h := sha256.New()
	for _, line := range lines {
		fmt.Fprintln(h, line)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// CompareService compares a router with one of its services.
func CompareService(s Snapshot, service Service, v Version) Diff {
	return compare(s, []Service{service}, v, false)
}

// CompareDevice compares a router with all its services and finds orphans: what is tagged with a service that is not
// among them.
func CompareDevice(s Snapshot, services []Service, v Version) Diff {
	return compare(s, services, v, true)
}

// CompareRemoval finds everything that a service has on a router: all of it is extra.
func CompareRemoval(s Snapshot, service id.Service) Diff {
	return compare(s, []Service{{ID: service}}, Version{}, false)
}

// compare goes menu by menu. Rows of nobody, and without orphans also those of other services, are not looked at.
func compare(s Snapshot, services []Service, v Version, orphans bool) Diff {
	known := map[id.Service]resourceNames{}
	wanted := map[string][]Resource{} // by menu
	for _, service := range services {
		known[service.ID] = names(service.ID)
		for _, r := range Desired(service, v) {
			wanted[r.Path] = append(wanted[r.Path], r)
		}
	}
	var d Diff
	for _, m := range menus {
		live := map[id.Service][]Row{}
		for _, r := range s.static(m.path) {
			switch owner, ours, orphan := m.ownerOf(r, known); {
			case !ours || orphan && !orphans:
			case orphan:
				d.Differences = append(d.Differences, surplus(m, KindOrphan, owner, r))
			default:
				live[owner] = append(live[owner], r)
			}
		}
		for _, service := range services {
			mine := slices.DeleteFunc(slices.Clone(wanted[m.path]),
				func(r Resource) bool { return r.Service != service.ID })
			d.Differences = append(d.Differences, m.compare(service.ID, mine, live[service.ID])...)
		}
	}
	d.steps = order(d.Differences)
	return d
}

// compare pairs what one service should have in a menu with what it has.
func (m menu) compare(service id.Service, wanted []Resource, live []Row) []Difference {
	var found []Difference
	pairs, rest := m.pair(wanted, live)
	for i, want := range wanted {
		row := pairs[i]
		if row == nil {
			found = append(found, Difference{
				Path: m.path, Kind: KindMissing, Name: want.Name, Service: service, Expected: want.Values,
				want: &wanted[i],
			})
			continue
		}
		if x, differs := m.changed(want, row); differs {
			x.want = &wanted[i]
			found = append(found, x)
		}
	}
	for _, row := range rest {
		found = append(found, surplus(m, KindExtra, service, row))
	}
	return found
}

// pair finds the row of each resource: the same name or key and, of several, the one that differs least; where a
// service has only one, whatever row is left of it.
func (m menu) pair(wanted []Resource, live []Row) (pairs []Row, rest []Row) {
	rest = slices.Clone(live)
	// whatever order the router gives
	slices.SortStableFunc(rest, func(a, b Row) int { return cmp.Compare(content(a), content(b)) })
	pairs = make([]Row, len(wanted))
	take := func(i int, fits func(Row) bool) {
		best, least := -1, 0
		for at, row := range rest {
			if !fits(row) {
				continue
			}
			x, _ := m.changed(wanted[i], row)
			cost := len(x.Expected) * 2
			if x.replace {
				cost = 1000
			}
			if best < 0 || cost < least {
				best, least = at, cost
			}
		}
		if best >= 0 {
			pairs[i], rest = rest[best], slices.Delete(slices.Clone(rest), best, best+1)
		}
	}
	identity := m.key
	if identity == nil {
		identity = []string{m.name}
	}
	for i, want := range wanted {
		take(i, func(row Row) bool {
			return !slices.ContainsFunc(identity, func(p string) bool { return !SameValue(p, row[p], want.Values[p]) })
		})
	}
	if m.key == nil {
		for i := range wanted {
			if pairs[i] == nil {
				take(i, func(Row) bool { return true })
			}
		}
	}
	return pairs, rest
}

// changed compares one row with what it should be.
func (m menu) changed(want Resource, row Row) (Difference, bool) {
	x := Difference{
		Path: m.path, Kind: KindChanged, Name: want.Name, Service: want.Service, Expected: map[string]string{},
		Actual: map[string]string{}, row: row,
	}
	for property, value := range want.Values {
		if !SameValue(property, row[property], value) {
			x.Expected[property], x.Actual[property] = value, row[property]
		}
	}
	for _, property := range m.foreign {
		if _, wanted := want.Values[property]; !wanted && row[property] != "" {
			x.Expected[property], x.Actual[property], x.replace = "", row[property], true
		}
	}
	return x, len(x.Expected) > 0
}

// surplus is a row that should not be there.
func surplus(m menu, kind string, service id.Service, row Row) Difference {
	return Difference{Path: m.path, Kind: kind, Name: m.nameOf(row), Service: service, Actual: plain(row), row: row}
}

// volatile are properties that say how a resource is doing, not what it is.
var volatile = []string{
	propertyID, ".nextid", ".about", propertyDynamic, "invalid", "inactive", "running", "slave", "hits", "bytes",
	"packets", "total", "used", "available", "actual-interface", "network", "l2mtu", "mac-address", "proxy-status",
	"HTTPS", "debug-info", "status", "role", "hw-offload",
}

// plain is a row as it was configured.
func plain(row Row) map[string]string {
	values := map[string]string{}
	for property, value := range row {
		if !slices.Contains(volatile, property) && value != "" {
			values[property] = value
		}
	}
	return values
}

// content is a row as text that is the same for rows that mean the same.
func content(row Row) string {
	values, text := plain(row), ""
	for _, property := range slices.Sorted(maps.Keys(values)) {
		text += fmt.Sprintf("%q=%q ", property, Canonical(property, values[property]))
	}
	return text
}

// secretProperties are never shown.
var secretProperties = []string{"password", "secret", "passphrase", "private-key"}

// Bounds of what is told of one resource, in bytes: it stands in events, which have a largest size, and a router may
// hold anything.
const (
	maxToldValue    = 500
	maxToldResource = 4000
)

// masked is what is told of a resource: without secret values, and no more than an event can hold.
func masked(values map[string]string) map[string]string {
	if values == nil {
		return nil
	}
	out, size := map[string]string{}, 0
	for _, property := range slices.Sorted(maps.Keys(values)) {
		value := values[property]
		if slices.Contains(secretProperties, property) {
			value = "***"
		}
		if len(value) > maxToldValue {
			value = strings.ToValidUTF8(value[:maxToldValue], "") + "…"
		}
		if size += len(property) + len(value); size > maxToldResource {
			break
		}
		out[property] = value
	}
	return out
}

// byRank sorts differences by the order of creation; equal ones stay in their order.
func byRank(a, b Difference) int { return cmp.Compare(rankOf(a.Path), rankOf(b.Path)) }
