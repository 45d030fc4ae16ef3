package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// DraftPeriodInvoice drafts the invoice of a due period. The process that asks for it does not know the organization's
// settings; billingcases.PeriodInvoices makes a DraftInvoice of it. Fails: organization_not_found, and as DraftInvoice.
type DraftPeriodInvoice struct {
	SubscriberID   id.Subscriber
	OrgID          id.Organization
	InvoiceID      id.Invoice
	SubscriptionID id.Subscription
	PeriodFrom     time.Time // zero when the period begins with the payment; PeriodTo likewise
	PeriodTo       time.Time
	DueAt          time.Time
	PlanName       string
	Price          money.Amount // of this period
	Period         calendar.Period
	RunID          id.BillingRun `json:",omitzero"` // that made the period due; zero = none
	// Change are the lines of a change of plan, in the place of a period; empty = a period.
	Change []events.PlanChangeLine `json:",omitempty"`
	// Extras are lines beside the price; without a price they are the whole invoice, of no period.
	Extras []events.PeriodExtra `json:",omitempty"`
	// Days and Of say how much of a billing month a shorter period is; both are 0 for a whole one.
	Days int
	Of   int
}

// DraftOf asks for the invoice of a period that became due.
func DraftOf(e events.PeriodDue) DraftPeriodInvoice {
	return DraftPeriodInvoice{
		SubscriberID: e.SubscriberID, OrgID: e.OrgID, InvoiceID: e.InvoiceID, SubscriptionID: e.SubscriptionID,
		PeriodFrom: e.From, PeriodTo: e.To, DueAt: e.DueAt, PlanName: e.PlanName, Price: e.Own(),
		Period: e.Terms.Period, Days: e.Part.Days, Of: e.Part.Of,
		RunID: e.RunID, Extras: e.Extras,
	}
}

// DraftOfCharges asks for the invoice over charges that no period of an ended subscription has.
func DraftOfCharges(e events.ChargesDue) DraftPeriodInvoice {
	return DraftPeriodInvoice{
		SubscriberID: e.SubscriberID, OrgID: e.OrgID, InvoiceID: e.InvoiceID, SubscriptionID: e.SubscriptionID,
		DueAt: e.At, Extras: e.Charges,
	}
}

// DraftOfChange asks for the invoice over a change of plan.
func DraftOfChange(e events.SubscriptionPlanChanged) DraftPeriodInvoice {
	return DraftPeriodInvoice{
		SubscriberID: e.SubscriberID, OrgID: e.OrgID, InvoiceID: e.InvoiceID, SubscriptionID: e.SubscriptionID,
		DueAt: e.DueAt, PlanName: e.Terms.Name, Price: e.Terms.Price, Period: e.Terms.Period, Change: e.Lines,
	}
}

// ErrCurrencyMismatch is the failure for an amount in another currency: an account has one currency for ever.
func ErrCurrencyMismatch(want money.Currency) error {
	return failure.NewConflict("currency_mismatch", "Accounts of this organization are kept in %s.", string(want))
}
