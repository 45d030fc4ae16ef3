package commands

import "github.com/lastmile-isp/lastmile/internal/id"

// ApplyService brings a router in line with a service: read, diff, plan, write, read back.
type ApplyService struct {
	ServiceID  id.Service `json:"serviceId"`
	DeviceID   id.Device  `json:"deviceId"`
	RunID      id.Run     `json:"runId"`
	Generation int        `json:"generation"` // wanted; a newer one may be applied and reported instead
	Position   uint64     `json:"position"`   // of the event that asks: read models must have it
}

// RemoveService takes everything of a service from a router.
type RemoveService struct {
	ServiceID  id.Service `json:"serviceId"`
	DeviceID   id.Device  `json:"deviceId"`
	RunID      id.Run     `json:"runId"`
	Generation int        `json:"generation"`
	Recreate   bool       `json:"recreate"` // ends with ReportTornDown, else with ReportRemoved
	Position   uint64     `json:"position"`
}

// CheckDrift compares a router with all its services, and its firewall, and writes nothing to it. Periodic.
type CheckDrift struct {
	DeviceID id.Device `json:"deviceId"`
}

// ReconcileDevice brings a router in line with all its services and removes orphans.
type ReconcileDevice struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	Position uint64    `json:"position"`
}

// ReconcileFirewall brings the Platform-fw rules of a router in line.
type ReconcileFirewall struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	Position uint64    `json:"position"`
}

// RebootDevice sends the reboot, once.
type RebootDevice struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	Position uint64    `json:"position"`
}

// VerifyReboot asks a router's uptime whether it rebooted.
type VerifyReboot struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	Final    bool      `json:"final"` // no answer now means that it did not come back: report the failure
}

// ProbeDevice asks a router who it is: how it speaks, its version, the bootstrap version on it.
type ProbeDevice struct {
	DeviceID id.Device `json:"deviceId"`
	Position uint64    `json:"position"` // of the latest event about the device; 0 = as it stands
}

// Kind is the durable name.
func (ApplyService) Kind() string { return "network_apply_service" }

// Kind is the durable name.
func (RemoveService) Kind() string { return "network_remove_service" }

// Kind is the durable name.
func (CheckDrift) Kind() string { return "network_check_drift" }

// Kind is the durable name.
func (ReconcileDevice) Kind() string { return "network_reconcile_device" }

// Kind is the durable name.
func (ReconcileFirewall) Kind() string { return "network_reconcile_firewall" }

// Kind is the durable name.
func (RebootDevice) Kind() string { return "network_reboot_device" }

// Kind is the durable name.
func (VerifyReboot) Kind() string { return "network_verify_reboot" }

// Kind is the durable name.
func (ProbeDevice) Kind() string { return "network_probe_device" }
