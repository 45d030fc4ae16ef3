package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// toSecond moves a subscription to the second version of its plan, which costs more.
func toSecond(mode events.BillingMode) commands.MovePlan {
	to := commands.NewPlan{PlanID: plan, Version: 2, Terms: terms(mode)}
	to.Terms.Price = money.Major(1800, money.KES)
	return commands.MovePlan{
		SubscriptionID: subscription, NewPlan: to, MoveID: id.Derive[id.PlanMove]("test", "move"),
	}
}

// takesBack undoes toSecond.
func takesBack(m commands.MovePlan) commands.UndoPlanMove {
	return commands.UndoPlanMove{SubscriptionID: subscription, MoveID: m.MoveID}
}

// What is planned is dropped, and an unpaid invoice of the new version is replaced by one of the old.
func TestUndoPlanMove_DropsWhatIsPlanned(t *testing.T) {
	t.Parallel()
	move := toSecond(events.Prepaid)
	s := paidMonth(t)
	s.When(takesBack(move)).ThenFails("corrected_since")
	s.When(move).ThenEvents()
	s.At(s.State().PaidUntil().Add(-48 * time.Hour)).When(commands.MakePeriodDue{SubscriptionID: subscription})
	due := dueIn(s.ThenEvents())
	if due.Terms.Price != move.Terms.Price {
		t.Fatalf("due %+v", due)
	}
	made := s.When(takesBack(move)).ThenEvents()
	if len(made) != 3 || dueIn(made).Terms.Price != terms(events.Prepaid).Price || !s.State().Planned.IsZero() {
		t.Errorf("made %+v", made)
	}
	s.When(takesBack(move)).ThenNothing()
}

// A period that is paid under the new version keeps it.
func TestUndoPlanMove_WhatIsPaidUnderItStays(t *testing.T) {
	t.Parallel()
	move := toSecond(events.Prepaid)
	s := paidMonth(t)
	s.When(move).ThenEvents()
	until := s.State().PaidUntil()
	s.At(until.Add(-48 * time.Hour)).When(commands.MakePeriodDue{SubscriptionID: subscription})
	due := dueIn(s.ThenEvents())
	s.When(paid(due.InvoiceID, until.Add(-47*time.Hour))).ThenEvents()
	s.When(takesBack(move)).ThenFails("plan_move_began")
	s.At(until.Add(time.Hour)).When(commands.ApplyPlanChange{SubscriptionID: subscription}).ThenEvents()
	s.When(takesBack(move)).ThenFails("plan_move_began")
}

// Where no time is paid a move is at once, and so is its undo, also after the stream was closed and opened.
func TestUndoPlanMove_AtOnceWhereNothingIsPaid(t *testing.T) {
	t.Parallel()
	move := toSecond(events.Prepaid)
	s := paidMonth(t)
	s.At(s.State().PaidUntil().Add(time.Hour)).When(move)
	if changed, _ := s.ThenEvents()[0].(events.SubscriptionPlanChanged); changed.MoveID != move.MoveID {
		t.Fatalf("changed %+v", changed)
	}
	s.SurvivesClosing()
	made := s.When(takesBack(move)).ThenEvents()
	if back, _ := made[0].(events.SubscriptionPlanChanged); len(made) != 1 || back.PlanVersion != 1 ||
		back.UndoneMove != move.MoveID {
		t.Errorf("made %+v", made)
	}
	s.When(takesBack(move)).ThenNothing()
}

// A person's own change is not taken back with the move before it.
func TestUndoPlanMove_AChangeSinceStays(t *testing.T) {
	t.Parallel()
	move := toSecond(events.Prepaid)
	s := paidMonth(t)
	s.When(move).ThenEvents()
	changes(t, s, sold("small", 800, events.Prepaid), now)
	s.When(takesBack(move)).ThenFails("corrected_since")
}

func TestPlanMoves_RecordEachPartOnce(t *testing.T) {
	t.Parallel()
	move := toSecond(events.Prepaid)
	s := decidertest.For(t, subscribers.PlanMoves(), now).When(commands.AskPlanMove{
		MoveID: move.MoveID, OrgID: org, NewPlan: move.NewPlan, Reason: "prices of the new year",
	})
	s.ThenEvents()
	part := commands.RecordPlanMovePart{
		MoveID: move.MoveID, Last: subscription, Moved: 2, Kept: 1,
		Refused: []events.PlanMoveRefusal{{SubscriptionID: subscription, Code: "plan_change_paid"}},
	}
	s.When(part).ThenEvents()
	s.When(part).ThenNothing()
	end := commands.RecordPlanMovePart{MoveID: move.MoveID, Part: 1}
	s.When(end).Then(events.PlanMoveFinished{
		MoveID: move.MoveID, OrgID: org, Moved: 2, Kept: 1, Refused: 1, At: now,
	})
	s.When(end).ThenNothing()
}
