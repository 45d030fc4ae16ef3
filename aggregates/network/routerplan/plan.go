package routerplan

import (
	"maps"
	"slices"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Step is one write to a router.
type Step struct {
	Path      string
	Operation string            // commands.OperationAdd, OperationSet, OperationRemove or OperationMove
	ID        string            // of the row that is set, removed or moved
	Name      string            // of the resource, as people know it
	Service   id.Service        // zero for what belongs to no service
	Values    map[string]string // sent with add and set
	// id of the row to stand before, with move and with add in an ordered menu; "" = at the end
	Destination string
	Before      map[string]string // the properties that change; all of what is removed
	After       map[string]string
}

// Audit is the step as the audit log shows it, without secrets and identifiers.
func (s Step) Audit() events.RouterStep {
	return events.RouterStep{
		Path: s.Path, Operation: s.Operation, Name: s.Name, Before: masked(s.Before), After: masked(s.After),
	}
}

// Lost finds the writes whose answer was lost: announced before an interruption, not recorded, and no longer needed now
// that the router was read again. They are recorded as found, so that the audit log has every write.
func Lost(announced []events.RouterStep, plan []Step) []events.RouterStep {
	var needed []events.RouterStep
	for _, s := range plan {
		needed = append(needed, s.Audit())
	}
	return slices.DeleteFunc(slices.Clone(announced), func(a events.RouterStep) bool {
		return slices.ContainsFunc(needed, func(n events.RouterStep) bool {
			return n.Path == a.Path && n.Operation == a.Operation && n.Name == a.Name && maps.Equal(n.After, a.After)
		})
	})
}

// order makes the writes that end differences: first what must go, what refers to others before what is referred to;
// then what is changed or new, the other way round. No row is written twice, none that is right is written.
func order(differences []Difference) []Step {
	sorted := slices.Clone(differences)
	slices.SortStableFunc(sorted, byRank)
	var steps []Step
	for _, x := range slices.Backward(sorted) {
		if x.want == nil || x.replace {
			steps = append(steps, removal(x))
		}
	}
	for _, x := range sorted {
		switch {
		case x.want == nil:
		case x.row == nil || x.replace:
			steps = append(steps, addition(x))
		default:
			steps = append(steps, change(x))
		}
	}
	return steps
}

// removal takes a row away.
func removal(x Difference) Step {
	return Step{
		Path: x.Path, Operation: commands.OperationRemove, ID: x.row[propertyID], Name: x.Name, Service: x.Service,
		Before: plain(x.row),
	}
}

// addition puts a new row.
func addition(x Difference) Step {
	return Step{
		Path: x.Path, Operation: commands.OperationAdd, Name: x.Name, Service: x.Service, Values: x.want.Values,
		After: x.want.Values,
	}
}

// change writes the properties that differ, and no others.
func change(x Difference) Step {
	return Step{
		Path: x.Path, Operation: commands.OperationSet, ID: x.row[propertyID], Name: x.Name, Service: x.Service,
		Values: x.Expected, Before: x.Actual, After: x.Expected,
	}
}
