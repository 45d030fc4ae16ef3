package subscriberscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Plans creates and changes what an organization sells. Safe for concurrent use.
type Plans struct {
	Bus *bus.Bus
	// PolicyKnown reports whether an organization has a dunning policy of a name; nil = names are not checked.
	PolicyKnown func(ctx context.Context, org id.Organization, name string) (bool, error)
}

// checkPolicy adds a fault for a dunning policy that the organization does not have.
func (u Plans) checkPolicy(ctx context.Context, org id.Organization, name *string, faults *failure.Faults) error {
	if name == nil || u.PolicyKnown == nil {
		return nil
	}
	known, err := u.PolicyKnown(ctx, org, *name)
	faults.Check(err != nil || known, "dunningPolicy", "must be a policy of the dunning settings")
	return err
}

// CreatePlanInput describes a plan to be made.
type CreatePlanInput struct {
	Code      string
	Name      string
	Kind      string          // "pppoe" or "hotspot"
	Price     usecases.Figure // in the organization's currency, for one period
	Currency  money.Currency  // "" = the organization's; another one is refused
	Mode      events.BillingMode
	Period    calendar.Period
	Anchor    int                     // billing day of monthly plans, 1 to 28; 0 = the anniversary
	Late      events.LateRenewal      // "" = from the payment
	Partial   events.PartialPayment   // "" = credit
	Suspended events.SuspendedBilling // "" = yes
	Rates     events.Rates
	Access    AccessChange // what is nil is absent, or has its default
	// Invalid has the faults that the caller found in the form; nil = none. They are reported together with those found
	// here, each field once, and then no plan is made.
	Invalid error
}

// Create makes a plan in the organization's currency with one command. Under the same key a repeat gets the plan of the
// first try. Fails: organization_not_found, invalid_input, plan_code_taken.
func (u Plans) Create(ctx context.Context, asked usecases.Asked, in CreatePlanInput) (id.Plan, bus.Result, error) {
	settings, err := usecases.BillingSettings(ctx, u.Bus, asked.Org())
	if err != nil {
		return id.Plan{}, bus.Result{}, err
	}
	var faults failure.Faults
	faults.Check(in.Currency == "" || in.Currency == settings.Currency, "currency",
		"must be the organization's, %s", settings.Currency)
	if err := u.checkPolicy(ctx, asked.Org(), in.Access.DunningPolicy, &faults); err != nil {
		return id.Plan{}, bus.Result{}, err
	}
	command := commands.CreatePlan{
		PlanID: usecases.NewID[id.Plan](asked, "plan"), OrgID: asked.Org(), Code: in.Code, Terms: events.PlanTerms{
			Name: inputtext.Text(in.Name), Kind: in.Kind, Price: in.Price.In(settings.Currency, "price", &faults),
			Mode: in.Mode, Period: in.Period, AnchorDay: in.Anchor, Rates: in.Rates, LateRenewal: in.Late,
			PartialPayment: in.Partial, BillWhileSuspended: in.Suspended,
			Access: in.Access.onto(events.AccessTerms{}, &faults),
		},
	}
	if err := failure.JoinFaults(in.Invalid, faults.Err(), command.Validate()); err != nil {
		return id.Plan{}, bus.Result{}, err
	}
	done, err := u.Bus.Execute(ctx, command, asked.Meta)
	return command.PlanID, done, err
}

// RevisePlanInput has the new terms of a plan; nil leaves a term as it is. Code and currency can never be changed.
type RevisePlanInput struct {
	PlanID    id.Plan
	Name      *string
	Kind      *string
	Price     *usecases.Figure // in the plan's currency
	Mode      *events.BillingMode
	Period    *calendar.Period
	Anchor    *int
	Late      *events.LateRenewal
	Partial   *events.PartialPayment
	Suspended *events.SuspendedBilling
	Rates     *events.Rates
	Access    AccessChange
}

// Revise makes the next version of a plan; subscriptions keep theirs. Two changes of different terms at one moment both
// count. A repeat, and terms that a plan already has, make no version. Fails: plan_not_found, plan_archived,
// invalid_input, stale_revision, concurrent_change.
func (u Plans) Revise(ctx context.Context, asked usecases.Asked, in RevisePlanInput) (bus.Result, error) {
	var faults failure.Faults
	if err := u.checkPolicy(ctx, asked.Org(), in.Access.DunningPolicy, &faults); err != nil {
		return bus.Result{}, err
	}
	return usecases.Amend(ctx, u.Bus, asked, in.PlanID, func(present subscribers.Plan) (commands.Command, error) {
		terms, err := in.onto(present.Terms)
		return commands.RevisePlan{PlanID: in.PlanID, Terms: terms}, failure.JoinFaults(faults.Err(), err)
	})
}

// onto applies the change to the present terms.
func (in RevisePlanInput) onto(t events.PlanTerms) (events.PlanTerms, error) {
	var faults failure.Faults
	if in.Name != nil {
		t.Name = inputtext.Text(*in.Name)
	}
	if in.Price != nil {
		faults.Check(*in.Price != "", "price", "must be a number")
		t.Price = in.Price.In(t.Price.Currency, "price", &faults)
	}
	t.Kind, t.Mode = null.Or(in.Kind, t.Kind), null.Or(in.Mode, t.Mode)
	t.Period, t.Rates = null.Or(in.Period, t.Period), null.Or(in.Rates, t.Rates)
	t.AnchorDay, t.LateRenewal = null.Or(in.Anchor, t.AnchorDay), null.Or(in.Late, t.LateRenewal)
	t.PartialPayment = null.Or(in.Partial, t.PartialPayment)
	t.BillWhileSuspended = null.Or(in.Suspended, t.BillWhileSuspended)
	t.Access = in.Access.onto(t.Access, &faults)
	return t, faults.Err()
}
