package handset

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// Config of a NAS. Server and Secret are required, unless there is Servers.
type Config struct {
	Name       string         // NAS-Identifier; "handset" when empty
	Server     netip.AddrPort // of the RADIUS server, for access
	Accounting netip.AddrPort // when zero, the server's address and the port after its own
	Secret     []byte
	// Servers gives the servers of a service (PPPoE or Hotspot) and of one of the router's servers for it, in the order
	// in which they are asked: the next one when the one before is silent. Without a service it gives all whose
	// requests to change sessions count. It is called for each request, without locks. nil = Server alone.
	Servers func(service, server string) []Server
	Local   netip.Addr // from which requests go; 127.0.0.1 when zero
	Address netip.Addr // NAS-IP-Address; Local when zero
	CoAPort uint16     // at Local, for requests to change and to disconnect; a free one when 0
	// Legacy is RouterOS before 7.15, which sends no Message-Authenticator and demands none. Newer ones take an answer
	// only when it begins with a valid one.
	Legacy bool
	// Pools are the addresses for sessions without one of their own, by the name in Framed-Pool; "" is the profile's
	// own pool. A session for a pool that is not there ends at once. When nil, every pool is there and has
	// 100.64.0.0/10.
	Pools   map[string]netip.Prefix
	Interim time.Duration // between reports where the answer has no Acct-Interim-Interval; 0 = none
	Timeout time.Duration // until a request is repeated; 3 s when 0
	Tries   int           // how often a request is sent at most; 3 when 0
	Sockets int           // to each port of the server, with 256 requests each on their way; 4 when 0
	Boots   uint32        // restarts so far, which Acct-Session-Id has modulo 16
	Seed    uint64        // challenges, MACs and faults follow from it
	Clock   clock.Clock   // the machine's when nil
	Logger  *slog.Logger  // silent when nil

	// Admit decides in place of Pools about a session that the server has accepted. It is called under the lock of the
	// NAS, so it must not call the NAS. A session that it has admitted ends with a call of Ended. nil = Pools.
	Admit func(Offer) (Admission, error)
	// Hears reports whether requests to change and to end sessions reach the router now. nil = always.
	Hears func() bool

	// Started, Changed and Ended are told of sessions, from any goroutine, and must not block. nil = nobody.
	Started func(Session)
	Changed func(Session) // by a request of the server
	Ended   func(Session, Cause)
}

// Server is a RADIUS server as a router knows it.
type Server struct {
	Access     netip.AddrPort // zero: a server that never answers
	Accounting netip.AddrPort
	Secret     []byte
	Timeout    time.Duration // until a request is repeated; that of Config when 0
	// Unsigned takes answers to sign-ins without a Message-Authenticator too.
	Unsigned bool
}

// Offer is a session that the server has accepted, before it is online.
type Offer struct {
	Session Session
	Given   netip.Addr // Framed-IP-Address; zero = one of the pool
	Pool    string     // Framed-Pool; empty = the profile's own
}

// Admission has the decisions of a router about a session that the server has accepted.
type Admission struct {
	Address    netip.Addr
	RateLimit  string        // of a session for which the server gave none; empty = open
	Interim    time.Duration // between reports, whatever the accept says; 0 = none
	Unreported bool          // the router reports no sessions of this kind
}

// filled gives the defaults, or the reason why there can be no such NAS.
func (c Config) filled() (Config, error) {
	if c.Servers == nil && (!c.Server.IsValid() || len(c.Secret) == 0) {
		return c, errors.New("a NAS needs a RADIUS server and a secret")
	}
	if !c.Accounting.IsValid() && c.Server.IsValid() {
		c.Accounting = netip.AddrPortFrom(c.Server.Addr(), c.Server.Port()+1)
	}
	if !c.Local.IsValid() {
		c.Local = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	if !c.Address.IsValid() {
		c.Address = c.Local
	}
	if !c.Address.Is4() {
		return c, fmt.Errorf("NAS-IP-Address %s is no IPv4 address", c.Address)
	}
	c.Name, c.Timeout, c.Tries = cmp.Or(c.Name, "handset"), cmp.Or(c.Timeout, 3*time.Second), cmp.Or(c.Tries, 3)
	c.Sockets = cmp.Or(c.Sockets, 4)
	if c.Clock == nil {
		c.Clock = clock.System()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
