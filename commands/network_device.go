package commands

import (
	"net/netip"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// DeviceCategory begins the names of the streams of routers.
const DeviceCategory = "device"

// Protocols of a router: REST, which RouterOS has from 7.1 on, and the binary API.
const (
	ProtocolREST = "rest"
	ProtocolAPI  = "api"
)

// Default ports of routers. Source: docs/rules/network.md#router-inputs, docs/rules/network.md#api-ports.
const (
	DefaultCoAPort = 3799
	DefaultAPIPort = 80
)

// BootstrapVersion is the version of the newest bootstrap script; older ones have smaller numbers, from 1. Source:
// docs/rules/network.md#bootstrap-script.
const BootstrapVersion = 2

// Ways in which the platform learns the version of the bootstrap script.
const (
	BootstrapByReport = "report" // the script called the platform
	BootstrapByRouter = "router" // the platform read it from the router
	// BootstrapByMark: the platform read it from the router, with the mark of the present password of the tunnel
	BootstrapByMark = "mark"
)

// TunnelPlan is the range of the routers' tunnel addresses. Source: docs/rules/network.md#address-plans.
var TunnelPlan = netip.MustParsePrefix("10.99.0.0/16")

// TunnelGateway is the concentrator's own address in TunnelPlan.
var TunnelGateway = netip.MustParseAddr("10.99.0.1")

// RedirectPort is the TCP port of TunnelGateway at which the platform answers the plain web pages of customers in the
// walled garden (docs/rules/access-walled-garden.md#redirect).
const RedirectPort = 1880

// DeviceCommand is a command to one router.
//
//sumtype:decl
type DeviceCommand interface {
	Command
	deviceCommand()
}

// RegisterDevice creates a router. Fails: device_exists, tunnel_address_taken, tunnel_user_taken (try the next).
type RegisterDevice struct {
	DeviceID      id.Device
	OrgID         id.Organization
	Details       events.DeviceDetails
	TunnelAddress string
	TunnelUser    string
	APIRef        id.Secret // zero = no API credentials yet
	RadiusRef     id.Secret
	TunnelRef     id.Secret
	ReportRef     id.Secret
}

// CorrectDevice replaces all details. Fails: device_not_found.
type CorrectDevice struct {
	DeviceID id.Device
	Details  events.DeviceDetails
}

// ReplaceDeviceCredentials adopts new credentials that the vault already has. Fails: device_not_found,
// concurrent_change when other credentials came in between.
type ReplaceDeviceCredentials struct {
	DeviceID id.Device
	Kind     events.CredentialKind
	From     id.Secret // the present reference, as the caller knows it; zero = none
	Ref      id.Secret
}

// LearnDeviceTransport records the protocol by which the router answers. Fails: device_not_found.
type LearnDeviceTransport struct {
	DeviceID  id.Device
	Transport events.DeviceTransport
}

// MarkDeviceUnreachable reports that the router's circuit breaker opened. Fails: device_not_found.
type MarkDeviceUnreachable struct {
	DeviceID id.Device
	Error    string
}

// MarkDeviceRecovered reports that a health check of the router succeeded. Fails: device_not_found.
type MarkDeviceRecovered struct{ DeviceID id.Device }

// ShowBootstrap records that the caller is about to be given the bootstrap script. Fails: device_not_found.
type ShowBootstrap struct {
	DeviceID  id.Device
	Version   int       // of the script
	RadiusRef id.Secret // of the RADIUS secret in it
}

// ReadDeviceCustomers records that the users of a router, and their passwords, are about to be read for a proposal.
// Fails: device_not_found.
type ReadDeviceCustomers struct {
	DeviceID   id.Device
	ProposalID id.Proposal
}

// ReportBootstrap reports the version of the bootstrap script on the router. Fails: device_not_found, bad_version.
type ReportBootstrap struct {
	DeviceID  id.Device
	Version   int
	By        string
	RadiusRef id.Secret // of the RADIUS secret in the script; zero = not known
	TunnelRef id.Secret // by BootstrapByMark: of the tunnel's password in the script
}

// RequestReboot asks for a reboot; RunID identifies the attempt. Fails: device_not_found, reboot_in_progress.
type RequestReboot struct {
	DeviceID id.Device
	RunID    id.Run
}

// BeginReboot takes the right to send the reboot command. A caller that gets no change must not send it. Fails:
// device_not_found.
type BeginReboot struct {
	DeviceID id.Device
	RunID    id.Run
}

// AcceptReboot reports that the router took the command, or closed the connection after it. Fails: device_not_found.
type AcceptReboot struct {
	DeviceID id.Device
	RunID    id.Run
}

// ConfirmReboot reports an uptime that proves the reboot. Fails: device_not_found.
type ConfirmReboot struct {
	DeviceID      id.Device
	RunID         id.Run
	UptimeSeconds int64
}

// FailReboot reports that the router refused, with its error text, or that it did not come back. Fails:
// device_not_found.
type FailReboot struct {
	DeviceID id.Device
	RunID    id.Run
	Message  string
}

// DecommissionDevice ends a router for ever. CloseAddressingDevice must have succeeded before. Fails: device_not_found.
type DecommissionDevice struct{ DeviceID id.Device }

func (RegisterDevice) CommandName() string           { return "network.RegisterDevice" }
func (CorrectDevice) CommandName() string            { return "network.CorrectDevice" }
func (ReplaceDeviceCredentials) CommandName() string { return "network.ReplaceDeviceCredentials" }
func (LearnDeviceTransport) CommandName() string     { return "network.LearnDeviceTransport" }
func (MarkDeviceUnreachable) CommandName() string    { return "network.MarkDeviceUnreachable" }
func (MarkDeviceRecovered) CommandName() string      { return "network.MarkDeviceRecovered" }
func (ShowBootstrap) CommandName() string            { return "network.ShowBootstrap" }
func (ReadDeviceCustomers) CommandName() string      { return "network.ReadDeviceCustomers" }
func (ReportBootstrap) CommandName() string          { return "network.ReportBootstrap" }
func (RequestReboot) CommandName() string            { return "network.RequestReboot" }
func (BeginReboot) CommandName() string              { return "network.BeginReboot" }
func (AcceptReboot) CommandName() string             { return "network.AcceptReboot" }
func (ConfirmReboot) CommandName() string            { return "network.ConfirmReboot" }
func (FailReboot) CommandName() string               { return "network.FailReboot" }
func (DecommissionDevice) CommandName() string       { return "network.DecommissionDevice" }

func (c RegisterDevice) Target() Target           { return At(DeviceCategory, c.DeviceID) }
func (c CorrectDevice) Target() Target            { return At(DeviceCategory, c.DeviceID) }
func (c ReplaceDeviceCredentials) Target() Target { return At(DeviceCategory, c.DeviceID) }
func (c LearnDeviceTransport) Target() Target     { return At(DeviceCategory, c.DeviceID) }
func (c MarkDeviceUnreachable) Target() Target    { return At(DeviceCategory, c.DeviceID) }
func (c MarkDeviceRecovered) Target() Target      { return At(DeviceCategory, c.DeviceID) }
func (c ShowBootstrap) Target() Target            { return At(DeviceCategory, c.DeviceID) }
func (c ReadDeviceCustomers) Target() Target      { return At(DeviceCategory, c.DeviceID) }
func (c ReportBootstrap) Target() Target          { return At(DeviceCategory, c.DeviceID) }
func (c RequestReboot) Target() Target            { return At(DeviceCategory, c.DeviceID) }
func (c BeginReboot) Target() Target              { return At(DeviceCategory, c.DeviceID) }
func (c AcceptReboot) Target() Target             { return At(DeviceCategory, c.DeviceID) }
func (c ConfirmReboot) Target() Target            { return At(DeviceCategory, c.DeviceID) }
func (c FailReboot) Target() Target               { return At(DeviceCategory, c.DeviceID) }
func (c DecommissionDevice) Target() Target       { return At(DeviceCategory, c.DeviceID) }

// Validate checks form only. The API credentials may be missing.
func (c RegisterDevice) Validate() error {
	var f failure.Faults
	f.Check(!c.DeviceID.IsZero(), "deviceId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	checkDevice(&f, c.Details)
	address, err := netip.ParseAddr(c.TunnelAddress)
	f.Check(err == nil && TunnelPlan.Contains(address) && address.Compare(TunnelGateway) > 0, "tunnelAddress",
		"must be a router's address in %s", TunnelPlan)
	f.Check(c.TunnelUser != "", "tunnelUser", "is required")
	f.Check(!c.RadiusRef.IsZero(), "radiusSecret", "is required")
	f.Check(!c.TunnelRef.IsZero(), "tunnelPassword", "is required")
	return f.Err()
}

// Validate checks form.
func (c CorrectDevice) Validate() error {
	var f failure.Faults
	f.Check(!c.DeviceID.IsZero(), "deviceId", "is required")
	checkDevice(&f, c.Details)
	return f.Err()
}

// Validate checks form only. Only the API credentials may be removed.
func (c ReplaceDeviceCredentials) Validate() error {
	var f failure.Faults
	f.Check(!c.DeviceID.IsZero(), "deviceId", "is required")
	switch c.Kind {
	case events.CredentialAPI:
	case events.CredentialRadius, events.CredentialTunnel, events.CredentialReport:
		f.Check(!c.Ref.IsZero(), string(c.Kind), "is required")
	default:
		f.Add("kind", "must be api, radius, tunnel or report")
	}
	return f.Err()
}

// Validate checks form.
func (c LearnDeviceTransport) Validate() error {
	var f failure.Faults
	f.Check(!c.DeviceID.IsZero(), "deviceId", "is required")
	f.Check(c.Transport.Protocol == ProtocolREST || c.Transport.Protocol == ProtocolAPI, "protocol",
		"must be rest or api")
	return f.Err()
}

// Validate checks form. A version that was never written is refused, whoever tells it.
func (c ReportBootstrap) Validate() error {
	if c.Version < 1 || c.Version > BootstrapVersion {
		return ErrNoBootstrapVersion()
	}
	return deviceNamed(c.DeviceID)
}

func (c ShowBootstrap) Validate() error         { return deviceNamed(c.DeviceID) }
func (c ReadDeviceCustomers) Validate() error   { return deviceNamed(c.DeviceID) }
func (c MarkDeviceUnreachable) Validate() error { return deviceNamed(c.DeviceID) }
func (c MarkDeviceRecovered) Validate() error   { return deviceNamed(c.DeviceID) }
func (c RequestReboot) Validate() error         { return rebootNamed(c.DeviceID, c.RunID) }
func (c BeginReboot) Validate() error           { return rebootNamed(c.DeviceID, c.RunID) }
func (c AcceptReboot) Validate() error          { return rebootNamed(c.DeviceID, c.RunID) }
func (c ConfirmReboot) Validate() error         { return rebootNamed(c.DeviceID, c.RunID) }
func (c FailReboot) Validate() error            { return rebootNamed(c.DeviceID, c.RunID) }
func (c DecommissionDevice) Validate() error    { return deviceNamed(c.DeviceID) }

// deviceNamed requires the id of a router.
func deviceNamed(d id.Device) error {
	var f failure.Faults
	f.Check(!d.IsZero(), "deviceId", "is required")
	return f.Err()
}

// rebootNamed requires the ids of a router and of an attempt.
func rebootNamed(d id.Device, run id.Run) error {
	var f failure.Faults
	f.Check(!d.IsZero(), "deviceId", "is required")
	f.Check(!run.IsZero(), "runId", "is required")
	return f.Err()
}

// Limits of a device's texts: the name in characters, the address in bytes.
const (
	maxDeviceName        = 64
	maxManagementAddress = 255
)

// checkDevice checks the form of the details that an operator enters.
func checkDevice(f *failure.Faults, d events.DeviceDetails) {
	f.Check(shows(d.Name) && len([]rune(d.Name)) <= maxDeviceName, "name", "must have 1 to %d characters",
		maxDeviceName)
	checkLine(f, "name", d.Name)
	address, err := netip.ParseAddr(d.IPAddress)
	f.Check(err == nil && address.Zone() == "" && !address.IsUnspecified() && !address.IsMulticast(), "ipAddress",
		"must be an IP address")
	f.Check(isPort(d.CoAPort), "coaPort", "must be from 1 to 65535")
	f.Check(isPort(d.APIPort), "apiPort", "must be from 1 to 65535")
	if used := PortInUse(d.APIPort); used != "" {
		f.Add("apiPort", "must not be %d, where a router has %s", d.APIPort, used)
	}
	f.Check(len(d.ManagementAddress) <= maxManagementAddress && !strings.ContainsAny(d.ManagementAddress, "/?#@ ") &&
		!hasControl(d.ManagementAddress),
		"managementAddress", "must be a host, or host:port")
}

// isPort reports whether a number is a port of TCP or UDP.
func isPort(n int) bool { return n > 0 && n <= 65535 }

func (RegisterDevice) deviceCommand()           {}
func (CorrectDevice) deviceCommand()            {}
func (ShowBootstrap) deviceCommand()            {}
func (ReadDeviceCustomers) deviceCommand()      {}
func (ReplaceDeviceCredentials) deviceCommand() {}
func (LearnDeviceTransport) deviceCommand()     {}
func (MarkDeviceUnreachable) deviceCommand()    {}
func (MarkDeviceRecovered) deviceCommand()      {}
func (ReportBootstrap) deviceCommand()          {}
func (RequestReboot) deviceCommand()            {}
func (BeginReboot) deviceCommand()              {}
func (AcceptReboot) deviceCommand()             {}
func (ConfirmReboot) deviceCommand()            {}
func (FailReboot) deviceCommand()               {}
func (DecommissionDevice) deviceCommand()       {}

// ErrNoBootstrapVersion is the failure for a version of the bootstrap script that was never written.
func ErrNoBootstrapVersion() error {
	return failure.NewMalformed("bad_version", "There is no such version of the bootstrap script.")
}

// ErrNoDevice is the failure for a device that does not exist or belongs to another organization.
func ErrNoDevice() error {
	return failure.NewNotFound("device_not_found", "There is no such device.")
}

// PortInUse names what a router has on a TCP port besides its web and API services; "" for any other port. The
// bootstrap script moves the web service to the API port, and would take the port away from what is there. Source:
// docs/rules/network.md#api-ports.
func PortInUse(port int) string {
	switch port {
	case 20, 21:
		return "its file service"
	case 22:
		return "ssh"
	case 23:
		return "telnet"
	case 53:
		return "its name service"
	case 179:
		return "BGP"
	case 646:
		return "label distribution"
	case 1723:
		return "PPTP"
	case 2000:
		return "its bandwidth test"
	case 8291:
		return "Winbox"
	}
	return ""
}
