package renewal_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
)

func TestPostpaid_TheFirstPeriodIsDueAtItsStartAndTheOthersOnTheirDay(t *testing.T) {
	t.Parallel()
	first := events.PeriodDue{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, From: start, To: until}
	made := created(line, events.Postpaid, 1500, calendar.Month)
	after(t).When(made).Then(arms(line, start)) // no invoice before the start
	after(t, made).When(first).Then(leaves(line))
	s := after(t, made, first)
	s.When(extended(line, inv1, until)).Then(leaves(line)) // a payment does not move postpaid periods
	s.When(events.PeriodCancelled{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, At: start}).
		Then(leaves(line))
	// hours and days follow each other by the timer
	daily := created(line, events.Postpaid, 100, calendar.Day)
	after(t, daily).When(first).Then(arms(line, until))
}

func TestPause_DisarmsAndResumeFollowsTheShiftedEnd(t *testing.T) {
	t.Parallel()
	paused := events.SubscriptionPaused{SubscriptionID: line, SubscriberID: who, At: start}
	s := after(t, prepaid(line), due(line, inv1), extended(line, inv1, until))
	s = s.When(paused).Then(arms(line, time.Time{}))
	s.When(extended(line, inv2, until)).Then(arms(line, time.Time{})) // paid during the pause
	s.When(events.SubscriptionResumed{
		SubscriptionID: line, SubscriberID: who, PaidUntil: until.AddDate(0, 0, 9),
	}).Then(leaves(line))
	day := after(t, created(line, events.Prepaid, 50, calendar.Day), extended(line, inv1, until), paused)
	day.When(events.SubscriptionResumed{
		SubscriptionID: line, SubscriberID: who, PaidUntil: until.AddDate(0, 0, 9),
	}).Then(arms(line, until.AddDate(0, 0, 9).Add(-2*time.Hour)))

	post := after(t, created(line, events.Postpaid, 1500, calendar.Month),
		events.PeriodDue{SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, From: start, To: until}, paused)
	post.When(events.SubscriptionResumed{
		SubscriptionID: line, SubscriberID: who, NextFrom: until.AddDate(0, 2, 0),
	}).Then(leaves(line))
	past := post.When(events.SubscriptionResumed{SubscriptionID: line, SubscriberID: who, NextFrom: start}).Output()
	if len(past.Commands) != 1 {
		t.Errorf("a period that begins now is left to tomorrow's run: %+v", past)
	}
}
