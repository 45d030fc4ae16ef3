package coretest

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Archived writes the log of a subscription of which only the effect of the oldest periods is kept: it does not know
// the invoices of its first thousand periods any more. It stands for years of an hourly plan.
func (k *Kit) Archived(t testing.TB, org id.Organization, subscriber id.Subscriber) id.Subscription {
	t.Helper()
	subscription := id.New[id.Subscription]()
	opening := `{"form":2,"subscription":"` + subscription.String() + `","org":"` + org.String() + `","subscriber":"` +
		subscriber.String() + `","state":"active","timezone":"UTC","base":{"ordinal":1000}}`
	_, err := k.Store.Append(t.Context(), commands.SubscriptionCategory+"-"+subscription.String(), eventstore.NoStream,
		[]eventstore.New{{
			Event: events.SubscriptionPeriodClosed{
				SubscriptionID: subscription, SubscriberID: subscriber, Opening: []byte(opening),
				Username: personal.Of("old"),
			},
			Meta: events.Metadata{
				EventID: id.New[id.Event](), CommandID: id.New[id.Command](), AggregateID: id.Any(subscription),
				Action: "bus.ClosePeriod", OrgID: org, At: k.clock.Now(),
			},
		}})
	if err != nil {
		t.Fatal(err)
	}
	return subscription
}
