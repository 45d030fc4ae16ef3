package radius

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"layeh.com/radius"
)

// Sizes of the wire format (RFC 2865, 3).
const (
	headerSize = 20
	maxPacket  = 4096
)

// errMalformed is for packets that no router sends: their lengths contradict each other.
var errMalformed = errors.New("malformed packet")

// Service is the way in which a customer is connected.
type Service uint8

// The services. An accounting request may not tell: routers leave Service-Type out there.
const (
	ServiceUnknown Service = iota
	ServicePPPoE
	ServiceTunnel // SSTP, L2TP and the like, over the internet
	ServiceHotspot
)

// String is the word for logs and lists.
func (s Service) String() string { return [...]string{"unknown", "pppoe", "tunnel", "hotspot"}[s] }

// Method is how a request proves the password.
type Method uint8

// The methods.
const (
	MethodNone Method = iota // no proof, several, or one that is not supported
	MethodPAP
	MethodCHAP
	MethodMSCHAP1
	MethodMSCHAP2
)

// String is the word for logs.
func (m Method) String() string { return [...]string{"none", "pap", "chap", "mschap", "mschapv2"}[m] }

// Request is a decoded Access-Request. Its slices are views into the packet: they are valid, and must not be changed,
// during the call that gets the request. A field that was not sent is empty.
type Request struct {
	UserName       []byte
	CallingStation []byte // a MAC for PPPoE and hotspots, an address for tunnels
	CalledStation  []byte // name of the PPPoE service or of the hotspot server
	NASPortID      []byte // interface of the router, or the circuit
	NASIdentifier  []byte // name of the router; not unique, proves nothing
	SessionID      []byte // the same as in the accounting that follows
	Service        Service
	Method         Method
	MAC            MAC  // of CallingStation, zero when that is none
	MACLogin       bool // a hotspot signs a device in by its MAC: User-Name is the MAC of CallingStation
	NASPort        uint32
	PortType       uint32 // NAS-Port-Type
	FramedIP       netip.Addr
	HostIP         netip.Addr // address of the device in the hotspot's network
	At             time.Time  // when the packet was read, UTC

	raw        []byte // the whole packet, without octets past its length
	proof      proof
	accounting accounting
	found      uint32 // bits of seen
	invalid    bool   // an attribute that names or proves the customer came twice
	unreadable int    // attributes that were passed over because of their length
	eap        bool
	proxies    int // number of Proxy-State attributes
	ma         int // place of Message-Authenticator's value in raw, 0 = none
}

// proof holds the attributes that prove a password.
type proof struct {
	password, chap, challenge            []byte
	msChallenge, msResponse, ms2Response []byte
}

// accounting holds the attributes that only accounting requests have.
type accounting struct {
	status, delay, sessionTime, cause, timestamp uint32
	input, output, inputGiga, outputGiga         uint32
	serviceType, framedProtocol                  uint32
	class                                        []byte
	framedIPv6                                   netip.Addr
	framedPrefix, delegatedPrefix                netip.Prefix
	badInput, badOutput                          bool // a half of the counter cannot be read
}

// octets joins the halves of a counter; zero where one of them cannot be read, since the other one alone misleads.
func octets(giga, low uint32, bad bool) uint64 {
	if bad {
		return 0
	}
	return uint64(giga)<<32 | uint64(low)
}

// seen marks attributes of which it matters that they were there: by the bits of Request.found.
const (
	seenUserName = 1 << iota
	seenPassword
	seenCHAP
	seenChallenge
	seenMSChallenge
	seenMSResponse
	seenMS2Response
	seenStatus
	seenSessionID
	seenPortType
	seenGigawords
)

// cut checks the header of a datagram and returns the packet without the octets past its length, which are padding (RFC
// 2865, 3).
func cut(datagram []byte) ([]byte, error) {
	if len(datagram) < headerSize {
		return nil, errMalformed
	}
	length := int(binary.BigEndian.Uint16(datagram[2:4]))
	if length < headerSize || length > maxPacket || length > len(datagram) {
		return nil, errMalformed
	}
	return datagram[:length], nil
}

