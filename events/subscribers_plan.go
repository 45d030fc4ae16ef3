package events

import (
	"cmp"
	"reflect"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// PlanEvent is an event of "plan-<id>".
//
//sumtype:decl
type PlanEvent interface {
	Event
	planEvent()
}

// BillingMode says whether a customer pays before or after a period.
type BillingMode string

// The modes. A subscription keeps the mode that its plan had when it was made.
const (
	Prepaid  BillingMode = "prepaid"
	Postpaid BillingMode = "postpaid"
)

// LateRenewal says from when a prepaid period counts that is paid after the paid time is over.
type LateRenewal string

// The ways. The empty text, in terms recorded before there was a choice, means FromPayment.
const (
	FromPayment LateRenewal = "payment" // from the payment: what was served since the expiry costs nothing
	// FromExpiry counts from the expiry, without the time in which the customer had no whole access since
	// (docs/rules/subscribers.md#late-renewal).
	FromExpiry LateRenewal = "expiry"
)

// WithDefault replaces the empty text by its meaning.
func (l LateRenewal) WithDefault() LateRenewal { return cmp.Or(l, FromPayment) }

// PartialPayment says what becomes of a part of the price when a prepaid customer has no paid time left.
type PartialPayment string

// The ways. The empty text, in terms recorded before there was a choice, means PartIsCredit.
const (
	PartIsCredit PartialPayment = "credit" // it is kept until the rest is paid
	PartIsDays   PartialPayment = "days"   // it buys the days that it pays (docs/rules/subscribers.md#partial-payment)
)

// WithDefault replaces the empty text by its meaning.
func (p PartialPayment) WithDefault() PartialPayment { return cmp.Or(p, PartIsCredit) }

// SuspendedBilling says what is billed while a postpaid customer who does not pay is cut off.
type SuspendedBilling string

// The ways. The empty text, in terms recorded before there was a choice, means BillAll.
const (
	BillAll      SuspendedBilling = "yes"  // periods follow each other as if there was service
	BillNothing  SuspendedBilling = "no"   // no period begins; the present one is paid whole
	BillUsedDays SuspendedBilling = "days" // as a pause: the present period ends later, or its days are credited
)

// WithDefault replaces the empty text by its meaning.
func (b SuspendedBilling) WithDefault() SuspendedBilling { return cmp.Or(b, BillAll) }

// Rates are the speeds in kbit/s, from the customer's point of view.
type Rates struct {
	Down int64 `json:"down"`
	Up   int64 `json:"up"`
	// Burst was recorded before bursts had directions, thresholds and a length. No router was ever given it:
	// AccessTerms.Burst counts.
	Burst int64 `json:"burst,omitempty"`
}

// PlanTerms are the terms that a subscription copies when it is made and keeps when the plan changes.
type PlanTerms struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // "pppoe" or "hotspot"
	// for one period; includes tax when the organization's TaxRule is inclusive
	Price     money.Amount    `json:"price"`
	Mode      BillingMode     `json:"mode"`
	Period    calendar.Period `json:"period"`
	AnchorDay int             `json:"anchorDay,omitempty"` // 1 to 28: billing day of monthly plans; 0 = the anniversary
	Rates     Rates           `json:"rates"`
	Access    AccessTerms     `json:"access,omitzero"`
	// LateRenewal counts for prepaid only: postpaid periods follow each other whether they are paid or not.
	LateRenewal LateRenewal `json:"lateRenewal,omitempty"`
	// PartialPayment counts for prepaid only, and for periods that are longer than a day.
	PartialPayment PartialPayment `json:"partialPayment,omitempty"`
	// BillWhileSuspended counts for postpaid only: prepaid periods begin with their payment.
	BillWhileSuspended SuspendedBilling `json:"billWhileSuspended,omitempty"`
}

// Told reports whether there are terms: an event that tells none has the zero value.
func (t PlanTerms) Told() bool { return t.Mode != "" }

