package subscribersapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// planChangeRoutes are the endpoints of a change to another plan.
func (a Subscriptions) planChangeRoutes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: "/subscriptions/:id/change-plan/preview", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "What a change to another plan would do and cost",
			Request: planChangeRequest{}, Response: planChangePreview{}, Handle: a.previewChange,
		},
		{
			Method: "POST", Path: "/subscriptions/:id/change-plan", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "Change the plan as it was previewed",
			Request: planChangeToken{}, Response: subscriptionResponse{}, Handle: a.changePlan,
		},
	}
}

// planChangeRequest is the body of POST /subscriptions/:id/change-plan/preview.
type planChangeRequest struct {
	PlanID id.Plan `json:"planId"`
}

// planChangeToken is the body of POST /subscriptions/:id/change-plan.
type planChangeToken struct {
	PreviewToken string `json:"previewToken" doc:"of a preview that is still true"`
}

// planChangePreview says what a change would do (docs/rules/subscribers.md#plan-change).
type planChangePreview struct {
	PlanID    id.Plan          `json:"planId"`
	PlanName  string           `json:"planName"`
	AtOnce    bool             `json:"atOnce" doc:"false: with the next period"`
	Effective *time.Time       `json:"effective" doc:"null: when the period that waits for its first payment is over"`
	Lines     []planChangeLine `json:"lines" doc:"what the days from today on cost less and more"`
	AmountDue httpapi.Number   `json:"amountDue" doc:"invoiced at once; tax included"`
	Currency  money.Currency   `json:"currency"`
	DueDate   *calendar.Date   `json:"dueDate" doc:"of the invoice; null without one"`
	NextPrice httpapi.Number   `json:"nextPrice" doc:"of a whole period of the plan"`
	Replaced  []id.Invoice     `json:"replaced" doc:"unpaid invoices that one of the new plan takes the place of"`
	Periods   []planPeriod     `json:"periods" doc:"whose invoices the change makes, beside amountDue"`
	Token     string           `json:"previewToken"`
}

// planPeriod is the invoice of a period that a change makes.
type planPeriod struct {
	Description string         `json:"description"`
	Amount      httpapi.Number `json:"amount" doc:"tax included"`
	DueDate     calendar.Date  `json:"dueDate"`
}

// planChangeLine is the price of some days under one of the plans.
type planChangeLine struct {
	Description string         `json:"description"`
	PlanName    string         `json:"planName" doc:"empty: a discount on the lines before it"`
	From        calendar.Date  `json:"from"`
	To          calendar.Date  `json:"to" doc:"included"`
	Days        int            `json:"days"`
	Of          int            `json:"of" doc:"the days of a whole period"`
	Amount      httpapi.Number `json:"amount" doc:"negative: given back; tax included where there is an invoice"`
}

// previewChange tells what a change would do.
func (a Subscriptions) previewChange(ctx context.Context, c *httpapi.Call) error {
	subscription, err := httpapi.PathID[id.Subscription](c, "id", commands.ErrNoSubscription)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[planChangeRequest](c)
	if err != nil {
		return err
	}
	preview, err := a.Changes.Preview(ctx, c.Org.ID, subscription, in.PlanID)
	if err != nil {
		return err
	}
	return c.Send(200, showPlanChange(preview))
}

// showPlanChange writes lists that are empty as such.
func showPlanChange(p billingcases.PlanChangePreview) planChangePreview {
	due := p.AmountDue()
	out := planChangePreview{
		PlanID: p.Plan.PlanID, PlanName: p.Plan.Terms.Name, AtOnce: p.AtOnce,
		Effective: null.Time(p.EffectiveAt.Truncate(time.Microsecond)), // as read models keep it
		Lines:     make([]planChangeLine, len(p.Lines)), AmountDue: due.Number(), Currency: due.Currency,
		NextPrice: p.Plan.Terms.Price.Number(), Replaced: append([]id.Invoice{}, p.Replaced...), Token: p.Token,
		Periods: make([]planPeriod, len(p.Periods)),
	}
	for i, drafted := range p.Periods {
		out.Periods[i] = planPeriod{
			Description: drafted.Lines[0].Description.Reveal(), Amount: drafted.Total.Number(), DueDate: drafted.DueOn,
		}
	}
	for i, l := range p.Lines {
		out.Lines[i] = planChangeLine{
			Description: l.PlanName, PlanName: l.PlanName, From: l.From, To: l.To, Days: l.Days, Of: l.Of,
			Amount: l.Amount.Number(),
		}
		if i < len(p.Invoice.Lines) {
			out.Lines[i].Description = p.Invoice.Lines[i].Description.Reveal()
			out.Lines[i].Amount = p.Invoice.Lines[i].Gross.Number()
		}
	}
	if !p.Invoice.InvoiceID.IsZero() {
		out.DueDate = &p.Invoice.DueOn
	}
	return out
}

// changePlan makes a change that was previewed, and answers with the subscription.
func (a Subscriptions) changePlan(ctx context.Context, c *httpapi.Call) error {
	subscription, err := httpapi.PathID[id.Subscription](c, "id", commands.ErrNoSubscription)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[planChangeToken](c)
	if err != nil {
		return err
	}
	done, err := a.Changes.Change(ctx, c.Asked(), subscription, in.PreviewToken)
	if err != nil {
		return err
	}
	if err := a.showSubscriber(ctx, c, done); err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), subscription, done)
}

// plannedPlan is a change to another plan that comes with a later period.
type plannedPlan struct {
	PlanID      id.Plan        `json:"planId"`
	PlanVersion int            `json:"planVersion"`
	PlanName    string         `json:"planName"`
	Price       httpapi.Number `json:"price"`
	EffectiveAt *time.Time     `json:"effectiveAt" doc:"null: when the period that waits for its payment is over"`
}
