package networkviews

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// What a router says about itself at this moment. These are no rows: jobs ask the router, the API shows the answer.

// LivePing tells whether a router answers.
type LivePing struct {
	Reachable  bool
	ResponseMs int64
	BoardName  string
	Version    string
	Error      string // "" when reachable
}

// LiveResource is a router's load.
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

// LiveSession is one customer online.
type LiveSession struct {
	Kind          string // "ppp" or "hotspot"
	User          string
	Service       string // pppoe, sstp, ...; of a hotspot its server
	CallerID      string
	Address       string
	UptimeSeconds int64
	Encoding      string
	Radius        bool
}

// LiveLease is one DHCP lease.
type LiveLease struct {
	Address      string
	MACAddress   string
	HostName     string
	Status       string
	Server       string
	ExpiresAfter string // as the router writes it, "" for static ones
	Dynamic      bool
}

// LiveQueue is one simple queue; limits in bits a second, upload/download.
type LiveQueue struct {
	Name       string
	Target     string
	MaxLimit   string
	BurstLimit string
	Dynamic    bool
	Disabled   bool
}

// LiveInterface is one interface as a choice for a service.
type LiveInterface struct {
	Name     string
	Type     string
	Running  bool
	Disabled bool
	Comment  string
	RxBytes  int64
	TxBytes  int64
	Reserved bool
	Reason   string // why it is reserved
}

// LiveInterfaces is one group of the picker.
type LiveInterfaces struct {
	Name    string // "Bridges", "Ethernet", "SFP" or "VLAN"
	Options []LiveInterface
}

// LiveDiff is how a router differs from what it should be.
type LiveDiff struct {
	Resources []events.DriftedResource
	Hash      string // "" when in sync
}

// Poll is what a router said when it was asked last.
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
	ResponseMs     int64
}
