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
	if c.Rules.Timezone == "" { // without rules nobody is cut
		return nil, failure.NewInvalid("invalid_input", "rules are required")
	}
	zone, err := time.LoadLocation(c.Rules.Timezone)
	if err != nil {
		return nil, fmt.Errorf("zone of the dunning rules: %w", err)
	}
	rules := course.NewRules(c.Rules.Policy, zone, c.Rules.Holidays)
	if c.Short {
		rules = rules.WithoutGrace()
	}
	way := course.Of(rules, s.history(c.Owed, now))
	var out []events.DunningEvent
	take := func(command commands.DunningCommand) error {
		list, err := decideDunning(s, command, now)
		for _, e := range list {
			s = evolveDunning(s, e)
		}
		out = append(out, list...)
		return err
	}
	owed := c.Owed[len(c.Owed)-1]
	if step := way.At(now); step.State != s.state() {
		if err := take(stepCommand(c, step, owed)); err != nil {
			return nil, err
		}
	}
	for _, r := range way.Reminders {
		if r.At.After(now) || !now.Before(r.Until) {
			continue
		}
		err := take(commands.RemindCustomer{
			Subject: c.Subject, Day: r.Day, DueAt: r.DueAt, Due: sum(owed, c.Rules), Until: r.Until,
		})
		if err != nil {
			return nil, err
		}
	}
	return append(out, s.reviewed(c, way, now)...), nil
}

// stepCommand is the command that leads into the state of a step.
func stepCommand(c commands.ReviewDunning, step course.Step, owed events.DunningOwed) commands.DunningCommand {
	m := commands.DunningMove{
		DueAt: step.DueAt, Due: step.Due, Reason: string(step.Reason), Planned: step.Planned, PlanID: c.PlanID,
	}
	if m.Due.Currency == "" {
		m.Due = money.Of(0, c.Rules.Policy.MinimumDue.Currency)
	}
	for _, d := range owed.Debts {
		m.InvoiceIDs = append(m.InvoiceIDs, d.InvoiceID)
	}
	switch step.State {
	case events.DunningReminding:
		return commands.BeginDunning{Subject: c.Subject, Move: m}
	case events.DunningWalledGarden:
		return commands.EnterWalledGarden{Subject: c.Subject, Move: m}
	case events.DunningSuspended:
		return commands.SuspendService{Subject: c.Subject, Move: m}
	case events.DunningWrittenOff:
		return commands.ProposeWriteOff{Subject: c.Subject, Move: m}
	case events.DunningNone:
	}
	return commands.EndDunning{Subject: c.Subject, Reason: string(course.ReasonOwedChanged)}
}

// sum is everything that is owed, due already or soon.
func sum(o events.DunningOwed, r commands.DunningRules) money.Amount {
	total := money.Of(0, r.Policy.MinimumDue.Currency)
	for _, d := range o.Debts {
		total = total.Add(d.Amount)
	}
	return total
}

// reviewed is the event of a review; none when it found what the one before found.
func (s Dunning) reviewed(c commands.ReviewDunning, way course.Course, now time.Time) []events.DunningEvent {
	e := events.DunningReviewed{
		DunningSubject: c.Subject, PlanID: c.PlanID, State: s.state(), Owed: c.Owed[len(c.Owed)-1], At: now,
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
	before := s.Reviewed
	if before.State == "" {
		before = events.DunningReviewed{DunningSubject: c.Subject, PlanID: c.PlanID, State: events.DunningNone}
	}
	before.At = now
	if nothing(before.Owed) && nothing(e.Owed) {
		before.Owed.At = e.Owed.At
	}
	if written(before) == written(e) {
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
	for _, o := range owed {
		h.Owed = append(h.Owed, courseOwed(o))
	}
	if !s.HoldFrom.IsZero() {
		h.Pauses = append(h.Pauses, course.Pause{From: s.HoldFrom, Until: s.HoldUntil})
	}
	for _, cause := range slices.Sorted(maps.Keys(s.Stopped)) {
		h.Pauses = append(h.Pauses, course.Pause{From: s.Stopped[cause]})
	}
	return h
}

// courseOwed is the form that the course reads.
func courseOwed(o events.DunningOwed) course.Owed {
	out := course.Owed{At: o.At, PaidUntil: o.PaidUntil}
	for _, d := range o.Debts {
		out.Debts = append(out.Debts, course.Debt{DueOn: d.DueOn, Amount: d.Amount})
	}
	return out
}
