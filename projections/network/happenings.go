package networkviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// Happening is an entry that the customers of a router feel: it could not be reached, answered again, was rebooted, or
// a service on it was repaired.
type Happening struct {
	DeviceID id.Device `db:"device_id"`
	At       time.Time `db:"at"`
	Kind     string    `db:"kind"` // "unreachable", "recovered", "reboot_confirmed", "repaired"
}

// happeningsSQL reads what is within a span, and how each router stood at its beginning. The condition on the kind is
// that of the index.
const happeningsSQL = `
select device_id, at, kind from (
	select e.device_id, e.at, e.kind, e.position from {schema}.entries e
	where e.org_id = @org and e.device_id = any(@devices) and e.at >= @from and e.at < @to
		and e.kind in ('unreachable', 'recovered', 'reboot_confirmed', 'repaired')
	union all
	select b.device_id, b.at, b.kind, b.position from unnest(@devices::uuid[]) d (device_id)
	cross join lateral (
		select e.device_id, e.at, e.kind, e.position from {schema}.entries e
		where e.org_id = @org and e.device_id = d.device_id and e.at < @from
			and e.kind in ('unreachable', 'recovered', 'reboot_confirmed', 'repaired')
			and e.kind in ('unreachable', 'recovered')
		order by e.at desc, e.position desc limit 1) b) h
order by position`

// Happened lists what the customers of some routers felt within a span, the oldest first.
func (q HistoryQuery) Happened(
	ctx context.Context, org id.Organization, routers []id.Device, in events.TimeSpan,
) ([]Happening, error) {
	var rows []Happening
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[Happening], q.Views.SQL(HistoryName, happeningsSQL),
			pgx.NamedArgs{"org": org, "devices": routers, "from": in.From, "to": in.To})
	})
	return rows, err
}
