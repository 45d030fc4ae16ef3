package billingapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// Upcoming serves the invoices that will be made.
type Upcoming struct {
	Cases billingcases.Upcoming
}

// comingInvoices is how many invoices are told.
const comingInvoices = 3

// Routes lists its endpoint.
func (a Upcoming) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/subscriptions/:id/upcoming", Hosts: httpapi.OnOrganization,
		Access: httpapi.AccessSubscriber, Own: httpapi.OwnRows, Response: upcomingResponse{}, Handle: a.get,
		Summary: "The next three invoices, when nothing changes and each is paid in time",
	}}
}

// upcomingResponse lists the next invoices, the first one first.
type upcomingResponse struct {
	Data []comingResponse `json:"data" doc:"empty while the subscription is paused, and after its end"`
}

// ForCustomer implements httpapi.StaffSees: the customer will be asked for all of it.
func (*upcomingResponse) ForCustomer() {}

// comingResponse is an invoice that will be made (docs/rules/billing.md#upcoming-invoices).
type comingResponse struct {
	ID         id.Invoice            `json:"id" doc:"that the invoice will have"`
	InvoicedAt time.Time             `json:"invoicedAt" doc:"when it is made"`
	DueDate    calendar.Date         `json:"dueDate"`
	PeriodFrom *time.Time            `json:"periodFrom" doc:"null for a period that begins with its payment"`
	PeriodTo   *time.Time            `json:"periodTo" doc:"exclusive"`
	Lines      []invoiceLineResponse `json:"lines"`
	Taxes      []taxResponse         `json:"taxes"`
	Total      httpapi.Number        `json:"total"`
	Currency   money.Currency        `json:"currency"`
}

// get tells the next invoices of a subscription.
func (a Upcoming) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, httpapi.One[id.Subscription, []billingcases.ComingInvoice, upcomingResponse]{
		Missing: commands.ErrNoSubscription, Show: showUpcoming,
		Read: func(
			ctx context.Context, org id.Organization, subscription id.Subscription,
		) (*[]billingcases.ComingInvoice, error) {
			if c.IsCustomer() {
				of, err := a.Cases.SubscriberOf(ctx, org, subscription)
				if err != nil || !c.Sees(of) {
					return nil, err
				}
			}
			list, err := a.Cases.Of(ctx, org, subscription, comingInvoices)
			return &list, err
		},
	})
}

// showUpcoming writes amounts in major units.
func showUpcoming(list []billingcases.ComingInvoice) upcomingResponse {
	out := upcomingResponse{Data: make([]comingResponse, len(list))}
	for i, next := range list {
		e := next.Invoice
		out.Data[i] = comingResponse{
			ID: e.InvoiceID, InvoicedAt: next.At, DueDate: e.DueOn, PeriodFrom: null.Time(e.PeriodFrom),
			PeriodTo: null.Time(e.PeriodTo), Lines: make([]invoiceLineResponse, len(e.Lines)),
			Taxes: showTaxes(e.Taxes), Total: e.Total.Number(), Currency: e.Total.Currency,
		}
		for k, l := range e.Lines {
			out.Data[i].Lines[k] = invoiceLineResponse{
				Description: l.Description.Reveal(), Quantity: json.Number(l.Quantity), UnitPrice: l.UnitPrice.Number(),
				Net: l.Net.Number(), Taxes: showTaxes(l.Taxes), Gross: l.Gross.Number(),
			}
		}
	}
	return out
}
