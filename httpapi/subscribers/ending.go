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
	Credited []endingCredit  `json:"credited" doc:"postpaid: by a credit note; what of it was paid becomes credit"`
	Charged  []endingCharge  `json:"charged" doc:"on a last invoice: charges that no period has"`
}

// endingCharge is a line of the last invoice.
type endingCharge struct {
	Description string         `json:"description"`
	Amount      httpapi.Number `json:"amount" doc:"as it was entered: a tax may come on top"`
	Currency    money.Currency `json:"currency"`
}

// endingCredit is the part of an invoice for the days from today on.
type endingCredit struct {
	ID       id.Invoice     `json:"id"`
	Number   *string        `json:"number" doc:"null for a draft"`
	Days     int            `json:"days"`
	Of       int            `json:"of" doc:"the days of the period"`
	Amount   httpapi.Number `json:"amount"`
	Currency money.Currency `json:"currency"`
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
	out := endingResponse{
		StaysDue: showEndingInvoices(e.StaysDue), Voided: showEndingInvoices(e.Voided),
		Credited: make([]endingCredit, len(e.Credited)), Charged: make([]endingCharge, len(e.Charged)),
	}
	for i, x := range e.Charged {
		out.Charged[i] = endingCharge{
			Description: x.Description, Amount: x.Amount.Number(), Currency: x.Amount.Currency,
		}
	}
	for i, c := range e.Credited {
		out.Credited[i] = endingCredit{
			ID: c.ID, Number: null.Of(c.Number), Days: c.Days, Of: c.Of, Amount: c.Amount.Number(),
			Currency: c.Amount.Currency,
		}
	}
	return out
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
