package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// settled is how long after the beginning of a fault reports prove nothing: a router that fails is seen to fail by some
// earlier than by others, and reports of that moment are still under way.
const settled = 5 * time.Minute

// Fault is a time [From, Until) in which a router could not be reached. Until is the present for one that lasts. What
// sessions tell from later than Now is from when a clock was ahead.
type Fault struct {
	Device id.Device
	From   time.Time
	Until  time.Time
	Now    time.Time
}

// proves is the instant from which a report shows that there was a line in the fault. One that comes after the end
// shows it too, by the time for which the session has been online.
func (f Fault) proves() time.Time {
	if at := f.From.Add(settled); at.Before(f.Until) {
		return at
	}
	return f.Until
}

// Line has the facts that sessions tell about the line of one subscription.
type Line struct {
	Device id.Device // of the newest session
	// Since is the first instant of the fault at which a session was online that reported after its beginning. Zero =
	// none was.
	Since time.Time
}

// SQL of lines. A session from when a clock was ahead began before all others, and its end proves nothing.
const (
	newestLinesSQL = `
select x.subscription_id,
	(array_agg(x.device_id order by x.started_at <= @latest desc, x.started_at desc, x.id desc))[1] device_id,
	min(greatest(x.started_at, @from))
		filter (where x.updated_at between @proves and @latest and x.started_at < @until) since
from {schema}.sessions x
where x.org_id = @org and x.subscriber_id = any(@subscribers) and x.subscription_id is not null
group by x.subscription_id`
	// A sign-in after the end of the fault tells nothing about the fault.
	heardInSQL = `
select greatest(
	(select max(x.updated_at) from {schema}.sessions x where x.org_id = @org and x.device_id = @device
		and x.updated_at between @proves and @latest and x.started_at < @until),
	(select max(case when r.at <= @until then r.at else r.first_at end) from {schema}.refusals r
		where r.org_id = @org and r.device_id = @device and r.code = '` + Accepted + `' and r.at >= @proves
		and (r.at <= @until or r.first_at between @proves and @until)))`
)

// Lines gives the lines of some customers in a fault, and the newest report of any session of its router, or note of an
// accepted sign-in there, that proves a line in the fault; zero = none. A subscription that never had a session is not
// in the map.
func (s *Store) Lines(
	ctx context.Context, org id.Organization, subscribers []id.Subscriber, f Fault,
) (map[id.Subscription]Line, time.Time, error) {
	type row struct {
		Subscription id.Subscription `db:"subscription_id"`
		Device       id.Device       `db:"device_id"`
		Since        *time.Time      `db:"since"`
	}
	ids := make([]uuid.UUID, len(subscribers))
	for i, k := range subscribers {
		ids[i] = k.UUID()
	}
	var rows []row
	var heard []*time.Time
	err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		args := pgx.NamedArgs{
			"org": org.UUID(), "subscribers": ids, "device": f.Device.UUID(), "from": f.From, "until": f.Until,
			"proves": f.proves(), "latest": f.Now.Add(Slack),
		}
		postgres.Collect(r, &rows, pgx.RowToStructByName[row], s.text(newestLinesSQL), args)
		postgres.Collect(r, &heard, pgx.RowTo[*time.Time], s.text(heardInSQL), args)
	})
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("lines of subscriptions: %w", err)
	}
	out := make(map[id.Subscription]Line, len(rows))
	for _, r := range rows {
		line := Line{Device: r.Device}
		if r.Since != nil {
			line.Since = r.Since.UTC()
		}
		out[r.Subscription] = line
	}
	if len(heard) == 0 || heard[0] == nil {
		return out, time.Time{}, nil
	}
	return out, heard[0].UTC(), nil
}
