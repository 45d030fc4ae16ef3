package subscribers

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// PlanMoved is a move of many customers that came true for one of them, or was taken back. The zero value is none.
type PlanMoved struct {
	MoveID      id.PlanMove
	FromOrdinal int // of the first period under the new version
	Before      commands.NewPlan
	TakenBack   bool
}

// movedBy gives the move that a change makes or takes back. After any other change no move can be taken back.
func (s Subscription) movedBy(e events.SubscriptionPlanChanged) PlanMoved {
	switch {
	case !e.UndoneMove.IsZero():
		return PlanMoved{MoveID: e.UndoneMove, TakenBack: true}
	case e.MoveID.IsZero():
		return PlanMoved{}
	}
	from := s.lastOrdinal() + 1
	if !s.Planned.IsZero() {
		from = s.Planned.FromOrdinal
	}
	return PlanMoved{MoveID: e.MoveID, FromOrdinal: from, Before: commands.NewPlan{
		PlanID: s.PlanID, Version: s.PlanVersion, Terms: s.Terms,
	}}
}

// decideUndoMove drops a move that is planned, and changes back at once where no period under the new version is paid
// or served. Source: docs/rules/subscribers.md#plan-moves.
func decideUndoMove(s Subscription, c commands.UndoPlanMove, now time.Time) ([]events.SubscriptionEvent, error) {
	switch {
	case s.State == Ended:
		return nil, failure.NewConflict("subscription_ended", "This subscription has ended.")
	case s.Planned.MoveID == c.MoveID && !s.Planned.IsZero():
		change, err := s.PlanChange(commands.NewPlan{PlanID: s.PlanID, Version: s.PlanVersion, Terms: s.Terms}, now)
		if failure.CodeOf(err) == failure.CodeOf(errPlannedPaid()) {
			err = commands.ErrPlanMoveBegan()
		}
		return change.made, err
	case s.Moved.MoveID != c.MoveID || !s.Moved.TakenBack && !s.Planned.IsZero():
		return nil, commands.ErrCorrectedSince()
	case s.Moved.TakenBack:
		return nil, nil
	case s.lastTaken() >= s.Moved.FromOrdinal:
		return nil, commands.ErrPlanMoveBegan()
	}
	next, cancels := s.withoutUnpaid(&PlanChange{}, false, now)
	if next.waitsAgain() {
		return nil, errTakenBack()
	}
	changed := next.changed(s.Moved.Before, now)
	changed.UndoneMove = c.MoveID
	return next.remade(cancels, changed, now), nil
}

// UndoingMove fails as the undo of a move would, without doing it: the decision itself is asked.
func (s Subscription) UndoingMove(c commands.UndoPlanMove, now time.Time) error {
	_, err := decideSubscription(s, c, now)
	return err
}
