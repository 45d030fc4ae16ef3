// Package subscribersapi serves subscribers, their timelines, plans and subscriptions.
package subscribersapi

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// Plans serves /plans.
type Plans struct {
	Cases subscriberscases.Plans
	Moves subscriberscases.PlanMoves
	Bus   *bus.Bus
	Plans subscribersviews.PlansQuery
}

// Routes lists the endpoints of plans.
func (a Plans) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: "/plans", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Create a plan", Request: planRequest{}, Response: planResponse{}, Status: 201, Handle: a.create,
		},
		{
			Method: "GET", Path: "/plans", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "List plans", Row: planResponse{}, Handle: a.list,
			Query: []httpapi.Param{{Name: "archived", Type: "boolean", Doc: "all plans when absent"}},
		},
		{
			Method: "GET", Path: "/plans/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Read a plan", Response: planResponse{}, Handle: a.get,
		},
		{
			Method: "PATCH", Path: "/plans/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Make the next version of a plan", Request: planPatch{}, Response: planResponse{},
			Handle: a.change,
		},
		{
			Method: "POST", Path: "/plans/:id/archive", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Keep new subscriptions off a plan", Request: httpapi.ArchiveRequest{},
			Response: planResponse{}, Handle: a.archive,
		},
		{
			Method: "POST", Path: "/plans/:id/move", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Move all customers of a plan to its newest version, each with the next period",
			Request: planMoveRequest{}, Response: httpapi.Accepted{}, Status: 202, Handle: a.move,
		},
	}
}

// planBilling says when a plan is paid, and how long one payment lasts.
type planBilling struct {
	Mode   string        `json:"mode" enum:"prepaid,postpaid"`
	Period string        `json:"period" enum:"hour,day,week,month,quarter,year"`
	Anchor billingAnchor `json:"anchor,omitempty" doc:"a day from 1 to 28 for months alone; anniversary when absent"`
}

// showBilling writes the terms of billing.
func showBilling(t events.PlanTerms) planBilling {
	return planBilling{Mode: string(t.Mode), Period: string(t.Period), Anchor: anchorOf(t.AnchorDay)}
}

// billingAnchor says on which day the periods of a plan end: "anniversary" (on the day on which the first one began),
// or a day of the month.
type billingAnchor string

// anniversary is the anchor of periods that keep their own first day.
const anniversary billingAnchor = "anniversary"

// anchorOf writes a billing day; 0 is the anniversary.
func anchorOf(day int) billingAnchor {
	if day == 0 {
		return anniversary
	}
	return billingAnchor(strconv.Itoa(day))
}

// day is the billing day, 0 for the anniversary. A text that is none of Texts is -1, which no plan may have.
func (a billingAnchor) day() int {
	if a == "" {
		return 0
	}
	return slices.Index(a.Texts(), string(a))
}

// Texts implements httpapi.Enumerated: the anniversary, then each day at its own index.
func (billingAnchor) Texts() []string {
	texts := make([]string, commands.MaxBillingDay+1)
	for day := range texts {
		texts[day] = string(anchorOf(day))
	}
	return texts
}

// planRequest is the body of POST /plans (docs/rules/subscribers.md#plan-fields).
type planRequest struct {
	Code      string         `json:"code"`
	Name      string         `json:"name"`
	Kind      string         `json:"kind" enum:"pppoe,hotspot"`
	Price     httpapi.Amount `json:"price"`
	Currency  string         `json:"currency,omitempty" doc:"the organization's; another is refused"`
	Billing   planBilling    `json:"billing"`
	Late      string         `json:"lateRenewal,omitempty" enum:"payment,expiry" doc:"payment when absent"`
	Partial   string         `json:"partialPayment,omitempty" enum:"credit,days" doc:"credit when absent"`
	Suspended string         `json:"billWhileSuspended,omitempty" enum:"yes,no,days" doc:"yes when absent"`
	Rates     planRates      `json:"rates"`
	planAccess
}

// planPatch changes the fields that are given; code and currency never change.
type planPatch struct {
	Name      *string         `json:"name,omitempty"`
	Kind      *string         `json:"kind,omitempty" enum:"pppoe,hotspot"`
	Price     *httpapi.Amount `json:"price,omitempty"`
	Billing   *planBilling    `json:"billing,omitempty"`
	Late      *string         `json:"lateRenewal,omitempty" enum:"payment,expiry"`
	Partial   *string         `json:"partialPayment,omitempty" enum:"credit,days"`
	Suspended *string         `json:"billWhileSuspended,omitempty" enum:"yes,no,days"`
	Rates     *planRates      `json:"rates,omitempty" doc:"replaces the present ones, burst included"`
	planAccess
}

