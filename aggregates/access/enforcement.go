package access

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Enforcements defines what routers were asked to do with sessions: one stream for each session that enforcement ever
// changed or ended, and one for each place, which has all sessions that the auditor ended there
// (docs/rules/access-enforcement.md#announced-and-recorded). A place has sessions for years, so streams are closed.
func Enforcements() aggregates.Definition[Enforcement, commands.EnforcementCommand, events.EnforcementEvent] {
	return aggregates.Definition[Enforcement, commands.EnforcementCommand, events.EnforcementEvent]{
		Category: commands.EnforcementCategory, Missing: commands.ErrNotFound, Evolve: evolveEnforcement,
		Decide: decideEnforcement, Owner: ownerEnforcement, Close: closeEnforcement,
		Commands: []commands.EnforcementCommand{
			commands.AnnounceSessionChange{}, commands.RecordSessionChange{}, commands.RecordSessionRefusal{},
		},
	}
}

// Enforcement has the known changes of one session, or of those of one place. The zero value is "never changed".
type Enforcement struct {
	Session events.EnforcedSession
	Pending *events.EnforcementStep // announced, and no outcome is recorded
	Refused string                  // way and message of the latest refusal of Pending
	Events  int                     // of which decisions were made, in all periods of the stream
	First   time.Time               // end that a router made; zero = none
	Ends    []EndOfSession          // the last ones, mostEnds of them, in their order
}

// EndOfSession is one end that a router said it had made, or that it turned out to have made.
type EndOfSession struct {
	Session id.Online // the place's id where the session has none, or was not recorded
	At      time.Time
	Found   bool // the session had gone by itself, as far as is known
}

// mostEnds is how many ends are remembered. A session whose end is acknowledged without effect is asked for in another
// way after two of them; a place with several sessions may have some of each at a time.
const mostEnds = 16

// EndsOf is how often a router said that it had ended a session.
func (s Enforcement) EndsOf(session id.Online) (times int) {
	for _, end := range s.Ends {
		if end.Session == session {
			times++
		}
	}
	return times
}

// LastEnd is the last end that a router made and that is not after an instant, as far as ends are remembered; zero =
// none.
func (s Enforcement) LastEnd(until time.Time) (last time.Time) {
	if !s.First.After(until) {
		last = s.First
	}
	for _, end := range s.Ends {
		if !end.Found && !end.At.After(until) && end.At.After(last) {
			last = end.At
		}
	}
	return last
}

// ownerEnforcement is the organization of the session.
func ownerEnforcement(s Enforcement) id.Organization { return s.Session.OrgID }

// evolveEnforcement applies one recorded event.
func evolveEnforcement(s Enforcement, e events.EnforcementEvent) Enforcement {
	if closed, is := e.(events.EnforcementPeriodClosed); is {
		return aggregates.Opened[Enforcement](closed.Opening)
	}
	s.Session = events.EnforcedOf(e)
	s.Events++
	switch e := e.(type) {
	case events.SessionChangeAnnounced:
		s.Pending, s.Refused = &e.EnforcementStep, ""
	case events.SessionChanged:
		s.Pending, s.Refused = nil, ""
		if e.Action == events.EndOnline && !e.Lapsed {
			s = s.withEnd(EndOfSession{e.Of(e.EnforcedSession), e.At, e.Found})
		}
	case events.SessionChangeRefused:
		s.Refused = refusalKey(e.Via, e.Message)
	case events.EnforcementPeriodClosed: // above
	}
	return s
}

// withEnd adds an end, without a change of what earlier states have.
func (s Enforcement) withEnd(end EndOfSession) Enforcement {
	if s.First.IsZero() && !end.Found {
		s.First = end.At
	}
	s.Ends = append(slices.Clip(s.Ends[max(0, len(s.Ends)+1-mostEnds):]), end)
	return s
}

// closeEnforcement passes the whole state on.
func closeEnforcement(s Enforcement) events.EnforcementEvent {
	return events.EnforcementPeriodClosed{EnforcedSession: s.Session, Opening: aggregates.Opening(s)}
}

// refusalKey tells refusals apart.
func refusalKey(via events.EnforcementVia, message string) string { return string(via) + " " + message }

// decideEnforcement records announcements and outcomes, each once.
func decideEnforcement(
	s Enforcement, c commands.EnforcementCommand, now time.Time,
) ([]events.EnforcementEvent, error) {
	switch c := c.(type) {
	case commands.AnnounceSessionChange:
		if s.Pending != nil && sameStepOf(*s.Pending, c.Step) {
			return nil, nil
		}
		return []events.EnforcementEvent{
			events.SessionChangeAnnounced{EnforcedSession: c.Session, EnforcementStep: c.Step, At: now},
		}, nil
	case commands.RecordSessionChange:
		if s.Pending == nil {
			return nil, nil
		}
		return []events.EnforcementEvent{events.SessionChanged{
			EnforcedSession: s.Session, EnforcementStep: *s.Pending, Via: c.Via, Found: c.Found, Lapsed: c.Lapsed,
			At: now,
		}}, nil
	case commands.RecordSessionRefusal:
		if s.Pending == nil || s.Refused == refusalKey(c.Via, c.Message) {
			return nil, nil
		}
		return []events.EnforcementEvent{events.SessionChangeRefused{
			EnforcedSession: s.Session, EnforcementStep: *s.Pending, Via: c.Via, Message: c.Message, At: now,
		}}, nil
	}
	return nil, nil
}

// sameStepOf compares what the router is asked for; who caused it may differ, since the first one did.
func sameStepOf(a, b events.EnforcementStep) bool {
	return a.Action == b.Action && a.After == b.After && a.Shown == b.Shown
}
