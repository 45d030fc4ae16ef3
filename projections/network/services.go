package networkviews

import (
	_ "embed"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ServicesName is the projection's durable name.
const ServicesName = "network_services"

// Services lists the services on routers: what is desired, in which state it is, the newest error and the present
// drift.
type Services struct{}

//go:embed services.sql
var servicesDDL string

// Name is the durable name.
func (Services) Name() string { return ServicesName }

// Version is raised when tables or Apply change.
func (Services) Version() int { return 2 }

// DDL creates the tables.
func (Services) DDL() string { return servicesDDL }

// TenantTables are under row-level security.
func (Services) TenantTables() []string { return []string{"services"} }

// Handles lists the events.
func (Services) Handles() []string {
	return []string{
		events.ServiceRequested{}.EventType(), events.ServiceAddressingChanged{}.EventType(),
		events.ServiceWalledGardenChanged{}.EventType(), events.ServiceRecreationConfirmed{}.EventType(),
		events.ServiceTornDown{}.EventType(), events.ServiceReconcileRequested{}.EventType(),
		events.ServiceApplied{}.EventType(), events.ServiceApplyFailed{}.EventType(),
		events.ServiceDriftDetected{}.EventType(), events.ServiceDriftCleared{}.EventType(),
		events.ServiceRemovalRequested{}.EventType(), events.ServiceRemoved{}.EventType(),
		events.ServicePeriodClosed{}.EventType(),
	}
}

// States of a service. Source: spec.md, Network service.
const (
	StatePending  = "pending"
	StateActive   = "active"
	StateFailed   = "failed"
	StateDegraded = "degraded"
)

// requestServiceSQL makes a row.
const requestServiceSQL = `insert into {schema}.services (service_id, org_id, device_id, binding, addressing, walled_garden, state, open,
	generation, created_at, revision, position) values ($1, $2, $3, $4, $5, $6, 'pending', 'apply', $7, $8, $9, $10) on conflict (service_id) do nothing`

// Apply queues the statements for one event.
func (Services) Apply(w *runner.Writes, e events.Envelope) error {
	s := serviceWrites{w, e}
	switch v := e.Event.(type) {
	case events.ServiceRequested:
		w.Exec(requestServiceSQL, v.ServiceID, v.OrgID, v.DeviceID, asJSON(v.Binding), asJSON(v.Addressing),
			asJSON(v.WalledGarden), v.Generation,
			v.At, int64(e.Revision), int64(e.Position)) //nolint:gosec // both fit
	case events.ServiceAddressingChanged:
		s.set(v.ServiceID, `addressing = $4::jsonb, generation = $5::int, `+openApply, asJSON(v.Addressing),
			v.Generation)
	case events.ServiceWalledGardenChanged:
		s.set(v.ServiceID, `walled_garden = $4::jsonb, generation = $5::int, `+openApply, asJSON(v.WalledGarden),
			v.Generation)
	case events.ServiceRecreationConfirmed:
		s.set(v.ServiceID,
			`binding = $4::jsonb, addressing = $5::jsonb, walled_garden = $6::jsonb, generation = $7::int, state = 'pending',
			drift = null, open = 'teardown'`,
			asJSON(v.To), asJSON(v.Addressing), asJSON(v.WalledGarden), v.Generation)
	case events.ServiceTornDown:
		s.set(v.ServiceID, `open = 'apply'`)
	case events.ServiceReconcileRequested:
		s.set(v.ServiceID, `open = $4::text`, v.Phase)
	case events.ServiceApplied:
		s.set(v.ServiceID,
			`state = 'active', open = '', applied_generation = $4::int, applied_at = $5::timestamptz, last_error = null,
			drift = null, outcome_position = $3`, v.Generation, v.At)
	case events.ServiceApplyFailed:
		s.failed(v)
	case events.ServiceDriftDetected:
		s.set(v.ServiceID, `state = 'degraded', drift = $4::jsonb`,
			asJSON(Drift{Hash: v.Hash, FirstSeenAt: v.FirstSeenAt, Resources: v.Resources}))
	case events.ServiceDriftCleared:
		s.set(v.ServiceID, `drift = null`) // degraded until a reconcile
	case events.ServiceRemovalRequested:
		s.set(v.ServiceID, `open = 'removal', generation = $4::int`, v.Generation)
	case events.ServiceRemoved:
		s.set(v.ServiceID, `removed_at = $4::timestamptz, open = '', drift = null, outcome_position = $3`, v.At)
	case events.ServicePeriodClosed:
		s.touch(v.ServiceID)
	}
	return nil
}

// serviceWrites changes the row of one event.
type serviceWrites struct {
	w *runner.Writes
	e events.Envelope
}

// set changes columns; arguments begin at $4. An event that was applied before changes nothing.
func (s serviceWrites) set(service id.Service, columns string, args ...any) {
	s.w.Exec(`update {schema}.services set `+columns+
		`, revision = $2, position = $3 where service_id = $1 and position < $3`,
		append([]any{service, int64(s.e.Revision), int64(s.e.Position)}, args...)...) //nolint:gosec // both fit
}

// touch notes the revision alone.
func (s serviceWrites) touch(service id.Service) { s.set(service, `generation = generation`) }

// openApply is the work that a new desired state opens; a tear-down that has not ended comes first.
const openApply = `open = case when open = '' then 'apply' else open end`

// failed keeps the router's error. A refusal waits for somebody; the rest is tried again.
func (s serviceWrites) failed(v events.ServiceApplyFailed) {
	s.set(v.ServiceID,
		`last_error = $4::jsonb, state = case when $5::bool then 'failed' else state end, outcome_position = $3`,
		asJSON(ServiceError{At: v.At, Phase: v.Phase, Path: v.Path, Operation: v.Operation, Message: v.Message,
			Refused: v.Refused}), v.Refused)
}
