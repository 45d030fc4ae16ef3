package telemetry

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// Step is the length of one rollup, in the organization's calendar.
type Step string

// The steps. Both are kept, because months stay longer than days.
const (
	Day   Step = "day"
	Month Step = "month"
)

// Begin is the first day of the rollup that a day belongs to.
func (s Step) Begin(d calendar.Date) calendar.Date {
	if s == Month {
		d.Day = 1
	}
	return d
}

// Next is the first day of the rollup after the one that begins on a day.
func (s Step) Next(d calendar.Date) calendar.Date {
	if s == Month {
		return s.Begin(calendar.Date{Year: d.Year, Month: d.Month, Day: 1}.AddDays(31))
	}
	return d.AddDays(1)
}

// Used is the whole use of a subscription in one rollup, after a commit that changed it.
type Used struct {
	Org          id.Organization
	Subscription id.Subscription
	Step         Step
	Starts       calendar.Date
	Bytes        int64 // both directions
}

// rollup names one row of usage.
type rollup struct {
	org          id.Organization
	subscriber   id.Subscriber
	subscription id.Subscription
	step         Step
	starts       calendar.Date
}

// rollups adds up the bookings of a book. The bytes that a report adds belong to the day and month in which it was
// made, also after a silence: nobody knows when in it they were used. Its time is that before the report.
func (b *book) rollups() map[rollup]counts {
	out := map[rollup]counts{}
	zones := map[id.Organization]*time.Location{}
	for _, c := range b.bookings {
		zone := zones[c.org]
		if zone == nil {
			zone = b.Zone(c.org)
			zones[c.org] = zone
		}
		add := func(date calendar.Date, used counts) {
			for _, step := range [...]Step{Day, Month} {
				key := rollup{c.org, c.subscriber, c.subscription, step, step.Begin(date)}
				out[key] = out[key].plus(used)
			}
		}
		add(calendar.On(time.Unix(c.at, 0), zone), counts{Down: c.Down, Up: c.Up})
		for date, seconds := range onDays(c.change, zone) {
			add(date, counts{Seconds: seconds})
		}
	}
	return out
}

// timeBefore is how long before a report its time online is told day by day, in seconds. What was before counts on the
// day before those, so that one report changes few rows, whatever a router tells: organizations share the commit.
const timeBefore = 3 * 24 * 60 * 60

// onDays divides the time online that a report adds among the days in which it was: a session is online without a gap,
// so the time is that right before the report. What is taken back comes from the same days.
func onDays(c change, zone *time.Location) iter.Seq2[calendar.Date, int64] {
	sign, left := int64(1), c.Seconds
	if left < 0 {
		sign, left = -1, -left
	}
	return func(yield func(calendar.Date, int64) bool) {
		for end := c.at; left > 0; {
			date := calendar.On(time.Unix(end-1, 0), zone)
			begin := end - left
			if c.at-end < timeBefore {
				begin = max(begin, min(date.Start(zone).Unix(), end-1))
			}
			if !yield(date, sign*(end-begin)) {
				return
			}
			left, end = left-(end-begin), begin
		}
	}
}

// saveUsageSQL adds to rollups, within the bounds of sums. What is taken back can be the first that a rollup is told,
// and then stands below nothing in its row: everybody who reads a row takes it as nothing.
const saveUsageSQL = `insert into {schema}.usage as x
		(org_id, subscriber_id, subscription_id, step, starts, bytes_down, bytes_up, seconds)
	select * from unnest(@org::uuid[], @subscriber::uuid[], @subscription::uuid[], @step::text[], @starts::date[],
		@down::bigint[], @up::bigint[], @seconds::bigint[])
	on conflict (subscription_id, step, starts) do update set
		bytes_down = least(greatest(least(greatest(x.bytes_down, 0), @most) + excluded.bytes_down, 0), @most),
		bytes_up = least(greatest(least(greatest(x.bytes_up, 0), @most) + excluded.bytes_up, 0), @most),
		seconds = least(greatest(least(greatest(x.seconds, 0), @most) + excluded.seconds, 0), @most)
	returning x.org_id, x.subscription_id, x.step, x.starts, ` + bothSQL

