package billingcases

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases"
)

// maxReportDays bounds the days of a report: as many as a leap year has.
const maxReportDays = 366

// Collections reports the money received. Safe for concurrent use.
type Collections struct {
	Settings    usecases.SettingsOf
	Collections billingviews.CollectionsQuery
	Receipts    paymentsviews.ReceiptsQuery
	Users       identityviews.UsersQuery
	Clock       clock.Clock
}

// CollectionsInput has the first and the last day to report, in the organization's zone.
type CollectionsInput struct {
	From calendar.Date // zero = the last day
	To   calendar.Date // zero = today
}

// CollectionsReport is the money received on all days. Money that was taken back is subtracted on the day of the
// correction.
type CollectionsReport struct {
	From     calendar.Date
	To       calendar.Date
	Currency money.Currency
	All      Collected
	Days     []Collected        // one for each day, oldest first
	Rows     []CollectedPart    // what the sums are made of: by day, channel and user
	Waiting  []WaitingPart      // recorded on these days and in suspense now: in no sum; by day and channel
	Names    map[id.User]string // of the users in Staff; a user unknown to the organization is absent
}

// Sides are the two parts of a sum, both positive: the sum is the first one less the second.
type Sides struct {
	Received  money.Amount
	TakenBack money.Amount
}

// CollectedPart is money that came on one day through one channel, and by one user.
type CollectedPart struct {
	Date    calendar.Date
	Channel string
	TakenBy id.User // zero = nobody took it by hand
	Total   money.Amount
	Sides
	Count int64 // payments, less those taken back
}

// WaitingPart is money that came on one day through one channel and waits in suspense.
type WaitingPart struct {
	Date    calendar.Date
	Channel string
	Amount  money.Amount
	Count   int64 // payments
}

// Collected is money received. The zero value is no money, in no currency.
type Collected struct {
	Date  calendar.Date // zero for the sum of several days
	Total money.Amount
	Sides
	Channels []ChannelSum // in the order of their names
	Staff    []StaffSum   // in the order of their ids
}

// ChannelSum is the money that came through one channel.
type ChannelSum struct {
	Channel string // "stk", "c2b", "cash", "bill_manager", "voucher"; "" when it is not known
	Total   money.Amount
	Sides
	Count int64 // payments, less those taken back
}

// StaffSum is the cash that one user took, and the vouchers of that user that were sold.
type StaffSum struct {
	UserID id.User
	Total  money.Amount
	Sides
	Count    int64        // payments, less those taken back
	Channels []ChannelSum // what it is made of, in the order of their names
}

// Report sums the money received, by day, channel and user who took cash or made vouchers, as the read model shows it
// now. A day is one of the organization's zone. Fails: organization_not_found, invalid_input.
func (u Collections) Report(
	ctx context.Context, org id.Organization, in CollectionsInput,
) (CollectionsReport, error) {
	none := CollectionsReport{}
	settings, err := u.Settings(ctx, org)
	if err != nil {
		return none, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return none, err
	}
	days, err := in.days(calendar.On(u.Clock.Now(), zone))
	if err != nil {
		return none, err
	}
	starts := make([]time.Time, len(days))
	for i, d := range days {
		starts[i] = d.Start(zone)
	}
	until := endOf(days, zone)
	rows, err := u.Collections.ByDay(ctx, org, starts, until)
	if err != nil {
		return none, err
	}
	waiting, err := u.Receipts.WaitingByDay(ctx, org, settings.Currency, starts, until)
	if err != nil {
		return none, err
	}
	out := sumUp(days, rows, settings.Currency)
	for _, w := range waiting {
		out.Waiting = append(out.Waiting, WaitingPart{
			Date: days[w.Day], Channel: w.Channel, Amount: money.Of(w.AmountMinor, settings.Currency), Count: w.Count,
		})
	}
	users := make([]id.User, len(out.All.Staff))
	for i, s := range out.All.Staff {
		users[i] = s.UserID
	}
	out.Names, err = u.Users.Names(ctx, org, users)
	return out, err
}

