package radius

import (
	"encoding/binary"
	"net/netip"
	"unicode/utf8"

	"layeh.com/radius"
	"layeh.com/radius/rfc2759"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc4818"
	"layeh.com/radius/rfc6911"
)

// Types of the attributes that are read, as one octet. The numbers are those of the dictionaries.
const (
	typeUserName          = byte(rfc2865.UserName_Type)
	typeUserPassword      = byte(rfc2865.UserPassword_Type)
	typeCHAPPassword      = byte(rfc2865.CHAPPassword_Type)
	typeNASPort           = byte(rfc2865.NASPort_Type)
	typeServiceType       = byte(rfc2865.ServiceType_Type)
	typeFramedProtocol    = byte(rfc2865.FramedProtocol_Type)
	typeFramedIP          = byte(rfc2865.FramedIPAddress_Type)
	typeReplyMessage      = byte(rfc2865.ReplyMessage_Type)
	typeClass             = byte(rfc2865.Class_Type)
	typeVendorSpecific    = byte(rfc2865.VendorSpecific_Type)
	typeCalledStation     = byte(rfc2865.CalledStationID_Type)
	typeCallingStation    = byte(rfc2865.CallingStationID_Type)
	typeNASIdentifier     = byte(rfc2865.NASIdentifier_Type)
	typeProxyState        = byte(rfc2865.ProxyState_Type)
	typeCHAPChallenge     = byte(rfc2865.CHAPChallenge_Type)
	typeNASPortType       = byte(rfc2865.NASPortType_Type)
	typeStatusType        = byte(rfc2866.AcctStatusType_Type)
	typeDelayTime         = byte(rfc2866.AcctDelayTime_Type)
	typeInputOctets       = byte(rfc2866.AcctInputOctets_Type)
	typeOutputOctets      = byte(rfc2866.AcctOutputOctets_Type)
	typeSessionID         = byte(rfc2866.AcctSessionID_Type)
	typeSessionTime       = byte(rfc2866.AcctSessionTime_Type)
	typeTerminateCause    = byte(rfc2866.AcctTerminateCause_Type)
	typeInputGigawords    = byte(rfc2869.AcctInputGigawords_Type)
	typeOutputGigawords   = byte(rfc2869.AcctOutputGigawords_Type)
	typeEventTimestamp    = byte(rfc2869.EventTimestamp_Type)
	typeEAPMessage        = byte(rfc2869.EAPMessage_Type)
	typeAuthenticator     = byte(rfc2869.MessageAuthenticator_Type)
	typeNASPortID         = byte(rfc2869.NASPortID_Type)
	typeFramedIPv6Prefix  = byte(rfc3162.FramedIPv6Prefix_Type)
	typeFramedIPv6        = byte(rfc6911.FramedIPv6Address_Type)
	typeDelegatedIPv6     = byte(rfc4818.DelegatedIPv6Prefix_Type)
	valuePPP              = uint32(rfc2865.FramedProtocol_Value_PPP)
	valueLogin            = uint32(rfc2865.ServiceType_Value_LoginUser)
	valueFramed           = uint32(rfc2865.ServiceType_Value_FramedUser)
	valueVirtual          = uint32(rfc2865.NASPortType_Value_Virtual)
	maxValue              = 253 // octets of one attribute's value
	maxVendorValue        = maxValue - 6
	authenticatorAttrSize = 2 + 16
)

// Vendors whose attributes are read or sent, by their private enterprise numbers.
const (
	VendorMicrosoft = 311
	VendorMikroTik  = 14988
)

// Numbers of attributes within the vendors' spaces. The dictionaries of the library do not export them.
const (
	msCHAPResponse  = 1
	msCHAPError     = 2
	msCHAPMPPEKeys  = 12
	msMPPESendKey   = 16
	msMPPERecvKey   = 17
	msCHAPChallenge = 11
	msCHAP2Response = 25
	msCHAP2Success  = 26
	mikrotikHostIP  = 10
)

// Attributes is a list of attributes as they are sent. Methods append to it and return the longer list, like append.
// What does not fit into one attribute is cut. Lists that the directory prepares are shared and must not change.
type Attributes []byte

// Octets appends any value of at most 253 octets. An empty value is left out, since the protocol has none.
func (a Attributes) Octets(t radius.Type, value []byte) Attributes {
	if len(value) == 0 {
		return a
	}
	value = value[:min(len(value), maxValue)]
	return append(append(a, byte(t), byte(len(value)+2)), value...)
}

// Text is Octets for a text in UTF-8, of which no character is split.
func (a Attributes) Text(t radius.Type, value string) Attributes {
	if value == "" {
		return a
	}
	value = value[:fitting(value, maxValue)]
	return append(append(a, byte(t), byte(len(value)+2)), value...)
}

// fitting is how many octets of a text fit into limit octets without a part of a character. Octets that are no
// character are cut at the limit.
func fitting(text string, limit int) int {
	if len(text) <= limit {
		return len(text)
	}
	for n := limit; n > limit-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return limit
}

// Number appends a value of 32 bits, such as seconds or octets.
func (a Attributes) Number(t radius.Type, value uint32) Attributes {
	return binary.BigEndian.AppendUint32(append(a, byte(t), 6), value)
}

// Address appends an IPv4 address. Other addresses are left out: IPv6 has attributes of its own.
func (a Attributes) Address(t radius.Type, value netip.Addr) Attributes {
	value = value.Unmap()
	if !value.Is4() {
		return a
	}
	four := value.As4()
	return append(append(a, byte(t), 6), four[:]...)
}

// Prefix appends an IPv6 prefix in the form of Framed-IPv6-Prefix and Delegated-IPv6-Prefix (RFC 3162, 2.3). Other
// prefixes are left out.
func (a Attributes) Prefix(t radius.Type, value netip.Prefix) Attributes {
	if !value.IsValid() || !value.Addr().Is6() {
		return a
	}
	address := value.Masked().Addr().As16()
	octets := (value.Bits() + 7) / 8
	a = append(a, byte(t), byte(4+octets), 0, byte(value.Bits()))
	return append(a, address[:octets]...)
}

// Vendor appends an attribute of a vendor, in an attribute Vendor-Specific of its own, of at most 247 octets.
func (a Attributes) Vendor(vendor uint32, t byte, value []byte) Attributes {
	value = value[:min(len(value), maxVendorValue)]
	a = append(a, typeVendorSpecific, byte(len(value)+8))
	a = binary.BigEndian.AppendUint32(a, vendor)
	return append(append(a, t, byte(len(value)+2)), value...)
}

// MikroTik is Vendor for a text of a MikroTik router, such as a rate limit.
func (a Attributes) MikroTik(t byte, value string) Attributes {
	return a.Vendor(VendorMikroTik, t, []byte(value[:fitting(value, maxVendorValue)]))
}

// NTHash is the hash of a password from which MS-CHAP answers are computed. It is as secret as the password.
func NTHash(password string) ([16]byte, error) {
	wide, err := rfc2759.ToUTF16([]byte(password))
	if err != nil {
		return [16]byte{}, err
	}
	return [16]byte(rfc2759.NTPasswordHash(wide)), nil
}
