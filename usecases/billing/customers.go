package billingcases

import (
	"context"
	"sync"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/joined"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Customers reads single customers with what is asked of them. Those who ask for customers of one organization at the
// same time share a reading of all of them, as at a front desk whose changes are answered. Safe for concurrent use.
type Customers struct {
	Asking Asking
	People subscribersviews.SubscribersQuery

	asked sync.Map // of each organization the *wholes
}

// wholes are the customers of one organization that are asked for together.
type wholes = joined.Many[id.Subscriber, whole]

// whole is a customer with the means of the answer.
type whole struct {
	means

	row subscribersviews.SubscriberRow
}

// Whole reads a customer of an organization with the services as they are now, and what is asked of the customer; nil
// when there is none with this id. Fails: organization_not_found.
func (c *Customers) Whole(
	ctx context.Context, org id.Organization, subscriber id.Subscriber,
) (*subscribersviews.SubscriberRow, Asked, error) {
	many, _ := c.asked.LoadOrStore(org, new(wholes))
	one, found, err := many.(*wholes).Of(ctx, subscriber, //nolint:forcetypeassert // asked has nothing else
		func(ctx context.Context, subscribers []id.Subscriber) (map[id.Subscriber]whole, error) {
			return c.read(ctx, org, subscribers)
		})
	if err != nil || !found {
		return nil, Asked{}, err
	}
	asked, err := c.Asking.of(ctx, one.row, one.means)
	return &one.row, asked, err
}

// read reads customers of an organization in one round trip.
func (c *Customers) read(
	ctx context.Context, org id.Organization, subscribers []id.Subscriber,
) (map[id.Subscriber]whole, error) {
	var rows []subscribersviews.SubscriberRow
	var all means
	err := c.Asking.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		c.People.Whole(r, &rows, subscribersviews.WholeOf{
			Org: org, Subscribers: subscribers, At: c.Asking.Clock.Now(),
		})
		c.Asking.read(r, &all, org, subscribers)
	})
	if err != nil {
		return nil, err
	}
	found := make(map[id.Subscriber]whole, len(rows))
	for _, row := range rows {
		found[row.ID] = whole{row: row}
	}
	for _, invoice := range all.open {
		one := found[invoice.SubscriberID]
		one.open = append(one.open, invoice)
		found[invoice.SubscriberID] = one
	}
	for _, service := range all.rows {
		one := found[service.SubscriberID]
		one.rows = append(one.rows, service)
		found[service.SubscriberID] = one
	}
	for subscriber, one := range found {
		if one.row.ID.IsZero() { // a read model that is behind does not have the customer yet
			delete(found, subscriber)
		}
	}
	return found, nil
}
