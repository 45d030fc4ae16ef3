package commands

import (
	"fmt"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// ApplyService brings a router into line with a service: read, compare, plan, write, read back.
type ApplyService struct {
	ServiceID id.Service `json:"serviceId"`
	DeviceID  id.Device  `json:"deviceId"`
	RunID     id.Run     `json:"runId"`
	// the wanted desired state; a newer one may be applied and reported instead
	Generation int    `json:"generation"`
	Position   uint64 `json:"position"` // of the event that asks for it; read models must have reached it
	// LeasesOver says that nobody should use the former subnets any more: who still does is reported.
	LeasesOver bool   `json:"leasesOver,omitempty"`
	Asked      string `json:"asked,omitempty"` // the request; a process that hears nothing asks for the same again
}

// RemoveService removes all resources of a service from a router.
type RemoveService struct {
	ServiceID  id.Service `json:"serviceId"`
	DeviceID   id.Device  `json:"deviceId"`
	RunID      id.Run     `json:"runId"`
	Generation int        `json:"generation"`
	Recreate   bool       `json:"recreate"` // true: ends with ReportTornDown, otherwise with ReportRemoved
	Position   uint64     `json:"position"`
	Asked      string     `json:"asked,omitempty"` // as in ApplyService
}

// CheckDrift compares a router with all its services and with the firewall rules, and writes nothing to it. Periodic.
type CheckDrift struct {
	DeviceID id.Device `json:"deviceId"`
}

// ReconcileDevice brings a router into line with all its services, and removes orphans.
type ReconcileDevice struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	Position uint64    `json:"position"`
}

// ReconcileFirewall brings the platform's firewall rules on a router into line.
type ReconcileFirewall struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	Position uint64    `json:"position"`
}

// RebootDevice sends the reboot command, once.
type RebootDevice struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	Position uint64    `json:"position"`
}

// VerifyReboot reads a router's uptime to find out whether it rebooted.
type VerifyReboot struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	Final    bool      `json:"final"` // no answer now means that the router did not come back: report the failure
}

// ProbeDevice reads how a router answers: its protocol, its RouterOS version, and the version of the bootstrap script.
type ProbeDevice struct {
	DeviceID id.Device `json:"deviceId"`
	Position uint64    `json:"position"` // of the latest event about the device; 0 = do not wait
}

func (ApplyService) Kind() string      { return "network_apply_service" }
func (RemoveService) Kind() string     { return "network_remove_service" }
func (CheckDrift) Kind() string        { return "network_check_drift" }
func (ReconcileDevice) Kind() string   { return "network_reconcile_device" }
func (ReconcileFirewall) Kind() string { return "network_reconcile_firewall" }
func (RebootDevice) Kind() string      { return "network_reboot_device" }
func (VerifyReboot) Kind() string      { return "network_verify_reboot" }
func (ProbeDevice) Kind() string       { return "network_probe_device" }

// Device is the router that the job calls.
func (j ApplyService) Device() id.Device { return j.DeviceID }

// Device is the router that the job calls.
func (j RemoveService) Device() id.Device { return j.DeviceID }

// Device is the router that the job calls.
func (j CheckDrift) Device() id.Device { return j.DeviceID }

// Device is the router that the job calls.
func (j ReconcileDevice) Device() id.Device { return j.DeviceID }

// Device is the router that the job calls.
func (j ReconcileFirewall) Device() id.Device { return j.DeviceID }

// Device is the router that the job calls.
func (j RebootDevice) Device() id.Device { return j.DeviceID }

// Device is the router that the job calls.
func (j VerifyReboot) Device() id.Device { return j.DeviceID }

// Device is the router that the job calls.
func (j ProbeDevice) Device() id.Device { return j.DeviceID }

// Request names the request of the process.
func (j ApplyService) Request() string { return j.Asked }

// Request names the request of the process.
func (j RemoveService) Request() string { return j.Asked }

// Request is the reading of one reboot's uptime; the last one says so.
func (j VerifyReboot) Request() string { return fmt.Sprintf("%s %t", j.RunID, j.Final) }
