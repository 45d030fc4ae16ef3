package networkjobs

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// migrations holds the DDL of the tables fleet and polls.
//
//go:embed migrations
var migrations embed.FS

// Polls stores the answers of routers to polls: the last one of each router, and a history for as long as is
// configured. It is no read model: the event log does not have these answers. Safe for concurrent use.
type Polls struct {
	db     *postgres.DB
	schema string
}

// OpenPolls migrates the tables to the newest version.
func OpenPolls(ctx context.Context, db *postgres.DB) (*Polls, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("open polls: %w", err)
	}
	if err := db.Migrate(ctx, "network", files); err != nil {
		return nil, err
	}
	return &Polls{db: db, schema: db.Namespace.Schema("network")}, nil
}

// sql replaces {schema} by the schema's name, which depends on the namespace.
func (p *Polls) sql(text string) string { return strings.ReplaceAll(text, "{schema}", p.schema) }

// SQL of one poll: fleet keeps the newest answer of a router, polls keeps all. No poll takes ten minutes: an answer
// that is so much newer is from before the clock was put back.
const (
	latestSQL = `
insert into {schema}.fleet as f
	(device_id, org_id, at, reachable, error, board_name, version, cpu_percent, memory_percent, uptime_seconds,
	active_sessions, response_ms)
values
	(@device, @org, @at, @reachable, @error, @board, @version, @cpu, @memory, @uptime, @sessions, @response)
on conflict (device_id) do update set
	at = excluded.at, reachable = excluded.reachable, error = excluded.error, board_name = excluded.board_name,
	version = excluded.version, cpu_percent = excluded.cpu_percent, memory_percent = excluded.memory_percent,
	uptime_seconds = excluded.uptime_seconds, active_sessions = excluded.active_sessions,
	response_ms = excluded.response_ms
where f.at <= excluded.at or f.at > excluded.at + interval '10 minutes'`
	historySQL = `
insert into {schema}.polls
	(device_id, at, org_id, reachable, cpu_percent, memory_percent, active_sessions, response_ms)
values
	(@device, @at, @org, @reachable, @cpu, @memory, @sessions, @response)
on conflict do nothing`
)

// Keep stores the answers of a round, in one transaction. An answer older than the stored one does not replace it.
func (p *Polls) Keep(ctx context.Context, list []Polled) error {
	batch := &pgx.Batch{}
	for _, v := range list {
		args := pgx.NamedArgs{
			"device": [16]byte(v.DeviceID.UUID()), "org": [16]byte(v.OrgID.UUID()), "at": v.At,
			"reachable": v.Reachable, "error": v.Error, "board": v.BoardName, "version": v.Version,
			"cpu": v.CPUPercent, "memory": v.MemoryPercent, "uptime": v.UptimeSeconds, "sessions": v.ActiveSessions,
			"response": v.ResponseMs,
		}
		batch.Queue(p.sql(latestSQL), args)
		batch.Queue(p.sql(historySQL), args)
	}
	if err := p.db.Owner.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("keep polls: %w", err)
	}
	return nil
}

// Polled is a poll with the organization that owns the router.
type Polled struct {
	OrgID id.Organization
	networkviews.Poll
}

// Latest gives the last answer of some routers of an organization, of all for nil; routers that were never polled are
// absent.
func (p *Polls) Latest(
	ctx context.Context, org id.Organization, devices []id.Device,
) (map[id.Device]networkviews.Poll, error) {
	rows, err := p.db.Owner.Query(ctx,
		p.sql(`select device_id, at, reachable, error, board_name, version, cpu_percent, memory_percent, uptime_seconds,
		active_sessions, response_ms from {schema}.fleet
		where org_id = $1 and ($2::uuid[] is null or device_id = any($2))`),
		[16]byte(org.UUID()), uuids(devices))
	if err != nil {
		return nil, fmt.Errorf("read fleet: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[networkviews.Poll])
	if err != nil {
		return nil, fmt.Errorf("read fleet: %w", err)
	}
	out := make(map[id.Device]networkviews.Poll, len(list))
	for _, v := range list {
		out[v.DeviceID] = v
	}
	return out, nil
}

// uuids turns ids into the form that the driver takes; nil stays nil.
func uuids(devices []id.Device) []uuid.UUID {
	if devices == nil {
		return nil
	}
	ids := make([]uuid.UUID, 0, len(devices))
	for _, d := range devices {
		ids = append(ids, d.UUID())
	}
	return ids
}

// pointsSQL thins polls: one row for each router and step, counted back from the end of the window.
const pointsSQL = `
select device_id, max(at) as at, bool_and(reachable) as reachable, max(cpu_percent) filter (where reachable) as cpu,
	max(active_sessions) filter (where reachable) as sessions
from {schema}.polls where org_id = @org and device_id = any(@devices) and at > @from and at <= @to
group by device_id, floor(extract(epoch from @to::timestamptz - at) / extract(epoch from @step::interval))
order by device_id, at`

// Points gives the polls of some routers of an organization in a window, thinned to one point for each step, oldest
// first.
func (p *Polls) Points(
	ctx context.Context, org id.Organization, devices []id.Device, w networkviews.PollWindow,
) (map[id.Device][]networkviews.PollPoint, error) {
	rows, err := p.db.Owner.Query(ctx, p.sql(pointsSQL), pgx.NamedArgs{
		"org": [16]byte(org.UUID()), "devices": uuids(devices), "from": w.From, "to": w.To, "step": w.Step,
	})
	if err != nil {
		return nil, fmt.Errorf("read points: %w", err)
	}
	out := make(map[id.Device][]networkviews.PollPoint, len(devices))
	var device id.Device
	var at networkviews.PollPoint
	_, err = pgx.ForEachRow(rows, []any{&device, &at.At, &at.Reachable, &at.CPUPercent, &at.ActiveSessions},
		func() error {
			out[device] = append(out[device], at)
			at = networkviews.PollPoint{}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("read points: %w", err)
	}
	return out, nil
}

// History gives the polls of a router of an organization from an instant on, oldest first.
func (p *Polls) History(
	ctx context.Context, org id.Organization, device id.Device, since time.Time,
) ([]networkviews.Poll, error) {
	rows, err := p.db.Owner.Query(ctx, p.sql(`
		select device_id, at, reachable, '' as error, '' as board_name, '' as version, cpu_percent, memory_percent,
			0::bigint as uptime_seconds, active_sessions, response_ms
		from {schema}.polls where org_id = $1 and device_id = $2 and at >= $3 order by at`),
		[16]byte(org.UUID()), [16]byte(device.UUID()), since)
	if err != nil {
		return nil, fmt.Errorf("read polls: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[networkviews.Poll])
	if err != nil {
		return nil, fmt.Errorf("read polls: %w", err)
	}
	return list, nil
}

// Forget deletes all polls of a router that was deleted.
func (p *Polls) Forget(ctx context.Context, device id.Device) error {
	for _, sql := range []string{
		`delete from {schema}.fleet where device_id = $1`, `delete from {schema}.polls where device_id = $1`,
	} {
		if _, err := p.db.Owner.Exec(ctx, p.sql(sql), [16]byte(device.UUID())); err != nil {
			return fmt.Errorf("forget polls: %w", err)
		}
	}
	return nil
}

// Purge deletes history from before an instant; the last answers stay.
func (p *Polls) Purge(ctx context.Context, before time.Time) error {
	if _, err := p.db.Owner.Exec(ctx, p.sql(`delete from {schema}.polls where at < $1`), before); err != nil {
		return fmt.Errorf("purge polls: %w", err)
	}
	return nil
}
