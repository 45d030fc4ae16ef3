// Package invoicing drafts an invoice for each due period, and gives every drafted document its number and then its
// issue.
//
// Process "invoicing", one instance for each organization, keeps the organization's billing settings:
//
//	PeriodDue ─► DraftInvoice
//
// Process "document_issue", one instance for each document (invoice or credit note), ends when the document is final:
//
//	                            ┌── a minute without progress: the step's command again ──┐
//	                            ▼                                                         │
//	drafted ─► GrantNumber ─► numbered ─► IssueInvoice / IssueCreditNote ─► issued        │
//	                            │                                                         │
//	                            └─ refused ─► VoidInvoice with the number ─► voided ──────┘
//
// A number that was granted always ends in a document, so the series has no gaps
// (docs/rules/billing.md#numbers-without-gaps).
package invoicing

import (
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Organization is the state of an "invoicing" instance: the settings for the next invoice. Known is false until the
// organization's first event.
type Organization struct {
	Known   bool                   `json:"known"`
	Billing events.BillingSettings `json:"billing"`
}

// Process drafts an invoice for each due period, under the settings that hold when the period becomes due.
func Process() processmanagers.Process[Organization] {
	return processmanagers.Process[Organization]{
		Name: "invoicing",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.OrganizationCreated) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.BillingSettingsAdopted) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.PeriodDue) string { return e.OrgID.String() }),
		},
		Decide: decide, Evolve: evolve,
	}
}

// evolve replaces the settings; invoices that are drafted already keep theirs.
func evolve(s Organization, in processmanagers.Input) Organization {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.OrganizationCreated:
		return Organization{Known: true, Billing: e.Billing}
	case events.BillingSettingsAdopted:
		return Organization{Known: true, Billing: e.Billing}
	}
	return s
}

// decide drafts one invoice of one line. It ignores a refusal: a draft has no number yet, so no document is missing.
func decide(s Organization, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	if in.Event == nil {
		return processmanagers.Output{}, nil
	}
	due, ok := in.Event.Event.(events.PeriodDue)
	if !ok {
		return processmanagers.Output{}, nil
	}
	if !s.Known {
		return processmanagers.Output{}, fmt.Errorf("period due before the organization %s was created", due.OrgID)
	}
	zone, err := time.LoadLocation(s.Billing.Timezone)
	if err != nil {
		return processmanagers.Output{}, fmt.Errorf("zone of organization %s: %w", due.OrgID, err)
	}
	return processmanagers.Output{Commands: []commands.Command{commands.DraftInvoice{
		SubscriberID: due.SubscriberID, OrgID: due.OrgID, InvoiceID: due.InvoiceID, SubscriptionID: due.SubscriptionID,
		PeriodFrom: due.From, PeriodTo: due.To,
		Lines:    []commands.LineInput{{Description: describe(due, zone), Quantity: "1", UnitPrice: due.Terms.Price}},
		Tax:      s.Billing.Tax,
		Currency: due.Terms.Price.Currency, Prefix: s.Billing.InvoicePrefix, DueOn: calendar.On(due.DueAt, zone),
	}}}, nil
}

// describe returns the text of the line: "Home 10 Mbps, 1 month", or with the days or hours covered when they are
// known. A long name is cut, because a line that is too long would be refused and never invoiced.
func describe(due events.PeriodDue, zone *time.Location) string {
	period, name := describePeriod(due, zone), []rune(due.PlanName)
	return string(name[:min(len(name), commands.MaxLineDescription-len(period))]) + period
}

// describePeriod is the end of the line's text, in the organization's zone. Both days are included.
func describePeriod(due events.PeriodDue, zone *time.Location) string {
	if due.From.IsZero() || due.To.IsZero() {
		return fmt.Sprintf(", 1 %s", due.Terms.Period)
	}
	from, to := due.From.In(zone), due.To.In(zone)
	if due.Terms.Period == calendar.Hour {
		return fmt.Sprintf(", %s to %s", from.Format("2006-01-02 15:04"), to.Format("15:04"))
	}
	last := calendar.On(to.Add(-time.Second), zone) // the end of a period is exclusive
	return fmt.Sprintf(", %s to %s", calendar.On(from, zone), last)
}
