package subscribersapi

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Plans serves /plans.
type Plans struct {
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
			Summary: "Keep new subscriptions off a plan", Request: httpapi.OptionalReasonRequest{},
			Response: planResponse{}, Handle: a.archive,
		},
	}
}

// planRates are speeds in kbit/s.
type planRates struct {
	Down  int64 `json:"down"`
	Up    int64 `json:"up"`
	Burst int64 `json:"burst,omitempty"`
}

// planBilling is when a plan is paid.
type planBilling struct {
	Mode   string `json:"mode" enum:"prepaid,postpaid"`
	Period string `json:"period" enum:"hour,day,week,month"`
	Anchor string `json:"anchor,omitempty" enum:"anniversary" doc:"periods return to the day on which the first began; fixed billing days need proration"`
}

// planRequest is api.md's body of POST /plans.
type planRequest struct {
	Code     string         `json:"code"`
	Name     string         `json:"name"`
	Kind     string         `json:"kind" enum:"pppoe,hotspot"`
	Price    httpapi.Amount `json:"price"`
	Currency string         `json:"currency,omitempty" doc:"the organization's; another is refused"`
	Billing  planBilling    `json:"billing"`
	Rates    planRates      `json:"rates"`
}

// planPatch changes what is given; code and currency stay.
type planPatch struct {
	Name    *string         `json:"name,omitempty"`
	Kind    *string         `json:"kind,omitempty" enum:"pppoe,hotspot"`
	Price   *httpapi.Amount `json:"price,omitempty"`
	Billing *planBilling    `json:"billing,omitempty"`
	Rates   *planRates      `json:"rates,omitempty"`
}

// planResponse is a plan as api.md shows it.
type planResponse struct {
	ID        id.Plan        `json:"id"`
	Code      string         `json:"code"`
	Name      string         `json:"name"`
	Version   int            `json:"version"`
	Kind      string         `json:"kind"`
	Price     httpapi.Number `json:"price"`
	Currency  money.Currency `json:"currency"`
	Billing   planBilling    `json:"billing"`
	Rates     planRates      `json:"rates"`
	Archived  bool           `json:"archived"`
	CreatedAt time.Time      `json:"createdAt"`
}

// showPlan is a row as the API shows it.
func showPlan(r subscribersviews.PlanRow) planResponse {
	t := r.Terms
	return planResponse{
		ID: r.ID, Code: r.Code, Name: t.Name, Version: r.Version, Kind: t.Kind, Price: t.Price.Number(),
		Currency: t.Price.Currency,
		Billing:  planBilling{Mode: string(t.Mode), Period: string(t.Period), Anchor: "anniversary"},
		Rates:    planRates(t.Rates), Archived: r.Archived, CreatedAt: r.CreatedAt,
	}
}

// create makes a plan in the organization's currency.
func (a Plans) create(ctx context.Context, c *httpapi.Call) error {
	in, invalid, err := httpapi.DecodeLoosely[planRequest](c)
	if err != nil {
		return err
	}
	settings, err := usecases.BillingSettings(ctx, a.Bus, c.Org.ID)
	if err != nil {
		return err
	}
	var faults failure.Faults
	faults.Check(in.Currency == "" || in.Currency == string(settings.Currency), "currency",
		"must be the organization's, %s", settings.Currency)
	command := commands.CreatePlan{
		PlanID: usecases.NewID[id.Plan](c.Asked(), "plan"), OrgID: c.Org.ID, Code: in.Code, Terms: events.PlanTerms{
			Name: strings.TrimSpace(in.Name), Kind: in.Kind, Price: in.Price.In(settings.Currency, "price", &faults),
			Mode: events.BillingMode(in.Billing.Mode), Period: calendar.Period(in.Billing.Period),
			Rates: events.Rates(in.Rates),
		},
	}
	if err := failure.JoinFaults(invalid, faults.Err(), command.Validate()); err != nil {
		return err
	}
	done, err := a.Bus.Execute(ctx, command, c.Meta())
	if err != nil {
		return err
	}
	return a.show(ctx, c, 201, command.PlanID, done)
}