// bothSQL is the use of a rollup in both directions.
const bothSQL = `least(greatest(x.bytes_down, 0), @most) + least(greatest(x.bytes_up, 0), @most)`

// queueUsage adds what changes in rollups to a batch, and collects what they come to.
func (s *Store) queueUsage(batch *pgx.Batch, b *book, used *[]Used) {
	var org, subscriber, subscription []pgtype.UUID
	var step []string
	var starts []time.Time
	var down, up, seconds []int64
	for u, sum := range b.rollups() {
		if sum == (counts{}) {
			continue
		}
		org, subscriber = append(org, key(u.org)), append(subscriber, key(u.subscriber))
		subscription, step = append(subscription, key(u.subscription)), append(step, string(u.step))
		starts = append(starts, u.starts.Start(time.UTC))
		down, up, seconds = append(down, sum.Down), append(up, sum.Up), append(seconds, sum.Seconds)
	}
	if len(org) == 0 {
		return
	}
	batch.Queue(s.sql.usage, pgx.NamedArgs{
		"org": org, "subscriber": subscriber, "subscription": subscription, "step": step, "starts": starts,
		"down": down, "up": up, "seconds": seconds, "most": maxUsed,
	}).Query(func(rows pgx.Rows) error {
		var u Used
		var day time.Time
		_, err := pgx.ForEachRow(rows, []any{&u.Org, &u.Subscription, &u.Step, &day, &u.Bytes}, func() error {
			u.Starts = calendar.On(day, time.UTC)
			*used = append(*used, u)
			return nil
		})
		return err
	})
}

// UsageRow is the use in one rollup. A rollup without use has no row.
type UsageRow struct {
	Starts    calendar.Date
	BytesDown int64
	BytesUp   int64
	Seconds   int64 // of all sessions, so two at the same time count twice
}

// UsageOf names whose use is asked for: of one subscription, or of all of a subscriber.
type UsageOf struct {
	Subscriber   id.Subscriber
	Subscription id.Subscription
}

// usageSQL adds up the rollups of a subscriber, or of one subscription. Programs before the bounds have left sums that
// are beyond them.
const usageSQL = `select starts, least(sum(least(greatest(bytes_down, 0), @most)), 1::bigint << 62)::bigint,
		least(sum(least(greatest(bytes_up, 0), @most)), 1::bigint << 62)::bigint,
		least(sum(least(greatest(seconds, 0), @most)), 1::bigint << 62)::bigint
	from {schema}.usage where org_id = @org and %s and step = @step and starts >= @from and starts < @to
	group by starts order by starts`

// Whose usage is read.
const (
	ofSubscriber   = "subscriber_id = @subscriber"
	ofSubscription = "subscription_id = @subscription"
)

// Usage lists rollups that begin on from or later, and before to, the oldest first.
func (s *Store) Usage(
	ctx context.Context, org id.Organization, of UsageOf, step Step, from, to calendar.Date,
) ([]UsageRow, error) {
	args := pgx.NamedArgs{
		"org": org.UUID(), "step": string(step), "from": step.Begin(from).Start(time.UTC), "to": to.Start(time.UTC),
		"most": maxUsed,
	}
	whose := ofSubscription
	if of.Subscription.IsZero() {
		whose, args["subscriber"] = ofSubscriber, of.Subscriber.UUID()
	} else {
		args["subscription"] = of.Subscription.UUID()
	}
	var list []UsageRow
	err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &list, func(row pgx.CollectableRow) (u UsageRow, err error) {
			var starts time.Time
			err = row.Scan(&starts, &u.BytesDown, &u.BytesUp, &u.Seconds)
			u.Starts = calendar.On(starts, time.UTC)
			return u, err
		}, s.text(fmt.Sprintf(usageSQL, whose)), args)
	})
	if err != nil {
		return nil, fmt.Errorf("read usage: %w", err)
	}
	return list, nil
}
