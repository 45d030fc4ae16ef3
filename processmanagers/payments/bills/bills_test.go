package bills_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/bills"
)

// The invoice of these tests, and what happens to it.
var (
	now     = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	org     = id.Derive[id.Organization]("test", "org")
	invoice = id.Derive[id.Invoice]("test", "invoice")
	receipt = id.Derive[id.Receipt]("test", "receipt")
	of      = events.BillSubject{
		OrgID: org, SubscriberID: id.Derive[id.Subscriber]("test", "amina"), InvoiceID: invoice, Number: "ACME-0001",
	}

	on     = events.BillManagerConfigured{OrgID: org, On: true, At: now}
	off    = events.BillManagerConfigured{OrgID: org, At: now}
	signs  = events.TaxGatewayConfigured{OrgID: org, On: true, At: now}
	issued = events.InvoiceIssued{
		SubscriberID: of.SubscriberID, OrgID: org, InvoiceID: invoice, Number: of.Number,
		Total: money.Major(1160, money.KES), IssuedAt: now,
	}
	signed = events.DocumentSigned{SignatureSubject: events.SignatureSubject{
		SignatureID: id.As[id.Signature](invoice), OrgID: org, SubscriberID: of.SubscriberID, InvoiceID: invoice,
		Document: events.TaxInvoice, Number: of.Number,
	}}
	queued = events.BillQueued{BillSubject: of, At: now}
	paid   = events.InvoicePaid{OrgID: org, InvoiceID: invoice, At: now}

	queues  = does(commands.QueueBill{BillSubject: of})
	nothing = processmanagers.Output{}
)

// does has commands alone.
func does(list ...commands.Command) processmanagers.Output {
	return processmanagers.Output{Commands: list}
}

func TestQueue_WhatIsIssuedWhileItIsOnGoes(t *testing.T) {
	t.Parallel()
	processtest.For(t, bills.QueueProcess(), now).When(issued).Then(nothing).
		When(on).Then(nothing).When(issued).Then(queues).When(off).Then(nothing).When(issued).Then(nothing)
}

func TestQueue_AnInvoiceThatIsSignedGoesOnlyThen(t *testing.T) {
	t.Parallel()
	order := issued
	order.Order = true
	note := signed
	note.Document = events.TaxCreditNote
	processtest.For(t, bills.QueueProcess(), now).When(signs).Then(nothing).When(on).Then(nothing).
		When(issued).Then(nothing).When(signed).Then(queues).When(order).Then(queues)
	processtest.For(t, bills.QueueProcess(), now).When(on).Then(nothing).When(note).Then(nothing)
}

func TestQueue_AnOwnShortcodeLeaves(t *testing.T) {
	t.Parallel()
	direct := events.GatewayConfigured{OrgID: org, Direct: true, At: now}
	processtest.For(t, bills.QueueProcess(), now).When(on).Then(nothing).
		When(events.GatewayConfigured{OrgID: org, At: now}).Then(nothing).
		When(direct).Then(does(commands.LeaveBillManager{OrgID: org}))
	processtest.For(t, bills.QueueProcess(), now).When(on).Then(nothing).When(off).Then(nothing). // it is there
													When(direct).Then(does(commands.LeaveBillManager{OrgID: org}))
}

func TestBills_ACreditNoteOverAPartChangesWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	note := events.CreditNoteIssued{OrgID: org, InvoiceID: invoice, IssuedAt: now}
	changes := does(commands.RecallBill{InvoiceID: invoice, Reason: events.BillChanged})
	processtest.For(t, bills.Process(), now).When(note).Then(nothing).
		When(queued).Then(nothing).When(note).Then(changes).
		When(paid).Then(does(commands.SettleBill{InvoiceID: invoice})).When(note).Then(nothing)
}

func TestBills_FollowTheirInvoices(t *testing.T) {
	t.Parallel()
	settles := does(commands.SettleBill{InvoiceID: invoice})
	recalls := does(commands.RecallBill{InvoiceID: invoice, Reason: events.BillVoided})
	processtest.For(t, bills.Process(), now).When(paid).Then(nothing). // it has no bill
										When(queued).Then(nothing).When(paid).Then(settles)
	processtest.For(t, bills.Process(), now).When(queued).Then(nothing).
		When(events.InvoiceVoided{InvoiceID: invoice, WasIssued: true, At: now}).Then(recalls).
		When(events.InvoiceCancelled{OrgID: org, InvoiceID: invoice, At: now}).Then(recalls).
		When(events.BillCancelled{BillSubject: of, At: now}).Then(nothing).When(paid).Then(nothing).
		When(events.InvoiceReopened{OrgID: org, InvoiceID: invoice, At: now}).
		Then(does(commands.ReopenBill{InvoiceID: invoice}))
}

// TestBills_OneThatIsOwedAgainIsFollowedAgain: a part of the money came by the bill manager and the rest elsewhere, and
// that went back.
func TestBills_OneThatIsOwedAgainIsFollowedAgain(t *testing.T) {
	t.Parallel()
	settles := does(commands.SettleBill{InvoiceID: invoice})
	processtest.For(t, bills.Process(), now).When(queued).Then(nothing).
		When(events.BillAcknowledged{BillSubject: of, At: now}).Then(nothing).When(paid).Then(settles).ThenEnded().
		When(events.InvoiceReopened{OrgID: org, InvoiceID: invoice, At: now}).
		Then(does(commands.ReopenBill{InvoiceID: invoice})).
		When(events.BillReopened{BillSubject: of, At: now}).Then(nothing).ThenGoesOn().
		When(events.InvoiceVoided{InvoiceID: invoice, WasIssued: true, At: now}).
		Then(does(commands.RecallBill{InvoiceID: invoice, Reason: events.BillVoided})).
		When(paid).Then(settles).ThenEnded()
}

// TestBills_WhatWasGivenUpIsTakenBack: nobody owes the invoice any more.
func TestBills_WhatWasGivenUpIsTakenBack(t *testing.T) {
	t.Parallel()
	givenUp := events.InvoiceWrittenOff{OrgID: org, InvoiceID: invoice, At: now}
	recalls := does(commands.RecallBill{InvoiceID: invoice, Reason: events.BillVoided})
	processtest.For(t, bills.Process(), now).When(givenUp).Then(nothing). // it has no bill
										When(queued).Then(nothing).When(givenUp).Then(recalls).
										When(events.BillCancelled{BillSubject: of, At: now}).Then(nothing)
}

func TestBills_AReportedPaymentIsLookedFor(t *testing.T) {
	t.Parallel()
	looks := processmanagers.Output{Jobs: []commands.Job{commands.ReportBill{ReceiptID: receipt, At: now}}}
	sighted := events.ReceiptSighted{ReceiptID: receipt, Sighting: commands.SightingBillManager, At: now}
	processtest.For(t, bills.Process(), now).When(sighted).Then(looks)
	sighted.Sighting = commands.SightingConfirmation
	processtest.For(t, bills.Process(), now).When(sighted).Then(nothing)
}
