package paymentsviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// TestSuspense_IsAnAlarmAfterTheDaysOfTheSettings: what was recorded before the instant that the settings lead to is
// late, by currency, and only what still waits.
func TestSuspense_IsAnAlarmAfterTheDaysOfTheSettings(t *testing.T) {
	t.Parallel()
	s := projectiontest.NewStory(acme, began)
	held := func(name string, day int) {
		receipt := id.Derive[id.Receipt]("test", name)
		s.Add("receipt-"+name, events.ReceiptRecorded{
			ReceiptID: receipt, OrgID: acme, Provider: "mobile_money", ReceiptNumber: name, Channel: "c2b",
			Amount: kes(100), PaidAt: began, RecordedAt: began.AddDate(0, 0, day), Sighting: "confirmation",
		}, events.ReceiptHeld{ReceiptID: receipt, Reason: "no_match", At: began.AddDate(0, 0, day)})
	}
	held("old", 0)
	held("older", -3)
	held("new", 5)
	q := paymentsviews.ReceiptsQuery{Views: told(t, s)}
	for days, want := range map[int]int{1: 2, 6: 1, 9: 0} {
		list, err := q.SuspenseByCurrency(t.Context(), acme, began.AddDate(0, 0, 5-days).Add(time.Hour))
		if err != nil || len(list) != 1 || list[0].Count != 3 || list[0].Late != want {
			t.Errorf("after %d days: %+v, %v", days, list, err)
		}
	}
	list, err := q.UnownedSuspense(t.Context(), began)
	if err != nil || len(list) != 0 {
		t.Errorf("the platform: %+v, %v", list, err)
	}
}
