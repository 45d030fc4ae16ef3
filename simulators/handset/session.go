package handset

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/vendors/mikrotik"
)

// Cause is why a session ended, as Acct-Terminate-Cause (RFC 2866, 5.10).
type Cause uint32

// The causes that a NAS gives.
const (
	UserRequest    = Cause(rfc2866.AcctTerminateCause_Value_UserRequest)
	LostCarrier    = Cause(rfc2866.AcctTerminateCause_Value_LostCarrier)
	IdleTimeout    = Cause(rfc2866.AcctTerminateCause_Value_IdleTimeout)
	SessionTimeout = Cause(rfc2866.AcctTerminateCause_Value_SessionTimeout)
	AdminReset     = Cause(rfc2866.AcctTerminateCause_Value_AdminReset)
	NASReboot      = Cause(rfc2866.AcctTerminateCause_Value_NASReboot)
)

// Session is a session that is online, at one moment.
type Session struct {
	ID             string    `json:"id"` // Acct-Session-Id
	NASPort        uint32    `json:"nasPort"`
	Service        string    `json:"service"`
	User           string    `json:"user"`
	MAC            string    `json:"mac"`
	Server         string    `json:"server"`
	Interface      string    `json:"interface"`
	Address        string    `json:"address"`
	AddressList    string    `json:"addressList,omitempty"`
	RateLimit      string    `json:"rateLimit,omitempty"` // whole, as the server gave it
	Group          string    `json:"group,omitempty"`
	Class          string    `json:"class,omitempty"` // hexadecimal
	StartedAt      time.Time `json:"startedAt"`       // UTC
	BytesIn        uint64    `json:"bytesIn"`         // from the customer
	BytesOut       uint64    `json:"bytesOut"`
	InPerSecond    uint64    `json:"inPerSecond"` // octets, from now on
	OutPerSecond   uint64    `json:"outPerSecond"`
	InterimSeconds int       `json:"interimSeconds"` // 0 = no interim reports
	// EndsAt is when Session-Timeout ends the session, UTC; nil = never.
	EndsAt *time.Time `json:"endsAt,omitempty"`
}

// session is a customer who signs in or is online. Guarded by the lock of the NAS, but for what never changes: id,
// nasPort and customer, and address, host and class once it is online.
type session struct {
	id       string
	nasPort  uint32
	customer Customer
	proof    proof
	address  netip.Addr
	host     netip.Addr // of a hotspot's device; zero for PPPoE
	class    []byte

	started   time.Time
	rateText  string
	rate      rate
	list      string
	group     string
	meter     meter
	interim   time.Duration // 0 = none
	ends      time.Time     // zero = never
	idleAfter time.Duration // 0 = never
	next      time.Time     // of the next interim report
	plan      int           // counts changes of the times above: entries of the agenda for older ones do nothing
	over      bool

	reports []report // that wait for the one on its way
	sending bool
	held    *report // by the fault ReorderReports
	life    uint32  // restarts of the router before the session: what is of an earlier life is never sent
	filed   int     // reports so far
	silent  bool    // nothing is reported
}

// openSpeed is the speed of a session without a rate limit.
const openSpeed = 100_000_000 // bits a second

// show is the session at an instant; the lock is held.
func (s *session) show(now time.Time) Session {
	in, out := s.meter.at(now)
	shown := Session{
		ID: s.id, NASPort: s.nasPort, Service: s.customer.Service, User: s.customer.Name, MAC: s.customer.MAC,
		Server: s.customer.Server, Interface: s.customer.Interface, Address: s.address.String(), AddressList: s.list,
		RateLimit: s.rateText, Group: s.group, Class: hex.EncodeToString(s.class), StartedAt: s.started, BytesIn: in,
		BytesOut: out, InPerSecond: s.meter.inRate, OutPerSecond: s.meter.outRate,
		InterimSeconds: int(s.interim / time.Second),
	}
	if !s.ends.IsZero() {
		ends := s.ends
		shown.EndsAt = &ends
	}
	return shown
}

// newSession makes a session that signs in, with the next id (docs/facts/radius.md#accounting). The lock is held.
func (n *NAS) newSession(c Customer) (*session, error) {
	kind := uint32(0x81)
	if c.Service == Hotspot {
		kind = 0x80
	}
	n.counter++
	s := &session{customer: c, life: n.boots, nasPort: kind<<24 | n.boots%16<<20 | n.counter&0xFFFFF}
	s.id = fmt.Sprintf("%08x", s.nasPort)
	if c.Service != Hotspot {
		return s, nil
	}
	if c.Address != "" {
		s.host, _ = netip.ParseAddr(c.Address) // was checked
	} else if addr, ok := n.pools.take("", s); ok {
		s.host = addr
	} else {
		return nil, fmt.Errorf("the hotspot has no free address")
	}
	s.address = s.host
	return s, nil
}

