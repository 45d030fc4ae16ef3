package billingcases

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Churn reports who came and who left, and what a subscription brings (docs/rules/money.md#churn). Safe for concurrent
// use.
type Churn struct {
	Settings      usecases.SettingsOf
	Subscriptions subscribersviews.SubscriptionsQuery
	Revenue       billingviews.RevenueQuery
	Clock         clock.Clock
}

// shortBreak bounds the time without a subscription after which a customer has not left: whoever changes the plan by a
// new subscription stays.
const shortBreak = 24 * time.Hour

// ChurnReport tells who came and left, by month.
type ChurnReport struct {
	From, To calendar.Date
	Currency money.Currency
	All      ChurnPeriod   // of the whole time
	Periods  []ChurnPeriod // every month, as far as it was asked for, the oldest first
}

// ChurnPeriod tells who came and left in a time.
type ChurnPeriod struct {
	From, To      calendar.Date
	Customers     Moves
	Subscriptions Moves
	Reasons       []EndReason // of the subscriptions that ended, the most frequent first
	Revenue       money.Amount
	lived         time.Duration // of all subscriptions together
	length        time.Duration // as far as it has gone by
}

// Moves count those who came and left: AtStart + New + Returned − Ended = AtEnd. TakenOver is the part of AtStart that
// came from another system in the time itself: they were customers before, and are not new.
type Moves struct{ AtStart, New, Returned, Ended, AtEnd, TakenOver int }

// EndReason is a reason that was given for the ends of some subscriptions.
type EndReason struct {
	Reason string // "" = none, or forgotten
	Count  int
}

// ChurnRate is the part of those at the start that ended, in basis points, half up; false when there was nobody.
func (m Moves) ChurnRate() (basisPoints int64, known bool) {
	if m.AtStart == 0 {
		return 0, false
	}
	return (int64(m.Ended)*20_000 + int64(m.AtStart)) / (2 * int64(m.AtStart)), true
}

// AverageTenths is the average number of subscriptions, in tenths, half up.
func (p ChurnPeriod) AverageTenths() int64 {
	length, lived := int64(p.length/time.Second), int64(p.lived/time.Second)
	if length == 0 {
		return 0
	}
	return (20*lived + length) / (2 * length)
}

// PerSubscription is the revenue of an average subscription in the whole time; false when there was none.
func (p ChurnPeriod) PerSubscription() (money.Amount, bool) {
	length, lived := int64(p.length/time.Second), int64(p.lived/time.Second)
	if lived == 0 {
		return money.Amount{}, false
	}
	return p.Revenue.MulDivRounded(length, lived), true
}

// Report counts who came and left on some days as the read models show it now. Fails: organization_not_found,
// invalid_input.
func (u Churn) Report(ctx context.Context, org id.Organization, in ReportDays) (ChurnReport, error) {
	settings, err := u.Settings(ctx, org)
	if err != nil {
		return ChurnReport{}, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return ChurnReport{}, err
	}
	now := u.Clock.Now()
	in, err = in.checked(calendar.On(now, zone))
	if err != nil {
		return ChurnReport{}, err
	}
	out := ChurnReport{From: in.From, To: in.To, Currency: settings.Currency}
	var earning []EarnedPeriod
	for _, p := range in.periods(false) {
		out.Periods = append(out.Periods, ChurnPeriod{From: p.From, To: p.To, Revenue: money.Of(0, out.Currency)})
		earning = append(earning, EarnedPeriod{From: p.From, To: p.To})
	}
	out.All = ChurnPeriod{From: in.From, To: in.To, Revenue: money.Of(0, out.Currency)}
	until := in.To.AddDays(1).Start(zone)
	if now.Before(until) {
		until = now
	}
	// Who comes back within a short break after the last day has not left on it.
	lives, err := u.Subscriptions.Lives(ctx, org, until.Add(shortBreak))
	if err != nil {
		return out, err
	}
	for i := range out.Periods {
		out.Periods[i].count(lives, zone, until)
	}
	out.All.count(lives, zone, until)
	earned, err := u.Revenue.Earned(ctx, org, earnedSpan(earning, zone))
	for _, r := range earned.Rows {
		if r.Period > 0 {
			p, amount := &out.Periods[r.Period-1], money.Of(r.NetMinor, out.Currency)
			p.Revenue, out.All.Revenue = p.Revenue.Add(amount), out.All.Revenue.Add(amount)
		}
	}
	return out, err
}

// count fills in the counts of a period from the lives of subscriptions, by subscriber and beginning. The period ends
// with its last day, or at the latest at an instant.
func (p *ChurnPeriod) count(lives []subscribersviews.LifeRow, zone *time.Location, latest time.Time) {
	from, until := p.From.Start(zone), p.To.AddDays(1).Start(zone)
	if latest.Before(until) {
		until = latest
	}
	p.length = until.Sub(from)
	reasons := map[string]*EndReason{}
	for i := 0; i < len(lives); {
		var there []presence // of one customer
		who := lives[i].SubscriberID
		for ; i < len(lives) && lives[i].SubscriberID == who; i++ {
			one := presence{lives[i].Began, lives[i].Ended, lives[i].Carried}
			there = one.joined(there)
			p.lived += one.within(from, until)
			if p.Subscriptions.add(one, from, until, false) {
				tellReason(reasons, lives[i].Reason)
			}
		}
		for n, span := range there {
			p.Customers.add(span, from, until, n > 0)
		}
	}
	for _, r := range reasons {
		p.Reasons = append(p.Reasons, *r)
	}
	slices.SortFunc(p.Reasons, func(a, b EndReason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Reason, b.Reason))
	})
}

// tellReason counts a reason. Reasons that differ in the case of letters alone are one.
func tellReason(reasons map[string]*EndReason, reason string) {
	reason = strings.TrimSpace(reason)
	key := strings.ToLower(reason)
	if reasons[key] == nil {
		reasons[key] = &EndReason{Reason: reason}
	}
	reasons[key].Count++
}

// presence is a time in which a subscription, or one of a customer, is served; ended is nil while it goes on. Of a
// carried one it is the part that was here.
type presence struct {
	began   time.Time
	ended   *time.Time
	carried bool
}

// joined adds a presence that begins last to those of a customer, and joins it to the last one after a short break.
func (p presence) joined(list []presence) []presence {
	if len(list) == 0 {
		return append(list, p)
	}
	last := &list[len(list)-1]
	switch {
	case last.ended == nil:
	case !p.began.Before(last.ended.Add(shortBreak)):
		return append(list, p)
	case p.ended == nil || p.ended.After(*last.ended):
		last.ended = p.ended
	}
	return list
}

// within is the part of a presence that lies in a time.
func (p presence) within(from, until time.Time) time.Duration {
	if p.ended != nil && p.ended.Before(until) {
		until = *p.ended
	}
	if p.began.After(from) {
		from = p.began
	}
	return max(until.Sub(from), 0)
}

// add counts a presence in a time, and reports whether it ended there. again says that it is not the first one.
func (m *Moves) add(p presence, from, until time.Time, again bool) (ended bool) {
	if !p.began.Before(until) || p.ended != nil && p.ended.Before(from) {
		return false
	}
	switch {
	case p.began.Before(from):
		m.AtStart++
	case again:
		m.Returned++
	case p.carried:
		m.AtStart++
		m.TakenOver++
	default:
		m.New++
	}
	if p.ended != nil && p.ended.Before(until) {
		m.Ended++
		return true
	}
	m.AtEnd++
	return false
}
