package cpeviews

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// OperationsName keys the projection's checkpoint and schemas, so it never changes.
const OperationsName = "cpe_operations"

// Operations has the writes to CPEs and what became of them. It has no values that were written.
type Operations struct{}

// operationsDDL is compiled in from operations.sql.
//
//go:embed operations.sql
var operationsDDL string

// Name keys checkpoint and schemas.
func (Operations) Name() string { return OperationsName }

// Version must grow with every change to the tables or to Apply.
func (Operations) Version() int { return 4 }

// DDL creates the tables of operations.sql.
func (Operations) DDL() string { return operationsDDL }

// TenantTables are under row-level security.
func (Operations) TenantTables() []string { return []string{"operations", "onus"} }

// Handles lists the events that change the table. Of the beginning only the revision is kept: what is begun is shown as
// queued.
func (Operations) Handles() []string {
	return []string{
		events.CpeOperationQueued{}.EventType(), events.CpeOperationBegan{}.EventType(),
		events.CpeOperationSent{}.EventType(), events.CpeOperationMeasured{}.EventType(),
		events.CpeOperationConfirmed{}.EventType(), events.CpeOperationFailed{}.EventType(),
		events.CpeOperationExpired{}.EventType(),
		events.CpeOnuAsked{}.EventType(), events.CpeOnuStepDone{}.EventType(), events.CpeOnuReady{}.EventType(),
		events.CpeOnuFailed{}.EventType(), events.CpeOnuExpired{}.EventType(), events.CpeOnuTakenOut{}.EventType(),
	}
}

// Statements of Apply. An event that was applied before changes nothing.
const (
	queuedSQL = `
insert into {schema}.operations
	(operation_id, cpe_id, org_id, kind, names, state, asked_at, expires_at, actor_kind, actor_id, revision)
values (@operation, @cpe, @org, @kind, @names, 'queued', @at, @expires, @actor_kind, @actor_id, @revision)
on conflict (operation_id) do nothing`
	begunSQL = `update {schema}.operations set revision = $2 where operation_id = $1 and revision < $2`
	sentSQL  = `
update {schema}.operations set state = 'sent', call = @call, tasks = @tasks, sent_at = coalesce(sent_at, @at),
	written = case when cardinality(@written::text[]) > 0 then @written else written end, revision = @revision
where operation_id = @operation and revision < @revision`
	measuredSQL = `
update {schema}.operations set result = $3, ended_at = $4, revision = $2 where operation_id = $1 and revision < $2`
	endedSQL = `
update {schema}.operations set state = @state, error_code = @code, error_message = @message, ended_at = @at,
	revision = @revision
where operation_id = @operation and revision < @revision`
)

// Apply queues the statements for one event.
func (Operations) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // fits
	end := pgx.NamedArgs{"revision": revision, "code": nil, "message": nil}
	switch v := e.Event.(type) {
	case events.CpeOperationQueued:
		w.Exec(queuedSQL, pgx.NamedArgs{
			"operation": v.OperationID, "cpe": v.CpeID, "org": v.OrgID, "kind": string(v.Kind),
			"names": append([]string{}, v.Names...), "at": v.At, "expires": v.ExpiresAt,
			"actor_kind": string(e.Meta.Actor.Kind), "actor_id": e.Meta.Actor.ID, "revision": revision,
		})
		return nil
	case events.CpeOperationBegan:
		w.Exec(begunSQL, v.OperationID, revision)
		return nil
	case events.CpeOperationSent:
		tasks, err := json.Marshal(append([]events.CpeTask{}, v.Tasks...))
		if err != nil {
			return fmt.Errorf("write tasks: %w", err)
		}
		w.Exec(sentSQL, pgx.NamedArgs{
			"operation": v.OperationID, "call": v.Call, "tasks": string(tasks), "at": v.At, "revision": revision,
			"written": append([]string{}, v.Names...),
		})
		return nil
	case events.CpeOperationMeasured:
		result, err := json.Marshal(v.Result)
		if err != nil {
			return fmt.Errorf("write result: %w", err)
		}
		w.Exec(measuredSQL, v.OperationID, revision, string(result), v.At)
		return nil
	case events.CpeOperationConfirmed:
		end["operation"], end["state"], end["at"] = v.OperationID, "confirmed", v.At
	case events.CpeOperationFailed:
		end["operation"], end["state"], end["at"] = v.OperationID, "failed", v.At
		end["code"], end["message"] = v.Code, v.Message
	case events.CpeOperationExpired:
		end["operation"], end["state"], end["at"] = v.OperationID, "expired", v.At
	case events.CpeOnuEvent:
		return applyOnu(w, e, v)
	}
	w.Exec(endedSQL, end)
	return nil
}
