package access

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access/course"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// decideReview takes the step and the reminder that are due now, and records what comes next when it has changed.
func decideReview(s Dunning, c commands.ReviewDunning, now time.Time) ([]events.DunningEvent, error) {
	if c.Rules.Zone == nil { // without rules nobody is cut
		return nil, failure.NewInvalid("invalid_input", "rules are required")
	}
	rules := course.NewRules(c.Rules.Policy, c.Rules.Zone, c.Rules.Holidays)
	if c.Short {
		rules = rules.WithoutGrace()
	}
	history := s.history(c.Owed, now)
	way := course.Of(rules, history)
	var out []events.DunningEvent
	record := func(e events.DunningEvent) {
		s = evolveDunning(s, e)
		out = append(out, e)
	}
	if step := way.At(now); step.State != s.state() {
		wait := c.CutsWait || !c.CutsBy.IsZero() && !now.Before(c.CutsBy)
		if wait && cuts(s.state(), step.State) {
			return nil, failure.NewConflict("cuts_wait", "Nobody is cut before the money of an outage is counted.")
		}
		if step.At.Before(way.Since) && !way.Since.After(now) { // the state goes on for another debt than it began for
			step.DueAt, step.Due = way.DueAt, rules.Overdue(courseOwed(present(c)), now)
		}
		record(s.step(c, step, now))
	}
	for _, r := range way.Reminders {
		due := !r.At.After(now) && now.Before(r.Until) && r.DueAt.Equal(way.DueAt) // a payment ends those before it
		if due && !slices.Contains(s.remindedOf(r.DueAt), r.Day) {
			record(events.DunningReminded{
				DunningSubject: c.Subject, Day: r.Day, DueAt: r.DueAt, Due: dueBy(c, r.DueAt), Until: r.Until, At: now,
			})
		}
	}
	owed := present(c)
	owed.At = history.Owed[len(history.Owed)-1].At
	return append(out, s.reviewed(c, owed, way, now)...), nil
}

// untilDunning is until when a decision that cuts may be sent to the log: as long as the cut was allowed. A step that
// gives access back, also a part of it, may always be sent.
func untilDunning(c commands.DunningCommand, decided []events.DunningEvent) time.Time {
	review, ok := c.(commands.ReviewDunning)
	if !ok || !slices.ContainsFunc(decided, cut) {
		return time.Time{}
	}
	return review.CutsBy
}

// cut reports whether an event is a step further into the states that take access away.
func cut(e events.DunningEvent) bool {
	switch e := e.(type) {
	case events.WalledGardenEntered:
		return cuts(e.Before, events.DunningWalledGarden)
	case events.ServiceSuspended:
		return cuts(e.Before, events.DunningSuspended)
	case events.WriteOffProposed:
		return cuts(e.Before, events.DunningWrittenOff)
	default:
		return false
	}
}

// cuts reports whether a step leads further into the states that take access away.
func cuts(from, to events.DunningState) bool { return to.Cut() && to.Rank() > from.Rank() }

// present has the debts and the paid time that hold now.
func present(c commands.ReviewDunning) events.DunningOwed { return c.Owed[len(c.Owed)-1] }

// step is the event that leads into the state of a step, which is not the present one.
func (s Dunning) step(c commands.ReviewDunning, step course.Step, now time.Time) events.DunningEvent {
	into := events.DunningStep{
		Before: s.state(), DueAt: step.DueAt, Due: step.Due, Reason: string(step.Reason), Planned: step.Planned,
		At: now, PlanID: c.PlanID,
	}
	if into.Due.Currency == "" {
		into.Due = money.Of(0, c.Rules.Policy.MinimumDue.Currency)
	}
	counted := step.At // a step before the due instant tells of what is overdue by then
	if counted.Before(step.DueAt) {
		counted = step.DueAt
	}
	for _, d := range present(c).Overdue(counted, c.Rules.Zone) {
		into.InvoiceIDs = append(into.InvoiceIDs, d.InvoiceID)
	}
	switch step.State {
	case events.DunningReminding:
		return events.DunningBegan{DunningSubject: c.Subject, DunningStep: into}
	case events.DunningWalledGarden:
		return events.WalledGardenEntered{DunningSubject: c.Subject, DunningStep: into}
	case events.DunningSuspended:
		return events.ServiceSuspended{DunningSubject: c.Subject, DunningStep: into}
	case events.DunningWrittenOff:
		return events.WriteOffProposed{DunningSubject: c.Subject, DunningStep: into}
	case events.DunningNone:
	}
	return events.DunningEnded{
		DunningSubject: c.Subject, Before: s.state(), Reason: string(course.ReasonOwedChanged), At: now,
	}
}

