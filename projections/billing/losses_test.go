package billingviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// Carol is the subscriber of the losses; they have a credit note, a write-off and a refund.
var (
	carol     = id.Derive[id.Subscriber]("test", "carol")
	wholeNote = id.Derive[id.Receipt]("test", "whole note")
	loss      = id.Derive[id.Receipt]("test", "loss")
	refund    = id.Derive[id.Refund]("test", "refund")
)

// dora comes with an import.
var dora = id.Derive[id.Subscriber]("test", "dora")

// carriedAndBack is an import that brings a customer who had paid ahead, and its undo.
func carriedAndBack(who id.Subscriber) []events.Event {
	ahead := events.CarriedCredit(who)
	return []events.Event{
		events.BalanceCarriedOver{SubscriberID: who, OrgID: acme, ReceiptID: ahead, Amount: kes(-30000), At: at(200)},
		events.ReceiptWithdrawn{
			SubscriberID: who, OrgID: acme, ReceiptID: ahead, Amount: kes(30000), Reason: personal.Of("wrong file"),
			At: at(201),
		},
	}
}

// moved is money that goes to an invoice, or leaves it when the amount is negative.
func moved(invoice int, from id.Receipt, minor, due int64, toCredit bool) events.Event {
	if minor < 0 {
		return events.AllocationWithdrawn{
			SubscriberID: carol, InvoiceID: invoiceID(invoice), ReceiptID: from, Amount: kes(-minor), Due: kes(due),
			ToCredit: toCredit, At: at(90),
		}
	}
	return events.InvoiceAllocated{
		SubscriberID: carol, InvoiceID: invoiceID(invoice), ReceiptID: from, Amount: kes(minor), Due: kes(due),
		At: at(91),
	}
}

// losses has a paid invoice that is given back whole, one that is paid in part and written off for the rest, later
// money for it that is taken back in part, a refund that fails, and numbers without a document.
func losses() []events.Event {
	paid, late := credited(11, carol, 100000, "cash", 3), credited(12, carol, 30000, "c2b", 20)
	return []events.Event{
		drafted(11, carol, 100000, 1, 10), issued(11, carol, 100000, 2, 10), paid,
		moved(11, paid.ReceiptID, 100000, 0, false),
		events.CreditNoteDrafted{
			SubscriberID: carol, OrgID: acme, CreditNoteID: wholeNote, InvoiceID: invoiceID(11), Amount: kes(100000),
			Reason: personal.Of("outage"), DraftedAt: at(5),
		},
		events.CreditNoteIssued{
			SubscriberID: carol, OrgID: acme, CreditNoteID: wholeNote, InvoiceID: invoiceID(11), Number: "ACME-CN-0001",
			Amount: kes(100000), Reason: personal.Of("outage"), IssuedAt: at(6),
		},
		moved(11, paid.ReceiptID, -100000, 100000, true), moved(11, wholeNote, 100000, 0, false),
		events.InvoiceCancelled{SubscriberID: carol, OrgID: acme, InvoiceID: invoiceID(11), At: at(6)},
		drafted(12, carol, 150000, 7, 11), issued(12, carol, 150000, 8, 11),
		moved(12, paid.ReceiptID, 100000, 50000, false),
		events.DebtWrittenOff{
			SubscriberID: carol, OrgID: acme, WriteOffID: loss, Amount: kes(50000), Reason: personal.Of("gone away"),
			At: at(9),
		},
		moved(12, loss, 50000, 0, false),
		events.InvoiceWrittenOff{
			SubscriberID: carol, OrgID: acme, InvoiceID: invoiceID(12), Amount: kes(50000), At: at(9),
		},
		late,
		events.WriteOffRecovered{
			SubscriberID: carol, OrgID: acme, InvoiceID: invoiceID(12), Number: "ACME-0002", ReceiptID: late.ReceiptID,
			Amount: kes(20000), At: at(21),
		},
		events.CreditSetAside{
			SubscriberID: carol, OrgID: acme, RefundID: refund, ReceiptID: late.ReceiptID, Number: late.Number,
			Amount: kes(10000), Reason: personal.Of("asked for"), At: at(22),
		},
		events.SetAsideReturned{
			SubscriberID: carol, OrgID: acme, RefundID: refund, ReceiptID: late.ReceiptID, Number: late.Number,
			Amount: kes(10000), Reason: personal.Of("declined"), At: at(23),
		},
		events.ReceiptWithdrawn{
			SubscriberID: carol, OrgID: acme, ReceiptID: late.ReceiptID, Number: late.Number, Amount: kes(15000),
			FromCredit: kes(10000), Left: kes(15000), Reason: personal.Of("fraud"), At: at(24),
		},
		events.RecoveryWithdrawn{
			SubscriberID: carol, OrgID: acme, InvoiceID: invoiceID(12), Number: "ACME-0002", ReceiptID: late.ReceiptID,
			Amount: kes(5000), At: at(24),
		},
		events.CreditNoteVoided{
			SubscriberID: carol, CreditNoteID: id.Derive[id.Receipt]("test", "stray"), StrayOf: wholeNote,
			Number: "ACME-CN-0002", Reason: "the document has another number", At: at(25),
		},
		events.CreditNoteVoided{
			SubscriberID: carol, CreditNoteID: id.Derive[id.Receipt]("test", "lost"), Number: "ACME-CN-0003",
			Reason: "there is no such draft", At: at(26),
		},
	}
}

