package subscribersapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// endingResponse says what an end would do to the unpaid invoices of a subscription
// (docs/rules/subscribers.md#pause-and-end).
type endingResponse struct {
	StaysDue []endingInvoice `json:"staysDue" doc:"for periods that have begun, and for what was sold"`
	Voided   []endingInvoice `json:"voided" doc:"for time that never began, and orders; given back where a part was"`
}

// endingInvoice is an unpaid invoice of a subscription.
type endingInvoice struct {
	ID       id.Invoice     `json:"id"`
	Number   *string        `json:"number" doc:"null: a draft"`
	Total    httpapi.Number `json:"total"`
	Due      httpapi.Number `json:"due" doc:"of a draft its total"`
	Paid     httpapi.Number `json:"paid" doc:"pays what else is owed, or becomes credit, when it is voided"`
	Currency money.Currency `json:"currency"`
	DueDate  calendar.Date  `json:"dueDate"`
}

// ending tells what an end would do, and changes nothing.
func (a Subscriptions) ending(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, httpapi.One[id.Subscription, subscriberscases.Ending, endingResponse]{
		Missing: commands.ErrNoSubscription, Read: a.Cases.Ending, Show: showEnding,
	})
}

// showEnding writes lists that are empty as such.
func showEnding(e subscriberscases.Ending) endingResponse {
	return endingResponse{StaysDue: showEndingInvoices(e.StaysDue), Voided: showEndingInvoices(e.Voided)}
}

// showEndingInvoices keeps the order.
func showEndingInvoices(list []subscriberscases.EndingInvoice) []endingInvoice {
	out := make([]endingInvoice, len(list))
	for i, one := range list {
		out[i] = endingInvoice{
			ID: one.ID, Number: null.Of(one.Number), Total: one.Total.Number(), Due: one.Due.Number(),
			Paid: one.Paid.Number(), Currency: one.Total.Currency, DueDate: one.DueOn,
		}
	}
	return out
}
