package routerplan

import (
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Touches reports whether a step writes to an existing row. Row ids change at a restart or a restored backup, so such a
// row is read again right before the write, and Still checks that it is the intended one. A menu of one row has no ids.
func (s Step) Touches() bool { return s.Operation != commands.OperationAdd && s.ID != "" }

// Still reports whether a row is the one that the step was made for: it belongs to the platform by tag or name, has the
// same service and name, and still has the values that the step changes.
func (s Step) Still(row Row) bool {
	if s.session != nil {
		return s.sameSession(row)
	}
	if s.ID == "" || row[propertyID] != s.ID || isTrue(row[propertyDynamic]) || !s.owns(row) {
		return false
	}
	for property, was := range s.Before {
		meant := s.Operation == commands.OperationSet ||
			slices.Contains([]string{propertyComment, propertyName}, property)
		if meant && property != "place" && !SameValue(property, row[property], was) {
			return false
		}
	}
	return true
}

// owns reports whether a row belongs to the service, or is the firewall rule, of the step.
func (s Step) owns(row Row) bool {
	if s.Path == MenuAddressList {
		return strings.HasPrefix(row[propertyComment], FirewallTag) &&
			entryName(row[propertyList], row[propertyAddress]) == s.Name
	}
	if s.Path == MenuFirewallFilter || strings.HasPrefix(s.Name, FirewallTag) {
		return strings.HasPrefix(row[propertyComment], FirewallTag) && row[propertyComment] == s.Name
	}
	at := rankOf(s.Path)
	if at < 0 {
		return s.ownsSetup(row)
	}
	m := menus[at]
	owner, ours, _ := m.ownerOf(row, owners{known: map[id.Service]resourceNames{s.Service: names(s.Service)}})
	if _, renamed := s.Before[m.name]; !renamed && !SameValue(m.name, m.nameOf(row), s.Name) {
		return false
	}
	return ours && owner == s.Service
}
