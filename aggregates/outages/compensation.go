package outages

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Compensations defines the compensations: a stream for each, from its preview to its end.
func Compensations() aggregates.Definition[Compensation, commands.CompensationCommand, events.CompensationEvent] {
	return aggregates.Definition[Compensation, commands.CompensationCommand, events.CompensationEvent]{
		Category: commands.CompensationCategory, Missing: commands.ErrNoCompensation, Evolve: evolveCompensation,
		Decide: decideCompensation, Owner: func(s Compensation) id.Organization { return s.Org },
		Commands: []commands.CompensationCommand{
			commands.PreviewCompensation{}, commands.ApplyCompensation{}, commands.FinishCompensationPart{},
		},
	}
}

// compensationPart is how many subscriptions a part has at most: so an event stays small, and a part that is given
// again after a stop is soon over.
const compensationPart = 100

// Compensation is one compensation. The zero value does not exist.
type Compensation struct {
	ID      id.Compensation
	Org     id.Organization
	From    time.Time
	To      time.Time
	Give    events.CompensationGive
	Reason  string
	Parts   [][]events.CompensationItem
	Applied bool
	Done    map[int]bool // parts that were given
	Given   int
	Refused int
}

// evolveCompensation applies one recorded event.
func evolveCompensation(s Compensation, e events.CompensationEvent) Compensation {
	switch e := e.(type) {
	case events.CompensationPreviewed:
		return Compensation{ID: e.CompensationID, Org: e.OrgID, From: e.From, To: e.To, Give: e.Give, Reason: e.Reason}
	case events.CompensationListed:
		s.Parts = append(slices.Clone(s.Parts), e.Items)
	case events.CompensationApplied:
		s.Applied = true
	case events.CompensationPartDone:
		done := map[int]bool{e.Part: true}
		for part := range s.Done {
			done[part] = true
		}
		s.Done, s.Given, s.Refused = done, s.Given+e.Given, s.Refused+len(e.Refused)
	case events.CompensationFinished: // follows from the parts
	}
	return s
}

// Sum is the money that all of its subscriptions get together; days are no money.
func (s Compensation) Sum() (sum money.Amount) {
	for _, part := range s.Parts {
		for _, item := range part {
			if item.Amount.Positive() {
				sum = money.Of(sum.Minor+item.Amount.Minor, item.Amount.Currency)
			}
		}
	}
	return sum
}

// decideCompensation dispatches.
func decideCompensation(
	s Compensation, c commands.CompensationCommand, now time.Time,
) ([]events.CompensationEvent, error) {
	if preview, ok := c.(commands.PreviewCompensation); ok {
		return decidePreview(s, preview, now)
	}
	if s.ID.IsZero() {
		return nil, commands.ErrNoCompensation()
	}
	switch c := c.(type) {
	case commands.PreviewCompensation: // above
	case commands.ApplyCompensation:
		if s.Applied {
			return nil, nil
		}
		return []events.CompensationEvent{events.CompensationApplied{
			CompensationID: s.ID, OrgID: s.Org, Parts: len(s.Parts), At: now,
		}}, nil
	case commands.FinishCompensationPart:
		return decideFinishPart(s, c, now), nil
	}
	return nil, nil
}

// decidePreview records the subscriptions in parts.
func decidePreview(s Compensation, c commands.PreviewCompensation, now time.Time) ([]events.CompensationEvent, error) {
	switch {
	case !s.ID.IsZero():
		return nil, nil
	case c.To.After(now):
		return nil, commands.ErrCompensationNotOver()
	case len(c.Items) == 0:
		return nil, failure.New(failure.Invalid, "compensation_empty",
			"No customer was to have service there at that time.")
	}
	parts := slices.Collect(slices.Chunk(c.Items, compensationPart))
	made := []events.CompensationEvent{events.CompensationPreviewed{
		CompensationID: c.CompensationID, OrgID: c.OrgID, Place: c.Place, OutageID: c.OutageID, From: c.From.UTC(),
		To: c.To.UTC(), Give: c.Give, Reason: c.Reason, Subscriptions: len(c.Items), Parts: len(parts), At: now,
	}}
	for i, items := range parts {
		made = append(made, events.CompensationListed{
			CompensationID: c.CompensationID, OrgID: c.OrgID, Part: i, Items: items,
		})
	}
	return made, nil
}

// decideFinishPart records the end of a part once, and with the last one that of the compensation.
func decideFinishPart(
	s Compensation, c commands.FinishCompensationPart, now time.Time,
) []events.CompensationEvent {
	if !s.Applied || s.Done[c.Part] || c.Part < 0 || c.Part >= len(s.Parts) {
		return nil
	}
	done := events.CompensationPartDone{
		CompensationID: s.ID, OrgID: s.Org, Part: c.Part, Given: c.Given, Refused: c.Refused, At: now,
	}
	made := []events.CompensationEvent{done}
	if after := evolveCompensation(s, done); len(after.Done) == len(s.Parts) {
		made = append(made, events.CompensationFinished{
			CompensationID: s.ID, OrgID: s.Org, Given: after.Given, Refused: after.Refused, At: now,
		})
	}
	return made
}
