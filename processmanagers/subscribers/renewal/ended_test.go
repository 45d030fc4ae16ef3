package renewal_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// disarmed is an output without timers of a subscription that has ended.
func disarmed(subscription id.Subscription) processmanagers.Output {
	return processmanagers.Output{Timers: []processmanagers.Timer{
		{Name: timer(subscription)}, {Name: "part:" + subscription.String()}, {Name: "expire:" + subscription.String()},
	}}
}

func TestCredit_OfASubscriptionThatEndsOrPausesMeanwhileIsAskedForByTheOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gone events.Event
		left processmanagers.Output
	}{
		{events.SubscriptionEnded{SubscriptionID: line2, SubscriberID: who}, disarmed(line2)},
		{events.SubscriptionPaused{SubscriptionID: line2, SubscriberID: who}, arms(line2, time.Time{})},
	} {
		s := after(t, prepaid(line), prepaid(line2)).When(credit(1500)).
			Then(does(commands.MakePeriodDue{SubscriptionID: line2})) // comes too late
		s = s.When(c.gone).Then(asks(c.left))
		s.When(asked(1500)).Then(does(commands.MakePeriodDue{SubscriptionID: line}))
	}
}
