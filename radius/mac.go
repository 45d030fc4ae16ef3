package radius

import "encoding/hex"

// MAC is the hardware address of a customer's device. The zero value means none.
type MAC [6]byte

// String is the form that routers use: "AA:BB:CC:00:11:22". The zero value gives "".
func (m MAC) String() string {
	if m == (MAC{}) {
		return ""
	}
	const digits = "0123456789ABCDEF"
	text := make([]byte, 0, 17)
	for i, octet := range m {
		if i > 0 {
			text = append(text, ':')
		}
		text = append(text, digits[octet>>4], digits[octet&15])
	}
	return string(text)
}

// ParseMAC reads 12 hex digits in any notation: with colons, dashes or dots between them, or nothing. ok is false for
// any other text and for the address of zeros.
func ParseMAC(text []byte) (mac MAC, ok bool) {
	var digits [12]byte
	n := 0
	for _, c := range text {
		switch {
		case c == ':' || c == '-' || c == '.':
			continue
		case n == len(digits):
			return MAC{}, false
		}
		digits[n] = c
		n++
	}
	if n != len(digits) {
		return MAC{}, false
	}
	if _, err := hex.Decode(mac[:], digits[:]); err != nil {
		return MAC{}, false
	}
	return mac, mac != (MAC{})
}
