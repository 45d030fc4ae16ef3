package identity

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// maxRotations bounds the stream of a key, which is never closed.
const maxRotations = 500

// APIKeys defines the keys with which other programs act for an organization. A stream has few events, at most one for
// each of maxRotations and two more.
func APIKeys() aggregates.Definition[APIKey, commands.APIKeyCommand, events.APIKeyEvent] {
	return aggregates.Definition[APIKey, commands.APIKeyCommand, events.APIKeyEvent]{
		Category: commands.APIKeyCategory, Missing: commands.ErrNoAPIKey, Evolve: evolveAPIKey, Decide: decideAPIKey,
		Owner:    func(s APIKey) id.Organization { return s.Issued.OrgID },
		Commands: []commands.APIKeyCommand{commands.IssueAPIKey{}, commands.RotateAPIKey{}, commands.RevokeAPIKey{}},
	}
}

// APIKey is a key of an organization. The zero value is "does not exist".
type APIKey struct {
	Issued    events.APIKeyIssued
	Rotated   events.APIKeyRotated // the latest one; zero = never
	Rotations int
	RevokedAt time.Time // zero = it was not
}

// Secret is the present one.
func (s APIKey) Secret() id.APIKeySecret {
	if s.Rotations > 0 {
		return s.Rotated.SecretID
	}
	return s.Issued.SecretID
}

// Prefix is that of the present secret.
func (s APIKey) Prefix() string {
	if s.Rotations > 0 {
		return s.Rotated.Prefix
	}
	return s.Issued.Prefix
}

// AnswersFor is who made the present secret.
func (s APIKey) AnswersFor() id.User {
	if s.Rotations > 0 {
		return s.Rotated.By
	}
	return s.Issued.By
}

// Over reports whether the key has ended for good.
func (s APIKey) Over(now time.Time) bool {
	return !s.RevokedAt.IsZero() || !s.Issued.ExpiresAt.IsZero() && !now.Before(s.Issued.ExpiresAt)
}

// evolveAPIKey applies one recorded event.
func evolveAPIKey(s APIKey, e events.APIKeyEvent) APIKey {
	switch e := e.(type) {
	case events.APIKeyIssued:
		return APIKey{Issued: e}
	case events.APIKeyRotated:
		s.Rotated, s.Rotations = e, s.Rotations+1
	case events.APIKeyRevoked:
		s.RevokedAt = e.At
	}
	return s
}

// decideAPIKey dispatches.
func decideAPIKey(s APIKey, c commands.APIKeyCommand, now time.Time) ([]events.APIKeyEvent, error) {
	switch c := c.(type) {
	case commands.IssueAPIKey:
		return decideIssueAPIKey(s, c, now)
	case commands.RotateAPIKey:
		return decideRotateAPIKey(s, c, now)
	case commands.RevokeAPIKey:
		switch {
		case s.Issued.KeyID.IsZero():
			return nil, commands.ErrNoAPIKey()
		case !s.RevokedAt.IsZero():
			return nil, nil
		}
		return []events.APIKeyEvent{events.APIKeyRevoked{
			KeyID: s.Issued.KeyID, OrgID: s.Issued.OrgID, By: c.By, At: now,
		}}, nil
	}
	return nil, nil
}

// decideIssueAPIKey refuses a key that would have more rights than its maker.
func decideIssueAPIKey(s APIKey, c commands.IssueAPIKey, now time.Time) ([]events.APIKeyEvent, error) {
	switch {
	case !s.Issued.KeyID.IsZero():
		return nil, failure.NewConflict("api_key_exists", "This API key exists already.")
	case !c.ByRole.AtLeast(c.Role):
		return nil, errAPIKeyRole()
	case !c.ExpiresAt.IsZero() && !c.ExpiresAt.After(now):
		var f failure.Faults
		f.Add("expiresAt", "must be in the future")
		return nil, f.Err()
	}
	return []events.APIKeyEvent{events.APIKeyIssued{
		KeyID: c.KeyID, OrgID: c.OrgID, SecretID: c.SecretID, Prefix: c.Prefix, Name: c.Name, Role: c.Role,
		Scopes: c.Scopes, AllowedAddresses: c.AllowedAddresses, ExpiresAt: c.ExpiresAt, By: c.By, At: now,
	}}, nil
}

// decideRotateAPIKey refuses whoever replaces a secret that somebody else has replaced a moment ago: the new secret of
// that one would end before its owner has used it.
func decideRotateAPIKey(s APIKey, c commands.RotateAPIKey, now time.Time) ([]events.APIKeyEvent, error) {
	switch {
	case s.Issued.KeyID.IsZero():
		return nil, commands.ErrNoAPIKey()
	case s.Over(now):
		return nil, failure.NewConflict("api_key_over", "This API key is revoked or has expired. Make another one.")
	case s.Secret() != c.From:
		return nil, commands.ErrAPIKeyRotated()
	case !c.ByRole.AtLeast(s.Issued.Role):
		return nil, errAPIKeyRole()
	case s.Rotations >= maxRotations:
		return nil, failure.NewConflict("api_key_rotations",
			"This API key was replaced as often as a key can be. Make another one, and revoke this one.")
	}
	return []events.APIKeyEvent{events.APIKeyRotated{
		KeyID: s.Issued.KeyID, OrgID: s.Issued.OrgID, SecretID: c.SecretID, Prefix: c.Prefix,
		PreviousUntil: now.Add(c.Overlap), By: c.By, At: now,
	}}, nil
}

// errAPIKeyRole refuses whoever would answer for a key with more rights than the own ones.
func errAPIKeyRole() error {
	return failure.NewDenied("api_key_role", "An API key cannot have a higher role than you have.")
}