// code is the code of a packet that was cut.
func code(packet []byte) radius.Code { return radius.Code(packet[0]) }

// parse decodes the attributes of a packet that was cut. It fails when their lengths do not add up, or when there are
// two Message-Authenticators. Unknown attributes are passed over, and so is one that cannot be read or says nothing:
// zeros are no address (docs/rules/access-radius.md#attributes).
func (r *Request) parse(packet []byte, at time.Time) error {
	*r = Request{raw: packet, At: at}
	for place := headerSize; place < len(packet); {
		rest := packet[place:]
		if len(rest) < 2 || rest[1] < 2 || int(rest[1]) > len(rest) {
			return errMalformed
		}
		if rest[0] == typeAuthenticator {
			if rest[1] != authenticatorAttrSize || r.ma != 0 {
				return errMalformed
			}
			r.ma = place + 2
		}
		if value := rest[2:rest[1]]; len(value) > 0 {
			r.take(rest[0], value)
		}
		place += int(rest[1])
	}
	r.conclude()
	return nil
}

// take takes one attribute with a value.
func (r *Request) take(t byte, value []byte) {
	switch t {
	case typeUserName:
		r.once(seenUserName, &r.UserName, value)
	case typeUserPassword:
		r.once(seenPassword, &r.proof.password, value)
	case typeCHAPPassword:
		r.once(seenCHAP, &r.proof.chap, value)
	case typeCHAPChallenge:
		r.once(seenChallenge, &r.proof.challenge, value)
	case typeVendorSpecific:
		r.vendor(value)
	case typeCallingStation:
		r.CallingStation = value
		r.MAC, _ = ParseMAC(value)
	case typeCalledStation:
		r.CalledStation = value
	case typeNASPortID:
		r.NASPortID = value
	case typeNASIdentifier:
		r.NASIdentifier = value
	case typeSessionID:
		r.once(seenSessionID, &r.SessionID, value)
	case typeFramedIP:
		r.address(&r.FramedIP, value)
	case typeClass:
		r.accounting.class = value
	case typeProxyState:
		r.proxies++
	case typeEAPMessage:
		r.eap = true
	case typeFramedIPv6:
		r.address6(&r.accounting.framedIPv6, value)
	case typeFramedIPv6Prefix:
		r.prefix(&r.accounting.framedPrefix, value)
	case typeDelegatedIPv6:
		r.prefix(&r.accounting.delegatedPrefix, value)
	case typeNASPortType:
		if r.number(&r.PortType, value) {
			r.found |= seenPortType
		}
	case typeStatusType:
		if r.number(&r.accounting.status, value) {
			r.found |= seenStatus
		}
	default:
		r.takeNumber(t, value)
	}
}

// takeNumber takes the attributes of 32 bits for which it does not matter whether they were sent or are 0.
func (r *Request) takeNumber(t byte, value []byte) {
	a := &r.accounting
	switch t {
	case typeNASPort:
		r.number(&r.NASPort, value)
	case typeServiceType:
		r.number(&a.serviceType, value)
	case typeFramedProtocol:
		r.number(&a.framedProtocol, value)
	case typeDelayTime:
		r.number(&a.delay, value)
	case typeInputOctets:
		a.badInput = !r.number(&a.input, value) || a.badInput
	case typeOutputOctets:
		a.badOutput = !r.number(&a.output, value) || a.badOutput
	case typeInputGigawords:
		r.found |= seenGigawords
		a.badInput = !r.number(&a.inputGiga, value) || a.badInput
	case typeOutputGigawords:
		r.found |= seenGigawords
		a.badOutput = !r.number(&a.outputGiga, value) || a.badOutput
	case typeSessionTime:
		r.number(&a.sessionTime, value)
	case typeTerminateCause:
		r.number(&a.cause, value)
	case typeEventTimestamp:
		r.number(&a.timestamp, value)
	}
}

// once takes an attribute that may be sent once.
func (r *Request) once(bit uint32, to *[]byte, value []byte) {
	if r.found&bit != 0 {
		r.invalid = true
	}
	r.found |= bit
	*to = value
}