// admit brings a session online as an accept says, or gives the reason why a router cannot. The lock is held.
func (n *NAS) admit(s *session, accept *radius.Packet) error {
	now := n.clock.Now()
	s.class = rfc2865.Class_Get(accept)
	s.list = mikrotik.MikrotikAddressList_GetString(accept)
	s.group = mikrotik.MikrotikGroup_GetString(accept)
	s.rate = rate{openSpeed, openSpeed}
	if text := mikrotik.MikrotikRateLimit_GetString(accept); text != "" {
		r, err := parseRate(text)
		if err != nil {
			return err
		}
		s.rate, s.rateText = r, text
	}
	s.interim = n.cfg.Interim
	if seconds := rfc2869.AcctInterimInterval_Get(accept); seconds > 0 {
		s.interim = time.Duration(seconds) * time.Second
	}
	if err := n.place(s, accept); err != nil {
		return err
	}
	s.started, s.meter.since = now, now
	if seconds, err := rfc2865.SessionTimeout_Lookup(accept); err == nil && seconds > 0 {
		s.ends = now.Add(time.Duration(seconds) * time.Second)
	}
	if seconds, err := rfc2865.IdleTimeout_Lookup(accept); err == nil {
		s.idleAfter = time.Duration(seconds) * time.Second
	}
	s.meter.turn(now, s.rate, s.customer.Load)
	if s.interim > 0 {
		s.next = now.Add(s.interim)
	}
	n.sessions[s.id] = s
	n.schedule(s)
	n.file(s, n.report(s, rfc2866.AcctStatusType_Value_Start, now))
	if n.cfg.Started != nil {
		shown := s.show(now)
		n.later(func() { n.cfg.Started(shown) })
	}
	return nil
}

// place gives a session its address: that of the accept, or one of the accept's or the profile's pool. The lock is
// held.
func (n *NAS) place(s *session, accept *radius.Packet) error {
	given, ok := netip.AddrFromSlice(rfc2865.FramedIPAddress_Get(accept).To4())
	ok = ok && ordinary(given)
	name := rfc2869.FramedPool_GetString(accept)
	if !ok {
		given = netip.Addr{}
	}
	switch {
	case n.cfg.Admit != nil:
		return n.admitted(s, Offer{Session: s.show(n.clock.Now()), Given: given, Pool: name})
	case ok:
		n.pools.release(s.address, s)
		s.address = given
		n.pools.used[given] = s
		return nil
	}
	if s.address.IsValid() && name == "" {
		n.pools.used[s.address] = s // a hotspot's device has its own
		return nil
	}
	addr, ok := n.pools.take(name, s)
	if !ok {
		return fmt.Errorf("pool %q is not there or full", name)
	}
	n.pools.release(s.address, s)
	s.address = addr
	return nil
}

// admitted asks Config.Admit about a session and takes what it says. The lock is held.
func (n *NAS) admitted(s *session, o Offer) error {
	a, err := n.cfg.Admit(o)
	if err != nil {
		return err
	}
	n.pools.release(s.address, s)
	s.address, s.interim, s.silent = a.Address, a.Interim, a.Unreported
	n.pools.used[s.address] = s
	if r, err := parseRate(a.RateLimit); err == nil && s.rateText == "" {
		s.rate, s.rateText = r, a.RateLimit
	}
	return nil
}

// ordinary reports whether Framed-IP-Address names an address; others mean the profile's pool
// (docs/facts/radius.md#access-accept).
func ordinary(a netip.Addr) bool { return !a.IsLoopback() && a.As4()[0] < 224 && !a.IsUnspecified() }

// schedule plans the next thing that time does to a session; the lock is held.
func (n *NAS) schedule(s *session) {
	s.plan++
	due := s.next
	if end, _ := s.end(); !end.IsZero() && (due.IsZero() || end.Before(due)) {
		due = end
	}
	if due.IsZero() || s.over {
		return
	}
	plan := s.plan
	n.agenda.at(due, func() { n.due(s, plan) })
}

// end is when and why time will end a session; zero = never. The lock is held.
func (s *session) end() (at time.Time, why Cause) {
	at, why = s.ends, SessionTimeout
	if s.idleAfter > 0 && s.customer.Load == 0 {
		if idle := s.started.Add(s.idleAfter); at.IsZero() || idle.Before(at) {
			return idle, IdleTimeout
		}
	}
	return at, why
}

// due does to a session what its time has come for. After a jump of the clock one interim report stands for all that
// were left out, and a session that ended meanwhile ended at its own instant.
func (n *NAS) due(s *session, plan int) {
	n.lock()
	defer n.unlock()
	if s.over || s.plan != plan {
		return
	}
	now := n.clock.Now()
	if end, why := s.end(); !end.IsZero() && !end.After(now) {
		n.drop(s, end, why)
		return
	}
	if !s.next.IsZero() && !s.next.After(now) {
		n.file(s, n.report(s, rfc2866.AcctStatusType_Value_InterimUpdate, now))
		s.next = now.Add(s.interim)
	}
	n.schedule(s)
}

// drop ends a session and reports its stop; the lock is held.
func (n *NAS) drop(s *session, at time.Time, why Cause) {
	if s.over {
		return
	}
	n.forget(s, at, why)
	stop := n.report(s, rfc2866.AcctStatusType_Value_Stop, at)
	stop.cause = why
	n.file(s, stop)
}

// forget takes a session out of the lists; the lock is held.
func (n *NAS) forget(s *session, at time.Time, why Cause) {
	s.over = true
	if n.sessions[s.id] == s {
		delete(n.sessions, s.id)
	}
	n.pools.release(s.address, s)
	n.pools.release(s.host, s)
	if n.cfg.Ended != nil {
		shown := s.show(at)
		n.later(func() { n.cfg.Ended(shown, why) })
	}
}
