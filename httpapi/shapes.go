package httpapi

import (
	"cmp"
	"encoding/json"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Number is an exact amount in major units, written as a JSON number.
type Number = json.Number

// AuditActor is the person, process or outside system that acted.
type AuditActor struct {
	ID   *string `json:"id" doc:"null: nobody signed in"`
	Kind string  `json:"kind" enum:"user,api_key,process,provider,operator,public"`
	Name *string `json:"name" doc:"null: neither a person nor an API key, or forgotten"`
	Role *string `json:"role" doc:"at that moment"`
}

// ActorKind is the kind of a recorded actor. Events that jobs of older versions recorded without an actor have none.
func ActorKind(recorded string) string { return cmp.Or(recorded, string(events.ActorProcess)) }

// Percent writes basis points as a JSON number of percent: 1600 is 16, 750 is 7.5.
func Percent(basisPoints int64) Number { return json.Number(money.Percent(basisPoints)) }

// SecretsVersion is another text after each replacement of one of some secrets, and tells nothing about them: by it a
// form sees that a colleague has typed another secret meanwhile. It is nil when there is none.
func SecretsVersion(refs ...id.Secret) *string {
	parts, none := make([]string, len(refs)), true
	for i, ref := range refs {
		parts[i], none = ref.String(), none && ref.IsZero()
	}
	if none {
		return nil
	}
	return new(id.Derive[id.Any]("secrets version", parts...).String())
}
