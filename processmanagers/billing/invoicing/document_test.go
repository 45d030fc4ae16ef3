package invoicing_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
)

// The outputs without a command: the timer is armed, or disarmed.
var (
	waits = processmanagers.Output{Timers: []processmanagers.Timer{{Name: "stalled", At: now.Add(time.Minute)}}}
	rests = processmanagers.Output{Timers: []processmanagers.Timer{{Name: "stalled"}}}
)

// does is an output of one command and of the timer that repeats it.
func does(c commands.Command) processmanagers.Output {
	return processmanagers.Output{Commands: []commands.Command{c}, Timers: waits.Timers}
}

// document begins an example of one document with the events that have happened to it.
func document(t *testing.T, list ...events.Event) processtest.Scenario[invoicing.Document] {
	t.Helper()
	return processtest.For(t, invoicing.DocumentProcess(), now).Given(list...)
}

func TestDocument_DraftIsNumberedAndIssued(t *testing.T) {
	t.Parallel()
	document(t).When(drafted).Then(does(grant)).When(granted).Then(does(issue)).When(issued).Then(rests).ThenEnded()
}

// A crash can lose the effect of a command, and a rebuilt process never sent it; the timer repeats the step.
func TestDocument_StalledStepIsRepeated(t *testing.T) {
	t.Parallel()
	document(t, drafted).WhenDue("stalled", now).Then(does(grant))
	document(t, drafted, granted).WhenDue("stalled", now).Then(does(issue)).WhenDue("stalled", now).Then(does(issue))
}

func TestDocument_RefusedIssueVoidsTheNumber(t *testing.T) {
	t.Parallel()
	void := does(commands.VoidInvoice{
		SubscriberID: subscriber, InvoiceID: invoice, Reason: "the issue was refused", Number: "ACME-0007",
	})
	refused := document(t, drafted, granted).WhenRefused(issue, "account_not_found").Then(void)
	refused.WhenDue("stalled", now).Then(void)
	refused.When(events.InvoiceVoided{InvoiceID: invoice, Number: "ACME-0007"}).ThenEnded()
}

func TestDocument_OtherRefusalsWaitForTheTimer(t *testing.T) {
	t.Parallel()
	document(t, drafted, granted).WhenRefused(issue, "concurrent_change").Then(waits)
	document(t, drafted).WhenRefused(grant, "concurrent_change").WhenDue("stalled", now).Then(does(grant))
}

func TestDocument_DraftVoidedMeanwhileWaitsForItsNumber(t *testing.T) {
	t.Parallel()
	// the number is still to be granted; the account then records a voided document with it
	document(t, drafted).When(events.InvoiceVoided{InvoiceID: invoice}).ThenNothing().ThenGoesOn().
		When(granted).Then(does(issue))
}

func TestDocument_LaterVoidOfAnIssuedInvoiceDoesNothing(t *testing.T) {
	t.Parallel()
	document(t).When(events.InvoiceVoided{InvoiceID: invoice, Number: "ACME-0007", WasIssued: true}).Then(rests).
		ThenEnded()
}

func TestDocument_CreditNoteHasItsOwnSeries(t *testing.T) {
	t.Parallel()
	note := id.Derive[id.Receipt]("test", "note")
	document(t).When(events.CreditNoteDrafted{
		SubscriberID: subscriber, OrgID: org, CreditNoteID: note, InvoiceID: invoice, Amount: money.Major(1, money.KES),
		Prefix: "ACME-CN",
	}).Then(does(commands.GrantNumber{
		SeriesID: commands.SeriesOf(org, commands.CreditNoteDocument, "ACME-CN"), OrgID: org,
		Document: commands.CreditNoteDocument, DocumentID: id.As[id.Any](note), SubscriberID: subscriber,
		Prefix: "ACME-CN",
	})).When(events.NumberGranted{
		OrgID: org, Document: commands.CreditNoteDocument, DocumentID: id.As[id.Any](note), SubscriberID: subscriber,
		Number: "ACME-CN-0001",
	}).Then(does(commands.IssueCreditNote{
		SubscriberID: subscriber, CreditNoteID: note, Number: "ACME-CN-0001",
	})).When(events.CreditNoteIssued{CreditNoteID: note}).ThenEnded()
}

func TestDocument_EveryHandledEventHasAnInstance(t *testing.T) {
	t.Parallel()
	processtest.CheckKeys(t, invoicing.DocumentProcess(), invoice.String(), drafted, granted, issued,
		events.InvoiceVoided{InvoiceID: invoice}, events.CreditNoteDrafted{CreditNoteID: id.Receipt(invoice)},
		events.CreditNoteIssued{CreditNoteID: id.Receipt(invoice)})
}
