package billingcases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Upcoming tells what will be invoiced. Safe for concurrent use.
type Upcoming struct {
	Bus   *bus.Bus
	Clock clock.Clock
}

// ComingInvoice is an invoice that will be made.
type ComingInvoice struct {
	At      time.Time             // when it is made
	Invoice events.InvoiceDrafted // as it will be drafted under the present settings
}

// Of lists the next invoices of a subscription, the first one first. The subscription and the account decide them, as
// they will decide the invoices themselves, under the organization's present settings. Fails: subscription_not_found,
// organization_not_found, invoice_out_of_range.
func (u Upcoming) Of(
	ctx context.Context, org id.Organization, subscription id.Subscription, most int,
) ([]ComingInvoice, error) {
	s, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, org, subscription)
	if err != nil {
		return nil, err
	}
	var list []ComingInvoice
	for _, next := range s.Upcoming(u.Clock.Now(), most) {
		draft, err := PeriodInvoices{Bus: u.Bus}.draft(ctx, commands.DraftOf(next.Due))
		if err != nil {
			return nil, err
		}
		made, err := billing.Accounts().Decide(billing.Account{}, draft, next.At)
		if err != nil {
			return nil, err
		}
		for _, e := range made {
			if drafted, ok := e.(events.InvoiceDrafted); ok {
				list = append(list, ComingInvoice{At: next.At, Invoice: drafted})
			}
		}
	}
	return list, nil
}

// SubscriberOf gives the subscriber of a subscription. Fails: subscription_not_found.
func (u Upcoming) SubscriberOf(
	ctx context.Context, org id.Organization, subscription id.Subscription,
) (id.Subscriber, error) {
	s, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, org, subscription)
	return s.SubscriberID, err
}
