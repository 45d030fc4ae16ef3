package commands

import (
	"time"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// DraftTopUpInvoice drafts the invoice of traffic that was sold. The process that asks for it does not know the
// organization's settings; billingcases.PeriodInvoices makes a DraftInvoice of it. Fails: organization_not_found, and
// as DraftInvoice.
type DraftTopUpInvoice struct {
	SubscriberID id.Subscriber
	OrgID        id.Organization
	InvoiceID    id.Invoice
	Description  string
	Price        money.Amount
	SoldAt       time.Time
}

// TopUpInvoice drafts the invoice of traffic that was sold to a subscription. Drafting it twice makes one invoice.
func TopUpInvoice(
	s events.UsageSubject, invoice id.Invoice, bytes int64, price money.Amount, sold time.Time,
) DraftTopUpInvoice {
	return DraftTopUpInvoice{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, InvoiceID: invoice, Price: price, SoldAt: sold,
		Description: "Top-up of " + events.Volume(bytes),
	}
}

func (DraftTopUpInvoice) CommandName() string { return "billing.DraftTopUpInvoice" }

func (c DraftTopUpInvoice) Target() Target { return At(AccountCategory, c.SubscriberID) }

func (DraftTopUpInvoice) accountCommand() {}

// Validate checks form only.
func (c DraftTopUpInvoice) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(!c.SoldAt.IsZero(), "soldAt", "is required")
	f.Check(c.Description != "", "description", "is required")
	f.Check(utf8.RuneCountInString(c.Description) <= MaxLineDescription, "description",
		"must be at most %d characters", MaxLineDescription)
	return f.Err()
}
