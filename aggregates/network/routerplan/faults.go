package routerplan

import (
	"fmt"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Fault is the reason why a service does not work on a router although everything of it is written.
type Fault struct {
	Service id.Service
	Path    string
	Message string
}

// Faults lists what keeps services from working and cannot be repaired by a write, one for each service. A missing link
// is none: the cable may come later.
func (d Diff) Faults() []Fault {
	var found []Fault
	for _, x := range d.Differences {
		known := slices.ContainsFunc(found, func(f Fault) bool { return f.Service == x.Service })
		if x.fault != "" && x.fault != warnings[warningLink] && !known {
			found = append(found, Fault{
				Service: x.Service, Path: x.Path, Message: fmt.Sprintf("%s %s.", x.Name, x.fault),
			})
		}
	}
	return found
}

// stateFlags are the properties by which a router says that a row has no effect. They are true or absent.
var stateFlags = []string{"invalid", "inactive"}

// dead reports a row that is as desired and has no effect, such as a DHCP server on the port of a bridge.
func (m menu) dead(want Resource, row Row) (Difference, bool) {
	for _, flag := range stateFlags {
		if isTrue(row[flag]) {
			return told(want, flag, row[flag], "is "+flag+" on the router"), true
		}
	}
	return Difference{}, false
}

// parentOf reports what is wrong with the interface that carries a service. A snapshot without the menu of interfaces,
// or a service that should have nothing, gives none.
func parentOf(s Snapshot, service Service) []Difference {
	parent := service.Binding.ParentInterface
	at := slices.IndexFunc(s[MenuInterface], func(r Row) bool { return r[propertyName] == parent })
	if at < 0 || parent == "" {
		return nil
	}
	row := s[MenuInterface][at]
	for _, c := range []struct{ property, bad, fault string }{
		{propertyDisabled, "true", warnings[warningDisabled]}, {"slave", "true", warnings[warningPort]},
		{"inactive", "true", warnings[warningInactive]}, {"running", "false", warnings[warningLink]},
	} {
		if row[c.property] == c.bad {
			return []Difference{told(
				Resource{Path: MenuInterface, Name: parent, Service: service.ID}, c.property, c.bad, c.fault)}
		}
	}
	return nil
}

// shared reports a management service in a subnet that another organization had first: one CPE server reaches the
// devices of both, and cannot tell them apart.
func shared(service Service) []Difference {
	if !service.Shared {
		return nil
	}
	return []Difference{told(
		Resource{Path: MenuAddress, Name: service.Addressing.Subnet, Service: service.ID}, "shared", "true",
		"overlaps the management addresses of another organization, which had them first: give this service another "+
			"subnet")}
}

// told is the difference of a property that the router sets itself: no write repairs it.
func told(of Resource, property, actual, fault string) Difference {
	expected := "false"
	if actual == "false" {
		expected = "true"
	}
	return Difference{
		Path: of.Path, Kind: KindChanged, Name: of.Name, Service: of.Service,
		Expected: map[string]string{property: expected}, Actual: map[string]string{property: actual}, fault: fault,
	}
}
