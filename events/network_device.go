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

// DeviceDetails is what an operator says about a router. Source: docs/rules/network.md#router-inputs.
type DeviceDetails struct {
	Name              string `json:"name"`
	IPAddress         string `json:"ipAddress"` // WAN address
	CoAPort           int    `json:"coaPort"`
	APIPort           int    `json:"apiPort"`           // decides the transport: docs/rules/network.md#api-ports
	ManagementAddress string `json:"managementAddress"` // overrides the tunnel address outside production; "" = none
}

// DeviceTransport is how a router was found to answer.
type DeviceTransport struct {
	Protocol  string `json:"protocol"` // "rest" or "api"
	TLS       bool   `json:"tls"`
	Port      int    `json:"port"`
	Version   string `json:"version"` // of its operating system, as it says: "7.16 (stable)"
	BoardName string `json:"boardName"`
}

// CredentialKind says what a device's reference into the vault is for.
type CredentialKind string

// The kinds of credentials of a device.
const (
	CredentialAPI    CredentialKind = "api"    // user and password of the router's API
	CredentialRadius CredentialKind = "radius" // shared secret of RADIUS
	CredentialTunnel CredentialKind = "tunnel" // password of the SSTP tunnel
	CredentialReport CredentialKind = "report" // token with which the bootstrap script reports its version
)

// DeviceRegistered records a new router with its place in the management tunnel. Secrets are in the vault.
type DeviceRegistered struct {
	DeviceID      id.Device       `json:"deviceId"`
	OrgID         id.Organization `json:"orgId"`
	Details       DeviceDetails   `json:"details"`
	TunnelAddress string          `json:"tunnelAddress"` // in 10.99.0.0/16, platform-wide unique: the address we dial
	TunnelUser    string          `json:"tunnelUser"`    // of its SSTP client, platform-wide unique
	APIRef        id.Secret       `json:"apiRef"`        // null = no API credentials yet
	RadiusRef     id.Secret       `json:"radiusRef"`
	TunnelRef     id.Secret       `json:"tunnelRef"`
	ReportRef     id.Secret       `json:"reportRef"`
	At            time.Time       `json:"at"`
}

// DeviceDetailsCorrected records the details that hold from now on, whole.
type DeviceDetailsCorrected struct {
	DeviceID id.Device     `json:"deviceId"`
	Details  DeviceDetails `json:"details"`
	At       time.Time     `json:"at"`
}

// DeviceCredentialsReplaced records that other credentials of one kind hold from now on.
type DeviceCredentialsReplaced struct {
	DeviceID id.Device      `json:"deviceId"`
	Kind     CredentialKind `json:"kind"`
	Ref      id.Secret      `json:"ref"`
	At       time.Time      `json:"at"`
}

// DeviceTransportLearned records how the router really answers, so that it need not be found out again.
type DeviceTransportLearned struct {
	DeviceID  id.Device       `json:"deviceId"`
	Transport DeviceTransport `json:"transport"`
	At        time.Time       `json:"at"`
}

// DeviceUnreachable records that the breaker of the router opened.
type DeviceUnreachable struct {
	DeviceID id.Device `json:"deviceId"`
	Error    string    `json:"error"`
	At       time.Time `json:"at"`
}

// DeviceRecovered records that a health check closed it again.
type DeviceRecovered struct {
	DeviceID id.Device `json:"deviceId"`
	At       time.Time `json:"at"`
}

// DeviceBootstrapReported records which version of the bootstrap script the router is on.
type DeviceBootstrapReported struct {
	DeviceID id.Device `json:"deviceId"`
	Version  int       `json:"version"`
	By       string    `json:"by"` // "report" (the script called) or "router" (read from the router)
	At       time.Time `json:"at"`
}

// DeviceRebootRequested records that somebody wants the router rebooted. RunID names the attempt.
type DeviceRebootRequested struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	At       time.Time `json:"at"`
}

// DeviceRebootStarted records that the command is about to be sent: a crash after it is resolved by asking, never by
// sending it again.
type DeviceRebootStarted struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	At       time.Time `json:"at"`
}

// DeviceRebootAccepted records that the router took the command, or dropped the connection after it.
type DeviceRebootAccepted struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	At       time.Time `json:"at"`
}

// DeviceRebootConfirmed records that the router's uptime shows the reboot.
type DeviceRebootConfirmed struct {
	DeviceID      id.Device `json:"deviceId"`
	RunID         id.Run    `json:"runId"`
	UptimeSeconds int64     `json:"uptimeSeconds"`
	At            time.Time `json:"at"`
}

// DeviceRebootFailed records that the router refused, in its own words, or did not come back.
type DeviceRebootFailed struct {
	DeviceID id.Device `json:"deviceId"`
	RunID    id.Run    `json:"runId"`
	Message  string    `json:"message"`
	At       time.Time `json:"at"`
}

// DeviceDecommissioned records that the router is no longer the platform's; its tunnel address is free again.
type DeviceDecommissioned struct {
	DeviceID id.Device       `json:"deviceId"`
	OrgID    id.Organization `json:"orgId"`
	At       time.Time       `json:"at"`
}

// DevicePeriodClosed is the last event of a full period: the next begins with Opening.
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
func (DeviceBootstrapReported) EventType() string   { return "network.DeviceBootstrapReported.v1" }
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
func (DeviceRebootRequested) deviceEvent()     {}
func (DeviceRebootStarted) deviceEvent()       {}
func (DeviceRebootAccepted) deviceEvent()      {}
func (DeviceRebootConfirmed) deviceEvent()     {}
func (DeviceRebootFailed) deviceEvent()        {}
func (DeviceDecommissioned) deviceEvent()      {}
func (DevicePeriodClosed) deviceEvent()        {}
