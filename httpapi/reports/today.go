// Package reportsapi serves how an organization, and the platform, does at this moment.
package reportsapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/reports"
	"github.com/lastmile-isp/lastmile/usecases/reports"
)

// Today serves /reports/today on organization hosts.
type Today struct{ Cases reportscases.Today }

// Routes lists the endpoint.
func (a Today) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/reports/today", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
		Summary:  "How the organization does now, what changed since a time, and what is broken",
		Response: todayResponse{}, Query: []httpapi.Param{{
			Name: "since", Type: "date-time", Doc: "adds what changed after it; at most since the last month began",
		}}, Handle: a.report,
	}}
}

// todayResponse is how an organization does. Each figure is the number of rows of a list, or their sum; which list it
// is stands in docs/rules/reports.md#today. Amounts are in major units.
type todayResponse struct {
	Date          calendar.Date      `json:"date" doc:"in the organization's zone"`
	Timezone      string             `json:"timezone"`
	Currency      money.Currency     `json:"currency"`
	AsOf          time.Time          `json:"asOf"`
	Money         moneyToday         `json:"money"`
	Overdue       overdueToday       `json:"overdue"`
	Suspense      suspenseOfOrg      `json:"suspense"`
	Refunds       refundsToday       `json:"refunds"`
	Customers     customersToday     `json:"customers"`
	Subscriptions subscriptionsToday `json:"subscriptions"`
	Online        onlineToday        `json:"online"`
	Differences   differencesToday   `json:"differences"`
	Pending       pendingToday       `json:"pending"`
	Failed        failedToday        `json:"failed"`
	Compensations compensationsToday `json:"compensations"`
	Devices       *devicesToday      `json:"devices" doc:"null: the caller may not read routers"`
	Drift         *driftToday        `json:"drift" doc:"null: the caller may not read routers"`
	Since         *sinceToday        `json:"since" doc:"null: not asked for"`
	Faults        []faultShape       `json:"faults" doc:"what is broken now, the worst first"`
}

// sum is money and the number of payments in it, less those taken back.
type sum struct {
	Amount httpapi.Number `json:"amount"`
	Count  int64          `json:"count"`
}

// pastSum is the money of a whole time that is over.
type pastSum struct {
	sum
	UntilNow sum `json:"untilNow" doc:"up to the same time of the day, and of the month, as now"`
}

// moneyToday is the money received, as in the report of collections.
type moneyToday struct {
	Today     sum     `json:"today"`
	Yesterday pastSum `json:"yesterday"`
	Month     sum     `json:"month"`
	LastMonth pastSum `json:"lastMonth"`
}

// overdueToday sums up what should have been paid before today.
type overdueToday struct {
	Amount        httpapi.Number `json:"amount"`
	Invoices      int            `json:"invoices"`
	Customers     int            `json:"customers"`
	Subscriptions int            `json:"subscriptions"`
}

// suspenseToday is money that waits for a person.
type suspenseToday struct {
	Amount   httpapi.Number `json:"amount"`
	Count    int            `json:"count"`
	OldestAt *time.Time     `json:"oldestAt" doc:"null: none waits"`
	Late     int            `json:"late" doc:"of count: an alarm, because they have waited for alarmDays"`
}

// suspenseOfOrg is suspenseToday in all currencies. Money in another one than the organization's can be on its own
// shortcode, and on no account.
type suspenseOfOrg struct {
	suspenseToday
	AlarmDays int                `json:"alarmDays" doc:"as the settings of the organization say"`
	Others    []currencySuspense `json:"others" doc:"money in other currencies, which amount leaves out and count has"`
}

// refundsToday counts refunds that have not ended.
type refundsToday struct {
	Requested int64 `json:"requested" doc:"wait for approval"`
	Approved  int64 `json:"approved" doc:"wait for somebody who pays and settles them"`
}

// customersToday counts customers.
type customersToday struct {
	Total        int `json:"total"`
	NewThisMonth int `json:"newThisMonth"`
}

// subscriptionsToday counts subscriptions by state, and by how far dunning has come.
type subscriptionsToday struct {
	Active       int `json:"active"`
	Reminding    int `json:"reminding"`
	WalledGarden int `json:"walledGarden"`
	Suspended    int `json:"suspended"`
	WrittenOff   int `json:"writtenOff" doc:"proposed; a person decides"`
}

// onlineToday counts open sessions.
type onlineToday struct {
	Sessions     int `json:"sessions"`
	Customers    int `json:"customers"`
	WalledGarden int `json:"walledGarden" doc:"sessions that reach the payment page alone"`
	Unheard      int `json:"unheard" doc:"of customers: those who are off behind routers that do not answer"`
}

// differencesToday counts the differences between entitlements and routers.
type differencesToday struct {
	Total  int         `json:"total"`
	ByKind []kindCount `json:"byKind" doc:"the kinds that there are any of"`
}

