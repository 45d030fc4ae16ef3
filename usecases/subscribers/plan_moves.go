package subscriberscases

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// PlanMoves moves the customers of a plan to its newest version (docs/rules/subscribers.md#plan-moves). Safe for
// concurrent use.
type PlanMoves struct {
	Bus    *bus.Bus
	Views  *runner.Views
	Logger *slog.Logger // is told of subscriptions at which the program failed
}

// moveCrew is how many subscriptions are moved at the same time.
const moveCrew = 16

// ErrMoveBehind is the failure of Part when the read model does not show the end of the log yet. Nothing was done.
var ErrMoveBehind = errors.New("the read model is behind the log")

// Ask begins to move the customers of a plan. version is the one that the caller saw as the newest. Under the same key
// a repeat gets the move of the first try. Fails: plan_not_found, plan_version_old, invalid_input.
func (u PlanMoves) Ask(
	ctx context.Context, asked usecases.Asked, plan id.Plan, version int, reason string,
) (id.PlanMove, bus.Result, error) {
	p, _, err := bus.LoadOwned[subscribers.Plan](ctx, u.Bus, asked.Org(), plan)
	if err != nil {
		return id.PlanMove{}, bus.Result{}, err
	}
	if version != p.Version {
		return id.PlanMove{}, bus.Result{}, failure.NewConflict("plan_version_old",
			"The plan has another version by now. Look at it again.")
	}
	move := usecases.NewID[id.PlanMove](asked, "plan_move")
	meta := asked.Meta
	meta.CorrelationID, meta.Reason = move.String(), reason
	done, err := u.Bus.Execute(ctx, commands.AskPlanMove{
		MoveID: move, OrgID: asked.Org(), Reason: strings.TrimSpace(reason),
		NewPlan: commands.NewPlan{PlanID: plan, Version: p.Version, Terms: p.Terms},
	}, meta)
	return move, done, err
}

// Part moves the next subscriptions and records it. A part that was begun before finds what it did. Fails:
// ErrMoveBehind, and as the log and the read model do.
func (u PlanMoves) Part(ctx context.Context, part commands.MovePlanPart, meta commands.Meta) error {
	move, _, err := bus.LoadOwned[subscribers.PlanMove](ctx, u.Bus, part.OrgID, part.MoveID)
	if err != nil || move.Finished || move.Next != part.Part {
		return err
	}
	whole := func(context.Context) (bool, error) { return true, nil }
	if ok, err := u.Views.WaitWhole(ctx, subscribersviews.SubscriptionsName, whole); err != nil || !ok {
		return errors.Join(err, ErrMoveBehind)
	}
	list, err := subscribersviews.SubscriptionsQuery{Views: u.Views}.OfPlan(ctx, part.OrgID, move.To.PlanID, move.Last,
		commands.PlanMoveItems)
	if err != nil {
		return err
	}
	record := commands.RecordPlanMovePart{MoveID: part.MoveID, Part: part.Part}
	meta.CorrelationID = part.MoveID.String()
	var moved atomic.Int64
	items := usecases.Items{Logger: u.Logger, Batch: part.MoveID, Crew: moveCrew}
	refused, err := usecases.EachItem(ctx, items, list, func(i int) error {
		step := meta
		step.CommandID = id.Derive[id.Command](part.MoveID.String(), list[i].String())
		done, err := u.Bus.Execute(ctx, commands.MovePlan{
			SubscriptionID: list[i], NewPlan: move.To, MoveID: part.MoveID,
		}, step)
		if done.Changed {
			moved.Add(1)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, of := range list {
		record.Last = of
		if refused[i] != "" {
			record.Refused = append(record.Refused, events.PlanMoveRefusal{SubscriptionID: of, Code: refused[i]})
		}
	}
	record.Moved = int(moved.Load())
	record.Kept = len(list) - record.Moved - len(record.Refused)
	_, err = u.Bus.Execute(ctx, record, meta)
	return err
}

// UndoPlanMoves takes moves back: what is planned is dropped, and unpaid invoices of the new version are replaced.
// Safe for concurrent use.
type UndoPlanMoves struct {
	Bus   *bus.Bus
	Clock clock.Clock
}

// Name says which batches it takes back.
func (UndoPlanMoves) Name() string { return events.BatchPlanMove }

// Check refuses a move that still goes on. Fails: batch_not_found, batch_not_finished.
func (u UndoPlanMoves) Check(ctx context.Context, org id.Organization, batch id.Batch) error {
	move, _, err := bus.LoadOwned[subscribers.PlanMove](ctx, u.Bus, org, id.As[id.PlanMove](batch))
	switch {
	case failure.KindOf(err) == failure.NotFound:
		return commands.ErrNoBatch()
	case err == nil && !move.Finished:
		return commands.ErrBatchNotFinished()
	}
	return err
}

// Text names the plan and its version.
func (u UndoPlanMoves) Text(ctx context.Context, org id.Organization, batch id.Batch) (string, error) {
	move, _, err := bus.LoadOwned[subscribers.PlanMove](ctx, u.Bus, org, id.As[id.PlanMove](batch))
	return "move to version " + strconv.Itoa(move.To.Version) + " of " + move.To.Terms.Name, err
}

// Look asks the subscription what it would do. Fails: subscription_ended, subscription_paused, billing_suspended,
// payment_taken_back, plan_move_began, corrected_since.
func (u UndoPlanMoves) Look(ctx context.Context, of usecases.BatchUndoOf, item usecases.BatchItem) (string, error) {
	s, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, of.OrgID, item.SubscriptionID)
	if err != nil {
		return "", err
	}
	return events.ItemUndone, s.UndoingMove(undoMove(of, item), u.Clock.Now())
}

// undoMove is the command by which one is taken back.
func undoMove(of usecases.BatchUndoOf, item usecases.BatchItem) commands.UndoPlanMove {
	return commands.UndoPlanMove{SubscriptionID: item.SubscriptionID, MoveID: id.As[id.PlanMove](of.BatchID)}
}

// Undo gives the subscription its version back. Fails as Look.
func (u UndoPlanMoves) Undo(
	ctx context.Context, of usecases.BatchUndoOf, item usecases.BatchItem, meta commands.Meta,
) (string, error) {
	if _, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, of.OrgID, item.SubscriptionID); err != nil {
		return "", err
	}
	_, err := u.Bus.Execute(ctx, undoMove(of, item), usecases.UndoStep(meta, of))
	return events.ItemUndone, err
}
