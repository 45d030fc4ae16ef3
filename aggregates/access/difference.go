package access

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Differences defines what routers show and nobody is entitled to, or the other way round: one stream for each router,
// kind and subject (docs/rules/access-auditor.md#recorded).
func Differences() aggregates.Definition[Difference, commands.DifferenceCommand, events.DifferenceEvent] {
	return aggregates.Definition[Difference, commands.DifferenceCommand, events.DifferenceEvent]{
		Category: commands.DifferenceCategory, Missing: commands.ErrNoDifference, Evolve: evolveDifference,
		Decide: decideDifference, Owner: ownerDifference, Close: closeDifferencePeriod,
		Commands: []commands.DifferenceCommand{
			commands.OpenDifference{}, commands.CloseDifference{}, commands.AskRepair{},
			commands.RecordRepairWrite{},
		},
	}
}

// DifferenceID names a difference: the same one gets the same id, whenever it comes.
func DifferenceID(
	org id.Organization, device id.Device, kind events.AccessDifferenceKind, subject string,
) id.Difference {
	return id.Derive[id.Difference]("access difference", org.String(), device.String(), string(kind), subject)
}

// DeviceSubject is the subject of a difference about what a customer's device has, while its session is reported. It
// stays the same when the device dials again.
func DeviceSubject(s id.Subscription, mac string) string { return s.String() + " " + mac }

// Difference is one difference. The zero value was never seen.
type Difference struct {
	events.AccessDifference
	Open     bool
	Expected string
	Actual   string
	Walled   bool
	Since    time.Time
	Pending  []events.RouterStep // writes of a repair that are announced, in their order
	By       events.Actor        // who asked for the repair
	Asked    string              // correlation id of the request of the repair
}

// ownerDifference is the organization of the router.
func ownerDifference(s Difference) id.Organization { return s.OrgID }

// evolveDifference applies one recorded event.
func evolveDifference(s Difference, e events.DifferenceEvent) Difference {
	s.AccessDifference = events.DifferenceOf(e)
	switch e := e.(type) {
	case events.AccessDifferenceOpened:
		s.Open, s.Expected, s.Actual, s.Since = true, e.Expected, e.Actual.Reveal(), e.Since
		s.Walled = e.Walled
	case events.AccessDifferenceClosed:
		s.Open, s.Pending = false, nil
	case events.AccessRepairAsked:
		s.Pending, s.By, s.Asked = e.Steps, e.By, e.CorrelationID
	case events.AccessRepairWritten:
		if len(s.Pending) > 0 {
			s.Pending = s.Pending[1:]
		}
	case events.AccessDifferencePeriodClosed:
		return aggregates.Opened[Difference](e.Opening)
	}
	return s
}

// closeDifferencePeriod passes the state on, without what the router showed: that is personal. So an open difference is
// recorded once more when it is next looked at twice and looks different.
func closeDifferencePeriod(s Difference) events.DifferenceEvent {
	difference := s.AccessDifference
	s.Actual = ""
	return events.AccessDifferencePeriodClosed{AccessDifference: difference, Opening: aggregates.Opening(s)}
}

// decideDifference records openings, ends and repairs, each once.
func decideDifference(
	s Difference, c commands.DifferenceCommand, now time.Time,
) ([]events.DifferenceEvent, error) {
	switch c := c.(type) {
	case commands.OpenDifference:
		since := now
		if s.Open {
			since = s.Since
			if s.Expected == c.Expected && s.Actual == c.Actual.Reveal() && s.Walled == c.Walled {
				return nil, nil
			}
		}
		return []events.DifferenceEvent{events.AccessDifferenceOpened{
			AccessDifference: c.Difference, Expected: c.Expected, Actual: c.Actual, Walled: c.Walled, Since: since,
			At: now,
		}}, nil
	case commands.CloseDifference:
		return closeDifference(s, now), nil
	case commands.AskRepair:
		if !s.Open {
			return nil, commands.ErrNoDifference()
		}
		return askRepair(s, c, now), nil
	case commands.RecordRepairWrite:
		if len(s.Pending) == 0 {
			return nil, nil
		}
		return []events.DifferenceEvent{repairWritten(s, s.Pending[0], c.Found, now)}, nil
	}
	return nil, nil
}

// askRepair records a wish. Writes of an earlier wish that are not needed any more were done, and their record was
// lost.
func askRepair(s Difference, c commands.AskRepair, now time.Time) []events.DifferenceEvent {
	var out []events.DifferenceEvent
	left := slices.Clone(c.Steps)
	for _, before := range slices.Backward(s.Pending) { // writes are made in their order, so the last ones are left
		again := slices.IndexFunc(left, func(step events.RouterStep) bool {
			return step.Path == before.Path && step.Operation == before.Operation
		})
		if again >= 0 {
			left = slices.Delete(left, again, again+1)
			continue
		}
		out = append(out, repairWritten(s, before, true, now))
	}
	slices.Reverse(out)
	return append(out, events.AccessRepairAsked{
		AccessDifference: s.AccessDifference, Steps: c.Steps, By: c.By, CorrelationID: c.CorrelationID, At: now,
	})
}

// closeDifference ends an open difference. What was announced and never recorded was done, since the difference is
// gone.
func closeDifference(s Difference, now time.Time) []events.DifferenceEvent {
	if !s.Open {
		return nil
	}
	var out []events.DifferenceEvent
	for _, step := range s.Pending {
		out = append(out, repairWritten(s, step, true, now))
	}
	return append(out, events.AccessDifferenceClosed{AccessDifference: s.AccessDifference, At: now})
}

// repairWritten is the record of one write.
func repairWritten(s Difference, step events.RouterStep, found bool, now time.Time) events.AccessRepairWritten {
	return events.AccessRepairWritten{
		AccessDifference: s.AccessDifference, Step: step, Found: found, By: s.By, CorrelationID: s.Asked, At: now,
	}
}
