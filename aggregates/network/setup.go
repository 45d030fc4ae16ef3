package network

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// DeviceSetup has the last known state of a router's setup: RADIUS client, services, firewall.
type DeviceSetup struct {
	RadiusGiven id.Secret // reference of the RADIUS secret that the router was given last; zero = not known
	DriftHash   string    // of the latest difference found; "" = in sync, or never compared
	DriftSince  time.Time // first time of the present difference, UTC
}

// evolveSetup applies one recorded event about the setup. The script gives a router the secret of its time.
func evolveSetup(s Device, e events.DeviceEvent) Device {
	switch e := e.(type) {
	case events.DeviceBootstrapReported:
		s.Setup = DeviceSetup{RadiusGiven: s.RadiusRef}
	case events.DeviceSetupApplied:
		s.Setup = DeviceSetup{RadiusGiven: e.RadiusRef}
	case events.DeviceSetupDrifted:
		s.Setup.DriftHash, s.Setup.DriftSince = e.Hash, e.FirstSeenAt
	case events.DeviceSetupCleared:
		s.Setup.DriftHash, s.Setup.DriftSince = "", time.Time{}
	default: // other events are applied by evolveDevice, whose switch is complete
	}
	return s
}

// decideSetup records a setup that was brought in line, a difference once for each hash, and its end.
func decideSetup(s Device, c commands.DeviceCommand, now time.Time) ([]events.DeviceEvent, error) {
	switch c := c.(type) {
	case commands.ReportSetupApplied:
		if s.Setup == (DeviceSetup{RadiusGiven: c.RadiusRef}) {
			return nil, nil
		}
		return only[events.DeviceEvent](events.DeviceSetupApplied{
			DeviceID: s.ID, RunID: c.RunID, RadiusRef: c.RadiusRef, At: now,
		})
	case commands.ReportSetupDrift:
		return decideSetupDrift(s, c, now)
	default: // other commands are decided by decideDevice, whose switch is complete
	}
	return nil, nil
}

// decideSetupDrift records a difference that is not the recorded one.
func decideSetupDrift(s Device, c commands.ReportSetupDrift, now time.Time) ([]events.DeviceEvent, error) {
	switch {
	case len(c.Resources) == 0 && s.Setup.DriftHash != "":
		return only[events.DeviceEvent](events.DeviceSetupCleared{DeviceID: s.ID, At: now})
	case len(c.Resources) == 0 || c.Hash == s.Setup.DriftHash:
		return nil, nil
	}
	since := s.Setup.DriftSince
	if since.IsZero() {
		since = now
	}
	return only[events.DeviceEvent](events.DeviceSetupDrifted{
		DeviceID: s.ID, OrgID: s.Org, FirstSeenAt: since, Hash: c.Hash, Resources: c.Resources, At: now,
	})
}
