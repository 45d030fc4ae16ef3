package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// FuseEvent is an event of "fuse-<id>": what stops cuts or messages of an organization when there are far more on a day
// than usual. Source: docs/rules/billing.md#fuses.
//
//sumtype:decl
type FuseEvent interface {
	Event
	fuseEvent()
}

// What fuses hold. Billing runs hold themselves.
const (
	FuseCuts     = "cuts"
	FuseMessages = "messages"
)

// UsualDays are those whose worst is the usual of a fuse: two months, so that a month's first day is compared with that
// of the last one. Billing runs look as far back.
const UsualDays = 62

// FuseHeld records that no more happens until a person releases it.
type FuseHeld struct {
	FuseID id.Fuse         `json:"fuseId"`
	OrgID  id.Organization `json:"orgId"`
	Kind   string          `json:"kind"`
	Date   calendar.Date   `json:"date"`  // in the organization's zone
	Count  int             `json:"count"` // that happened on the day until then
	Usual  int             `json:"usual"` // the most of a day lately
	At     time.Time       `json:"at"`
}

// FuseReleased records that a person has looked: on the rest of that day everything goes on.
type FuseReleased struct {
	FuseID id.Fuse         `json:"fuseId"`
	OrgID  id.Organization `json:"orgId"`
	Kind   string          `json:"kind"`
	Date   calendar.Date   `json:"date"` // of the release, in the organization's zone
	Reason string          `json:"reason"`
	At     time.Time       `json:"at"`
}

func (FuseHeld) EventType() string     { return "billing.FuseHeld.v1" }
func (FuseReleased) EventType() string { return "billing.FuseReleased.v1" }
func (FuseHeld) fuseEvent()            {}
func (FuseReleased) fuseEvent()        {}
