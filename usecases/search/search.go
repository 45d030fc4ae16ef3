// Package searchcases finds what somebody types while the telephone rings, in all areas at once.
package searchcases

import (
	"context"
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/vouchers"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Search asks the read model of each area (docs/rules/http.md#search). Safe for concurrent use.
type Search struct {
	Views    *runner.Views
	Sessions *telemetry.Store
	Codes    vouchers.Codes
	Clock    clock.Clock
	// LookedUp records that somebody asked who has an address at present. Without it nothing is answered.
	LookedUp func(ctx context.Context, asked usecases.Asked, ip netip.Addr, at time.Time, who []id.Subscriber) error
}

// Query is a search within an organization.
type Query struct {
	Org     id.Organization
	Text    string // not empty
	Routers bool   // also routers, which only administrators may read
	Max     int    // results
}

// found has the rows that the read models gave.
type found struct {
	subscribers   []subscribersviews.SubscriberRow
	subscriptions []subscribersviews.SubscriptionRow
	invoices      []billingviews.InvoiceRow
	receipts      []paymentsviews.ReceiptRow
	byMAC, byIP   []telemetry.Session
	routers       []networkviews.DeviceFound
	cpes          []cpeviews.CPERow
	voucher       *accessviews.VoucherRow
}

// Find gives the best results, the best one first. The same question gives the same order, as long as nothing changes.
func (s Search) Find(ctx context.Context, asked usecases.Asked, q Query) ([]Result, error) {
	invoice := invoiceSearch(q.Text)
	rows, err := s.read(ctx, q, invoice)
	if err != nil {
		return nil, err
	}
	now := s.Clock.Now()
	if len(rows.byIP) > 0 {
		if err := s.LookedUp(ctx, asked, searchterm.Address(q.Text), now, holders(rows.byIP)); err != nil {
			return nil, err
		}
	}
	list := rows.results(q.Text, invoice, now)
	list = best(list, q.Max)
	return s.named(ctx, q.Org, list)
}

// read asks all read models, most of them in one round trip to the database.
func (s Search) read(ctx context.Context, q Query, invoice billingviews.InvoiceSearch) (rows found, err error) {
	err = s.Views.Tenant(ctx, q.Org, func(r *postgres.Reads) {
		subscribersviews.SubscribersQuery{Views: s.Views}.Find(r, &rows.subscribers, q.Org, q.Text, q.Max)
		subscribersviews.SubscriptionsQuery{Views: s.Views}.Find(r, &rows.subscriptions, q.Org, q.Text, q.Max)
		billingviews.InvoicesQuery{Views: s.Views}.Find(r, &rows.invoices, q.Org, invoice, q.Max)
		paymentsviews.ReceiptsQuery{Views: s.Views}.Find(r, &rows.receipts, q.Org, q.Text, q.Max)
		cpeviews.CPEsQuery{Views: s.Views}.Find(r, &rows.cpes, q.Org, q.Text, q.Max)
		s.Sessions.Find(r, telemetry.SessionSearch{
			Org: q.Org, MAC: searchterm.MAC(q.Text), IP: searchterm.Address(q.Text), ByMAC: &rows.byMAC,
			ByIP: &rows.byIP,
		}, q.Max)
	})
	if err == nil && q.Routers {
		rows.routers, err = networkviews.DevicesQuery{Views: s.Views}.Find(ctx, q.Org, q.Text, q.Max)
	}
	if voucher, ok := s.Codes.ID(q.Org, q.Text); err == nil && ok {
		rows.voucher, err = accessviews.VouchersQuery{Views: s.Views}.Get(ctx, q.Org, voucher)
	}
	return rows, err
}

// invoiceSearch says which invoices a text may mean.
func invoiceSearch(text string) (s billingviews.InvoiceSearch) {
	s.Numbers, s.Begins, s.Digits = paymentsviews.InvoiceNumbers(text)
	return s
}

// holders are the customers of sessions, each once. Those of vouchers are none.
func holders(list []telemetry.Session) (who []id.Subscriber) {
	seen := map[id.Subscriber]bool{}
	for _, x := range list {
		if of := customer(x); !of.IsZero() && !seen[of] {
			seen[of], who = true, append(who, of)
		}
	}
	return who
}

// named adds the names of the customers to what is theirs.
func (s Search) named(ctx context.Context, org id.Organization, list []Result) ([]Result, error) {
	var of []id.Subscriber
	for _, r := range list {
		if r.Type != "subscriber" && !r.SubscriberID.IsZero() {
			of = append(of, r.SubscriberID)
		}
	}
	if len(of) == 0 {
		return list, nil
	}
	rows, err := subscribersviews.SubscribersQuery{Views: s.Views}.Names(ctx, org, of)
	names := make(map[id.Subscriber]string, len(rows))
	for _, row := range rows {
		names[row.ID] = null.Zero(row.Name())
	}
	for i, r := range list {
		if r.Type != "subscriber" {
			list[i].Subtitle = joined(names[r.SubscriberID], r.Subtitle)
		}
	}
	return list, err
}

// OnPlatform gives the best organizations, and money in suspense that belongs to none, by slug, name and number.
func (s Search) OnPlatform(ctx context.Context, text string, max int) ([]Result, error) {
	orgs, err := identityviews.OrganizationsQuery{Views: s.Views}.Find(ctx, text, max)
	if err != nil {
		return nil, err
	}
	rows := found{}
	err = s.Views.Platform(ctx, func(r *postgres.Reads) {
		paymentsviews.ReceiptsQuery{Views: s.Views}.FindUnowned(r, &rows.receipts, text, max)
	})
	list := rows.results(text, billingviews.InvoiceSearch{}, s.Clock.Now())
	for _, o := range orgs {
		list = append(list, organization(o))
	}
	return best(list, max), err
}
