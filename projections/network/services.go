package networkviews

import (
	_ "embed"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ServicesName keys the projection's checkpoint and schemas, so it never changes.
const ServicesName = "network_services"

// Services lists the services on routers with their desired state, their newest error and the present drift.
type Services struct{}

// servicesDDL is compiled in from services.sql.
//
//go:embed services.sql
var servicesDDL string

// Name keys checkpoint and schemas.
func (Services) Name() string { return ServicesName }

// Version must grow with every change to the tables or to Apply.
func (Services) Version() int { return 4 }

// DDL creates the tables of services.sql.
func (Services) DDL() string { return servicesDDL }

// TenantTables are under row-level security.
func (Services) TenantTables() []string { return []string{"services"} }

// Handles lists the events that change the tables.
func (Services) Handles() []string {
	return []string{
		events.ServiceRequested{}.EventType(), events.ServiceAddressingChanged{}.EventType(),
		events.ServiceWalledGardenChanged{}.EventType(), events.ServiceRecreationConfirmed{}.EventType(),
		events.ServiceTornDown{}.EventType(), events.ServiceReconcileRequested{}.EventType(),
		events.ServiceApplied{}.EventType(), events.ServiceApplyFailed{}.EventType(),
		events.ServiceDriftDetected{}.EventType(), events.ServiceDriftCleared{}.EventType(),
		events.ServiceRemovalRequested{}.EventType(), events.ServiceRemoved{}.EventType(),
		events.ServicePeriodClosed{}.EventType(), events.ServiceSubnetLeft{}.EventType(),
		events.ServiceSubnetsKept{}.EventType(), events.ServiceSubnetsRetired{}.EventType(),
	}
}

// States of a service; "degraded" means drift was found. Source: docs/rules/network.md#service-states.
const (
	StatePending  = "pending"
	StateActive   = "active"
	StateFailed   = "failed"
	StateDegraded = "degraded"
)

// requestServiceSQL inserts a service with its first desired state, still to be applied.
const requestServiceSQL = `
insert into {schema}.services
	(service_id, org_id, device_id, binding, addressing, walled_garden, state, open, generation, created_at, revision,
	position)
values
	(@service, @org, @device, @binding, @addressing, @walled_garden, 'pending', 'apply', @generation, @at, @revision,
	@position)
on conflict (service_id) do nothing`

// Apply queues the statements for one event; the same event again changes nothing.
func (Services) Apply(w *runner.Writes, e events.Envelope) error {
	s := serviceWrites{rowWrites{w, e, "services", "service_id"}}
	switch v := e.Event.(type) {
	case events.ServiceRequested:
		w.Exec(requestServiceSQL, pgx.NamedArgs{
			"service": v.ServiceID, "org": v.OrgID, "device": v.DeviceID, "binding": asJSON(v.Binding),
			"addressing": asJSON(v.Addressing), "walled_garden": asJSON(v.WalledGarden), "generation": v.Generation,
			"at": v.At, "revision": int64(e.Revision), "position": int64(e.Position), //nolint:gosec // both fit
		})
	case events.ServiceAddressingChanged:
		s.set(v.ServiceID, `addressing = @addressing::jsonb, generation = @generation::int, former = (
				select coalesce(jsonb_agg(f), '[]') from jsonb_array_elements(former) f
				where f->>'subnet' <> @subnet::text
			), `+openApply,
			pgx.NamedArgs{
				"addressing": asJSON(v.Addressing), "generation": v.Generation, "subnet": v.Addressing.Subnet,
			})
	case events.ServiceSubnetLeft:
		s.set(v.ServiceID, `former = (
				select coalesce(jsonb_agg(f), '[]') from jsonb_array_elements(former) f where f <> @former::jsonb
			) || @former::jsonb`, pgx.NamedArgs{"former": asJSON(v.Former)})
	case events.ServiceSubnetsKept:
		s.set(v.ServiceID, `former = (
				select coalesce(jsonb_agg(f || @until::jsonb), '[]') from jsonb_array_elements(former) f
			)`, pgx.NamedArgs{"until": asJSON(map[string]time.Time{"until": v.Until})})
	case events.ServiceSubnetsRetired:
		s.set(v.ServiceID, `former = '[]'`, nil)
	case events.ServiceWalledGardenChanged:
		s.set(v.ServiceID, `walled_garden = @walled_garden::jsonb, generation = @generation::int, `+openApply,
			pgx.NamedArgs{"walled_garden": asJSON(v.WalledGarden), "generation": v.Generation})
	case events.ServiceRecreationConfirmed:
		s.recreate(v)
	case events.ServiceTornDown:
		s.set(v.ServiceID, `open = 'apply', applied_at = null`, nil) // the router has nothing of it
	case events.ServiceReconcileRequested:
		s.set(v.ServiceID, `open = @phase::text`, pgx.NamedArgs{"phase": v.Phase})
	case events.ServiceApplied:
		s.set(v.ServiceID, `state = 'active', open = '', applied_generation = @generation::int,
			applied_at = @at::timestamptz, last_error = null, drift = null, outcome_position = @position`,
			pgx.NamedArgs{"generation": v.Generation, "at": v.At})
	case events.ServiceApplyFailed:
		s.failed(v)
	case events.ServiceDriftDetected:
		s.set(v.ServiceID, `state = 'degraded', drift = @drift::jsonb`, pgx.NamedArgs{
			"drift": asJSON(Drift{Hash: v.Hash, FirstSeenAt: v.FirstSeenAt, Resources: v.Resources}),
		})
	case events.ServiceDriftCleared:
		s.set(v.ServiceID, `drift = null`, nil) // the state stays degraded until a reconcile
	case events.ServiceRemovalRequested:
		s.set(v.ServiceID, `open = 'removal', generation = @generation::int`,
			pgx.NamedArgs{"generation": v.Generation})
	case events.ServiceRemoved:
		s.set(v.ServiceID, `removed_at = @at::timestamptz, open = '', drift = null, outcome_position = @position`,
			pgx.NamedArgs{"at": v.At})
	case events.ServicePeriodClosed:
		s.touch(v.ServiceID)
	}
	return nil
}

// serviceWrites queues the changes of one event to a service's row.
type serviceWrites struct{ rowWrites }

// set is rowWrites.set for a service.
func (s serviceWrites) set(service id.Service, columns string, values pgx.NamedArgs) {
	s.rowWrites.set(id.Any(service), columns, values)
}

// touch stores revision and position only, so that If-Match works after the end of a stream's period.
func (s serviceWrites) touch(service id.Service) { s.set(service, `generation = generation`, nil) }

// openApply opens the work "apply" for a new desired state, unless other work is open, which must end first.
const openApply = `open = case when open = '' then 'apply' else open end`

// recreate stores the desired state of a service that is torn down first and then built again.
func (s serviceWrites) recreate(v events.ServiceRecreationConfirmed) {
	s.set(v.ServiceID, `binding = @binding::jsonb, addressing = @addressing::jsonb,
		walled_garden = @walled_garden::jsonb, generation = @generation::int, state = 'pending', drift = null,
		open = 'teardown', former = '[]'`, pgx.NamedArgs{
		"binding": asJSON(v.To), "addressing": asJSON(v.Addressing), "walled_garden": asJSON(v.WalledGarden),
		"generation": v.Generation,
	})
}

// failed stores the router's error. A refusal makes the service failed until a person acts; other errors are retried.
func (s serviceWrites) failed(v events.ServiceApplyFailed) {
	s.set(v.ServiceID, `last_error = @error::jsonb, state = case when @refused::bool then 'failed' else state end,
		outcome_position = @position`, pgx.NamedArgs{
		"error": asJSON(ServiceError{
			At: v.At, Phase: v.Phase, Path: v.Path, Operation: v.Operation, Message: v.Message, Refused: v.Refused,
		}),
		"refused": v.Refused,
	})
}
