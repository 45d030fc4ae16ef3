package routeros

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
)

// Speech is a protocol that a router was found to speak: the caller stores it with the device and gives it back in
// Target.
type Speech string

// The protocols of routers; the zero value means that all are tried.
const (
	Unknown Speech = ""
	REST    Speech = "rest" // at the target's port
	API     Speech = "api"  // at port 8728
	APITLS  Speech = "api-tls"
)

// The ports of docs/rules/network.md#api-ports.
const (
	PortHTTP   = 80
	PortHTTPS  = 443
	PortAPI    = 8728
	PortAPITLS = 8729
)

// Credentials has name and password of the API user. Its methods hide the password from logs, fmt and JSON.
type Credentials struct {
	User     string
	Password string
}

// LogValue shows the user only.
func (c Credentials) LogValue() slog.Value { return slog.GroupValue(slog.String("user", c.User)) }

// String shows the user only.
func (c Credentials) String() string { return "credentials of " + c.User }

// GoString hides the password from %#v, too.
func (c Credentials) GoString() string { return c.String() }

// MarshalJSON fails, so that no body or log can contain a password by accident.
func (c Credentials) MarshalJSON() ([]byte, error) {
	return nil, errors.New("router credentials are not written as JSON")
}

// Target has all that is needed to call a router.
type Target struct {
	// ID names the device: the breaker's target and the key of kept connections.
	ID          string
	Address     netip.Addr // the tunnel address
	Port        uint16     // 80 when 0
	Credentials Credentials
	Speaks      Speech // stored from an earlier Speaks; Unknown is allowed
}

// Policy refuses an address before it is dialled, by an error. Source: docs/rules/engine.md#addresses-we-dial.
type Policy func(netip.Addr) error

// errForbidden answers a call to an address that the policy refuses; nothing was sent.
var errForbidden = errors.New("address is not one of a router")

// Within is the policy of production: it allows only addresses in some ranges, the tunnel's. An IPv4 address in IPv6
// form counts as itself; one with a zone is refused, because it names an interface of this machine.
func Within(ranges ...netip.Prefix) Policy {
	return func(ip netip.Addr) error {
		in := func(p netip.Prefix) bool { return p.Contains(ip.Unmap()) }
		if ip.Zone() != "" || !slices.ContainsFunc(ranges, in) {
			return fmt.Errorf("%s: %w", ip, errForbidden)
		}
		return nil
	}
}

// Anywhere allows all addresses: for development only.
func Anywhere(netip.Addr) error { return nil }

// place is a protocol with the port at which it is tried.
type place struct {
	speech Speech
	port   uint16
	secure bool
}

// places gives the protocols to try for a port, best first. HTTP is never sent to the API's ports; a port that was
// chosen for its encryption never falls back to plain text. Source: docs/rules/network.md#api-ports,
// docs/facts/routeros.md#releases.
func places(port uint16) []place {
	plain, secure := place{API, PortAPI, false}, place{APITLS, PortAPITLS, true}
	switch port {
	case PortAPI:
		return []place{plain}
	case PortAPITLS:
		return []place{secure}
	case PortHTTPS:
		return []place{{REST, port, true}, secure}
	}
	return []place{{REST, port, false}, plain, secure}
}
