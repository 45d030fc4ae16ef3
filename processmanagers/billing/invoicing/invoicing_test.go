package invoicing_test

import (
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

// The ids and events of these tests.
var (
	now        = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	org        = id.Derive[id.Organization]("test", "org")
	subscriber = id.Derive[id.Subscriber]("test", "subscriber")
	sub        = id.Derive[id.Subscription]("test", "subscription")
	invoice    = id.Derive[id.Invoice]("test", "invoice")
	series     = commands.SeriesOf(org, commands.InvoiceDocument, "ACME")
	drafted    = events.InvoiceDrafted{
		SubscriberID: subscriber, OrgID: org, InvoiceID: invoice, SubscriptionID: sub, Prefix: "ACME",
	}
	granted = events.NumberGranted{
		SeriesID: series, OrgID: org, Document: commands.InvoiceDocument, DocumentID: id.As[id.Any](invoice),
		SubscriberID: subscriber, Seq: 7, Number: "ACME-0007",
	}
	issued = events.InvoiceIssued{SubscriberID: subscriber, OrgID: org, InvoiceID: invoice, Number: "ACME-0007"}
	issue  = commands.IssueInvoice{SubscriberID: subscriber, InvoiceID: invoice, Number: "ACME-0007"}
	due    = events.PeriodDue{
		SubscriptionID: sub, OrgID: org, SubscriberID: subscriber, InvoiceID: invoice, PlanName: "Home 10 Mbps",
		Terms: events.PlanTerms{Name: "Home", Price: money.Major(1500, money.KES), Period: calendar.Month},
		From:  now, To: now.AddDate(0, 1, 0), DueAt: now.AddDate(0, 0, 7),
	}
	drafts = processmanagers.Output{Commands: []commands.Command{commands.DraftPeriodInvoice{
		SubscriberID: subscriber, OrgID: org, InvoiceID: invoice, SubscriptionID: sub, PeriodFrom: now,
		PeriodTo: now.AddDate(0, 1, 0), DueAt: now.AddDate(0, 0, 7), PlanName: "Home 10 Mbps",
		Price: money.Major(1500, money.KES), Period: calendar.Month,
	}}}
)

// tries is an output of the timer of the next try; zero disarms it.
func tries(after time.Duration) processmanagers.Output {
	at := now.Add(after)
	if after == 0 {
		at = time.Time{}
	}
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: "again", At: at}}}
}

func TestInvoicing_PeriodDueIsDrafted(t *testing.T) {
	t.Parallel()
	processtest.For(t, invoicing.Process(), now).When(due).Then(drafts).ThenGoesOn().
		When(drafted).Then(tries(0)).ThenEnded()
}

// A refused draft is tried again, with growing pauses and for ever: a period without an invoice is money forgotten.
func TestInvoicing_RefusedDraftIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, invoicing.Process(), now).When(due).Then(drafts)
	for _, pause := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
		s = s.WhenRefused(drafts.Commands[0], "currency_mismatch").Then(tries(pause)).
			WhenDue("again", now).Then(drafts)
	}
	for range 20 {
		s = s.WhenRefused(drafts.Commands[0], "currency_mismatch")
	}
	s.Then(tries(24 * time.Hour)).When(drafted).Then(tries(0)).ThenEnded()
}

// The account of a customer who is removed is closed for good.
func TestInvoicing_OfARemovedCustomerNothingIsDrafted(t *testing.T) {
	t.Parallel()
	processtest.For(t, invoicing.Process(), now).When(due).Then(drafts).
		WhenRefused(drafts.Commands[0], "account_closed").Then(tries(0)).ThenEnded()
}

// An instance of an older program had a whole organization and knows no period: there is nothing to draft.
func TestInvoicing_WithoutAPeriodNothingIsDrafted(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, invoicing.Process(), now)
	s.WhenDue("again", now).Then(tries(0))
	s.WhenRefused(commands.DraftPeriodInvoice{SubscriberID: subscriber, InvoiceID: invoice}, "account_not_found").
		Then(tries(0))
}

// What fails for one account stops no other one of its organization: each invoice has an instance of its own.
func TestInvoicing_InstanceIsTheInvoice(t *testing.T) {
	t.Parallel()
	processtest.CheckKeys(t, invoicing.Process(), invoice.String(), due, drafted,
		events.SubscriptionPlanChanged{InvoiceID: invoice}, events.ChargesDue{InvoiceID: invoice})
	p := invoicing.Process()
	if key := p.Key(events.Envelope{Event: events.InvoiceDrafted{InvoiceID: invoice}}); key != "" {
		t.Errorf("a manual invoice begins an instance %q", key)
	}
}

// Charges that no period has are drafted at the end.
func TestInvoicing_ChargesThatAreLeftAtAnEndAreDrafted(t *testing.T) {
	t.Parallel()
	left := events.ChargesDue{
		SubscriberID: subscriber, OrgID: due.OrgID, SubscriptionID: due.SubscriptionID, InvoiceID: invoice, At: now,
		Charges: []events.PeriodExtra{{Kind: events.ChargeExtra, Amount: money.Major(700, money.KES)}},
	}
	processtest.For(t, invoicing.Process(), now).When(left).Then(processmanagers.Output{
		Commands: []commands.Command{commands.DraftOfCharges(left)},
	})
}

// A change of plan is drafted as a period is; one that costs nothing has no invoice.
func TestInvoicing_AChangeOfPlanIsDrafted(t *testing.T) {
	t.Parallel()
	changed := events.SubscriptionPlanChanged{
		SubscriberID: subscriber, OrgID: due.OrgID, SubscriptionID: due.SubscriptionID, InvoiceID: invoice, DueAt: now,
		Lines: []events.PlanChangeLine{{PlanName: "Fast", Days: 3, Of: 30, Amount: money.Major(100, money.KES)}},
	}
	drafts := processmanagers.Output{Commands: []commands.Command{commands.DraftOfChange(changed)}}
	s := processtest.For(t, invoicing.Process(), now).When(changed).Then(drafts)
	s.WhenRefused(drafts.Commands[0], "currency_mismatch").Then(tries(time.Minute))
	s.When(events.InvoiceDrafted{InvoiceID: invoice, SoldTo: due.SubscriptionID}).ThenEnded()
	p := invoicing.Process()
	costsNothing := events.SubscriptionPlanChanged{SubscriptionID: due.SubscriptionID}
	if key := p.Key(events.Envelope{Event: costsNothing}); key != "" {
		t.Errorf("a change without costs begins an instance %q", key)
	}
}

// A billing run drafts the invoices of its periods by itself. What it has left is drafted half a minute later.
func TestInvoicing_ARunHasTimeToDraft(t *testing.T) {
	t.Parallel()
	byRun := due
	byRun.RunID = id.Derive[id.BillingRun]("test", "run")
	s := processtest.For(t, invoicing.Process(), now).When(byRun).Then(tries(30 * time.Second))
	s.WhenDue("again", now).Then(drafts)
	s.When(drafted).ThenEnded()
}
