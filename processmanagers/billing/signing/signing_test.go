package signing_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/signing"
)

// The documents of these tests.
var (
	now        = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	org        = id.Derive[id.Organization]("test", "org")
	subscriber = id.Derive[id.Subscriber]("test", "amina")
	invoice    = id.Derive[id.Invoice]("test", "invoice")
	note       = id.Derive[id.Receipt]("test", "note")
	total      = money.Major(1160, money.KES)

	on     = events.TaxGatewayConfigured{OrgID: org, On: true, Messages: true, At: now}
	off    = events.TaxGatewayConfigured{OrgID: org, At: now}
	issued = events.InvoiceIssued{
		SubscriberID: subscriber, OrgID: org, InvoiceID: invoice, Number: "ACME-0001", Total: total, IssuedAt: now,
	}
	noted = events.CreditNoteIssued{
		SubscriberID: subscriber, OrgID: org, CreditNoteID: note, InvoiceID: invoice, Number: "ACME-CN-0001",
		Amount: total, IssuedAt: now,
	}
	ofInvoice = events.SignatureSubject{
		SignatureID: id.As[id.Signature](invoice), OrgID: org, SubscriberID: subscriber, Document: events.TaxInvoice,
		InvoiceID: invoice, Number: "ACME-0001",
	}
	ofNote = events.SignatureSubject{
		SignatureID: id.As[id.Signature](note), OrgID: org, SubscriberID: subscriber, Document: events.TaxCreditNote,
		InvoiceID: invoice, Number: "ACME-CN-0001",
	}

	queued     = events.SignatureQueued{SignatureSubject: ofInvoice, Total: total, At: now}
	noteQueued = events.SignatureQueued{SignatureSubject: ofNote, Total: total, At: now}
	signed     = events.DocumentSigned{SignatureSubject: ofInvoice, At: now}
)

// does has commands alone.
func does(list ...commands.Command) processmanagers.Output {
	return processmanagers.Output{Commands: list}
}

// sign is an output of the jobs of documents.
func sign(round int, list ...id.Signature) (out processmanagers.Output) {
	for _, which := range list {
		out.Jobs = append(out.Jobs, commands.SignDocument{
			OrgID: org, SignatureID: which, Round: round, Position: processtest.Position,
		})
	}
	return out
}

func TestQueue_WhatIsIssuedWhileTheGatewayIsOnIsQueued(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, signing.QueueProcess(), now)
	queue := commands.QueueSignature{SignatureSubject: ofInvoice, Total: total, IssuedAt: now, Messages: true}
	s.Given(on).When(issued).Then(does(queue))
	s.Given(on).When(noted).
		Then(does(commands.QueueSignature{SignatureSubject: ofNote, Total: total, IssuedAt: now}))
	quiet := on
	quiet.Messages = false
	queue.Messages = false
	s.Given(quiet).When(issued).Then(does(queue))
	for _, list := range [][]events.Event{{}, {off}, {on, off}} {
		s.Given(list...).When(issued).ThenNothing().ThenEnded()
		s.Given(list...).When(noted).ThenNothing().ThenEnded()
	}
	s.Given(on).When(issued).ThenGoesOn()
}

// Nobody owes an order: it is an invoice from the moment on in which it is paid.
func TestQueue_AnOrderIsQueuedWhenItIsPaid(t *testing.T) {
	t.Parallel()
	order := issued
	order.Order = true
	p := signing.QueueProcess()
	paid := events.InvoicePaid{
		SubscriberID: subscriber, OrgID: org, InvoiceID: invoice, At: now.Add(time.Hour),
		Ordered: events.OrderTaken{Number: "ACME-0001", Total: total},
	}
	plain, given := paid, paid
	plain.Ordered = events.OrderTaken{}
	given.Ordered.Notes = []events.OrderNote{{CreditNoteID: note, Number: "ACME-CN-0001", Amount: total}}
	overOrder := noted
	overOrder.Order = true
	if key := p.Key(events.Envelope{Event: overOrder}); key != "" {
		t.Errorf("a note over an order is of the instance %q", key)
	}
	if key := p.Key(events.Envelope{Event: order}); key != "" {
		t.Errorf("an order is of the instance %q", key)
	}
	processtest.For(t, p, now).Given(on).When(plain).ThenNothing()
	queue := commands.QueueSignature{
		SignatureSubject: ofInvoice, Total: total, IssuedAt: now.Add(time.Hour), Messages: true,
	}
	processtest.For(t, p, now).Given(on).When(paid).Then(does(queue))
	processtest.For(t, p, now).Given(on).When(given).Then(does(queue, commands.QueueSignature{
		SignatureSubject: ofNote, Total: total, IssuedAt: now.Add(time.Hour),
	}))
}

