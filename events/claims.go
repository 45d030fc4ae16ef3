package events

import "github.com/lastmile-isp/lastmile/internal/id"

// ClaimEvent is an event of "claim-<key>", the history of one unique value. The key is an HMAC of kind and value
// (docs/rules/identity.md#unique-values, docs/rules/engine.md#claims).
//
//sumtype:decl
type ClaimEvent interface {
	Event
	claimEvent()
}

// ClaimTaken records that a unique value belongs to an aggregate from now on.
type ClaimTaken struct {
	Kind          string `json:"kind"`          // such as "login_email" or "slug"
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
