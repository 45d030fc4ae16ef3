package reportscases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// Takings is the money received, as collections have it. So far means up to the same time of the day, and of the month,
// as now.
type Takings struct {
	Today, Yesterday, YesterdaySoFar billingviews.SpanSum
	Month, LastMonth, LastMonthSoFar billingviews.SpanSum
}

// spans are the times whose money is compared. They are whole days of the organization's zone, so that their sums are
// those of the report of collections, but for those that end so far.
type spans struct {
	today, yesterday, yesterdaySoFar billingviews.Span
	month, lastMonth, lastMonthSoFar billingviews.Span
}

// spansOf gives the times at an instant. The present day and month end with the day, because nothing comes later.
func spansOf(now time.Time, zone *time.Location) spans {
	today := calendar.On(now, zone)
	tomorrow := today.AddDays(1).Start(zone)
	yesterday := today.AddDays(-1)
	month := today.AddDays(1 - today.Day)
	lastMonth := month.AddDays(-1)
	daysBefore := lastMonth.Day
	lastMonth = lastMonth.AddDays(1 - daysBefore)
	begin, before, first := today.Start(zone), yesterday.Start(zone), month.Start(zone)
	out := spans{
		today:     billingviews.Span{From: begin, Until: tomorrow},
		yesterday: billingviews.Span{From: before, Until: begin},
		month:     billingviews.Span{From: first, Until: tomorrow},
		lastMonth: billingviews.Span{From: lastMonth.Start(zone), Until: first},
	}
	out.yesterdaySoFar = billingviews.Span{From: before, Until: within(clockOf(now, yesterday, zone), before, begin)}
	soFar := first // a day that the month before does not have: all of it
	if today.Day <= daysBefore {
		soFar = within(clockOf(now, lastMonth.AddDays(today.Day-1), zone), out.lastMonth.From, first)
	}
	out.lastMonthSoFar = billingviews.Span{From: out.lastMonth.From, Until: soFar}
	return out
}

// clockOf is the instant at which clocks in a zone show on a day what they show now.
func clockOf(now time.Time, day calendar.Date, zone *time.Location) time.Time {
	local := now.In(zone)
	return time.Date(day.Year, day.Month, day.Day, local.Hour(), local.Minute(), local.Second(), local.Nanosecond(),
		zone)
}

// takings reads the sums in one pass.
func (r reading) takings(ctx context.Context) error {
	d, t := r.days, &r.out.Money
	list := []billingviews.Span{d.today, d.yesterday, d.yesterdaySoFar, d.month, d.lastMonth, d.lastMonthSoFar}
	into := []*billingviews.SpanSum{
		&t.Today, &t.Yesterday, &t.YesterdaySoFar, &t.Month, &t.LastMonth, &t.LastMonthSoFar,
	}
	sums, err := billingviews.CollectionsQuery{Views: r.Views}.Sums(ctx, r.org, list)
	if err != nil {
		return err
	}
	for i, sum := range sums {
		*into[i] = sum
	}
	return nil
}
