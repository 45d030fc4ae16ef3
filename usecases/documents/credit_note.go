package documentscases

import (
	"context"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/paper"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// creditNote is a credit note with the invoice that it is for.
type creditNote struct {
	billingviews.CreditNoteRow
	frame
	of billingviews.InvoiceRow
}

// ErrNoCreditNote is the failure for a credit note that does not exist or belongs to another organization.
func ErrNoCreditNote() error {
	return failure.NewNotFound("credit_note_not_found", "There is no such credit note.")
}

// CreditNote makes the document of a credit note. What the organization was called is that of the issue. Fails:
// credit_note_not_found, document_not_issued, document_not_signed.
func (d Documents) CreditNote(ctx context.Context, org id.Organization, which id.Receipt) (File, error) {
	row, err := d.invoices().CreditNote(ctx, org, which)
	switch {
	case err != nil:
		return File{}, err
	case row == nil || row.InvoiceID.IsZero(): // a number that was voided without a draft says nothing
		return File{}, ErrNoCreditNote()
	case row.Number == "":
		return File{}, errNotIssued()
	}
	of, err := d.invoices().Get(ctx, org, row.InvoiceID)
	if err != nil || of == nil {
		return File{}, err
	}
	n := creditNote{CreditNoteRow: *row, of: of.InvoiceRow}
	issued := row.DraftedAt
	if row.IssuedAt != nil {
		issued = *row.IssuedAt
	}
	if n.frame, err = d.frameAt(ctx, org, of.SubscriberID, issued); err != nil {
		return File{}, err
	}
	if n.frame.signature, err = d.signatureOf(ctx, org, id.As[id.Any](which), row.ToBeSigned); err != nil {
		return File{}, err
	}
	n.frame.kind, n.frame.number = "Credit note", row.Number
	if row.State == "voided" {
		n.frame.stamp = "VOIDED"
	}
	pdf, err := d.draw(ctx, n.frame, n.facts(), n.write)
	return File{Name: safeName("credit-note", row.Number), PDF: pdf}, err
}

// facts stand at the head.
func (n creditNote) facts() [][2]string {
	return [][2]string{
		{"Issued", n.dayOf(n.IssuedAt)}, {"For invoice", n.of.Number}, {"Invoice of", n.dayOf(n.of.IssuedAt)},
	}
}

// write puts reason and amount on the sheet.
func (n creditNote) write(s *paper.Sheet) {
	text := "Invoice " + n.of.Number + ", in part"
	if n.AmountMinor == n.of.TotalMinor {
		text = "Invoice " + n.of.Number + ", whole"
	}
	s.Table([]paper.Column{
		{Title: "Given back", Share: 35}, {Title: "Reason", Share: 40},
		{Title: "Amount (" + string(n.Currency) + ")", Share: 25, Right: true},
	}, slices.Values([][]string{{text, n.Reason, figure(n.Amount())}}))
	s.Sums(totals(n.Amount(), n.of.TaxesOf(n.Amount())))
	n.signed(s)
}
