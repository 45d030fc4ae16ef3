package billingcases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Asking finds what a customer is asked to pay. Safe for concurrent use.
type Asking struct {
	Bus   *bus.Bus
	Views *runner.Views
	Clock clock.Clock
}

// Asked is the money that a customer is asked for now: what is owed, and what begins the services in ToRenew, as far as
// credit is not enough for it. At least zero.
type Asked struct {
	Due     money.Amount
	ToRenew []Renewal
}

// Renewal is a prepaid service that has no paid time, and no invoice that asks for it, as after the invoice was voided.
type Renewal struct {
	SubscriptionID id.Subscription
	Price          money.Amount // of the next whole period and its extras, taxes included
	Due            money.Amount // what is to be paid until it begins; at least zero
}

// Of reads the account of a customer of an organization from the log, and the services from the read model.
func (u Asking) Of(ctx context.Context, org id.Organization, subscriber id.Subscriber) (Asked, error) {
	var asked Asked
	settings, err := usecases.BillingSettings(ctx, u.Bus, org)
	if err != nil {
		return asked, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return asked, err
	}
	services := subscribersviews.SubscriptionsQuery{Views: u.Views}
	rows, _, err := services.OfSubscriber(ctx, org, subscriber)
	if err != nil {
		return asked, err
	}
	account, _, err := bus.LoadUnchecked[billing.Account](ctx, u.Bus, subscriber) // the caller has found the customer
	if err != nil {
		return asked, err
	}
	now, prices := u.Clock.Now(), money.Of(0, settings.Currency)
	for _, row := range rows {
		if !waits(row, now) || account.Asks(row.ID) {
			continue
		}
		whole, err := services.Get(ctx, org, row.ID) // the list has no extras
		if err != nil {
			return asked, err
		}
		if whole == nil {
			continue
		}
		lines := whole.NextLines(now, zone)
		price := billing.Gross(lines, settings.Tax)
		asked.ToRenew = append(asked.ToRenew, Renewal{
			SubscriptionID: row.ID, Price: price, Due: account.ToRenew(row.ID, lines, settings.Tax),
		})
		prices = prices.Add(price)
	}
	asked.Due = account.ToStart(prices)
	return asked, nil
}

// waits reports whether a service begins with money that no invoice of it asks for.
func waits(row subscribersviews.SubscriptionRow, now time.Time) bool {
	runs := row.State == "pending" || row.State == "active"
	paid := row.PaidUntil != nil && row.PaidUntil.After(now)
	return row.Terms.Mode == events.Prepaid && runs && !paid && row.OpenInvoice == nil
}
