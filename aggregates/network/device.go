package network

import (
	"encoding/binary"
	"hash/fnv"
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Devices defines the routers. A decommissioned router answers device_not_found.
func Devices() aggregates.Definition[Device, commands.DeviceCommand, events.DeviceEvent] {
	return aggregates.Definition[Device, commands.DeviceCommand, events.DeviceEvent]{
		Category: commands.DeviceCategory, Missing: commands.ErrNoDevice, Evolve: evolveDevice, Decide: decideDevice,
		Owner: ownerDevice, Gone: func(s Device) bool { return s.Decommissioned }, Claims: claimsDevice,
		Close: closeDevice,
		Commands: []commands.DeviceCommand{
			commands.RegisterDevice{}, commands.CorrectDevice{}, commands.ReplaceDeviceCredentials{},
			commands.ShowBootstrap{}, commands.ReadDeviceCustomers{},
			commands.LearnDeviceTransport{}, commands.MarkDeviceUnreachable{}, commands.MarkDeviceRecovered{},
			commands.ReportBootstrap{}, commands.RequestReboot{}, commands.BeginReboot{}, commands.AcceptReboot{},
			commands.ConfirmReboot{}, commands.FailReboot{}, commands.ReportSetupApplied{}, commands.ReportSetupDrift{},
			commands.ReportDriftCheck{},
			commands.DecommissionDevice{},
		},
	}
}

// rebootLimit is the age at which a reboot without an end no longer blocks the next one.
const rebootLimit = 30 * time.Minute

// Device is one router. The zero value is "does not exist".
type Device struct {
	ID             id.Device
	Org            id.Organization
	Details        events.DeviceDetails
	TunnelAddress  string
	TunnelUser     string
	APIRef         id.Secret // zero = no API credentials
	RadiusRef      id.Secret
	TunnelRef      id.Secret
	ReportRef      id.Secret
	Transport      events.DeviceTransport // Protocol "" = not known yet
	Unreachable    bool
	Bootstrap      int  // version of the bootstrap script on the router; 0 = not known
	Rotated        bool // the tunnel's password was replaced after the newest script that is known to have it
	Setup          DeviceSetup
	Shown          []id.Secret // RADIUS secrets in scripts that were shown, the newest last; at most maxShown
	DriftUnchecked bool        // the latest check for drift could not be made
	Reboot         Reboot
	Decommissioned bool
}

// Reboot is the latest attempt to reboot a router.
type Reboot struct {
	RunID       id.Run
	RequestedAt time.Time
	Started     bool // the platform sent the command or is sending it
	Accepted    bool // the router took the command
	Over        bool // confirmed or failed
}

// ownerDevice: a router belongs to one organization for ever.
func ownerDevice(s Device) id.Organization { return s.Org }

// claimsDevice claims the router's address and user in the management tunnel, on the whole platform: with the same
// address, the platform would write to the wrong router.
func claimsDevice(s Device) []commands.Claim {
	if s.ID.IsZero() || s.Decommissioned {
		return nil
	}
	return []commands.Claim{
		{
			Kind: "tunnel_address", Value: s.TunnelAddress, Code: "tunnel_address_taken",
			Message: "This tunnel address belongs to another router.",
		},
		{
			Kind: "tunnel_user", Value: s.TunnelUser, Code: "tunnel_user_taken",
			Message: "This tunnel user belongs to another router.",
		},
	}
}

// TunnelCandidate is the address that a router asks for at its n-th try, from 0. A hash of the id chooses the first, so
// that it is almost always free; the tries go through every address of the plan once.
func TunnelCandidate(device id.Device, try int) string {
	h := fnv.New64a()
	u := device.UUID()
	h.Write(u[:])
	const first, last = 2, 65534 // after network and concentrator, before broadcast
	n := (h.Sum64()%(last-first+1) + uint64(try)) % (last - first + 1)
	b := commands.TunnelPlan.Addr().As4()
	binary.BigEndian.PutUint16(b[2:], uint16(first+n)) //nolint:gosec // below 65536
	return netip.AddrFrom4(b).String()
}

// evolveDevice applies one recorded event. A changed port or address makes the transport unknown again.
func evolveDevice(s Device, e events.DeviceEvent) Device {
	switch e := e.(type) {
	case events.DeviceRegistered:
		return Device{
			ID: e.DeviceID, Org: e.OrgID, Details: e.Details, TunnelAddress: e.TunnelAddress, TunnelUser: e.TunnelUser,
			APIRef: e.APIRef, RadiusRef: e.RadiusRef, TunnelRef: e.TunnelRef, ReportRef: e.ReportRef,
		}
	case events.DeviceDetailsCorrected:
		if e.Details.APIPort != s.Details.APIPort || e.Details.ManagementAddress != s.Details.ManagementAddress {
			s.Transport = events.DeviceTransport{} // must be found out again
		}
		s.Details = e.Details
	case events.DeviceCredentialsReplaced:
		*s.ref(e.Kind) = e.Ref
		s.Rotated = s.Rotated || e.Kind == events.CredentialTunnel
	case events.DeviceTransportLearned:
		s.Transport = e.Transport
	case events.DeviceBootstrapShown:
		s.Shown = showing(s.Shown, e.RadiusRef)
	case events.DeviceCustomersRead:
	case events.DeviceUnreachable:
		s.Unreachable = true
	case events.DeviceRecovered:
		s.Unreachable = false
	case events.DeviceBootstrapReported:
		s.Bootstrap = e.Version
		return evolveSetup(s, e)
	case events.DeviceSetupApplied, events.DeviceSetupDrifted, events.DeviceSetupCleared, events.DeviceDriftUnchecked,
		events.DeviceDriftChecked:
		return evolveSetup(s, e)
	case events.DeviceRebootRequested:
		s.Reboot = Reboot{RunID: e.RunID, RequestedAt: e.At}
	case events.DeviceRebootStarted:
		s.Reboot.Started = true
	case events.DeviceRebootAccepted:
		s.Reboot.Accepted = true
	case events.DeviceRebootConfirmed:
		s.Reboot.Over, s.Unreachable = true, false
	case events.DeviceRebootFailed:
		s.Reboot.Over = true
	case events.DeviceDecommissioned:
		s.Decommissioned = true
	case events.DevicePeriodClosed:
		return aggregates.Opened[Device](e.Opening)
	}
	return s
}

// closeDevice passes the whole state on.
func closeDevice(s Device) events.DeviceEvent {
	return events.DevicePeriodClosed{DeviceID: s.ID, Opening: aggregates.Opening(s)}
}

// ref points to the field with the reference of a kind; an unused field for an unknown kind. s is a copy, so only
// the caller's state changes.
func (s *Device) ref(kind events.CredentialKind) *id.Secret {
	switch kind {
	case events.CredentialAPI:
		return &s.APIRef
	case events.CredentialRadius:
		return &s.RadiusRef
	case events.CredentialTunnel:
		return &s.TunnelRef
	case events.CredentialReport:
		return &s.ReportRef
	}
	return new(id.Secret)
}

// decideDevice dispatches. A decommissioned router exists only for a repeated DecommissionDevice, which gives no event.
func decideDevice(s Device, c commands.DeviceCommand, now time.Time) ([]events.DeviceEvent, error) {
	if register, ok := c.(commands.RegisterDevice); ok {
		return decideRegisterDevice(s, register, now)
	}
	_, last := c.(commands.DecommissionDevice)
	if s.ID.IsZero() || s.Decommissioned && !last {
		return nil, commands.ErrNoDevice()
	}
	switch c := c.(type) {
	case commands.RegisterDevice:
	case commands.ShowBootstrap:
		return only[events.DeviceEvent](events.DeviceBootstrapShown{
			DeviceID: s.ID, Version: c.Version, RadiusRef: c.RadiusRef, At: now,
		})
	case commands.ReadDeviceCustomers:
		return only[events.DeviceEvent](events.DeviceCustomersRead{DeviceID: s.ID, ProposalID: c.ProposalID, At: now})
	case commands.CorrectDevice:
		if c.Details != s.Details {
			return only[events.DeviceEvent](events.DeviceDetailsCorrected{DeviceID: s.ID, Details: c.Details, At: now})
		}
	case commands.ReplaceDeviceCredentials:
		return decideCredentials(s, c, now)
	case commands.LearnDeviceTransport:
		if s.Transport != c.Transport {
			return only[events.DeviceEvent](events.DeviceTransportLearned{
				DeviceID: s.ID, Transport: c.Transport, At: now,
			})
		}
	case commands.MarkDeviceUnreachable:
		if !s.Unreachable {
			return only[events.DeviceEvent](events.DeviceUnreachable{DeviceID: s.ID, Error: c.Error, At: now})
		}
	case commands.MarkDeviceRecovered:
		if s.Unreachable {
			return only[events.DeviceEvent](events.DeviceRecovered{DeviceID: s.ID, At: now})
		}
	case commands.ReportBootstrap:
		return decideBootstrap(s, c, now)
	case commands.DecommissionDevice:
		if !s.Decommissioned {
			return only[events.DeviceEvent](events.DeviceDecommissioned{DeviceID: s.ID, OrgID: s.Org, At: now})
		}
	case commands.ReportSetupApplied, commands.ReportSetupDrift, commands.ReportDriftCheck:
		return decideSetup(s, c, now)
	case commands.RequestReboot, commands.BeginReboot, commands.AcceptReboot, commands.ConfirmReboot,
		commands.FailReboot:
		return decideReboot(s, c, now)
	}
	return nil, nil
}

// decideCredentials adopts new credentials in place of those that the caller knew.
func decideCredentials(s Device, c commands.ReplaceDeviceCredentials, now time.Time) ([]events.DeviceEvent, error) {
	switch present := *s.ref(c.Kind); {
	case present == c.Ref:
		return nil, nil
	case present != c.From:
		return nil, errOvertaken()
	}
	return only[events.DeviceEvent](events.DeviceCredentialsReplaced{
		DeviceID: s.ID, Kind: c.Kind, Ref: c.Ref, At: now,
	})
}

// only returns one event as a decision.
func only[E events.Event](e E) ([]E, error) { return []E{e}, nil }

// decideRegisterDevice refuses an id that is in use. The bus checks the tunnel address with the claims.
func decideRegisterDevice(s Device, c commands.RegisterDevice, now time.Time) ([]events.DeviceEvent, error) {
	if !s.ID.IsZero() {
		return nil, failure.NewConflict("device_exists", "This device exists already.")
	}
	return only[events.DeviceEvent](events.DeviceRegistered{
		DeviceID: c.DeviceID, OrgID: c.OrgID, Details: c.Details, TunnelAddress: c.TunnelAddress,
		TunnelUser: c.TunnelUser, APIRef: c.APIRef, RadiusRef: c.RadiusRef, TunnelRef: c.TunnelRef,
		ReportRef: c.ReportRef, At: now,
	})
}

// decideReboot moves one attempt through its steps. A command of another attempt, or one that comes late, gives no
// event.
func decideReboot(s Device, c commands.DeviceCommand, now time.Time) ([]events.DeviceEvent, error) {
	open := func(run id.Run) bool { return s.Reboot.RunID == run && !s.Reboot.Over }
	switch c := c.(type) {
	case commands.RequestReboot:
		switch {
		case s.Reboot.RunID == c.RunID:
			return nil, nil
		case open(s.Reboot.RunID) && !s.Reboot.RunID.IsZero() && now.Sub(s.Reboot.RequestedAt) < rebootLimit:
			return nil, failure.NewConflict("reboot_in_progress",
				"This device is being rebooted. Wait until it is done.")
		}
		return only[events.DeviceEvent](events.DeviceRebootRequested{DeviceID: s.ID, RunID: c.RunID, At: now})
	case commands.BeginReboot:
		if open(c.RunID) && !s.Reboot.Started {
			return only[events.DeviceEvent](events.DeviceRebootStarted{DeviceID: s.ID, RunID: c.RunID, At: now})
		}
	case commands.AcceptReboot:
		if open(c.RunID) && s.Reboot.Started && !s.Reboot.Accepted {
			return only[events.DeviceEvent](events.DeviceRebootAccepted{DeviceID: s.ID, RunID: c.RunID, At: now})
		}
	case commands.ConfirmReboot:
		if open(c.RunID) && s.Reboot.Started {
			return only[events.DeviceEvent](events.DeviceRebootConfirmed{
				DeviceID: s.ID, RunID: c.RunID, UptimeSeconds: c.UptimeSeconds, At: now,
			})
		}
	case commands.FailReboot:
		if open(c.RunID) {
			return only[events.DeviceEvent](events.DeviceRebootFailed{
				DeviceID: s.ID, RunID: c.RunID, Message: c.Message, At: now,
			})
		}
	case commands.RegisterDevice, commands.CorrectDevice, commands.ReplaceDeviceCredentials, commands.ShowBootstrap,
		commands.ReadDeviceCustomers, commands.LearnDeviceTransport,
		commands.MarkDeviceUnreachable, commands.MarkDeviceRecovered, commands.ReportBootstrap,
		commands.ReportSetupApplied, commands.ReportSetupDrift, commands.ReportDriftCheck,
		commands.DecommissionDevice:
	}
	return nil, nil
}
