package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// SubscriptionEvent is an event of "subscription-<id>", a plan of one subscriber.
//
//sumtype:decl
type SubscriptionEvent interface {
	Event
	subscriptionEvent()
}

// SubscriptionCreated records that a customer took a plan. The subscription is pending until its first period starts.
type SubscriptionCreated struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	PlanID         id.Plan         `json:"planId"`
	PlanVersion    int             `json:"planVersion"`
	Terms          PlanTerms       `json:"terms"`
	Timezone       string          `json:"timezone"` // of the organization at that time; the periods follow it
	StartsAt       time.Time       `json:"startsAt"` // the first period does not start before this instant
	Username       personal.Text   `json:"username"` // PPPoE or hotspot login; subject: the subscriber
	PasswordRef    id.Secret       `json:"passwordRef"`
	Tax            TaxRule         `json:"tax,omitzero"` // of the organization at that time; zero in old events
	CreatedAt      time.Time       `json:"createdAt"`
}

// PeriodDue records that a period must be invoiced now, under InvoiceID, which follows from subscription and ordinal.
type PeriodDue struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	Ordinal        int             `json:"ordinal,omitempty"` // 1 for the first period; 0 = recorded without one
	PlanName       string          `json:"planName"`
	Terms          PlanTerms       `json:"terms"` // their unit is the length of the period
	// From and To are the period when it is known in advance: a postpaid one, one with a fixed billing day, or the used
	// part of one that was taken back. Both are zero for another prepaid period, which starts when it is paid.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// DueAt is the instant at which the invoice is due.
	DueAt time.Time `json:"dueAt"`
	// KeepsTime says that the period ends at the time of day of the subscription's anniversary, also when the period
	// before it ended later because of a change to summer time. False = recorded without it: the end has the time of
	// day of the beginning.
	KeepsTime bool `json:"keepsTime,omitempty"`
	// Part says that the period is shorter than its unit: it ends on a fixed billing day, or it has the used days of a
	// period that was taken back, and service has ended. The zero value is a whole period.
	Part PartPeriod `json:"part,omitzero"`
	// Charge is the price of a part, rounded half up; zero for a whole period, which costs the price of the terms.
	Charge money.Amount `json:"charge,omitzero"`
	// Extras are on the invoice beside the price.
	Extras []PeriodExtra `json:"extras,omitempty"`
	// Retakes says that the period takes the place of a prepaid one of which time was given, and which an undo took
	// back. So days of it may have been used already.
	Retakes bool `json:"retakes,omitempty"`
	// NextFrom is where the next prepaid period begins when it takes such a place, too; zero = no other place waits.
	NextFrom time.Time `json:"nextFrom,omitzero"`
	// Credits are the days of the period in pauses, and in cuts that are not billed, that were over before it became
	// due: an undo had taken it back. They need not be paid.
	Credits []DaysCredit `json:"credits,omitempty"`
	// NextTerms are those of the period after it where they are not its own: it is made again after an undo, and a
	// change of plan comes after it. Absent = nothing new is told.
	NextTerms PlanTerms `json:"nextTerms,omitzero"`
	// RunID is the billing run that made the period due; absent when something else did.
	RunID id.BillingRun `json:"runId,omitzero"`
	At    time.Time     `json:"at,omitzero"` // zero = recorded without it
}

// Own is the price of the period without extras.
func (e PeriodDue) Own() money.Amount {
	if e.Part.IsZero() {
		return e.Terms.Price
	}
	return e.Charge
}

// Prices are those of the lines of the invoice: of the period and of its extras.
func (e PeriodDue) Prices() []money.Amount {
	prices := []money.Amount{e.Own()}
	for _, x := range e.Extras {
		prices = append(prices, x.Amount)
	}
	return prices
}

// Net is the sum of the lines of the invoice.
func (e PeriodDue) Net() money.Amount {
	net := money.Of(0, e.Terms.Price.Currency)
	for _, price := range e.Prices() {
		net = net.Add(price)
	}
	return net
}

// PartPeriod is a number of the days of a period, counted by the organization's calendar.
type PartPeriod struct {
	Days int `json:"days"`
	Of   int `json:"of"`
}

// IsZero reports whether it is no part: the period is whole.
func (p PartPeriod) IsZero() bool { return p == PartPeriod{} }

// Share is the price of the part when the whole costs an amount, rounded half up. A whole period costs the amount.
func (p PartPeriod) Share(of money.Amount) money.Amount {
	if p.IsZero() {
		return of
	}
	return of.MulDivRounded(int64(p.Days), int64(p.Of))
}

