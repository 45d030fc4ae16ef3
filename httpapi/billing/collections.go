package billingapi

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// maxReportDays bounds a report: a leap year.
const maxReportDays = 366

// Collections serves /reports/collections.
type Collections struct {
	Bus         *bus.Bus
	Collections billingviews.CollectionsQuery
	Users       identityviews.UsersQuery
	Clock       clock.Clock
}

// Routes lists the endpoints of reports about money.
func (a Collections) Routes() []httpapi.Route {
	days := []httpapi.Param{{
		Name: "from", Type: "date", Doc: "first day, in the organization's zone; the last one when absent",
	},
		{Name: "to", Type: "date", Doc: "last day; today when absent; at most 366 days in all"}}
	return []httpapi.Route{
		{Method: "GET", Path: "/reports/collections", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Money received by day, channel and who took cash", Response: collectionsResponse{}, Query: days,
			Handle: a.report},
	}
}

// collectionsResponse is the money of all days. What is taken back is subtracted on the day when it is.
type collectionsResponse struct {
	From     calendar.Date    `json:"from"`
	To       calendar.Date    `json:"to"`
	Currency money.Currency   `json:"currency"`
	Total    httpapi.Number   `json:"total" doc:"sum of the credits of all statements in these days"`
	Days     []collectionsDay `json:"days" doc:"every day, oldest first"`
	Channels []channelTotal   `json:"channels"`
	Staff    []staffTotal     `json:"staff"`
}

// collectionsDay is the money of one day.
type collectionsDay struct {
	Date     calendar.Date  `json:"date"`
	Total    httpapi.Number `json:"total"`
	Channels []channelTotal `json:"channels"`
	Staff    []staffTotal   `json:"staff"`
}

// channelTotal is the money that came one way.
type channelTotal struct {
	Channel string         `json:"channel" enum:"stk,c2b,cash,bill_manager"`
	Total   httpapi.Number `json:"total"`
	Count   int64          `json:"count" doc:"payments, less those taken back"`
}

// staffTotal is the cash that one user took.
type staffTotal struct {
	UserID id.User        `json:"userId"`
	Name   *string        `json:"name" doc:"null: no member of the organization, or forgotten"`
	Total  httpapi.Number `json:"total"`
	Count  int64          `json:"count" doc:"payments, less those taken back"`
}

// report answers with the sums.
func (a Collections) report(ctx context.Context, c *httpapi.Call) error {
	settings, err := usecases.BillingSettings(ctx, a.Bus, c.Org.ID)
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(settings.Timezone)
	if err != nil {
		return fmt.Errorf("zone of the organization: %w", err)
	}
	days, err := reportDays(c, calendar.On(a.Clock.Now(), zone))
	if err != nil {
		return err
	}
	starts := make([]time.Time, len(days))
	for i, d := range days {
		starts[i] = d.Start(zone)
	}
	rows, err := a.Collections.ByDay(ctx, c.Org.ID, starts, days[len(days)-1].AddDays(1).Start(zone))
	if err != nil {
		return err
	}
	var users []id.User
	for _, r := range rows {
		if !r.TakenBy.IsZero() {
			users = append(users, r.TakenBy)
		}
	}
	names, err := a.Users.Names(ctx, c.Org.ID, users)
	if err != nil {
		return err
	}
	return c.Send(200, showCollections(days, rows, settings.Currency, names))
}

// reportDays are the days asked for, today alone when nobody says.
func reportDays(c *httpapi.Call, today calendar.Date) ([]calendar.Date, error) {
	f := c.Filters()
	from, to := f.Date("from"), f.Date("to")
	if err := f.Err(); err != nil {
		return nil, err
	}
	if to.IsZero() {
		to = today
	}
	if from.IsZero() {
		from = to
	}
	f.Check(!to.Before(from), "to", "must not be before from")
	f.Check(to.Before(from.AddDays(maxReportDays)), "to", "must be within %d days", maxReportDays)
	if err := f.Err(); err != nil {
		return nil, err
	}
	var days []calendar.Date
	for d := from; !to.Before(d); d = d.AddDays(1) {
		days = append(days, d)
	}
	return days, nil
}

// collected adds up rows. All its sums are in minor units.
type collected struct {
	total    int64
	channels map[string]tally
	staff    map[id.User]tally
}

// tally is an amount of so many payments.
type tally struct{ minor, count int64 }

// plus is both together.
func (t tally) plus(r billingviews.CollectionsRow) tally {
	return tally{minor: t.minor + r.TotalMinor, count: t.count + r.Count}
}

// add counts one row.
func (s *collected) add(r billingviews.CollectionsRow) {
	if s.channels == nil {
		s.channels, s.staff = map[string]tally{}, map[id.User]tally{}
	}
	s.total += r.TotalMinor
	s.channels[r.Channel] = s.channels[r.Channel].plus(r)
	if !r.TakenBy.IsZero() {
		s.staff[r.TakenBy] = s.staff[r.TakenBy].plus(r)
	}
}

// byChannel are the sums by channel, in the order of their names.
func (s *collected) byChannel(currency money.Currency) []channelTotal {
	out := make([]channelTotal, 0, len(s.channels))
	for _, channel := range slices.Sorted(maps.Keys(s.channels)) {
		t := s.channels[channel]
		out = append(out, channelTotal{Channel: channel, Total: money.Of(t.minor, currency).Number(), Count: t.count})
	}
	return out
}

// byStaff are the sums by user, in the order of their ids.
func (s *collected) byStaff(currency money.Currency, names map[id.User]string) []staffTotal {
	out := make([]staffTotal, 0, len(s.staff))
	for user, t := range s.staff {
		out = append(out, staffTotal{
			UserID: user, Name: null.Of(names[user]), Total: money.Of(t.minor, currency).Number(), Count: t.count,
		})
	}
	slices.SortFunc(out, func(a, b staffTotal) int { return cmp.Compare(a.UserID.String(), b.UserID.String()) })
	return out
}

// showCollections is the report as the API shows it.
func showCollections(
	days []calendar.Date, rows []billingviews.CollectionsRow, currency money.Currency, names map[id.User]string,
) collectionsResponse {
	var all collected
	each := make([]collected, len(days))
	for _, r := range rows {
		all.add(r)
		each[r.Day].add(r)
	}
	out := collectionsResponse{
		From: days[0], To: days[len(days)-1], Currency: currency, Total: money.Of(all.total, currency).Number(),
		Days: make([]collectionsDay, len(days)), Channels: all.byChannel(currency), Staff: all.byStaff(currency, names),
	}
	for i, d := range days {
		out.Days[i] = collectionsDay{
			Date: d, Total: money.Of(each[i].total, currency).Number(), Channels: each[i].byChannel(currency),
			Staff: each[i].byStaff(currency, names),
		}
	}
	return out
}
