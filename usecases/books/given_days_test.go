package bookscases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// pausesInGivenDays gives a subscription five days, pauses it for two and lets time pass; the books have no fault.
func (w *world) pausesInGivenDays(t *testing.T, of id.Subscription, until int) {
	t.Helper()
	w.subs.do(commands.CompensateSubscription{
		SubscriptionID: of, CompensationID: id.New[id.Compensation](), From: w.now.Add(-48 * time.Hour),
		To: w.now.Add(-24 * time.Hour), Give: events.CompensationGive{Days: 5},
	})
	w.pass(until)
	w.subs.do(commands.PauseSubscription{SubscriptionID: of, Reason: "away"})
	w.pass(2)
	w.subs.do(commands.ResumeSubscription{SubscriptionID: of, Reason: "back"})
	w.pass(30)
	for _, f := range w.faults(w.log) {
		t.Errorf("%s", f)
	}
}

func TestBooks_APauseInGivenDaysGivesTheMonthItsLength(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pay(w.amina, 1000)
	w.pass(20)
	w.pausesInGivenDays(t, w.sub, 9)
}

// TestBooks_TimeThatWasPaidElsewhereGrows by what is given for it, and by a pause in what was given.
func TestBooks_TimeThatWasPaidElsewhereGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := id.New[id.Subscription]()
	moved := w.subscription(of, w.brian, events.Prepaid, calendar.Month)
	moved.PaidUntil = w.now.AddDate(0, 0, 20)
	w.subs.do(moved)
	w.pass(4)
	w.pausesInGivenDays(t, of, 18)
}
