package commands

import (
	"errors"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ReissueInvoice drafts a corrected invoice in the place of an issued one, and a credit note over all of that, which is
// numbered after it and moves the money. The corrected one is for the same period. A known id of it changes nothing.
// Fails: invoice_not_found, invoice_not_issued, invoice_archived, invoice_voided, invoice_given_back,
// invoice_has_credit_note, invoice_written_off, invoice_not_reissuable, currency_mismatch, invoice_out_of_range.
type ReissueInvoice struct {
	InvoiceID    id.Invoice   // the wrong one
	Corrected    DraftInvoice // the account fills in what the wrong one was for
	CreditNoteID id.Receipt
	NotePrefix   string
	Reason       string
}

func (ReissueInvoice) CommandName() string { return "billing.ReissueInvoice" }
func (c ReissueInvoice) Target() Target    { return At(AccountCategory, c.Corrected.SubscriberID) }
func (ReissueInvoice) accountCommand()     {}

// Validate checks form only.
func (c ReissueInvoice) Validate() error {
	var f failure.Faults
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(!c.CreditNoteID.IsZero(), "creditNoteId", "is required")
	f.Check(prefixShape.MatchString(c.NotePrefix), "notePrefix", "must be 2 to 6 capitals or digits")
	checkReason(&f, c.Reason)
	return errors.Join(f.Err(), c.Corrected.Validate())
}
