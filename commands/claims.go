package commands

import (
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ClaimCategory begins the names of the streams of unique values. The bus decides about them itself, since it takes and
// releases them for all other aggregates: docs/rules/engine.md#claims.
const ClaimCategory = "claim"

// ReleaseUnusedClaim frees a unique value that its owner does not use. A value in use, a free one, and one that was
// taken less than a minute ago stay as they are, without a failure.
type ReleaseUnusedClaim struct {
	Claim id.Any // HMAC of the value, by which its stream is named
}

func (ReleaseUnusedClaim) CommandName() string { return "claims.ReleaseUnused" }

// Target is the stream of the unique value.
func (c ReleaseUnusedClaim) Target() Target { return At(ClaimCategory, c.Claim) }

// Validate requires the key of the claim.
func (c ReleaseUnusedClaim) Validate() error {
	var f failure.Faults
	f.Check(!c.Claim.IsZero(), "claim", "is required")
	return f.Err()
}
