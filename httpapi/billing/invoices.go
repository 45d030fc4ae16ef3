package billingapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/usecases"
)

// daysToPay is how long after today a manual invoice falls due when nobody says.
const daysToPay = 7

// creditNoteSuffix keeps the numbers of credit notes apart from those of invoices: a number names one document.
const creditNoteSuffix = "-CN"

// Invoices serves /invoices.
type Invoices struct {
	Bus      *bus.Bus
	Invoices billingviews.InvoicesQuery
	Clock    clock.Clock
}

// Routes lists the endpoints of invoices.
func (a Invoices) Routes() []httpapi.Route {
	filters := []httpapi.Param{
		{Name: "subscriberId", Type: "uuid"}, {Name: "state", Type: "string", Enum: billingviews.InvoiceStates},
		{Name: "overdue", Type: "boolean", Doc: "something is due since before today"},
	}
	return []httpapi.Route{
		{
			Method: "POST", Path: "/invoices", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Invoice a subscriber by hand", Request: invoiceRequest{}, Response: invoiceResponse{},
			Status: 201, Handle: a.create,
		},
		{
			Method: "GET", Path: "/invoices", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "List invoices", Row: invoiceResponse{}, Query: filters, Handle: a.list,
		},
		{
			Method: "GET", Path: "/invoices/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Read an invoice", Response: invoiceDetailResponse{}, Handle: a.get,
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
	}
}

// invoiceRequest is api.md's body of POST /invoices.
type invoiceRequest struct {
	SubscriberID id.Subscriber        `json:"subscriberId"`
	DueDate      calendar.Date        `json:"dueDate,omitzero" doc:"in the organization's time zone; a week from today when absent"`
	Lines        []invoiceLineRequest `json:"lines"`
}

// invoiceLineRequest is one charge; the organization's tax rule says whether unitPrice contains the tax.
type invoiceLineRequest struct {
	Description string         `json:"description"`
	Quantity    json.Number    `json:"quantity" doc:"above zero, at most 6 decimals"`
	UnitPrice   httpapi.Amount `json:"unitPrice"`
}

// creditNoteRequest gives back an amount of an invoice.
type creditNoteRequest struct {
	Amount *httpapi.Amount `json:"amount,omitempty" doc:"all that is left of the invoice when absent"`
	Reason string          `json:"reason"`
}

// create drafts the invoice; numbering and issue follow by themselves, and the answer waits for them.
func (a Invoices) create(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[invoiceRequest](c)
	if err != nil {
		return err
	}
	command, err := a.draft(ctx, c, in)
	if err != nil {
		return err
	}
	if _, err := a.Bus.Execute(ctx, command, c.Meta()); err != nil {
		return err
	}
	issued, err := a.Invoices.WaitFinal(ctx, c.Org.ID, command.InvoiceID)
	if err != nil {
		return err
	}
	if !issued {
		return c.Send(202, httpapi.Accepted{ID: command.InvoiceID.String(), Status: "accepted"})
	}
	out, err := a.read(ctx, c, command.InvoiceID)
	if err != nil {
		return err
	}
	return c.Send(201, out)
}

// draft fills the command from the subscriber and the settings, each read from the log.
func (a Invoices) draft(ctx context.Context, c *httpapi.Call, in invoiceRequest) (commands.DraftInvoice, error) {
	none := commands.DraftInvoice{}
	subscriber, _, err := bus.LoadUnchecked[subscribers.Subscriber](ctx, a.Bus, id.Any(in.SubscriberID))
	if err != nil {
		return none, err
	}
	if subscriber.Owner != c.Org.ID || subscriber.Forgotten {
		return none, commands.ErrNoSubscriber()
	}
	settings, err := usecases.BillingSettings(ctx, a.Bus, c.Org.ID)
	if err != nil {
		return none, err
	}
	zone, err := time.LoadLocation(settings.Timezone)
	if err != nil {
		return none, fmt.Errorf("zone of the organization: %w", err)
	}
	today := calendar.On(a.Clock.Now(), zone)
	due := in.DueDate
	if due.IsZero() {
		due = today.AddDays(daysToPay)
	}
	var faults failure.Faults
	faults.Check(!due.Before(today), "dueDate", "must not be in the past")
	faults.Check(!today.AddDays(httpapi.MaxDaysAhead).Before(due), "dueDate", "must be in the next five years")
	lines := make([]commands.LineInput, len(in.Lines))
	for i, l := range in.Lines {
		lines[i] = commands.LineInput{Description: strings.TrimSpace(l.Description), Quantity: l.Quantity.String(),
			UnitPrice: l.UnitPrice.In(settings.Currency, fmt.Sprintf("lines[%d].unitPrice", i), &faults)}
	}
	if err := faults.Err(); err != nil {
		return none, err
	}
	return commands.DraftInvoice{
		SubscriberID: in.SubscriberID, OrgID: c.Org.ID, InvoiceID: usecases.NewID[id.Invoice](c.Asked(), "invoice"),
		Lines: lines, Tax: settings.Tax, Currency: settings.Currency, Prefix: settings.InvoicePrefix, DueOn: due,
	}, nil
}

// today is the organization's date: what overdue means depends on it.
func (a Invoices) today(ctx context.Context, c *httpapi.Call) (calendar.Date, error) {
	settings, err := usecases.BillingSettings(ctx, a.Bus, c.Org.ID)
	if err != nil {
		return calendar.Date{}, err
	}
	zone, err := time.LoadLocation(settings.Timezone)
	if err != nil {
		return calendar.Date{}, fmt.Errorf("zone of the organization: %w", err)
	}
	return calendar.On(a.Clock.Now(), zone), nil
}

// list answers with a page of invoices.
func (a Invoices) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := billingviews.InvoiceFilter{SubscriberID: httpapi.FilterID[id.Subscriber](f, "subscriberId"),
		State: f.OneOf("state", billingviews.InvoiceStates...), Overdue: f.Bool("overdue")}
	if err := f.Err(); err != nil {
		return err
	}
	page, err := httpapi.PageOf[billingviews.InvoiceKey](c)
	if err != nil {
		return err
	}
	if filter.Today, err = a.today(ctx, c); err != nil {
		return err
	}
	rows, err := a.Invoices.List(ctx, c.Org.ID, filter, null.Zero(page.After), page.Fetch())
	if err != nil {
		return err
	}
	return httpapi.SendPage(c, page, rows, func(r billingviews.InvoiceRow) billingviews.InvoiceKey {
		return billingviews.InvoiceKey{DraftedAt: r.DraftedAt, ID: r.ID}
	}, func(r billingviews.InvoiceRow) invoiceResponse { return showInvoice(r, filter.Today) })
}

