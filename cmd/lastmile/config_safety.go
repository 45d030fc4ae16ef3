package main

import (
	"encoding/base64"
	"net"
	"net/netip"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// The widest ranges that production accepts among trusted proxies and allowed addresses, in bits: more is not a set of
// machines that somebody knows (docs/rules/setup.md#production-checks).
const (
	widestIPv4 = 16
	widestIPv6 = 32
)

// checkSafety checks what has opened a door somewhere, for production only.
func (c Config) checkSafety(f *faults) {
	for name, list := range map[string]networks{
		"TRUSTED_PROXIES": c.TrustedProxy, "PAYMENT_ALLOWED_IPS": c.PaymentAllowedIPs,
	} {
		for _, n := range list {
			f.check(!tooWide(n), name, "%s is wider than /%d (IPv6 /%d)", n, widestIPv4, widestIPv6)
		}
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(c.EncryptionKey.Reveal()))
	f.check(err != nil || len(key) == 0 || !guessable(key) && !printable(key), "PLATFORM_ENCRYPTION_KEY",
		"is not random; make one with: openssl rand -base64 32")
	signing := c.JWTSigningKey.Reveal() // a short one is a fault of its own
	f.check(len(signing) < minSigningKey || !guessable([]byte(signing)), "JWT_SIGNING_KEY",
		"is not random; make one with: openssl rand -base64 32")
	f.check(c.DatabaseURL == "" || guardedDatabase(string(c.DatabaseURL)), "DATABASE_URL",
		"a database on another machine needs TLS: sslmode=verify-full, verify-ca or require")
	f.check(c.EventStoreURL == "" || guardedEventStore(string(c.EventStoreURL)), "EVENTSTORE_URL",
		"an event store on another machine needs TLS: leave out tls=false")
}

// tooWide reports whether a range is wider than production accepts.
func tooWide(n netip.Prefix) bool {
	if n.Addr().Is4() {
		return n.Bits() < widestIPv4
	}
	return n.Bits() < widestIPv6
}

// guessable reports whether a key repeats few bytes, or follows a simple step. Of random bytes neither happens: 32 of
// them, and 32 hexadecimal digits, have far more than 8 different ones and different steps.
func guessable(key []byte) bool {
	const least = 8
	values, steps := map[byte]bool{}, map[byte]bool{}
	for i, b := range key {
		values[b] = true
		if i > 0 {
			steps[b-key[i-1]] = true
		}
	}
	half := key[:len(key)/2]
	return len(values) < least || len(steps) < least || strings.HasPrefix(string(key[len(half):]), string(half))
}

// printable reports whether a key of bytes is a text, which somebody typed.
func printable(key []byte) bool {
	for _, b := range key {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}

// onThisMachine reports whether a host is reached without a network: a loopback address, its name, or a socket's path.
func onThisMachine(host string) bool {
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || strings.HasPrefix(host, "/") || err == nil && addr.IsLoopback()
}

// guardedDatabase reports whether every way to connect that a connection string allows is on this machine or uses TLS.
// A string that cannot be read is reported elsewhere.
func guardedDatabase(url string) bool {
	cfg, err := pgconn.ParseConfig(url)
	if err != nil {
		return false
	}
	guarded := onThisMachine(cfg.Host) || cfg.TLSConfig != nil
	for _, other := range cfg.Fallbacks {
		guarded = guarded && (onThisMachine(other.Host) || other.TLSConfig != nil)
	}
	return guarded
}

// guardedEventStore reports whether a connection string uses TLS, which is its default, or names this machine only.
func guardedEventStore(url string) bool {
	_, rest, _ := strings.Cut(strings.ToLower(url), "://")
	rest, query, _ := strings.Cut(rest, "?")
	if !strings.Contains("&"+query+"&", "&tls=false&") {
		return true
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = rest[at+1:]
	}
	for server := range strings.SplitSeq(strings.TrimSuffix(rest, "/"), ",") {
		host, _, err := net.SplitHostPort(server)
		if err != nil {
			host = server
		}
		if !onThisMachine(host) {
			return false
		}
	}
	return true
}
