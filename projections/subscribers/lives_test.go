package subscribersviews_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestLives_KnowWhoWasCarriedOverAndForgetAnUndoneImport: a customer who was erased was one, but none who was removed
// with the import.
func TestLives_KnowWhoWasCarriedOverAndForgetAnUndoneImport(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	want := map[string][]bool{} // of those who lived: carried, and ended
	for _, c := range []struct {
		name                           string
		carried, ended, erased, undone bool
	}{
		{name: "new"}, {name: "carried", carried: true}, {name: "left", ended: true},
		{name: "erased", carried: true, ended: true, erased: true},
		{name: "undone", carried: true, ended: true, undone: true},
		{name: "undone, erased later", ended: true, undone: true, erased: true},
	} {
		who, of := id.Derive[id.Subscriber]("test", c.name), id.Derive[id.Subscription]("test", c.name)
		list := []events.Event{
			events.SubscriptionCreated{
				SubscriptionID: of, OrgID: acme, SubscriberID: who, PlanID: home, PlanVersion: 1,
				Terms: terms(events.Prepaid), StartsAt: began, CreatedAt: began,
			},
			events.SubscriptionActivated{SubscriptionID: of, SubscriberID: who, At: began, Carried: c.carried},
		}
		if c.ended {
			list = append(list, events.SubscriptionEnded{
				SubscriptionID: of, SubscriberID: who, At: began.Add(time.Hour),
			})
		}
		if c.undone {
			list = append(list, events.SubscriberForgotten{SubscriberID: who, Undone: true})
		} else {
			want[who.String()] = []bool{c.carried, c.ended}
		}
		if c.erased {
			list = append(list, events.SubscriberForgotten{SubscriberID: who})
		}
		for _, e := range list {
			log.Append(events.Metadata{OrgID: acme, At: began}, e)
		}
	}
	v, _ := views(t, log)
	q := subscribersviews.SubscriptionsQuery{Views: v}
	rows, err := q.Lives(t.Context(), acme, began.Add(2*time.Hour))
	if err != nil || !slices.IsSortedFunc(rows, func(a, b subscribersviews.LifeRow) int {
		return slices.Compare(a.SubscriberID[:], b.SubscriberID[:])
	}) {
		t.Fatalf("%+v, %v", rows, err)
	}
	got := map[string][]bool{}
	for _, r := range rows {
		got[r.SubscriberID.String()] = []bool{r.Carried, r.Ended != nil}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who lived (-want +got):\n%s", diff)
	}
}
