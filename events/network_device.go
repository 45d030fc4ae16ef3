package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// DeviceEvent is an event of "device-<id>": one router (NAS) of an organization.
//
//sumtype:decl
type DeviceEvent interface {
	Event
	deviceEvent()
}

// DeviceDetails are the facts about a router that an operator enters. Source: docs/rules/network.md#router-inputs.
type DeviceDetails struct {
	Name              string `json:"name"`
	IPAddress         string `json:"ipAddress"` // WAN address
	CoAPort           int    `json:"coaPort"`
	APIPort           int    `json:"apiPort"`           // decides the protocol: docs/rules/network.md#api-ports
	ManagementAddress string `json:"managementAddress"` // replaces the tunnel address outside production; "" = none
	// RequireMessageAuthenticator refuses sign-ins without one, also from the tunnel address
	// (docs/rules/access-radius.md#message-authenticator-by-router).
	RequireMessageAuthenticator bool `json:"requireMessageAuthenticator,omitempty"`
}

// DeviceTransport is the way in which a router was found to answer.
type DeviceTransport struct {
	Protocol  string `json:"protocol"` // "rest" or "api"
	TLS       bool   `json:"tls"`
	Port      int    `json:"port"`
	Version   string `json:"version"` // RouterOS version as the router writes it: "7.16 (stable)"
	BoardName string `json:"boardName"`
}

// CredentialKind is the purpose of a device's reference into the vault.
type CredentialKind string

// The kinds of credentials of a device.
const (
	CredentialAPI    CredentialKind = "api"    // user and password of the router's API
	CredentialRadius CredentialKind = "radius" // shared secret of RADIUS
	CredentialTunnel CredentialKind = "tunnel" // password of the SSTP tunnel
	CredentialReport CredentialKind = "report" // token with which the bootstrap script reports its version
)

// DeviceRegistered records a new router with its address and user in the management tunnel. The vault has the secrets.
type DeviceRegistered struct {
	DeviceID id.Device       `json:"deviceId"`
	OrgID    id.Organization `json:"orgId"`
	Details  DeviceDetails   `json:"details"`
	// in 10.99.0.0/16, unique on the platform; the platform connects to it
	TunnelAddress string    `json:"tunnelAddress"`
	TunnelUser    string    `json:"tunnelUser"` // of its SSTP client, unique on the platform
	APIRef        id.Secret `json:"apiRef"`     // null = no API credentials yet
	RadiusRef     id.Secret `json:"radiusRef"`
	TunnelRef     id.Secret `json:"tunnelRef"`
	ReportRef     id.Secret `json:"reportRef"`
	At            time.Time `json:"at"`
}

// DeviceDetailsCorrected records all details that apply from now on.
type DeviceDetailsCorrected struct {
	DeviceID id.Device     `json:"deviceId"`
	Details  DeviceDetails `json:"details"`
	At       time.Time     `json:"at"`
}

// DeviceCredentialsReplaced records that new credentials of one kind apply from now on.
type DeviceCredentialsReplaced struct {
	DeviceID id.Device      `json:"deviceId"`
	Kind     CredentialKind `json:"kind"`
	Ref      id.Secret      `json:"ref"`
	At       time.Time      `json:"at"`
}

// DeviceTransportLearned records how the router answers, so that the platform need not try all ways again.
type DeviceTransportLearned struct {
	DeviceID  id.Device       `json:"deviceId"`
	Transport DeviceTransport `json:"transport"`
	At        time.Time       `json:"at"`
}

// DeviceUnreachable records that the circuit breaker of the router opened.
type DeviceUnreachable struct {
	DeviceID id.Device `json:"deviceId"`
	Error    string    `json:"error"`
	At       time.Time `json:"at"`
}

// DeviceRecovered records that a health check closed the circuit breaker of the router again.
type DeviceRecovered struct {
	DeviceID id.Device `json:"deviceId"`
	At       time.Time `json:"at"`
}

// DeviceBootstrapReported records the version of the bootstrap script on the router.
type DeviceBootstrapReported struct {
	DeviceID id.Device `json:"deviceId"`
	Version  int       `json:"version"`
	// "report" (the script called the platform), "router" (the platform read it), or "mark" (the platform read it with
	// the mark of the tunnel's present password)
	By string `json:"by"`
	// of the RADIUS secret that the script has brought; zero = not known: the platform read only the script's version,
	// or the event is older than version 2
	RadiusRef id.Secret `json:"radiusRef"`
	At        time.Time `json:"at"`
}

// DeviceBootstrapShown records that somebody was given the bootstrap script, which has the router's tunnel, RADIUS and
// API secrets. The envelope says who.
type DeviceBootstrapShown struct {
	DeviceID  id.Device `json:"deviceId"`
	Version   int       `json:"version"`   // of the script
	RadiusRef id.Secret `json:"radiusRef"` // of the RADIUS secret in it; zero in events older than version 2
	At        time.Time `json:"at"`
}

