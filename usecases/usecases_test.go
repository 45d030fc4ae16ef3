package usecases_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
)

func TestAsked_ARepeatUnderAKeyMeetsWhatTheFirstTryMade(t *testing.T) {
	t.Parallel()
	first := coretest.Keyed(id.New[id.Organization]())
	again := first
	if usecases.NewID[id.Plan](first, "plan") != usecases.NewID[id.Plan](again, "plan") {
		t.Error("a repeat makes something else")
	}
	if id.Any(usecases.NewID[id.Plan](first, "plan")) == id.Any(usecases.NewID[id.Secret](first, "secret")) {
		t.Error("two kinds of things have one id")
	}
	if first.Step("a").CommandID != again.Step("a").CommandID ||
		first.Step("a").CommandID == first.Step("b").CommandID {
		t.Error("steps are not told apart by their words alone")
	}
	unkeyed := coretest.Ask(first.Org())
	if one, two := usecases.NewID[id.Plan](unkeyed, "plan"), usecases.NewID[id.Plan](unkeyed, "plan"); one == two {
		t.Error("without a key two things have one id")
	}
	revision := uint64(3)
	unkeyed.Meta.ExpectedRevision = &revision
	if step := unkeyed.Step("a"); step.ExpectedRevision != nil ||
		step.CorrelationID != unkeyed.Meta.CommandID.String() {
		t.Errorf("a further command carries %+v", step)
	}
}

func TestAmend_TwoChangesOfDifferentFieldsBothCount(t *testing.T) {
	t.Parallel()
	ctx, k := t.Context(), coretest.New(t, clock.System())
	b := k.Bus
	bus.Register(b, subscribers.Plans())
	org, plan := id.New[id.Organization](), id.New[id.Plan]()
	terms := events.PlanTerms{
		Name: "Home", Kind: "pppoe", Price: money.Major(1500, money.KES), Mode: events.Prepaid, Period: calendar.Month,
		Rates: events.Rates{Down: 10_000, Up: 5_000},
	}
	k.Run(t, coretest.Ask(org).Meta, commands.CreatePlan{PlanID: plan, OrgID: org, Code: "HOME", Terms: terms})
	rename := func(name string) func(subscribers.Plan) (commands.Command, error) {
		return func(present subscribers.Plan) (commands.Command, error) {
			next := present.Terms
			next.Name = name
			return commands.RevisePlan{PlanID: plan, Terms: next}, nil
		}
	}
	interrupted := false
	_, err := usecases.Amend(ctx, b, coretest.Ask(org), plan, func(present subscribers.Plan) (commands.Command, error) {
		if !interrupted { // another change comes first, once
			interrupted = true
			if _, err := usecases.Amend(ctx, b, coretest.Ask(org), plan, rename("Home 10")); err != nil {
				return nil, err
			}
		}
		next := present.Terms
		next.Price = money.Major(2000, money.KES)
		return commands.RevisePlan{PlanID: plan, Terms: next}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	state, revision, err := bus.LoadOwned[subscribers.Plan](ctx, b, org, plan)
	if err != nil || state.Terms.Name != "Home 10" || state.Terms.Price != money.Major(2000, money.KES) {
		t.Errorf("one change is lost: %+v, %v", state.Terms, err)
	}
	conditional, old := coretest.Ask(org), revision-1
	conditional.Meta.ExpectedRevision = &old
	if _, err := usecases.Amend(ctx, b, conditional, plan, rename("x")); failure.KindOf(err) != failure.Stale {
		t.Errorf("a failed If-Match: %v", err)
	}
	foreign := coretest.Ask(id.New[id.Organization]())
	if _, err := usecases.Amend(ctx, b, foreign, plan, rename("x")); failure.CodeOf(err) != "plan_not_found" {
		t.Errorf("another organization: %v", err)
	}
}
