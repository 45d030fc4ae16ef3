// Package billingcases drafts invoices and credit notes, and reports the money received. Each use case reads from the
// log what its command needs.
package billingcases

import (
	"context"
	"fmt"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// daysToPay is the number of days from today to the due date of an invoice made by hand, unless a date is given.
const daysToPay = 7

// Invoices drafts invoices by hand. Safe for concurrent use.
type Invoices struct {
	Bus   *bus.Bus
	Clock clock.Clock
}

// DraftInvoiceInput describes an invoice made by hand.
type DraftInvoiceInput struct {
	SubscriberID id.Subscriber
	DueOn        calendar.Date // in the organization's zone; zero = a week from today
	Lines        []LineInput
}

// LineInput is one charge. The organization's tax rule says whether the price contains the tax.
type LineInput struct {
	Description string
	Quantity    string          // decimal number above zero, exact
	UnitPrice   usecases.Figure // in the organization's currency
}

// Draft makes an invoice for a subscriber by hand, under the organization's present tax rule and prefix. It is one
// command; a process numbers and issues the invoice, also after a crash. Under the same key a repeat gets the invoice
// of the first try. Fails: subscriber_not_found, organization_not_found, invalid_input, currency_mismatch,
// invoice_out_of_range.
func (u Invoices) Draft(ctx context.Context, asked usecases.Asked, in DraftInvoiceInput) (id.Invoice, error) {
	if _, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, u.Bus, asked.Org(), in.SubscriberID); err != nil {
		return id.Invoice{}, err
	}
	settings, err := usecases.BillingSettings(ctx, u.Bus, asked.Org())
	if err != nil {
		return id.Invoice{}, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return id.Invoice{}, err
	}
	command := commands.DraftInvoice{
		SubscriberID: in.SubscriberID, OrgID: asked.Org(), InvoiceID: usecases.NewID[id.Invoice](asked, "invoice"),
		Lines: make([]commands.LineInput, len(in.Lines)), Tax: settings.Tax, Currency: settings.Currency,
		Prefix: settings.InvoicePrefix, DueOn: in.DueOn,
	}
	today := calendar.On(u.Clock.Now(), zone)
	if command.DueOn.IsZero() {
		command.DueOn = today.AddDays(daysToPay)
	}
	var faults failure.Faults
	faults.Check(!command.DueOn.Before(today), "dueDate", "must not be in the past")
	faults.Check(!today.AddDays(usecases.MaxDaysAhead).Before(command.DueOn), "dueDate",
		"must be in the next five years")
	for i, l := range in.Lines {
		command.Lines[i] = commands.LineInput{
			Description: strings.TrimSpace(l.Description), Quantity: l.Quantity,
			UnitPrice: l.UnitPrice.In(settings.Currency, fmt.Sprintf("lines[%d].unitPrice", i), &faults),
		}
	}
	if err := faults.Err(); err != nil {
		return id.Invoice{}, err
	}
	_, err = u.Bus.Execute(ctx, command, asked.Meta)
	return command.InvoiceID, err
}
