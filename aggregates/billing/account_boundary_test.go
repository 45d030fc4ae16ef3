package billing_test

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Of two invoices due on the same day the one issued first is paid first.
func TestCreditReceipt_SameDueDatePaysInTheOrderOfIssue(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 500, 10), draft(2, 500, 10), draft(3, 500, 9), issue(2), issue(1), issue(3), credit(1, 1000))
	if got := l.State().Invoices[invoiceID(1)].Due; got != kes(500) {
		t.Errorf("due on the invoice issued later is %s", got)
	}
	l.stands(500, 0)
}

// A note on a partly paid invoice frees only what it needs: what is due makes room first.
func TestVoidInvoice_ADraftOfNothingIsNotPaid(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 0, 10))
	if _, open := l.State().Invoices[invoiceID(1)]; !open || len(l.State().Settled) > 0 {
		t.Error("a draft is settled before it is issued")
	}
	l.kinds(void(1), events.InvoiceVoided{})
}

func TestInvoicePaid_NamesItsPeriodAlsoAfterTheStreamPeriodClosed(t *testing.T) {
	t.Parallel()
	c := draft(1, 1000, 10)
	c.PeriodFrom, c.PeriodTo = now, now.AddDate(0, 1, 0)
	l := given(t, c, issue(1))
	l.closed()
	for _, e := range l.do(credit(1, 1000)) {
		paid, ok := e.(events.InvoicePaid)
		if ok && paid.PeriodFrom.Equal(now) && paid.PeriodTo.Equal(now.AddDate(0, 1, 0)) &&
			paid.SubscriptionID == subscription() {
			return
		}
	}
	t.Error("no paid invoice names its period")
}

func TestReservePrompt_NamesCustomerInvoiceAndAmount(t *testing.T) {
	t.Parallel()
	given(t, draft(1, 1000, 10), issue(1)).When(commands.ReservePrompt{
		SubscriberID: subscriber, OrgID: org, PaymentID: paymentID(1), InvoiceID: invoiceID(1), Amount: kes(1000),
	}).Then(events.PromptReserved{
		SubscriberID: subscriber, OrgID: org, PaymentID: paymentID(1), InvoiceID: invoiceID(1), Amount: kes(1000),
		At: now,
	})
}

func TestReleasePrompt_NamesCustomerAndAttempt(t *testing.T) {
	t.Parallel()
	l := given(t, commands.ReservePrompt{
		SubscriberID: subscriber, OrgID: org, PaymentID: paymentID(1), Amount: kes(1000),
	})
	l.When(commands.ReleasePrompt{SubscriberID: subscriber, PaymentID: paymentID(1)}).
		Then(events.PromptReleased{SubscriberID: subscriber, PaymentID: paymentID(1), At: now})
}

func TestAccount_ADraftedNoteSurvivesClosingWhole(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 10), issue(1), note(1, 1, 100))
	if l.State().Notes[noteID(1)].Reason.IsZero() {
		t.Fatal("the note of this test has no reason")
	}
	l.closed()
}

func TestCreditNote_FreesNoMoreThanItNeeds(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 10), issue(1), credit(1, 700), note(1, 1, 300))
	l.kinds(issueNote(1), events.CreditNoteIssued{}, events.InvoiceAllocated{}, events.InvoicePaid{})
	l.stands(0, 0)
	more := given(t, draft(1, 1000, 10), issue(1), credit(1, 700), note(1, 1, 301))
	more.kinds(issueNote(1), events.CreditNoteIssued{}, events.AllocationWithdrawn{}, events.InvoiceAllocated{},
		events.InvoicePaid{}, events.CreditLeft{})
	more.stands(0, 1)
}

// A second note never takes the place of the first.
func TestCreditNote_SecondNoteFreesReceiptsOnly(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 10), issue(1), credit(1, 1000), note(1, 1, 600), issueNote(1), note(2, 1, 0))
	second := issueNote(2)
	second.Number = "ACME-CN-0002"
	l.kinds(second, events.CreditNoteIssued{}, events.AllocationWithdrawn{}, events.InvoiceAllocated{},
		events.InvoiceCancelled{}, events.CreditLeft{})
	l.stands(0, 1000)
	for _, n := range []int{1, 2} {
		if r := l.State().Receipts[noteID(n)]; !r.Unused.IsZero() || len(r.Allocations) != 1 {
			t.Errorf("note %d is %+v", n, r)
		}
	}
}

// An old note that paid another invoice takes back only what its own invoice misses, its unused money first.
func TestWithdrawReceipt_OldCreditNoteTakesBackNoMoreThanIsMissing(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), credit(1, 500), credit(2, 500), draft(2, 600, 21), note(1, 1, 0))
	l.Given(
		events.CreditNoteIssued{
			CreditNoteID: noteID(1), InvoiceID: invoiceID(1), Amount: kes(1000), Number: "ACME-CN-0001",
		},
		events.InvoiceIssued{InvoiceID: invoiceID(2), Number: number(2), Total: kes(600), DueOn: dueOn(21)},
		events.InvoiceAllocated{InvoiceID: invoiceID(2), ReceiptID: noteID(1), Amount: kes(600), Due: kes(0)},
		events.InvoicePaid{InvoiceID: invoiceID(2)})
	l.kinds(withdraw(2), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.AllocationWithdrawn{},
		events.InvoiceAllocated{}, events.InvoiceCancelled{}, events.InvoiceReopened{})
	l.stands(100, 0) // 400 were unused, 100 came from the other invoice
}

