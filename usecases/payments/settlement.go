package paymentscases

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// eastAfrica is the zone of the provider, whose statement has the same days. It has no summer time.
var eastAfrica = time.FixedZone("EAT", 3*60*60)

// Settlement reports what the platform owes to the organizations whose customers pay at its paybill
// (docs/rules/money.md#settlement). Safe for concurrent use.
type Settlement struct {
	Query         paymentsviews.SettlementQuery
	Organizations identityviews.OrganizationsQuery
	// Shared reports whether a shortcode is the platform's own paybill, its present one or a former one.
	Shared func(ctx context.Context, environment, shortcode string) (bool, error)
	Clock  clock.Clock
}

// SettlementReport tells what the platform owes for some days.
type SettlementReport struct {
	SettledDays
	Currency money.Currency
	All      Owed
	Orgs     []OwedTo // in the order of their slugs; those without money on the days are left out
}

// SettledDays are the days of a settlement, in East Africa Time.
type SettledDays struct {
	Date calendar.Date // the first one; zero = yesterday, the last day that is over
	To   calendar.Date // the last one; zero = the first one
}

// mostSettledDays is how many days one settlement has at most.
const mostSettledDays = 366

// Owed is money that came over the platform's paybill.
type Owed struct {
	Came  money.Amount // credited to accounts
	Left  money.Amount // taken back or refunded, positive
	Count int64        // receipts, less those of which nothing is left
}

// Amount tells what the platform owes. It is negative when more was taken back than came.
func (o Owed) Amount() money.Amount { return o.Came.Sub(o.Left) }

// OwedTo tells what one organization is owed.
type OwedTo struct {
	OrgID id.Organization
	Slug  string // "" while it is not shown yet
	Name  string
	Owed
}

// Of sums up days by organization, as the read model shows them now: of one organization, or of all for the zero one. A
// day that is over changes no more: what is placed or taken back later counts on the day on which it happens. Fails:
// invalid_input.
func (u Settlement) Of(ctx context.Context, org id.Organization, days SettledDays) (SettlementReport, error) {
	days, err := u.days(days)
	if err != nil {
		return SettlementReport{}, err
	}
	rows, err := u.shared(ctx, org, days)
	if err != nil {
		return SettlementReport{}, err
	}
	none := money.Of(0, money.KES)
	out := SettlementReport{SettledDays: days, Currency: money.KES, All: Owed{Came: none, Left: none}}
	for _, r := range rows { // those of one organization follow each other
		part := Owed{money.Of(r.CameMinor, money.KES), money.Of(r.LeftMinor, money.KES), r.Count}
		if last := len(out.Orgs) - 1; last >= 0 && out.Orgs[last].OrgID == r.OrgID {
			out.Orgs[last].Owed = out.Orgs[last].plus(part)
		} else {
			out.Orgs = append(out.Orgs, OwedTo{OrgID: r.OrgID, Owed: part})
		}
		out.All = out.All.plus(part)
	}
	return out, u.name(ctx, out.Orgs)
}

// plus adds two sums.
func (o Owed) plus(p Owed) Owed {
	return Owed{o.Came.Add(p.Came), o.Left.Add(p.Left), o.Count + p.Count}
}

// name fills in slugs and names, and sorts by them.
func (u Settlement) name(ctx context.Context, orgs []OwedTo) error {
	if len(orgs) == 0 {
		return nil
	}
	ids := make([]id.Organization, len(orgs))
	for i, o := range orgs {
		ids[i] = o.OrgID
	}
	rows, err := u.Organizations.Some(ctx, ids)
	if err != nil {
		return err
	}
	for i, o := range orgs {
		for _, r := range rows {
			if r.ID == o.OrgID {
				orgs[i].Slug, orgs[i].Name = r.Slug, r.Name
			}
		}
	}
	slices.SortFunc(orgs, func(a, b OwedTo) int { return strings.Compare(a.Slug, b.Slug) })
	return nil
}

// Rows lists the money that the sum of an organization on some days is made of, the newest first; that of all of them
// for the zero one. Fails: invalid_input.
func (u Settlement) Rows(
	ctx context.Context, org id.Organization, days SettledDays, after paymentsviews.SettlementKey, max int,
) ([]paymentsviews.SettlementRow, error) {
	days, err := u.days(days)
	if err != nil {
		return nil, err
	}
	sums, err := u.shared(ctx, org, days)
	if err != nil {
		return nil, err
	}
	from, until := days.span()
	part := paymentsviews.SettlementPart{
		OrgID: org, SettlementTime: paymentsviews.SettlementTime{From: from, Until: until, Currency: money.KES},
	}
	for _, s := range sums {
		part.Tills = append(part.Tills, paymentsviews.Till{Shortcode: s.Shortcode, Environment: s.Environment})
	}
	return u.Query.Rows(ctx, part, after, max)
}

// days are the days that are reported. Fails: invalid_input.
func (u Settlement) days(d SettledDays) (SettledDays, error) {
	today := calendar.On(u.Clock.Now(), eastAfrica)
	if d.Date.IsZero() {
		d.Date = today.AddDays(-1)
		if !d.To.IsZero() {
			d.Date = d.To
		}
	}
	if d.To.IsZero() {
		d.To = d.Date
	}
	var faults failure.Faults
	faults.Check(!today.Before(d.Date), "date", "must not be in the future")
	faults.Check(!today.Before(d.To), "to", "must not be in the future")
	faults.Check(!d.To.Before(d.Date), "date", "must not be after to")
	faults.Check(d.To.Before(d.Date.AddDays(mostSettledDays)), "to", "must be within %d days", mostSettledDays)
	return d, faults.Err()
}

// span gives the first instant of the days and that of the day after them.
func (d SettledDays) span() (from, until time.Time) {
	return d.Date.Start(eastAfrica), d.To.AddDays(1).Start(eastAfrica)
}

// shared reads the sums of days over the platform's paybills alone. The money of an organization's own shortcode is
// with the organization already.
func (u Settlement) shared(
	ctx context.Context, org id.Organization, days SettledDays,
) ([]paymentsviews.SettlementSum, error) {
	from, until := days.span()
	rows, err := u.Query.Sums(ctx, org, paymentsviews.SettlementTime{From: from, Until: until, Currency: money.KES})
	if err != nil {
		return nil, err
	}
	known := map[paymentsviews.Till]bool{}
	var out []paymentsviews.SettlementSum
	for _, r := range rows {
		till := paymentsviews.Till{Shortcode: r.Shortcode, Environment: r.Environment}
		platforms, asked := known[till]
		if !asked {
			if platforms, err = u.Shared(ctx, r.Environment, r.Shortcode); err != nil {
				return nil, err
			}
			known[till] = platforms
		}
		if platforms {
			out = append(out, r)
		}
	}
	return out, nil
}
