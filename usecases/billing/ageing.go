package billingcases

import (
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Ageing reports what customers owe by how long it has been due. Safe for concurrent use.
type Ageing struct {
	Settings    usecases.SettingsOf
	Invoices    billingviews.InvoicesQuery
	Subscribers subscribersviews.SubscribersQuery
	Clock       clock.Clock
}

// AgeingReport tells what customers owe at an instant.
type AgeingReport struct {
	AsOf     time.Time
	Date     calendar.Date // in the organization's zone
	Currency money.Currency
	All      Debts
	Buckets  []Debts // one for each of billingviews.AgeBuckets
}

// Debts is a sum of debts. The zero value is none, in no currency.
type Debts struct {
	Amount      money.Amount
	Invoices    int
	Subscribers int // each counts once
}

// Debtor tells what one subscriber owes.
type Debtor struct {
	billingviews.DebtorRow
	Currency money.Currency
	Name     subscribersviews.NameRow // zero when it was not asked for, or is not known
}

// Amount is the whole debt.
func (d Debtor) Amount() money.Amount { return money.Of(d.AmountMinor, d.Currency) }

// Of sums up the debts of an organization as the read model shows them now. They are those of GET /invoices: the sum of
// all that is due, which nobody owes for an order. Fails: organization_not_found.
func (u Ageing) Of(ctx context.Context, org id.Organization) (AgeingReport, error) {
	out, err := u.begin(ctx, org)
	if err != nil {
		return out, err
	}
	rows, err := u.Invoices.Aged(ctx, org, out.Date)
	if err != nil {
		return out, err
	}
	none := Debts{Amount: money.Of(0, out.Currency)}
	out.All, out.Buckets = none, slices.Repeat([]Debts{none}, len(billingviews.AgeBuckets))
	for _, r := range rows {
		sum := Debts{money.Of(r.AmountMinor, out.Currency), r.Invoices, r.Subscribers}
		if r.Bucket == nil {
			out.All = sum
		} else {
			out.Buckets[*r.Bucket] = sum
		}
	}
	return out, nil
}

// begin makes a report of the present instant, of which nothing is read yet.
func (u Ageing) begin(ctx context.Context, org id.Organization) (AgeingReport, error) {
	settings, err := u.Settings(ctx, org)
	if err != nil {
		return AgeingReport{}, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return AgeingReport{}, err
	}
	now := u.Clock.Now()
	return AgeingReport{AsOf: now, Date: calendar.On(now, zone), Currency: settings.Currency}, nil
}

// Debtors lists who owes something, the largest debt first, without names. bucket is one of billingviews.AgeBuckets,
// whose debts alone count then; "" = all. Fails: organization_not_found.
func (u Ageing) Debtors(
	ctx context.Context, org id.Organization, bucket string, page billingviews.DebtorPage,
) ([]Debtor, error) {
	at, err := u.begin(ctx, org)
	if err != nil {
		return nil, err
	}
	return u.debtors(ctx, org, at, bucket, page)
}

// debtors lists those of a report that was begun.
func (u Ageing) debtors(
	ctx context.Context, org id.Organization, at AgeingReport, bucket string, page billingviews.DebtorPage,
) ([]Debtor, error) {
	var only *int
	if n := slices.Index(billingviews.AgeBuckets, bucket); n >= 0 {
		only = &n
	}
	rows, err := u.Invoices.Debtors(ctx, org, at.Date, only, page)
	if err != nil {
		return nil, err
	}
	out := make([]Debtor, len(rows))
	for i, r := range rows {
		out[i] = Debtor{DebtorRow: r, Currency: at.Currency}
	}
	return out, nil
}

// Table lists all debtors with their names, and the date on which their debts have these ages. Fails:
// organization_not_found.
func (u Ageing) Table(ctx context.Context, org id.Organization) (calendar.Date, []Debtor, error) {
	at, err := u.begin(ctx, org)
	if err != nil {
		return at.Date, nil, err
	}
	out, err := u.debtors(ctx, org, at, "", billingviews.DebtorPage{})
	if err != nil || len(out) == 0 {
		return at.Date, out, err
	}
	who := make([]id.Subscriber, len(out))
	for i, d := range out {
		who[i] = d.SubscriberID
	}
	names, err := u.Subscribers.Names(ctx, org, who)
	if err != nil {
		return at.Date, nil, err
	}
	known := make(map[id.Subscriber]subscribersviews.NameRow, len(names))
	for _, n := range names {
		known[n.ID] = n
	}
	for i, d := range out {
		out[i].Name = known[d.SubscriberID]
	}
	return at.Date, out, nil
}
