package billingcases

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Revenue reports what was earned in a time (docs/rules/money.md#recognised-revenue). Safe for concurrent use.
type Revenue struct {
	Settings usecases.SettingsOf
	Revenue  billingviews.RevenueQuery
	Plans    subscribersviews.PlansQuery
	Clock    clock.Clock
}

// maxReportByDay is the longest time that is reported by day; a longer one is by month.
const maxReportByDay = 31

// daysAround is how far the days of a report of revenue reach before it and after it. The period of an invoice is
// shorter; one that a customer paid again after years is counted as if it had been shorter, too.
const daysAround = 4 * 366

// ReportDays are the first and the last day of a report, in the organization's zone.
type ReportDays struct {
	From calendar.Date // zero = the first day of the month of To
	To   calendar.Date // zero = today
}

// Earned is revenue, without tax and its tax. The zero value is none, in no currency.
type Earned struct{ Net, Tax money.Amount }

// Gross is the revenue with its tax.
func (e Earned) Gross() money.Amount { return e.Net.Add(e.Tax) }

// EarnedPeriod tells what was earned on some days, which are whole months where the report has months.
type EarnedPeriod struct {
	From, To calendar.Date
	Earned
	Losses, Vouchers money.Amount
}

// EarnedPlan tells what was earned by one plan. A zero plan has what was sold beside all of them.
type EarnedPlan struct {
	PlanID id.Plan
	Name   string // "" = not known
	Earned
}

// EarnedPart tells what one plan earned in one period, which is an index into Periods.
type EarnedPart struct {
	Period int
	EarnedPlan
}

// RevenueReport tells what was earned in a time.
type RevenueReport struct {
	From, To calendar.Date
	Currency money.Currency
	ByDay    bool   // the periods are days, not months
	All      Earned // of all periods
	Deferred Earned // invoiced, and paid where that counts, but not yet earned at the end
	Losses   money.Amount
	Vouchers money.Amount
	Periods  []EarnedPeriod // every one, the oldest first
	Plans    []EarnedPlan   // with revenue, the largest first
	Parts    []EarnedPart   // what the sums are made of
}

// Report sums up the revenue of some days as the read model shows it now. Fails: organization_not_found, invalid_input.
func (u Revenue) Report(ctx context.Context, org id.Organization, in ReportDays) (RevenueReport, error) {
	settings, err := u.Settings(ctx, org)
	if err != nil {
		return RevenueReport{}, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return RevenueReport{}, err
	}
	in, err = in.checked(calendar.On(u.Clock.Now(), zone))
	if err != nil {
		return RevenueReport{}, err
	}
	out := RevenueReport{From: in.From, To: in.To, Currency: settings.Currency}
	out.ByDay = in.To.Before(in.From.AddDays(maxReportByDay))
	none := money.Of(0, out.Currency)
	out.All, out.Deferred = Earned{none, none}, Earned{none, none}
	out.Losses, out.Vouchers = none, none
	for _, p := range in.periods(out.ByDay) {
		out.Periods = append(out.Periods, EarnedPeriod{
			From: p.From, To: p.To, Earned: Earned{none, none}, Losses: none, Vouchers: none,
		})
	}
	rows, err := u.Revenue.Earned(ctx, org, earnedSpan(out.Periods, zone))
	if err != nil {
		return out, err
	}
	out.add(rows)
	return out, u.name(ctx, org, &out)
}

// checked fills in the days that are missing. Days of the future are refused: they would show as earned what is only
// planned. Fails: invalid_input.
func (in ReportDays) checked(today calendar.Date) (ReportDays, error) {
	if in.To.IsZero() {
		in.To = today
	}
	if in.From.IsZero() {
		in.From = in.To.AddDays(1 - in.To.Day)
	}
	var faults failure.Faults
	faults.Check(!today.Before(in.To), "to", "must not be in the future")
	faults.Check(!in.To.Before(in.From), "to", "must not be before from")
	faults.Check(in.To.Before(in.From.AddDays(maxReportDays)), "to", "must be within %d days", maxReportDays)
	return in, faults.Err()
}

// periods divides the days into days or calendar months, of which the first and the last one may be parts.
func (in ReportDays) periods(byDay bool) (out []ReportDays) {
	for first := in.From; !in.To.Before(first); {
		last := first
		if !byDay {
			last = first.AddDays(1 - first.Day).AddDays(31) // a day of the next month
			last = last.AddDays(-last.Day)
		}
		if in.To.Before(last) {
			last = in.To
		}
		out = append(out, ReportDays{first, last})
		first = last.AddDays(1)
	}
	return out
}

// earnedSpan gives the days in which the periods of a report lie, and where each of them begins.
func earnedSpan(periods []EarnedPeriod, zone *time.Location) billingviews.EarnedSpan {
	var out billingviews.EarnedSpan
	from, to := periods[0].From, periods[len(periods)-1].To
	next := 0
	for day, last := from.AddDays(-daysAround), to.AddDays(daysAround); day.Before(last); day = day.AddDays(1) {
		out.Days = append(out.Days, day.Start(zone))
		if next < len(periods) && day == periods[next].From || next == len(periods) && day == to.AddDays(1) {
			out.Bounds = append(out.Bounds, len(out.Days))
			next++
		}
	}
	return out
}

// plus adds two amounts of revenue.
func (e Earned) plus(f Earned) Earned { return Earned{e.Net.Add(f.Net), e.Tax.Add(f.Tax)} }

// add counts the rows in the sums. Period 0 has what is not yet earned.
func (r *RevenueReport) add(of billingviews.Earned) {
	for _, row := range of.Rows {
		earned := Earned{money.Of(row.NetMinor, r.Currency), money.Of(row.TaxMinor, r.Currency)}
		if row.Period == 0 {
			r.Deferred = r.Deferred.plus(earned)
			continue
		}
		p := &r.Periods[row.Period-1]
		p.Earned, r.All = p.plus(earned), r.All.plus(earned)
		r.Parts = append(r.Parts, EarnedPart{row.Period - 1, EarnedPlan{PlanID: row.PlanID, Earned: earned}})
		at := slices.IndexFunc(r.Plans, func(p EarnedPlan) bool { return p.PlanID == row.PlanID })
		if at < 0 {
			r.Plans = append(r.Plans, EarnedPlan{PlanID: row.PlanID, Earned: earned})
		} else {
			r.Plans[at].Earned = r.Plans[at].plus(earned)
		}
	}
	for _, row := range of.Beside {
		p, amount := &r.Periods[row.Period-1], money.Of(row.AmountMinor, r.Currency)
		if row.Kind == "loss" {
			p.Losses, r.Losses = p.Losses.Add(amount), r.Losses.Add(amount)
		} else {
			p.Vouchers, r.Vouchers = p.Vouchers.Add(amount), r.Vouchers.Add(amount)
		}
	}
	slices.SortStableFunc(r.Plans, func(a, b EarnedPlan) int { return cmp.Compare(b.Net.Minor, a.Net.Minor) })
}

// name fills in the names of the plans with one lookup.
func (u Revenue) name(ctx context.Context, org id.Organization, r *RevenueReport) error {
	plans := make([]id.Plan, len(r.Plans))
	for i, p := range r.Plans {
		plans[i] = p.PlanID
	}
	names, err := u.Plans.Names(ctx, org, plans)
	if err != nil {
		return err
	}
	for i, p := range r.Plans {
		r.Plans[i].Name = names[p.PlanID]
	}
	for i, p := range r.Parts {
		r.Parts[i].Name = names[p.PlanID]
	}
	return nil
}
