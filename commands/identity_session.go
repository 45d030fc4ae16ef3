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

// StartSession records a sign-in; its tokens are in the vault.
type StartSession struct {
	SessionID id.Session
	UserID    id.User
	OrgID     id.Organization
	Role      events.Role
	Method    string // "password" or "otp"
}

// EndSession ends it, for one of the reasons of events.SessionEnded. Ending an ended session is nothing new.
type EndSession struct {
	SessionID id.Session
	UserID    id.User
	Reason    string
}

func (StartSession) CommandName() string { return "identity.StartSession" }
func (EndSession) CommandName() string   { return "identity.EndSession" }
func (StartSession) sessionCommand()     {}
func (EndSession) sessionCommand()       {}

// Target is the session.
func (c StartSession) Target() Target { return At(SessionCategory, c.SessionID) }

// Target is the session.
func (c EndSession) Target() Target { return At(SessionCategory, c.SessionID) }

// Validate has nothing to check: no part of it is typed by anybody.
func (StartSession) Validate() error { return nil }

// Validate has nothing to check: no part of it is typed by anybody.
func (EndSession) Validate() error { return nil }

// ErrNoSession is the answer for a session that does not exist, and for another organization's.
func ErrNoSession() error {
	return failure.NewNotFound("session_not_found", "There is no such session.")
}