func TestSigning_ANoteWaitsForItsInvoice(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, signing.Process(), now)
	s.When(queued).Then(sign(0, ofInvoice.SignatureID)).ThenGoesOn()
	waiting := s.Given(queued).When(noteQueued).ThenNothing()
	refused := events.SignatureRetried{SignatureSubject: ofInvoice, Round: 1, At: now}
	waiting.When(refused).Then(sign(1, ofInvoice.SignatureID)).When(signed).
		Then(sign(0, ofNote.SignatureID)).ThenEnded()
	s.Given(queued).When(signed).ThenNothing().ThenEnded().
		When(noteQueued).Then(sign(0, ofNote.SignatureID)).ThenEnded()
	s.When(noteQueued).Then(sign(0, ofNote.SignatureID)).ThenEnded() // its invoice is of before the gateway
	s.When(events.SignatureRetried{SignatureSubject: ofNote, Round: 2, At: now}).
		Then(sign(2, ofNote.SignatureID)).ThenEnded()
	s.When(events.DocumentSigned{SignatureSubject: ofNote, At: now}).ThenNothing().ThenEnded()
}

// A voided invoice is of the same instance as its issue, so that no document is queued after it was voided.
func TestQueue_AVoidedInvoiceIsVoidedBehindItsQueueing(t *testing.T) {
	t.Parallel()
	voided := events.InvoiceVoided{
		SubscriberID: subscriber, InvoiceID: invoice, Number: "ACME-0001", Total: total, WasIssued: true, At: now,
	}
	p, of := signing.QueueProcess(), events.Metadata{OrgID: org}
	s := processtest.For(t, p, now).With(of)
	void := does(commands.VoidSignature{SignatureID: ofInvoice.SignatureID})
	s.Given(on, issued).When(voided).Then(void).ThenGoesOn()
	s.Given(on, issued, off).When(voided).Then(void).ThenEnded() // it still waits, or is signed
	s.When(voided).Then(void).ThenEnded()
	if key := p.Key(events.Envelope{Meta: of, Event: voided}); key != p.Key(events.Envelope{Event: issued}) {
		t.Errorf("a voided invoice is of the instance %q", key)
	}
	draft := voided
	draft.WasIssued = false
	if key := p.Key(events.Envelope{Meta: of, Event: draft}); key != "" {
		t.Errorf("a voided draft is of the instance %q", key)
	}
	if key := signing.Process().Key(events.Envelope{Meta: of, Event: voided}); key != "" {
		t.Errorf("another instance acts on it, too: %q", key)
	}
}

func TestSigning_AVoidedInvoiceIsTakenBackThere(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, signing.Process(), now)
	cancellation := ofInvoice
	cancellation.SignatureID, cancellation.Document = id.Derive[id.Signature]("test", "c"), events.TaxCancellation
	due := events.CancellationDue{
		SignatureSubject: ofInvoice, CancellationID: cancellation.SignatureID, Total: total, At: now,
	}
	queue := does(commands.QueueSignature{SignatureSubject: cancellation, Total: total, IssuedAt: now})
	s.When(due).Then(queue).ThenEnded()
	inDoubt := s.Given(queued).When(due).Then(queue).
		When(events.SignatureQueued{SignatureSubject: cancellation, Total: total, At: now}).ThenNothing()
	inDoubt.When(signed).Then(sign(0, cancellation.SignatureID)).ThenEnded()
	inDoubt.When(events.SignatureWithdrawn{SignatureSubject: ofInvoice, At: now}).
		Then(does(commands.WithdrawSignature{SignatureID: cancellation.SignatureID})).ThenEnded()
	s.Given(queued).When(events.SignatureWithdrawn{SignatureSubject: ofInvoice, At: now}).ThenNothing().ThenEnded()
	processtest.CheckKeys(t, signing.Process(), invoice.String(), queued, signed, due,
		events.SignatureWithdrawn{SignatureSubject: ofInvoice}, events.SignatureRetried{SignatureSubject: ofInvoice})
}
