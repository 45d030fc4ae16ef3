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

// Kinds of difference. Events and the API use these texts.
const (
	KindMissing = "missing"
	KindExtra   = "extra"   // tagged with a service that should not have it
	KindChanged = "changed" // there, with other values
	KindOrphan  = "orphan"  // tagged with a service that the device does not have
)

// Difference is one row of a router that is not as it should be.
type Difference struct {
	Path    string
	Kind    string
	Name    string
	Service id.Service // zero for an orphan without a readable tag, and in the firewall
	// the properties that differ; all of them when missing, nil when the row should not exist
	Expected map[string]string
	Actual   map[string]string

	row     Row       // as it was read; nil when missing
	want    *Resource // nil when the row should not exist
	replace bool      // the row must be removed and added again, because a set cannot remove a property
	fault   string    // why the service does not work though no write would help; "" for what a write repairs
}

// Diff is the list of differences in the order of the menus, and the writes that remove them.
type Diff struct {
	Differences []Difference
	steps       []Step
}

// InSync reports that there is no difference.
func (d Diff) InSync() bool { return len(d.Differences) == 0 }

// Plan lists the writes that remove the difference, in the order in which they must be sent.
func (d Diff) Plan() []Step { return d.steps }

// Of is the part of the difference that belongs to one service. Its Plan has the writes of that part only.
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

// Resources is the difference as events and the API show it, with secret values masked.
func (d Diff) Resources() []events.DriftedResource {
	out := make([]events.DriftedResource, 0, len(d.Differences))
	for _, x := range d.Differences {
		out = append(out, events.DriftedResource{
			Path: x.Path, Kind: x.Kind, Name: x.Name, Expected: masked(x.Expected), Actual: masked(x.Actual),
		})
	}
	return out
}

// Hash identifies the difference. It does not depend on the order of rows, on their identifiers, or on how a router
// writes a value. It is "" without a difference.
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

// CompareService compares a router with one of its services. Rows of other services are ignored.
func CompareService(s Snapshot, service Service, v Version) Diff {
	return compare(s, []Service{service}, v, nil)
}

// CompareDevice compares a router with all its services. A row that is tagged with any other service is an orphan; in
// menus without comments, one with a name of a former service. former lists the services that the platform had on
// routers of the organization and has no more.
func CompareDevice(s Snapshot, services []Service, v Version, former ...id.Service) Diff {
	o := ownersOf(s, services, former)
	return compare(s, services, v, &o)
}

// CompareRemoval reports everything that a service has on a router as extra, its sessions included. Their removals come
// last, when nobody can connect any more. The snapshot must have ServiceMenus and SessionMenus.
func CompareRemoval(s Snapshot, service id.Service) Diff {
	d := compare(s, []Service{{ID: service}}, Version{}, nil)
	sessions := sessionsOf(s, service)
	d.Differences = append(d.Differences, sessions...)
	for _, x := range sessions {
		d.steps = append(d.steps, disconnection(x))
	}
	return d
}

// compare goes through the menus. It ignores rows without a tag of the platform and, without device, rows of other
// services. device has the owners of all rows of the router.
func compare(s Snapshot, services []Service, v Version, device *owners) Diff {
	o := ownersOf(nil, services, nil)
	if device != nil {
		o = *device
	}
	wanted := map[string][]Resource{} // by menu
	for _, service := range services {
		for _, r := range Desired(service, v) {
			wanted[r.Path] = append(wanted[r.Path], r)
		}
	}
	var d Diff
	for _, m := range menus {
		live := map[id.Service][]Row{}
		for _, r := range s.static(m.path) {
			switch owner, ours, orphan := m.ownerOf(r, o); {
			case !ours || orphan && device == nil:
			case orphan:
				d.Differences = append(d.Differences, surplus(m, KindOrphan, owner, r))
			default:
				live[owner] = append(live[owner], r)
			}
		}
		for _, service := range services {
			mine := slices.DeleteFunc(slices.Clone(wanted[m.path]), func(r Resource) bool {
				return r.Service != service.ID ||
					m.path == MenuNAT && len(live[service.ID]) == 0 && translated(s, service)
			})
			d.Differences = append(d.Differences, m.compare(s, service, mine, live[service.ID])...)
		}
	}
	if at := slices.IndexFunc(services, Service.tunnelled); at >= 0 {
		for _, x := range listMissing(s) {
			x.Service = services[at].ID
			d.Differences = append(d.Differences, x)
		}
	}
	for _, service := range services {
		d.Differences = append(d.Differences, parentOf(s, service)...)
		d.Differences = append(d.Differences, shared(service)...)
	}
	d.steps = order(d.Differences)
	return d
}

