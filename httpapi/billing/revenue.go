package billingapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// Revenue serves /reports/revenue.
type Revenue struct {
	Cases billingcases.Revenue
}

// reportDays are the parameters of a report about a time.
func reportDays(table string) []httpapi.Param {
	return []httpapi.Param{
		{Name: "from", Type: "date", Doc: "first day, in the organization's zone; that of the month of to when absent"},
		{Name: "to", Type: "date", Doc: "last day, not in the future; today when absent; at most 366 days in all"},
		{Name: "format", Type: "string", Enum: formats, Doc: "csv: a table with " + table + ", as text/csv"},
	}
}

// Routes lists the endpoint.
func (a Revenue) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/reports/revenue", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
		Summary: "What was earned, by day or month and by plan", Response: revenueResponse{}, Handle: a.report,
		Query: reportDays("a row for each period and plan"),
	}}
}

// revenueResponse tells what was earned in a time (docs/rules/money.md#recognised-revenue). Amounts are in major units.
type revenueResponse struct {
	From     calendar.Date   `json:"from"`
	To       calendar.Date   `json:"to"`
	Currency money.Currency  `json:"currency"`
	By       string          `json:"by" enum:"day,month" doc:"the periods are days up to 31 of them, else months"`
	Earned   earnedShape     `json:"earned" doc:"in all periods"`
	Deferred earnedShape     `json:"deferred" doc:"invoiced, and paid where that counts, but not yet earned at the end"`
	Losses   httpapi.Number  `json:"losses" doc:"written off, less recovered, with tax; not subtracted"`
	Vouchers httpapi.Number  `json:"vouchers" doc:"sold, at their price; not in earned, since their tax is not known"`
	Periods  []revenuePeriod `json:"periods" doc:"every one, oldest first"`
	Plans    []revenuePlan   `json:"plans" doc:"those with revenue, the largest first"`
}

// earnedShape is revenue with and without its tax.
type earnedShape struct {
	Net   httpapi.Number `json:"net" doc:"without tax"`
	Tax   httpapi.Number `json:"tax"`
	Total httpapi.Number `json:"total" doc:"with tax"`
}

// revenuePeriod tells what was earned on one day, or in one month as far as it was asked for.
type revenuePeriod struct {
	From calendar.Date `json:"from"`
	To   calendar.Date `json:"to"`
	earnedShape
	Losses   httpapi.Number `json:"losses"`
	Vouchers httpapi.Number `json:"vouchers"`
}

// revenuePlan tells what was earned by one plan.
type revenuePlan struct {
	PlanID *id.Plan `json:"planId" doc:"null: sold beside plans, by invoices made by hand"`
	Name   *string  `json:"name" doc:"null: no plan, or not known"`
	earnedShape
}

// report answers with the sums as the read model shows them now.
func (a Revenue) report(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	in := billingcases.ReportDays{From: f.Date("from"), To: f.Date("to")}
	format := f.OneOf("format", formats...)
	if err := f.Err(); err != nil {
		return err
	}
	r, err := a.Cases.Report(ctx, c.Org.ID, in)
	if err != nil {
		return err
	}
	if format == "csv" {
		return sendRevenue(c, r)
	}
	return c.Send(200, showRevenue(r))
}

// showRevenue writes amounts in major units; no list is null.
func showRevenue(r billingcases.RevenueReport) revenueResponse {
	out := revenueResponse{
		From: r.From, To: r.To, Currency: r.Currency, By: "month", Earned: showEarned(r.All),
		Deferred: showEarned(r.Deferred), Losses: r.Losses.Number(), Vouchers: r.Vouchers.Number(),
		Periods: make([]revenuePeriod, len(r.Periods)), Plans: make([]revenuePlan, len(r.Plans)),
	}
	if r.ByDay {
		out.By = "day"
	}
	for i, p := range r.Periods {
		out.Periods[i] = revenuePeriod{
			From: p.From, To: p.To, earnedShape: showEarned(p.Earned), Losses: p.Losses.Number(),
			Vouchers: p.Vouchers.Number(),
		}
	}
	for i, p := range r.Plans {
		out.Plans[i] = revenuePlan{null.Of(p.PlanID), null.Of(p.Name), showEarned(p.Earned)}
	}
	return out
}

// showEarned writes revenue in major units.
func showEarned(e billingcases.Earned) earnedShape {
	return earnedShape{e.Net.Number(), e.Tax.Number(), e.Gross().Number()}
}

// sendRevenue answers with a table: a row for each period and plan, and one for each period with what stands beside.
func sendRevenue(c *httpapi.Call, r billingcases.RevenueReport) error {
	none := money.Of(0, r.Currency).Decimal()
	var rows [][]string
	for _, p := range r.Parts {
		plan := ""
		if !p.PlanID.IsZero() {
			plan = p.PlanID.String()
		}
		in := r.Periods[p.Period]
		rows = append(rows, []string{
			in.From.String(), in.To.String(), plan, p.Name, p.Net.Decimal(), p.Tax.Decimal(), p.Gross().Decimal(),
			string(r.Currency), none, none,
		})
	}
	for _, p := range r.Periods {
		if p.Losses.IsZero() && p.Vouchers.IsZero() {
			continue
		}
		rows = append(rows, []string{
			p.From.String(), p.To.String(), "", "", none, none, none, string(r.Currency), p.Losses.Decimal(),
			p.Vouchers.Decimal(),
		})
	}
	return c.SendCSV("revenue-"+r.From.String()+"-"+r.To.String()+".csv", []string{
		"from", "to", "planId", "plan", "net", "tax", "total", "currency", "losses", "vouchers",
	}, rows)
}
