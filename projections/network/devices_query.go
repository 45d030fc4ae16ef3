package networkviews

import (
	"context"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Reboot is the newest reboot of a router and its present stage.
type Reboot struct {
	RunID         id.Run    `json:"runId"`
	Stage         string    `json:"stage"`
	Message       string    `json:"message"`       // the router's text when it failed, else ""
	UptimeSeconds int64     `json:"uptimeSeconds"` // read when the reboot was confirmed, else 0
	At            time.Time `json:"at"`
}

// Unchecked says that a router which answers could not be compared with what it should have.
type Unchecked struct {
	Since time.Time `json:"since"`
	Error string    `json:"error"` // of the first check that failed
}

// DeviceRow is one router. Fields that end in Ref refer to secrets in the vault; zero means none.
type DeviceRow struct {
	ID               id.Device               `db:"device_id"`
	OrgID            id.Organization         `db:"org_id"`
	Details          events.DeviceDetails    `db:"details"`
	TunnelAddress    string                  `db:"tunnel_address"`
	TunnelUser       string                  `db:"tunnel_user"`
	APIRef           id.Secret               `db:"api_ref"`
	RadiusRef        id.Secret               `db:"radius_ref"`
	TunnelRef        id.Secret               `db:"tunnel_ref"`
	ReportRef        id.Secret               `db:"report_ref"`
	Transport        *events.DeviceTransport `db:"transport"`
	UnreachableSince *time.Time              `db:"unreachable_since"`
	UnreachableError string                  `db:"unreachable_error"`
	BootstrapVersion int                     `db:"bootstrap_version"`
	BootstrapAt      *time.Time              `db:"bootstrap_at"`
	Rotated          bool                    `db:"rotated"` // the router needs the script for its tunnel's new password
	RadiusGiven      id.Secret               `db:"radius_given"`
	SetupDrift       *Drift                  `db:"setup_drift"`
	DriftUnchecked   *Unchecked              `db:"drift_unchecked"`
	Reboot           *Reboot                 `db:"reboot"`
	UpstreamID       id.Device               `db:"upstream_id"` // zero = it stands behind none
	UpstreamName     string                  `db:"upstream_name"`
	CreatedAt        time.Time               `db:"created_at"`
	Revision         int64                   `db:"revision"`
}

// DeviceKey is a row's place in the list, newest first. The zero value starts at the newest row.
type DeviceKey struct {
	CreatedAt time.Time `json:"c"`
	ID        id.Device `json:"i"`
}

// Key makes the next page begin after this row.
func (r DeviceRow) Key() DeviceKey { return DeviceKey{CreatedAt: r.CreatedAt, ID: r.ID} }

// DevicesQuery serves routers to their organization and to jobs.
type DevicesQuery struct{ Views *runner.Views }

// deviceSelect fits DeviceRow and leaves decommissioned routers out; a condition follows.
const deviceSelect = `select device_id, org_id, details, tunnel_address, tunnel_user, api_ref, radius_ref, tunnel_ref,
	report_ref, transport, unreachable_since, unreachable_error, bootstrap_version, bootstrap_at,
	rotated, radius_given, setup_drift, drift_unchecked, reboot, upstream_id,
	coalesce((select u.details->>'name' from {schema}.devices u where u.device_id = devices.upstream_id), '')
		as upstream_name, created_at,
	revision
	from {schema}.devices where removed_at is null and `

// Get returns one router of an organization, nil when it has none with this id or the router is decommissioned.
func (q DevicesQuery) Get(ctx context.Context, org id.Organization, device id.Device) (*DeviceRow, error) {
	var row *DeviceRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[DeviceRow],
			q.Views.SQL(DevicesName, deviceSelect+`device_id = $1`), device)
	})
	return row, err
}

// List returns up to max routers of an organization after a key, newest first.
func (q DevicesQuery) List(ctx context.Context, org id.Organization, after DeviceKey, max int) ([]DeviceRow, error) {
	var rows []DeviceRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[DeviceRow], q.Views.SQL(DevicesName, deviceSelect+`org_id = $1
			and ($2::timestamptz is null or (created_at, device_id) < ($2, $3))
			order by created_at desc, device_id desc limit $4`),
			org, null.Time(after.CreatedAt), after.ID, max)
	})
	return rows, err
}

// Any returns one router of any organization, nil when there is none: for jobs.
func (q DevicesQuery) Any(ctx context.Context, device id.Device) (*DeviceRow, error) {
	var row *DeviceRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[DeviceRow],
			q.Views.SQL(DevicesName, deviceSelect+`device_id = $1`), device)
	})
	return row, err
}

