package router

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// check refuses a wrong value of a property, or gives the value in the form in which it is stored.
type check func(r *Router, prop, value string) (string, *Trap)

// boolean accepts yes, no, true and false, and stores true or false.
func boolean(_ *Router, prop, value string) (string, *Trap) {
	switch value {
	case "yes", "true":
		return "true", nil
	case "no", "false":
		return "false", nil
	}
	return "", mismatch(prop)
}

// number accepts an integer in a range, bounds included, or one of some words.
func number(low, high int64, words ...string) check {
	return func(_ *Router, prop, value string) (string, *Trap) {
		if slices.Contains(words, value) {
			return value, nil
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return "", badValue(prop)
		}
		if n < low || n > high {
			return "", &Trap{
				Category: 1, Message: fmt.Sprintf("value of %s out of range (%d..%d)", prop, low, high), Status: 400,
			}
		}
		return strconv.FormatInt(n, 10), nil
	}
}

// oneOf accepts one of some words.
func oneOf(words ...string) check {
	return func(_ *Router, prop, value string) (string, *Trap) {
		if slices.Contains(words, value) {
			return value, nil
		}
		return "", mismatch(prop)
	}
}

// listOf accepts a comma list of some words, also an empty one.
func listOf(words ...string) check {
	return func(_ *Router, prop, value string) (string, *Trap) {
		for word := range strings.SplitSeq(value, ",") {
			if value != "" && !slices.Contains(words, word) {
				return "", mismatch(prop)
			}
		}
		return value, nil
	}
}

// existing accepts the name or the id of an item of a table, or one of some words, and stores the name.
func existing(target string, words ...string) check {
	return func(r *Router, prop, value string) (string, *Trap) {
		if slices.Contains(words, value) || r.hasName(target, value) {
			return value, nil
		}
		if id, ok := parseID(value); ok {
			if w := r.tableOf(target).byID(id); w != nil && w.name() != "" {
				return w.name(), nil
			}
		}
		return "", mismatch(prop)
	}
}

// interval accepts a duration in any form, or one of some words, and stores the form 1d2h3m4s.
func interval(words ...string) check {
	return func(_ *Router, prop, value string) (string, *Trap) {
		if slices.Contains(words, value) {
			return value, nil
		}
		d, ok := parseSpan(value)
		if !ok {
			return "", badValue(prop)
		}
		return span(d), nil
	}
}

// address accepts an IP address.
func address(_ *Router, prop, value string) (string, *Trap) {
	ip, err := netip.ParseAddr(value)
	if err != nil {
		return "", badValue(prop)
	}
	return ip.String(), nil
}

// addressOrPool accepts an IP address or the name of a pool.
func addressOrPool(r *Router, prop, value string) (string, *Trap) {
	if r.hasName("ip/pool", value) {
		return value, nil
	}
	if _, trap := address(r, prop, value); trap != nil {
		return "", mismatch(prop)
	}
	return value, nil
}

// prefix accepts an address with or without a length, and with "!" before it, and keeps host bits; a /32 is shown as a
// bare address.
func prefix(_ *Router, prop, value string) (string, *Trap) {
	bare := strings.TrimPrefix(value, "!")
	if ip, err := netip.ParseAddr(bare); err == nil {
		return value[:len(value)-len(bare)] + ip.String(), nil
	}
	p, err := netip.ParsePrefix(bare)
	if err != nil {
		return "", badValue(prop)
	}
	return value[:len(value)-len(bare)] + strings.TrimSuffix(p.String(), "/32"), nil
}

// network accepts a prefix without host bits.
func network(_ *Router, prop, value string) (string, *Trap) {
	p, err := netip.ParsePrefix(value)
	if err != nil {
		return "", badValue(prop)
	}
	if p.Masked() != p {
		return "", refuse("failure: invalid network")
	}
	return p.String(), nil
}

// route accepts a destination; host bits are cut off.
func route(_ *Router, prop, value string) (string, *Trap) {
	if ip, err := netip.ParseAddr(value); err == nil {
		return ip.String() + "/32", nil
	}
	p, err := netip.ParsePrefix(value)
	if err != nil {
		return "", badValue(prop)
	}
	return p.Masked().String(), nil
}

// interfaceAddress accepts an address with its length; a bare address is a /32.
func interfaceAddress(_ *Router, prop, value string) (string, *Trap) {
	if ip, err := netip.ParseAddr(value); err == nil {
		return ip.String() + "/32", nil
	}
	p, err := netip.ParsePrefix(value)
	if err != nil {
		return "", badValue(prop)
	}
	return p.String(), nil
}

// prefixes accepts a comma list of prefixes, also an empty one.
func prefixes(r *Router, prop, value string) (string, *Trap) {
	if value == "" {
		return "", nil
	}
	var out []string
	for part := range strings.SplitSeq(value, ",") {
		p, trap := prefix(r, prop, part)
		if trap != nil {
			return "", trap
		}
		if !strings.Contains(p, "/") {
			p += "/32"
		}
		out = append(out, p)
	}
	return strings.Join(out, ","), nil
}

// addressRanges accepts a comma list of a-b, a, or a prefix.
func addressRanges(_ *Router, prop, value string) (string, *Trap) {
	for part := range strings.SplitSeq(value, ",") {
		if _, err := netip.ParsePrefix(part); err == nil {
			continue
		}
		low, high, two := strings.Cut(part, "-")
		first, err := netip.ParseAddr(low)
		last := first
		if two && err == nil {
			last, err = netip.ParseAddr(high)
		}
		if err != nil || last.Less(first) {
			return "", badValue(prop)
		}
	}
	return value, nil
}

// hardware accepts a MAC address and stores it in capitals.
func hardware(_ *Router, prop, value string) (string, *Trap) {
	mac, err := net.ParseMAC(value)
	if err != nil {
		return "", badValue(prop)
	}
	return strings.ToUpper(mac.String()), nil
}

// ratePair accepts upload/download in bits a second, with k, M and G, and stores integers; one number stands for both.
func ratePair(_ *Router, prop, value string) (string, *Trap) {
	up, down, two := strings.Cut(value, "/")
	if !two {
		down = up
	}
	a, okA := parseRate(up)
	b, okB := parseRate(down)
	if !okA || !okB {
		return "", badValue(prop)
	}
	return fmt.Sprintf("%d/%d", a, b), nil
}

// parseRate reads 10M; the units are powers of 1000.
func parseRate(text string) (int64, bool) {
	unit := int64(1)
	for suffix, n := range map[string]int64{"k": 1e3, "M": 1e6, "G": 1e9} {
		if cut, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = cut, n
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 40)
	return n * unit, err == nil && n >= 0
}
