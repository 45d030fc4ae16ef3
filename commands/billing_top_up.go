package commands

import (
	"time"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// DraftTopUpInvoice drafts the invoice of traffic that was sold or ordered. The process that asks for it does not know
// the organization's settings; billingcases.PeriodInvoices makes a DraftInvoice of it. Fails: organization_not_found,
// and as DraftInvoice.
type DraftTopUpInvoice struct {
	SubscriberID   id.Subscriber
	OrgID          id.Organization
	InvoiceID      id.Invoice
	SubscriptionID id.Subscription // zero in commands of older programs
	Description    string
	Price          money.Amount
	SoldAt         time.Time
	// OrderedUntil is when an order lapses. Zero = the traffic was given, and its price is owed.
	OrderedUntil time.Time
}

// PayOrders pays with credit the orders that it covers whole, those issued first before others. It never fails, except
// with currency_mismatch.
type PayOrders struct {
	SubscriberID id.Subscriber
	Credit       money.Amount // of which the account has told; of what has come since, nobody knows yet what it is for
	Keep         money.Amount // for what comes before orders
}

// VoidOrders voids the orders of a subscription that are not paid. What was paid in part becomes credit. It fails as
// VoidInvoice with ReleaseMoney.
type VoidOrders struct {
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription
	Reason         string
	NotePrefix     string // as in VoidInvoice
}

// TopUpInvoice drafts the invoice of traffic that was sold to a subscription. Drafting it twice makes one invoice.
func TopUpInvoice(
	s events.UsageSubject, invoice id.Invoice, bytes int64, price money.Amount, sold time.Time,
) DraftTopUpInvoice {
	return DraftTopUpInvoice{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, InvoiceID: invoice, SubscriptionID: s.SubscriptionID,
		Price: price, SoldAt: sold, Description: "Top-up of " + events.Volume(bytes),
	}
}

func (DraftTopUpInvoice) CommandName() string { return "billing.DraftTopUpInvoice" }
func (PayOrders) CommandName() string         { return "billing.PayOrders" }
func (VoidOrders) CommandName() string        { return "billing.VoidOrders" }

func (c DraftTopUpInvoice) Target() Target { return At(AccountCategory, c.SubscriberID) }
func (c PayOrders) Target() Target         { return At(AccountCategory, c.SubscriberID) }
func (c VoidOrders) Target() Target        { return At(AccountCategory, c.SubscriberID) }

func (DraftTopUpInvoice) accountCommand() {}
func (PayOrders) accountCommand()         {}
func (VoidOrders) accountCommand()        {}

// Validate checks form only.
func (c DraftTopUpInvoice) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(!c.SoldAt.IsZero(), "soldAt", "is required")
	f.Check(c.Description != "", "description", "is required")
	checkLine(&f, "description", c.Description)
	f.Check(utf8.RuneCountInString(c.Description) <= MaxLineDescription, "description",
		"must be at most %d characters", MaxLineDescription)
	return f.Err()
}

// Validate checks form only.
func (c PayOrders) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.Keep.Negative(), "keep", "must not be negative")
	f.Check(c.Keep.Currency == c.Credit.Currency, "keep", "must be in the currency of the credit")
	return f.Err()
}

// Validate checks form only.
func (c VoidOrders) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.SubscriptionID.IsZero(), "subscriptionId", "is required")
	checkReason(&f, c.Reason)
	return f.Err()
}