// OfTunnel returns the router with an address in the tunnel, nil when it is no router's.
func (q DevicesQuery) OfTunnel(ctx context.Context, address netip.Addr) (*DeviceRow, error) {
	var row *DeviceRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[DeviceRow],
			q.Views.SQL(DevicesName, deviceSelect+`tunnel_address = $1 limit 1`), address.String())
	})
	return row, err
}

// Every returns all routers of all organizations, for polls and drift checks. The order is the same in each call.
func (q DevicesQuery) Every(ctx context.Context) ([]DeviceRow, error) {
	var rows []DeviceRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[DeviceRow],
			q.Views.SQL(DevicesName, deviceSelect+`true order by device_id`))
	})
	return rows, err
}

// deviceNamesSQL names routers, also decommissioned ones.
const deviceNamesSQL = `select device_id, coalesce(details->>'name', '') as name from {schema}.devices
	where device_id = any($1)`

// Names gives the names of some routers of an organization, also of decommissioned ones. One that is not known is left
// out.
func (q DevicesQuery) Names(
	ctx context.Context, org id.Organization, devices []id.Device,
) (map[id.Device]string, error) {
	var names map[id.Device]string
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &names, q.Views.SQL(DevicesName, deviceNamesSQL+` and org_id = $2`), devices, org)
	})
	return names, err
}

// AnyNames gives the names of some routers of whichever organizations: for the operator of the platform.
func (q DevicesQuery) AnyNames(ctx context.Context, devices []id.Device) (map[id.Device]string, error) {
	var names map[id.Device]string
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectMap(r, &names, q.Views.SQL(DevicesName, deviceNamesSQL), devices)
	})
	return names, err
}

// Count counts the routers of an organization, without decommissioned ones.
func (q DevicesQuery) Count(ctx context.Context, org id.Organization) (int, error) {
	var n int
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(DevicesName, `select count(*)::int from {schema}.devices
			where removed_at is null and org_id = $1`), org)
	})
	return n, err
}

// CountAt counts the routers of an organization that have a WAN address, without decommissioned ones.
func (q DevicesQuery) CountAt(ctx context.Context, org id.Organization, address string) (int, error) {
	var n int
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(DevicesName, `select count(*)::int from {schema}.devices
			where removed_at is null and org_id = $1 and details->>'ipAddress' = $2`), org, address)
	})
	return n, err
}

// SetupDrifted counts the routers of all organizations whose setup differs from the desired one.
func (q DevicesQuery) SetupDrifted(ctx context.Context) (int, error) {
	var n int
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(DevicesName, `select count(*)::int from {schema}.devices
			where removed_at is null and setup_drift is not null`))
	})
	return n, err
}

// Unchecked counts the routers of all organizations that answer and could not be compared.
func (q DevicesQuery) Unchecked(ctx context.Context) (int, error) {
	var n int
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(DevicesName, `select count(*)::int from {schema}.devices
			where removed_at is null and drift_unchecked is not null`))
	})
	return n, err
}

// DeviceHealth tells the condition of one router without asking it.
type DeviceHealth struct {
	ID          id.Device  `db:"device_id"`
	Name        string     `db:"name"`
	Credentials bool       `db:"credentials"` // it can be polled
	Since       *time.Time `db:"unreachable_since"`
	Error       string     `db:"unreachable_error"`
	SetupAt     *time.Time `db:"setup_at"` // since when its setup differs; nil = it does not
	Created     time.Time  `db:"created_at"`
}

// healthSQL has the condition of the routers of an organization.
const healthSQL = `
	select device_id, coalesce(details->>'name', '') as name, api_ref is not null as credentials,
		unreachable_since, unreachable_error, (setup_drift->>'firstSeenAt')::timestamptz as setup_at, created_at
	from {schema}.devices where org_id = $1 and removed_at is null`

// Health lists the condition of all routers of an organization, oldest first.
func (q DevicesQuery) Health(ctx context.Context, org id.Organization) ([]DeviceHealth, error) {
	return q.health(ctx, org, healthSQL+` order by created_at, device_id`)
}

// Unreachable lists those routers whose breaker has opened, as Health does.
func (q DevicesQuery) Unreachable(ctx context.Context, org id.Organization) ([]DeviceHealth, error) {
	return q.health(ctx, org, healthSQL+` and unreachable_since is not null order by created_at, device_id`)
}

// health reads conditions.
func (q DevicesQuery) health(ctx context.Context, org id.Organization, sql string) ([]DeviceHealth, error) {
	var rows []DeviceHealth
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[DeviceHealth], q.Views.SQL(DevicesName, sql), org)
	})
	return rows, err
}
