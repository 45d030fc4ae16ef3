package routerplan

import (
	"slices"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Step is one write to a router. A zero ID means that the row does not exist yet.
type Step struct {
	Path      string
	Operation string            // commands.OperationAdd, OperationSet, OperationRemove or OperationMove
	ID        string            // id of the row that is set, removed or moved; "" for an add
	Name      string            // name of the resource, as people know it
	Service   id.Service        // zero for the firewall and for orphans without a readable tag
	Values    map[string]string // properties sent with add and set
	// Destination is the id of the row that this one goes before, for a move, and for an add to an ordered menu; "" =
	// the end.
	Destination string
	Before      map[string]string // the properties that change; all properties of a removed row
	After       map[string]string

	session Row // the session that the step ends, as it was read; nil for all other steps
}

// Audit is the step as the audit log shows it, without secrets and without row ids.
func (s Step) Audit() events.RouterStep {
	return events.RouterStep{
		Path: s.Path, Operation: s.Operation, Name: s.Name, Before: masked(s.Before), After: masked(s.After),
	}
}

// Lost finds writes whose answer was lost: announced before an interruption, not recorded, and no longer needed after
// the router was read again. They are recorded as found, so that the audit log has every write. A write that the plan
// has again was not applied, or was undone, also when it would now write other values.
func Lost(announced []events.RouterStep, plan []Step) []events.RouterStep {
	return slices.DeleteFunc(slices.Clone(announced), func(a events.RouterStep) bool {
		return slices.ContainsFunc(plan, func(s Step) bool {
			return s.Path == a.Path && s.Operation == a.Operation && s.Name == a.Name
		})
	})
}

// order makes the writes that remove differences. First come removals, each row before the rows that it refers to; then
// changes and additions, in the order of creation. No row is written twice, and a right row is never written.
func order(differences []Difference) []Step {
	sorted := slices.DeleteFunc(slices.Clone(differences), func(x Difference) bool { return x.fault != "" })
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

// removal removes a row; Before keeps its whole configuration for the audit log.
func removal(x Difference) Step {
	return Step{
		Path: x.Path, Operation: commands.OperationRemove, ID: x.row[propertyID], Name: x.Name, Service: x.Service,
		Before: plain(x.row),
	}
}

// addition adds a row with the desired values.
func addition(x Difference) Step {
	return Step{
		Path: x.Path, Operation: commands.OperationAdd, Name: x.Name, Service: x.Service, Values: x.want.Values,
		After: x.want.Values,
	}
}

// change sets the properties that differ, and no others.
func change(x Difference) Step {
	return Step{
		Path: x.Path, Operation: commands.OperationSet, ID: x.row[propertyID], Name: x.Name, Service: x.Service,
		Values: x.Expected, Before: x.Actual, After: x.Expected,
	}
}
