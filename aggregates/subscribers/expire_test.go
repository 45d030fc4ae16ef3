package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// expire asks for the end of a subscription that was never paid.
var expire = commands.ExpireSubscription{SubscriptionID: subscription}

func TestExpire_WhoeverNeverPaidIsEndedAfterThirtyDays(t *testing.T) {
	t.Parallel()
	s, end := prepaid(t), now.AddDate(0, 0, 30)
	s.At(end.Add(-time.Second)).When(expire).ThenNothing()
	s.At(end).When(expire).Then(
		events.SubscriptionEnded{
			SubscriptionID: subscription, SubscriberID: subscriber, Reason: personal.Of("expired"), At: end,
		},
		events.PeriodCancelled{
			SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: first, Ordinal: 1, NeverBegan: true,
			At: end,
		},
	)
	s.When(expire).ThenNothing()
}

func TestExpire_TheDaysCountFromTheDayOnWhichServiceWasToStart(t *testing.T) {
	t.Parallel()
	c := create(events.Prepaid)
	c.StartsAt = now.AddDate(0, 0, 20)
	s := decidertest.For(t, aggregate(), now).When(c)
	s.ThenEvents()
	s.At(now.AddDate(0, 0, 49)).When(expire).ThenNothing()
	s.At(now.AddDate(0, 0, 50)).When(expire).ThenEvents()
}

func TestExpire_WhoeverPaidOrPaysLaterStays(t *testing.T) {
	t.Parallel()
	later := now.AddDate(1, 0, 0)
	s := prepaid(t).When(paid(first, now))
	s.ThenEvents()
	s.At(later).When(expire).ThenNothing()
	c := create(events.Postpaid)
	c.Terms.Period, c.StartsAt = calendar.Month, now.AddDate(0, 0, 1)
	waits := decidertest.For(t, aggregate(), now).When(c)
	waits.ThenEvents()
	waits.At(later).When(expire).ThenNothing()
}