// DeviceCustomersRead records that somebody had the users of a router read, with their passwords, so that they become
// customers. The envelope says who. The passwords are in the vault.
type DeviceCustomersRead struct {
	DeviceID   id.Device   `json:"deviceId"`
	ProposalID id.Proposal `json:"proposalId"`
	At         time.Time   `json:"at"`
}

// DeviceRebootRequested records that an operator wants a reboot. RunID identifies the attempt.
type DeviceRebootRequested struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	At       time.Time `json:"at"`
}

// DeviceRebootStarted records that the reboot command is about to be sent. After a crash the platform asks for the
// router's uptime and never sends the command again.
type DeviceRebootStarted struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	At       time.Time `json:"at"`
}

// DeviceRebootAccepted records that the router took the command, or closed the connection after it.
type DeviceRebootAccepted struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	At       time.Time `json:"at"`
}

// DeviceRebootConfirmed records that the router's uptime proves the reboot.
type DeviceRebootConfirmed struct {
	DeviceID      id.Device `json:"deviceId"`
	RunID         id.Run    `json:"runId"`
	UptimeSeconds int64     `json:"uptimeSeconds"`
	At            time.Time `json:"at"`
}

// DeviceRebootFailed records that the router refused, with its error text, or that it did not come back.
type DeviceRebootFailed struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	Message  string    `json:"message"`
	At       time.Time `json:"at"`
}

// DeviceDecommissioned records that the platform no longer manages the router. Its tunnel address is free again.
type DeviceDecommissioned struct {
	DeviceID id.Device       `json:"deviceId"`
	OrgID    id.Organization `json:"orgId"`
	At       time.Time       `json:"at"`
}

// DevicePeriodClosed is the last event of a full period. The next period begins with Opening, JSON of the aggregate's
// state.
type DevicePeriodClosed struct {
	DeviceID id.Device `json:"deviceId"`
	Opening  []byte    `json:"opening"`
}

func (DeviceRegistered) EventType() string          { return "network.DeviceRegistered.v1" }
func (DeviceDetailsCorrected) EventType() string    { return "network.DeviceDetailsCorrected.v1" }
func (DeviceCredentialsReplaced) EventType() string { return "network.DeviceCredentialsReplaced.v1" }
func (DeviceTransportLearned) EventType() string    { return "network.DeviceTransportLearned.v1" }
func (DeviceUnreachable) EventType() string         { return "network.DeviceUnreachable.v1" }
func (DeviceRecovered) EventType() string           { return "network.DeviceRecovered.v1" }
func (DeviceBootstrapReported) EventType() string   { return "network.DeviceBootstrapReported.v2" }
func (DeviceBootstrapShown) EventType() string      { return "network.DeviceBootstrapShown.v2" }
func (DeviceCustomersRead) EventType() string       { return "network.DeviceCustomersRead.v1" }
func (DeviceRebootRequested) EventType() string     { return "network.DeviceRebootRequested.v1" }
func (DeviceRebootStarted) EventType() string       { return "network.DeviceRebootStarted.v1" }
func (DeviceRebootAccepted) EventType() string      { return "network.DeviceRebootAccepted.v1" }
func (DeviceRebootConfirmed) EventType() string     { return "network.DeviceRebootConfirmed.v1" }
func (DeviceRebootFailed) EventType() string        { return "network.DeviceRebootFailed.v1" }
func (DeviceDecommissioned) EventType() string      { return "network.DeviceDecommissioned.v1" }
func (DevicePeriodClosed) EventType() string        { return "network.DevicePeriodClosed.v1" }

func (DeviceRegistered) deviceEvent()          {}
func (DeviceDetailsCorrected) deviceEvent()    {}
func (DeviceCredentialsReplaced) deviceEvent() {}
func (DeviceTransportLearned) deviceEvent()    {}
func (DeviceUnreachable) deviceEvent()         {}
func (DeviceRecovered) deviceEvent()           {}
func (DeviceBootstrapReported) deviceEvent()   {}
func (DeviceBootstrapShown) deviceEvent()      {}
func (DeviceCustomersRead) deviceEvent()       {}
func (DeviceRebootRequested) deviceEvent()     {}
func (DeviceRebootStarted) deviceEvent()       {}
func (DeviceRebootAccepted) deviceEvent()      {}
func (DeviceRebootConfirmed) deviceEvent()     {}
func (DeviceRebootFailed) deviceEvent()        {}
func (DeviceDecommissioned) deviceEvent()      {}
func (DevicePeriodClosed) deviceEvent()        {}
