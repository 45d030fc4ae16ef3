package subscribers

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// PlanMoves defines how the customers of plans are moved to a version: one short stream for each move.
func PlanMoves() aggregates.Definition[PlanMove, commands.PlanMoveCommand, events.PlanMoveEvent] {
	return aggregates.Definition[PlanMove, commands.PlanMoveCommand, events.PlanMoveEvent]{
		Category: commands.PlanMoveCategory, Missing: commands.ErrNoBatch, Evolve: evolvePlanMove,
		Decide: decidePlanMove, Owner: func(s PlanMove) id.Organization { return s.Owner },
		Commands: []commands.PlanMoveCommand{commands.AskPlanMove{}, commands.RecordPlanMovePart{}},
	}
}

// PlanMove is how far a move has come. The zero value is "does not exist".
type PlanMove struct {
	ID       id.PlanMove
	Owner    id.Organization
	To       commands.NewPlan
	Next     int             // the part that comes next
	Last     id.Subscription // the last subscription of the part before it; zero before the first
	Moved    int
	Kept     int
	Refused  int
	Finished bool
}

// evolvePlanMove applies one recorded event.
func evolvePlanMove(s PlanMove, e events.PlanMoveEvent) PlanMove {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.PlanMoveAsked:
		return PlanMove{ID: e.MoveID, Owner: e.OrgID, To: commands.NewPlan{
			PlanID: e.PlanID, Version: e.PlanVersion, Terms: e.Terms,
		}}
	case events.PlanMovePartDone:
		s.Next, s.Last = e.Part+1, e.Last
		s.Moved, s.Kept, s.Refused = s.Moved+e.Moved, s.Kept+e.Kept, s.Refused+len(e.Refused)
	case events.PlanMoveFinished:
		s.Finished = true
	}
	return s
}

// decidePlanMove records each part once, in their order, and the end when nothing was left for a part.
func decidePlanMove(s PlanMove, c commands.PlanMoveCommand, now time.Time) ([]events.PlanMoveEvent, error) {
	switch c := c.(type) {
	case commands.AskPlanMove:
		if !s.ID.IsZero() {
			return nil, nil
		}
		return []events.PlanMoveEvent{events.PlanMoveAsked{
			MoveID: c.MoveID, OrgID: c.OrgID, PlanID: c.PlanID, PlanName: c.Terms.Name, PlanVersion: c.Version,
			Terms: c.Terms, Reason: c.Reason, At: now,
		}}, nil
	case commands.RecordPlanMovePart:
		switch {
		case s.ID.IsZero():
			return nil, commands.ErrNoBatch()
		case s.Finished || c.Part != s.Next:
			return nil, nil
		case c.Last.IsZero():
			return []events.PlanMoveEvent{events.PlanMoveFinished{
				MoveID: s.ID, OrgID: s.Owner, Moved: s.Moved, Kept: s.Kept, Refused: s.Refused, At: now,
			}}, nil
		}
		return []events.PlanMoveEvent{events.PlanMovePartDone{
			MoveID: s.ID, OrgID: s.Owner, Part: c.Part, Last: c.Last, Moved: c.Moved, Kept: c.Kept,
			Refused: c.Refused, At: now,
		}}, nil
	}
	return nil, nil
}
