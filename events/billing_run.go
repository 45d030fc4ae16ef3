package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// BillingRunEvent is an event of "billing_run-<id>": all that becomes due in an organization by the end of a day
// (docs/rules/billing.md#billing-runs).
//
//sumtype:decl
type BillingRunEvent interface {
	Event
	billingRunEvent()
}

// BillingRunRequested records that what is due by the end of a day shall be invoiced. A run that has finished can be
// requested again, for what has become due since.
type BillingRunRequested struct {
	RunID id.BillingRun   `json:"runId"`
	OrgID id.Organization `json:"orgId"`
	Date  calendar.Date   `json:"date"` // in the organization's zone
	// Again says that a person asks: what an undo of this run has taken back is invoiced again.
	Again bool      `json:"again,omitempty"`
	At    time.Time `json:"at"`
}

// BillingRunBegan records that the subscriptions that are due are invoiced from now on.
type BillingRunBegan struct {
	RunID id.BillingRun   `json:"runId"`
	OrgID id.Organization `json:"orgId"`
	Due   int             `json:"due"`   // subscriptions for which an invoice is due
	Usual int             `json:"usual"` // the most that was due on one day lately
	At    time.Time       `json:"at"`
}

// BillingRunHeld records that far more is due than usual: nothing is invoiced until a person releases the run.
type BillingRunHeld struct {
	RunID id.BillingRun   `json:"runId"`
	OrgID id.Organization `json:"orgId"`
	Due   int             `json:"due"`
	Usual int             `json:"usual"`
	At    time.Time       `json:"at"`
}

// BillingRunReleased records that a person has looked at a held run, and lets it go on.
type BillingRunReleased struct {
	RunID  id.BillingRun   `json:"runId"`
	OrgID  id.Organization `json:"orgId"`
	Reason string          `json:"reason"`
	At     time.Time       `json:"at"`
}

// BillingRunFinished records that everything that was due has become an invoice, apart from what failed: that stays
// due, for a later run.
type BillingRunFinished struct {
	RunID  id.BillingRun   `json:"runId"`
	OrgID  id.Organization `json:"orgId"`
	Date   calendar.Date   `json:"date"`
	Failed int             `json:"failed"`
	// Failures are the first of those that failed.
	Failures []BillingFailure `json:"failures,omitempty"`
	At       time.Time        `json:"at"`
}

// BillingFailure is a subscription whose invoice was refused.
type BillingFailure struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	Code           string          `json:"code"` // of the failure
}

func (BillingRunRequested) EventType() string { return "billing.BillingRunRequested.v1" }
func (BillingRunBegan) EventType() string     { return "billing.BillingRunBegan.v1" }
func (BillingRunHeld) EventType() string      { return "billing.BillingRunHeld.v1" }
func (BillingRunReleased) EventType() string  { return "billing.BillingRunReleased.v1" }
func (BillingRunFinished) EventType() string  { return "billing.BillingRunFinished.v1" }

func (BillingRunRequested) billingRunEvent() {}
func (BillingRunBegan) billingRunEvent()     {}
func (BillingRunHeld) billingRunEvent()      {}
func (BillingRunReleased) billingRunEvent()  {}
func (BillingRunFinished) billingRunEvent()  {}
