// Package networkviews has the read models of routers, of the services on them, and of the history of both.
package networkviews

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// DevicesName keys the projection's checkpoint and schemas, so it never changes.
const DevicesName = "network_devices"

// Devices lists the routers of an organization. It has no secrets, only references to secrets in the vault.
type Devices struct{}

// devicesDDL is compiled in from devices.sql.
//
//go:embed devices.sql
var devicesDDL string

// Name keys checkpoint and schemas.
func (Devices) Name() string { return DevicesName }

// Version must grow with every change to the tables or to Apply.
func (Devices) Version() int { return 7 }

// DDL creates the tables of devices.sql.
func (Devices) DDL() string { return devicesDDL }

// TenantTables are under row-level security.
func (Devices) TenantTables() []string { return []string{"devices"} }

// Handles lists the events that change the tables.
func (Devices) Handles() []string {
	return []string{
		events.DeviceRegistered{}.EventType(), events.DeviceDetailsCorrected{}.EventType(),
		events.DeviceCredentialsReplaced{}.EventType(), events.DeviceTransportLearned{}.EventType(),
		events.DeviceUnreachable{}.EventType(), events.DeviceRecovered{}.EventType(),
		events.DeviceBootstrapReported{}.EventType(), events.DeviceBootstrapShown{}.EventType(),
		events.DeviceCustomersRead{}.EventType(), events.DeviceRebootRequested{}.EventType(),
		events.DeviceRebootStarted{}.EventType(), events.DeviceRebootAccepted{}.EventType(),
		events.DeviceRebootConfirmed{}.EventType(), events.DeviceRebootFailed{}.EventType(),
		events.DeviceSetupApplied{}.EventType(), events.DeviceSetupDrifted{}.EventType(),
		events.DeviceSetupCleared{}.EventType(), events.DeviceDriftUnchecked{}.EventType(),
		events.DeviceDriftChecked{}.EventType(), events.DeviceDecommissioned{}.EventType(),
		events.DevicePeriodClosed{}.EventType(), events.UpstreamChosen{}.EventType(),
	}
}

// Stages of a reboot, in order; it ends confirmed or failed.
const (
	RebootRequested = "requested"
	RebootStarted   = "started"  // the command is being sent
	RebootAccepted  = "accepted" // the router accepted the command and will come back
	RebootConfirmed = "confirmed"
	RebootFailed    = "failed"
)

// credentialColumns names the column of each kind of credentials; the column holds a reference into the vault.
var credentialColumns = map[events.CredentialKind]string{
	events.CredentialAPI: "api_ref", events.CredentialRadius: "radius_ref", events.CredentialTunnel: "tunnel_ref",
	events.CredentialReport: "report_ref",
}

// registerDeviceSQL inserts a new router.
const registerDeviceSQL = `
insert into {schema}.devices
	(device_id, org_id, details, tunnel_address, tunnel_user, api_ref, radius_ref, tunnel_ref, report_ref, created_at,
	revision, position)
values
	(@device, @org, @details, @tunnel_address, @tunnel_user, @api, @radius, @tunnel, @report, @at,
	@revision, @position)
on conflict (device_id) do nothing`

// upstreamSQL is of another stream than the row, whose revision and position it leaves alone: the same event, applied
// again, sets the same.
const upstreamSQL = `update {schema}.devices set upstream_id = @upstream::uuid where device_id = @device`

