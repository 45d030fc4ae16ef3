package invoicing_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
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

func TestDocument_NumberedOneIsIssued(t *testing.T) {
	t.Parallel()
	document(t).When(granted).Then(does(issue)).When(issued).Then(rests).ThenEnded()
}

// A crash can lose the effect of a command, and a rebuilt process never sent it; the timer repeats the step.
func TestDocument_StalledStepIsRepeated(t *testing.T) {
	t.Parallel()
	document(t, granted).WhenDue("stalled", now).Then(does(issue)).WhenDue("stalled", now).Then(does(issue))
}

// An instance that an older program left behind without a number asks for nothing: its number comes with a block.
func TestDocument_WithoutANumberItWaitsForItsBlock(t *testing.T) {
	t.Parallel()
	document(t).WhenDue("stalled", now).Then(rests)
}

func TestDocument_RefusedIssueVoidsTheNumber(t *testing.T) {
	t.Parallel()
	void := does(commands.VoidInvoice{
		SubscriberID: subscriber, InvoiceID: invoice, Reason: "the issue was refused", Number: "ACME-0007",
	})
	refused := document(t, granted).WhenRefused(issue, "account_not_found").Then(void)
	refused.WhenDue("stalled", now).Then(void)
	refused.When(events.InvoiceVoided{InvoiceID: invoice, Number: "ACME-0007"}).ThenEnded()
}

func TestDocument_OtherRefusalsWaitForTheTimer(t *testing.T) {
	t.Parallel()
	document(t, granted).WhenRefused(issue, "concurrent_change").Then(waits).WhenDue("stalled", now).Then(does(issue))
}

// The account may refuse the voiding too, as when another command changed it at the same moment. The decision stays.
func TestDocument_VoidingIsTriedUntilItIsDone(t *testing.T) {
	t.Parallel()
	void := commands.VoidInvoice{
		SubscriberID: subscriber, InvoiceID: invoice, Reason: "the issue was refused", Number: "ACME-0007",
	}
	s := document(t, granted).WhenRefused(issue, "account_not_found").Then(does(void))
	for _, code := range []string{"concurrent_change", "invoice_paid"} {
		s = s.WhenRefused(void, code).Then(waits).WhenDue("stalled", now).Then(does(void))
	}
}

// A credit note has no other end than its issue: a refused one is tried again by the timer, never at once.
func TestDocument_RefusedCreditNoteWaitsForTheTimer(t *testing.T) {
	t.Parallel()
	note := id.Derive[id.Receipt]("test", "note")
	issueNote := commands.IssueCreditNote{SubscriberID: subscriber, CreditNoteID: note, Number: "ACME-CN-0001"}
	document(t, events.NumberGranted{
		OrgID: org, Document: commands.CreditNoteDocument, DocumentID: id.As[id.Any](note), SubscriberID: subscriber,
		Number: "ACME-CN-0001",
	}).WhenRefused(issueNote, "invoice_cancelled").Then(waits).WhenDue("stalled", now).Then(does(issueNote))
}

// The second number of an invoice ends as a voided document of its own, and the invoice's instance with it.
func TestDocument_SecondNumberEndsAsAVoidedDocument(t *testing.T) {
	t.Parallel()
	document(t, granted).When(events.InvoiceVoided{
		InvoiceID: id.Derive[id.Invoice]("test", "stray"), StrayOf: invoice, Number: "ACME-0007",
	}).Then(rests).ThenEnded()
}

func TestDocument_LaterVoidOfAnIssuedInvoiceDoesNothing(t *testing.T) {
	t.Parallel()
	document(t).When(events.InvoiceVoided{InvoiceID: invoice, Number: "ACME-0007", WasIssued: true}).Then(rests).
		ThenEnded()
}

func TestDocument_CreditNoteIsIssuedUnderItsNumber(t *testing.T) {
	t.Parallel()
	note := id.Derive[id.Receipt]("test", "note")
	noted := events.NumberGranted{
		OrgID: org, Document: commands.CreditNoteDocument, DocumentID: id.As[id.Any](note), SubscriberID: subscriber,
		Number: "ACME-CN-0001",
	}
	issues := does(commands.IssueCreditNote{SubscriberID: subscriber, CreditNoteID: note, Number: "ACME-CN-0001"})
	document(t).When(noted).Then(issues).When(events.CreditNoteIssued{CreditNoteID: note}).ThenEnded()
	document(t).When(noted).Then(issues).When(events.CreditNoteVoided{StrayOf: note,
		Number: "ACME-CN-0001"}).ThenEnded()
}

func TestDocument_EveryHandledEventHasAnInstance(t *testing.T) {
	t.Parallel()
	processtest.CheckKeys(t, invoicing.DocumentProcess(), invoice.String(), granted, issued,
		events.InvoiceVoided{InvoiceID: invoice, Number: "ACME-0007"},
		events.CreditNoteIssued{CreditNoteID: id.Receipt(invoice)},
		events.CreditNoteVoided{StrayOf: id.Receipt(invoice)})
	p := invoicing.DocumentProcess()
	if key := p.Key(events.Envelope{Event: events.InvoiceVoided{InvoiceID: invoice}}); key != "" {
		t.Errorf("a draft that is voided before its number begins an instance %q", key)
	}
}

// A billing run issues what it has numbered by itself. What it has left is issued half a minute later.
func TestDocument_ARunHasTimeToIssue(t *testing.T) {
	t.Parallel()
	byRun := granted
	byRun.RunID = id.Derive[id.BillingRun]("test", "run")
	longer := processmanagers.Output{Timers: []processmanagers.Timer{{Name: "stalled", At: now.Add(30 * time.Second)}}}
	s := document(t).When(byRun).Then(longer)
	s.WhenDue("stalled", now).Then(does(issue))
	s.When(issued).ThenEnded()
}
