package handset

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"layeh.com/radius"
)

// Attribute is one attribute of an answer, for people.
type Attribute struct {
	Name  string `json:"name"` // Vendor-311-26 where it has no name here
	Value string `json:"value"`
}

// The vendors whose attributes have names here.
const (
	vendorMikroTik  = 14988
	vendorMicrosoft = 311
)

// form is how the value of an attribute is written.
type form struct {
	name string
	kind byte // t text, n number, a address, x hexadecimal
}

// formOf gives the form of an attribute that servers send to routers; vendor 0 is for the standards.
func formOf(vendor uint32, number int) form {
	switch vendor {
	case 0:
		return map[int]form{
			6: {"Service-Type", 'n'}, 7: {"Framed-Protocol", 'n'}, 8: {"Framed-IP-Address", 'a'},
			11: {"Filter-Id", 't'}, 18: {"Reply-Message", 't'}, 22: {"Framed-Route", 't'}, 25: {"Class", 'x'},
			27: {"Session-Timeout", 'n'}, 28: {"Idle-Timeout", 'n'}, 33: {"Proxy-State", 'x'}, 62: {"Port-Limit", 'n'},
			80: {"Message-Authenticator", 'x'}, 85: {"Acct-Interim-Interval", 'n'}, 88: {"Framed-Pool", 't'},
			97: {"Framed-IPv6-Prefix", 'x'}, 99: {"Framed-IPv6-Route", 't'}, 100: {"Framed-IPv6-Pool", 't'},
			101: {"Error-Cause", 'n'}, 123: {"Delegated-IPv6-Prefix", 'x'},
		}[number]
	case vendorMikroTik:
		return map[int]form{
			1: {"Mikrotik-Recv-Limit", 'n'}, 2: {"Mikrotik-Xmit-Limit", 'n'}, 3: {"Mikrotik-Group", 't'},
			8: {"Mikrotik-Rate-Limit", 't'}, 17: {"Mikrotik-Total-Limit", 'n'}, 19: {"Mikrotik-Address-List", 't'},
			18: {"Mikrotik-Total-Limit-Gigawords", 'n'}, 22: {"Mikrotik-Delegated-IPv6-Pool", 't'},
		}[number]
	case vendorMicrosoft:
		return map[int]form{
			2: {"MS-CHAP-Error", 't'}, 12: {"MS-CHAP-MPPE-Keys", 'x'}, 16: {"MS-MPPE-Send-Key", 'x'},
			17: {"MS-MPPE-Recv-Key", 'x'}, 26: {"MS-CHAP2-Success", 't'},
		}[number]
	}
	return form{}
}

// show writes a value by its form, or in hexadecimal when it does not fit.
func (f form) show(value []byte) string {
	switch {
	case f.kind == 't':
		return strings.ToValidUTF8(string(value), "?")
	case f.kind == 'n' && len(value) == 4:
		return strconv.FormatUint(uint64(binary.BigEndian.Uint32(value)), 10)
	case f.kind == 'a' && len(value) == 4:
		return netip.AddrFrom4([4]byte(value)).String()
	}
	return hex.EncodeToString(value)
}

// vendorPart is one attribute in a vendor's space; the vendor is 0 for a plain one.
type vendorPart struct {
	vendor uint32
	number int
	value  []byte
}

// parts are the attributes of a packet in their order, with those of vendors taken apart.
func parts(p *radius.Packet) []vendorPart {
	var list []vendorPart
	for _, a := range p.Attributes {
		vendor, rest, err := radius.VendorSpecific(a.Attribute)
		if a.Type != 26 || err != nil {
			list = append(list, vendorPart{0, int(a.Type), a.Attribute})
			continue
		}
		for len(rest) >= 2 && int(rest[1]) >= 2 && int(rest[1]) <= len(rest) {
			list = append(list, vendorPart{vendor, int(rest[0]), rest[2:rest[1]]})
			rest = rest[rest[1]:]
		}
	}
	return list
}

// attributes are the attributes of an answer for people, without its signature.
func attributes(p *radius.Packet) []Attribute {
	list := []Attribute{}
	for _, part := range parts(p) {
		f := formOf(part.vendor, part.number)
		if f.name == "" {
			f.name = fmt.Sprintf("Vendor-%d-%d", part.vendor, part.number)
		}
		if part.vendor != 0 || part.number != int(signType) {
			list = append(list, Attribute{f.name, f.show(part.value)})
		}
	}
	return list
}