// kindCount is a number of things of a kind.
type kindCount struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// pendingToday counts what waits.
type pendingToday struct {
	Payments int `json:"payments" doc:"prompts whose outcome is not known"`
	Support  int `json:"support" doc:"support requests whose customers wait for an answer"`
	// Approvals are acts above the limit of what one person gives away.
	Approvals int `json:"approvals" doc:"acts that wait for a second person"`
}

// failedToday counts what failed: payments and messages of today, services until somebody acts.
type failedToday struct {
	Payments int  `json:"payments"`
	Messages int  `json:"messages"`
	Services *int `json:"services" doc:"null: the caller may not read routers"`
}

// compensationsToday counts compensations that need a look.
type compensationsToday struct {
	Applying   int           `json:"applying" doc:"begun, and not at their end"`
	Failed     int           `json:"failed" doc:"some customers got nothing although the preview said otherwise"`
	FailedFrom calendar.Date `json:"failedFrom" doc:"the day from which failed counts, by their preview"`
}

// devicesToday counts routers.
type devicesToday struct {
	Total   int `json:"total"`
	Up      int `json:"up"`
	Down    int `json:"down"`
	Unknown int `json:"unknown"`
}

// driftToday counts what differs from what it should be.
type driftToday struct {
	Devices  int `json:"devices"`
	Services int `json:"services"`
}

// sinceToday counts changes after an instant.
type sinceToday struct {
	At           time.Time `json:"at" doc:"as asked, but within the present and the last month"`
	Payments     sum       `json:"payments"`
	NewCustomers int       `json:"newCustomers"`
	WalledGarden int       `json:"walledGarden" doc:"customers whose service was cut to the payment page"`
	Suspended    int       `json:"suspended"`
	Restored     int       `json:"restored"`
	Failed       failures  `json:"failed"`
	DevicesDown  *int      `json:"devicesDown" doc:"null: the caller may not read routers"`
	DriftFound   *int      `json:"driftFound" doc:"null: the caller may not read routers"`
}

// failures counts what failed in a time.
type failures struct {
	Payments int  `json:"payments"`
	Messages int  `json:"messages"`
	Services *int `json:"services" doc:"null: the caller may not read routers"`
}

// faultShape is something that is broken, with all that is broken because of it.
type faultShape struct {
	Kind      faultKind   `json:"kind"`
	Root      rootShape   `json:"root"`
	Since     *time.Time  `json:"since" doc:"null: not known"`
	Customers *int        `json:"customers" doc:"who are off because of it; null: not known, or nobody is"`
	OffBehind *id.Device  `json:"offBehind" doc:"the filter of GET /subscribers that lists them; null: nobody"`
	Message   string      `json:"message" doc:"a sentence"`
	Words     *string     `json:"words" doc:"of the router or the provider, for an admin; null: none"`
	Effects   []kindCount `json:"effects" doc:"what is broken because of it"`
}

// faultKind is a kind in answers.
type faultKind string

// Texts implements httpapi.Enumerated.
func (faultKind) Texts() []string {
	ofPlatform := []string{partDown, breakerOpen, projectionStopped, rebuildStopped, processStopped}
	return append(ofPlatform, reportscases.Kinds...)
}

// rootShape names the broken thing.
type rootShape struct {
	Type rootType `json:"type"`
	ID   *string  `json:"id" doc:"null: the caller may not open it, or it has none"`
	Name string   `json:"name"`
}

// rootType is the type of a broken thing in answers.
type rootType string

// Types of broken things that only the platform has.
const (
	rootBreaker    rootType = "breaker"
	rootProjection rootType = "projection"
	rootProcess    rootType = "process"
)

// Texts implements httpapi.Enumerated.
func (rootType) Texts() []string {
	ofPlatform := []string{string(rootBreaker), string(rootProjection), string(rootProcess)}
	return append(ofPlatform, reportscases.RootTypes...)
}

// report answers with the report as the read models show it now.
func (a Today) report(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	asked := reportscases.Asked{
		Since: f.Instant("since", time.UTC), Network: c.Caller.Role.AtLeast(events.RoleAdmin),
	}
	if err := f.Err(); err != nil {
		return err
	}
	report, err := a.Cases.Of(ctx, c.Org.ID, asked)
	if err != nil {
		return err
	}
	return c.Send(200, showToday(report, asked))
}

