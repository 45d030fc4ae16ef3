package subscribersviews

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ImportsName keys the projection's checkpoint and schemas, so it never changes.
const ImportsName = "subscribers_imports"

// Imports shows how far the imports of an organization are, and what was wrong with their rows.
type Imports struct{}

// importsDDL is compiled in from imports.sql.
//
//go:embed imports.sql
var importsDDL string

// Name keys checkpoint and schemas.
func (Imports) Name() string { return ImportsName }

// Version must grow with every change to the tables or to Apply.
func (Imports) Version() int { return 3 }

// DDL creates the tables of imports.sql.
func (Imports) DDL() string { return importsDDL }

// TenantTables are under row-level security.
func (Imports) TenantTables() []string { return []string{"imports"} }

// Handles lists the events that change the tables.
func (Imports) Handles() []string {
	return []string{
		events.ImportAsked{}.EventType(), events.ImportPartDone{}.EventType(), events.ImportFinished{}.EventType(),
		events.ImportRowsLost{}.EventType(), events.ImportBegunAgain{}.EventType(),
	}
}

// Statements of Apply. An event counts once: what has happened up to the revision is in the row.
const (
	importAskedSQL = `
insert into {schema}.imports
	(import_id, org_id, source, state, rows, skipped, failed, faults, asked_by, asked_at, revision)
values (@import, @org, @source, 'queued', @rows, @skipped, @failed, @faults, @by, @at, @revision)
on conflict (import_id) do nothing`
	importPartSQL = `
update {schema}.imports set state = 'running', created = created + @created, skipped = skipped + @skipped,
	failed = failed + @failed, faults = faults || @faults::jsonb, next_part = @part + 1, revision = @revision
where import_id = @import and next_part = @part and revision < @revision`
	importLostSQL = `
update {schema}.imports set failed = failed + @failed, faults = faults || @faults::jsonb, revision = @revision
where import_id = @import and revision < @revision`
	importAgainSQL = `
update {schema}.imports set state = 'queued', rows = @rows, created = 0, skipped = @skipped,
	failed = @failed, faults = @faults, next_part = 0, finished_at = null, revision = @revision
where import_id = @import and revision < @revision`
	importEndedSQL = `
update {schema}.imports set state = 'finished', finished_at = $2, revision = $3
where import_id = $1 and revision < $3`
)

// Apply queues the statements for one event.
func (Imports) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.ImportAsked:
		faults, err := faultsJSON(v.Faults)
		if err != nil {
			return err
		}
		w.Exec(importAskedSQL, pgx.NamedArgs{
			"import": v.ImportID, "org": v.OrgID, "source": v.Source, "rows": v.Rows, "skipped": v.Skipped,
			"failed": v.Failed, "faults": faults, "by": e.Meta.Actor.ID, "at": v.At, "revision": int64(e.Revision),
		})
	case events.ImportPartDone:
		faults, err := faultsJSON(v.Faults)
		if err != nil {
			return err
		}
		w.Exec(importPartSQL, pgx.NamedArgs{
			"import": v.ImportID, "part": v.Part, "created": v.Created, "skipped": v.Skipped, "failed": v.Failed,
			"faults": faults, "revision": int64(e.Revision),
		})
	case events.ImportRowsLost:
		faults, err := faultsJSON([]events.ImportFault{v.Fault})
		if err != nil {
			return err
		}
		w.Exec(importLostSQL, pgx.NamedArgs{
			"import": v.ImportID, "failed": v.Failed, "faults": faults, "revision": int64(e.Revision),
		})
	case events.ImportBegunAgain:
		faults, err := faultsJSON(v.Faults)
		if err != nil {
			return err
		}
		w.Exec(importAgainSQL, pgx.NamedArgs{
			"import": v.ImportID, "rows": v.Rows, "skipped": v.Skipped, "failed": v.Failed, "faults": faults,
			"revision": int64(e.Revision),
		})
	case events.ImportFinished:
		w.Exec(importEndedSQL, v.ImportID, v.At, int64(e.Revision))
	}
	return nil
}

// faultsJSON is a list of faults; never null.
func faultsJSON(list []events.ImportFault) (string, error) {
	text, err := json.Marshal(append([]events.ImportFault{}, list...))
	if err != nil {
		return "", fmt.Errorf("marshal faults: %w", err)
	}
	return string(text), nil
}

// ImportRow has the progress of one import.
type ImportRow struct {
	ID         id.Import            `db:"import_id"`
	Source     string               `db:"source"` // "" = our own columns
	State      string               `db:"state"`
	Rows       int                  `db:"rows"`
	Created    int                  `db:"created"`
	Skipped    int                  `db:"skipped"`
	Failed     int                  `db:"failed"`
	Faults     []events.ImportFault `db:"faults"` // missing in lists
	AskedBy    string               `db:"asked_by"`
	AskedAt    time.Time            `db:"asked_at"`
	FinishedAt *time.Time           `db:"finished_at"`
	Revision   int64                `db:"revision"`
}

// ImportKey is a row's place in the list, newest first. The zero value starts at the newest row.
type ImportKey struct {
	AskedAt time.Time `json:"a"`
	ID      id.Import `json:"i"`
}

// Key makes the next page begin after this row.
func (r ImportRow) Key() ImportKey { return ImportKey{AskedAt: r.AskedAt, ID: r.ID} }

// ImportsQuery reads the progress of files that were taken in.
type ImportsQuery struct{ Views *runner.Views }

// importColumns fit ImportRow but for the faults.
const importColumns = `import_id, source, state, rows, created, skipped, failed, asked_by, asked_at, finished_at,
	revision`

// Get returns one import of an organization; nil when it has none of this id.
func (q ImportsQuery) Get(ctx context.Context, org id.Organization, of id.Import) (*ImportRow, error) {
	var row *ImportRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[ImportRow],
			q.Views.SQL(ImportsName, `select `+importColumns+`, faults from {schema}.imports where import_id = $1`), of)
	})
	return row, err
}

// List returns up to max imports of an organization after a key, newest first.
func (q ImportsQuery) List(
	ctx context.Context, org id.Organization, after ImportKey, max int,
) ([]ImportRow, error) {
	var rows []ImportRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ImportRow], q.Views.SQL(ImportsName, `
			select `+importColumns+`, '[]'::jsonb as faults from {schema}.imports
			where org_id = $1 and ($2::timestamptz is null or (asked_at, import_id) < ($2, $3))
			order by asked_at desc, import_id desc limit $4`), org, null.Time(after.AskedAt), after.ID, max)
	})
	return rows, err
}
