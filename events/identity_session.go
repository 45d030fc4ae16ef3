package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// SessionEvent is an event of "session-<id>": one sign-in until it ends. The vault has the tokens.
//
//sumtype:decl
type SessionEvent interface {
	Event
	sessionEvent()
}

// SessionStarted records a sign-in and the role at that time.
type SessionStarted struct {
	SessionID id.Session      `json:"sessionId"`
	UserID    id.User         `json:"userId"`
	OrgID     id.Organization `json:"orgId"` // null: a super_admin on the root host
	Role      Role            `json:"role"`
	// Method is "password" or "otp", with "+second_factor" or "+recovery_code" behind it for who has a second factor.
	Method string    `json:"method"`
	At     time.Time `json:"at"`
}

// SessionEnded records why the session ended: "logout", "password_changed", "disabled", "refresh_token_reused",
// "revoked", "portal_access_ended", "address_changed" or "second_factor_changed".
type SessionEnded struct {
	SessionID id.Session      `json:"sessionId"`
	UserID    id.User         `json:"userId"`
	OrgID     id.Organization `json:"orgId"`
	Reason    string          `json:"reason"`
	At        time.Time       `json:"at"`
}

func (SessionStarted) EventType() string { return "identity.SessionStarted.v1" }
func (SessionEnded) EventType() string   { return "identity.SessionEnded.v1" }
func (SessionStarted) sessionEvent()     {}
func (SessionEnded) sessionEvent()       {}