// dueBy is the part of what is owed that is overdue at an instant.
func dueBy(c commands.ReviewDunning, at time.Time) money.Amount {
	total := money.Of(0, c.Rules.Policy.MinimumDue.Currency)
	for _, d := range present(c).Overdue(at, c.Rules.Zone) {
		total = total.Add(d.Amount)
	}
	return total
}

// reviewed is the event of a review of what is owed; none when it found what the one before found.
func (s Dunning) reviewed(
	c commands.ReviewDunning, owed events.DunningOwed, way course.Course, now time.Time,
) []events.DunningEvent {
	e := events.DunningReviewed{
		DunningSubject: c.Subject, PlanID: c.PlanID, State: s.state(), Owed: owed, At: now,
	}
	if next, ok := way.Next(now); ok {
		e.NextState, e.NextAt, e.WakeAt = next.State, next.At, next.At
	}
	if r, ok := way.NextReminder(now); ok && (e.WakeAt.IsZero() || r.At.Before(e.WakeAt)) {
		e.WakeAt = r.At
	}
	if s.state() != events.DunningNone && way.Since.Before(e.Owed.At) {
		e.Since = way.Since
	}
	if s.state().Cut() {
		e.MinimumDue = c.Rules.Policy.MinimumDue
	}
	before := s.Reviewed
	if before.State == "" {
		before = events.DunningReviewed{DunningSubject: c.Subject, PlanID: c.PlanID, State: events.DunningNone}
	}
	before.At = now
	if nothing(before.Owed) && nothing(e.Owed) {
		before.Owed.At = e.Owed.At
	}
	if before.State == e.State && before.WakeAt.Equal(e.WakeAt) && written(before) == written(e) {
		return nil
	}
	return []events.DunningEvent{e}
}

// nothing reports whether neither time nor money is owed.
func nothing(o events.DunningOwed) bool { return o.PaidUntil.IsZero() && len(o.Debts) == 0 }

// written is the JSON of a review. Equal instants have the same text wherever they come from.
func written(e events.DunningReviewed) string {
	body, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("access: write review: %v", err)) // no field can fail to marshal
	}
	return string(body)
}

// history is everything that the course depends on. now bounds how late a step can begin.
func (s Dunning) history(owed []events.DunningOwed, now time.Time) course.History {
	h := course.History{Pauses: slices.Clone(s.Pauses), Entered: s.Entered, Late: now}
	older := len(s.Entered) == 0 || s.Entered[0].DueAt.IsZero() // they may be of a debt that was paid since
	if ahead := s.Reviewed.At.After(now); !older && !ahead {
		h.Found, h.FoundMinimum = courseOwed(s.Reviewed.Owed), s.Reviewed.MinimumDue
	}
	for _, o := range owed {
		h.Owed = append(h.Owed, courseOwed(o))
	}
	// What is dated later than what came after it, or than the present, is from when a clock was ahead. It is of the
	// moment at which that came, and of the first review by the right clock.
	until := now
	for i := range slices.Backward(h.Owed) {
		if h.Owed[i].At.After(now) && owed[i].Same(s.Reviewed.Owed) {
			until = earlier(until, s.Reviewed.Owed.At)
		}
		until = earlier(until, h.Owed[i].At)
		h.Owed[i].At = until
	}
	if !s.HoldFrom.IsZero() {
		h.Pauses = append(h.Pauses, course.Pause{From: s.HoldFrom, Until: s.HoldUntil})
	}
	for _, cause := range slices.Sorted(maps.Keys(s.Stopped)) {
		h.Pauses = append(h.Pauses, course.Pause{From: s.Stopped[cause]})
	}
	return h
}

// earlier is the first of two instants.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// courseOwed is the form that the course reads.
func courseOwed(o events.DunningOwed) course.Owed {
	out := course.Owed{At: o.At, PaidUntil: o.PaidUntil}
	for _, d := range o.Debts {
		out.Debts = append(out.Debts, course.Debt{DueOn: d.DueOn, Amount: d.Amount})
	}
	return out
}
