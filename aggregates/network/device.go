package network

import (
	"encoding/binary"
	"hash/fnv"
	"net/netip"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Devices is the definition of routers.
func Devices() aggregates.Definition[Device, commands.DeviceCommand, events.DeviceEvent] {
	return aggregates.Definition[Device, commands.DeviceCommand, events.DeviceEvent]{
		Category: commands.DeviceCategory, Missing: commands.ErrNoDevice, Evolve: evolveDevice, Decide: decideDevice,
		Owner: ownerDevice, Gone: func(s Device) bool { return s.Decommissioned }, Claims: claimsDevice,
		Close: closeDevice,
		Commands: []commands.DeviceCommand{
			commands.RegisterDevice{}, commands.CorrectDevice{}, commands.ReplaceDeviceCredentials{},
			commands.LearnDeviceTransport{}, commands.MarkDeviceUnreachable{}, commands.MarkDeviceRecovered{},
			commands.ReportBootstrap{}, commands.RequestReboot{}, commands.BeginReboot{}, commands.AcceptReboot{},
			commands.ConfirmReboot{}, commands.FailReboot{}, commands.DecommissionDevice{},
		},
	}
}

// rebootLimit is when a reboot that nobody brought to an end stops being in the way of the next.
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
	Bootstrap      int // version of the script that the router is on; 0 = not known
	Reboot         Reboot
	Decommissioned bool
}

// Reboot is the last attempt to reboot.
type Reboot struct {
	RunID       id.Run
	RequestedAt time.Time
	Started     bool // the command was or is being sent
	Accepted    bool
	Over        bool
}

// ownerDevice is the organization.
func ownerDevice(s Device) id.Organization { return s.Org }

// claimsDevice is its place in the management tunnel, platform-wide: two routers with one address would be each other.
func claimsDevice(s Device) []commands.Claim {
	if s.ID.IsZero() || s.Decommissioned {
		return nil
	}
	return []commands.Claim{
		{
			Kind: "tunnel_address", Value: s.TunnelAddress, Code: "tunnel_address_taken",
			Message: "this tunnel address belongs to another router",
		},
		{
			Kind: "tunnel_user", Value: s.TunnelUser, Code: "tunnel_user_taken",
			Message: "this tunnel user belongs to another router",
		},
	}
}

// TunnelCandidate is the address that a router tries at its n-th try, from 0. Routers begin at different places, so
// that the first try succeeds almost always; every address of the plan comes once.
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

// TunnelUser is the name of a router's SSTP client: the end of its id, which is random where the beginning is a time.
func TunnelUser(device id.Device) string {
	text := device.String()
	return "nas-" + text[strings.LastIndexByte(text, '-')+1:]
}

// evolveDevice applies one recorded fact.
func evolveDevice(s Device, e events.DeviceEvent) Device {
	switch e := e.(type) {
	case events.DeviceRegistered:
		return Device{
			ID: e.DeviceID, Org: e.OrgID, Details: e.Details, TunnelAddress: e.TunnelAddress, TunnelUser: e.TunnelUser,
			APIRef: e.APIRef, RadiusRef: e.RadiusRef, TunnelRef: e.TunnelRef, ReportRef: e.ReportRef,
		}
	case events.DeviceDetailsCorrected:
		if e.Details.APIPort != s.Details.APIPort || e.Details.ManagementAddress != s.Details.ManagementAddress {
			s.Transport = events.DeviceTransport{} // to be found out again
		}
		s.Details = e.Details
	case events.DeviceCredentialsReplaced:
		*s.ref(e.Kind) = e.Ref
	case events.DeviceTransportLearned:
		s.Transport = e.Transport
	case events.DeviceUnreachable:
		s.Unreachable = true
	case events.DeviceRecovered:
		s.Unreachable = false
	case events.DeviceBootstrapReported:
		s.Bootstrap = e.Version
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
		return opened[Device](e.Opening)
	}
	return s
}

// closeDevice makes the last event of a full period.
func closeDevice(s Device) events.DeviceEvent {
	return events.DevicePeriodClosed{DeviceID: s.ID, Opening: opening(s)}
}

// ref is where the reference of a kind stands. s is a copy of its caller's.
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

// decideDevice dispatches.
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
	case commands.CorrectDevice:
		if c.Details != s.Details {
			return only[events.DeviceEvent](events.DeviceDetailsCorrected{DeviceID: s.ID, Details: c.Details, At: now})
		}
	case commands.ReplaceDeviceCredentials:
		if *s.ref(c.Kind) != c.Ref {
			return only[events.DeviceEvent](events.DeviceCredentialsReplaced{
				DeviceID: s.ID, Kind: c.Kind, Ref: c.Ref, At: now,
			})
		}
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
		if s.Bootstrap != c.Version {
			return only[events.DeviceEvent](events.DeviceBootstrapReported{
				DeviceID: s.ID, Version: c.Version, By: c.By, At: now,
			})
		}
	case commands.DecommissionDevice:
		if !s.Decommissioned {
			return only[events.DeviceEvent](events.DeviceDecommissioned{DeviceID: s.ID, OrgID: s.Org, At: now})
		}
	case commands.RequestReboot, commands.BeginReboot, commands.AcceptReboot, commands.ConfirmReboot,
		commands.FailReboot:
		return decideReboot(s, c, now)
	}
	return nil, nil
}

// only is a decision of one event.
func only[E events.Event](e E) ([]E, error) { return []E{e}, nil }

// decideRegisterDevice makes the router known.
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

// decideReboot leads one attempt through its steps; what belongs to another attempt, or comes late, changes nothing.
func decideReboot(s Device, c commands.DeviceCommand, now time.Time) ([]events.DeviceEvent, error) {
	open := func(run id.Run) bool { return s.Reboot.RunID == run && !s.Reboot.Over }
	switch c := c.(type) {
	case commands.RequestReboot:
		switch {
		case s.Reboot.RunID == c.RunID:
			return nil, nil
		case open(s.Reboot.RunID) && !s.Reboot.RunID.IsZero() && now.Sub(s.Reboot.RequestedAt) < rebootLimit:
			return nil, failure.NewConflict("reboot_in_progress", "This device is being rebooted.")
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
	case commands.RegisterDevice, commands.CorrectDevice, commands.ReplaceDeviceCredentials,
		commands.LearnDeviceTransport,
		commands.MarkDeviceUnreachable, commands.MarkDeviceRecovered, commands.ReportBootstrap,
		commands.DecommissionDevice:
	}
	return nil, nil
}
