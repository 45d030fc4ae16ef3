package invoicing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
)

// The ids and settings of these tests.
var (
	now        = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	org        = id.Derive[id.Organization]("test", "org")
	subscriber = id.Derive[id.Subscriber]("test", "subscriber")
	sub        = id.Derive[id.Subscription]("test", "subscription")
	invoice    = id.Derive[id.Invoice]("test", "invoice")
	series     = commands.SeriesOf(org, commands.InvoiceDocument, "ACME")
	settings   = events.BillingSettings{
		Timezone: "Africa/Nairobi", Currency: money.KES, InvoicePrefix: "ACME",
		Tax: events.TaxRule{Inclusive: true, Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}}},
	}
	created = events.OrganizationCreated{OrgID: org, Billing: settings}
	drafted = events.InvoiceDrafted{SubscriberID: subscriber, OrgID: org, InvoiceID: invoice, Prefix: "ACME"}
	granted = events.NumberGranted{
		SeriesID: series, OrgID: org, Document: commands.InvoiceDocument, DocumentID: id.As[id.Any](invoice),
		SubscriberID: subscriber, Seq: 7, Number: "ACME-0007",
	}
	issued = events.InvoiceIssued{SubscriberID: subscriber, OrgID: org, InvoiceID: invoice, Number: "ACME-0007"}
	grant  = commands.GrantNumber{
		SeriesID: series, OrgID: org, Document: commands.InvoiceDocument, DocumentID: id.As[id.Any](invoice),
		SubscriberID: subscriber, Prefix: "ACME",
	}
	issue = commands.IssueInvoice{SubscriberID: subscriber, InvoiceID: invoice, Number: "ACME-0007"}
)

// under begins an example of an organization with its settings and the events that have happened to it.
func under(t *testing.T, list ...events.Event) processtest.Scenario[invoicing.Organization] {
	t.Helper()
	return processtest.For(t, invoicing.Process(), now).Given(created).Given(list...)
}

// draft returns the only command of an output, and fails for any other output.
func draft(t *testing.T, s processtest.Scenario[invoicing.Organization]) commands.DraftInvoice {
	t.Helper()
	out := s.Output()
	if len(out.Commands) != 1 {
		t.Fatalf("want one command, have %+v", out)
	}
	c, ok := out.Commands[0].(commands.DraftInvoice)
	if !ok {
		t.Fatalf("want a draft, have %+v", out)
	}
	return c
}

// due is a period of the plan "Home 10 Mbps" that became due late on 31 March UTC.
func due(period calendar.Period, from, to time.Time) events.PeriodDue {
	return events.PeriodDue{
		SubscriptionID: sub, OrgID: org, SubscriberID: subscriber, InvoiceID: invoice, PlanName: "Home 10 Mbps",
		Terms: events.PlanTerms{Name: "Home", Price: money.Major(1500, money.KES), Period: period}, From: from, To: to,
		DueAt: time.Date(2026, 3, 31, 21, 30, 0, 0, time.UTC), // already the first of April in Nairobi
	}
}

func TestInvoicing_PeriodDueIsDraftedUnderTheSettings(t *testing.T) {
	t.Parallel()
	under(t).When(due(calendar.Month, time.Time{}, time.Time{})).Then(processmanagers.Output{
		Commands: []commands.Command{commands.DraftInvoice{
			SubscriberID: subscriber, OrgID: org, InvoiceID: invoice, SubscriptionID: sub, Tax: settings.Tax,
			Currency: money.KES,
			Lines: []commands.LineInput{
				{Description: "Home 10 Mbps, 1 month", Quantity: "1", UnitPrice: money.Major(1500, money.KES)},
			},
			Prefix: "ACME", DueOn: calendar.Date{Year: 2026, Month: time.April, Day: 1},
		}},
	})
}

func TestInvoicing_NewSettingsHoldForTheNextInvoice(t *testing.T) {
	t.Parallel()
	adopted := settings
	adopted.InvoicePrefix, adopted.Tax = "LAKE", events.TaxRule{}
	c := draft(t, under(t, events.BillingSettingsAdopted{OrgID: org, Billing: adopted}).
		When(due(calendar.Week, time.Time{}, time.Time{})))
	if c.Prefix != "LAKE" || len(c.Tax.Components) != 0 {
		t.Errorf("drafted %+v", c)
	}
}

func TestInvoicing_LineNamesThePeriodInLocalTime(t *testing.T) {
	t.Parallel()
	at := func(day, hour int) time.Time { return time.Date(2026, 3, day, hour, 0, 0, 0, time.UTC) }
	for want, d := range map[string]events.PeriodDue{
		"Home 10 Mbps, 2026-03-02 to 2026-03-08":  due(calendar.Week, at(1, 21), at(8, 21)),
		"Home 10 Mbps, 2026-03-01 to 2026-03-08":  due(calendar.Week, at(1, 9), at(8, 9)),
		"Home 10 Mbps, 2026-03-02 00:00 to 01:00": due(calendar.Hour, at(1, 21), at(1, 22)),
		"Home 10 Mbps, 1 hour":                    due(calendar.Hour, time.Time{}, time.Time{}),
		"Home 10 Mbps, 2026-03-05 to 2026-03-05":  due(calendar.Day, at(4, 21), at(5, 21)),
	} {
		c := draft(t, under(t).When(d))
		if c.Lines[0].Description != want || !c.PeriodFrom.Equal(d.From) || !c.PeriodTo.Equal(d.To) {
			t.Errorf("line is %q, want %q", c.Lines[0].Description, want)
		}
	}
}

func TestInvoicing_LongPlanNameIsCutSoThatItIsInvoiced(t *testing.T) {
	t.Parallel()
	d := due(calendar.Month, time.Time{}, time.Time{})
	d.PlanName = strings.Repeat("é", 500)
	if err := draft(t, under(t).When(d)).Validate(); err != nil {
		t.Error(err)
	}
}

func TestInvoicing_DueBeforeTheOrganizationStopsTheProcess(t *testing.T) {
	t.Parallel()
	processtest.For(t, invoicing.Process(), now).When(due(calendar.Month, time.Time{}, time.Time{})).ThenStops()
}

func TestInvoicing_InstanceIsTheOrganization(t *testing.T) {
	t.Parallel()
	processtest.CheckKeys(t, invoicing.Process(), org.String(), created, events.BillingSettingsAdopted{OrgID: org},
		due(calendar.Month, now, now))
}
