package commands

import (
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
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
	Tax            events.TaxRule
	StartsAt       time.Time // zero = now
	Username       personal.Text
	PasswordRef    id.Secret
	Addresses      ServiceAddresses
	// PaidUntil is up to when the customer had paid in another system; zero = the first period begins here. In the past
	// it counts for prepaid terms alone.
	PaidUntil time.Time
	// Extras are on the first invoice already. Each has an id of its own, and the subscription's.
	Extras []AddExtra
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
	// On asks only for a period that becomes due by the end of this day, in the subscription's zone; of an hour or a
	// day by now. Zero = its timer rang, or credit covers the price.
	On calendar.Date `json:",omitzero"`
	// Rang says that the timer asks. Neither it nor a day brings a prepaid period again whose invoice was taken back;
	// credit does. Older programs have stored the command of a timer without it.
	Rang  bool          `json:",omitempty"`
	RunID id.BillingRun `json:",omitzero"` // zero = no billing run asks
	// Again says that a person asks for what an undo of the run has taken back.
	Again bool `json:",omitempty"`
	// Received says that money came in. Then a period comes that else waits for a person since an undo.
	Received bool `json:",omitempty"`
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
	// Part is that of events.InvoicePaid.
	Part events.PartPeriod
}

// WithdrawPeriod takes back the period that an invoice paid for. Fails: subscription_not_found, period_archived.
type WithdrawPeriod struct {
	SubscriptionID id.Subscription
	InvoiceID      id.Invoice
	Reason         string
}

// ReissuePeriod puts a corrected invoice in the place of a period's. A period that is dropped, or has the corrected one
// already, changes nothing. Fails: subscription_not_found, period_archived.
type ReissuePeriod struct {
	SubscriptionID id.Subscription
	InvoiceID      id.Invoice // the wrong one
	CorrectedID    id.Invoice
}

// CancelPeriod drops a period for good, because its invoice was voided or credited whole. Fails:
// subscription_not_found, period_archived.
type CancelPeriod struct {
	SubscriptionID id.Subscription
	InvoiceID      id.Invoice
}

// UndoPeriod drops the last period of a subscription because the billing run that made it is undone: no time passes for
// it, and the next one waits for a person or for money. A repeat changes nothing. Fails: subscription_not_found,
// period_archived, period_not_there, later_period_billed, taken_back_already.
type UndoPeriod struct {
	SubscriptionID id.Subscription
	InvoiceID      id.Invoice
	RunID          id.BillingRun
}

// PauseSubscription stops service and billing until it is resumed. Fails: subscription_not_found,
// subscription_not_active.
type PauseSubscription struct {
	SubscriptionID id.Subscription
	Reason         string
}

// SuspendBilling tells that a customer who does not pay was cut off at an instant. It changes nothing of prepaid
// subscriptions, of those that are not active, nor under terms by which such time is billed. Fails:
// subscription_not_found.
type SuspendBilling struct {
	SubscriptionID id.Subscription
	At             time.Time
}

// ResumeBilling tells that the customer is served again since an instant. Fails: subscription_not_found.
type ResumeBilling struct {
	SubscriptionID id.Subscription
	At             time.Time
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
	// Annulled says that the customer is removed with all invoices, because the subscription was made by mistake: the
	// end bills nothing and gives nothing back.
	Annulled bool `json:",omitempty"`
}

// PendingFor is how long a prepaid subscription waits for its first payment, from the day on which it was to start.
const PendingFor = 30 * 24 * time.Hour

// ExpiredReason is the reason of an end for want of a first payment.
const ExpiredReason = "expired"

// ExpireSubscription ends a prepaid subscription that was never paid, when it has waited for PendingFor. It changes
// nothing before that, and once it was paid. Fails: subscription_not_found.
type ExpireSubscription struct {
	SubscriptionID id.Subscription
}

func (CreateSubscription) CommandName() string { return "subscribers.CreateSubscription" }
func (MakePeriodDue) CommandName() string      { return "subscribers.MakePeriodDue" }
func (ExtendSubscription) CommandName() string { return "subscribers.ExtendSubscription" }
func (WithdrawPeriod) CommandName() string     { return "subscribers.WithdrawPeriod" }
func (CancelPeriod) CommandName() string       { return "subscribers.CancelPeriod" }
func (ReissuePeriod) CommandName() string      { return "subscribers.ReissuePeriod" }
func (UndoPeriod) CommandName() string         { return "subscribers.UndoPeriod" }
func (PauseSubscription) CommandName() string  { return "subscribers.PauseSubscription" }
func (ResumeSubscription) CommandName() string { return "subscribers.ResumeSubscription" }
func (SuspendBilling) CommandName() string     { return "subscribers.SuspendBilling" }
func (ResumeBilling) CommandName() string      { return "subscribers.ResumeBilling" }
func (ExpireSubscription) CommandName() string { return "subscribers.ExpireSubscription" }
func (EndSubscription) CommandName() string    { return "subscribers.EndSubscription" }

