package directory

import (
	"net/netip"
	"strconv"
	"time"

	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc4818"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
)

// Numbers of MikroTik's attributes. Source: docs/facts/radius.md#access-accept.
const (
	mikrotikRateLimit     = 8
	mikrotikAddressList   = 19
	mikrotikDelegatedPool = 22
)

// gardenList is the name of the address list of customers in the walled garden, in all routers: the one that
// routerplan.GardenList has rules for.
const gardenList = "walled-garden"

// attributes prepares the attributes of an accept, without those that differ from one sign-in to the next. They follow
// from subscription and entitlement alone.
func (d *Directory) attributes(s *service, access entitlement.Access, rate string, grant Grant) radius.Attributes {
	terms := s.terms.Access
	a := make(radius.Attributes, 0, 160).Octets(rfc2865.Class_Type, NewClass(d.cfg.ClassKey, s.id, grant)).
		Number(rfc2869.AcctInterimInterval_Type, uint32(telemetry.ReportEvery/time.Second))
	if rate != "" {
		a = a.MikroTik(mikrotikRateLimit, rate)
	}
	if access == entitlement.WalledGarden {
		// An address of its own for each session, since a list has an address once: the entry would go with the first
		// of two sessions. No IPv6: the rules of the walled garden are for IPv4.
		a = a.MikroTik(mikrotikAddressList, gardenList).Text(rfc2869.FramedPool_Type, terms.Pool)
		return a[:len(a):len(a)]
	}
	if s.staticIP.IsValid() {
		a = a.Address(rfc2865.FramedIPAddress_Type, s.staticIP)
	} else {
		a = a.Text(rfc2869.FramedPool_Type, terms.Pool)
	}
	own := s.staticIPv6.IsValid()
	link := own && s.staticIPv6.Bits() == linkBits
	if link {
		a = a.Prefix(rfc3162.FramedIPv6Prefix_Type, s.staticIPv6)
	} else {
		a = a.Text(rfc3162.FramedIPv6Pool_Type, terms.IPv6Pool)
	}
	if own && !link {
		a = a.Prefix(rfc4818.DelegatedIPv6Prefix_Type, s.staticIPv6)
	} else if terms.IPv6DelegatedPool != "" {
		a = a.MikroTik(mikrotikDelegatedPool, terms.IPv6DelegatedPool)
	}
	for _, route := range s.routes {
		a = appendRoute(a, route)
	}
	return a[:len(a):len(a)]
}

// appendRoute appends a network behind the customer. The unspecified gateway is the address that the session has (RFC
// 2865, 5.22, and RFC 3162, 2.5).
func appendRoute(a radius.Attributes, route netip.Prefix) radius.Attributes {
	if route.Addr().Is4() {
		return a.Text(rfc2865.FramedRoute_Type, route.String()+" 0.0.0.0 1")
	}
	return a.Text(rfc3162.FramedIPv6Route_Type, route.String()+" :: 1")
}

// linkBits is the length of a prefix for the link to the customer. A shorter one is for the customer's own networks.
const linkBits = 64

// rateLimit writes a rate as MikroTik routers read it: the customer's upload stands first, because the router receives
// it. The empty text is no limit.
func rateLimit(r entitlement.Rate) string {
	if r.Speed == (events.Speed{}) {
		return ""
	}
	var room [96]byte
	limit := pair(room[:0], r.Speed.Up, r.Speed.Down)
	if b := r.Burst; b != (events.Burst{}) {
		limit = pair(append(limit, ' '), b.Up, b.Down)
		limit = pair(append(limit, ' '), b.ThresholdUp, b.ThresholdDown)
		limit = strconv.AppendInt(append(limit, ' '), int64(b.Seconds), 10)
		limit = strconv.AppendInt(append(limit, '/'), int64(b.Seconds), 10)
	}
	return string(limit)
}

// pair appends two speeds in kbit/s, the upload first.
func pair(to []byte, up, down int64) []byte { return speed(append(speed(to, up), '/'), down) }

// speed appends a speed in kbit/s; 0 is no limit.
func speed(to []byte, kbits int64) []byte {
	switch {
	case kbits == 0:
		return append(to, '0')
	case kbits%1_000 == 0:
		return append(strconv.AppendInt(to, kbits/1_000, 10), 'M')
	}
	return append(strconv.AppendInt(to, kbits, 10), 'k')
}
