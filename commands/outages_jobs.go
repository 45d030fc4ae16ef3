package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// BeginDetectedOutage begins an outage of routers that do not answer, if customers are off because of them or several
// routers are down together, and unless the organization does not want that. Its process asks again at each look, as
// long as they are down: a late one begins none, because nobody knows by then whether they still are.
type BeginDetectedOutage struct {
	OrgID   id.Organization `json:"orgId"`
	Root    id.Device       `json:"root"` // the highest one that is down
	Devices []id.Device     `json:"devices"`
	Since   time.Time       `json:"since"` // the first of them went away
	At      time.Time       `json:"at"`    // when they were down
	// Downs says when each of them went away, or since when no outage has had it.
	Downs   events.RouterDowns `json:"downs,omitempty"`
	Absorbs []id.Outage        `json:"absorbs,omitempty"` // that are over without them, and go on as parts of it
}

// WatchOutage brings an outage that lasts up to a sight of routers that do not answer the platform: those behind which
// nobody is heard come to it, and those of which reports come are not down in it any longer. Its process asks again at
// each look, as BeginDetectedOutage says.
type WatchOutage struct {
	OrgID    id.Organization    `json:"orgId"`
	OutageID id.Outage          `json:"outageId"`
	Root     id.Device          `json:"root"` // the highest one that does not answer; zero = it stays where it is
	Downs    events.RouterDowns `json:"downs"`
	Absorbs  []id.Outage        `json:"absorbs,omitempty"` // over without some of them, and parts of it from now on
	At       time.Time          `json:"at"`                // when they did not answer
}

// TellOutage tells the customers of an outage, or only those of some of its routers, that it lasts, or those who were
// told that it is over. One job takes a part of them, after the given id, and the next job the rest.
type TellOutage struct {
	OrgID    id.Organization `json:"orgId"`
	OutageID id.Outage       `json:"outageId"`
	Over     bool            `json:"over,omitempty"`
	Devices  []id.Device     `json:"devices,omitempty"` // that came later, or are back; none = all of the outage
	Position uint64          `json:"position"`          // of the event; read models must have reached it
	After    id.Subscriber   `json:"after"`             // zero = from the first one on
}

// GiveCompensationPart has the subscriptions of one part take what they get.
type GiveCompensationPart struct {
	OrgID          id.Organization `json:"orgId"`
	CompensationID id.Compensation `json:"compensationId"`
	Part           int             `json:"part"`
}

func (BeginDetectedOutage) Kind() string  { return "outages_begin" }
func (WatchOutage) Kind() string          { return "outages_watch" }
func (TellOutage) Kind() string           { return "outages_tell" }
func (GiveCompensationPart) Kind() string { return "outages_give" }