// get answers with one invoice and what became of it.
func (a Invoices) get(ctx context.Context, c *httpapi.Call) error {
	invoice, err := httpapi.PathID[id.Invoice](c, "id", commands.ErrNoInvoice)
	if err != nil {
		return err
	}
	out, err := a.read(ctx, c, invoice)
	if err != nil {
		return err
	}
	return c.Send(200, out)
}

// read is an invoice as the API shows it.
func (a Invoices) read(ctx context.Context, c *httpapi.Call, invoice id.Invoice) (invoiceDetailResponse, error) {
	today, err := a.today(ctx, c)
	if err != nil {
		return invoiceDetailResponse{}, err
	}
	row, err := a.Invoices.Get(ctx, c.Org.ID, invoice)
	if err != nil || row == nil {
		return invoiceDetailResponse{}, cmp.Or(err, commands.ErrNoInvoice())
	}
	return showInvoiceDetail(*row, today), nil
}

// locate finds whose account an invoice is on. The account itself decides about it.
func (a Invoices) locate(ctx context.Context, c *httpapi.Call) (*billingviews.InvoiceDetail, error) {
	invoice, err := httpapi.PathID[id.Invoice](c, "id", commands.ErrNoInvoice)
	if err != nil {
		return nil, err
	}
	row, err := a.Invoices.Get(ctx, c.Org.ID, invoice)
	if err != nil || row == nil {
		return nil, cmp.Or(err, commands.ErrNoInvoice())
	}
	return row, nil
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
	meta := c.Meta()
	meta.Reason = in.Reason
	done, err := a.Bus.Execute(ctx,
		commands.VoidInvoice{SubscriberID: row.SubscriberID, InvoiceID: row.ID, Reason: in.Reason}, meta)
	if err != nil {
		return err
	}
	return httpapi.SendVisible(ctx, c, 200, httpapi.Visible{
		Projection: billingviews.InvoicesName, ID: row.ID.String(), Result: done,
	},
		func(ctx context.Context) (invoiceDetailResponse, error) { return a.read(ctx, c, row.ID) })
}

// creditNote drafts the note; numbering and issue follow by themselves, and the answer waits for them.
func (a Invoices) creditNote(ctx context.Context, c *httpapi.Call) error {
	row, err := a.locate(ctx, c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[creditNoteRequest](c)
	if err != nil {
		return err
	}
	amount := money.Of(0, row.Currency)
	if in.Amount != nil {
		var faults failure.Faults
		amount = in.Amount.In(row.Currency, "amount", &faults)
		faults.Check(len(faults) > 0 || amount.Positive(), "amount", "must be above zero")
		if err := faults.Err(); err != nil {
			return err
		}
	}
	settings, err := usecases.BillingSettings(ctx, a.Bus, c.Org.ID)
	if err != nil {
		return err
	}
	note := usecases.NewID[id.Receipt](c.Asked(), "credit_note")
	meta := c.Meta()
	meta.Reason = in.Reason
	if _, err := a.Bus.Execute(ctx, commands.DraftCreditNote{
		SubscriberID: row.SubscriberID, CreditNoteID: note, InvoiceID: row.ID,
		Amount: amount, Reason: in.Reason, Prefix: settings.InvoicePrefix + creditNoteSuffix,
	}, meta); err != nil {
		return err
	}
	return a.sendNote(ctx, c, row.ID, note)
}

// sendNote answers with a credit note once it is issued.
func (a Invoices) sendNote(ctx context.Context, c *httpapi.Call, invoice id.Invoice, note id.Receipt) error {
	issued, err := a.Invoices.WaitNoteFinal(ctx, c.Org.ID, note)
	if err != nil {
		return err
	}
	if issued {
		row, err := a.Invoices.Get(ctx, c.Org.ID, invoice)
		if err != nil || row == nil {
			return cmp.Or(err, commands.ErrNoInvoice())
		}
		for _, n := range row.CreditNotes {
			if n.ID == note {
				return c.Send(201, showCreditNote(n))
			}
		}
	}
	return c.Send(202, httpapi.Accepted{ID: note.String(), Status: "accepted"})
}
