package commands

import (
	"time"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// UsageCategory begins the names of the streams of usage; the id is the subscription's.
const UsageCategory = "usage"

// maxTopUp bounds one top-up: as much as a cap may have.
const maxTopUp = maxCapBytes

// maxTopUpPrice bounds the price of one top-up in minor units, so that its invoice with any tax can be drafted.
const maxTopUpPrice = 1_000_000_000_00

// UsageCommand is a command to the usage of a subscription.
//
//sumtype:decl
type UsageCommand interface {
	Command
	usageCommand()
}

// CapTerms are the rules that hold when a command is given.
type CapTerms struct {
	Cap      events.Cap // of the plan; the zero value is none
	Timezone string     // IANA name, of the organization
}

// CountTraffic compares what was used in a period with the cap. It can be given at any time and as often as one likes.
// A period that is over counts for nothing.
type CountTraffic struct {
	Subject   events.UsageSubject
	FirstSeen time.Time // when the first session ever began; zero = there was none, or it is recorded
	Terms     CapTerms
	Starts    calendar.Date // first day of the period in which Used was counted; zero without a cap
	Used      int64         // bytes of both directions
}

// ResetCap ends what a cap does when its period is over. Before that, and for another period, it does nothing.
type ResetCap struct {
	Subject events.UsageSubject
	Starts  calendar.Date // first day of the period in which the cap was reached
}

// AddTopUp adds bytes until the cap resets. A top-up that is known adds nothing. Fails: no_cap, invalid_input.
type AddTopUp struct {
	Subject events.UsageSubject
	TopUpID id.TopUp
	Bytes   int64
	Reason  string       // "" = none
	Price   money.Amount // zero = it costs nothing
	// WhenPaid orders the bytes: they are added when the price is paid. Without a price it says nothing.
	WhenPaid bool
	Terms    CapTerms
	Starts   calendar.Date // as in CountTraffic
	Used     int64
}

// GrantTopUp adds the bytes of an order that is paid, to the period in which it is executed. A top-up that is known in
// this period adds nothing; a repeat after the reset is known by its command id alone.
type GrantTopUp struct {
	Subject   events.UsageSubject
	TopUpID   id.TopUp
	Bytes     int64
	Price     money.Amount
	InvoiceID id.Invoice
	Terms     CapTerms
	Starts    calendar.Date // as in CountTraffic
	Used      int64
}

func (CountTraffic) CommandName() string { return "access.CountTraffic" }
func (ResetCap) CommandName() string     { return "access.ResetCap" }
func (AddTopUp) CommandName() string     { return "access.AddTopUp" }
func (GrantTopUp) CommandName() string   { return "access.GrantTopUp" }

func (c CountTraffic) Target() Target { return usageOf(c.Subject) }
func (c ResetCap) Target() Target     { return usageOf(c.Subject) }
func (c AddTopUp) Target() Target     { return usageOf(c.Subject) }
func (c GrantTopUp) Target() Target   { return usageOf(c.Subject) }

func (CountTraffic) usageCommand() {}
func (ResetCap) usageCommand()     {}
func (AddTopUp) usageCommand()     {}
func (GrantTopUp) usageCommand()   {}

// usageOf is the stream of a subscription.
func usageOf(s events.UsageSubject) Target { return At(UsageCategory, s.SubscriptionID) }

// Validate checks form.
func (c CountTraffic) Validate() error {
	f := usageFaults(c.Subject)
	f.Check(c.Terms.Timezone != "", "timezone", "is required")
	f.Check(c.Used >= 0, "used", "must not be negative")
	return f.Err()
}

// Validate checks form.
func (c ResetCap) Validate() error {
	f := usageFaults(c.Subject)
	f.Check(!c.Starts.IsZero(), "starts", "is required")
	return f.Err()
}

// Validate checks form.
func (c AddTopUp) Validate() error {
	f := usageFaults(c.Subject)
	f.Check(!c.TopUpID.IsZero(), "topUpId", "is required")
	f.Check(c.Bytes > 0 && c.Bytes <= maxTopUp, "bytes", "must be from 1 to %d", int64(maxTopUp))
	f.Check(utf8.RuneCountInString(c.Reason) <= maxReason, "reason", "must be at most %d characters", maxReason)
	checkLines(&f, "reason", c.Reason)
	f.Check(!c.Price.Negative(), "price", "must not be negative")
	f.Check(c.Price.Minor <= maxTopUpPrice, "price", "is too large")
	f.Check(c.Terms.Timezone != "", "timezone", "is required")
	f.Check(c.Used >= 0, "used", "must not be negative")
	return f.Err()
}

// Validate checks form.
func (c GrantTopUp) Validate() error {
	f := usageFaults(c.Subject)
	f.Check(!c.TopUpID.IsZero(), "topUpId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(c.Bytes > 0 && c.Bytes <= maxTopUp, "bytes", "must be from 1 to %d", int64(maxTopUp))
	f.Check(c.Terms.Timezone != "", "timezone", "is required")
	f.Check(c.Used >= 0, "used", "must not be negative")
	return f.Err()
}

// usageFaults requires the ids of a subject.
func usageFaults(s events.UsageSubject) failure.Faults {
	var f failure.Faults
	f.Check(!s.SubscriptionID.IsZero(), "subscriptionId", "is required")
	f.Check(!s.OrgID.IsZero(), "orgId", "is required")
	f.Check(!s.SubscriberID.IsZero(), "subscriberId", "is required")
	return f
}

// ErrNoCap is the failure for traffic that is added to a subscription whose plan has no limit.
func ErrNoCap() error {
	return failure.NewConflict("no_cap", "The plan of this subscription has no cap, so nothing can be added to it.")
}
