package subscribersviews_test

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Extras of Amina's subscription.
var (
	address = events.Extra{ID: id.Derive[id.Extra]("story", "1"), Kind: events.AddOnExtra, Amount: kes(300)}
	cable   = events.Extra{
		ID: id.Derive[id.Extra]("story", "2"), Kind: events.ChargeExtra, Amount: kes(700), Periods: 1,
	}
	welcome = events.Extra{ID: id.Derive[id.Extra]("story", "3"), Kind: events.DiscountExtra, BasisPoints: 750}
)

// beside puts an extra onto the next invoices of Amina's subscription.
func beside(x events.Extra) events.Event {
	return events.ExtraAdded{
		SubscriptionID: line, OrgID: acme, SubscriberID: amina, Extra: x, Description: personal.Of(string(x.Kind)),
		At: began,
	}
}
