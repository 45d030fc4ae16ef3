package events

import (
	"cmp"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// EnforcementEvent is an event of "enforcement-<id>": what routers were asked to do with one session of a customer, or
// with those of one place, and what they did (docs/rules/access-enforcement.md#announced-and-recorded).
//
//sumtype:decl
type EnforcementEvent interface {
	Event
	enforcementEvent()
	enforced() EnforcedSession
}

// EnforcedSession names a session, or the place that stands for sessions, and whose it is.
type EnforcedSession struct {
	SessionID      id.Online       `json:"sessionId"` // or the id.Place; EnforcementStep.Of has the session
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`   // null = not known
	SubscriptionID id.Subscription `json:"subscriptionId"` // null = not known
	DeviceID       id.Device       `json:"deviceId"`       // the router
}

// enforced makes every event that embeds EnforcedSession name its session.
func (s EnforcedSession) enforced() EnforcedSession { return s }

// EnforcedOf is the session that an event of enforcement is about.
func EnforcedOf(e EnforcementEvent) EnforcedSession { return e.enforced() }

// EnforcementAction names the request to a router about a session.
type EnforcementAction string

// The actions.
const (
	ChangeRate EnforcementAction = "change_rate"
	EndOnline  EnforcementAction = "end"
)

// EnforcementVia is the way on which a router did it.
type EnforcementVia string

// The ways.
const (
	ViaRadius EnforcementVia = "radius" // CoA-Request or Disconnect-Request
	ViaRouter EnforcementVia = "router" // the router's own interface
	// ViaUnverified is an acknowledged CoA-Request whose effect could not be read back.
	ViaUnverified EnforcementVia = "radius_unverified"
)

// SessionGrant has the access of a session as a word of the API, and its speeds in kbit/s, 0 for no limit.
type SessionGrant struct {
	Access string `json:"access"`
	Down   int64  `json:"down"`
	Up     int64  `json:"up"`
}

// EnforcementStep has what is to be done with a session, and why.
type EnforcementStep struct {
	Action EnforcementAction `json:"action"`
	Reason string            `json:"reason"` // a code, such as "expired"
	Before SessionGrant      `json:"before"`
	After  SessionGrant      `json:"after"` // with access "none" when the session is to end for good
	By     Actor             `json:"by"`    // who caused it
	// Shown is the session that is to be changed, where the stream is of its place; null = the one that the stream is
	// of, or one that was never reported, or it is not known, as in the first events.
	Shown id.Online `json:"shownSessionId,omitzero"`
	// CorrelationID is that of the request which caused it, whoever writes to the router later; "" in the first events.
	CorrelationID string `json:"correlationId,omitempty"`
}

// Of is the session that a step of a stream is about. One that has no other id has that of its place.
func (s EnforcementStep) Of(stream EnforcedSession) id.Online {
	return cmp.Or(s.Shown, stream.SessionID)
}

// SessionChangeAnnounced records what a router is going to be asked.
type SessionChangeAnnounced struct {
	EnforcedSession
	EnforcementStep
	At time.Time `json:"at"`
}

// SessionChanged records that a router did what was announced, or turned out to have done it.
type SessionChanged struct {
	EnforcedSession
	EnforcementStep
	Via   EnforcementVia `json:"via,omitempty"` // "" = found
	Found bool           `json:"found"`         // it was so already when it was looked at
	// Lapsed says that nothing was changed as far as is known until the session was over, or needed no change any more:
	// the router did not answer, or refused, which is recorded before.
	Lapsed bool      `json:"lapsed,omitempty"`
	At     time.Time `json:"at"`
}

// SessionChangeRefused records that a router refused, in its words. It is tried in another way, or again.
type SessionChangeRefused struct {
	EnforcedSession
	EnforcementStep
	Via     EnforcementVia `json:"via"`
	Message string         `json:"message"`
	At      time.Time      `json:"at"`
}

// EnforcementPeriodClosed passes the state to the stream's next period (docs/rules/engine.md#closing-a-period).
type EnforcementPeriodClosed struct {
	EnforcedSession
	Opening []byte `json:"opening"` // JSON of the aggregate's state, which has no personal text
}

func (SessionChangeAnnounced) EventType() string  { return "access.SessionChangeAnnounced.v1" }
func (SessionChanged) EventType() string          { return "access.SessionChanged.v1" }
func (SessionChangeRefused) EventType() string    { return "access.SessionChangeRefused.v1" }
func (EnforcementPeriodClosed) EventType() string { return "access.EnforcementPeriodClosed.v1" }

func (SessionChangeAnnounced) enforcementEvent()  {}
func (SessionChanged) enforcementEvent()          {}
func (SessionChangeRefused) enforcementEvent()    {}
func (EnforcementPeriodClosed) enforcementEvent() {}