// days lists the days from the first to the last; today alone when both are zero. Fails: invalid_input.
func (in CollectionsInput) days(today calendar.Date) ([]calendar.Date, error) {
	to := in.To
	if to.IsZero() {
		to = today
	}
	from := in.From
	if from.IsZero() {
		from = to
	}
	var faults failure.Faults
	faults.Check(!to.Before(from), "to", "must not be before from")
	faults.Check(to.Before(from.AddDays(maxReportDays)), "to", "must be within %d days", maxReportDays)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	var days []calendar.Date
	for d := from; !to.Before(d); d = d.AddDays(1) {
		days = append(days, d)
	}
	return days, nil
}

// endOf is the first instant after the last of some days.
func endOf(days []calendar.Date, zone *time.Location) time.Time {
	return days[len(days)-1].AddDays(1).Start(zone)
}

// sumUp makes the report. The field Day of a row is an index into days.
func sumUp(days []calendar.Date, rows []billingviews.CollectionsRow, currency money.Currency) CollectionsReport {
	var all sums
	each := make([]sums, len(days))
	parts := make([]CollectedPart, 0, len(rows))
	for _, r := range rows {
		all.add(r)
		each[r.Day].add(r)
		t := tally{}.plus(r)
		parts = append(parts, CollectedPart{
			Date: days[r.Day], Channel: r.Channel, TakenBy: r.TakenBy, Total: t.total(currency),
			Sides: t.sides(currency), Count: t.count,
		})
	}
	out := CollectionsReport{
		From: days[0], To: days[len(days)-1], Currency: currency, All: all.collected(currency),
		Days: make([]Collected, len(days)), Rows: parts,
	}
	for i, d := range days {
		out.Days[i] = each[i].collected(currency)
		out.Days[i].Date = d
	}
	return out
}

// sums adds up rows. The zero value is ready for use.
type sums struct {
	tally
	channels map[string]tally
	staff    map[id.User]*sums // those of each user have no staff themselves
}

// tally is a sum in minor units: what was received, what was taken back, and the number of payments in it.
type tally struct{ received, takenBack, count int64 }

// plus gives the tally with one more row.
func (t tally) plus(r billingviews.CollectionsRow) tally {
	return tally{
		received: t.received + r.ReceivedMinor, takenBack: t.takenBack + r.TakenBackMinor, count: t.count + r.Count,
	}
}

// total is the difference of the two sides.
func (t tally) total(currency money.Currency) money.Amount {
	return money.Of(t.received-t.takenBack, currency)
}

// sides writes what was received and what was taken back as amounts.
func (t tally) sides(currency money.Currency) Sides {
	return Sides{Received: money.Of(t.received, currency), TakenBack: money.Of(t.takenBack, currency)}
}

// add counts one row in the total, in its channel and for the user who took the cash or made the voucher.
func (s *sums) add(r billingviews.CollectionsRow) {
	if s.channels == nil {
		s.channels, s.staff = map[string]tally{}, map[id.User]*sums{}
	}
	s.tally = s.plus(r)
	s.channels[r.Channel] = s.channels[r.Channel].plus(r)
	if user := r.TakenBy; !user.IsZero() {
		if s.staff[user] == nil {
			s.staff[user] = &sums{}
		}
		r.TakenBy = id.User{}
		s.staff[user].add(r)
	}
}

// collected gives the sums in a currency, channels by name and users by id.
func (s *sums) collected(currency money.Currency) Collected {
	out := Collected{Total: s.total(currency), Sides: s.sides(currency)}
	for _, channel := range slices.Sorted(maps.Keys(s.channels)) {
		t := s.channels[channel]
		out.Channels = append(out.Channels, ChannelSum{channel, t.total(currency), t.sides(currency), t.count})
	}
	for user, own := range s.staff {
		of := own.collected(currency)
		out.Staff = append(out.Staff, StaffSum{
			UserID: user, Total: of.Total, Sides: of.Sides, Count: own.count, Channels: of.Channels,
		})
	}
	slices.SortFunc(out.Staff, func(a, b StaffSum) int { return cmp.Compare(a.UserID.String(), b.UserID.String()) })
	return out
}
