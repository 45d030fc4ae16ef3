package identityapi

import (
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
)

// keyPerson is somebody of the organization who made or ended a key.
type keyPerson struct {
	ID   id.User `json:"id"`
	Name *string `json:"name" doc:"null: no member any more, or forgotten"`
}

// previousKey is the text of before a rotation, while it works on.
type previousKey struct {
	Prefix string    `json:"prefix"`
	Until  time.Time `json:"until"`
}

// apiKeyResponse is an API key without its text.
type apiKeyResponse struct {
	ID               id.APIKey    `json:"id"`
	Name             string       `json:"name"`
	Prefix           string       `json:"prefix" doc:"with which its text begins"`
	Role             events.Role  `json:"role" enum:"admin,support"`
	Scopes           *[]string    `json:"scopes" doc:"null: all that the role may"`
	ExpiresAt        *time.Time   `json:"expiresAt" doc:"null: never"`
	AllowedAddresses *[]string    `json:"allowedAddresses" doc:"networks; null: from everywhere"`
	CreatedAt        time.Time    `json:"createdAt"`
	CreatedBy        keyPerson    `json:"createdBy"`
	RotatedAt        *time.Time   `json:"rotatedAt" doc:"null: never"`
	AnsweredBy       keyPerson    `json:"answeredBy" doc:"made the present text; it stops when they lose the role"`
	Previous         *previousKey `json:"previous" doc:"the text of before, while it works on"`
	LastUsedAt       *time.Time   `json:"lastUsedAt" doc:"to a minute; null: never"`
	LastUsedFrom     *string      `json:"lastUsedFrom" doc:"address; null: never, or 90 days ago"`
	State            string       `json:"state" enum:"active,expired,revoked,stopped" doc:"stopped: see answeredBy"`
	RevokedAt        *time.Time   `json:"revokedAt"`
	RevokedBy        *keyPerson   `json:"revokedBy"`
}

// newAPIKeyResponse is an API key with its text.
type newAPIKeyResponse struct {
	apiKeyResponse
	Key string `json:"key" doc:"the whole text, which is never shown again"`
}

// scopeResponse is a scope and who can have it.
type scopeResponse struct {
	Scope string   `json:"scope"`
	Roles []string `json:"roles" doc:"roles of keys for which it opens something"`
}

// keyFacts belong to rows of keys, which do not have them: when each was used, and the names of people.
type keyFacts struct {
	uses   map[id.APIKey]vault.APIKeyUse
	people map[id.User]string
}

// facts reads those of some rows, and the names of further people.
func (a APIKeys) facts(
	ctx context.Context, org id.Organization, rows []identityviews.APIKeyRow, people ...id.User,
) (f keyFacts, err error) {
	keys := make([]id.APIKey, len(rows))
	for i, r := range rows {
		keys[i] = r.ID
		for _, user := range []id.User{r.CreatedBy, r.Answers, r.RevokedBy} {
			if !user.IsZero() && !slices.Contains(people, user) {
				people = append(people, user)
			}
		}
	}
	if f.uses, err = a.Uses.Latest(ctx, keys); err != nil {
		return f, err
	}
	f.people, err = a.Users.Names(ctx, org, people)
	return f, err
}

// show writes a row.
func (a APIKeys) show(r identityviews.APIKeyRow, f keyFacts) apiKeyResponse {
	now := a.Clock.Now()
	who := func(user id.User) keyPerson { return keyPerson{user, null.Of(f.people[user])} }
	use := f.uses[r.ID]
	out := apiKeyResponse{
		ID: r.ID, Name: r.Name, Prefix: r.Prefix, Role: r.Role, Scopes: listed(r.Scopes), ExpiresAt: r.ExpiresAt,
		AllowedAddresses: listed(r.AllowedAddresses), CreatedAt: r.CreatedAt, CreatedBy: who(r.CreatedBy),
		RotatedAt: r.RotatedAt, AnsweredBy: who(r.Answers), LastUsedAt: null.Time(use.At),
		LastUsedFrom: null.Of(use.IP), State: a.state(r, now), RevokedAt: r.RevokedAt,
	}
	if r.PreviousPrefix != nil && r.PreviousUntil != nil && now.Before(*r.PreviousUntil) {
		out.Previous = &previousKey{*r.PreviousPrefix, *r.PreviousUntil}
	}
	if r.RevokedAt != nil {
		out.RevokedBy = new(who(r.RevokedBy))
	}
	return out
}

// listed shows a list that may not be there.
func listed(texts []string) *[]string {
	if texts == nil {
		return nil
	}
	return &texts
}

// state says whether a key works at this moment, as the directory decides it at a request.
func (a APIKeys) state(r identityviews.APIKeyRow, now time.Time) string {
	standing, known := a.Directory.APIKey(r.SecretID)
	switch {
	case r.RevokedAt != nil:
		return "revoked"
	case r.ExpiresAt != nil && !now.Before(*r.ExpiresAt):
		return "expired"
	case known && standing.Stopped():
		return "stopped"
	}
	return "active"
}