// DaysCredit is a number of days of an invoiced period that are not to be paid, because service was not given on them.
type DaysCredit struct {
	InvoiceID id.Invoice `json:"invoiceId"`
	Days      int        `json:"days"` // 1 or more
	Of        int        `json:"of"`   // the days of the period that are on the invoice
	// Amount is credited in the place of the days' share; zero = the share.
	Amount money.Amount `json:"amount,omitzero"`
	// KeepsPeriod leaves something of the invoice, whatever is credited: a note over all of it takes the period back.
	KeepsPeriod bool `json:"keepsPeriod,omitempty"`
	// Net is the price of the days on the invoice over a change of plan, and NetOf that of all its days, before
	// discounts and taxes: it can be over days of several periods, at several prices. Zero = all days cost the same.
	Net   money.Amount `json:"net,omitzero"`
	NetOf money.Amount `json:"netOf,omitzero"`
	// PeriodOf is the invoice of the period whose payment gives days back on another one: over a change of plan, or of
	// a month in which its time lies now. Several can be paid at the same instant. Zero = nothing else tells credits
	// apart, and in events of older programs.
	PeriodOf id.Invoice `json:"periodOf,omitzero"`
}

// SubscriptionActivated records the start of the first period. At can be in the future.
type SubscriptionActivated struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	At             time.Time       `json:"at"`
	// Carried says that it was active in another system, where it was paid up to some time: the customer is not new.
	// It is made in the same moment, so that no session of it is open here.
	Carried bool `json:"carried,omitempty"`
}

// PeriodPlace is where a period lies in time, [From, To). Both are zero for a period that gives no time.
type PeriodPlace struct {
	Ordinal   int        `json:"ordinal"`
	InvoiceID id.Invoice `json:"invoiceId"`
	From      time.Time  `json:"from,omitzero"`
	To        time.Time  `json:"to,omitzero"`
}

// TimeSpan is the half-open time [From, To), in UTC.
type TimeSpan struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// SubscriptionExtended records that a period is paid, for the first time or again after a withdrawal. How the places of
// periods follow from these facts: docs/rules/subscribers.md#places-of-periods.
type SubscriptionExtended struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	Ordinal        int             `json:"ordinal,omitempty"` // 0 = recorded without one
	From           time.Time       `json:"from"`              // the period now lies in [From, To)
	To             time.Time       `json:"to"`
	PaidUntil      time.Time       `json:"paidUntil"`       // of the subscription, exclusive
	PaidAt         time.Time       `json:"paidAt,omitzero"` // zero = recorded without it
	// Begins is set when the first payment of a prepaid period did not continue paid time: from this instant paid time
	// begins anew. Zero = the period continues the one before it, or keeps what an earlier payment set.
	Begins time.Time `json:"begins,omitzero"`
	// [UnservedFrom, UnservedTo) was not served, because a payment had been taken back. Periods that lie around it end
	// later by its length. Both zero = there was no such time.
	UnservedFrom time.Time `json:"unservedFrom,omitzero"`
	UnservedTo   time.Time `json:"unservedTo,omitzero"`
	// WithoutAccess are the times without whole access that a late renewal from the expiry does not count; they act as
	// the time from UnservedFrom to UnservedTo does. With a fixed billing day they are the times before the payment
	// that do not count, and Credits has their days. Disjoint, in order of time.
	WithoutAccess []TimeSpan `json:"withoutAccess,omitempty"`
	// UnservedSince is the instant from which time after PaidUntil is not served for want of a withdrawn payment. Zero
	// = no payment is withdrawn.
	UnservedSince time.Time     `json:"unservedSince,omitzero"`
	Moved         []PeriodPlace `json:"moved,omitempty"` // other periods that lie elsewhere since this event
	// NextFrom is where the next prepaid period begins when it takes the place of an undone one; zero = it does not.
	NextFrom time.Time `json:"nextFrom,omitzero"`
	// Credits are the days before the payment that are not to be paid, where the period ends on a fixed billing day and
	// cannot end later instead.
	Credits []DaysCredit `json:"credits,omitempty"`
	// Part is the part of the period that was bought, as in InvoicePaid; the zero value is the whole one.
	Part PartPeriod `json:"part,omitzero"`
}

// PeriodWithdrawn records that the payment of a period was taken back. The period is due again
// (docs/rules/subscribers.md#withdrawn-periods).
type PeriodWithdrawn struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	Ordinal        int             `json:"ordinal,omitempty"`  // 0 = recorded without one
	PaidUntil      time.Time       `json:"paidUntil,omitzero"` // zero when no paid period is left
	Reason         personal.Text   `json:"reason"`
	UnservedSince  time.Time       `json:"unservedSince,omitzero"` // as in SubscriptionExtended
	// periods that lie elsewhere since this event, itself included
	Moved    []PeriodPlace `json:"moved,omitempty"`
	NextFrom time.Time     `json:"nextFrom,omitzero"` // as in SubscriptionExtended
	At       time.Time     `json:"at,omitzero"`       // zero = recorded without it
}