// showToday leaves out what the caller may not read.
func showToday(r reportscases.Report, asked reportscases.Asked) todayResponse {
	in := shown{r.Currency}
	out := todayResponse{
		Date: r.Date, Timezone: r.Zone.String(), Currency: r.Currency, AsOf: r.AsOf.UTC(), Money: in.takings(r.Money),
		Overdue: overdueToday{
			Amount: in.amount(r.Overdue.AmountMinor), Invoices: r.Overdue.Invoices, Customers: r.Overdue.Subscribers,
			Subscriptions: r.Overdue.Subscriptions,
		},
		Suspense:  in.suspense(r.Suspense),
		Refunds:   refundsToday{Requested: r.Refunds.Requested, Approved: r.Refunds.Approved},
		Customers: customersToday{Total: r.Customers.Total, NewThisMonth: r.Customers.New},
		Subscriptions: subscriptionsToday{
			Active: r.Active, Reminding: r.Dunning[events.DunningReminding],
			WalledGarden: r.Dunning[events.DunningWalledGarden], Suspended: r.Dunning[events.DunningSuspended],
			WrittenOff: r.Dunning[events.DunningWrittenOff],
		},
		Online:        onlineToday{r.Online.Sessions, r.Online.Customers, r.Online.WalledGarden, r.Unheard},
		Differences:   showDifferences(r),
		Pending:       pendingToday{Payments: r.Waiting, Support: r.Support, Approvals: r.Approvals},
		Failed:        failedToday{Payments: r.PaymentsLost, Messages: r.MessagesLost},
		Compensations: compensationsToday(r.Compensations),
		Faults:        showFaults(r.Faults),
	}
	out.Suspense.AlarmDays = r.SuspenseDays
	if !r.Since.At.IsZero() {
		out.Since = in.since(r.Since, asked.Network)
	}
	if n := r.Network; asked.Network {
		out.Devices = &devicesToday{Total: n.Up + n.Down + n.Unknown, Up: n.Up, Down: n.Down, Unknown: n.Unknown}
		out.Drift = &driftToday{Devices: n.Drifted, Services: n.ServicesDrifted}
		out.Failed.Services = &n.ServicesFailed
	}
	return out
}

// showDifferences writes the kinds in the order of their names; the list is never null.
func showDifferences(r reportscases.Report) differencesToday {
	out := differencesToday{ByKind: []kindCount{}}
	for _, kind := range sorted(r.Differences) {
		n := r.Differences[kind]
		out.Total += n
		out.ByKind = append(out.ByKind, kindCount{Kind: string(kind), Count: n})
	}
	return out
}

// showFaults gives an empty list, not null, when nothing is broken.
func showFaults(list []reportscases.Fault) []faultShape {
	out := make([]faultShape, 0, len(list))
	for _, f := range list {
		row := faultShape{
			Kind:  faultKind(f.Kind),
			Root:  rootShape{Type: rootType(f.Root.Type), ID: null.Of(f.Root.ID), Name: f.Root.Name},
			Since: null.Time(f.Since.UTC()), Customers: f.Customers, OffBehind: null.Of(f.OffBehind),
			Message: f.Message, Words: null.Of(f.Words),
			Effects: make([]kindCount, 0, len(f.Effects)),
		}
		for _, e := range f.Effects {
			row.Effects = append(row.Effects, kindCount(e))
		}
		out = append(out, row)
	}
	return out
}

// shown writes money in a currency.
type shown struct{ currency money.Currency }

// amount is in major units.
func (s shown) amount(minor int64) httpapi.Number { return money.Of(minor, s.currency).Number() }

// sum writes one sum.
func (s shown) sum(of billingviews.SpanSum) sum {
	return sum{Amount: s.amount(of.TotalMinor), Count: of.Count}
}

// takings writes the sums that are compared.
func (s shown) takings(t reportscases.Takings) moneyToday {
	return moneyToday{
		Today: s.sum(t.Today), Yesterday: pastSum{s.sum(t.Yesterday), s.sum(t.YesterdaySoFar)},
		Month: s.sum(t.Month), LastMonth: pastSum{s.sum(t.LastMonth), s.sum(t.LastMonthSoFar)},
	}
}

// since writes what changed.
func (s shown) since(r reportscases.Since, network bool) *sinceToday {
	out := &sinceToday{
		At: r.At.UTC(), Payments: s.sum(r.Money), NewCustomers: r.Kinds[reportsviews.NewCustomer],
		WalledGarden: r.Kinds[reportsviews.WalledGarden], Suspended: r.Kinds[reportsviews.Suspended],
		Restored: r.Kinds[reportsviews.Restored],
		Failed: failures{
			Payments: r.Kinds[reportsviews.PaymentFailed], Messages: r.Kinds[reportsviews.MessageFailed],
		},
	}
	if network {
		down, drift, failed := r.Kinds[reportsviews.RouterDown], r.Kinds[reportsviews.DriftFound],
			r.Kinds[reportsviews.ServiceFailed]
		out.DevicesDown, out.DriftFound, out.Failed.Services = &down, &drift, &failed
	}
	return out
}

// suspense divides what waits into money of the report's currency and of others.
func (in shown) suspense(list []paymentsviews.CurrencySuspense) suspenseOfOrg {
	out := suspenseOfOrg{suspenseToday{Amount: in.amount(0)}, 0, []currencySuspense{}}
	for _, s := range list {
		out.Count, out.Late = out.Count+s.Count, out.Late+s.Late
		if s.OldestAt != nil && (out.OldestAt == nil || s.OldestAt.Before(*out.OldestAt)) {
			out.OldestAt = s.OldestAt
		}
		if s.Currency == in.currency {
			out.Amount = in.amount(s.AmountMinor)
			continue
		}
		out.Others = append(out.Others, shownSuspense(s))
	}
	return out
}
