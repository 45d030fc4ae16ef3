package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// EnforcementCategory begins the names of the streams of sessions that were changed; the id is the session's, or that
// of its place.
const EnforcementCategory = "enforcement"

// EnforcementCommand is a command about what a router does with one session, or with one of a place.
//
//sumtype:decl
type EnforcementCommand interface {
	Command
	enforcementCommand()
}

// AnnounceSessionChange records what a router is going to be asked. The same announcement again does nothing until its
// outcome is recorded; another one takes its place.
type AnnounceSessionChange struct {
	Session events.EnforcedSession
	Step    events.EnforcementStep
}

// RecordSessionChange records that the router did what was announced. Without an announcement it does nothing.
type RecordSessionChange struct {
	Session events.EnforcedSession
	Via     events.EnforcementVia
	Found   bool
	Lapsed  bool // as in events.SessionChanged
}

// RecordSessionRefusal records that the router refused what was announced, once for each way and message; the
// announcement stays.
type RecordSessionRefusal struct {
	Session events.EnforcedSession
	Via     events.EnforcementVia
	Message string // of the router
}

func (AnnounceSessionChange) CommandName() string { return "access.AnnounceSessionChange" }
func (RecordSessionChange) CommandName() string   { return "access.RecordSessionChange" }
func (RecordSessionRefusal) CommandName() string  { return "access.RecordSessionRefusal" }

func (c AnnounceSessionChange) Target() Target { return onlineSession(c.Session) }
func (c RecordSessionChange) Target() Target   { return onlineSession(c.Session) }
func (c RecordSessionRefusal) Target() Target  { return onlineSession(c.Session) }

func (AnnounceSessionChange) enforcementCommand() {}
func (RecordSessionChange) enforcementCommand()   {}
func (RecordSessionRefusal) enforcementCommand()  {}

// onlineSession is the stream of a session or a place.
func onlineSession(s events.EnforcedSession) Target { return At(EnforcementCategory, s.SessionID) }

func (c AnnounceSessionChange) Validate() error { return checkEnforced(c.Session) }
func (c RecordSessionChange) Validate() error   { return checkEnforced(c.Session) }
func (c RecordSessionRefusal) Validate() error  { return checkEnforced(c.Session) }

// checkEnforced demands the ids that every session has.
func checkEnforced(s events.EnforcedSession) error {
	if s.SessionID.IsZero() || s.OrgID.IsZero() || s.DeviceID.IsZero() {
		return ErrNotFound()
	}
	return nil
}

// CheckSpokenReason demands a reason of the usual length for what no command of an aggregate checks. Fails:
// invalid_input.
func CheckSpokenReason(reason string) error {
	var f failure.Faults
	checkReason(&f, reason)
	return f.Err()
}

// EnforceAccess brings the sessions of a subscriber to what his subscriptions are entitled to now.
type EnforceAccess struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	Position     uint64        `json:"position"` // of the causing event, which the directory must know; 0 = none
	// Sessions have an announcement without an outcome, which is to be found out.
	Sessions []id.Online `json:"sessions,omitempty"`
}

// EnforceRouter brings all sessions of a router to what their subscriptions are entitled to now. It is asked for again
// and again while the router does not answer, and is one job however many sessions wait.
type EnforceRouter struct {
	DeviceID id.Device `json:"deviceId"`
}

// EnforceAll looks at all sessions, and asks for the routers with one that has something else than it should. Periodic.
type EnforceAll struct{}

// EnforceLimit ends the sessions of a subscription beyond its limit, and those that newer ones have replaced.
type EnforceLimit struct {
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	SubscriptionID id.Subscription `json:"subscriptionId"`
	// Sessions were replaced by sign-ins whose own sessions may not be reported yet. Others are found in the tables.
	Sessions []id.Online `json:"sessions,omitempty"`
}

// LeaveRouter ends all sessions of a router that was decommissioned, whatever their customers are entitled to: they
// cannot sign in there again. Then it deletes the router's secret of RADIUS, which only this job still needs.
type LeaveRouter struct {
	DeviceID id.Device       `json:"deviceId"`
	OrgID    id.Organization `json:"orgId"`
	Position uint64          `json:"position"` // of the event, which the directory must know
}

// TellServiceEnded records the ends of the sessions that a router ended when it removed a service.
type TellServiceEnded struct {
	ServiceID id.Service `json:"serviceId"`
	DeviceID  id.Device  `json:"deviceId"`
	At        time.Time  `json:"at"` // when the service was gone
}

// EndOnlineSession ended one session in an earlier version of the program. Nobody asks for it any more; a job that was
// left waiting at an upgrade becomes an EnforceLimit.
type EndOnlineSession struct {
	SessionID id.Online       `json:"sessionId"`
	OrgID     id.Organization `json:"orgId"`
	Reason    string          `json:"reason"` // a code
}

func (EnforceAccess) Kind() string    { return "access_enforce" }
func (EnforceRouter) Kind() string    { return "access_enforce_router" }
func (EnforceAll) Kind() string       { return "access_enforce_all" }
func (EnforceLimit) Kind() string     { return "access_enforce_limit" }
func (LeaveRouter) Kind() string      { return "access_leave_router" }
func (TellServiceEnded) Kind() string { return "access_service_ended" }
func (EndOnlineSession) Kind() string { return "access_end_session" }

// Device is the router that is called.
func (j EnforceRouter) Device() id.Device { return j.DeviceID }

// Device is the router that is called.
func (j LeaveRouter) Device() id.Device { return j.DeviceID }

// Request is the router: one job for it waits or runs.
func (j EnforceRouter) Request() string { return j.DeviceID.String() }

// Request is the subscription: one job for it waits or runs, however many sessions are beyond.
func (j EnforceLimit) Request() string { return j.SubscriptionID.String() }
