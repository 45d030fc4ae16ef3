package renewal_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// costs is a prepaid month of a price, whose late payment counts in a way.
func costs(price int64, late events.LateRenewal) events.PlanTerms {
	return events.PlanTerms{Mode: events.Prepaid, Price: kes(price), Period: calendar.Month, LateRenewal: late}
}

// TestUndone_APeriodIsMadeAgainForItsPriceAndTheNextOneForThatOfThePlannedPlan: another plan is planned, and the undo
// of a run tells that the next period comes before it.
func TestUndone_APeriodIsMadeAgainForItsPriceAndTheNextOneForThatOfThePlannedPlan(t *testing.T) {
	t.Parallel()
	renews := does(commands.MakePeriodDue{SubscriptionID: line, Received: true})
	left := func(major int64) events.Event {
		return events.CreditLeft{SubscriberID: who, Credit: kes(major), Received: true}
	}
	undone := events.PeriodCancelled{
		SubscriptionID: line, SubscriberID: who, InvoiceID: inv1, Ordinal: 1, At: start,
		UndoneRun: id.New[id.BillingRun](), NextTerms: costs(1500, events.FromExpiry),
	}
	for name, planned := range map[string]int64{"cheaper": 100, "dearer": 9000} {
		s := after(t, prepaid(line), due(line, inv1), extended(line, inv1, until), events.PlanChangePlanned{
			SubscriptionID: line, SubscriberID: who, Terms: costs(planned, events.FromPayment), FromOrdinal: 2,
		}, undone)
		s.When(left(1499)).ThenNothing()
		s.When(left(1500)).Then(renews)
		again := s.When(events.PeriodDue{
			SubscriptionID: line, SubscriberID: who, InvoiceID: inv2, Ordinal: 2,
			Terms: costs(1500, events.FromExpiry), NextTerms: costs(planned, events.FromPayment),
		})
		paid := again.When(events.InvoicePaid{SubscriberID: who, InvoiceID: inv2, SubscriptionID: line, At: start})
		for _, c := range paid.Output().Commands {
			if c, ok := c.(commands.ExtendSubscription); !ok || c.Late != events.FromExpiry {
				t.Errorf("%s: the payment is recorded by %+v", name, c)
			}
		}
		next := paid.When(extended(line, inv2, until.AddDate(0, 1, 0)))
		next.When(left(planned - 1)).ThenNothing()
		next.When(left(planned)).Then(renews)
		dropped := again.When(events.PeriodCancelled{
			SubscriptionID: line, SubscriberID: who, InvoiceID: inv2, Ordinal: 2, At: start,
		})
		dropped.When(left(planned - 1)).ThenNothing()
		dropped.When(left(planned)).Then(renews)
	}
}
