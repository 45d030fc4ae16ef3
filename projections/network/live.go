package networkviews

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The types of this file hold what a router reports at this moment. They are not stored in tables: jobs ask the router,
// and the API shows the result.

// LiveKey orders a live list: by menu, then by the row's identifier on the router. An identifier of a session stays
// while the session does, so that paging to the end visits each row that stays exactly once.
type LiveKey struct {
	Kind string `json:"k"`
	ID   string `json:"i"`
}

// Less reports whether a key comes before another one.
func (k LiveKey) Less(other LiveKey) bool {
	return k.Kind < other.Kind || k.Kind == other.Kind && k.ID < other.ID
}

// LivePing is the result of one short call to a router.
type LivePing struct {
	Reachable  bool
	ResponseMs int64 // milliseconds until the reply
	BoardName  string
	Version    string
	Error      string // why it was not reached, or what it refused to tell; else ""
}

// LiveResource is a router's load at one instant.
type LiveResource struct {
	BoardName     string
	Version       string
	Architecture  string
	CPUPercent    int
	MemoryPercent int
	TotalMemory   int64 // bytes
	FreeMemory    int64
	UptimeSeconds int64
}

// LiveSession is one customer online on a router.
type LiveSession struct {
	ID            string // of the row on the router
	Kind          string // "ppp" or "hotspot"
	User          string
	Service       string // "pppoe", "sstp" and so on; for a hotspot the name of its server
	CallerID      string
	Address       string
	UptimeSeconds int64
	Encoding      string
	Radius        bool // signed in through RADIUS
}

// Key puts PPP sessions after those of hotspots.
func (s LiveSession) Key() LiveKey { return LiveKey{s.Kind, s.ID} }

// Key orders leases by identifier.
func (l LiveLease) Key() LiveKey { return LiveKey{ID: l.ID} }

// Key orders queues by identifier.
func (q LiveQueue) Key() LiveKey { return LiveKey{ID: q.ID} }

// LiveLease is one lease of a router's DHCP server.
type LiveLease struct {
	ID           string // of the row on the router
	Address      string
	MACAddress   string
	HostName     string
	Status       string
	Server       string
	ExpiresAfter string // a RouterOS duration; "" for static leases
	Dynamic      bool
}

// LiveQueue is one simple queue. Limits are texts of RouterOS, bits per second, upload/download.
type LiveQueue struct {
	ID         string // of the row on the router
	Name       string
	Target     string
	MaxLimit   string
	BurstLimit string
	Dynamic    bool
	Disabled   bool
}

// LiveInterface is an interface of a router that a service could use.
type LiveInterface struct {
	Name     string
	Type     string
	Running  bool
	Disabled bool
	Comment  string
	// counters since the router started
	RxBytes   int64
	TxBytes   int64
	RxPackets int64
	TxPackets int64
	LinkDowns int64
	MTU       int64 // in use, in bytes; 0 = the router does not tell
	Reserved  bool  // cannot be chosen
	Reason    LiveObstacle
	Warning   LiveObstacle
}

// LiveObstacle tells why an interface is reserved, or why a service on it would not work now. The zero value is none.
type LiveObstacle struct {
	Code string // one of InterfaceReservations or InterfaceWarnings
	Of   string // the other interface, list or protocol that it names; "" = none
	Text string // in English
}

// InterfaceReservations are the codes of why an interface is reserved, sorted.
var InterfaceReservations = []string{
	"always", "bond_port", "bridge_member", "client", "default_route", "dhcp_client", "list_member", "other_port",
	"service_bridge", "uplink_carrier",
}

// InterfaceWarnings are the codes of why a service on an interface would not work now, sorted.
var InterfaceWarnings = []string{
	"carrier_disabled", "disabled", "foreign_dhcp_relay", "foreign_dhcp_server", "foreign_hotspot",
	"foreign_pppoe_server", "inactive", "no_link", "port",
}

// LiveInterfaces is one group in the choice of interfaces.
type LiveInterfaces struct {
	Name    string // "Bridges", "Ethernet", "SFP" or "VLAN"
	Options []LiveInterface
}

// LiveDiff is the difference between a router and the desired state of its services.
type LiveDiff struct {
	Resources []events.DriftedResource
	Hash      string // of the difference; "" when there is none
}

// Poll is the result of the newest poll of a router. At is UTC.
type Poll struct {
	DeviceID       id.Device
	At             time.Time
	Reachable      bool
	Error          string // why it was not reached, or why its sessions are not known; else ""
	BoardName      string
	Version        string
	CPUPercent     int
	MemoryPercent  int
	UptimeSeconds  int64
	ActiveSessions int
	ResponseMs     int64 // milliseconds until the reply
}

// PollPoint has the polls of one router in one step of a window.
type PollPoint struct {
	At             time.Time // of the last one
	Reachable      bool      // all were answered
	CPUPercent     *int      // the highest; nil = none was answered
	ActiveSessions *int      // likewise
}

// PollWindow is a time after From and until To, in steps from To back. Each router has one point for each step.
type PollWindow struct {
	From, To time.Time
	Step     time.Duration
}

// Conditions of a router, as the last calls of it tell.
const (
	ConditionUp      = "up"
	ConditionDown    = "down"
	ConditionUnknown = "unknown" // it was not polled yet, or has no credentials to poll it with
)

// Conditions are the values of a filter.
var Conditions = []string{ConditionUp, ConditionDown, ConditionUnknown}

// Condition says whether a router answers: the last poll was answered, and no call since has found it unreachable.
func Condition(credentials, polled, answered, unreachable bool) string {
	switch {
	case !credentials, !polled:
		return ConditionUnknown
	case answered && !unreachable:
		return ConditionUp
	}
	return ConditionDown
}
