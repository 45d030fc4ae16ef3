// Package networkviews has the read models of routers and the services on them, and what happened to both.
package networkviews

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// DevicesName is the projection's durable name.
const DevicesName = "network_devices"

// Devices lists the routers of an organization. It has no secrets, only references into the vault.
type Devices struct{}

//go:embed devices.sql
var devicesDDL string

// Name is the durable name.
func (Devices) Name() string { return DevicesName }

// Version is raised when tables or Apply change.
func (Devices) Version() int { return 1 }

// DDL creates the tables.
func (Devices) DDL() string { return devicesDDL }

// TenantTables are under row-level security.
func (Devices) TenantTables() []string { return []string{"devices"} }

// Handles lists the events.
func (Devices) Handles() []string {
	return []string{
		events.DeviceRegistered{}.EventType(), events.DeviceDetailsCorrected{}.EventType(),
		events.DeviceCredentialsReplaced{}.EventType(), events.DeviceTransportLearned{}.EventType(),
		events.DeviceUnreachable{}.EventType(), events.DeviceRecovered{}.EventType(),
		events.DeviceBootstrapReported{}.EventType(), events.DeviceRebootRequested{}.EventType(),
		events.DeviceRebootStarted{}.EventType(), events.DeviceRebootAccepted{}.EventType(),
		events.DeviceRebootConfirmed{}.EventType(), events.DeviceRebootFailed{}.EventType(),
		events.DeviceDecommissioned{}.EventType(), events.DevicePeriodClosed{}.EventType(),
	}
}

// Stages of a reboot.
const (
	RebootRequested = "requested"
	RebootStarted   = "started"  // the command is being sent
	RebootAccepted  = "accepted" // the router took it: it is expected back
	RebootConfirmed = "confirmed"
	RebootFailed    = "failed"
)

// credentialColumns are where references stand.
var credentialColumns = map[events.CredentialKind]string{
	events.CredentialAPI: "api_ref", events.CredentialRadius: "radius_ref", events.CredentialTunnel: "tunnel_ref",
	events.CredentialReport: "report_ref",
}

// registerDeviceSQL makes a row.
const registerDeviceSQL = `insert into {schema}.devices (device_id, org_id, details, tunnel_address, tunnel_user, api_ref, radius_ref, tunnel_ref,
	report_ref, created_at, revision, position) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (device_id) do nothing`

// Apply queues the statements for one event.
func (Devices) Apply(w *runner.Writes, e events.Envelope) error {
	d := deviceWrites{w, e}
	switch v := e.Event.(type) {
	case events.DeviceRegistered:
		w.Exec(registerDeviceSQL, v.DeviceID, v.OrgID, asJSON(v.Details), v.TunnelAddress, v.TunnelUser, v.APIRef,
			v.RadiusRef, v.TunnelRef,
			v.ReportRef, v.At, int64(e.Revision), int64(e.Position)) //nolint:gosec // both fit
	case events.DeviceDetailsCorrected:
		d.set(v.DeviceID, `details = $4::jsonb, transport = case when details->'apiPort' = $4::jsonb->'apiPort'
			and details->'managementAddress' = $4::jsonb->'managementAddress' then transport end`, asJSON(v.Details))
	case events.DeviceCredentialsReplaced:
		column, known := credentialColumns[v.Kind]
		if !known {
			return fmt.Errorf("credentials of kind %q", v.Kind)
		}
		d.set(v.DeviceID, column+` = $4::uuid`, v.Ref)
	case events.DeviceTransportLearned:
		d.set(v.DeviceID, `transport = $4::jsonb, transport_at = $5::timestamptz`, asJSON(v.Transport), v.At)
	case events.DeviceUnreachable:
		d.set(v.DeviceID, `unreachable_since = $4::timestamptz, unreachable_error = $5::text`, v.At, v.Error)
	case events.DeviceRecovered:
		d.set(v.DeviceID, `unreachable_since = null, unreachable_error = ''`)
	case events.DeviceBootstrapReported:
		d.set(v.DeviceID, `bootstrap_version = $4::int, bootstrap_at = $5::timestamptz`, v.Version, v.At)
	case events.DeviceDecommissioned:
		d.set(v.DeviceID, `removed_at = $4::timestamptz`, v.At)
	case events.DevicePeriodClosed:
		d.set(v.DeviceID, `details = details`)
	default:
		d.reboot(e.Event)
	}
	return nil
}

// deviceWrites changes the row of one event.
type deviceWrites struct {
	w *runner.Writes
	e events.Envelope
}

// set changes columns; arguments begin at $4. An event that was applied before changes nothing.
func (d deviceWrites) set(device id.Device, columns string, args ...any) {
	d.w.Exec(`update {schema}.devices set `+columns+
		`, revision = $2, position = $3 where device_id = $1 and position < $3`,
		append([]any{device, int64(d.e.Revision), int64(d.e.Position)}, args...)...) //nolint:gosec // both fit
}

// reboot follows the newest reboot.
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
		d.set(device, `reboot = $4::jsonb, unreachable_since = null, unreachable_error = ''`, asJSON(r))
		return
	}
	d.set(device, `reboot = $4::jsonb`, asJSON(r))
}

// asJSON is a value for a jsonb column: plain structs and maps always marshal.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(text)
}
