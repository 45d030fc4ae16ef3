package billingapi

import (
	"context"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// Ageing serves /reports/ageing.
type Ageing struct {
	Cases billingcases.Ageing
}

// Routes lists the endpoints of debts by age.
func (a Ageing) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/reports/ageing", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "What customers owe, by how long it has been due", Response: ageingResponse{},
			Query: []httpapi.Param{{
				Name: "format", Type: "string", Enum: formats,
				Doc: "csv: a table with a row for each customer, as text/csv",
			}},
			Codes: []string{"too_many_documents"}, Handle: a.report,
		},
		{
			Method: "GET", Path: "/reports/ageing/customers", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSupport, Summary: "Who owes, the largest debt first", Row: debtorResponse{},
			Query: []httpapi.Param{{
				Name: "bucket", Type: "string", Enum: billingviews.AgeBuckets,
				Doc: "only what has this age; all that is owed when absent",
			}},
			Handle: a.customers,
		},
	}
}

// formats are the values of the parameter format of reports.
var formats = []string{"json", "csv"}

// ageingResponse tells what customers owe now. Orders are not owed (docs/rules/billing.md#orders). Amounts are in major
// units.
type ageingResponse struct {
	AsOf      time.Time      `json:"asOf"`
	Date      calendar.Date  `json:"date" doc:"in the organization's zone; ages are counted up to it"`
	Currency  money.Currency `json:"currency"`
	Total     httpapi.Number `json:"total" doc:"due on all invoices; without current it is overdue in /reports/today"`
	Invoices  int            `json:"invoices"`
	Customers int            `json:"customers" doc:"each counts once"`
	Buckets   []ageBucket    `json:"buckets" doc:"every age, the youngest first"`
}

// ageBucket tells what is owed of one age.
type ageBucket struct {
	Name      ageName        `json:"name" doc:"days since it was due; current: not due before today"`
	Amount    httpapi.Number `json:"amount"`
	Invoices  int            `json:"invoices"`
	Customers int            `json:"customers" doc:"who may owe something of another age, too"`
}

// ageName is one of billingviews.AgeBuckets.
type ageName string

// Texts implements httpapi.Enumerated.
func (ageName) Texts() []string { return billingviews.AgeBuckets }

// debtorResponse tells what one customer owes, of the age that was asked for.
type debtorResponse struct {
	SubscriberID  id.Subscriber          `json:"subscriberId"`
	Subscriber    *httpapi.SubscriberRef `json:"subscriber" doc:"null: not known yet"`
	Amount        httpapi.Number         `json:"amount"`
	Currency      money.Currency         `json:"currency"`
	Invoices      int                    `json:"invoices"`
	OldestDueDate string                 `json:"oldestDueDate" doc:"YYYY-MM-DD"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *debtorResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(r.SubscriberID)
}

// report answers with the sums, or with all customers as a table.
func (a Ageing) report(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	format := f.OneOf("format", formats...)
	if err := f.Err(); err != nil {
		return err
	}
	if format == "csv" {
		return a.sendTable(ctx, c)
	}
	report, err := a.Cases.Of(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	out := ageingResponse{
		AsOf: report.AsOf.UTC(), Date: report.Date, Currency: report.Currency, Total: report.All.Amount.Number(),
		Invoices: report.All.Invoices, Customers: report.All.Subscribers,
		Buckets: make([]ageBucket, len(report.Buckets)),
	}
	for i, b := range report.Buckets {
		out.Buckets[i] = ageBucket{
			Name: ageName(billingviews.AgeBuckets[i]), Amount: b.Amount.Number(), Invoices: b.Invoices,
			Customers: b.Subscribers,
		}
	}
	return c.Send(200, out)
}

// sendTable answers with a row for each customer who owes, with what is owed of each age.
func (a Ageing) sendTable(ctx context.Context, c *httpapi.Call) error {
	if err := c.TakePlace(ctx); err != nil {
		return err
	}
	date, debtors, err := a.Cases.Table(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	header := append([]string{"accountNumber", "name"}, billingviews.AgeBuckets...)
	header = append(header, "total", "currency", "invoices", "oldestDueDate")
	rows := make([][]string, len(debtors))
	for i, d := range debtors {
		row := []string{d.Name.AccountNumber, null.Zero(d.Name.Name())}
		for _, minor := range d.ByAge {
			row = append(row, money.Of(minor, d.Currency).Decimal())
		}
		rows[i] = append(row, d.Amount().Decimal(), string(d.Currency), strconv.Itoa(d.Invoices), d.OldestDueOn)
	}
	return c.SendCSV("ageing-"+date.String()+".csv", header, rows)
}

// customers answers with a page of those who owe.
func (a Ageing) customers(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	bucket := f.OneOf("bucket", billingviews.AgeBuckets...)
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showDebtor, func(
		ctx context.Context, after billingviews.DebtorKey, max int,
	) ([]billingcases.Debtor, error) {
		return a.Cases.Debtors(ctx, c.Org.ID, bucket, billingviews.DebtorPage{After: after, Max: max})
	})
}

// showDebtor writes the amount in major units.
func showDebtor(d billingcases.Debtor) debtorResponse {
	return debtorResponse{
		SubscriberID: d.SubscriberID, Amount: d.Amount().Number(), Currency: d.Currency, Invoices: d.Invoices,
		OldestDueDate: d.OldestDueOn,
	}
}
