package events

import "github.com/lastmile-isp/lastmile/internal/id"

// ClaimEvent is an event of a claim stream: "claim-<key>", the key being an HMAC of kind and value
// (docs/rules/identity.md#unique-values, docs/rules/engine.md#claims).
//
//sumtype:decl
type ClaimEvent interface {
	Event
	claimEvent()
}

// ClaimTaken records that a unique value belongs to an owner.
type ClaimTaken struct {
	Kind          string `json:"kind"`          // e.g. "login_email", "slug"
	OwnerCategory string `json:"ownerCategory"` // category of the owner's stream
	Owner         id.Any `json:"owner"`
}

// ClaimReleased records that the value is free again.
type ClaimReleased struct {
	Kind  string `json:"kind"`
	Owner id.Any `json:"owner"`
}

func (ClaimTaken) EventType() string    { return "claims.Taken.v1" }
func (ClaimReleased) EventType() string { return "claims.Released.v1" }
func (ClaimTaken) claimEvent()          {}
func (ClaimReleased) claimEvent()       {}
