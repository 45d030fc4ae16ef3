package billingviews

import (
	"context"
	_ "embed"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// FusesName keys the projection's checkpoint and schemas, so it never changes.
const FusesName = "billing_fuses"

// Fuses shows what is held because far more of it happened than usual (docs/rules/billing.md#fuses).
type Fuses struct{}

// fusesDDL is compiled in from fuses.sql.
//
//go:embed fuses.sql
var fusesDDL string

// Name keys checkpoint and schemas.
func (Fuses) Name() string { return FusesName }

// Version must grow with every change to the tables or to Apply.
func (Fuses) Version() int { return 1 }

// DDL creates the tables of fuses.sql.
func (Fuses) DDL() string { return fusesDDL }

// TenantTables are under row-level security.
func (Fuses) TenantTables() []string { return []string{"fuses", "happened"} }

// Handles lists the events that change the tables.
func (Fuses) Handles() []string {
	return []string{
		events.FuseHeld{}.EventType(), events.FuseReleased{}.EventType(), events.WalledGardenEntered{}.EventType(),
		events.ServiceSuspended{}.EventType(), events.MessageSent{}.EventType(),
	}
}

// Statements of Apply. Each may be applied twice.
const (
	fuseHeldSQL = `
insert into {schema}.fuses (fuse_id, org_id, kind, held, date, count, usual, held_at)
values (@fuse, @org, @kind, true, @date, @count, @usual, @at)
on conflict (fuse_id) do update set held = true, date = @date, count = @count, usual = @usual, held_at = @at,
	released_at = null, released_by = null, release_reason = ''`
	fuseReleasedSQL = `
update {schema}.fuses set held = false, released_at = $2, released_by = $3, release_reason = $4 where fuse_id = $1`
	happenedSQL = `
insert into {schema}.happened (event_id, org_id, kind, at) values ($1, $2, $3, $4) on conflict (event_id) do nothing`
)

// Apply queues the statements for one event. An event applied again changes nothing.
func (Fuses) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.FuseHeld:
		w.Exec(fuseHeldSQL, pgx.NamedArgs{
			"fuse": v.FuseID, "org": v.OrgID, "kind": v.Kind, "date": v.Date.String(), "count": v.Count,
			"usual": v.Usual, "at": v.At,
		})
	case events.FuseReleased:
		w.Exec(fuseReleasedSQL, v.FuseID, v.At, staffOf(e.Meta.Actor), v.Reason)
	case events.WalledGardenEntered, events.ServiceSuspended:
		w.Exec(happenedSQL, e.ID, e.Meta.OrgID, events.FuseCuts, e.Meta.At)
	case events.MessageSent:
		w.Exec(happenedSQL, e.ID, e.Meta.OrgID, events.FuseMessages, e.Meta.At)
	}
	return nil
}

// FuseRow is a fuse that was blown.
type FuseRow struct {
	ID            id.Fuse    `db:"fuse_id"`
	Kind          string     `db:"kind"`
	Held          bool       `db:"held"`
	Date          time.Time  `db:"date"` // midnight in UTC of the local day
	Count         int        `db:"count"`
	Usual         int        `db:"usual"`
	HeldAt        time.Time  `db:"held_at"`
	ReleasedAt    *time.Time `db:"released_at"`
	ReleasedBy    id.User    `db:"released_by"`
	ReleaseReason string     `db:"release_reason"`
}

// Day is the local date on which it was blown.
func (r FuseRow) Day() calendar.Date { return calendar.On(r.Date, time.UTC) }

// FusesQuery serves fuses to their organization.
type FusesQuery struct{ Views *runner.Views }

// fuseSQL reads fuses; its columns fit FuseRow.
const fuseSQL = `select fuse_id, kind, held, date, count, usual, held_at, released_at, released_by, release_reason
	from {schema}.fuses where org_id = $1`

// List returns the fuses of an organization that were blown, those that are held first.
func (q FusesQuery) List(ctx context.Context, org id.Organization) (rows []FuseRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[FuseRow],
			q.Views.SQL(FusesName, fuseSQL+` order by held desc, held_at desc, fuse_id`), org)
	})
	return rows, err
}

// Get returns one fuse of an organization, nil when it was never blown.
func (q FusesQuery) Get(ctx context.Context, org id.Organization, fuse id.Fuse) (row *FuseRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[FuseRow],
			q.Views.SQL(FusesName, fuseSQL+` and fuse_id = $2`), org, fuse)
	})
	return row, err
}

// Days counts what happened in an organization on each of its days from a date on.
func (q FusesQuery) Days(
	ctx context.Context, org id.Organization, kind string, from calendar.Date, zone *time.Location,
) (map[calendar.Date]int, error) {
	type day struct {
		Day time.Time `db:"day"`
		N   int       `db:"n"`
	}
	var rows []day
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[day], q.Views.SQL(FusesName, `
			select (at at time zone $4)::date as day, count(*)::int as n from {schema}.happened
			where org_id = $1 and kind = $2 and at >= $3 group by 1`), org, kind, from.Start(zone), zone.String())
	})
	counts := make(map[calendar.Date]int, len(rows))
	for _, row := range rows {
		counts[calendar.On(row.Day, time.UTC)] = row.N
	}
	return counts, err
}

// HeldNow counts over all organizations what is held, by kind. It is for the platform.
func (q FusesQuery) HeldNow(ctx context.Context) (map[string]int, error) {
	type held struct {
		Kind string `db:"kind"`
		N    int    `db:"n"`
	}
	var fuses, runs []held
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &fuses, pgx.RowToStructByName[held],
			q.Views.SQL(FusesName, `select kind, count(*)::int as n from {schema}.fuses where held group by kind`))
		postgres.Collect(r, &runs, pgx.RowToStructByName[held],
			q.Views.SQL(RunsName, `select 'runs' as kind, count(*)::int as n from {schema}.runs where state = 'held'`))
	})
	counts := map[string]int{"runs": 0, events.FuseCuts: 0, events.FuseMessages: 0}
	for _, row := range append(fuses, runs...) {
		counts[row.Kind] = row.N
	}
	return counts, err
}