// compare pairs the rows that one service should have in a menu with the rows that it has.
func (m menu) compare(s Snapshot, of Service, wanted []Resource, live []Row) []Difference {
	var found []Difference
	service, present := of.ID, m.present(of, wanted)
	live, former := m.split(s, service, present, live)
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
		} else if x, dead := m.dead(want, row); dead {
			found = append(found, x)
		}
	}
	for _, row := range rest {
		found = append(found, surplus(m, KindExtra, service, row))
	}
	for _, row := range former {
		if x, differs := m.former(s, service, row, present); differs {
			found = append(found, x)
		}
	}
	return found
}

// pair finds the row of each resource: a row with the same name or key, and among several the one with the fewest
// differences. Where a service has only one resource in the menu, any row of the service fits.
func (m menu) pair(wanted []Resource, live []Row) (pairs []Row, rest []Row) {
	rest = slices.Clone(live)
	// The result must not depend on the order in which the router lists its rows.
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

// free lists by property what an operator may add to a set of values. It is no difference, and a write leaves it there.
// Hotspots need http-chap and mac; with a certificate https is good, and http-pap serves old devices. A cookie, a
// mac-cookie or a trial would let devices in whom nobody has let in (docs/rules/access-vouchers.md#cookies).
var free = map[string][]string{propertyLoginBy: {"https", "http-pap"}}

// withFree is a wanted value with what an operator has added to the present one and may add.
func withFree(property, wanted, present string) string {
	for part := range strings.SplitSeq(present, ",") {
		part = strings.TrimSpace(part)
		if slices.Contains(free[property], part) && !slices.Contains(strings.Split(wanted, ","), part) {
			wanted += "," + part
		}
	}
	return wanted
}

// changed compares one row with its resource; false when they agree.
func (m menu) changed(want Resource, row Row) (Difference, bool) {
	x := Difference{
		Path: m.path, Kind: KindChanged, Name: want.Name, Service: want.Service, Expected: map[string]string{},
		Actual: map[string]string{}, row: row,
	}
	for property, value := range want.Values {
		if property == propertyComment && m.byName && row[property] == "" {
			continue // added when this menu had no comments; the name is the tag
		}
		if value = withFree(property, value, row[property]); !SameValue(property, row[property], value) {
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

// surplus is the difference of a row that should not exist.
func surplus(m menu, kind string, service id.Service, row Row) Difference {
	return Difference{Path: m.path, Kind: kind, Name: m.nameOf(row), Service: service, Actual: plain(row), row: row}
}

// volatile lists properties that show the state of a resource; they are no part of its configuration.
var volatile = []string{
	propertyID, ".nextid", ".about", propertyDynamic, "invalid", "inactive", "running", "slave", "hits", "bytes",
	"packets", "total", "used", "available", "actual-interface", "network", "l2mtu", "mac-address", "proxy-status",
	"HTTPS", "debug-info", "status", "role", "hw-offload",
}

// plain is the configuration of a row: no volatile and no empty properties.
func plain(row Row) map[string]string {
	values := map[string]string{}
	for property, value := range row {
		if !slices.Contains(volatile, property) && value != "" {
			values[property] = value
		}
	}
	return values
}

// content is a row as text. Rows with the same meaning give the same text.
func content(row Row) string {
	values, text := plain(row), ""
	for _, property := range slices.Sorted(maps.Keys(values)) {
		text += fmt.Sprintf("%q=%q ", property, Canonical(property, values[property]))
	}
	return text
}

// secretProperties are masked in everything that is stored or shown.
var secretProperties = []string{"password", "secret", "passphrase", "private-key"}

// Limits of what is shown of one resource, in bytes. It is stored in events, which have a maximum size, while a router
// can hold values of any size.
const (
	maxToldValue    = 500
	maxToldResource = 4000
)

// masked replaces secret values and cuts long ones. Properties after the limit, in the order of their names, are left
// out.
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

// byRank orders differences as their menus are created; it is used with a stable sort.
func byRank(a, b Difference) int { return cmp.Compare(rankOf(a.Path), rankOf(b.Path)) }
