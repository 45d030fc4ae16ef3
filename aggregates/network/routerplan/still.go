package routerplan

import (
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Touches tells whether a step writes to a row that is there already. Identifiers are not stable over a restart or a
// restored backup: such a row is read again right before the write, and Still tells whether it is the one that was
// meant.
func (s Step) Touches() bool { return s.Operation != commands.OperationAdd }

// Still tells whether a row is the one that a step was made for: the platform's by tag or name, of the same service,
// with the same name, and with the values that the step changes.
func (s Step) Still(row Row) bool {
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

// owns tells whether a row belongs to what the step is about.
func (s Step) owns(row Row) bool {
	if s.Path == MenuFirewallFilter {
		return strings.HasPrefix(row[propertyComment], FirewallTag) && row[propertyComment] == s.Name
	}
	at := rankOf(s.Path)
	if at < 0 {
		return false
	}
	m := menus[at]
	owner, ours, _ := m.ownerOf(row, map[id.Service]resourceNames{s.Service: names(s.Service)})
	if _, renamed := s.Before[m.name]; !renamed && !SameValue(m.name, m.nameOf(row), s.Name) {
		return false
	}
	return ours && owner == s.Service
}
