package subscribers

import (
	"slices"

	"github.com/lastmile-isp/lastmile/events"
)

// Former has the terms of the periods before an ordinal, which a change of plan left. Each in a list has those from the
// ordinal of the one before it on. A period that an undo took back is made again under the terms of its own time.
// Source: docs/rules/billing.md#undo.
type Former struct {
	Terms  events.PlanTerms // without what only the network needs
	Before int
}

// keptFormer is the number of changes of plan across which undone periods find their terms.
const keptFormer = 24

// leaves keeps the present terms for the periods before an ordinal, as a change of plan leaves them.
func (s Subscription) leaves(from int) []Former {
	list := append(s.formerBefore(from), Former{Terms: withoutAccess(s.Terms), Before: from})
	if last := len(list) - 2; last >= 0 && list[last].Before == from { // no period had the present terms
		list = list[:last+1]
	}
	return list[max(0, len(list)-keptFormer):]
}

// formerBefore is the list as far as a plan that is chosen for the periods from an ordinal on lets it be.
func (s Subscription) formerBefore(from int) []Former {
	var list []Former
	for _, f := range s.Former {
		if len(list) > 0 && list[len(list)-1].Before == from {
			break
		}
		f.Before = min(f.Before, from)
		list = append(list, f)
	}
	return list
}

// leftAt is the ordinal of the first period after the present terms when a change comes that was planned or was not.
func (s Subscription) leftAt() int {
	if s.Planned.IsZero() {
		return s.lastOrdinal() + 1
	}
	return min(s.Planned.FromOrdinal, s.lastOrdinal()+1)
}

// newTerms are those of the period of an ordinal where a change of plan comes between an earlier one and it; zero where
// none does.
func (s Subscription) newTerms(earlier, ordinal int) events.PlanTerms {
	comes := func(from int) bool { return earlier < from && from <= ordinal }
	if comes(s.Planned.FromOrdinal) || slices.ContainsFunc(s.Former, func(f Former) bool { return comes(f.Before) }) {
		return withoutAccess(s.termsFrom(ordinal))
	}
	return events.PlanTerms{}
}

// madeAgain moves the changes of plan behind the period that will be made again in the place of an undone one: those
// between the two, and those that wait already behind another one.
func (s Subscription) madeAgain(undone int) Subscription {
	next := s.lastOrdinal() + 1
	behind := func(from int) int {
		switch {
		case from > next:
			return from + 1
		case from > undone:
			return next + 1
		}
		return from
	}
	if !s.Planned.IsZero() {
		s.Planned.FromOrdinal = behind(s.Planned.FromOrdinal)
	}
	s.Moved.FromOrdinal = behind(s.Moved.FromOrdinal)
	s.Former = slices.Clone(s.Former)
	for i := range s.Former {
		s.Former[i].Before = behind(s.Former[i].Before)
	}
	return s
}

// withoutAccess leaves out what no invoice needs.
func withoutAccess(t events.PlanTerms) events.PlanTerms {
	t.Access = events.AccessTerms{}
	return t
}
