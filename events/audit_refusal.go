package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// RefusalEvent is an event of "refusal-<id>": a write that a signed-in caller asked for and that was not done.
//
//sumtype:decl
type RefusalEvent interface {
	Event
	refusalEvent()
}

// RequestRefused records the answer to a write that was denied, refused or failed. It has the route, never the body.
type RequestRefused struct {
	RefusalID id.Request      `json:"refusalId"`
	OrgID     id.Organization `json:"orgId"` // null: on the root host
	Method    string          `json:"method"`
	Route     string          `json:"route"`    // pattern: "/invoices/:id/void"
	TargetID  id.Any          `json:"targetId"` // id in the path, null without one
	Status    int             `json:"status"`   // HTTP
	Code      string          `json:"code"`
	// Count is the number of refusals that it stands for, 1 or more: the rest of a minute is counted in the last one
	// (docs/rules/audit.md#refused-writes). The other fields are those of the last.
	Count int       `json:"count"`
	At    time.Time `json:"at"`
}

func (RequestRefused) EventType() string { return "audit.RequestRefused.v2" }
func (RequestRefused) refusalEvent()     {}
