package accessjobs

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// The reasons that no entitlement gives, as the events have them.
const (
	ReasonWrongMAC     = events.EnforcedWrongMAC
	ReasonChanged      = events.EnforcedChanged
	ReasonOperator     = events.EnforcedOperator
	ReasonSessionLimit = events.EnforcedSessionLimit
	ReasonDevice       = events.EnforcedDevice
	ReasonService      = events.EnforcedService
	ReasonRate         = events.EnforcedRate
	ReasonAuditor      = events.EnforcedAuditor
)

// moveWait is for how long a session of a voucher is left alone whose device does not have it: another program may have
// let it in, and what it records about that is read here a moment later.
const moveWait = 5 * time.Second

// change describes one change of a session.
type change struct {
	action  events.EnforcementAction
	reason  string
	after   events.SessionGrant
	limit   string // Mikrotik-Rate-Limit of a change of the rate
	regrant telemetry.Given
	asked   *commands.Meta  // of the person who wants it; nil = nobody waits
	door    *directory.Door // of a router that was decommissioned; nil = the present one
	adopt   bool            // the session is taken to have regrant, and the router is asked nothing
	anyway  bool            // it ends also where the customer could not sign in again
	place   id.Place        // under which it is recorded; zero = under the session
	listed  bool            // the router's own interface shows the session, so it is asked there and not by RADIUS
	next    string          // stamp that the next sign-in should get; "" = it is ended however often it comes back
}

// wanted compares what a session was granted with what its subscription is entitled to. It is false when nothing is to
// be done. A session without our stamp is left alone: a router let it in by itself, which the auditor reports
// (docs/rules/access-enforcement.md#not-ours).
func (e *Enforcer) wanted(s telemetry.Session, at time.Time) (change, bool) {
	if e.Entitled.Directory.Incomplete(s.OrgID) {
		return change{}, false
	}
	if s.SubscriptionID.IsZero() || s.EndedAt != nil || len(s.Stamp) != 2*digestSize {
		return change{}, false
	}
	p := e.Entitled.Directory.Present(s.SubscriptionID, at)
	after := events.SessionGrant{Access: p.Grant.Access.String(), Down: p.Grant.Down, Up: p.Grant.Up}
	next := p.Grant.Stamp()
	end := func(reason, next string) (change, bool) {
		return change{action: events.EndOnline, reason: reason, after: after, next: next}, true
	}
	speed, rest := differs(s, p)
	fits := p.Fits(reportedAs(s), s.StartedAt)
	switch {
	case p.Grant.Access == entitlement.None:
		return end(string(p.Code), "")
	case !fits && p.Moves && at.Sub(s.StartedAt).Abs() < moveWait:
		return change{}, false
	case !fits:
		return end(ReasonWrongMAC, "")
	case s.Stamp == directory.UnknownStamp:
		return former(p, after)
	case rest && s.Access != after.Access:
		return end(string(p.Code), next)
	case rest:
		return end(ReasonChanged, next)
	case !speed:
		return change{}, false
	case p.RateLimit == "": // no request takes a limit away
		return end(string(p.Code), next)
	}
	why := ReasonRate
	if s.Access != after.Access {
		why = string(p.Code)
	}
	return change{
		action: events.ChangeRate, reason: why, after: after, limit: p.RateLimit, next: next,
		regrant: telemetry.Given{
			Access: after.Access, RateDown: after.Down, RateUp: after.Up, Stamp: next,
		},
	}, true
}

// reportedAs is a session as the directory of sign-ins takes it.
func reportedAs(s telemetry.Session) directory.Shown {
	return directory.Shown{Username: s.Username, MAC: s.MAC, Hotspot: s.Service == "hotspot"}
}

// digestSize is the length of one of the two digests of a stamp.
const digestSize = 8

// differs compares the digests of a session with those of now.
func differs(s telemetry.Session, p directory.Present) (speed, rest bool) {
	now := p.Grant.Stamp()
	return s.Stamp[:digestSize] != now[:digestSize], s.Stamp[digestSize:] != now[digestSize:]
}
