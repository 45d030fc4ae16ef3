package handset

import (
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/vendors/mikrotik"
	"layeh.com/radius/vendors/wispr"
)

// text adds an attribute with a text; a text that is too long is cut.
func text(p *radius.Packet, t radius.Type, value string) {
	p.Add(t, radius.Attribute(value[:min(len(value), 253)]))
}

// number adds an attribute with a number.
func number(p *radius.Packet, t radius.Type, value uint32) { p.Add(t, radius.NewInteger(value)) }

// port adds the attributes that RouterOS begins a packet about a PPPoE session with.
func (s *session) port(p *radius.Packet) {
	number(p, rfc2865.ServiceType_Type, uint32(rfc2865.ServiceType_Value_FramedUser))
	number(p, rfc2865.FramedProtocol_Type, uint32(rfc2865.FramedProtocol_Value_PPP))
	number(p, rfc2865.NASPort_Type, s.nasPort)
	number(p, rfc2865.NASPortType_Type, uint32(rfc2865.NASPortType_Value_Ethernet))
	text(p, rfc2865.UserName_Type, s.customer.Name)
	text(p, rfc2865.CallingStationID_Type, s.customer.MAC)
	text(p, rfc2865.CalledStationID_Type, s.customer.Server)
	text(p, rfc2869.NASPortID_Type, s.customer.Interface)
	text(p, rfc2866.AcctSessionID_Type, s.id)
}

// spot adds the attributes that RouterOS begins a packet about a hotspot session with.
func (s *session) spot(p *radius.Packet) error {
	number(p, rfc2865.NASPortType_Type, uint32(rfc2865.NASPortType_Value_Wireless80211))
	text(p, rfc2865.CallingStationID_Type, s.customer.MAC)
	text(p, rfc2865.CalledStationID_Type, s.customer.Server)
	text(p, rfc2869.NASPortID_Type, s.customer.Interface)
	text(p, rfc2865.UserName_Type, s.customer.Name)
	number(p, rfc2865.NASPort_Type, s.nasPort)
	text(p, rfc2866.AcctSessionID_Type, s.id)
	if s.address.IsValid() {
		p.Add(rfc2865.FramedIPAddress_Type, s.address.AsSlice())
	}
	if s.host.IsValid() {
		return mikrotik.MikrotikHostIP_Add(p, s.host.AsSlice())
	}
	return nil
}

// accessRequest makes the octets of an Access-Request, in the order of a router
// (docs/facts/radius.md#captured-requests).
func (n *NAS) accessRequest(s *session, secret []byte, identifier byte) ([]byte, error) {
	p := &radius.Packet{Code: radius.CodeAccessRequest, Identifier: identifier, Secret: secret}
	copy(p.Authenticator[:], n.random(16))
	var err error
	if s.customer.Service == Hotspot {
		if err = s.spot(p); err != nil {
			return nil, err
		}
	} else {
		s.port(p)
	}
	if s.proof, err = n.prove(p, s.customer); err != nil {
		return nil, err
	}
	if s.customer.Service == Hotspot {
		number(p, rfc2865.ServiceType_Type, uint32(rfc2865.ServiceType_Value_LoginUser))
		if err := wispr.WISPrLogoffURL_AddString(p, "http://"+n.cfg.Address.String()+"/logout"); err != nil {
			return nil, err
		}
	}
	text(p, rfc2865.NASIdentifier_Type, n.cfg.Name)
	p.Add(rfc2865.NASIPAddress_Type, n.cfg.Address.AsSlice())
	octets, err := p.Encode()
	if err != nil || n.cfg.Legacy {
		return octets, err
	}
	return signLast(octets, secret), nil
}

// report is one accounting request of a session.
type report struct {
	status  rfc2866.AcctStatusType
	at      time.Time // when it happened
	seconds uint32    // since the session's start
	in, out uint64    // octets from and to the customer
	cause   Cause     // of a stop
}

// accountingRequest makes the octets of an Accounting-Request, with the delay up to now.
func (n *NAS) accountingRequest(s *session, r report, secret []byte, identifier byte) ([]byte, error) {
	p := &radius.Packet{Code: radius.CodeAccountingRequest, Identifier: identifier, Secret: secret}
	if s.customer.Service == Hotspot {
		number(p, rfc2866.AcctStatusType_Type, uint32(r.status))
		if err := s.spot(p); err != nil {
			return nil, err
		}
	} else {
		s.port(p)
		p.Add(rfc2865.FramedIPAddress_Type, s.address.AsSlice())
		number(p, rfc2866.AcctAuthentic_Type, uint32(rfc2866.AcctAuthentic_Value_RADIUS))
	}
	number(p, rfc2869.EventTimestamp_Type, uint32(r.at.Unix()))
	if s.class != nil {
		p.Add(rfc2865.Class_Type, s.class)
	}
	if r.status != rfc2866.AcctStatusType_Value_Start {
		number(p, rfc2866.AcctSessionTime_Type, r.seconds)
		number(p, rfc2866.AcctInputOctets_Type, uint32(r.in))
		number(p, rfc2869.AcctInputGigawords_Type, uint32(r.in>>32))
		number(p, rfc2866.AcctInputPackets_Type, uint32(r.in/packetSize))
		number(p, rfc2866.AcctOutputOctets_Type, uint32(r.out))
		number(p, rfc2869.AcctOutputGigawords_Type, uint32(r.out>>32))
		number(p, rfc2866.AcctOutputPackets_Type, uint32(r.out/packetSize))
	}
	if s.customer.Service != Hotspot {
		number(p, rfc2866.AcctStatusType_Type, uint32(r.status))
	}
	if r.status == rfc2866.AcctStatusType_Value_Stop {
		number(p, rfc2866.AcctTerminateCause_Type, uint32(r.cause))
	}
	text(p, rfc2865.NASIdentifier_Type, n.cfg.Name)
	delay := max(n.clock.Now().Sub(r.at), 0)
	number(p, rfc2866.AcctDelayTime_Type, uint32(delay/time.Second))
	p.Add(rfc2865.NASIPAddress_Type, n.cfg.Address.AsSlice())
	return p.Encode()
}

// packetSize is the size of a customer's packets, in octets.
const packetSize = 1000
