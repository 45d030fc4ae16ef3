package networkviews

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The types of this file hold what a router reports at this moment. They are not stored in tables: jobs ask the router,
// and the API shows the result.

// LivePing is the result of one short call to a router.
type LivePing struct {
	Reachable  bool
	ResponseMs int64 // milliseconds until the reply
	BoardName  string
	Version    string
	Error      string // "" when reachable
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
	Kind          string // "ppp" or "hotspot"
	User          string
	Service       string // "pppoe", "sstp" and so on; for a hotspot the name of its server
	CallerID      string
	Address       string
	UptimeSeconds int64
	Encoding      string
	Radius        bool // signed in through RADIUS
}

// LiveLease is one lease of a router's DHCP server.
type LiveLease struct {
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
	RxBytes  int64
	TxBytes  int64
	Reserved bool   // cannot be chosen
	Reason   string // why it is reserved, else ""
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
	Error          string // "" when reachable
	BoardName      string
	Version        string
	CPUPercent     int
	MemoryPercent  int
	UptimeSeconds  int64
	ActiveSessions int
	ResponseMs     int64 // milliseconds until the reply
}
