package commands

import (
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// SellDays makes of the invoice of a prepaid period one over as many of its days as the money on it pays, at least one:
// it reserves the others for a credit note. Nothing changes where money pays no day or all of them, nor for an invoice
// that has a credit note already.
type SellDays struct {
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription // whose period it is; it knows the days
	CreditNoteID   id.Receipt
	InvoiceID      id.Invoice
	Of             int // the days of the whole period; processes leave it empty
	Reason         string
	Prefix         string // processes leave it empty
}

func (SellDays) CommandName() string { return "billing.SellDays" }
func (c SellDays) Target() Target    { return At(AccountCategory, c.SubscriberID) }
func (SellDays) accountCommand()     {}

// Validate checks form only. The prefix, and the days of the subscription's period, are added later.
func (c SellDays) Validate() error {
	var f failure.Faults
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.CreditNoteID.IsZero(), "creditNoteId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(c.Of > 0 || !c.SubscriptionID.IsZero(), "of", "must be the days of the period")
	checkReason(&f, c.Reason)
	return f.Err()
}
