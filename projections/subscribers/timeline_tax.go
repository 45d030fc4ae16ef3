package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofSignature describes what becomes of a document at the tax authority. That it waits there is on its own page.
func ofSignature(e events.SignatureEvent) happening {
	switch v := e.(type) {
	case events.DocumentSigned:
		return ofDocument(v.SignatureSubject, "", says("invoice_signed", Facts{}),
			says("credit_note_signed", Facts{}), says("cancellation_signed", Facts{}))
	case events.SignatureRefused:
		return ofDocument(v.SignatureSubject, v.Message.Reveal(), says("invoice_not_signed", Facts{}),
			says("credit_note_not_signed", Facts{}), says("cancellation_not_signed", Facts{}))
	case events.SignatureRetried:
		return ofDocument(v.SignatureSubject, v.Reason.Reveal(), says("invoice_sent_again", Facts{}),
			says("credit_note_sent_again", Facts{}), says("cancellation_sent_again", Facts{}))
	case events.CancellationDue:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "", says("cancellation_due", Facts{}))
	case events.SignatureQueued, events.SigningBegan, events.SignatureWithdrawn:
	}
	return happening{}
}

// ofDocument is a happening with a document for the tax authority as its cause. Each kind of document has a sentence.
func ofDocument(s events.SignatureSubject, reason string, invoice, note, cancellation Sentence) happening {
	switch s.Document {
	case events.TaxCreditNote:
		note.Facts = note.numbered(s.Number)
		return ofNote(s.SubscriberID, id.As[id.Receipt](s.SignatureID), reason, note).about(s.InvoiceID)
	case events.TaxCancellation:
		return ofInvoice(s.SubscriberID, s.InvoiceID, reason, cancellation)
	}
	return ofInvoice(s.SubscriberID, s.InvoiceID, reason, invoice)
}
