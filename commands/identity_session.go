package commands

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// SessionCategory begins the names of the streams of sign-ins.
const SessionCategory = "session"

// SessionCommand is a command to "session-<id>".
//
//sumtype:decl
type SessionCommand interface {
	Command
	sessionCommand()
}

// StartSession records a sign-in. The vault has its tokens. Fails: session_exists.
type StartSession struct {
	SessionID id.Session
	UserID    id.User
	OrgID     id.Organization
	Role      events.Role
	Method    string // one of those of events.SessionStarted
}

// EndSession ends a sign-in, for one of the reasons of events.SessionEnded. An ended session stays as it is. Fails:
// session_not_found.
type EndSession struct {
	SessionID id.Session
	UserID    id.User
	Reason    string
}

func (StartSession) CommandName() string { return "identity.StartSession" }
func (EndSession) CommandName() string   { return "identity.EndSession" }
func (StartSession) sessionCommand()     {}
func (EndSession) sessionCommand()       {}

func (c StartSession) Target() Target { return At(SessionCategory, c.SessionID) }
func (c EndSession) Target() Target   { return At(SessionCategory, c.SessionID) }

// Validate accepts everything, because the program fills all fields.
func (StartSession) Validate() error { return nil }

// Validate accepts everything, because the program fills all fields.
func (EndSession) Validate() error { return nil }

// ErrNoSession is the failure for a session that does not exist or belongs to another user or organization.
func ErrNoSession() error {
	return failure.NewNotFound("session_not_found", "There is no such session.")
}
