// Package billingapi serves invoices, credit notes, statements and the report of collections.
package billingapi

import (
	"context"
	"encoding/json"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// Invoices serves /invoices.
type Invoices struct {
	Cases    billingcases.Invoices
	Notes    billingcases.CreditNotes
	Bus      *bus.Bus
	Settings usecases.SettingsOf
	Invoices billingviews.InvoicesQuery
	Receipts paymentsviews.ReceiptsQuery
	// Signatures shows what became of documents at the tax authority.
	Signatures billingviews.SignaturesQuery
	Clock      clock.Clock
}

// Routes lists the endpoints of invoices.
func (a Invoices) Routes() []httpapi.Route {
	filters := []httpapi.Param{
		{Name: "subscriberId", Type: "uuid"}, {Name: "state", Type: "string", Enum: billingviews.InvoiceStates},
		{Name: "number", Type: "string", Doc: "the whole number, in any case of letters"},
		{Name: "overdue", Type: "boolean", Doc: "something is due since before today"},
	}
	return []httpapi.Route{
		{
			Method: "POST", Path: "/invoices", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Invoice a subscriber by hand", Request: invoiceRequest{}, Response: invoiceDetailResponse{},
			Status: 201, Handle: a.create,
		},
		{
			Method: "GET", Path: "/invoices", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnRows, Summary: "List invoices", Row: invoiceResponse{}, Query: filters, Handle: a.list,
		},
		{
			Method: "GET", Path: "/invoices/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnRows, Summary: "Read an invoice", Response: invoiceDetailResponse{}, Handle: a.get,
		},
		{
			Method: "POST", Path: "/invoices/:id/void", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Take back an unpaid invoice", Request: httpapi.ReasonRequest{}, Response: invoiceDetailResponse{},
			Handle: a.void,
		},
		{
			Method: "POST", Path: "/invoices/:id/credit-note", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "Give back a part of an invoice", Request: creditNoteRequest{},
			Response: creditNoteResponse{}, Status: 201, Handle: a.creditNote,
		},
		{
			Method: "POST", Path: "/invoices/:id/reissue", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Put a corrected invoice in the place of a wrong one", Request: reissueRequest{},
			Response: invoiceDetailResponse{}, Status: 201, Handle: a.reissue,
		},
	}
}

// invoiceRequest is the body of POST /invoices (docs/rules/billing.md#invoice-endpoints).
type invoiceRequest struct {
	SubscriberID id.Subscriber        `json:"subscriberId"`
	DueDate      calendar.Date        `json:"dueDate,omitzero" doc:"the organization's date; in a week when absent"`
	Lines        []invoiceLineRequest `json:"lines"`
}

// invoiceLineRequest is one charge; the organization's tax rule says whether unitPrice contains the tax.
type invoiceLineRequest struct {
	Description string         `json:"description"`
	Quantity    json.Number    `json:"quantity" doc:"above zero, at most 6 decimals"`
	UnitPrice   httpapi.Amount `json:"unitPrice"`
	Once        bool           `json:"once,omitempty" doc:"what gives days of a period back gives nothing of it back"`
}

// reissueRequest says how an invoice should be, and why.
type reissueRequest struct {
	DueDate calendar.Date        `json:"dueDate,omitzero" doc:"when absent as before, or in a week once that is over"`
	Lines   []invoiceLineRequest `json:"lines"`
	Reason  string               `json:"reason"`
}

// creditNoteRequest says how much of an invoice is given back, and why.
type creditNoteRequest struct {
	Amount *httpapi.Amount `json:"amount,omitempty" doc:"all that is left of the invoice when absent"`
	Reason string          `json:"reason"`
}

// create drafts the invoice and waits until a process has numbered and issued it; 202 when that takes too long.
func (a Invoices) create(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[invoiceRequest](c)
	if err != nil {
		return err
	}
	invoice, err := a.Cases.Draft(ctx, c.Asked(), draftOf(in.SubscriberID, in.DueDate, in.Lines))
	if err != nil {
		return err
	}
	issued, err := a.Invoices.WaitFinal(ctx, c.Org.ID, invoice)
	if err != nil {
		return err
	}
	if !issued {
		return c.Send(202, httpapi.Accepted{ID: invoice.String(), Status: "accepted"})
	}
	row, err := a.one().Find(ctx, c, invoice)
	if err != nil {
		return err
	}
	return httpapi.SendNamed(ctx, c, 201, a.one().Show(row))
}

// draftOf reads what an invoice made by hand should be.
func draftOf(
	subscriber id.Subscriber, dueOn calendar.Date, lines []invoiceLineRequest,
) billingcases.DraftInvoiceInput {
	draft := billingcases.DraftInvoiceInput{SubscriberID: subscriber, DueOn: dueOn}
	for _, l := range lines {
		draft.Lines = append(draft.Lines, billingcases.LineInput{
			Description: l.Description, Quantity: l.Quantity.String(), UnitPrice: l.UnitPrice.Figure(), Once: l.Once,
		})
	}
	return draft
}

// reissue puts a corrected invoice in the place of another, and waits until the credit note over that is issued, too;
// 202 when that takes too long.
func (a Invoices) reissue(ctx context.Context, c *httpapi.Call) error {
	row, err := a.locate(ctx, c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[reissueRequest](c)
	if err != nil {
		return err
	}
	corrected, note, err := a.Cases.Reissue(ctx, c.Asked(), billingcases.ReissueInput{
		DraftInvoiceInput: draftOf(row.SubscriberID, in.DueDate, in.Lines), InvoiceID: row.ID, Reason: in.Reason,
	})
	if err != nil {
		return err
	}
	issued, err := a.Invoices.WaitNoteFinal(ctx, c.Org.ID, note)
	if err != nil {
		return err
	}
	if !issued {
		return c.Send(202, httpapi.Accepted{ID: corrected.String(), Status: "accepted"})
	}
	if row, err = a.one().Find(ctx, c, corrected); err != nil {
		return err
	}
	return httpapi.SendNamed(ctx, c, 201, a.one().Show(row))
}

// datedInvoice is an invoice with the organization's date of today, on which overdue depends.
type datedInvoice struct {
	billingviews.InvoiceDetail
	today   calendar.Date
	taxPIN  string                // of the organization
	numbers map[id.Receipt]string // of the receipts that pay it
	// signatures are those of the invoice and of its credit notes.
	signatures map[id.Signature]billingviews.SignatureRow
}

// signedInvoice is a row of the list, with the signatures of the page and the organization's date of today.
type signedInvoice struct {
	billingviews.InvoiceRow
	today      calendar.Date
	signatures map[id.Signature]billingviews.SignatureRow
}

// one describes how an invoice is read and shown, with its allocations and credit notes.
func (a Invoices) one() httpapi.One[id.Invoice, datedInvoice, invoiceDetailResponse] {
	return httpapi.One[id.Invoice, datedInvoice, invoiceDetailResponse]{
		Model: billingviews.InvoicesName, Missing: commands.ErrNoInvoice, Read: a.read,
		Show: showInvoiceDetail,
	}
}

// read is an invoice of an organization with today's date there, nil when the organization has no such invoice.
func (a Invoices) read(ctx context.Context, org id.Organization, invoice id.Invoice) (*datedInvoice, error) {
	settings, err := a.Settings(ctx, org)
	if err != nil {
		return nil, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return nil, err
	}
	row, err := a.Invoices.Get(ctx, org, invoice)
	if err != nil || row == nil {
		return nil, err
	}
	receipts := make([]id.Receipt, len(row.Allocations))
	for i, allocation := range row.Allocations {
		receipts[i] = allocation.ReceiptID
	}
	numbers, err := a.Receipts.Numbers(ctx, org, receipts)
	if err != nil {
		return nil, err
	}
	documents := []id.Signature{id.As[id.Signature](invoice)}
	for _, n := range row.CreditNotes {
		documents = append(documents, id.As[id.Signature](n.ID))
	}
	signatures, err := a.Signatures.Some(ctx, org, documents)
	return &datedInvoice{
		InvoiceDetail: *row, today: calendar.On(a.Clock.Now(), zone), taxPIN: settings.TaxPIN, numbers: numbers,
		signatures: signatures,
	}, err
}

// list answers with a page of invoices, newest first.
func (a Invoices) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := billingviews.InvoiceFilter{SubscriberID: httpapi.FilterID[id.Subscriber](f, "subscriberId"),
		State: f.OneOf("state", billingviews.InvoiceStates...), Overdue: f.Bool("overdue"), Number: f.Text("number")}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showInvoice, func(
		ctx context.Context, after billingviews.InvoiceKey, max int,
	) (page []signedInvoice, err error) {
		if filter.Among, err = c.Among(filter.SubscriberID); err != nil {
			return nil, err
		}
		if filter.Today, err = a.Settings.Today(ctx, c.Org.ID, a.Clock.Now()); err != nil {
			return nil, err
		}
		rows, err := a.Invoices.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		documents := make([]id.Signature, len(rows))
		for i, row := range rows {
			documents[i] = id.As[id.Signature](row.ID)
		}
		signatures, err := a.Signatures.Some(ctx, c.Org.ID, documents)
		for _, row := range rows {
			page = append(page, signedInvoice{row, filter.Today, signatures})
		}
		return page, err
	})
}