// PeriodCancelled records that a period is dropped for good, whether it was due, paid or withdrawn, because its invoice
// was voided, credited whole or written off, or because the subscription ended before the period began.
type PeriodCancelled struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	Ordinal        int             `json:"ordinal,omitempty"`  // 0 = recorded without one
	PaidUntil      time.Time       `json:"paidUntil,omitzero"` // zero when no paid period is left
	// no time of it was ever given: nothing is owed for it
	NeverBegan bool `json:"neverBegan,omitempty"`
	// DropsCharges says that charges on its invoice are dropped with it, because that was voided, credited whole or
	// written off, or because the subscription had ended before. Otherwise they wait for the next period.
	DropsCharges  bool      `json:"dropsCharges,omitempty"`
	UnservedSince time.Time `json:"unservedSince,omitzero"` // as in SubscriptionExtended
	// periods that lie elsewhere since this event, itself included
	Moved []PeriodPlace `json:"moved,omitempty"`
	// UndoneRun is the billing run that was undone and had made the period; absent when something else dropped it. Then
	// no time passes for the period, and the next one waits for a person or for money.
	UndoneRun id.BillingRun `json:"undoneRun,omitzero"`
	// NextFrom is the start of the next period after an undo: of each postpaid one, and of a prepaid one where time of
	// the undone period was given, whose place the next one takes. Zero = the next prepaid one begins as others do.
	NextFrom time.Time `json:"nextFrom,omitzero"`
	// NextTerms are those of the next period after an undo, where a change of plan comes after it which had come, or
	// was planned, for the next one before. Absent = nothing new is told.
	NextTerms PlanTerms `json:"nextTerms,omitzero"`
	// NextBegins is where the time of a paid period has ended whose days before payments and in pauses were given back
	// one after the other, up to the last: the one after it begins there all the same. Zero = it moves up.
	NextBegins time.Time `json:"nextBegins,omitzero"`
	// Credits are the days of a period that never began on invoices over changes of plan, also of one that was paid.
	Credits []DaysCredit `json:"credits,omitempty"`
	At      time.Time    `json:"at"`
}

// UndoneWaitEnded records that a person has asked for an undone billing run again before the period was due that waited
// for it, or while nothing becomes due: from here on it becomes due as any other does.
type UndoneWaitEnded struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	RunID          id.BillingRun   `json:"runId"`
	At             time.Time       `json:"at"`
}

// PeriodReissued records that a corrected invoice is in the place of a period's. The period stays what it is.
type PeriodReissued struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"` // the wrong one
	CorrectedID    id.Invoice      `json:"correctedId"`
	Ordinal        int             `json:"ordinal"`
	From           time.Time       `json:"from,omitzero"` // where the period lies; zero while it takes no time
	To             time.Time       `json:"to,omitzero"`
	At             time.Time       `json:"at"`
}

// SubscriptionPaused records that service and billing stop until the subscription is resumed.
type SubscriptionPaused struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	Reason         personal.Text   `json:"reason"`
	At             time.Time       `json:"at"`
}

// SubscriptionResumed ends a pause and adds its length to PaidUntil and, for postpaid, to NextFrom.
type SubscriptionResumed struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	Reason         personal.Text   `json:"reason"`
	PaidUntil      time.Time       `json:"paidUntil,omitzero"`
	NextFrom       time.Time       `json:"nextFrom,omitzero"` // postpaid: start of the next due period
	Moved          []PeriodPlace   `json:"moved,omitempty"`   // periods that lie elsewhere since this event
	// Credits are the paused days of periods that end on a fixed billing day.
	Credits []DaysCredit `json:"credits,omitempty"`
	At      time.Time    `json:"at"`
}

// BillingSuspended records that a postpaid customer was cut off under terms by which that is not billed: no period
// becomes due until BillingResumed.
type BillingSuspended struct {
	SubscriptionID id.Subscription  `json:"subscriptionId"`
	SubscriberID   id.Subscriber    `json:"subscriberId"`
	By             SuspendedBilling `json:"by"` // the term: no or days
	At             time.Time        `json:"at"` // of the cut
}

