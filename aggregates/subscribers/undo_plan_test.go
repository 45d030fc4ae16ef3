package subscribers_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// cheap is a plan that costs less than that of these tests, with the same billing day.
func cheap(mode events.BillingMode, day int) commands.NewPlan {
	to := sold("cheap", 100, mode)
	to.Terms.AnchorDay = day
	return to
}

// TestUndoPeriod_AMonthThatIsMadeAgainComesBeforeAPlannedChange: the cheaper plan was chosen for the month after the
// one that is undone, and comes with it.
func TestUndoPeriod_AMonthThatIsMadeAgainComesBeforeAPlannedChange(t *testing.T) {
	t.Parallel()
	apply := commands.ApplyPlanChange{SubscriptionID: subscription}
	s := usedMonth(t)
	planned, _ := changes(t, s, cheap(events.Prepaid, 0), noon(3, 10))
	s.At(noon(3, 22)).When(undoes(subscription, second)).ThenEvents()
	moved, _ := s.When(apply).ThenEvents()[0].(events.PlanChangeMoved)
	if !moved.EffectiveAt.IsZero() {
		t.Errorf("the change comes at %s", moved.EffectiveAt)
	}
	s.SurvivesClosing()
	made := dueOf(t, s.When(again).ThenEvents())
	if made.Net() != money.Major(1500, money.KES) {
		t.Errorf("the month is billed again for %s", made.Net())
	}
	s.When(paid(third, noon(3, 22))).ThenEvents()
	moved, _ = s.When(apply).ThenEvents()[0].(events.PlanChangeMoved)
	if !moved.EffectiveAt.Equal(planned.EffectiveAt) {
		t.Errorf("the change comes at %s, planned for %s", moved.EffectiveAt, planned.EffectiveAt)
	}
	if next := dueOf(t, s.At(noon(3, 30)).When(due).ThenEvents()); next.Net() != money.Major(100, money.KES) {
		t.Errorf("the month after is billed for %s", next.Net())
	}
}

// TestUndoPeriod_APostpaidMonthThatIsMadeAgainComesBeforeAPlannedChange, also when the time of the change is over.
func TestUndoPeriod_APostpaidMonthThatIsMadeAgainComesBeforeAPlannedChange(t *testing.T) {
	t.Parallel()
	apply := commands.ApplyPlanChange{SubscriptionID: subscription}
	s := lateRun(t)
	first := dueOf(t, s.At(noon(3, 1)).When(due).ThenEvents())
	changes(t, s, cheap(events.Postpaid, 1), noon(3, 10))
	s.At(noon(3, 22)).When(undoes(subscription, first.InvoiceID)).ThenEvents()
	s.At(noon(4, 2)).When(apply).ThenEvents()
	received := commands.MakePeriodDue{SubscriptionID: subscription, Received: true}
	march(t, s.When(received).ThenEvents(), 1500)
	if _, ok := s.When(apply).ThenEvents()[0].(events.SubscriptionPlanChanged); !ok {
		t.Error("the change does not come")
	}
	if next := dueOf(t, s.When(due).ThenEvents()); next.Net() != money.Major(100, money.KES) {
		t.Errorf("April is billed for %s", next.Net())
	}
}

// TestChangePlan_WaitsUntilAnUndoneUsedMonthIsPaidAgain: otherwise its used days would have the price of another plan.
func TestChangePlan_WaitsUntilAnUndoneUsedMonthIsPaidAgain(t *testing.T) {
	t.Parallel()
	hourly := sold("hourly", 10, events.Prepaid)
	hourly.Terms.Period = calendar.Hour
	plans := []commands.NewPlan{cheap(events.Prepaid, 0), hourly, sold("fast", 9000, events.Prepaid)}
	refused := func(s *scenario, code string) {
		t.Helper()
		for _, to := range plans {
			_, err := s.State().PlanChange(to, noon(3, 22))
			fails(t, err, code)
		}
	}
	s := usedMonth(t)
	s.At(noon(3, 22)).When(undoes(subscription, second)).ThenEvents()
	refused(s, "period_undone")
	s.When(again).ThenEvents()
	refused(s, "payment_taken_back")
	s.When(paid(third, noon(3, 22))).ThenEvents()
	for _, to := range plans {
		look(t, s, to, noon(3, 22))
	}
	s = usedMonth(t)
	s.At(noon(2, 26)).When(undoes(subscription, second)).ThenEvents()
	look(t, s, plans[0], noon(2, 26)) // the second month never began
}