func TestVoidInvoice_MoneyOfArchivedReceiptsCannotBeReleased(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 10), issue(1), credit(1, 400), credit(2, 600))
	s := l.State()
	s.Archived = append(slices.Clone(s.Archived), id.As[id.Any](receiptID(1)))
	receipts := map[id.Receipt]billing.Receipt{receiptID(2): s.Receipts[receiptID(2)]}
	s.Receipts = receipts
	made, err := billing.Accounts().Decide(s, void(1), now)
	if failure.CodeOf(err) != "invoice_archived" || made != nil {
		t.Errorf("released %v, %v", made, err)
	}
	keep := void(1)
	keep.ReleaseMoney = false
	if _, err := billing.Accounts().Decide(s, keep, now); failure.CodeOf(err) != "invoice_paid" {
		t.Errorf("voiding gave %v", err)
	}
}

// A note on an invoice that archived receipts paid has no place there: it is credit, and the period ends all the same.
func TestCreditNote_OfAnInvoicePaidByArchivedMoneyIsCredit(t *testing.T) {
	t.Parallel()
	s := given(t, draft(1, 1000, 10), issue(1), credit(1, 1000), note(1, 1, 0)).State()
	s.Archived, s.Receipts = []id.Any{id.As[id.Any](receiptID(1))}, nil
	made, err := billing.Accounts().Decide(s, issueNote(1), now)
	if err != nil || len(made) != 3 {
		t.Fatalf("%v, %v", made, err)
	}
	if _, cancelled := made[1].(events.InvoiceCancelled); !cancelled {
		t.Errorf("the second event is %s", made[1].EventType())
	}
	for _, e := range made {
		s = billing.Accounts().Evolve(s, e)
	}
	if s.Credit() != kes(1000) || !s.Due().IsZero() {
		t.Errorf("credit %s, due %s", s.Credit(), s.Due())
	}
}

// Exactly the newest are kept: the oldest goes when there is one more.
func TestArchive_BeginsAboveTheLimit(t *testing.T) {
	t.Parallel()
	for count, gone := range map[int]bool{200: false, 201: true} {
		l := given(t)
		for i := 1; i <= count; i++ {
			l.pay(i)
		}
		l.Given(billing.Accounts().Close(l.State()))
		s := l.State()
		_, receipt := s.Receipts[receiptID(1)]
		_, invoice := s.Settled[invoiceID(1)]
		if receipt == gone || invoice == gone || len(s.Receipts) != 200 || len(s.Settled) != 200 {
			t.Errorf("of %d: the first receipt is kept: %v, its invoice: %v", count, receipt, invoice)
		}
		if want := map[bool]int{false: 0, true: 2}[gone]; len(s.Archived) != want {
			t.Errorf("of %d: %d ids are archived, want %d", count, len(s.Archived), want)
		}
	}
}

// Money set aside, written off or recovered stays so in the next period.
func TestAccount_TargetsSurviveClosing(t *testing.T) {
	t.Parallel()
	recovering := credit(3, 150)
	recovering.InvoiceID = invoiceID(2)
	l := given(t, draft(1, 1000, 10), issue(1), credit(1, 1600), setAside(1, 1, 200), setAside(1, 2, 100), paidOut(2),
		setAside(1, 3, 50), returned(3), withdrawPart(1, 1, 20), draft(2, 700, 11), issue(2), writeOff(1, 300),
		recovering, draft(3, 100, 12), issue(3), note(1, 1, 400), issueNote(1))
	l.closed()
	l.then(setAside(1, 3, 50))
	l.then(withdrawPart(1, 1, 20))
	l.kinds(returned(1), events.SetAsideReturned{}, events.CreditLeft{})
	if r := l.State().Receipts[receiptID(1)]; r.Taken != kes(20) {
		t.Errorf("the receipt is %+v", r)
	}
}

// The command of a process is refused before its settings were added, and tried again.
func TestAccount_WhatNeedsSettingsThatNobodyAddedIsRefused(t *testing.T) {
	t.Parallel()
	given(t).fails(commands.DraftPeriodInvoice{SubscriberID: subscriber}, failure.Conflict, "settings_missing")
	l := given(t, draft(1, 1000, 20), issue(1), credit(1, 400))
	unprefixed := takesBack(1, true)
	unprefixed.Prefix = ""
	l.fails(unprefixed, failure.Conflict, "settings_missing") // the credit note would never get a number
	l.kinds(takesBack(1, true), events.CreditNoteDrafted{})
}