// BillingResumed records that the customer is served again, or that another stop takes over. What is not billed is the
// time [From, At); both are the same when nothing was missed.
type BillingResumed struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	From           time.Time       `json:"from"`
	PaidUntil      time.Time       `json:"paidUntil,omitzero"`
	NextFrom       time.Time       `json:"nextFrom"`          // start of the next due period
	Moved          []PeriodPlace   `json:"moved,omitempty"`   // periods that lie elsewhere since this event
	Credits        []DaysCredit    `json:"credits,omitempty"` // as in SubscriptionResumed
	At             time.Time       `json:"at"`
}

// SubscriptionEnded records the end of a subscription, which never starts again.
type SubscriptionEnded struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	Reason         personal.Text   `json:"reason"`
	Credits        []DaysCredit    `json:"credits,omitempty"` // postpaid: the days of the present period from At on
	At             time.Time       `json:"at"`
}

// SubscriptionPeriodClosed passes the state to the stream's next period (docs/rules/engine.md#closing-a-period).
type SubscriptionPeriodClosed struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	Opening        []byte          `json:"opening"` // JSON of the aggregate's state, personal fields excluded
	Username       personal.Text   `json:"username"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	// Addresses as in SubscriptionAddressesAssigned; empty = none, or recorded before there were any.
	StaticIP         personal.Text   `json:"staticIp,omitzero"`
	StaticIPv6Prefix personal.Text   `json:"staticIpv6Prefix,omitzero"`
	MACAddresses     []personal.Text `json:"macAddresses,omitempty"`
	Routes           []personal.Text `json:"routes,omitempty"`
	Extras           []ExtraText     `json:"extras,omitempty"`
}

func (SubscriptionCreated) EventType() string       { return "subscribers.SubscriptionCreated.v1" }
func (PeriodDue) EventType() string                 { return "subscribers.PeriodDue.v3" }
func (SubscriptionActivated) EventType() string     { return "subscribers.SubscriptionActivated.v1" }
func (SubscriptionExtended) EventType() string      { return "subscribers.SubscriptionExtended.v2" }
func (PeriodWithdrawn) EventType() string           { return "subscribers.PeriodWithdrawn.v3" }
func (PeriodCancelled) EventType() string           { return "subscribers.PeriodCancelled.v2" }
func (PeriodReissued) EventType() string            { return "subscribers.PeriodReissued.v1" }
func (UndoneWaitEnded) EventType() string           { return "subscribers.UndoneWaitEnded.v1" }
func (SubscriptionPaused) EventType() string        { return "subscribers.SubscriptionPaused.v2" }
func (SubscriptionResumed) EventType() string       { return "subscribers.SubscriptionResumed.v3" }
func (BillingSuspended) EventType() string          { return "subscribers.BillingSuspended.v1" }
func (BillingResumed) EventType() string            { return "subscribers.BillingResumed.v1" }
func (SubscriptionEnded) EventType() string         { return "subscribers.SubscriptionEnded.v2" }
func (SubscriptionPeriodClosed) EventType() string  { return "subscribers.SubscriptionPeriodClosed.v1" }
func (SubscriptionCreated) subscriptionEvent()      {}
func (PeriodDue) subscriptionEvent()                {}
func (SubscriptionActivated) subscriptionEvent()    {}
func (SubscriptionExtended) subscriptionEvent()     {}
func (PeriodWithdrawn) subscriptionEvent()          {}
func (PeriodCancelled) subscriptionEvent()          {}
func (PeriodReissued) subscriptionEvent()           {}
func (UndoneWaitEnded) subscriptionEvent()          {}
func (SubscriptionPaused) subscriptionEvent()       {}
func (SubscriptionResumed) subscriptionEvent()      {}
func (BillingSuspended) subscriptionEvent()         {}
func (BillingResumed) subscriptionEvent()           {}
func (SubscriptionEnded) subscriptionEvent()        {}
func (SubscriptionPeriodClosed) subscriptionEvent() {}

func (e SubscriptionCreated) PersonalSubject() uuid.UUID      { return e.SubscriberID.UUID() }
func (e SubscriptionPeriodClosed) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }
func (e PeriodWithdrawn) PersonalSubject() uuid.UUID          { return e.SubscriberID.UUID() }
func (e SubscriptionPaused) PersonalSubject() uuid.UUID       { return e.SubscriberID.UUID() }
func (e SubscriptionResumed) PersonalSubject() uuid.UUID      { return e.SubscriberID.UUID() }
func (e SubscriptionEnded) PersonalSubject() uuid.UUID        { return e.SubscriberID.UUID() }

func (PeriodWithdrawn) remark()          {}
func (SubscriptionPaused) remark()       {}
func (SubscriptionResumed) remark()      {}
func (SubscriptionEnded) remark()        {}
func (SubscriptionPeriodClosed) remark() {}
