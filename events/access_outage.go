package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// OutageEvent is an event of "payoutage-<organization id>": the times in which customers of an organization could not
// pay.
//
//sumtype:decl
type OutageEvent interface {
	Event
	outageEvent()
}

// Causes for which the clock of dunning stands still. In events follows after a colon what tells faults apart, so that
// each of them stops each clock once: the id of the router and the second of the beginning, for instance.
const (
	ClockNoPayment = "no_payment" // customers could not pay
	ClockNoLine    = "no_line"    // the router of the customer could not be reached
	ClockPaused    = "paused"     // the subscription was paused
)

// PaymentsInterrupted records that customers cannot pay since an instant.
type PaymentsInterrupted struct {
	OrgID    id.Organization `json:"orgId"`
	Evidence string          `json:"evidence"` // "provider_unreachable", "no_receipts"; in old ones "platform_away"
	From     time.Time       `json:"from"`     // before At: it was noticed later
	At       time.Time       `json:"at"`
}

// PaymentsResumed records that customers can pay again.
type PaymentsResumed struct {
	OrgID id.Organization `json:"orgId"`
	From  time.Time       `json:"from"`
	Until time.Time       `json:"until"`
	At    time.Time       `json:"at"`
}

// PlatformAway records that no program of the platform could take money for a time. It says nothing about the provider:
// an outage of the provider may begin, last or end within it.
type PlatformAway struct {
	OrgID id.Organization `json:"orgId"`
	From  time.Time       `json:"from"`
	Until time.Time       `json:"until"` // after From, not after At
	At    time.Time       `json:"at"`
}

func (PaymentsInterrupted) EventType() string { return "access.PaymentsInterrupted.v1" }
func (PaymentsResumed) EventType() string     { return "access.PaymentsResumed.v1" }
func (PlatformAway) EventType() string        { return "access.PlatformAway.v1" }

func (PaymentsInterrupted) outageEvent() {}
func (PaymentsResumed) outageEvent()     {}
func (PlatformAway) outageEvent()        {}
