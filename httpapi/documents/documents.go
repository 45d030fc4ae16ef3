// Package documentsapi serves invoices, receipts, credit notes and statements as PDF.
package documentsapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/documents"
)

// Documents serves the addresses that end in /pdf. Whoever may read a thing may read its document.
type Documents struct {
	Cases documentscases.Documents
}

// contentPDF is the type of all documents.
const contentPDF = "application/pdf"

// Routes lists the endpoints of documents.
func (a Documents) Routes() []httpapi.Route {
	days := []httpapi.Param{
		{Name: "from", Type: "date", Doc: "first day, in the organization's zone; the first line's when absent"},
		{Name: "to", Type: "date", Doc: "last day; today when absent"},
	}
	return []httpapi.Route{
		{
			Method: "GET", Path: "/invoices/:id/pdf", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnRows, Summary: "An invoice as a document", Produces: contentPDF, Handle: a.invoice,
			Codes: []string{"document_not_issued", "document_not_signed", "too_many_documents"},
		},
		{
			Method: "GET", Path: "/receipts/:id/pdf", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own:     httpapi.OwnRows,
			Summary: "A receipt as a document", Produces: contentPDF,
			Codes: []string{"receipt_without_document", "too_many_documents"}, Handle: a.receipt,
		},
		{
			Method: "GET", Path: "/credit-notes/:id/pdf", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSubscriber, Own: httpapi.OwnRows,
			Summary: "A credit note as a document", Produces: contentPDF,
			Codes: []string{"document_not_issued", "document_not_signed", "too_many_documents"}, Handle: a.creditNote,
		},
		{
			Method: "GET", Path: "/subscribers/:id/statement/pdf", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSubscriber, Own: httpapi.OwnPath,
			Summary:  "A subscriber's account in some days as a document",
			Produces: contentPDF, Query: days, Handle: a.statement,
			Codes: []string{"statement_too_long", "too_many_documents"},
		},
	}
}

// mayRead refuses a customer the document of somebody else, as if there were none; of gives whose a document is, the
// zero id when there is none.
func mayRead[I ~[16]byte](
	ctx context.Context, c *httpapi.Call, of func(context.Context, id.Organization, I) (id.Subscriber, error), which I,
	missing error,
) error {
	if !c.IsCustomer() {
		return nil
	}
	subscriber, err := of(ctx, c.Org.ID, which)
	if err == nil && !c.Sees(subscriber) {
		err = missing
	}
	return err
}

// invoice answers with the document of an invoice.
func (a Documents) invoice(ctx context.Context, c *httpapi.Call) error {
	which, err := httpapi.PathID[id.Invoice](c, "id", commands.ErrNoInvoice)
	if err != nil {
		return err
	}
	if err := mayRead(ctx, c, a.Cases.SubscriberOfInvoice, which, commands.ErrNoInvoice()); err != nil {
		return err
	}
	if err := c.TakePlace(ctx); err != nil {
		return err
	}
	file, err := a.Cases.Invoice(ctx, c.Org.ID, which)
	return send(c, file, err)
}

// receipt answers with the document of a receipt.
func (a Documents) receipt(ctx context.Context, c *httpapi.Call) error {
	which, err := httpapi.PathID[id.Receipt](c, "id", commands.ErrNoReceipt)
	if err != nil {
		return err
	}
	if err := mayRead(ctx, c, a.Cases.SubscriberOfReceipt, which, commands.ErrNoReceipt()); err != nil {
		return err
	}
	if err := c.TakePlace(ctx); err != nil {
		return err
	}
	file, err := a.Cases.Receipt(ctx, c.Org.ID, which)
	return send(c, file, err)
}

// creditNote answers with the document of a credit note.
func (a Documents) creditNote(ctx context.Context, c *httpapi.Call) error {
	which, err := httpapi.PathID[id.Receipt](c, "id", documentscases.ErrNoCreditNote)
	if err != nil {
		return err
	}
	if err := mayRead(ctx, c, a.Cases.SubscriberOfCreditNote, which, documentscases.ErrNoCreditNote()); err != nil {
		return err
	}
	if err := c.TakePlace(ctx); err != nil {
		return err
	}
	file, err := a.Cases.CreditNote(ctx, c.Org.ID, which)
	return send(c, file, err)
}

// statement answers with the document of an account's lines in some days.
func (a Documents) statement(ctx context.Context, c *httpapi.Call) error {
	which, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	f := c.Filters()
	in := documentscases.StatementInput{SubscriberID: which, From: f.Date("from"), To: f.Date("to")}
	if err := f.Err(); err != nil {
		return err
	}
	if err := c.TakePlace(ctx); err != nil {
		return err
	}
	file, err := a.Cases.Statement(ctx, c.Org.ID, in)
	return send(c, file, err)
}

// send answers with a document as a file to keep.
func send(c *httpapi.Call, file documentscases.File, err error) error {
	if err != nil {
		return err
	}
	c.Writer.Header().Set("Content-Disposition", `attachment; filename="`+file.Name+`"`)
	c.SendBytes(200, contentPDF, file.PDF)
	return nil
}
