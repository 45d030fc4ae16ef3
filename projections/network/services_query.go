package networkviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ServiceError is the newest error of work on a service; Message is the router's text.
type ServiceError struct {
	At        time.Time `json:"at"`
	Phase     string    `json:"phase"`
	Path      string    `json:"path"`
	Operation string    `json:"operation"`
	Message   string    `json:"message"`
	Refused   bool      `json:"refused"`
}

// Drift is the present difference between the applied state of a service and its router.
type Drift struct {
	Hash        string                   `json:"hash"`
	FirstSeenAt time.Time                `json:"firstSeenAt"`
	Resources   []events.DriftedResource `json:"resources"`
}

// ServiceRow is one service on a router, in its desired state.
type ServiceRow struct {
	ID                id.Service               `db:"service_id"`
	OrgID             id.Organization          `db:"org_id"`
	DeviceID          id.Device                `db:"device_id"`
	Binding           events.ServiceBinding    `db:"binding"`
	Addressing        events.ServiceAddressing `db:"addressing"`
	WalledGarden      events.WalledGarden      `db:"walled_garden"`
	State             string                   `db:"state"`
	Open              string                   `db:"open"` // requested work that is not done; "" = none
	OutcomePosition   int64                    `db:"outcome_position"`
	Generation        int                      `db:"generation"`
	AppliedGeneration int                      `db:"applied_generation"`
	LastError         *ServiceError            `db:"last_error"`
	Former            []events.FormerSubnet    `db:"former"` // subnets that devices may still use; oldest first
	Drift             *Drift                   `db:"drift"`
	AppliedAt         *time.Time               `db:"applied_at"`
	CreatedAt         time.Time                `db:"created_at"`
	RemovedAt         *time.Time               `db:"removed_at"`
	// Shared says that its subnet overlaps the one of an older management service of another organization. Only reads
	// without an organization know it.
	Shared   bool  `db:"shared"`
	Revision int64 `db:"revision"`
	Position int64 `db:"position"`
}

// ServiceKey is a row's place in the list, newest first. The zero value starts at the newest row.
type ServiceKey struct {
	CreatedAt time.Time  `json:"c"`
	ID        id.Service `json:"i"`
}

// Key makes the next page begin after this row.
func (r ServiceRow) Key() ServiceKey { return ServiceKey{CreatedAt: r.CreatedAt, ID: r.ID} }

// ServicesQuery serves services to their organization and to jobs.
type ServicesQuery struct{ Views *runner.Views }

// serviceSelect fits ServiceRow and includes removed services; a condition follows. Reads of an organization see no
// other one's services, so that only those of the platform say what is shared.
const (
	serviceColumns = `select service_id, org_id, device_id, binding, addressing, walled_garden, state, open,
	outcome_position, generation, applied_generation, last_error, former, drift, applied_at, created_at, removed_at,
	revision, position, `
	serviceSelect  = serviceColumns + `false as shared from {schema}.services where `
	platformSelect = serviceColumns + `binding->>'type' = 'cpe-management' and exists (
		select 1 from {schema}.services o where o.org_id <> s.org_id and o.removed_at is null
		and o.binding->>'type' = 'cpe-management' and (o.created_at, o.service_id) < (s.created_at, s.service_id)
		and nullif(o.addressing->>'subnet', '')::cidr && nullif(s.addressing->>'subnet', '')::cidr
	) as shared from {schema}.services s where `
)

// Get returns one service of an organization, also a removed one; nil when it has none with this id.
func (q ServicesQuery) Get(ctx context.Context, org id.Organization, service id.Service) (*ServiceRow, error) {
	var row *ServiceRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[ServiceRow],
			q.Views.SQL(ServicesName, serviceSelect+`service_id = $1`), service)
	})
	return row, err
}

// ServiceFilter limits a list. Zero fields limit nothing.
type ServiceFilter struct {
	Device id.Device
	State  string
	Drift  *bool // whether the last check found a difference
}

// List returns up to max services after a key, newest first.
func (q ServicesQuery) List(
	ctx context.Context, org id.Organization, f ServiceFilter, after ServiceKey, max int,
) ([]ServiceRow, error) {
	var rows []ServiceRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ServiceRow],
			q.Views.SQL(ServicesName, serviceSelect+`org_id = @org and removed_at is null
			and (@device::uuid is null or device_id = @device) and (@state = '' or state = @state)
			and (@drift::boolean is null or (drift is not null) = @drift)
			and (@created::timestamptz is null or (created_at, service_id) < (@created, @id))
			order by created_at desc, service_id desc limit @max`), pgx.NamedArgs{
				"org": org, "device": f.Device, "state": f.State, "drift": f.Drift,
				"created": null.Time(after.CreatedAt), "id": after.ID, "max": max,
			})
	})
	return rows, err
}

// ServiceCounts counts the services on a router by state. Drifted are those whose last check found a difference, in
// any state.
type ServiceCounts struct{ Total, Active, Pending, Failed, Degraded, Drifted int }

// Counts counts the services on some routers of an organization, on all for nil. A router without any has no entry.
func (q ServicesQuery) Counts(
	ctx context.Context, org id.Organization, devices []id.Device,
) (map[id.Device]ServiceCounts, error) {
	type counted struct {
		DeviceID id.Device
		ServiceCounts
	}
	var rows []counted
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[counted], q.Views.SQL(ServicesName, `
			select device_id, count(*)::int as total, count(*) filter (where state = 'active')::int as active,
				count(*) filter (where state = 'pending')::int as pending,
				count(*) filter (where state = 'failed')::int as failed,
				count(*) filter (where state = 'degraded')::int as degraded,
				count(*) filter (where drift is not null)::int as drifted
			from {schema}.services
			where org_id = $1 and removed_at is null and ($2::uuid[] is null or device_id = any($2))
			group by device_id`), org, devices)
	})
	out := make(map[id.Device]ServiceCounts, len(rows))
	for _, row := range rows {
		out[row.DeviceID] = row.ServiceCounts
	}
	return out, err
}