func (CreateSubscription) subscriptionCommand() {}
func (MakePeriodDue) subscriptionCommand()      {}
func (ExtendSubscription) subscriptionCommand() {}
func (WithdrawPeriod) subscriptionCommand()     {}
func (CancelPeriod) subscriptionCommand()       {}
func (ReissuePeriod) subscriptionCommand()      {}
func (UndoPeriod) subscriptionCommand()         {}
func (PauseSubscription) subscriptionCommand()  {}
func (ResumeSubscription) subscriptionCommand() {}
func (SuspendBilling) subscriptionCommand()     {}
func (ResumeBilling) subscriptionCommand()      {}
func (ExpireSubscription) subscriptionCommand() {}
func (EndSubscription) subscriptionCommand()    {}

func (c CreateSubscription) Target() Target { return At(SubscriptionCategory, c.SubscriptionID) }
func (c MakePeriodDue) Target() Target      { return At(SubscriptionCategory, c.SubscriptionID) }
func (c ExtendSubscription) Target() Target { return At(SubscriptionCategory, c.SubscriptionID) }
func (c WithdrawPeriod) Target() Target     { return At(SubscriptionCategory, c.SubscriptionID) }
func (c CancelPeriod) Target() Target       { return At(SubscriptionCategory, c.SubscriptionID) }
func (c ReissuePeriod) Target() Target      { return At(SubscriptionCategory, c.SubscriptionID) }
func (c UndoPeriod) Target() Target         { return At(SubscriptionCategory, c.SubscriptionID) }
func (c PauseSubscription) Target() Target  { return At(SubscriptionCategory, c.SubscriptionID) }
func (c ResumeSubscription) Target() Target { return At(SubscriptionCategory, c.SubscriptionID) }
func (c SuspendBilling) Target() Target     { return At(SubscriptionCategory, c.SubscriptionID) }
func (c ResumeBilling) Target() Target      { return At(SubscriptionCategory, c.SubscriptionID) }
func (c ExpireSubscription) Target() Target { return At(SubscriptionCategory, c.SubscriptionID) }
func (c EndSubscription) Target() Target    { return At(SubscriptionCategory, c.SubscriptionID) }

// Validate checks the form of the username and of the addresses.
func (c CreateSubscription) Validate() error {
	var f failure.Faults
	checkUsername(&f, c.Username)
	checkAddresses(&f, c.Addresses)
	err := f.Err()
	for _, x := range c.Extras {
		err = failure.JoinFaults(err, x.Validate())
	}
	return err
}

func (MakePeriodDue) Validate() error      { return nil }
func (ExtendSubscription) Validate() error { return nil }
func (WithdrawPeriod) Validate() error     { return nil }
func (CancelPeriod) Validate() error       { return nil }
func (ReissuePeriod) Validate() error      { return nil }
func (SuspendBilling) Validate() error     { return nil }
func (ResumeBilling) Validate() error      { return nil }
func (ExpireSubscription) Validate() error { return nil }

// Validate checks form only.
func (c UndoPeriod) Validate() error {
	var f failure.Faults
	f.Check(!c.RunID.IsZero(), "runId", "is required")
	return f.Err()
}

func (c PauseSubscription) Validate() error  { return requireReason(c.Reason) }
func (c ResumeSubscription) Validate() error { return requireReason(c.Reason) }
func (c EndSubscription) Validate() error    { return requireReason(c.Reason) }

// ErrNoSubscription is the failure for a subscription that does not exist or belongs to another organization.
func ErrNoSubscription() error {
	return failure.NewNotFound("subscription_not_found", "There is no such subscription.")
}

// ErrLaterPeriod is the failure for a period that cannot be undone before the one after it.
func ErrLaterPeriod() error {
	return failure.NewConflict("later_period_billed", "A later period is billed already. Take that back first.")
}

// ErrPeriodArchived is the failure for a period that is settled and so old that only its effect is kept.
func ErrPeriodArchived() error {
	return failure.NewConflict("period_archived", "This period of the subscription is too old to change.")
}