// get answers with one invoice, its allocations and its credit notes.
func (a Invoices) get(ctx context.Context, c *httpapi.Call) error {
	one := a.one()
	one.Read = httpapi.OwnRow(c, one.Read, func(r datedInvoice) id.Subscriber { return r.SubscriberID })
	return httpapi.ReadOne(ctx, c, one)
}

// locate finds the subscriber on whose account an invoice is. The account itself decides about it.
func (a Invoices) locate(ctx context.Context, c *httpapi.Call) (datedInvoice, error) {
	invoice, err := httpapi.PathID[id.Invoice](c, "id", commands.ErrNoInvoice)
	if err != nil {
		return datedInvoice{}, err
	}
	return a.one().Find(ctx, c, invoice)
}

// void takes back an invoice to which nothing was allocated.
func (a Invoices) void(ctx context.Context, c *httpapi.Call) error {
	row, err := a.locate(ctx, c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[httpapi.ReasonRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.Void(ctx, c.Asked(), billingcases.VoidInput{
		SubscriberID: row.SubscriberID, InvoiceID: row.ID, Reason: in.Reason,
	})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), row.ID, done)
}

// creditNote drafts the note and waits until a process has numbered and issued it; 202 when that takes too long.
func (a Invoices) creditNote(ctx context.Context, c *httpapi.Call) error {
	row, err := a.locate(ctx, c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[creditNoteRequest](c)
	if err != nil {
		return err
	}
	draft := billingcases.DraftCreditNoteInput{SubscriberID: row.SubscriberID, InvoiceID: row.ID, Reason: in.Reason}
	if in.Amount != nil {
		draft.Amount = new(in.Amount.Figure())
	}
	note, err := a.Notes.Draft(ctx, c.Asked(), draft)
	if err != nil {
		return err
	}
	return a.sendNote(ctx, c, row.ID, note)
}

// sendNote answers with a credit note once it is issued; 202 when that takes too long.
func (a Invoices) sendNote(ctx context.Context, c *httpapi.Call, invoice id.Invoice, note id.Receipt) error {
	issued, err := a.Invoices.WaitNoteFinal(ctx, c.Org.ID, note)
	if err != nil {
		return err
	}
	if issued {
		row, err := a.one().Find(ctx, c, invoice)
		if err != nil {
			return err
		}
		for _, n := range row.CreditNotes {
			if n.ID == note {
				return c.Send(201, showCreditNote(n, row.InvoiceRow, row.signatures))
			}
		}
	}
	return c.Send(202, httpapi.Accepted{ID: note.String(), Status: "accepted"})
}
