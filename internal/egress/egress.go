// Package egress decides which network addresses the platform may connect to when an organization chose the address:
// of its webhook endpoints, its tax gateway, its routers, and of files that its devices load. It is the only list of
// addresses that are refused. Source: docs/rules/engine.md#addresses-we-dial.
package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/idna"
)

// The errors of this package. ErrRefused is the same for an address that is not allowed, for a name of the platform and
// for a name that does not exist: whoever chose the address must not learn which names and machines a network has.
var (
	ErrRefused  = errors.New("the address is not public")
	ErrSpelling = errors.New("must have an IPv4 address as four decimal numbers, such as 192.0.2.7")
)

// special are networks whose addresses belong to no machine on the internet, or stand for addresses of other networks:
// NAT64, 6to4, Teredo, documentation and benchmarks (IANA's registries of special-purpose addresses). Networks that
// package netip knows are not in the list.
var special = parsePrefixes(
	"0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4",
	"::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
	"3fff::/20", "5f00::/16", "fec0::/10",
)

// shared is the range that providers share among their customers (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

// parsePrefixes parses networks.
func parsePrefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

// Limits of Guard.Dial.
const (
	dialTimeout  = 4 * time.Second // for each address of a name
	maxAddresses = 3               // addresses of a name
)

// Guard allows public addresses, without those of the platform. The zero value allows nothing else.
type Guard struct {
	// Development allows addresses of this machine and of private networks, too.
	Development bool
	// Private allows private networks and the range that providers share, for what is in an operator's own network.
	Private bool
	// Inside lists more networks that the platform's operator allows. An address of this machine in one of them is
	// allowed only when the entry is that address alone, or a loopback network.
	Inside []netip.Prefix
	// Domain is the platform's own domain, whose hosts are refused outside development; "" = none.
	Domain string
	// Own returns the platform's own addresses; nil = those of this machine's interfaces.
	Own func() []netip.Addr
	// Resolve returns the addresses of a name; nil = the machine's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Connect connects to an allowed address; nil = the machine's network.
	Connect func(ctx context.Context, at netip.AddrPort) (net.Conn, error)
}

// Allows reports whether an address may be used. An IPv4 address in IPv6 form is judged as the IPv4 address.
func (g Guard) Allows(at netip.Addr) bool {
	at = at.Unmap()
	switch {
	case !at.IsValid(), at.Zone() != "", at.IsUnspecified(), at.IsMulticast(), at.IsLinkLocalUnicast():
		return false
	}
	for _, network := range g.Inside {
		if network.Contains(at) {
			return network.IsSingleIP() || at.IsLoopback() || !g.isOwnAddress(at)
		}
	}
	switch {
	case at.IsLoopback():
		return g.Development
	case at.IsPrivate():
		return g.Development || g.Private && !g.isOwnAddress(at)
	case shared.Contains(at):
		return g.Private && !g.isOwnAddress(at)
	case !at.IsGlobalUnicast(), slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(at) }):
		return false
	}
	return g.Development || !g.isOwnAddress(at)
}

// IsInside reports whether an address is in one of the networks of Inside.
func (g Guard) IsInside(at netip.Addr) bool {
	return slices.ContainsFunc(g.Inside, func(p netip.Prefix) bool { return p.Contains(at.Unmap()) })
}

// isOwnAddress reports whether an address is the platform's.
func (g Guard) isOwnAddress(at netip.Addr) bool {
	if g.Own != nil {
		return slices.Contains(g.Own(), at)
	}
	return slices.Contains(interfaceAddresses(), at)
}

// interfaceAddresses returns those of this machine's interfaces, none when the machine does not say.
func interfaceAddresses() []netip.Addr {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var out []netip.Addr
	for _, a := range list {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, prefix.Addr().Unmap())
		}
	}
	return out
}

// CheckURL checks the host of a URL as far as that is possible without asking for the addresses of a name, which Dial
// checks. Fails: ErrSpelling, ErrRefused.
func (g Guard) CheckURL(u *url.URL) error {
	_, err := g.checkHost(u.Hostname())
	return err
}

// checkHost returns the host as it is looked up. Fails: ErrSpelling, ErrRefused.
func (g Guard) checkHost(host string) (string, error) {
	host, err := asciiHost(host)
	if err != nil {
		return "", ErrRefused
	}
	at, err := netip.ParseAddr(host)
	switch {
	case err == nil && !g.Allows(at):
		return "", ErrRefused
	case err != nil && isNumeric(host):
		return "", ErrSpelling
	case err != nil && g.isOwnName(host):
		return "", ErrRefused
	}
	return host, nil
}

// asciiHost returns a host in the form that is looked up: in small letters, without the dot at the end, and with
// letters outside ASCII encoded (or folded, such as the wide digits that some programs read as digits).
func asciiHost(host string) (string, error) {
	if strings.ContainsFunc(host, func(r rune) bool { return r > '~' }) {
		folded, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", err //nolint:wrapcheck // the caller answers with an error of its own
		}
		host = folded
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "" {
		return "", ErrRefused
	}
	return host, nil
}

// isNumeric reports whether a host that is no address in the usual form is one for programs that also read short,
// decimal, octal and hexadecimal forms (127.1, 2130706433, 0177.0.0.1, 0x7f.1). Such a host ends in a number, and no
// name does.
func isNumeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// isOwnName reports whether a name is the platform's or this machine's.
func (g Guard) isOwnName(host string) bool {
	domain := strings.ToLower(g.Domain)
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")
	return !g.Development && (local || domain != "" && (host == domain || strings.HasSuffix(host, "."+domain)))
}

// Dial connects to the first address of a host that answers; its form is that of http.Transport. It resolves a name
// once and connects to the addresses that it checked, so that the name cannot lead elsewhere in between. Fails:
// ErrSpelling, ErrRefused, and with the network's error.
func (g Guard) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, ErrRefused
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, ErrRefused
	}
	list, err := g.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	connect := g.Connect
	if connect == nil {
		connect = g.dialAllowed
	}
	var last error
	for _, at := range list {
		conn, err := connect(ctx, netip.AddrPortFrom(at, uint16(number)))
		if err == nil {
			return conn, nil
		}
		if last = err; ctx.Err() != nil {
			break
		}
	}
	return nil, last
}

// resolve returns the allowed addresses of a host, at least one. Fails: ErrSpelling, ErrRefused.
func (g Guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	host, err := g.checkHost(host)
	if err != nil {
		return nil, err
	}
	lookup := g.Resolve
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	var list, out []netip.Addr
	if at, err := netip.ParseAddr(host); err == nil {
		list = []netip.Addr{at}
	} else {
		list, _ = lookup(ctx, host) // a name without an address is refused like one with a refused address
	}
	for _, at := range list {
		if g.Allows(at) && len(out) < maxAddresses {
			out = append(out, at.Unmap())
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, ErrRefused
}

// dialAllowed connects through the machine's network, and checks the address again where the connection is made.
func (g Guard) dialAllowed(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		if to, err := netip.ParseAddrPort(address); err != nil || !g.Allows(to.Addr()) {
			return ErrRefused
		}
		return nil
	}}
	return dialer.DialContext(ctx, "tcp", at.String())
}
