package paymentsviews

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ReconciliationsName keys the projection's checkpoint and schemas, so it never changes.
const ReconciliationsName = "payments_reconciliations"

// Reconciliations lists the statements that were compared with the receipts (docs/rules/money.md#reconciliation).
type Reconciliations struct{}

// reconciliationsDDL is compiled in from reconciliations.sql.
//
//go:embed reconciliations.sql
var reconciliationsDDL string

// Name keys checkpoint and schemas.
func (Reconciliations) Name() string { return ReconciliationsName }

// Version must grow with every change to the tables or to Apply.
func (Reconciliations) Version() int { return 3 }

// DDL creates the table of reconciliations.sql.
func (Reconciliations) DDL() string { return reconciliationsDDL }

// TenantTables are under row-level security.
func (Reconciliations) TenantTables() []string { return []string{"reconciliations"} }

// Handles lists the events that change the table.
func (Reconciliations) Handles() []string {
	return []string{
		events.ReconciliationStarted{}.EventType(), events.ReconciliationCompared{}.EventType(),
		events.ReconciliationFailed{}.EventType(), events.ReconciliationAdoptionStarted{}.EventType(),
		events.ReconciliationAdopted{}.EventType(),
	}
}

// insertReconciliationSQL inserts the row of a new statement, or has one that came again compared anew.
const insertReconciliationSQL = `
insert into {schema}.reconciliations (reconciliation_id, org_id, environment, shortcode, lines, began_at, ended_at,
	state, uploaded_at, uploaded_by, revision)
values (@id, @org, @environment, @shortcode, @lines, @from, @to, 'comparing', @at, @by, @revision)
on conflict (reconciliation_id) do update set state = 'comparing', failure = '', began_at = excluded.began_at,
	ended_at = excluded.ended_at, uploaded_at = excluded.uploaded_at, uploaded_by = excluded.uploaded_by,
	revision = excluded.revision
where reconciliations.revision < excluded.revision`

// Apply queues the statements for one event. An event applied again changes nothing, because each change compares the
// revision of the stream.
func (Reconciliations) Apply(w *runner.Writes, e events.Envelope) error {
	revision, by := int64(e.Revision), staffOf(e.Meta.Actor) //nolint:gosec // revisions fit
	change := func(of id.Reconciliation, set string, values pgx.NamedArgs) {
		args := pgx.NamedArgs{"id": of, "revision": revision}
		maps.Copy(args, values)
		w.Exec(`update {schema}.reconciliations set revision = @revision, `+set+
			` where reconciliation_id = @id and revision < @revision`, args)
	}
	switch v := e.Event.(type) {
	case events.ReconciliationStarted:
		w.Exec(insertReconciliationSQL, pgx.NamedArgs{
			"id": v.ReconciliationID, "org": v.OrgID, "environment": v.Environment, "shortcode": v.Shortcode,
			"lines": v.Lines, "from": v.From, "to": v.To, "at": v.At, "by": by, "revision": revision,
		})
	case events.ReconciliationCompared:
		figures, err := json.Marshal(v.Figures)
		if err != nil {
			return fmt.Errorf("figures: %w", err)
		}
		change(v.ReconciliationID, `state = 'compared', figures = @figures::jsonb`,
			pgx.NamedArgs{"figures": string(figures)})
	case events.ReconciliationFailed:
		change(v.ReconciliationID, `state = 'failed', failure = @code`, pgx.NamedArgs{"code": v.Code})
	case events.ReconciliationAdoptionStarted:
		change(v.ReconciliationID, `state = 'adopting', failure = '', adopted_at = @at, adopted_by = @by`,
			pgx.NamedArgs{"at": v.At, "by": by})
	case events.ReconciliationAdopted:
		figures, err := json.Marshal(v.Figures)
		if err != nil {
			return fmt.Errorf("figures: %w", err)
		}
		change(v.ReconciliationID, `state = 'compared', figures = @figures::jsonb, adopted = adopted + @adopted`,
			pgx.NamedArgs{"figures": string(figures), "adopted": v.Adopted})
	}
	return nil
}
