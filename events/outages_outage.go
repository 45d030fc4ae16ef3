package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// LineOutageEvent is an event of "outage-<outage id>": a time in which customers had no service because something of
// the network was down. Times in which they could not pay are OutageEvent.
//
//sumtype:decl
type LineOutageEvent interface {
	Event
	lineOutageEvent()
}

// NetworkPlace is where in the network something happened: exactly one field is set.
type NetworkPlace struct {
	DeviceID  id.Device  `json:"deviceId"`      // null = not a router
	ServiceID id.Service `json:"serviceId"`     // null = not a service on a router
	Tag       string     `json:"tag,omitempty"` // of customers: an area
}

// OutageBegan records an outage with all that is said about it.
type OutageBegan struct {
	OutageID id.Outage       `json:"outageId"`
	OrgID    id.Organization `json:"orgId"`
	Place    NetworkPlace    `json:"place"`
	Devices  []id.Device     `json:"devices,omitempty"` // routers that are down, that of Place among them
	Downs    RouterDowns     `json:"downs,omitempty"`
	// Absorbed are outages that are over without its routers. Who was told of one, and not of its end, hears of the end
	// of this one.
	Absorbed    []id.Outage `json:"absorbed,omitempty"`
	Title       string      `json:"title"`     // public; "" = none was written
	Message     string      `json:"message"`   // public; "" = none was written
	Detected    bool        `json:"detected"`  // the platform noticed it; else a person said so
	StartedAt   time.Time   `json:"startedAt"` // not after At
	ExpectedEnd time.Time   `json:"expectedEnd,omitzero"`
	// TellAfter is when customers are told, if it still lasts then; zero = not before somebody announces it.
	TellAfter time.Time `json:"tellAfter,omitzero"`
	At        time.Time `json:"at"`
}

// OutageExtended records that more routers are down because of the same thing.
type OutageExtended struct {
	OutageID id.Outage       `json:"outageId"`
	OrgID    id.Organization `json:"orgId"`
	Root     id.Device       `json:"root"`    // the highest one that is down; null = the outage is not of a router
	Devices  []id.Device     `json:"devices"` // all that were down in the outage
	Downs    RouterDowns     `json:"downs,omitempty"`
	// Absorbed are the outages that go on as parts of it, whose customers hear of its end.
	Absorbed []id.Outage `json:"absorbed,omitempty"`
	At       time.Time   `json:"at"`
}

// OutageAnnounced records that a person wants the customers to be told now, while it lasts.
type OutageAnnounced struct {
	OutageID id.Outage       `json:"outageId"`
	OrgID    id.Organization `json:"orgId"`
	At       time.Time       `json:"at"`
}

// OutageNarrowed records that routers of an outage have come back, while others are still down.
type OutageNarrowed struct {
	OutageID id.Outage       `json:"outageId"`
	OrgID    id.Organization `json:"orgId"`
	Downs    RouterDowns     `json:"downs"`
	At       time.Time       `json:"at"`
}

// OutageDescribed replaces all that is written about an outage; people learn more while it lasts, and later.
type OutageDescribed struct {
	OutageID    id.Outage       `json:"outageId"`
	OrgID       id.Organization `json:"orgId"`
	Title       string          `json:"title"`   // public; "" = none
	Message     string          `json:"message"` // public; "" = none
	ExpectedEnd time.Time       `json:"expectedEnd,omitzero"`
	At          time.Time       `json:"at"`
}

// OutageEnded records the end of an outage.
type OutageEnded struct {
	OutageID   id.Outage       `json:"outageId"`
	OrgID      id.Organization `json:"orgId"`
	EndedAt    time.Time       `json:"endedAt"`    // not after At
	MergedInto id.Outage       `json:"mergedInto"` // null = it is over; else it goes on as a part of another one
	// Parted is true when some of its routers stay down, and have an outage of their own; so it is when Back has any.
	Parted bool        `json:"parted,omitempty"`
	Back   []id.Device `json:"back,omitempty"` // its routers that are back then
	At     time.Time   `json:"at"`
}

func (OutageBegan) EventType() string     { return "outages.OutageBegan.v1" }
func (OutageExtended) EventType() string  { return "outages.OutageExtended.v1" }
func (OutageAnnounced) EventType() string { return "outages.OutageAnnounced.v1" }
func (OutageNarrowed) EventType() string  { return "outages.OutageNarrowed.v1" }
func (OutageDescribed) EventType() string { return "outages.OutageDescribed.v1" }
func (OutageEnded) EventType() string     { return "outages.OutageEnded.v1" }

func (OutageBegan) lineOutageEvent()     {}
func (OutageExtended) lineOutageEvent()  {}
func (OutageAnnounced) lineOutageEvent() {}
func (OutageNarrowed) lineOutageEvent()  {}
func (OutageDescribed) lineOutageEvent() {}
func (OutageEnded) lineOutageEvent()     {}

// OutageRulesEvent is an event of "outagerules-<organization id>".
//
//sumtype:decl
type OutageRulesEvent interface {
	Event
	outageRulesEvent()
}

// OutageRules say what the platform does about outages by itself.
type OutageRules struct {
	Detect       bool `json:"detect"`       // outages begin by themselves
	Tell         bool `json:"tell"`         // customers are told of such outages by themselves, too
	AfterMinutes int  `json:"afterMinutes"` // one that ends before is not told by itself
	Public       bool `json:"public"`       // the status page shows outages
}

// OutageRulesAdopted records the rules that apply from now on.
type OutageRulesAdopted struct {
	OrgID id.Organization `json:"orgId"`
	Rules OutageRules     `json:"rules"`
	At    time.Time       `json:"at"`
}

func (OutageRulesAdopted) EventType() string { return "outages.OutageRulesAdopted.v1" }
func (OutageRulesAdopted) outageRulesEvent() {}
