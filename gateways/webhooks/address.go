package webhooks

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
)

// errRefused is the end of a call to an address that no endpoint may have, and to a name that leads nowhere. It is one
// error for all of them: which names there are in a network, and what answers there, is no business of who chose the
// address.
var errRefused = errors.New("the address leads nowhere where an endpoint may be")

// special are networks whose addresses are no machine's on the internet, or stand for addresses of other networks
// (IANA's registries of special addresses). Those that package netip knows are not in the list.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	"5f00::/16", "fec0::/10",
)

// prefixes reads networks.
func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

// allowed reports whether an endpoint may have an address. An IPv4 address that is written as an IPv6 one is judged as
// the former.
func (c *Client) allowed(at netip.Addr) bool {
	at = at.Unmap()
	switch {
	case !at.IsValid(), at.Zone() != "", at.IsUnspecified(), at.IsMulticast(), at.IsLinkLocalUnicast():
		return false
	case at.IsLoopback(), at.IsPrivate():
		return c.cfg.Development
	case !at.IsGlobalUnicast():
		return false
	case slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(at) }):
		return false
	}
	return c.cfg.Development || !slices.Contains(c.cfg.Own(), at)
}

// ownAddresses are those of this machine's interfaces, none when it does not tell them.
func ownAddresses() []netip.Addr {
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

// Check fails when an endpoint cannot have an address: it is an https URL, in development also an http one. Where a
// name leads is looked at when it is called. The text of the error goes behind the name of a field.
func (c *Client) Check(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return errors.New("must be a plain https address")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !c.cfg.Development) {
		return errors.New("must be a plain https address")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return errors.New("must have a port that exists")
		}
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if at, err := netip.ParseAddr(host); err == nil && !c.allowed(at) || err != nil && c.isOwn(host) {
		return errors.New("must be a public address of your own system")
	}
	return nil
}

// isOwn reports whether a name is the platform's or this machine's.
func (c *Client) isOwn(host string) bool {
	if c.cfg.Development {
		return false
	}
	domain := strings.ToLower(c.cfg.Domain)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		domain != "" && (host == domain || strings.HasSuffix(host, "."+domain))
}

// dial connects to the first address of a host that answers. A name is asked for once, and the addresses that were
// checked are those that are dialled, so that it cannot lead elsewhere in between.
func (c *Client) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, errRefused
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, errRefused
	}
	list, err := c.resolve(ctx, strings.TrimSuffix(strings.ToLower(host), "."))
	if err != nil {
		return nil, err
	}
	var last error
	for _, at := range list {
		conn, err := c.cfg.Dial(ctx, netip.AddrPortFrom(at, uint16(number)))
		if err == nil {
			return conn, nil
		}
		if last = err; ctx.Err() != nil {
			break
		}
	}
	return nil, last
}

// resolve gives the addresses of a host that an endpoint may have, one at least. Fails: errRefused.
func (c *Client) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	var list []netip.Addr
	if at, err := netip.ParseAddr(host); err == nil {
		list = []netip.Addr{at}
	} else if !c.isOwn(host) {
		list, _ = c.cfg.Resolve(ctx, host) // a name without an address is one that leads nowhere
	}
	var out []netip.Addr
	for _, at := range list {
		if c.allowed(at) && len(out) < mostDialled {
			out = append(out, at.Unmap())
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, errRefused
}

// dialMachine connects through the machine's network. The address is looked at once more where the connection is made.
func (c *Client) dialMachine(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		if to, err := netip.ParseAddrPort(address); err != nil || !c.allowed(to.Addr()) {
			return errRefused
		}
		return nil
	}}
	return dialer.DialContext(ctx, "tcp", at.String())
}
