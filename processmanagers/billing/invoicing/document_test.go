package invoicing_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
)

func TestDocument_DraftIsNumberedAndIssued(t *testing.T) {
	t.Parallel()
	armed := []processmanagers.Timer{{Name: "stalled", At: now.Add(time.Minute)}}
	out, _ := run(t, invoicing.DocumentProcess(), happened(drafted))
	thenCommands(t, out, grant)
	if diff := cmp.Diff(armed, out.Timers); diff != "" {
		t.Errorf("timers (-want +got):\n%s", diff)
	}
	out, _ = run(t, invoicing.DocumentProcess(), happened(drafted), happened(granted))
	thenCommands(t, out, issue)
	out, s := run(t, invoicing.DocumentProcess(), happened(drafted), happened(granted), happened(issued))
	thenCommands(t, out)
	if diff := cmp.Diff([]processmanagers.Timer{{Name: "stalled"}}, out.Timers); diff != "" {
		t.Errorf("timers (-want +got):\n%s", diff)
	}
	if !invoicing.DocumentProcess().Ended(s) {
		t.Error("the issued document is not final")
	}
}

// A crash may lose a command's effect, or a rebuilt process may never have sent it: the same step comes again.
func TestDocument_StalledStepIsRepeated(t *testing.T) {
	t.Parallel()
	out, _ := run(t, invoicing.DocumentProcess(), happened(drafted), timeout())
	thenCommands(t, out, grant)
	out, _ = run(t, invoicing.DocumentProcess(), happened(drafted), happened(granted), timeout(), timeout())
	thenCommands(t, out, issue)
	if len(out.Timers) != 1 || !out.Timers[0].At.Equal(now.Add(time.Minute)) {
		t.Errorf("timers are %v", out.Timers)
	}
}

func TestDocument_RefusedIssueVoidsTheNumber(t *testing.T) {
	t.Parallel()
	void := commands.VoidInvoice{
		SubscriberID: subscriber, InvoiceID: invoice, Reason: "the issue was refused", Number: "ACME-0007",
	}
	story := []processmanagers.Input{happened(drafted), happened(granted), refused(issue, "account_not_found")}
	out, _ := run(t, invoicing.DocumentProcess(), story...)
	thenCommands(t, out, void)
	out, _ = run(t, invoicing.DocumentProcess(), append(slices.Clone(story), timeout())...)
	thenCommands(t, out, void)
	_, s := run(t, invoicing.DocumentProcess(),
		append(slices.Clone(story), happened(events.InvoiceVoided{InvoiceID: invoice, Number: "ACME-0007"}))...)
	if !s.Final {
		t.Error("the voided document is not final")
	}
}

func TestDocument_OtherRefusalsWaitForTheTimer(t *testing.T) {
	t.Parallel()
	out, _ := run(t, invoicing.DocumentProcess(), happened(drafted), happened(granted),
		refused(issue, "concurrent_change"))
	thenCommands(t, out)
	out, _ = run(t, invoicing.DocumentProcess(), happened(drafted), refused(grant, "concurrent_change"), timeout())
	thenCommands(t, out, grant)
}

func TestDocument_DraftVoidedMeanwhileWaitsForItsNumber(t *testing.T) {
	t.Parallel()
	void := happened(events.InvoiceVoided{InvoiceID: invoice})
	out, s := run(t, invoicing.DocumentProcess(), happened(drafted), void)
	thenCommands(t, out)
	if s.Final {
		t.Error("the document ended without the number that is on its way")
	}
	out, _ = run(t, invoicing.DocumentProcess(), happened(drafted), void, happened(granted))
	thenCommands(t, out, issue) // the account makes a voided document of it
}

func TestDocument_LaterVoidOfAnIssuedInvoiceDoesNothing(t *testing.T) {
	t.Parallel()
	out, s := run(t, invoicing.DocumentProcess(), happened(events.InvoiceVoided{
		InvoiceID: invoice, Number: "ACME-0007", WasIssued: true,
	}))
	thenCommands(t, out)
	if !s.Final {
		t.Error("an instance was left behind")
	}
}

func TestDocument_CreditNoteHasItsOwnSeries(t *testing.T) {
	t.Parallel()
	note := id.Derive[id.Receipt]("test", "note")
	begun := happened(events.CreditNoteDrafted{
		SubscriberID: subscriber, OrgID: org, CreditNoteID: note, InvoiceID: invoice, Amount: money.Major(1, money.KES),
		Prefix: "ACME-CN",
	})
	out, _ := run(t, invoicing.DocumentProcess(), begun)
	thenCommands(t, out, commands.GrantNumber{
		SeriesID: commands.SeriesOf(org, commands.CreditNoteDocument, "ACME-CN"), OrgID: org,
		Document: commands.CreditNoteDocument, DocumentID: id.As[id.Any](note), SubscriberID: subscriber,
		Prefix: "ACME-CN",
	})
	out, s := run(t, invoicing.DocumentProcess(), begun, happened(events.NumberGranted{
		OrgID: org, Document: commands.CreditNoteDocument, DocumentID: id.As[id.Any](note), SubscriberID: subscriber,
		Number: "ACME-CN-0001",
	}))
	thenCommands(t, out, commands.IssueCreditNote{SubscriberID: subscriber, CreditNoteID: note, Number: "ACME-CN-0001"})
	if done := invoicing.DocumentProcess().Evolve(s,
		happened(events.CreditNoteIssued{CreditNoteID: note})); !done.Final {
		t.Error("the issued credit note is not final")
	}
}

func TestDocument_EveryHandledEventHasAnInstance(t *testing.T) {
	t.Parallel()
	for _, e := range []events.Event{
		drafted, granted, issued, events.InvoiceVoided{InvoiceID: invoice},
		events.CreditNoteDrafted{CreditNoteID: id.Receipt(invoice)},
		events.CreditNoteIssued{CreditNoteID: id.Receipt(invoice)},
	} {
		if got := invoicing.DocumentProcess().Key(events.Envelope{Event: e}); got != invoice.String() {
			t.Errorf("%s belongs to %q", e.EventType(), got)
		}
		if !slices.Contains(invoicing.DocumentProcess().Handles, e.EventType()) {
			t.Errorf("%s is not handled", e.EventType())
		}
	}
}

// The runner keeps states as JSON rows.
func TestDocument_StateSurvivesJSON(t *testing.T) {
	t.Parallel()
	_, s := run(t, invoicing.DocumentProcess(), happened(drafted), happened(granted),
		refused(issue, "account_not_found"))
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back invoicing.Document
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, back); diff != "" {
		t.Errorf("state (-before +after):\n%s", diff)
	}
}