// An invoice that credit notes cover is credited, and one that was given up is written off: neither is paid. What is
// paid, credited, written off and due sums to the total.
func TestInvoices_CreditedAndWrittenOffOnesAreNotPaid(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.tell(t, acme, losses()...)
	for n, want := range map[int]struct {
		state                              string
		paid, credited, writtenOff, regain int64
	}{11: {"credited", 0, 100000, 0, 0}, 12: {"written_off", 100000, 0, 50000, 15000}} {
		d, err := k.invoices.Get(t.Context(), acme, invoiceID(n))
		if err != nil || d == nil {
			t.Fatalf("invoice: %v, %v", d, err)
		}
		if d.State != want.state || d.Paid() != kes(want.paid) || d.Credited() != kes(want.credited) ||
			d.WrittenOff() != kes(want.writtenOff) || d.RecoveredMinor != want.regain || d.Due() != kes(0) {
			t.Errorf("invoice %d is %+v", n, d.InvoiceRow)
		}
		var sum int64
		for _, a := range d.Allocations {
			sum += a.AmountMinor
		}
		if sum != d.PaidMinor {
			t.Errorf("allocations of invoice %d are %+v", n, d.Allocations)
		}
	}
}

// The statement explains losses and refunds: its balance is that of the account, and its credits are the collections.
func TestStatement_LossesAndRefundsSumToTheBalance(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.tell(t, acme, losses()...)
	lines, err := k.statement.Lines(t.Context(), acme, carol, billingviews.StatementKey{}, 100)
	if err != nil || len(lines) == 0 {
		t.Fatalf("statement: %v, %v", lines, err)
	}
	credits := kes(0)
	for _, l := range lines {
		credits = credits.Add(l.Credit())
	}
	if lines[0].Balance() != kes(0) || credits != kes(115000) {
		t.Errorf("balance %s, credits %s: %+v", lines[0].Balance(), credits, lines)
	}
	rows, err := k.collections.ByDay(t.Context(), acme, []time.Time{began}, began.AddDate(0, 0, 1))
	total, count := money.Of(0, money.KES), int64(0)
	for _, r := range rows {
		total, count = total.Add(kes(r.TotalMinor)), count+r.Count
	}
	if err != nil || total != credits || count != 2 {
		t.Errorf("collected %s from %d payments, %v", total, count, err)
	}
}

// The line of a refund says that it was asked for only until its outcome is known.
func TestStatement_TellsWhatBecameOfARefund(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	paid := credited(13, carol, 30000, "c2b", 20)
	k.tell(t, acme, paid, events.CreditSetAside{
		SubscriberID: carol, OrgID: acme, RefundID: refund, ReceiptID: paid.ReceiptID, Number: paid.Number,
		Amount: kes(10000), Reason: personal.Of("a refund was asked for"), At: at(22),
	})
	last := func(n int) string {
		lines, err := k.statement.Lines(t.Context(), acme, carol, billingviews.StatementKey{}, 10)
		if err != nil || len(lines) != n {
			t.Fatalf("statement: %v, %v", lines, err)
		}
		return lines[n-2].Description() // the first one is the payment
	}
	asked := "Refund of payment " + paid.Number
	if got := last(2); got != asked+": a refund was asked for" {
		t.Errorf("it waits: %q", got)
	}
	k.tell(t, acme, events.SetAsideReturned{
		SubscriberID: carol, OrgID: acme, RefundID: refund, ReceiptID: paid.ReceiptID, Number: paid.Number,
		Amount: kes(10000), Reason: personal.Of("the refund was not paid"), At: at(23),
	})
	if got := last(3); got != asked+": it was not paid" {
		t.Errorf("it failed: %q", got)
	}
	second := id.Derive[id.Refund]("test", "second refund")
	k.tell(t, acme, events.CreditSetAside{
		SubscriberID: carol, OrgID: acme, RefundID: second, ReceiptID: paid.ReceiptID, Number: paid.Number,
		Amount: kes(10000), Reason: personal.Of("a refund was asked for"), At: at(24),
	}, events.RefundCompleted{
		RefundID: second, OrgID: acme, ReceiptID: paid.ReceiptID, SubscriberID: carol, Amount: kes(10000),
		Reference: "CHQ 12", SaidBy: "operator", At: at(25),
	})
	lines, err := k.statement.Lines(t.Context(), acme, carol, billingviews.StatementKey{}, 10)
	if err != nil || lines[0].Description() != asked+": paid to the payer, number CHQ 12" {
		t.Errorf("it was paid: %+v, %v", lines, err)
	}
}
