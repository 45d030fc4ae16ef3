package routerplan

import (
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// form is the way in which the values of a property are compared.
type form uint8

// The forms. A property that forms does not list is compared as text.
const (
	formText form = iota
	formFlag
	formDuration
	formRanges
	formPrefix
	formSet
	formRate
	formNumber
)

// forms lists the properties whose values a router writes in another way than it was given. Source:
// docs/facts/routeros.md#formats.
var forms = map[string]form{
	"disabled": formFlag, "one-session-per-host": formFlag, "use-radius": formFlag, "radius-accounting": formFlag,
	"radius": formFlag, "accept-empty-service": formFlag, "accept": formFlag, "accounting": formFlag,
	"accounting-backup": formFlag, "use-service-tag": formFlag, "add-default-route": formFlag,
	"lease-time": formDuration, "timeout": formDuration, "interim-update": formDuration, "idle-timeout": formDuration,
	"ranges": formRanges, "address": formPrefix, "dst-address": formPrefix, "src-address": formPrefix,
	propertyLoginBy: formSet, "dns-server": formSet, "connection-state": formSet, "authentication": formSet,
	"max-limit": formRate, "limit-at": formRate, "burst-limit": formRate, "burst-threshold": formRate,
	"vlan-id": formNumber, "dst-port": formSet, "service": formSet, "port": formNumber,
}

// SameValue reports whether two values of a property mean the same to a router: 1h and 01:00:00, yes and true, 10M/10M
// and 10000000/10000000.
func SameValue(property, a, b string) bool {
	return a == b || Canonical(property, a) == Canonical(property, b)
}

// Canonical writes all values with the same meaning in one way. A value that it cannot read stays as it is.
func Canonical(property, value string) string {
	value = strings.TrimSpace(value)
	switch forms[property] {
	case formFlag:
		return canonicalFlag(value)
	case formDuration:
		if d, ok := ParseDuration(value); ok {
			return d.String()
		}
	case formRanges:
		return canonicalRanges(value)
	case formPrefix:
		return canonicalPrefix(value)
	case formSet:
		list := strings.Split(value, ",")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		slices.Sort(list)
		return strings.Join(slices.Compact(list), ",")
	case formRate:
		up, down, both := strings.Cut(value, "/")
		if !both {
			down = up
		}
		return canonicalRate(strings.TrimSpace(up)) + "/" + canonicalRate(strings.TrimSpace(down))
	case formNumber:
		if n, err := strconv.ParseInt(value, 0, 64); err == nil {
			return strconv.FormatInt(n, 10)
		}
	}
	return value
}

// canonicalFlag writes yes as true, and no as false. An absent flag is false.
func canonicalFlag(value string) string {
	switch value {
	case "yes", "true":
		return "true"
	case "no", "false", "":
		return "false"
	}
	return value
}

// durationUnits are the units of a router's durations; "ms" is tried before "m".
var durationUnits = []struct {
	suffix string
	unit   time.Duration
}{
	{"ms", time.Millisecond}, {"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute},
	{"s", time.Second},
}

// ParseDuration reads a router's durations: 1w2d3h4m5s, 500ms, 00:05:00, 1d02:03:04, and a bare number of seconds.
// False for any other text, and above the range of time.Duration.
func ParseDuration(text string) (time.Duration, bool) {
	var total time.Duration
	if text == "" {
		return 0, false
	}
	for text != "" {
		digits := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
		if digits < 0 {
			n, err := strconv.ParseInt(text, 10, 32)
			return sum(total, time.Duration(n)*time.Second, err == nil)
		}
		if text[digits] == ':' {
			d, ok := parseClock(text)
			return sum(total, d, ok)
		}
		n, err := strconv.ParseInt(text[:digits], 10, 32)
		if err != nil {
			return 0, false
		}
		text = text[digits:]
		i := slices.IndexFunc(durationUnits, func(u struct {
			suffix string
			unit   time.Duration
		}) bool {
			return strings.HasPrefix(text, u.suffix)
		})
		if i < 0 {
			return 0, false
		}
		if unit := durationUnits[i].unit; time.Duration(n) > (math.MaxInt64-total)/unit {
			return 0, false
		}
		total += time.Duration(n) * durationUnits[i].unit
		text = text[len(durationUnits[i].suffix):]
	}
	return total, true
}

// sum adds two parts of a duration; zero and false when a part was not read, or beyond the range of time.Duration.
func sum(a, b time.Duration, ok bool) (time.Duration, bool) {
	if !ok || b > math.MaxInt64-a {
		return 0, false
	}
	return a + b, true
}

// parseClock reads a duration of the form 02:03:04, hours first.
func parseClock(text string) (time.Duration, bool) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return 0, false
	}
	var total time.Duration
	for i, unit := range []time.Duration{time.Hour, time.Minute, time.Second} {
		n, err := strconv.ParseInt(parts[i], 10, 32)
		if err != nil || n < 0 || time.Duration(n) > (math.MaxInt64-total)/unit {
			return 0, false
		}
		total += time.Duration(n) * unit
	}
	return total, true
}

// canonicalRanges sorts address ranges; a single address is a range of one, and a prefix is its first to its last
// address.
func canonicalRanges(value string) string {
	var out []string
	for part := range strings.SplitSeq(value, ",") {
		from, to, both := strings.Cut(strings.TrimSpace(part), "-")
		if !both {
			to = from
			if p, err := netip.ParsePrefix(from); err == nil && p.Addr().Is4() {
				from, to = p.Masked().Addr().String(), broadcast(p).String()
			}
		}
		out = append(out, strings.TrimSpace(from)+"-"+strings.TrimSpace(to))
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// broadcast is the last address of an IPv4 prefix.
func broadcast(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().As4()
	for i := p.Bits(); i < 32; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	return netip.AddrFrom4(b)
}

// canonicalPrefix writes a single address as a prefix of full length. A prefix keeps its host bits, because they are
// the router's own address.
func canonicalPrefix(value string) string {
	if a, err := netip.ParseAddr(value); err == nil {
		return netip.PrefixFrom(a, a.BitLen()).String()
	}
	if p, err := netip.ParsePrefix(value); err == nil {
		return p.String()
	}
	return value
}

// canonicalRate writes a rate in bits per second; k is 1000, and a text that is no rate stays.
func canonicalRate(value string) string {
	digits := strings.TrimRight(value, "kKMmGg")
	n, err := strconv.ParseFloat(digits, 64)
	factor, known := map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[strings.ToLower(value[len(digits):])]
	if err != nil || !known {
		return value
	}
	return strconv.FormatFloat(n*factor, 'f', 0, 64)
}

// sortedKeys lists the properties of a row in a fixed order.
func sortedKeys(values map[string]string) []string { return slices.Sorted(maps.Keys(values)) }
