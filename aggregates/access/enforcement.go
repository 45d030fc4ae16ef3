package access

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Enforcements defines what routers were asked to do with one session: one stream for each session that was ever
// changed or ended (docs/rules/access-enforcement.md#announced-and-recorded). A stream is as long as its session, so it
// is never closed.
func Enforcements() aggregates.Definition[Enforcement, commands.EnforcementCommand, events.EnforcementEvent] {
	return aggregates.Definition[Enforcement, commands.EnforcementCommand, events.EnforcementEvent]{
		Category: commands.EnforcementCategory, Missing: commands.ErrNotFound, Evolve: evolveEnforcement,
		Decide: decideEnforcement, Owner: ownerEnforcement,
		Commands: []commands.EnforcementCommand{
			commands.AnnounceSessionChange{}, commands.RecordSessionChange{}, commands.RecordSessionRefusal{},
		},
	}
}

// Enforcement has the known changes of one session. The zero value is "never changed".
type Enforcement struct {
	Session events.EnforcedSession
	Pending *events.EnforcementStep // announced, and no outcome is recorded
	Refused string                  // way and message of the latest refusal of Pending
	Events  int                     // in the stream
	Ended   int                     // how often the router said that it had ended the session
	Ends    []time.Time             // when it ended one, in their order; without those that had gone by themselves
}

// ownerEnforcement is the organization of the session.
func ownerEnforcement(s Enforcement) id.Organization { return s.Session.OrgID }

// evolveEnforcement applies one recorded event.
func evolveEnforcement(s Enforcement, e events.EnforcementEvent) Enforcement {
	s.Session = events.EnforcedOf(e)
	s.Events++
	switch e := e.(type) {
	case events.SessionChangeAnnounced:
		s.Pending, s.Refused = &e.EnforcementStep, ""
	case events.SessionChanged:
		s.Pending, s.Refused = nil, ""
		if e.Action == events.EndOnline && !e.Lapsed {
			s.Ended++
			if !e.Found {
				s.Ends = append(slices.Clip(s.Ends), e.At)
			}
		}
	case events.SessionChangeRefused:
		s.Refused = refusalKey(e.Via, e.Message)
	}
	return s
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
	return a.Action == b.Action && a.After == b.After
}