// planResponse is a plan as the API shows it (docs/rules/subscribers.md#plan-fields).
type planResponse struct {
	ID        id.Plan        `json:"id"`
	Code      string         `json:"code"`
	Name      string         `json:"name"`
	Version   int            `json:"version"`
	Kind      string         `json:"kind" enum:"pppoe,hotspot"`
	Price     httpapi.Number `json:"price"`
	Currency  money.Currency `json:"currency"`
	Billing   planBilling    `json:"billing"`
	Late      string         `json:"lateRenewal" enum:"payment,expiry"`
	Partial   string         `json:"partialPayment" enum:"credit,days"`
	Suspended string         `json:"billWhileSuspended" enum:"yes,no,days"`
	Rates     planRates      `json:"rates"`
	planAccess
	Archived  bool          `json:"archived"`
	CreatedAt time.Time     `json:"createdAt"`
	Versions  []planVersion `json:"versions" doc:"that somebody has, the newest first"`
}

// planVersion counts the customers who have a version of a plan. Who has ended it does not count.
type planVersion struct {
	Version   int `json:"version"`
	Customers int `json:"customers"`
}

// soldPlan is a plan with the versions of it that customers have.
type soldPlan struct {
	subscribersviews.PlanRow
	versions []subscribersviews.VersionCustomers
}

// sold counts the customers of all rows with one statement.
func (a Plans) sold(
	ctx context.Context, org id.Organization, rows []subscribersviews.PlanRow,
) ([]soldPlan, error) {
	plans := make([]id.Plan, len(rows))
	for i, r := range rows {
		plans[i] = r.ID
	}
	versions, err := subscribersviews.SubscriptionsQuery{Views: a.Plans.Views}.CustomersByVersion(ctx, org, plans)
	if err != nil {
		return nil, err
	}
	out := make([]soldPlan, len(rows))
	for i, r := range rows {
		out[i] = soldPlan{PlanRow: r, versions: versions[r.ID]}
	}
	return out, nil
}

// showPlan writes the terms of the newest version.
func showPlan(r soldPlan) planResponse {
	t := r.Terms
	out := planResponse{
		ID: r.ID, Code: r.Code, Name: t.Name, Version: r.Version, Kind: t.Kind, Price: t.Price.Number(),
		Currency:  t.Price.Currency,
		Billing:   showBilling(t),
		Late:      string(t.LateRenewal.WithDefault()),
		Partial:   string(t.PartialPayment.WithDefault()),
		Suspended: string(t.BillWhileSuspended.WithDefault()),
		Rates:     showRates(t.Rates.Down, t.Rates.Up, t.Access.Burst), planAccess: showAccessTerms(t.Access),
		Archived: r.Archived, CreatedAt: r.CreatedAt, Versions: make([]planVersion, len(r.versions)),
	}
	for i, v := range r.versions {
		out.Versions[i] = planVersion{Version: v.Version, Customers: v.Customers}
	}
	return out
}

// create makes a plan. Faults of the form and those that the use case finds are reported together.
func (a Plans) create(ctx context.Context, c *httpapi.Call) error {
	in, invalid, err := httpapi.DecodeLoosely[planRequest](c)
	if err != nil {
		return err
	}
	plan, done, err := a.Cases.Create(ctx, c.Asked(), subscriberscases.CreatePlanInput{
		Code: in.Code, Name: in.Name, Kind: in.Kind, Price: in.Price.Figure(), Currency: money.Currency(in.Currency),
		Mode: events.BillingMode(in.Billing.Mode), Period: calendar.Period(in.Billing.Period),
		Anchor: in.Billing.Anchor.day(),
		Late:   events.LateRenewal(in.Late), Partial: events.PartialPayment(in.Partial),
		Suspended: events.SuspendedBilling(in.Suspended),
		Rates:     events.Rates{Down: in.Rates.Down, Up: in.Rates.Up}, Access: in.change(&in.Rates), Invalid: invalid,
	})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 201, a.one(), plan, done)
}

