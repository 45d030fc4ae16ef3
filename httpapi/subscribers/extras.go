package subscribersapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// Extras serves charges, add-ons and discounts of subscriptions (docs/rules/subscribers.md#extras).
type Extras struct {
	Cases         subscriberscases.Extras
	Subscriptions subscribersviews.SubscriptionsQuery
	Clock         clock.Clock
}

// Routes lists the endpoints of extras.
func (a Extras) Routes() []httpapi.Route {
	var list []httpapi.Route
	for _, of := range []struct {
		path, one, added string
		kind             events.ExtraKind
		request          any
		decode           func(*httpapi.Call) (subscriberscases.ExtraInput, error)
	}{
		{
			"charges", "a charge", "Charge something with the next invoice", events.ChargeExtra, chargeRequest{},
			described[chargeRequest],
		},
		{
			"add-ons", "an add-on", "Add something to each invoice", events.AddOnExtra, addOnRequest{},
			described[addOnRequest],
		},
		{
			"discounts", "a discount", "Take something off each invoice", events.DiscountExtra, discountRequest{},
			described[discountRequest],
		},
	} {
		list = append(list, httpapi.Route{
			Method: "POST", Path: "/subscriptions/:id/" + of.path, Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: of.added, Request: of.request, Response: extraResponse{}, Status: 201,
			Handle: func(ctx context.Context, c *httpapi.Call) error { return a.add(ctx, c, of.decode) },
		}, httpapi.Route{
			Method: "DELETE", Path: "/subscriptions/:id/" + of.path + "/:extraId", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "Take " + of.one + " off the next invoices", Status: 204,
			Handle: func(ctx context.Context, c *httpapi.Call) error { return a.remove(ctx, c, of.kind) },
		})
	}
	return list
}

// chargeRequest is the body of POST /subscriptions/:id/charges.
type chargeRequest struct {
	Description string         `json:"description" doc:"on the invoice"`
	Amount      httpapi.Amount `json:"amount"`
}

// addOnRequest is the body of POST /subscriptions/:id/add-ons.
type addOnRequest struct {
	Description string         `json:"description" doc:"on each invoice"`
	Amount      httpapi.Amount `json:"amount" doc:"of a whole period"`
	Periods     int            `json:"periods,omitempty" doc:"on how many periods; no limit when absent"`
	Until       calendar.Date  `json:"until,omitzero" doc:"last day on which a period with it may begin"`
}

// discountRequest is the body of POST /subscriptions/:id/discounts; it has an amount or a percentage.
type discountRequest struct {
	Description string          `json:"description" doc:"on each invoice"`
	Amount      *httpapi.Amount `json:"amount,omitempty" doc:"off a whole period"`
	Percent     *httpapi.Amount `json:"percent,omitempty" doc:"of the plan's price; at most two decimals"`
	Periods     int             `json:"periods,omitempty" doc:"on how many periods; no limit when absent"`
	Until       calendar.Date   `json:"until,omitzero" doc:"last day on which a period with it may begin"`
}

// input describes a charge.
func (r chargeRequest) input() subscriberscases.ExtraInput {
	return subscriberscases.ExtraInput{
		Kind: events.ChargeExtra, Description: r.Description, Amount: r.Amount.Figure(),
	}
}

// input describes an add-on.
func (r addOnRequest) input() subscriberscases.ExtraInput {
	return subscriberscases.ExtraInput{
		Kind: events.AddOnExtra, Description: r.Description, Amount: r.Amount.Figure(), Periods: r.Periods,
		Until: r.Until,
	}
}

// input describes a discount.
func (r discountRequest) input() subscriberscases.ExtraInput {
	in := subscriberscases.ExtraInput{
		Kind: events.DiscountExtra, Description: r.Description, Periods: r.Periods, Until: r.Until,
	}
	if r.Amount != nil {
		in.Amount = r.Amount.Figure()
	}
	if r.Percent != nil {
		in.Percent = string(r.Percent.Figure())
	}
	return in
}

// extras lists those of a new subscription.
func (r subscriptionRequest) extras() (list []subscriberscases.ExtraInput) {
	for _, x := range r.Charges {
		list = append(list, x.input())
	}
	for _, x := range r.AddOns {
		list = append(list, x.input())
	}
	for _, x := range r.Discounts {
		list = append(list, x.input())
	}
	return list
}

