package commands

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ReportSetupApplied reports that a router was read again and its setup is as desired. Fails: device_not_found.
type ReportSetupApplied struct {
	DeviceID  id.Device
	RunID     id.Run
	RadiusRef id.Secret // of the RADIUS secret that the router has now
}

// ReportSetupDrift reports the difference that a check of a router's setup found; empty Resources mean that there is
// none. Fails: device_not_found.
type ReportSetupDrift struct {
	DeviceID  id.Device
	Hash      string
	Resources []events.DriftedResource
}

// ScriptOnly reports whether a difference of a router's setup can be repaired by the bootstrap script alone: those of
// the API user and its group, the tunnel and a certificate.
func ScriptOnly(r events.DriftedResource) bool {
	switch r.Path {
	case "user", "user/group", "interface/sstp-client":
		return true
	case "ip/service":
		_, is := r.Expected["certificate"]
		return is
	}
	return false
}

// ReportDriftCheck reports the end of a check of a router and its services: Error says why it could not be made, ""
// that it was. Fails: device_not_found.
type ReportDriftCheck struct {
	DeviceID id.Device
	Error    string
}

// ReconcileSetup brings the setup of a router in line: RADIUS client, accounting, services and firewall.
type ReconcileSetup struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	Position uint64    `json:"position"` // of the event that asks for it; read models must have reached it
}

func (ReconcileSetup) Kind() string { return "network_reconcile_setup" }

func (ReportSetupApplied) CommandName() string { return "network.ReportSetupApplied" }
func (ReportSetupDrift) CommandName() string   { return "network.ReportSetupDrift" }
func (ReportDriftCheck) CommandName() string   { return "network.ReportDriftCheck" }

func (c ReportSetupApplied) Target() Target { return At(DeviceCategory, c.DeviceID) }
func (c ReportSetupDrift) Target() Target   { return At(DeviceCategory, c.DeviceID) }
func (c ReportDriftCheck) Target() Target   { return At(DeviceCategory, c.DeviceID) }

func (c ReportDriftCheck) Validate() error { return deviceNamed(c.DeviceID) }

// Validate checks form.
func (c ReportSetupApplied) Validate() error {
	var f failure.Faults
	f.Check(!c.DeviceID.IsZero(), "deviceId", "is required")
	f.Check(!c.RunID.IsZero(), "runId", "is required")
	return f.Err()
}

// Validate requires a hash for a difference.
func (c ReportSetupDrift) Validate() error {
	var f failure.Faults
	f.Check(!c.DeviceID.IsZero(), "deviceId", "is required")
	f.Check(c.Hash != "" || len(c.Resources) == 0, "hash", "is required")
	return f.Err()
}

func (ReportSetupApplied) deviceCommand() {}
func (ReportSetupDrift) deviceCommand()   {}
func (ReportDriftCheck) deviceCommand()   {}

// ErrSetupConfirmation is the failure of an unconfirmed repair of a router's setup that could cut the platform off, or
// after which the platform's RADIUS server is asked about customers whom another server is asked about now. menus are
// those that would be written.
func ErrSetupConfirmation(menus []string) error {
	return failure.NewConflict("setup_confirmation_required",
		"This writes to services or firewall of the router, through which the platform reaches it, or puts the "+
			"platform's RADIUS client before another one, whose customers are refused then. Repeat it with "+
			"confirm=true: services and firewall are restored by the router itself after a few minutes when it is not "+
			"reached any more.").
		With("menus", menus)
}
