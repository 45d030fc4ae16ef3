package router

import (
	"encoding/hex"
	"net/netip"
	"strings"
)

// options accepts a comma list of DHCP options, also an empty one.
func options(r *Router, prop, value string) (string, *Trap) {
	for _, one := range splitList(value) {
		if !r.hasName("ip/dhcp-server/option", one) {
			return "", mismatch(prop)
		}
	}
	return value, nil
}

// optionValue accepts the value of a DHCP option: parts in quotes, or hexadecimal after 0x. An address in quotes is 4
// bytes; s'...' is always text. Source: docs/facts/routeros.md#dhcp-options.
func optionValue(_ *Router, _, value string) (string, *Trap) {
	if _, ok := optionBytes(value); !ok {
		return "", refuse("failure: Unknown data type!")
	}
	return value, nil
}

// optionBytes gives the bytes of an option's value; false for a text without a type.
func optionBytes(value string) ([]byte, bool) {
	var out []byte
	for value != "" {
		if digits, ok := strings.CutPrefix(value, "0x"); ok {
			end := strings.IndexFunc(digits,
				func(c rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", c) })
			if end < 0 {
				end = len(digits)
			}
			raw, err := hex.DecodeString(digits[:end])
			if err != nil || end == 0 {
				return nil, false
			}
			out, value = append(out, raw...), digits[end:]
			continue
		}
		quoted, isText := strings.CutPrefix(value, "s")
		inner, rest, closed := strings.Cut(strings.TrimPrefix(quoted, "'"), "'")
		if !strings.HasPrefix(quoted, "'") || !closed {
			return nil, false
		}
		if ip, err := netip.ParseAddr(inner); err == nil && !isText {
			out = append(out, ip.AsSlice()...)
		} else {
			out = append(out, inner...)
		}
		value = rest
	}
	return out, true
}

// rawOption gives the bytes that clients get, as the router shows them.
func rawOption(value string) string {
	raw, _ := optionBytes(value)
	return hex.EncodeToString(raw)
}
