package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// UsageEvent is an event of "usage-<subscription id>": what the business decides on in the traffic of a subscription.
// The traffic itself is in the tables of telemetry.
//
//sumtype:decl
type UsageEvent interface {
	Event
	usageEvent()
	usageSubject() UsageSubject
}

// UsageSubject names the subscription that an event of usage is about.
type UsageSubject struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
}

// usageSubject makes every event that embeds UsageSubject name its subscription.
func (s UsageSubject) usageSubject() UsageSubject { return s }

// VoucherUsage is the subject of a voucher. It stands in the place of both, as in its sessions
// (docs/rules/access-vouchers.md#sessions).
func VoucherUsage(org id.Organization, voucher id.Voucher) UsageSubject {
	return UsageSubject{
		SubscriptionID: id.As[id.Subscription](voucher), OrgID: org, SubscriberID: id.As[id.Subscriber](voucher),
	}
}

// OfVoucher reports whether the subject is a voucher, which has no customer who could be told anything.
func (s UsageSubject) OfVoucher() bool {
	return s.SubscriptionID == id.As[id.Subscription](s.SubscriberID)
}

// UsageSubjectOf is the subscription that an event of usage is about.
func UsageSubjectOf(e UsageEvent) UsageSubject { return e.usageSubject() }

// CapPeriod is one day or calendar month in the organization's zone, in which the traffic of a cap is counted. The zero
// value is no period.
type CapPeriod struct {
	Period   string        `json:"period"`   // "day" or "month"
	Starts   calendar.Date `json:"starts"`   // its first local day
	ResetsAt time.Time     `json:"resetsAt"` // first instant of the next period, UTC
}

// Same reports whether two values name one period, wherever it ends.
func (p CapPeriod) Same(o CapPeriod) bool { return p.Period == o.Period && p.Starts == o.Starts }

// NewCapPeriod is the period that begins on a local day. It is the zero value when period is "": there is no cap.
func NewCapPeriod(period string, starts calendar.Date, zone *time.Location) CapPeriod {
	next := starts.AddDays(1)
	switch period {
	case "":
		return CapPeriod{}
	case "month":
		next = calendar.Date{Year: starts.Year, Month: starts.Month, Day: 1}.AddDays(31)
		next.Day = 1
	}
	return CapPeriod{Period: period, Starts: starts, ResetsAt: next.Start(zone)}
}

// PeriodAt is the period of a cap that an instant lies in (docs/rules/access-usage.md#periods). It is the zero value
// without a cap.
func (c Cap) PeriodAt(at time.Time, zone *time.Location) CapPeriod {
	starts := calendar.On(at, zone)
	if c.Period == "month" {
		starts.Day = 1
	}
	return NewCapPeriod(c.Period, starts, zone)
}

// CapCount compares what a subscription used in a period with what it may use. Both are bytes of both directions.
type CapCount struct {
	Allowed  int64  `json:"allowed"` // by the plan, and by the top-ups of the period; 0 = the plan has no cap any more
	Used     int64  `json:"used"`
	Then     CapAct `json:"then,omitempty"`    // of the plan: what happens when everything is used
	Throttle Speed  `json:"throttle,omitzero"` // of CapThrottle only
}

// FirstSessionBegan records that a subscription was used for the first time ever.
type FirstSessionBegan struct {
	UsageSubject
	BeganAt time.Time `json:"beganAt"` // of the session, as its router told
	At      time.Time `json:"at"`      // when its traffic was counted first
}

// CapWarned records that four fifths of the traffic of a period are used.
type CapWarned struct {
	UsageSubject
	CapPeriod
	CapCount
	At time.Time `json:"at"`
}

// CapReached records that the traffic of a period is used up. The cap acts until ResetsAt, or until CapReset.
type CapReached struct {
	UsageSubject
	CapPeriod
	CapCount
	At time.Time `json:"at"`
}

// CapResetReason is a code that says why a cap does not act any more.
type CapResetReason string

// The reasons of a CapReset.
const (
	ResetPeriodOver  CapResetReason = "period_over"
	ResetTopUp       CapResetReason = "top_up"
	ResetPlanChanged CapResetReason = "plan_changed" // it allows more than was used, or has no cap
)

// CapReset records that a cap which was reached does not act any more.
type CapReset struct {
	UsageSubject
	CapPeriod // that the cap was reached in
	CapCount
	Reason CapResetReason `json:"reason"`
	At     time.Time      `json:"at"`
}

// CapPeriodMoved records that the present period ends at another instant, because the organization's zone has changed.
type CapPeriodMoved struct {
	UsageSubject
	CapPeriod
	At time.Time `json:"at"`
}

// TopUpOrdered records that traffic was sold to a prepaid customer. It is added when its invoice is paid.
type TopUpOrdered struct {
	UsageSubject
	TopUpID   id.TopUp      `json:"topUpId"`
	Bytes     int64         `json:"bytes"`
	CapPeriod               // an order that is not paid in it lapses
	Reason    personal.Text `json:"reason,omitzero"` // zero = none was given
	Price     money.Amount  `json:"price"`
	InvoiceID id.Invoice    `json:"invoiceId"` // that is drafted for the price
	At        time.Time     `json:"at"`
}

// TopUpAdded records that a subscription may use more until the cap resets.
type TopUpAdded struct {
	UsageSubject
	TopUpID id.TopUp `json:"topUpId"`
	Bytes   int64    `json:"bytes"`
	CapPeriod
	CapCount                // after it
	Reason    personal.Text `json:"reason,omitzero"`    // zero = none was given
	Price     money.Amount  `json:"price,omitzero"`     // zero = it costs nothing
	InvoiceID id.Invoice    `json:"invoiceId,omitzero"` // for the price; zero = none
	Paid      bool          `json:"paid,omitempty"`     // it was ordered before, and its invoice is paid
	At        time.Time     `json:"at"`
}

// UsagePeriodClosed passes the state to the stream's next period (docs/rules/engine.md#closing-a-period).
type UsagePeriodClosed struct {
	UsageSubject
	Opening []byte `json:"opening"` // JSON of the aggregate's state, which has no personal text
}

func (FirstSessionBegan) EventType() string { return "access.FirstSessionBegan.v1" }
func (CapWarned) EventType() string         { return "access.CapWarned.v1" }
func (CapReached) EventType() string        { return "access.CapReached.v1" }
func (CapReset) EventType() string          { return "access.CapReset.v1" }
func (CapPeriodMoved) EventType() string    { return "access.CapPeriodMoved.v1" }
func (TopUpOrdered) EventType() string      { return "access.TopUpOrdered.v1" }
func (TopUpAdded) EventType() string        { return "access.TopUpAdded.v1" }
func (UsagePeriodClosed) EventType() string { return "access.UsagePeriodClosed.v1" }

func (FirstSessionBegan) usageEvent() {}
func (CapWarned) usageEvent()         {}
func (CapReached) usageEvent()        {}
func (CapReset) usageEvent()          {}
func (CapPeriodMoved) usageEvent()    {}
func (TopUpOrdered) usageEvent()      {}
func (TopUpAdded) usageEvent()        {}
func (UsagePeriodClosed) usageEvent() {}

func (e TopUpOrdered) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }
func (e TopUpAdded) PersonalSubject() uuid.UUID   { return e.SubscriberID.UUID() }

func (TopUpOrdered) remark() {}
func (TopUpAdded) remark()   {}
