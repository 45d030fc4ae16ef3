package paymentsapi

import (
	"context"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// Settlement serves /reports/settlement.
type Settlement struct{ Cases paymentscases.Settlement }

// Routes lists the endpoints.
func (a Settlement) Routes() []httpapi.Route {
	date := httpapi.Param{
		Name: "date", Type: "date", Doc: "in East Africa Time; yesterday, the last day that is over, when absent",
	}
	to := httpapi.Param{Name: "to", Type: "date", Doc: "the last day of up to 366; date alone when absent"}
	report := httpapi.Route{
		Method: "GET", Path: "/reports/settlement", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
		Summary:  "What the platform owes to organizations whose customers pay at its paybill, by day or span",
		Response: settlementResponse{}, Handle: a.report,
		Query: []httpapi.Param{date, to, {
			Name: "format", Type: "string", Enum: []string{"json", "csv"},
			Doc: "csv: a table with a row for each organization, as text/csv",
		}},
	}
	receipts := httpapi.Route{
		Method: "GET", Path: "/reports/settlement/receipts", Hosts: httpapi.OnRoot,
		Access: httpapi.AccessSuperAdmin, Row: settlementPayment{}, Handle: a.receipts,
		Summary: "What the sums are made of, newest first",
		Query: []httpapi.Param{
			date, to, {Name: "orgId", Type: "uuid", Doc: "of one organization; of all when absent"},
		},
	}
	own, ownReceipts := report, receipts
	own.Hosts, own.Access = httpapi.OnOrganization, httpapi.AccessAdmin
	own.Summary = "What the platform owes to this organization, whose customers pay at its paybill, by day or span"
	ownReceipts.Hosts, ownReceipts.Access = httpapi.OnOrganization, httpapi.AccessAdmin
	ownReceipts.Query = []httpapi.Param{date, to}
	return []httpapi.Route{report, receipts, own, ownReceipts}
}

// settlementResponse tells what the platform owes for some days (docs/rules/money.md#settlement). Amounts are in major
// units.
type settlementResponse struct {
	Date          calendar.Date    `json:"date" doc:"the first one, in East Africa Time"`
	To            calendar.Date    `json:"to" doc:"the last one"`
	Currency      money.Currency   `json:"currency"`
	Total         httpapi.Number   `json:"total"`
	Count         int64            `json:"count" doc:"payments, less those taken back"`
	Organizations []owedToResponse `json:"organizations" doc:"those with money on the days, by their slug"`
}

// owedToResponse tells what one organization is owed.
type owedToResponse struct {
	OrgID     id.Organization `json:"orgId"`
	Slug      *string         `json:"slug" doc:"null: not known yet"`
	Name      *string         `json:"name" doc:"null: not known yet"`
	Amount    httpapi.Number  `json:"amount" doc:"received less takenBack"`
	Received  httpapi.Number  `json:"received" doc:"credited to accounts of the organization"`
	TakenBack httpapi.Number  `json:"takenBack" doc:"reversed, moved away or refunded"`
	Count     int64           `json:"count" doc:"payments, less those taken back"`
}

// settlementPayment is money of a payment that came to an account, or left it.
type settlementPayment struct {
	OrgID         id.Organization `json:"orgId"`
	At            time.Time       `json:"at"`
	ReceiptID     id.Receipt      `json:"receiptId"`
	ReceiptNumber *string         `json:"receiptNumber" doc:"null: not known when it was credited"`
	Amount        httpapi.Number  `json:"amount" doc:"negative when it was taken back"`
	Currency      money.Currency  `json:"currency"`
}

// report answers with the sums as the read model shows them now: on an organization's host with its own alone.
func (a Settlement) report(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	days, format := settledDays(f), f.OneOf("format", "json", "csv")
	if err := f.Err(); err != nil {
		return err
	}
	r, err := a.Cases.Of(ctx, c.Org.ID, days)
	if err != nil {
		return err
	}
	if format == "csv" {
		return sendSettlement(c, r)
	}
	out := settlementResponse{
		Date: r.Date, To: r.To, Currency: r.Currency, Total: r.All.Amount().Number(), Count: r.All.Count,
		Organizations: make([]owedToResponse, len(r.Orgs)),
	}
	for i, o := range r.Orgs {
		out.Organizations[i] = owedToResponse{
			OrgID: o.OrgID, Slug: null.Of(o.Slug), Name: null.Of(o.Name), Amount: o.Amount().Number(),
			Received: o.Came.Number(), TakenBack: o.Left.Number(), Count: o.Count,
		}
	}
	return c.Send(200, out)
}

// settledDays reads the days that are asked for.
func settledDays(f *httpapi.Filters) paymentscases.SettledDays {
	return paymentscases.SettledDays{Date: f.Date("date"), To: f.Date("to")}
}

// sendSettlement answers with a row for each organization.
func sendSettlement(c *httpapi.Call, r paymentscases.SettlementReport) error {
	rows := make([][]string, len(r.Orgs))
	for i, o := range r.Orgs {
		rows[i] = []string{
			r.Date.String(), r.To.String(), o.OrgID.String(), o.Slug, o.Name, o.Amount().Decimal(), o.Came.Decimal(),
			o.Left.Decimal(), string(r.Currency), strconv.FormatInt(o.Count, 10),
		}
	}
	name := "settlement-" + r.Date.String()
	if r.To != r.Date {
		name += "-" + r.To.String()
	}
	return c.SendCSV(name+".csv", []string{
		"date", "to", "orgId", "slug", "name", "amount", "received", "takenBack", "currency", "count",
	}, rows)
}

// receipts answers with a page of the rows behind a sum.
func (a Settlement) receipts(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	days, org := settledDays(f), httpapi.FilterID[id.Organization](f, "orgId") // the root host alone has orgId
	if err := f.Err(); err != nil {
		return err
	}
	if !c.Org.ID.IsZero() {
		org = c.Org.ID
	}
	return httpapi.SendList(ctx, c, showSettlementPayment, func(
		ctx context.Context, after paymentsviews.SettlementKey, max int,
	) ([]paymentsviews.SettlementRow, error) {
		return a.Cases.Rows(ctx, org, days, after, max)
	})
}

// showSettlementPayment writes the amount in major units.
func showSettlementPayment(r paymentsviews.SettlementRow) settlementPayment {
	return settlementPayment{
		OrgID: r.OrgID, At: r.At.UTC(), ReceiptID: r.ReceiptID, ReceiptNumber: null.Of(r.ReceiptNumber),
		Amount: money.Of(r.AmountMinor, r.Currency).Number(), Currency: r.Currency,
	}
}
