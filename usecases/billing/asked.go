package billingcases

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	billingviews "github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Asking finds what a customer is asked to pay, in the read models. Safe for concurrent use.
type Asking struct {
	Views    *runner.Views
	Settings usecases.SettingsOf
	Clock    clock.Clock
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
	Due            money.Amount // what is to be paid until it begins, with those that are renewed before; at least zero
}

// Whole reads a customer of an organization with the services as they are now, and what is asked of the customer; nil
// when there is none with this id. Fails: organization_not_found.
func (u Asking) Whole(
	ctx context.Context, people subscribersviews.SubscribersQuery, org id.Organization, subscriber id.Subscriber,
) (*subscribersviews.SubscriberRow, Asked, error) {
	var row *subscribersviews.SubscriberRow
	var m means
	err := u.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		people.Whole(r, &row, subscribersviews.WholeOf{Org: org, Subscriber: subscriber, At: u.Clock.Now()})
		u.read(r, &m, org, subscriber)
	})
	if err != nil || row == nil {
		return nil, Asked{}, err
	}
	asked, err := u.of(ctx, *row, m)
	return row, asked, err
}

// Of tells it of a customer's row. Fails: organization_not_found.
func (u Asking) Of(ctx context.Context, customer subscribersviews.SubscriberRow) (Asked, error) {
	var m means
	err := u.Views.Tenant(ctx, customer.OrgID, func(r *postgres.Reads) { u.read(r, &m, customer.OrgID, customer.ID) })
	if err != nil {
		return Asked{}, err
	}
	return u.of(ctx, customer, m)
}

// means has what the answer is made of beside the customer's row.
type means struct {
	open []billingviews.OpenInvoice
	rows []subscribersviews.SubscriptionRow // that have not ended
}

// read queues the reads of the means.
func (u Asking) read(r *postgres.Reads, m *means, org id.Organization, subscriber id.Subscriber) {
	billingviews.InvoicesQuery{Views: u.Views}.Open(r, &m.open, org, subscriber)
	subscribersviews.SubscriptionsQuery{Views: u.Views}.Running(r, &m.rows, org, subscriber)
}

// of makes the answer.
func (u Asking) of(ctx context.Context, customer subscribersviews.SubscriberRow, m means) (Asked, error) {
	var asked Asked
	settings, err := u.Settings(ctx, customer.OrgID)
	if err != nil {
		return asked, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return asked, err
	}
	services, open, rows := subscribersviews.SubscriptionsQuery{Views: u.Views}, m.open, m.rows
	now, prices := u.Clock.Now(), money.Of(0, settings.Currency)
	owed := owed(customer, open)
	var before []money.Amount
	slices.SortFunc(rows, expiresFirst)
	for _, row := range rows {
		if !waits(row, open, now) {
			continue
		}
		whole, err := services.Get(ctx, customer.OrgID, row.ID) // the list has no extras
		if err != nil {
			return asked, err
		}
		if whole == nil {
			continue
		}
		price := settings.Tax.Gross(whole.NextLines(now, zone))
		asked.ToRenew = append(asked.ToRenew, Renewal{
			SubscriptionID: row.ID, Price: price, Due: beside(begins(price, before), owed),
		})
		prices, before = prices.Add(price), append(before, price)
	}
	asked.Due = beside(prices, owed)
	return asked, nil
}

// expiresFirst orders services as credit renews them.
func expiresFirst(a, b subscribersviews.SubscriptionRow) int {
	return cmp.Or(null.Zero(a.PaidUntil).Compare(null.Zero(b.PaidUntil)), strings.Compare(a.ID.String(), b.ID.String()))
}

// begins is the money that begins a service: its price, and the prices of those that this money renews before it.
func begins(price money.Amount, before []money.Amount) money.Amount {
	for sum := price; ; {
		left := sum
		for _, other := range before {
			if other.Currency == left.Currency && other.Cmp(left) <= 0 {
				left = left.Sub(other)
			}
		}
		missing := price.Sub(left)
		if !missing.Positive() {
			return sum
		}
		sum = sum.Add(missing)
	}
}

// owed tells the debt of a customer after credit, without orders; negative when money is left.
func owed(customer subscribersviews.SubscriberRow, open []billingviews.OpenInvoice) money.Amount {
	sum := customer.Balance()
	for _, i := range open {
		if i.Ordered {
			sum.Minor -= i.DueMinor
		}
	}
	return sum
}

// beside adds a debt to a price, at least zero. A debt in another currency is not asked for with it.
func beside(price, owed money.Amount) money.Amount {
	if price.Currency == owed.Currency {
		price = price.Add(owed)
	}
	price.Minor = max(price.Minor, 0)
	return price
}

// waits reports whether a service begins with money that no invoice of it asks for, or will when it has its number.
func waits(row subscribersviews.SubscriptionRow, open []billingviews.OpenInvoice, now time.Time) bool {
	runs := row.State == "pending" || row.State == "active"
	paid := row.PaidUntil != nil && row.PaidUntil.After(now)
	asks := slices.ContainsFunc(open, func(i billingviews.OpenInvoice) bool {
		return !i.Ordered && null.Zero(i.SubscriptionID) == row.ID
	})
	return row.Terms.Mode == events.Prepaid && runs && !paid && !asks && row.OpenInvoice == nil
}
