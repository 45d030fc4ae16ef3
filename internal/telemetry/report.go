package telemetry

import (
	"net/netip"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// ReportEvery is how often routers report about a session: accepts and the bootstrap script tell them so.
const ReportEvery = 5 * time.Minute

// Kind is the event that a report is about.
type Kind string

// The kinds. On and Off end all sessions that the router had before.
const (
	Start   Kind = "start"
	Interim Kind = "interim"
	Stop    Kind = "stop"
	On      Kind = "on"
	Off     Kind = "off"
)

// Report tells about one session of a router, or about the router itself. A field that it did not send is zero. Reports
// can come again and in any order.
type Report struct {
	Kind    Kind            `json:"kind"`
	Org     id.Organization `json:"org"`
	Device  id.Device       `json:"device"`
	Source  netip.Addr      `json:"source,omitzero"` // of the router's packet
	Session string          `json:"session"`         // Acct-Session-Id
	User    string          `json:"user"`
	Calling string          `json:"calling"` // Calling-Station-Id
	MAC     string          `json:"mac"`     // of Calling, in the form AA:BB:CC:00:11:22; "" = it is none
	Called  string          `json:"called"`
	Port    string          `json:"port"` // NAS-Port-Id
	Service string          `json:"service"`
	NASPort uint32          `json:"nasPort,omitzero"`
	IP      netip.Addr      `json:"ip"`
	IPv6    netip.Addr      `json:"ipv6,omitzero"`    // of the customer on the link (Framed-IPv6-Address)
	Link    netip.Prefix    `json:"link,omitzero"`    // IPv6, of the link to the customer
	Network netip.Prefix    `json:"network,omitzero"` // IPv6, for the customer's own networks
	Class   []byte          `json:"class"`            // as the accept had it
	Down    uint64          `json:"down"`             // bytes sent to the customer in this session
	Up      uint64          `json:"up"`
	// Gigawords says that the router sends the upper half of its counters, too.
	Gigawords bool          `json:"gigawords,omitzero"`
	Online    time.Duration `json:"online"` // Acct-Session-Time
	At        time.Time     `json:"at"`     // when it happened, by our clock
	Cause     uint32        `json:"cause"`  // RFC 2866, 5.10; 0 = none
	// Late is by how much it happened before At, as the router says, where that is too long to be believed by itself.
	Late time.Duration `json:"late,omitzero"`
}

// Bounds of counters: what is above is a fault of the router. Sums stay between nothing and theirs, so that no report
// can be too much for the tables, whatever it adds or takes back.
const (
	maxBytes  = 1 << 50 // of one report, in one direction
	maxOnline = 10 * 365 * 24 * time.Hour
	// maxUsed bounds what a session or a rollup adds up to, in one direction. Both directions of two months of days
	// stay within 64 bits.
	maxUsed int64 = 1 << 56
)

// clean makes texts valid for the database and bounds the counters.
func (r Report) clean() Report {
	for _, text := range []*string{&r.Session, &r.User, &r.Calling, &r.MAC, &r.Called, &r.Port, &r.Service} {
		*text = cleanText(*text)
	}
	r = r.withoutZeros()
	r.Down, r.Up = min(r.Down, maxBytes), min(r.Up, maxBytes)
	r.Online = min(max(r.Online, 0), maxOnline).Truncate(time.Second)
	r.At = r.At.UTC().Truncate(time.Second)
	if r.Kind == Start {
		r.Online, r.Down, r.Up = 0, 0, 0
	}
	return r
}

// withoutZeros takes values away by which a router says that it knows none: they would replace what is known.
func (r Report) withoutZeros() Report {
	for _, a := range []*netip.Addr{&r.IP, &r.IPv6} {
		if *a = a.Unmap(); a.IsUnspecified() || a.String() == "255.255.255.255" || a.String() == "255.255.255.254" {
			*a = netip.Addr{}
		}
	}
	for _, p := range []*netip.Prefix{&r.Link, &r.Network} {
		if p.IsValid() && (p.Addr().IsUnspecified() || p.Bits() == 0) {
			*p = netip.Prefix{}
		}
	}
	for _, text := range []*string{&r.Calling, &r.MAC} {
		if strings.Trim(*text, "0:-. ") == "" {
			*text = ""
		}
	}
	return r
}

// cleanText makes a text valid for the database. It replaces what is not.
func cleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// station tells two devices of one user apart.
func (r Report) station() string {
	if r.MAC != "" {
		return r.MAC
	}
	return r.Calling
}

// Given is whom a session belongs to and what its sign-in gave. The zero value means that nobody knows.
type Given struct {
	Subscriber   id.Subscriber
	Subscription id.Subscription
	Access       string // a word of the API; "" = not known
	RateDown     int64  // kbit/s, 0 = not known
	RateUp       int64
	Stamp        string // digest of all that was given, which is compared and never read; "" = not known
	// The addresses of its own that the sign-in gave, which not every router reports; zero = none.
	IP            netip.Addr
	Link, Network netip.Prefix
	Forgotten     bool // the person is to be forgotten: the report is dropped
}

// Resolver finds out whom a report belongs to, from its Class or from organization and user name. It answers from
// memory, and only with subscriptions of the report's organization. It is asked until it knows; what was given stays,
// since a later change of what the customer is entitled to does not change a session by itself.
type Resolver func(Report) Given

// Directory answers what reports do not say, from memory. Safe for concurrent use.
type Directory struct {
	Resolve Resolver
	Zone    func(id.Organization) *time.Location // whose days and months usage is added up by; never nil
	// Jumps are by how much our clock may have jumped since a session was reported last (clock.Jumps); nil = never.
	Jumps func() []time.Duration
	// Now is our clock, by which the open sessions of a router that has many are counted again; nil = never.
	Now func() time.Time
}

// causes are the words for the Terminate-Causes of RFC 2866, 5.10, from 1 on.
var causes = [...]string{
	"user_request", "lost_carrier", "lost_service", "idle_timeout", "session_timeout", "admin_reset", "admin_reboot",
	"port_error", "nas_error", "nas_request", "nas_reboot", "port_unneeded", "port_preempted", "port_suspended",
	"service_unavailable", "callback", "user_error", "host_request",
}

// Reasons of ends that no router told.
const (
	ReasonStopped   = "stopped"          // the router gave no cause, or an unknown one
	ReasonReplaced  = "replaced"         // the same device of the same user began another session at the same router
	ReasonRestarted = "router_restarted" // the router began or ended to account
	ReasonLost      = "lost"             // no report came for too long
	ReasonGone      = "gone"             // its router was asked and does not know it, or ended it and is heard no more
)

// EndReasons lists the words for the end of a session.
func EndReasons() []string {
	return append([]string{ReasonStopped, ReasonReplaced, ReasonRestarted, ReasonLost, ReasonGone}, causes[:]...)
}

// reason is the word for a cause.
func reason(cause uint32) string {
	if cause == 0 || int(cause) > len(causes) {
		return ReasonStopped
	}
	return causes[cause-1]
}
