package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// APIKeyEvent is an event of "apikey-<id>": a token with which another program acts for an organization. The vault has
// its secrets; no event has a secret, or what is stored of one.
//
//sumtype:decl
type APIKeyEvent interface {
	Event
	apiKeyEvent()
}

// APIKeyIssued records a new key and all that holds of it until its end.
type APIKeyIssued struct {
	KeyID    id.APIKey       `json:"keyId"`
	OrgID    id.Organization `json:"orgId"`
	SecretID id.APIKeySecret `json:"secretId"`
	Prefix   string          `json:"prefix"` // with which the text of the key begins
	Name     string          `json:"name"`   // by which the organization tells its keys apart
	Role     Role            `json:"role"`
	// Scopes are "RESOURCE:read" or "RESOURCE:write", sorted; none = all that the role may.
	Scopes []string `json:"scopes,omitempty"`
	// AllowedAddresses are networks such as 192.0.2.0/24, from which alone the key works; none = from everywhere.
	AllowedAddresses []string  `json:"allowedAddresses,omitempty"`
	ExpiresAt        time.Time `json:"expiresAt,omitzero"` // zero = never
	By               id.User   `json:"by"`                 // who answers for the secret
	At               time.Time `json:"at"`
}

// APIKeyRotated records another secret in the place of the present one. A secret that was in its overlap ends now.
type APIKeyRotated struct {
	KeyID    id.APIKey       `json:"keyId"`
	OrgID    id.Organization `json:"orgId"`
	SecretID id.APIKeySecret `json:"secretId"`
	Prefix   string          `json:"prefix"`
	// PreviousUntil is the end of the secret of before; not later than At = it ended at once.
	PreviousUntil time.Time `json:"previousUntil"`
	By            id.User   `json:"by"` // who answers for the new secret
	At            time.Time `json:"at"`
}

// APIKeyRevoked records the end of the key with all its secrets.
type APIKeyRevoked struct {
	KeyID id.APIKey       `json:"keyId"`
	OrgID id.Organization `json:"orgId"`
	By    id.User         `json:"by"`
	At    time.Time       `json:"at"`
}

// Overlaps reports whether the secret of before works for some time beside the new one.
func (e APIKeyRotated) Overlaps() bool { return e.PreviousUntil.After(e.At) }

func (APIKeyIssued) EventType() string  { return "identity.APIKeyIssued.v1" }
func (APIKeyRotated) EventType() string { return "identity.APIKeyRotated.v1" }
func (APIKeyRevoked) EventType() string { return "identity.APIKeyRevoked.v1" }
func (APIKeyIssued) apiKeyEvent()       {}
func (APIKeyRotated) apiKeyEvent()      {}
func (APIKeyRevoked) apiKeyEvent()      {}