// Apply queues the statements for one event. A new address or port clears the learned transport.
func (Devices) Apply(w *runner.Writes, e events.Envelope) error {
	d := deviceWrites{rowWrites{w, e, "devices", "device_id"}}
	switch v := e.Event.(type) {
	case events.DeviceRegistered:
		w.Exec(registerDeviceSQL, pgx.NamedArgs{
			"device": v.DeviceID, "org": v.OrgID, "details": asJSON(v.Details), "tunnel_address": v.TunnelAddress,
			"tunnel_user": v.TunnelUser, "api": v.APIRef, "radius": v.RadiusRef, "tunnel": v.TunnelRef,
			"report": v.ReportRef, "at": v.At, "revision": int64(e.Revision), //nolint:gosec // fits
			"position": int64(e.Position), //nolint:gosec // fits
		})
	case events.DeviceDetailsCorrected:
		d.set(v.DeviceID, `details = @details::jsonb,
			transport = case when details->'apiPort' = @details::jsonb->'apiPort'
				and details->'managementAddress' = @details::jsonb->'managementAddress' then transport end`,
			pgx.NamedArgs{"details": asJSON(v.Details)})
	case events.DeviceCredentialsReplaced:
		column, known := credentialColumns[v.Kind]
		if !known {
			return fmt.Errorf("credentials of kind %q", v.Kind)
		}
		d.set(v.DeviceID, column+` = @ref::uuid, rotated = rotated or @tunnel::boolean`,
			pgx.NamedArgs{"ref": v.Ref, "tunnel": v.Kind == events.CredentialTunnel})
	case events.DeviceTransportLearned:
		d.set(v.DeviceID, `transport = @transport::jsonb, transport_at = @at::timestamptz`,
			pgx.NamedArgs{"transport": asJSON(v.Transport), "at": v.At})
	case events.DeviceUnreachable:
		d.set(v.DeviceID, `unreachable_since = @at::timestamptz, unreachable_error = @error::text`,
			pgx.NamedArgs{"at": v.At, "error": v.Error})
	case events.DeviceRecovered:
		d.set(v.DeviceID, `unreachable_since = null, unreachable_error = ''`, nil)
	case events.DeviceBootstrapReported:
		d.set(v.DeviceID, `bootstrap_version = @version::int, bootstrap_at = @at::timestamptz,
			radius_given = @ref::uuid, setup_drift = null, rotated = rotated and not @reported::boolean`,
			pgx.NamedArgs{"version": v.Version, "at": v.At, "ref": v.RadiusRef, "reported": v.By != "router"})
	case events.DeviceDecommissioned:
		d.set(v.DeviceID, `removed_at = @at::timestamptz`, pgx.NamedArgs{"at": v.At})
	case events.DeviceBootstrapShown:
		d.set(v.DeviceID, `details = details`, nil)
	case events.DeviceCustomersRead:
		d.set(v.DeviceID, `details = details`, nil)
	case events.UpstreamChosen:
		w.Exec(upstreamSQL, pgx.NamedArgs{"device": v.DeviceID, "upstream": v.UpstreamID})
	case events.DevicePeriodClosed:
		d.set(v.DeviceID, `details = details`, nil)
	default:
		d.reboot(e.Event)
		d.setup(e.Event)
	}
	return nil
}

// deviceWrites queues the changes of one event to a router's row.
type deviceWrites struct{ rowWrites }

// set is rowWrites.set for a router.
func (d deviceWrites) set(device id.Device, columns string, values pgx.NamedArgs) {
	d.rowWrites.set(id.Any(device), columns, values)
}

// reboot stores the newest stage of the newest reboot. A confirmed reboot also shows that the router is reachable.
func (d deviceWrites) reboot(e events.Event) {
	var device id.Device
	var r Reboot
	switch v := e.(type) {
	case events.DeviceRebootRequested:
		device, r = v.DeviceID, Reboot{RunID: v.RunID, Stage: RebootRequested, At: v.At}
	case events.DeviceRebootStarted:
		device, r = v.DeviceID, Reboot{RunID: v.RunID, Stage: RebootStarted, At: v.At}
	case events.DeviceRebootAccepted:
		device, r = v.DeviceID, Reboot{RunID: v.RunID, Stage: RebootAccepted, At: v.At}
	case events.DeviceRebootConfirmed:
		device, r = v.DeviceID, Reboot{RunID: v.RunID, Stage: RebootConfirmed, UptimeSeconds: v.UptimeSeconds, At: v.At}
	case events.DeviceRebootFailed:
		device, r = v.DeviceID, Reboot{RunID: v.RunID, Stage: RebootFailed, Message: v.Message, At: v.At}
	default:
		return
	}
	if r.Stage == RebootConfirmed {
		d.set(device, `reboot = @reboot::jsonb, unreachable_since = null, unreachable_error = ''`,
			pgx.NamedArgs{"reboot": asJSON(r)})
		return
	}
	d.set(device, `reboot = @reboot::jsonb`, pgx.NamedArgs{"reboot": asJSON(r)})
}

// setup stores the last known state of a router's setup.
func (d deviceWrites) setup(e events.Event) {
	switch v := e.(type) {
	case events.DeviceSetupApplied:
		d.set(v.DeviceID, `radius_given = @ref::uuid, setup_drift = null`, pgx.NamedArgs{"ref": v.RadiusRef})
	case events.DeviceSetupDrifted:
		d.set(v.DeviceID, `setup_drift = @drift::jsonb`, pgx.NamedArgs{
			"drift": asJSON(Drift{Hash: v.Hash, FirstSeenAt: v.FirstSeenAt, Resources: v.Resources}),
		})
	case events.DeviceSetupCleared:
		d.set(v.DeviceID, `setup_drift = null`, nil)
	case events.DeviceDriftUnchecked:
		d.set(v.DeviceID, `drift_unchecked = @unchecked::jsonb`,
			pgx.NamedArgs{"unchecked": asJSON(Unchecked{Since: v.At, Error: v.Error})})
	case events.DeviceDriftChecked:
		d.set(v.DeviceID, `drift_unchecked = null`, nil)
	}
}

// asJSON encodes a value for a jsonb column. The structs and maps here always encode; otherwise the result is JSON
// null.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(text)
}