// extraResponse is a charge, an add-on or a discount of a subscription.
type extraResponse struct {
	ID          id.Extra        `json:"id"`
	Description string          `json:"description"`
	Amount      *httpapi.Number `json:"amount" doc:"of a whole period, or once; null for a percentage"`
	Percent     *httpapi.Number `json:"percent" doc:"of the plan's price; null for an amount"`
	Currency    money.Currency  `json:"currency"`
	Periods     *int            `json:"periods" doc:"on how many periods it is; null: no limit"`
	Until       *calendar.Date  `json:"until" doc:"last day on which a period with it may begin; null: no end"`
	Invoiced    int             `json:"invoiced" doc:"on how many periods it is so far"`
	State       string          `json:"state" enum:"waiting,active,over,removed"`
	AddedAt     time.Time       `json:"addedAt"`
}

// showExtra says what comes of an extra at an instant. Its last day is over when it is over everywhere on earth.
func showExtra(r subscribersviews.ExtraRow, currency money.Currency, now time.Time) extraResponse {
	held, today := r.Held(), calendar.On(now, lastZone)
	out := extraResponse{
		ID: r.Extra.ID, Description: r.Description, Currency: currency, State: "active",
		Invoiced: r.Before + len(r.Ordinals),
		AddedAt:  r.AddedAt,
	}
	if r.Extra.BasisPoints > 0 {
		out.Percent = new(httpapi.Percent(r.Extra.BasisPoints))
	} else {
		out.Amount = new(r.Extra.Amount.Number())
	}
	if r.Extra.Periods > 0 {
		out.Periods = new(r.Extra.Periods)
	}
	if until := r.Extra.Until; until != (calendar.Date{}) {
		out.Until = &until
	}
	switch {
	case held.Removed:
		out.State = "removed"
	case held.Over(), held.Ended(today):
		out.State = "over"
	case r.Extra.Kind == events.ChargeExtra:
		out.State = "waiting"
	}
	return out
}

// lastZone is where a day ends last.
var lastZone = time.FixedZone("", -12*60*60)

// showExtras sorts the extras of a subscription by their kind.
func (r *subscriptionResponse) showExtras(rows []subscribersviews.ExtraRow, now time.Time) {
	for _, x := range rows {
		shown := showExtra(x, r.Currency, now)
		if r.State == "ended" && shown.State != "removed" {
			shown.State = "over"
		}
		switch x.Extra.Kind {
		case events.ChargeExtra:
			r.Charges = append(r.Charges, shown)
		case events.AddOnExtra:
			r.AddOns = append(r.AddOns, shown)
		case events.DiscountExtra:
			r.Discounts = append(r.Discounts, shown)
		}
	}
}

// add adds an extra, and answers with it; with 202 while no list shows it yet.
func (a Extras) add(
	ctx context.Context, c *httpapi.Call, decode func(*httpapi.Call) (subscriberscases.ExtraInput, error),
) error {
	subscription, err := httpapi.PathID[id.Subscription](c, "id", commands.ErrNoSubscription)
	if err != nil {
		return err
	}
	input, err := decode(c)
	if err != nil {
		return err
	}
	input.SubscriptionID = subscription
	extra, done, err := a.Cases.Add(ctx, c.Asked(), input)
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, subscribersviews.SubscriptionsName, done.Position); err != nil {
		return err
	}
	row, err := a.Subscriptions.Get(ctx, c.Org.ID, subscription)
	if err != nil {
		return err
	}
	if row != nil {
		for _, r := range row.Extras {
			if r.Extra.ID == extra {
				return c.Send(201, showExtra(r, row.Terms.Price.Currency, a.Clock.Now()))
			}
		}
	}
	return c.Send(202, httpapi.Accepted{ID: extra.String(), Status: "accepted"})
}

// described reads a body that describes an extra.
func described[R interface {
	input() subscriberscases.ExtraInput
}](
	c *httpapi.Call,
) (subscriberscases.ExtraInput, error) {
	in, err := httpapi.Decode[R](c)
	return in.input(), err
}

// remove takes an extra off the next invoices.
func (a Extras) remove(ctx context.Context, c *httpapi.Call, kind events.ExtraKind) error {
	subscription, err := httpapi.PathID[id.Subscription](c, "id", commands.ErrNoSubscription)
	if err != nil {
		return err
	}
	extra, err := httpapi.PathID[id.Extra](c, "extraId", commands.ErrNoExtra)
	if err != nil {
		return err
	}
	done, err := a.Cases.Remove(ctx, c.Asked(), subscription, extra, kind)
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, subscribersviews.SubscriptionsName, done.Position); err != nil {
		return err
	}
	return c.NoContent()
}
