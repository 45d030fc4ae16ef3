package events

import "github.com/lastmile-isp/lastmile/internal/id"

// UserForgotten records that the user's key is destroyed. Every projection clears the personal fields of the user
// (docs/rules/engine.md#personal-fields).
type UserForgotten struct {
	UserID id.User `json:"userId"`
	Reason string  `json:"reason"`
}

func (UserForgotten) EventType() string { return "identity.UserForgotten.v1" }
func (UserForgotten) userEvent()        {}
