package billingapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// Corrections serves /reports/corrections (docs/rules/approvals.md#report-of-corrections).
type Corrections struct {
	Cases billingcases.Corrections
}

// Routes lists the endpoint.
func (a Corrections) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/reports/corrections", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
		Summary: "What members of the staff gave away by refunds, write-offs, reversals and credits",
		Query: []httpapi.Param{
			{Name: "from", Type: "date", Doc: "first day, in the organization's zone; the last one when absent"},
			{Name: "to", Type: "date", Doc: "last day; today when absent; at most 366 days in all"},
		},
		Response: correctionsResponse{}, Handle: a.report,
	}}
}

// actKind is one of events.ActKinds.
type actKind string

// Texts implements httpapi.Enumerated.
func (actKind) Texts() []string { return events.ActKinds() }

// correctionsResponse sums up acts by day, member of staff and kind. Amounts are in major units.
type correctionsResponse struct {
	From     calendar.Date    `json:"from"`
	To       calendar.Date    `json:"to"`
	Currency money.Currency   `json:"currency"`
	Rows     []correctionRow  `json:"rows" doc:"the newest day first"`
	Totals   correctionTotals `json:"totals"`
}

// correctionRow has the acts of a kind that a member of the staff did on a day.
type correctionRow struct {
	Date     calendar.Date  `json:"date"`
	UserID   *id.User       `json:"userId" doc:"who did it, or asked a second person; null: not known"`
	Name     *string        `json:"name" doc:"null: no member of the organization, or forgotten"`
	Kind     actKind        `json:"kind"`
	Count    int            `json:"count"`
	Sum      httpapi.Number `json:"sum"`
	Approved int            `json:"approved" doc:"of count: those to which a second person agreed"`
}

// correctionTotals are over all rows.
type correctionTotals struct {
	correctionSum
	Kinds []correctionOfKind `json:"kinds"`
}

// correctionSum sums up acts.
type correctionSum struct {
	Count    int            `json:"count"`
	Sum      httpapi.Number `json:"sum"`
	Approved int            `json:"approved"`
}

// correctionOfKind sums up the acts of one kind.
type correctionOfKind struct {
	Kind actKind `json:"kind"`
	correctionSum
}

// report answers with the sums as the read model shows them now.
func (a Corrections) report(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	in := billingcases.CollectionsInput{From: f.Date("from"), To: f.Date("to")}
	if err := f.Err(); err != nil {
		return err
	}
	r, err := a.Cases.Report(ctx, c.Org.ID, in)
	if err != nil {
		return err
	}
	return c.Send(200, showCorrections(r))
}

// showCorrections writes amounts in major units; no list is null.
func showCorrections(r billingcases.CorrectionsReport) correctionsResponse {
	sum := func(s billingcases.CorrectionSum) correctionSum {
		return correctionSum{Count: s.Count, Sum: money.Of(s.SumMinor, r.Currency).Number(), Approved: s.Approved}
	}
	out := correctionsResponse{
		From: r.From, To: r.To, Currency: r.Currency, Rows: []correctionRow{},
		Totals: correctionTotals{correctionSum: sum(r.All), Kinds: []correctionOfKind{}},
	}
	for _, row := range r.Rows {
		out.Rows = append(out.Rows, correctionRow{
			Date: row.Date(), UserID: null.Of(row.UserID), Name: null.Of(r.Names[row.UserID]), Kind: actKind(row.Kind),
			Count: row.Count, Sum: money.Of(row.SumMinor, r.Currency).Number(), Approved: row.Approved,
		})
	}
	for _, kind := range r.Kinds {
		out.Totals.Kinds = append(out.Totals.Kinds, correctionOfKind{actKind(kind.Kind), sum(kind)})
	}
	return out
}
