package billingapi

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// Churn serves /reports/churn.
type Churn struct {
	Cases billingcases.Churn
}

// Routes lists the endpoint.
func (a Churn) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/reports/churn", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
		Summary: "Who came and left, by month, and what an average subscription brings", Response: churnResponse{},
		Query: reportDays("a row for each month"), Handle: a.report,
	}}
}

// churnResponse tells who came and left (docs/rules/money.md#churn). Amounts are in major units.
type churnResponse struct {
	Currency money.Currency `json:"currency"`
	churnPeriod
	Months []churnPeriod `json:"months" doc:"every month, as far as it was asked for, oldest first"`
}

// churnPeriod tells who came and left in a time.
type churnPeriod struct {
	From          calendar.Date  `json:"from"`
	To            calendar.Date  `json:"to"`
	Customers     churnMoves     `json:"customers"`
	Subscriptions churnMoves     `json:"subscriptions" doc:"none of them returns"`
	Reasons       []churnReason  `json:"reasons" doc:"why subscriptions ended, the most frequent first"`
	Revenue       httpapi.Number `json:"revenue" doc:"recognised, without tax"`
	// AverageSubscriptions has one decimal.
	AverageSubscriptions   httpapi.Number  `json:"averageSubscriptions" doc:"over the time that has gone by"`
	RevenuePerSubscription *httpapi.Number `json:"revenuePerSubscription" doc:"in the whole time; null: there was none"`
}

// churnMoves count those who came and left: atStart + new + returned - ended = atEnd.
type churnMoves struct {
	AtStart   int             `json:"atStart" doc:"with takenOver"`
	TakenOver int             `json:"takenOver" doc:"of atStart, who came from another system in this time"`
	New       int             `json:"new"`
	Returned  int             `json:"returned" doc:"who had left, and came back a day later or more"`
	Ended     int             `json:"ended"`
	AtEnd     int             `json:"atEnd"`
	Rate      *httpapi.Number `json:"rate" doc:"percent of atStart that ended; null: there was nobody"`
}

// churnReason is a reason that was given for the end of subscriptions.
type churnReason struct {
	Reason *string `json:"reason" doc:"null: none, or forgotten"`
	Count  int     `json:"count"`
}

// report answers with the counts as the read models show them now.
func (a Churn) report(ctx context.Context, c *httpapi.Call) error {
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
		return sendChurn(c, r)
	}
	out := churnResponse{
		Currency: r.Currency, churnPeriod: showChurn(r.All), Months: make([]churnPeriod, len(r.Periods)),
	}
	for i, p := range r.Periods {
		out.Months[i] = showChurn(p)
	}
	return c.Send(200, out)
}

// showChurn writes amounts in major units; no list is null.
func showChurn(p billingcases.ChurnPeriod) churnPeriod {
	out := churnPeriod{
		From: p.From, To: p.To, Customers: showMoves(p.Customers), Subscriptions: showMoves(p.Subscriptions),
		Reasons: make([]churnReason, len(p.Reasons)), Revenue: p.Revenue.Number(), AverageSubscriptions: average(p),
	}
	if per, known := p.PerSubscription(); known {
		number := per.Number()
		out.RevenuePerSubscription = &number
	}
	for i, r := range p.Reasons {
		out.Reasons[i] = churnReason{null.Of(r.Reason), r.Count}
	}
	return out
}

// average writes tenths with one decimal.
func average(p billingcases.ChurnPeriod) httpapi.Number {
	n := p.AverageTenths()
	return json.Number(fmt.Sprintf("%d.%d", n/10, n%10))
}

// showMoves adds the rate.
func showMoves(m billingcases.Moves) churnMoves {
	out := churnMoves{
		AtStart: m.AtStart, TakenOver: m.TakenOver, New: m.New, Returned: m.Returned, Ended: m.Ended, AtEnd: m.AtEnd,
	}
	if rate, known := m.ChurnRate(); known {
		percent := httpapi.Percent(rate)
		out.Rate = &percent
	}
	return out
}

// sendChurn answers with a row for each month.
func sendChurn(c *httpapi.Call, r billingcases.ChurnReport) error {
	header := []string{"from", "to"}
	for _, of := range []string{"customers", "subscriptions"} {
		for _, what := range []string{"AtStart", "New", "Returned", "Ended", "AtEnd", "Rate", "TakenOver"} {
			header = append(header, of+what)
		}
	}
	header = append(header, "averageSubscriptions", "revenue", "revenuePerSubscription", "currency")
	rows := make([][]string, len(r.Periods))
	for i, p := range r.Periods {
		shown := showChurn(p)
		rows[i] = []string{p.From.String(), p.To.String()}
		for _, m := range []churnMoves{shown.Customers, shown.Subscriptions} {
			for _, n := range []int{m.AtStart, m.New, m.Returned, m.Ended, m.AtEnd} {
				rows[i] = append(rows[i], strconv.Itoa(n))
			}
			rows[i] = append(rows[i], string(null.Zero(m.Rate)), strconv.Itoa(m.TakenOver))
		}
		rows[i] = append(rows[i], string(shown.AverageSubscriptions), string(shown.Revenue),
			string(null.Zero(shown.RevenuePerSubscription)), string(r.Currency))
	}
	return c.SendCSV("churn-"+r.From.String()+"-"+r.To.String()+".csv", header, rows)
}
