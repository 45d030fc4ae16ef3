package network

import (
	"slices"
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

// maxShown bounds the RADIUS secrets of shown scripts that are kept.
const maxShown = 10

// showing adds the RADIUS secret of a script that is shown to a copy of the list.
func showing(list []id.Secret, ref id.Secret) []id.Secret {
	if ref.IsZero() || slices.Contains(list, ref) {
		return list
	}
	list = append(slices.Clone(list), ref)
	return list[max(0, len(list)-maxShown):]
}

// evolveSetup applies one recorded event about the setup. A script gives a router the secret that was valid when it was
// shown.
func evolveSetup(s Device, e events.DeviceEvent) Device {
	switch e := e.(type) {
	case events.DeviceBootstrapReported:
		s.Setup = DeviceSetup{RadiusGiven: e.RadiusRef}
		s.Rotated = s.Rotated && e.By == commands.BootstrapByRouter
	case events.DeviceSetupApplied:
		s.Setup = DeviceSetup{RadiusGiven: e.RadiusRef}
	case events.DeviceSetupDrifted:
		s.Setup.DriftHash, s.Setup.DriftSince = e.Hash, e.FirstSeenAt
	case events.DeviceSetupCleared:
		s.Setup.DriftHash, s.Setup.DriftSince = "", time.Time{}
	case events.DeviceDriftUnchecked:
		s.DriftUnchecked = true
	case events.DeviceDriftChecked:
		s.DriftUnchecked = false
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
	case commands.ReportDriftCheck:
		switch {
		case c.Error != "" && !s.DriftUnchecked:
			return only[events.DeviceEvent](events.DeviceDriftUnchecked{DeviceID: s.ID, Error: c.Error, At: now})
		case c.Error == "" && s.DriftUnchecked:
			return only[events.DeviceEvent](events.DeviceDriftChecked{DeviceID: s.ID, At: now})
		}
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

// decideBootstrap records a new version of the script on the router, and a script that ran again and may have brought
// another RADIUS secret or another password of the tunnel. A secret that no script was shown with is not known. A mark
// of a password that was replaced meanwhile says nothing.
func decideBootstrap(s Device, c commands.ReportBootstrap, now time.Time) ([]events.DeviceEvent, error) {
	if c.By == commands.BootstrapByMark && c.TunnelRef != s.TunnelRef {
		return nil, nil
	}
	brought := c.RadiusRef
	if c.By == commands.BootstrapByRouter || !slices.Contains(s.Shown, brought) {
		brought = id.Secret{}
	}
	again := s.Rotated && c.By != commands.BootstrapByRouter ||
		c.By == commands.BootstrapByReport && s.Setup.RadiusGiven != brought
	if s.Bootstrap == c.Version && !again {
		return nil, nil
	}
	return only[events.DeviceEvent](events.DeviceBootstrapReported{
		DeviceID: s.ID, Version: c.Version, By: c.By, RadiusRef: brought, At: now,
	})
}
