package cpeviews

import (
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// OnuStep is one step of the set-up of an ONU.
type OnuStep struct {
	Name string `json:"name"`
	Done bool   `json:"done"`
}

// Statements about ONUs. A set-up is an operation of its own; its revisions are those of the ONU's stream.
const (
	onuAskedSQL = `
insert into {schema}.operations
	(operation_id, cpe_id, org_id, kind, names, state, steps, asked_at, expires_at, actor_kind, actor_id, revision)
values (@operation, @cpe, @org, @kind, '{}', 'queued', @steps, @at, @expires, @actor_kind, @actor_id, @revision)
on conflict (operation_id) do nothing`
	onuStepSQL = `
update {schema}.operations set state = 'sent', sent_at = coalesce(sent_at, @at), revision = @revision, steps = (
	select jsonb_agg(case when step ->> 'name' = @step then jsonb_set(step, '{done}', 'true') else step end order by n)
	from jsonb_array_elements(steps) with ordinality as all_steps (step, n))
where operation_id = @operation and revision < @revision`
	onuSQL = `
insert into {schema}.onus as o (onu_id, org_id, org_slug, cpe_id, operation_id, olt, port, serial, vlan, registered,
	asked_at, revision)
values (@onu, @org, @slug, @cpe, @operation, @olt, @port, @serial, @vlan, false, @at, @revision)
on conflict (onu_id) do update set cpe_id = excluded.cpe_id, operation_id = excluded.operation_id, olt = excluded.olt,
	port = excluded.port, vlan = excluded.vlan, asked_at = excluded.asked_at, revision = excluded.revision
where o.revision < excluded.revision`
	onuRegisteredSQL = `
update {schema}.onus set registered = $3, revision = $2 where onu_id = $1 and revision < $2`
)

// applyOnu queues the statements for an event of an ONU.
func applyOnu(w *runner.Writes, e events.Envelope, event events.CpeOnuEvent) error {
	revision := int64(e.Revision) //nolint:gosec // fits
	end := pgx.NamedArgs{"revision": revision, "code": nil, "message": nil}
	switch v := event.(type) {
	case events.CpeOnuAsked:
		return onuAsked(w, e, v)
	case events.CpeOnuStepDone:
		w.Exec(onuStepSQL, pgx.NamedArgs{
			"operation": v.OperationID, "step": v.Step, "at": v.At, "revision": revision,
		})
		if v.Step == events.CpeOnuRegister {
			w.Exec(onuRegisteredSQL, v.OnuID, revision, true)
		}
		return nil
	case events.CpeOnuTakenOut:
		w.Exec(onuRegisteredSQL, v.OnuID, revision, false)
		return nil
	case events.CpeOnuLeaving, events.CpeOnuPeriodClosed: // nothing that is shown
		return nil
	case events.CpeOnuReady:
		end["operation"], end["state"], end["at"] = v.OperationID, "confirmed", v.At
	case events.CpeOnuFailed:
		end["operation"], end["state"], end["at"] = v.OperationID, "failed", v.At
		end["code"], end["message"] = v.Code, v.Message
	case events.CpeOnuExpired:
		end["operation"], end["state"], end["at"] = v.OperationID, "expired", v.At
	}
	w.Exec(endedSQL, end)
	return nil
}

// onuAsked queues the statements for a request.
func onuAsked(w *runner.Writes, e events.Envelope, v events.CpeOnuAsked) error {
	steps := make([]OnuStep, 0, len(v.Steps))
	for _, name := range v.Steps {
		steps = append(steps, OnuStep{Name: name})
	}
	text, err := json.Marshal(steps)
	if err != nil {
		return fmt.Errorf("write steps: %w", err)
	}
	revision := int64(e.Revision) //nolint:gosec // fits
	w.Exec(onuAskedSQL, pgx.NamedArgs{
		"operation": v.OperationID, "cpe": v.CpeID, "org": v.OrgID, "kind": string(events.CpeOnuSetUp),
		"steps": string(text), "at": v.At, "expires": v.ExpiresAt, "actor_kind": string(e.Meta.Actor.Kind),
		"actor_id": e.Meta.Actor.ID, "revision": revision,
	})
	w.Exec(onuSQL, pgx.NamedArgs{
		"onu": v.OnuID, "org": v.OrgID, "slug": v.Place.OrgSlug, "cpe": v.CpeID, "operation": v.OperationID,
		"olt": v.Place.OLT, "port": v.Place.Port, "serial": v.Place.Serial, "vlan": v.Place.VLAN, "at": v.At,
		"revision": revision,
	})
	return nil
}