// show answers with the plan once the read side has the write.
func (a Plans) show(ctx context.Context, c *httpapi.Call, status int, plan id.Plan, done bus.Result) error {
	v := httpapi.Visible{Projection: subscribersviews.PlansName, ID: plan.String(), Result: done}
	return httpapi.SendVisible(ctx, c, status, v, func(ctx context.Context) (planResponse, error) {
		row, err := a.Plans.Get(ctx, c.Org.ID, plan)
		if err != nil || row == nil {
			return planResponse{}, cmp.Or(err, commands.ErrNoPlan())
		}
		return showPlan(*row), nil
	})
}

// list answers with a page of plans.
func (a Plans) list(ctx context.Context, c *httpapi.Call) error {
	page, err := httpapi.PageOf[subscribersviews.PlanKey](c)
	if err != nil {
		return err
	}
	rows, err := a.Plans.List(ctx, c.Org.ID, null.Zero(page.After), page.Fetch())
	if err != nil {
		return err
	}
	return httpapi.SendPage(c, page, rows, func(r subscribersviews.PlanRow) subscribersviews.PlanKey {
		return subscribersviews.PlanKey{CreatedAt: r.CreatedAt, ID: r.ID}
	}, showPlan)
}

// get answers with one plan.
func (a Plans) get(ctx context.Context, c *httpapi.Call) error {
	plan, err := httpapi.PathID[id.Plan](c, "id", commands.ErrNoPlan)
	if err != nil {
		return err
	}
	row, err := a.Plans.Get(ctx, c.Org.ID, plan)
	if err != nil || row == nil {
		return cmp.Or(err, commands.ErrNoPlan())
	}
	c.SetRevision(uint64(row.Revision))
	return c.Send(200, showPlan(*row))
}

// change makes the next version; subscriptions keep theirs.
func (a Plans) change(ctx context.Context, c *httpapi.Call) error {
	plan, err := httpapi.PathID[id.Plan](c, "id", commands.ErrNoPlan)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[planPatch](c)
	if err != nil {
		return err
	}
	done, err := usecases.Amend(ctx, a.Bus, c.Asked(), plan, func(present subscribers.Plan) (commands.Command, error) {
		if present.Owner != c.Org.ID {
			return nil, commands.ErrNoPlan()
		}
		terms, err := in.onto(present.Terms)
		return commands.RevisePlan{PlanID: plan, Terms: terms}, err
	})
	if err != nil {
		return err
	}
	return a.show(ctx, c, 200, plan, done)
}

// onto is the terms with what the patch gives.
func (p planPatch) onto(t events.PlanTerms) (events.PlanTerms, error) {
	var faults failure.Faults
	if p.Name != nil {
		t.Name = strings.TrimSpace(*p.Name)
	}
	if p.Kind != nil {
		t.Kind = *p.Kind
	}
	if p.Price != nil {
		t.Price = p.Price.In(t.Price.Currency, "price", &faults)
	}
	if p.Billing != nil {
		t.Mode, t.Period = events.BillingMode(p.Billing.Mode), calendar.Period(p.Billing.Period)
	}
	if p.Rates != nil {
		t.Rates = events.Rates(*p.Rates)
	}
	return t, faults.Err()
}

// archive keeps new subscriptions off a plan.
func (a Plans) archive(ctx context.Context, c *httpapi.Call) error {
	plan, err := httpapi.PathID[id.Plan](c, "id", commands.ErrNoPlan)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[httpapi.OptionalReasonRequest](c)
	if err != nil {
		return err
	}
	meta := c.Meta()
	meta.Reason = in.Reason
	done, err := a.Bus.Execute(ctx, commands.ArchivePlan{PlanID: plan, Reason: in.Reason}, meta)
	if err != nil {
		return err
	}
	return a.show(ctx, c, 200, plan, done)
}
