package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// maxRequestID bounds X-Request-Id, in characters.
const maxRequestID = 128

// requestID is the client's X-Request-Id when it has 1 to 128 letters, digits or -_.: and a new id else.
func requestID(r *http.Request) string {
	given := r.Header.Get("X-Request-Id")
	if given == "" || len(given) > maxRequestID {
		return id.New[id.Request]().String()
	}
	for _, b := range []byte(given) {
		if !(b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' ||
			strings.IndexByte("-_.:", b) >= 0) {
			return id.New[id.Request]().String()
		}
	}
	return given
}

// ClientIP is the address from which the request comes: the peer's, or, while that is a trusted proxy, the next one of
// X-Forwarded-For from the right (docs/rules/http.md#trusted-proxies). An entry that is not an address ends the walk at
// the proxy that gave it.
func ClientIP(r *http.Request, trusted []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	at, err := netip.ParseAddr(host)
	if err != nil {
		return ""
	}
	at = at.Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && contains(trusted, at); i-- {
		next, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		at = next.Unmap().WithZone("")
	}
	return at.String()
}

// local reports whether a request comes from a program on this machine itself. One that a proxy on the machine passes
// on names its client, and is not local.
func local(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	at, err := netip.ParseAddr(host)
	passedOn := r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != ""
	return err == nil && at.Unmap().IsLoopback() && !passedOn
}

// subnetBits is the part of an IPv6 address that one customer of any provider has at least: whoever has it can take a
// new address for every request (RFC 6177).
const subnetBits = 64

// limitedAddress is that under which calls of an address are counted: the address itself, or the /64 of an IPv6 one.
func limitedAddress(ip string) string {
	at, err := netip.ParseAddr(ip)
	if err != nil || !at.Is6() {
		return ip
	}
	subnet, err := at.Prefix(subnetBits)
	if err != nil {
		return ip
	}
	return subnet.String()
}

// contains reports whether one of the networks has the address.
func contains(networks []netip.Prefix, at netip.Addr) bool {
	for _, n := range networks {
		if n.Contains(at) {
			return true
		}
	}
	return false
}
