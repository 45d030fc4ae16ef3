package main

import (
	"encoding/base64"
	"encoding/hex"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// The widest ranges that production accepts in a list of networks, in bits: more is not a set of
// machines that somebody knows (docs/rules/setup.md#production-checks).
const (
	widestIPv4 = 16
	widestIPv6 = 32
)

// checkSafety checks what has opened a door somewhere, for production only.
func (c Config) checkSafety(f *faults) {
	c.checkWidths(f)
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(c.EncryptionKey.Reveal()))
	f.check(err != nil || len(key) != secrets.KeySize || randomText(c.EncryptionKey.Reveal()),
		"PLATFORM_ENCRYPTION_KEY", notRandom) // another size is a fault of its own, and so is a short signing key
	internal := c.ACSInternalKey.Reveal()
	f.check(internal == "" || len(internal) >= minReportToken, "ACS_INTERNAL_KEY", "must have at least %d characters",
		minReportToken)
	f.check(c.OLTURL == "" || hasScheme(c.OLTURL, "https"), "OLT_URL", "must be https: each call has the token")
	signing := c.JWTSigningKey.Reveal()
	f.check(len(signing) < minSigningKey || randomText(signing), "JWT_SIGNING_KEY", notRandom)
	f.check(c.DatabaseURL == "" || guardedDatabase(string(c.DatabaseURL)), "DATABASE_URL",
		"a database on another machine needs TLS: sslmode=verify-full, verify-ca or require")
	f.check(c.EventStoreURL == "" || guardedEventStore(string(c.EventStoreURL)), "EVENTSTORE_URL",
		"an event store on another machine needs TLS and its certificate checked: leave out tls and tlsVerifyCert")
}

// notRandom is the fault of a key that somebody can guess.
const notRandom = "is not 32 random bytes; make one with: openssl rand -base64 32"

// checkWidths checks every variable that is a list of networks, whichever they are.
func (c Config) checkWidths(f *faults) {
	lists := map[string]networks{}
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if list, ok := v.Field(i).Interface().(networks); ok {
			lists[v.Type().Field(i).Tag.Get("env")] = list
		}
	}
	for _, site := range c.gardenSites() {
		if n, err := netip.ParsePrefix(site); err == nil {
			lists["WALLED_GARDEN_SITES"] = append(lists["WALLED_GARDEN_SITES"], n)
		}
	}
	for name, list := range lists {
		for _, n := range list {
			f.check(!tooWide(n), name, "%s is wider than /%d (IPv6 /%d)", n, widestIPv4, widestIPv6)
		}
	}
}

// tooWide reports whether a range is wider than production accepts.
func tooWide(n netip.Prefix) bool {
	if n.Addr().Is4() {
		return n.Bits() < widestIPv4
	}
	return n.Bits() < widestIPv6
}

// randomText reports whether a text is at least 32 random bytes in hexadecimal digits or in base64.
func randomText(text string) bool {
	text = strings.TrimSpace(text)
	if key, err := hex.DecodeString(text); err == nil {
		return random(key)
	}
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	return err == nil && random(key) && !wordy(text)
}

// random reports whether a key has the size and the look of 32 random bytes or more.
func random(key []byte) bool {
	return len(key) >= secrets.KeySize && !guessable(key) && !printable(key)
}

// wordy reports whether a text in base64 is made of words, which decode to bytes that look random. In words most
// letters follow one of the same case; of random bytes, two characters in three follow one of another class.
func wordy(text string) bool {
	class := func(c byte) int {
		switch {
		case c >= 'a' && c <= 'z':
			return 0
		case c >= 'A' && c <= 'Z':
			return 1
		case c >= '0' && c <= '9':
			return 2
		}
		return 3
	}
	changes := 0
	for i := 1; i < len(text); i++ {
		if class(text[i]) != class(text[i-1]) {
			changes++
		}
	}
	return 3*changes < len(text)
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

// guardedEventStore reports whether a connection string names this machine only, or uses TLS and checks the certificate
// of the server. A string that the client cannot read leads nowhere: the start reports it.
func guardedEventStore(url string) bool {
	servers, guarded, err := eventstore.ReadAddress(url)
	return err != nil || guarded ||
		!slices.ContainsFunc(servers, func(host string) bool { return !onThisMachine(host) })
}