// Management returns the management services of all organizations that are not removed, oldest first: for the ways
// through the tunnel.
func (q ServicesQuery) Management(ctx context.Context) ([]ServiceRow, error) {
	var rows []ServiceRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ServiceRow],
			q.Views.SQL(ServicesName, serviceSelect+`binding->>'type' = 'cpe-management' and removed_at is null
			order by created_at, service_id`))
	})
	return rows, err
}

// ManagementOrganizations lists the organizations that have management services: for the upgrade of older plans.
func (q ServicesQuery) ManagementOrganizations(ctx context.Context) ([]id.Organization, error) {
	var list []id.Organization
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowTo[id.Organization],
			q.Views.SQL(ServicesName, `select distinct org_id from {schema}.services
			where binding->>'type' = 'cpe-management' and removed_at is null order by org_id`))
	})
	return list, err
}

// OfDevice returns the services of a router that are not removed, oldest first: for jobs.
func (q ServicesQuery) OfDevice(ctx context.Context, device id.Device) ([]ServiceRow, error) {
	var rows []ServiceRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ServiceRow],
			q.Views.SQL(ServicesName, platformSelect+`device_id = $1 and removed_at is null
			order by created_at, service_id`), device)
	})
	return rows, err
}

// Former returns the services that an organization had on its routers and has no more: for jobs, which recognise what
// is left of them by name.
func (q ServicesQuery) Former(ctx context.Context, org id.Organization) ([]id.Service, error) {
	var former []id.Service
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &former, pgx.RowTo[id.Service],
			q.Views.SQL(ServicesName, `select service_id from {schema}.services where org_id = $1
			and removed_at is not null order by service_id`), org)
	})
	return former, err
}

// ManagementSubnets returns the subnets of the management services of all other organizations: they share one plan.
func (q ServicesQuery) ManagementSubnets(ctx context.Context, org id.Organization) ([]string, error) {
	var subnets []string
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &subnets, pgx.RowTo[string],
			q.Views.SQL(ServicesName, `select addressing->>'subnet' from {schema}.services where org_id <> $1
			and removed_at is null and binding->>'type' = 'cpe-management' order by service_id`), org)
	})
	return subnets, err
}

// Any returns one service of any organization, also a removed one; nil when there is none. For jobs.
func (q ServicesQuery) Any(ctx context.Context, service id.Service) (*ServiceRow, error) {
	var row *ServiceRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[ServiceRow],
			q.Views.SQL(ServicesName, platformSelect+`service_id = $1`), service)
	})
	return row, err
}

// DriftedRouters counts the routers of all organizations with a service that differs from what was applied.
func (q ServicesQuery) DriftedRouters(ctx context.Context) (int, error) {
	var n int
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(ServicesName, `select count(distinct device_id)::int
			from {schema}.services where removed_at is null and drift is not null`))
	})
	return n, err
}

// UnwellService is a service that failed, is degraded, or differs from what was applied.
type UnwellService struct {
	ID       id.Service    `db:"service_id"`
	DeviceID id.Device     `db:"device_id"`
	Type     string        `db:"type"`
	Parent   string        `db:"parent"` // the interface that it is on
	State    string        `db:"state"`
	Error    *ServiceError `db:"last_error"` // nil = no error since the last success
	DriftAt  *time.Time    `db:"drift_at"`   // since when it differs; nil = it does not
	Applied  *time.Time    `db:"applied_at"`
	Created  time.Time     `db:"created_at"`
}

// Unwell lists the services of an organization that need somebody, oldest first. An organization has some thousands
// of services at most.
func (q ServicesQuery) Unwell(ctx context.Context, org id.Organization) ([]UnwellService, error) {
	var rows []UnwellService
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[UnwellService], q.Views.SQL(ServicesName, `
			select service_id, device_id, coalesce(binding->>'type', '') as type,
				coalesce(binding->>'parentInterface', '') as parent, state, last_error,
				(drift->>'firstSeenAt')::timestamptz as drift_at, applied_at, created_at
			from {schema}.services where org_id = $1 and removed_at is null
				and (state in ('failed', 'degraded') or drift is not null)
			order by created_at, service_id`), org)
	})
	return rows, err
}

// ServicePlace says where a service is.
type ServicePlace struct {
	ID       id.Service `db:"service_id"`
	DeviceID id.Device  `db:"device_id"`
	Type     string     `db:"type"`
	Parent   string     `db:"parent"` // the interface that it is on
}

// Places says where some services of an organization are, or were. One that is not known there is left out.
func (q ServicesQuery) Places(
	ctx context.Context, org id.Organization, of []id.Service,
) (map[id.Service]ServicePlace, error) {
	var rows []ServicePlace
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ServicePlace], q.Views.SQL(ServicesName, `
			select service_id, device_id, coalesce(binding->>'type', '') as type,
				coalesce(binding->>'parentInterface', '') as parent
			from {schema}.services where org_id = $1 and service_id = any($2)`), org, of)
	})
	out := make(map[id.Service]ServicePlace, len(rows))
	for _, row := range rows {
		out[row.ID] = row
	}
	return out, err
}
