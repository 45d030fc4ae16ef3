package commands

import (
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// SubscriptionCategory begins the names of the streams of subscriptions.
const SubscriptionCategory = "subscription"

// SubscriptionCommand is a command to "subscription-<id>".
//
//sumtype:decl
type SubscriptionCommand interface {
	Command
	subscriptionCommand()
}

// CreateSubscription gives a subscriber a plan. The caller must read plan and organization from the log. Fails:
// username_taken, static_ip_taken, static_ipv6_prefix_taken, subscription_exists.
type CreateSubscription struct {
	SubscriptionID id.Subscription
	OrgID          id.Organization
	SubscriberID   id.Subscriber
	PlanID         id.Plan
	PlanVersion    int
	Terms          events.PlanTerms
	Timezone       string
	StartsAt       time.Time // zero = now
	Username       personal.Text
	PasswordRef    id.Secret
	Addresses      ServiceAddresses
}

// PeriodInvoice is the id of the invoice of a subscription's period. The ordinal is 1 for the first period. Periods
// that became due before periods had ordinals have other ids; their events tell them.
func PeriodInvoice(subscription id.Subscription, ordinal int) id.Invoice {
	return id.Derive[id.Invoice]("subscription_period", subscription.String(), strconv.Itoa(ordinal))
}

// MakePeriodDue asks for the next period's invoice. It changes nothing while no period is wanted. Fails:
// subscription_not_found.
type MakePeriodDue struct {
	SubscriptionID id.Subscription
}

// ExtendSubscription records that the invoice of a period is paid. Fails: subscription_not_found, period_archived.
type ExtendSubscription struct {
	SubscriptionID id.Subscription
	InvoiceID      id.Invoice
	PaidAt         time.Time
	// Late is the term of the subscription, as far as who asks knows it. With FromExpiry, whoever executes the command
	// adds Served.
	Late events.LateRenewal
	// Served are the times since the end of the paid time in which the customer had whole access and the clock of
	// dunning ran. Terms that renew late from the expiry count them; what is not told counts for nothing.
	Served []events.TimeSpan
}

// WithdrawPeriod takes back the period that an invoice paid for. Fails: subscription_not_found, period_archived.
type WithdrawPeriod struct {
	SubscriptionID id.Subscription
	InvoiceID      id.Invoice
	Reason         string
}

// CancelPeriod drops a period for good, because its invoice was voided or credited whole. Fails:
// subscription_not_found, period_archived.
type CancelPeriod struct {
	SubscriptionID id.Subscription
	InvoiceID      id.Invoice
}

// PauseSubscription stops service and billing until it is resumed. Fails: subscription_not_found,
// subscription_not_active.
type PauseSubscription struct {
	SubscriptionID id.Subscription
	Reason         string
}

// ResumeSubscription ends a pause and gives its time back. Fails: subscription_not_found, subscription_not_paused.
type ResumeSubscription struct {
	SubscriptionID id.Subscription
	Reason         string
}

// EndSubscription ends a subscription for ever. Fails: subscription_not_found.
type EndSubscription struct {
	SubscriptionID id.Subscription
	Reason         string
}

func (CreateSubscription) CommandName() string { return "subscribers.CreateSubscription" }
func (MakePeriodDue) CommandName() string      { return "subscribers.MakePeriodDue" }
func (ExtendSubscription) CommandName() string { return "subscribers.ExtendSubscription" }
func (WithdrawPeriod) CommandName() string     { return "subscribers.WithdrawPeriod" }
func (CancelPeriod) CommandName() string       { return "subscribers.CancelPeriod" }
func (PauseSubscription) CommandName() string  { return "subscribers.PauseSubscription" }
func (ResumeSubscription) CommandName() string { return "subscribers.ResumeSubscription" }
func (EndSubscription) CommandName() string    { return "subscribers.EndSubscription" }

func (CreateSubscription) subscriptionCommand() {}
func (MakePeriodDue) subscriptionCommand()      {}
func (ExtendSubscription) subscriptionCommand() {}
func (WithdrawPeriod) subscriptionCommand()     {}
func (CancelPeriod) subscriptionCommand()       {}
func (PauseSubscription) subscriptionCommand()  {}
func (ResumeSubscription) subscriptionCommand() {}
func (EndSubscription) subscriptionCommand()    {}

func (c CreateSubscription) Target() Target { return At(SubscriptionCategory, c.SubscriptionID) }
func (c MakePeriodDue) Target() Target      { return At(SubscriptionCategory, c.SubscriptionID) }
func (c ExtendSubscription) Target() Target { return At(SubscriptionCategory, c.SubscriptionID) }
func (c WithdrawPeriod) Target() Target     { return At(SubscriptionCategory, c.SubscriptionID) }
func (c CancelPeriod) Target() Target       { return At(SubscriptionCategory, c.SubscriptionID) }
func (c PauseSubscription) Target() Target  { return At(SubscriptionCategory, c.SubscriptionID) }
func (c ResumeSubscription) Target() Target { return At(SubscriptionCategory, c.SubscriptionID) }
func (c EndSubscription) Target() Target    { return At(SubscriptionCategory, c.SubscriptionID) }

// Validate checks the form of the username and of the addresses.
func (c CreateSubscription) Validate() error {
	var f failure.Faults
	checkUsername(&f, c.Username)
	checkAddresses(&f, c.Addresses)
	return f.Err()
}

func (MakePeriodDue) Validate() error        { return nil }
func (ExtendSubscription) Validate() error   { return nil }
func (WithdrawPeriod) Validate() error       { return nil }
func (CancelPeriod) Validate() error         { return nil }
func (c PauseSubscription) Validate() error  { return requireReason(c.Reason) }
func (c ResumeSubscription) Validate() error { return requireReason(c.Reason) }
func (c EndSubscription) Validate() error    { return requireReason(c.Reason) }

// ErrNoSubscription is the failure for a subscription that does not exist or belongs to another organization.
func ErrNoSubscription() error {
	return failure.NewNotFound("subscription_not_found", "There is no such subscription.")
}

// ErrPeriodArchived is the failure for a period that is settled and so old that only its effect is kept.
func ErrPeriodArchived() error {
	return failure.NewConflict("period_archived", "This period of the subscription is too old to change.")
}
