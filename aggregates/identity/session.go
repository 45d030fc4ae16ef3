package identity

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Sessions defines sign-ins. A stream has two events at most and is never closed.
func Sessions() aggregates.Definition[Session, commands.SessionCommand, events.SessionEvent] {
	return aggregates.Definition[Session, commands.SessionCommand, events.SessionEvent]{
		Category: commands.SessionCategory, Missing: commands.ErrNoSession, Evolve: evolveSession,
		Decide: decideSession, Owner: ownerSession,
		Commands: []commands.SessionCommand{commands.StartSession{}, commands.EndSession{}},
	}
}

// Session is one sign-in. The zero value is "does not exist".
type Session struct {
	ID    id.Session
	User  id.User
	OrgID id.Organization
	Ended bool
}

// evolveSession applies one recorded event; an ended session never starts again.
func evolveSession(s Session, e events.SessionEvent) Session {
	switch e := e.(type) {
	case events.SessionStarted:
		return Session{ID: e.SessionID, User: e.UserID, OrgID: e.OrgID}
	case events.SessionEnded:
		s.Ended = true
	}
	return s
}

// ownerSession is the organization that the user signed in to; zero on the root host.
func ownerSession(s Session) id.Organization { return s.OrgID }

// decideSession starts a session once. Only the user of the session can end it; others get session_not_found.
func decideSession(s Session, c commands.SessionCommand, now time.Time) ([]events.SessionEvent, error) {
	switch c := c.(type) {
	case commands.StartSession:
		if !s.ID.IsZero() {
			return nil, failure.NewConflict("session_exists", "This session exists already.")
		}
		return []events.SessionEvent{events.SessionStarted{
			SessionID: c.SessionID, UserID: c.UserID, OrgID: c.OrgID, Role: c.Role, Method: c.Method, At: now,
		}}, nil
	case commands.EndSession:
		if s.ID.IsZero() || s.User != c.UserID {
			return nil, commands.ErrNoSession()
		}
		if s.Ended {
			return nil, nil
		}
		return []events.SessionEvent{events.SessionEnded{SessionID: s.ID, UserID: s.User, OrgID: s.OrgID,
			Reason: c.Reason, At: now}}, nil
	}
	return nil, nil
}
