// Package webhooksviews has the read model of webhook endpoints, and describes deliveries as they are shown.
package webhooksviews

import (
	_ "embed"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// EndpointsName keys the projection's checkpoint and schemas, so it never changes.
const EndpointsName = "webhooks_endpoints"

// Endpoints has a row for each endpoint, and which types it gets from which position of the log to which.
type Endpoints struct{}

// endpointsDDL is compiled in from endpoints.sql.
//
//go:embed endpoints.sql
var endpointsDDL string

// Name keys checkpoint and schemas.
func (Endpoints) Name() string { return EndpointsName }

// Version must grow with every change to the tables or to Apply.
func (Endpoints) Version() int { return 1 }

// DDL creates the tables of endpoints.sql.
func (Endpoints) DDL() string { return endpointsDDL }

// TenantTables are under row-level security.
func (Endpoints) TenantTables() []string { return []string{"endpoints", "terms"} }

// Handles lists the events that change the tables.
func (Endpoints) Handles() []string {
	return []string{
		events.WebhookRegistered{}.EventType(), events.WebhookAmended{}.EventType(),
		events.WebhookSecretRotated{}.EventType(), events.WebhookEnabled{}.EventType(),
		events.WebhookDisabled{}.EventType(), events.WebhookPinged{}.EventType(),
		events.WebhookRedeliveryAsked{}.EventType(), events.WebhookRemoved{}.EventType(),
		events.WebhookPeriodClosed{}.EventType(),
	}
}

// Statements of Apply. An event that is applied again finds its position in the row and changes nothing.
const (
	registeredSQL = `
insert into {schema}.endpoints
	(webhook_id, org_id, url, types, description, state, enabled_at, enabled_position, state_at, secret_ref, created_at,
	revision, position)
values
	(@webhook, @org, @url, @types, @description, 'enabled', @at, @position, @at, @secret, @at, @revision, @position)
on conflict do nothing`
	beginTermSQL = `
insert into {schema}.terms (webhook_id, after, org_id, types)
select webhook_id, position, org_id, types from {schema}.endpoints
where webhook_id = @webhook and position = @position and state = 'enabled'
on conflict do nothing`
	endTermSQL = `
update {schema}.terms set until = @position where webhook_id = @webhook and until is null and after < @position`
	changeSQL = `revision = @revision, position = @position where webhook_id = @webhook and position < @position`
)

// Apply queues the statements for one event.
func (Endpoints) Apply(w *runner.Writes, e events.Envelope) error {
	//nolint:gosec // revisions and positions fit
	args := pgx.NamedArgs{"revision": int64(e.Revision), "position": int64(e.Position)}
	switch v := e.Event.(type) {
	case events.WebhookRegistered:
		args["webhook"], args["org"], args["url"], args["types"] = v.WebhookID, v.OrgID, v.URL, slices.Clone(v.Types)
		args["description"], args["secret"], args["at"] = v.Description, v.SecretRef, v.At
		w.Exec(registeredSQL, args)
		beginTerm(w, v.WebhookID, args)
	case events.WebhookAmended:
		args["url"], args["types"], args["description"] = v.URL, slices.Clone(v.Types), v.Description
		change(w, v.WebhookID, args, `url = @url, types = @types, description = @description`)
		endTerm(w, v.WebhookID, args)
		beginTerm(w, v.WebhookID, args)
	case events.WebhookSecretRotated:
		args["secret"], args["former"], args["until"] = v.SecretRef, id.Secret{}, (any)(nil)
		if v.FormerUntil.After(v.At) {
			args["former"], args["until"] = v.FormerRef, v.FormerUntil
		}
		change(w, v.WebhookID, args, `secret_ref = @secret, former_ref = @former, former_until = @until`)
	case events.WebhookEnabled:
		args["at"] = v.At
		change(w, v.WebhookID, args, `state = 'enabled', enabled_at = @at, enabled_position = @position,
			disabled_reason = '', failing_since = null, failed = 0, state_at = @at`)
		beginTerm(w, v.WebhookID, args)
	default:
		applyEnd(w, e.Event, args)
	}
	return nil
}

// applyEnd queues the statements for events after which an endpoint gets less than before, or the same.
func applyEnd(w *runner.Writes, e events.Event, args pgx.NamedArgs) {
	switch v := e.(type) {
	case events.WebhookDisabled:
		args["reason"], args["failed"], args["at"], args["since"] = v.Reason, v.Failed, v.At, (any)(nil)
		if !v.Since.IsZero() {
			args["since"] = v.Since
		}
		change(w, v.WebhookID, args, `state = 'disabled', enabled_at = null, disabled_reason = @reason,
			failing_since = @since, failed = @failed, state_at = @at`)
		endTerm(w, v.WebhookID, args)
	case events.WebhookRemoved:
		args["at"] = v.At
		change(w, v.WebhookID, args, `state = 'removed', enabled_at = null, former_ref = null, former_until = null,
			state_at = @at`)
		endTerm(w, v.WebhookID, args)
	case events.WebhookPinged:
		change(w, v.WebhookID, args, `state = state`)
	case events.WebhookRedeliveryAsked:
		change(w, v.WebhookID, args, `state = state`)
	case events.WebhookPeriodClosed:
		change(w, v.WebhookID, args, `state = state`)
	}
}

// change queues a change of an endpoint's row.
func change(w *runner.Writes, which id.Webhook, args pgx.NamedArgs, set string) {
	args["webhook"] = which
	w.Exec(`update {schema}.endpoints set `+set+`, `+changeSQL, args)
}

// beginTerm has the types of an enabled endpoint hold from an event on.
func beginTerm(w *runner.Writes, which id.Webhook, args pgx.NamedArgs) {
	w.Exec(beginTermSQL, pgx.NamedArgs{"webhook": which, "position": args["position"]})
}

// endTerm has the present types of an endpoint hold up to an event.
func endTerm(w *runner.Writes, which id.Webhook, args pgx.NamedArgs) {
	w.Exec(endTermSQL, pgx.NamedArgs{"webhook": which, "position": args["position"]})
}