// Equal reports whether two terms mean the same.
func (t PlanTerms) Equal(u PlanTerms) bool {
	t.Access, u.Access = t.Access.WithDefaults(), u.Access.WithDefaults()
	t.LateRenewal, u.LateRenewal = t.LateRenewal.WithDefault(), u.LateRenewal.WithDefault()
	t.PartialPayment, u.PartialPayment = t.PartialPayment.WithDefault(), u.PartialPayment.WithDefault()
	t.BillWhileSuspended, u.BillWhileSuspended = t.BillWhileSuspended.WithDefault(), u.BillWhileSuspended.WithDefault()
	return reflect.DeepEqual(t, u)
}

// InvoicedAhead is how long before the end of the paid time a prepaid customer gets the next invoice, so that there is
// time to pay it. Postpaid periods are invoiced when they begin.
func InvoicedAhead(period calendar.Period) time.Duration {
	switch period {
	case calendar.Hour:
		return 10 * time.Minute
	case calendar.Day:
		return 2 * time.Hour
	case calendar.Week:
		return 24 * time.Hour
	}
	return 72 * time.Hour
}

// NextPart is the part of a billing month that a period has which begins at an instant; the zero value where it has a
// whole one, or where the terms have no fixed billing day. A day that has begun counts.
func (t PlanTerms) NextPart(from time.Time, zone *time.Location) PartPeriod {
	if t.AnchorDay == 0 {
		return PartPeriod{}
	}
	month, day := calendar.BillingMonthAt(from, t.AnchorDay, zone), calendar.On(from, zone)
	if day == month.First {
		return PartPeriod{}
	}
	return PartPeriod{Days: calendar.DaysBetween(day, month.Next), Of: month.Days()}
}

// NextPeriod is the period that becomes due under the terms, as far as its price depends on it, when it begins at an
// instant, in a zone, beside these extras.
func (t PlanTerms) NextPeriod(extras Extras, from time.Time, zone *time.Location) PeriodDue {
	return t.NextPeriodAt(extras, from, from, zone)
}

// NextPeriodAt is NextPeriod for one that is due at an instant and begins at a place, which can be before: it has the
// extras of its place.
func (t PlanTerms) NextPeriodAt(extras Extras, due, place time.Time, zone *time.Location) PeriodDue {
	next := PeriodDue{Terms: t, DueAt: due, Part: t.NextPart(place, zone)}
	if !next.Part.IsZero() {
		next.Charge = next.Part.Share(t.Price)
	}
	next.Extras = extras.Next(t.Price, next.Part, place, zone)
	return next
}

// ShortDunning reports whether a subscription has no days of grace, of the walled garden and of reminders, because it
// is billed by hour or day. A plan that names a policy of dunning has the days of that policy.
func (t PlanTerms) ShortDunning() bool {
	return t.Access.DunningPolicy == "" && t.Period.Short()
}

// EndsWithPaidTime reports whether service is over with the hours or days that were bought one by one: nobody counts
// days then that a fault could stop, and nobody is told. Who pays later has an invoice with a due date instead.
func (t PlanTerms) EndsWithPaidTime() bool { return t.Mode == Prepaid && t.ShortDunning() }

// PlanCreated records a new plan at version 1.
type PlanCreated struct {
	PlanID id.Plan         `json:"planId"`
	OrgID  id.Organization `json:"orgId"`
	Code   string          `json:"code"` // unique in the organization
	Terms  PlanTerms       `json:"terms"`
}

// PlanRevised records the next version. Existing subscriptions keep their version.
type PlanRevised struct {
	PlanID  id.Plan   `json:"planId"`
	Version int       `json:"version"`
	Terms   PlanTerms `json:"terms"`
}

// PlanArchived records that no new subscription may use the plan.
type PlanArchived struct {
	PlanID id.Plan `json:"planId"`
	Reason string  `json:"reason"`
}

func (PlanCreated) EventType() string  { return "subscribers.PlanCreated.v1" }
func (PlanRevised) EventType() string  { return "subscribers.PlanRevised.v1" }
func (PlanArchived) EventType() string { return "subscribers.PlanArchived.v1" }
func (PlanCreated) planEvent()         {}
func (PlanRevised) planEvent()         {}
func (PlanArchived) planEvent()        {}
