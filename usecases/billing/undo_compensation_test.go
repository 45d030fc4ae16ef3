package billingcases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/outages"
)

// moneyGiven makes a paid service of Amina, and a compensation that gives it KES 100 on the invoice of its month. It
// gives what the process of credit notes does then, and the undo of the compensation.
func moneyGiven(t *testing.T, k *kit) (notes func(), undo func() (outcome string, err error)) {
	t.Helper()
	line, given := id.New[id.Subscription](), id.New[id.Compensation]()
	made := k.Run(t, coretest.Ask(k.acme).Meta, commands.CreateSubscription{
		SubscriptionID: line, OrgID: k.acme, SubscriberID: k.amina, PlanID: id.New[id.Plan](), PlanVersion: 1,
		Timezone: "Africa/Nairobi", Username: personal.Of("amina"),
		Terms: events.PlanTerms{
			Name: "Home 10", Kind: "pppoe", Price: money.Major(1500, money.KES), Mode: events.Prepaid,
			Period: calendar.Month, Rates: events.Rates{Down: 10_000, Up: 5_000},
		},
	})
	var due events.PeriodDue
	for _, e := range made.Events {
		if d, is := e.(events.PeriodDue); is {
			due = d
		}
	}
	k.draftOf(t, commands.DraftOf(due))
	for _, c := range []commands.Command{
		commands.IssueInvoice{SubscriberID: k.amina, InvoiceID: due.InvoiceID, Number: "ACME-0001"},
		k.received(1500),
		commands.ExtendSubscription{SubscriptionID: line, InvoiceID: due.InvoiceID, PaidAt: k.clock.Now()},
	} {
		k.Run(t, coretest.Operator(k.acme), c)
	}
	k.clock.Advance(10 * 24 * time.Hour)
	from := k.clock.Now().Add(-48 * time.Hour)
	gave := k.Run(t, coretest.Operator(k.acme), commands.CompensateSubscription{
		SubscriptionID: line, CompensationID: given, From: from, To: from.Add(24 * time.Hour),
		Give: events.CompensationGive{Money: money.Major(100, money.KES)},
	})
	notes = func() {
		for _, e := range gave.Events {
			compensated, _ := e.(events.SubscriptionCompensated)
			for _, c := range compensated.Credits {
				note := events.CompensationNote(given, c.InvoiceID, line)
				k.Run(t, coretest.Operator(k.acme), commands.CreditDays{
					SubscriberID: k.amina, DaysCredit: c, CreditNoteID: note, Reason: "outage", Prefix: "ACME",
				})
				k.Run(t, coretest.Operator(k.acme), commands.IssueCreditNote{
					SubscriberID: k.amina, CreditNoteID: note, Number: "CN-0001",
				})
			}
		}
	}
	undo = func() (string, error) {
		by := outagescases.UndoCompensations{Bus: k.Bus, Clock: k.clock}
		return by.Undo(t.Context(), usecases.BatchUndoOf{
			BatchID: id.As[id.Batch](given), OrgID: k.acme, Reason: "the mast was up", Text: "undone",
			At: k.clock.Now(),
		}, usecases.BatchItem{ID: id.As[id.Any](line), SubscriberID: k.amina, SubscriptionID: line},
			coretest.Operator(k.acme))
	}
	return notes, undo
}

// received is money for Amina in cash.
func (k *kit) received(amount int64) commands.CreditReceipt {
	return commands.CreditReceipt{
		SubscriberID: k.amina, OrgID: k.acme, ReceiptID: id.New[id.Receipt](), Number: "N1", Channel: "cash",
		Amount: money.Major(amount, money.KES), PaidAt: k.clock.Now(),
	}
}

// TestUndoCompensation_ANoteThatIsNotDraftedYetIsNotForgotten: the process that drafts the credit note of a
// compensation is behind when it is undone, and does its work afterwards.
func TestUndoCompensation_ANoteThatIsNotDraftedYetIsNotForgotten(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	notes, undo := moneyGiven(t, k)
	outcome, err := undo()
	notes()
	if credit := k.account(t).Credit(); err == nil && credit.Positive() {
		t.Errorf("%s, and the customer keeps %s", outcome, credit)
	}
}

// TestUndoCompensation_ANoteThatTheAccountHasArchivedIsNotForgotten: the customer has paid so often since that the
// account keeps only the id of the credit note.
func TestUndoCompensation_ANoteThatTheAccountHasArchivedIsNotForgotten(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	notes, undo := moneyGiven(t, k)
	notes()
	for len(k.account(t).Archived) == 0 {
		k.Run(t, coretest.Operator(k.acme), k.received(1))
	}
	before := len(k.log(t))
	outcome, err := undo()
	if charged := len(k.log(t)) > before; err == nil && !charged {
		t.Errorf("%s, and nothing is charged; the account knows %d archived documents", outcome,
			len(k.account(t).Archived))
	}
}

// TestUndoCompensation_WhatWasGivenBackWholeIsNotChargedAgain: a person has credited the rest of the invoice since, so
// that the customer has paid for nothing.
func TestUndoCompensation_WhatWasGivenBackWholeIsNotChargedAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	notes, undo := moneyGiven(t, k)
	notes()
	account := k.account(t)
	for invoice := range account.Settled {
		k.Run(t, coretest.Operator(k.acme), commands.DraftCreditNote{
			SubscriberID: k.amina, CreditNoteID: id.New[id.Receipt](), InvoiceID: invoice, Reason: "never worked",
			Prefix: "ACME",
		})
	}
	outcome, err := undo()
	if failure.CodeOf(err) != "corrected_since" {
		t.Errorf("%s, %v", outcome, err)
	}
}

// TestUndoCompensation_WhatIsUndoneStaysSoWhateverIsCorrectedLater: the money was charged again, then a person credits
// the rest of the invoice. Another undo, which is for what was blocked, finds the item undone.
func TestUndoCompensation_WhatIsUndoneStaysSoWhateverIsCorrectedLater(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	notes, undo := moneyGiven(t, k)
	notes()
	of := k.account(t).Settled
	for n := range 2 {
		if outcome, err := undo(); outcome != events.ItemCredited || err != nil {
			t.Errorf("undo %d: %s, %v", n+1, outcome, err)
		}
		for invoice := range of {
			k.Run(t, coretest.Operator(k.acme), commands.DraftCreditNote{
				SubscriberID: k.amina, InvoiceID: invoice, Reason: "never worked", Prefix: "ACME",
				CreditNoteID: id.Derive[id.Receipt]("test", invoice.String()),
			})
		}
	}
	drafts := 0
	for _, e := range k.log(t) {
		if _, is := e.Event.(events.InvoiceDrafted); is {
			drafts++
		}
	}
	if drafts != 2 {
		t.Errorf("%d invoices, want that of the month and one for the money", drafts)
	}
}

// TestUndoCompensation_OfAClosedAccountIsRefusedBeforeAnythingHappens: the customer was forgotten since. Nobody could
// be asked for the money, and so the time is not taken back either.
func TestUndoCompensation_OfAClosedAccountIsRefusedBeforeAnythingHappens(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	notes, undo := moneyGiven(t, k)
	notes()
	k.Run(t, coretest.Operator(k.acme), commands.CloseAccount{
		SubscriberID: k.amina, OrgID: k.acme, Currency: money.KES, Reason: "removed",
	})
	for range 2 {
		if outcome, err := undo(); failure.CodeOf(err) != "account_closed" {
			t.Errorf("%s, %v", outcome, err)
		}
	}
}