// number takes a value of 32 bits, and reports whether it is one.
func (r *Request) number(to *uint32, value []byte) bool {
	if len(value) != 4 {
		r.unreadable++
		return false
	}
	*to = binary.BigEndian.Uint32(value)
	return true
}

// address takes an IPv4 address.
func (r *Request) address(to *netip.Addr, value []byte) {
	if len(value) != 4 {
		r.unreadable++
		return
	}
	if a := netip.AddrFrom4([4]byte(value)); isAddress(a) {
		*to = a
	}
}

// address6 takes an IPv6 address.
func (r *Request) address6(to *netip.Addr, value []byte) {
	if len(value) != 16 {
		r.unreadable++
		return
	}
	if a := netip.AddrFrom16([16]byte(value)); isAddress(a) {
		*to = a
	}
}

// prefix takes an IPv6 prefix: a reserved octet, the length in bits, and as many octets as were worth sending.
func (r *Request) prefix(to *netip.Prefix, value []byte) {
	if len(value) < 2 || len(value) > 18 || value[1] > 128 {
		r.unreadable++
		return
	}
	var octets [16]byte
	copy(octets[:], value[2:])
	if a := netip.AddrFrom16(octets); isAddress(a) && value[1] > 0 {
		*to = netip.PrefixFrom(a, int(value[1])).Masked()
	}
}

// isAddress tells an address of a customer from values by which a router says that it has none, or that one is yet to
// be chosen (RFC 2865, 5.8).
func isAddress(a netip.Addr) bool {
	if a.Is4() {
		four := a.As4()
		return !a.IsUnspecified() && [3]byte(four[:3]) != [3]byte{255, 255, 255}
	}
	return a.IsValid() && !a.IsUnspecified()
}

// vendor takes the attributes within one Vendor-Specific. Lengths that do not add up end it, because other vendors have
// forms of their own.
func (r *Request) vendor(value []byte) {
	if len(value) < 4 {
		return
	}
	vendor := binary.BigEndian.Uint32(value)
	for rest := value[4:]; len(rest) >= 2 && rest[1] >= 2 && int(rest[1]) <= len(rest); rest = rest[rest[1]:] {
		inner := rest[2:rest[1]]
		switch {
		case len(inner) == 0:
		case vendor == VendorMicrosoft && rest[0] == msCHAPChallenge:
			r.once(seenMSChallenge, &r.proof.msChallenge, inner)
		case vendor == VendorMicrosoft && rest[0] == msCHAPResponse:
			r.once(seenMSResponse, &r.proof.msResponse, inner)
		case vendor == VendorMicrosoft && rest[0] == msCHAP2Response:
			r.once(seenMS2Response, &r.proof.ms2Response, inner)
		case vendor == VendorMikroTik && rest[0] == mikrotikHostIP:
			r.address(&r.HostIP, inner)
		}
	}
}

// conclude derives what follows from several attributes: the service, the method and the sign-in by MAC
// (docs/facts/radius.md#access-requests).
func (r *Request) conclude() {
	a := &r.accounting
	switch {
	case a.serviceType == valueLogin, a.serviceType == 0 && r.HostIP.IsValid():
		r.Service = ServiceHotspot
	case (a.serviceType == valueFramed || a.serviceType == 0) && a.framedProtocol == valuePPP:
		r.Service = ServicePPPoE
		if r.found&seenPortType != 0 && r.PortType == valueVirtual {
			r.Service = ServiceTunnel
		}
	}
	switch r.found & (seenPassword | seenCHAP | seenMSResponse | seenMS2Response) {
	case seenPassword:
		r.Method = MethodPAP
	case seenCHAP:
		r.Method = MethodCHAP
	case seenMSResponse:
		r.Method = MethodMSCHAP1
	case seenMS2Response:
		r.Method = MethodMSCHAP2
	}
	if r.Service == ServiceHotspot && r.MAC != (MAC{}) {
		mac, ok := ParseMAC(r.UserName)
		r.MACLogin = ok && mac == r.MAC
	}
}