// one describes how a plan is read and shown.
func (a Plans) one() httpapi.One[id.Plan, soldPlan, planResponse] {
	return httpapi.One[id.Plan, soldPlan, planResponse]{
		Model: subscribersviews.PlansName, Missing: commands.ErrNoPlan, Show: showPlan,
		Read: func(ctx context.Context, org id.Organization, plan id.Plan) (*soldPlan, error) {
			row, err := a.Plans.Get(ctx, org, plan)
			if err != nil || row == nil {
				return nil, err
			}
			sold, err := a.sold(ctx, org, []subscribersviews.PlanRow{*row})
			if err != nil {
				return nil, err
			}
			return &sold[0], nil
		},
		Revision: func(r soldPlan) int64 { return r.Revision },
	}
}

// list answers with a page of plans, newest first.
func (a Plans) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	archived := f.Bool("archived")
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showPlan, func(
		ctx context.Context, after subscribersviews.PlanKey, max int,
	) ([]soldPlan, error) {
		rows, err := a.Plans.List(ctx, c.Org.ID, archived, after, max)
		if err != nil {
			return nil, err
		}
		return a.sold(ctx, c.Org.ID, rows)
	})
}

// get answers with one plan.
func (a Plans) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one())
}

// change makes the next version of a plan; subscriptions keep theirs.
func (a Plans) change(ctx context.Context, c *httpapi.Call) error {
	plan, err := httpapi.PathID[id.Plan](c, "id", commands.ErrNoPlan)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[planPatch](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.Revise(ctx, c.Asked(), in.emptied(c.Nulls()).revision(plan))
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), plan, done)
}

// emptied removes the terms that are given as null. What a plan cannot be without becomes empty, which the use case
// refuses.
func (p planPatch) emptied(nulls map[string]bool) planPatch {
	p.Name, p.Kind = httpapi.Emptied(p.Name, nulls["name"]), httpapi.Emptied(p.Kind, nulls["kind"])
	p.Price, p.Billing = httpapi.Emptied(p.Price, nulls["price"]), httpapi.Emptied(p.Billing, nulls["billing"])
	p.Late, p.Rates = httpapi.Emptied(p.Late, nulls["lateRenewal"]), httpapi.Emptied(p.Rates, nulls["rates"])
	p.Partial = httpapi.Emptied(p.Partial, nulls["partialPayment"])
	p.Suspended = httpapi.Emptied(p.Suspended, nulls["billWhileSuspended"])
	p.OnLimit, p.Pool = httpapi.Emptied(p.OnLimit, nulls["onLimit"]), httpapi.Emptied(p.Pool, nulls["pool"])
	p.IPv6, p.Cap = httpapi.Emptied(p.IPv6, nulls["ipv6"]), httpapi.Emptied(p.Cap, nulls["cap"])
	p.Schedule = httpapi.Emptied(p.Schedule, nulls["schedule"])
	p.DunningPolicy = httpapi.Emptied(p.DunningPolicy, nulls["dunningPolicy"])
	if nulls["sessionLimit"] {
		p.SessionLimit = new(events.AccessTerms{}.WithDefaults().SessionLimit)
	}
	return p
}

// revision is the patch in the form of the use case.
func (p planPatch) revision(plan id.Plan) subscriberscases.RevisePlanInput {
	in := subscriberscases.RevisePlanInput{
		PlanID: plan, Name: p.Name, Kind: p.Kind, Late: (*events.LateRenewal)(p.Late),
		Partial: (*events.PartialPayment)(p.Partial), Suspended: (*events.SuspendedBilling)(p.Suspended),
		Access: p.change(p.Rates),
	}
	if p.Rates != nil {
		in.Rates = &events.Rates{Down: p.Rates.Down, Up: p.Rates.Up}
	}
	if p.Price != nil {
		in.Price = new(p.Price.Figure())
	}
	if p.Billing != nil {
		in.Mode = new(events.BillingMode(p.Billing.Mode))
		in.Period = new(calendar.Period(p.Billing.Period))
		in.Anchor = new(p.Billing.Anchor.day())
	}
	return in
}

// archive keeps new subscriptions off a plan; present ones go on.
func (a Plans) archive(ctx context.Context, c *httpapi.Call) error {
	plan, err := httpapi.PathID[id.Plan](c, "id", commands.ErrNoPlan)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[httpapi.ArchiveRequest](c)
	if err != nil {
		return err
	}
	meta := c.Meta()
	meta.Reason = in.Reason
	done, err := a.Bus.Execute(ctx, commands.ArchivePlan{PlanID: plan, Reason: in.Reason}, meta)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), plan, done)
}
