package subscribersviews_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestSubscriptions_AnUndoneUsedPeriodLeavesItsPlaceToTheNext, until that is due; where another place waits, its
// event tells that.
func TestSubscriptions_AnUndoneUsedPeriodLeavesItsPlaceToTheNext(t *testing.T) {
	t.Parallel()
	list := []events.Event{lines()[0], dueAgain(1, inv1), events.PeriodCancelled{
		SubscriptionID: line, SubscriberID: amina, InvoiceID: inv1, Ordinal: 1, NextFrom: began, At: began,
		UndoneRun: id.Derive[id.BillingRun]("test", "undone"),
	}}
	if row := periodsAfter(t, list...); row.RetakesFrom == nil || !row.RetakesFrom.Equal(began) {
		t.Errorf("the next period begins %v", row.RetakesFrom)
	}
	if row := periodsAfter(t, append(list, dueAgain(2, inv2))...); row.RetakesFrom != nil {
		t.Errorf("the period after begins %v", row.RetakesFrom)
	}
	later := began.AddDate(0, 0, 9)
	moves := events.SubscriptionExtended{SubscriptionID: line, SubscriberID: amina, InvoiceID: inv2, NextFrom: later}
	if row := periodsAfter(t, append(list, moves)...); row.RetakesFrom == nil || !row.RetakesFrom.Equal(later) {
		t.Errorf("the place has moved to %v", row.RetakesFrom)
	}
	one, _ := dueAgain(2, inv2).(events.PeriodDue)
	one.NextFrom = began.AddDate(0, 1, 0)
	if row := periodsAfter(t, append(list, one)...); row.RetakesFrom == nil || !row.RetakesFrom.Equal(one.NextFrom) {
		t.Errorf("the period in the other place begins %v", row.RetakesFrom)
	}
}
