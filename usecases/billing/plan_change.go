package billingcases

import (
	"context"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
)

// PlanChanges gives subscriptions another plan. Safe for concurrent use.
type PlanChanges struct {
	Bus   *bus.Bus
	Clock clock.Clock
}

// PlanChangePreview says what a change would do at this moment.
type PlanChangePreview struct {
	subscribers.PlanChange
	Plan commands.NewPlan
	// Invoice is the one over the change, as it would be drafted; the zero value when it costs nothing.
	Invoice events.InvoiceDrafted
	// Periods are those of the periods that the change makes due: in the place of unpaid ones, or of months that have
	// begun.
	Periods []events.InvoiceDrafted
	Token   string // asks for this change
}

// AmountDue is the total of the invoice over the change, tax included.
func (p PlanChangePreview) AmountDue() money.Amount {
	if p.Invoice.InvoiceID.IsZero() {
		return money.Of(0, p.Plan.Terms.Price.Currency)
	}
	return p.Invoice.Total
}

// Preview tells what a change to the present version of a plan would do, and changes nothing. The subscription and the
// account decide it, as they decide the change itself. Fails: subscription_not_found, plan_not_found, plan_archived,
// organization_not_found, and as ChangePlan.
func (u PlanChanges) Preview(
	ctx context.Context, org id.Organization, subscription id.Subscription, plan id.Plan,
) (PlanChangePreview, error) {
	to, err := u.newPlan(ctx, org, plan)
	if err != nil {
		return PlanChangePreview{}, err
	}
	s, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, org, subscription)
	if err != nil {
		return PlanChangePreview{}, err
	}
	now := u.Clock.Now()
	out := PlanChangePreview{Plan: to}
	if out.PlanChange, err = s.PlanChange(to, now); err != nil {
		return PlanChangePreview{}, err
	}
	out.Token = planToken(to, out.Preview)
	for _, due := range out.Due {
		drafted, err := u.drafted(ctx, commands.DraftOf(due))
		if err != nil {
			return PlanChangePreview{}, err
		}
		out.Periods = append(out.Periods, drafted)
	}
	if out.DueAt.IsZero() {
		return out, nil
	}
	out.Invoice, err = u.drafted(ctx, commands.DraftPeriodInvoice{
		SubscriberID: s.SubscriberID, OrgID: org, InvoiceID: id.Derive[id.Invoice]("preview", out.Preview),
		SubscriptionID: subscription, DueAt: out.DueAt, Price: to.Terms.Price, Change: out.Lines,
	})
	return out, err
}

// drafted is an invoice as it would be drafted now.
func (u PlanChanges) drafted(
	ctx context.Context, of commands.DraftPeriodInvoice,
) (drafted events.InvoiceDrafted, err error) {
	asked, err := PeriodInvoices{Bus: u.Bus}.draft(ctx, of)
	if err != nil {
		return drafted, err
	}
	made, err := billing.Accounts().Decide(billing.Account{}, asked, u.Clock.Now())
	for _, e := range made {
		if e, ok := e.(events.InvoiceDrafted); ok {
			drafted = e
		}
	}
	return drafted, err
}

// Change makes the change that a preview told. Fails: subscription_not_found, plan_not_found, plan_archived, and as
// ChangePlan.
func (u PlanChanges) Change(
	ctx context.Context, asked usecases.Asked, subscription id.Subscription, token string,
) (bus.Result, error) {
	plan, version, preview, ok := readPlanToken(token)
	if !ok {
		return bus.Result{}, failure.NewInvalid("invalid_input", "previewToken must be that of a preview")
	}
	if _, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, asked.Org(), subscription); err != nil {
		return bus.Result{}, err
	}
	to, err := u.newPlan(ctx, asked.Org(), plan)
	if err != nil {
		return bus.Result{}, err
	}
	if to.Version != version {
		return bus.Result{}, commands.ErrPreviewStale()
	}
	return u.Bus.Execute(ctx, commands.ChangePlan{SubscriptionID: subscription, NewPlan: to, Preview: preview},
		asked.Meta)
}

// newPlan reads the present version of a plan that is still sold.
func (u PlanChanges) newPlan(ctx context.Context, org id.Organization, plan id.Plan) (commands.NewPlan, error) {
	p, _, err := bus.LoadOwned[subscribers.Plan](ctx, u.Bus, org, plan)
	switch {
	case err != nil:
		return commands.NewPlan{}, err
	case p.Archived:
		return commands.NewPlan{}, failure.NewConflict("plan_archived", "This plan is archived.")
	}
	return commands.NewPlan{PlanID: p.ID, Version: p.Version, Terms: p.Terms}, nil
}

// planToken names a version of a plan and a preview. It is no secret: the decision compares the preview with what it
// would do.
func planToken(to commands.NewPlan, preview string) string {
	return to.PlanID.String() + "." + strconv.Itoa(to.Version) + "." + preview
}

// readPlanToken is false for a text that planToken never made.
func readPlanToken(token string) (plan id.Plan, version int, preview string, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return plan, 0, "", false
	}
	plan, err := id.Parse[id.Plan](parts[0])
	if err != nil {
		return plan, 0, "", false
	}
	version, err = strconv.Atoi(parts[1])
	return plan, version, parts[2], err == nil
}
