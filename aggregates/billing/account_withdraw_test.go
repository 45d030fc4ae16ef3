package billing_test

import (
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// withdrawPart takes a part of the n-th receipt back, under the k-th withdrawal's id.
func withdrawPart(n, k int, minor int64) commands.WithdrawReceipt {
	c := withdraw(n)
	c.Amount, c.WithdrawalID = kes(minor), id.Derive[id.Withdrawal]("test", fmt.Sprint(k))
	return c
}

// void takes an invoice back with the money on it.
func void(n int) commands.VoidInvoice {
	return commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(n), Reason: "ended", ReleaseMoney: true}
}

func TestWithdrawReceipt_PartTakesTheCreditFirstThenWhatWasPaidLast(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 10), issue(1), draft(2, 500, 11), issue(2), credit(1, 1700))
	l.then(withdrawPart(1, 1, 300),
		events.ReceiptWithdrawn{
			SubscriberID: subscriber, OrgID: org, ReceiptID: receiptID(1), Number: "R1", Amount: kes(300),
			WithdrawalID: withdrawPart(1, 1, 0).WithdrawalID, FromCredit: kes(200), Left: kes(1400),
			Reason: personal.Of("wrong customer"), At: now,
		},
		events.AllocationWithdrawn{
			SubscriberID: subscriber, InvoiceID: invoiceID(2), ReceiptID: receiptID(1), Amount: kes(100),
			Due: kes(100), At: now,
		},
		events.InvoiceReopened{
			SubscriberID: subscriber, OrgID: org, InvoiceID: invoiceID(2), SubscriptionID: subscription(),
			Due: kes(100), Reason: personal.Of("wrong customer"), At: now,
		})
	l.stands(100, 0)
	l.kinds(withdrawPart(1, 2, 900), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{},
		events.AllocationWithdrawn{}, events.InvoiceReopened{})
	l.stands(1000, 0)
}

func TestWithdrawReceipt_RepeatedPartTakesNothingTwice(t *testing.T) {
	t.Parallel()
	l := given(t, credit(1, 1000), withdrawPart(1, 1, 300))
	l.then(withdrawPart(1, 1, 300))
	l.closed()
	l.then(withdrawPart(1, 1, 300))
	l.stands(0, 700)
	l.kinds(withdrawPart(1, 2, 300), events.ReceiptWithdrawn{})
	l.stands(0, 400)
	l.fails(withdrawPart(1, 3, 401), failure.Conflict, "withdrawal_too_large")
	l.kinds(withdrawPart(1, 3, 400), events.ReceiptWithdrawn{}) // all that is left: as if it was withdrawn whole
	l.then(withdraw(1))
	l.fails(withdrawPart(1, 4, 1), failure.Conflict, "withdrawal_too_large")
	l.fails(credit(1, 1000), failure.Conflict, "receipt_withdrawn")
	back := credit(1, 1000)
	back.Move = 1
	l.kinds(back, events.ReceiptCredited{}, events.CreditLeft{})
	l.then(withdrawPart(1, 1, 300)) // an old withdrawal takes nothing of money that came back
	l.stands(0, 1000)
}

func TestWithdrawReceipt_ZeroTakesAllThatIsLeft(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 600, 10), issue(1), credit(1, 1000), withdrawPart(1, 1, 100))
	if err := l.State().MayWithdraw(receiptID(1)); failure.CodeOf(err) != "receipt_partly_withdrawn" {
		t.Errorf("moving the receipt would move %v", err)
	}
	l.kinds(withdraw(1), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.InvoiceReopened{})
	l.stands(600, 0)
	if r := l.State().Receipts[receiptID(1)]; r.Taken != kes(1000) || !r.Withdrawn || len(r.Allocations) != 0 {
		t.Errorf("the receipt is %+v", r)
	}
	if err := l.State().MayWithdraw(receiptID(1)); failure.CodeOf(err) != "receipt_partly_withdrawn" {
		t.Errorf("moving what left in parts would move %v", err)
	}
}

// Another account is to get what a whole withdrawal takes: it takes all of the receipt, or nothing.
func TestWithdrawReceipt_AMoveTakesAllOrNothing(t *testing.T) {
	t.Parallel()
	moved := withdraw(1)
	moved.Whole = true
	l := given(t, draft(1, 400, 10), issue(1), credit(1, 1000))
	l.kinds(moved, events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.InvoiceReopened{})
	l.then(moved) // a repeat
	given(t, credit(1, 1000), withdrawPart(1, 1, 400)).fails(moved, failure.Conflict, "receipt_partly_withdrawn")
	parts := given(t, credit(1, 1000), withdrawPart(1, 1, 400), withdrawPart(1, 2, 600))
	parts.fails(moved, failure.Conflict, "receipt_partly_withdrawn")
	if err := parts.State().MayWithdraw(receiptID(1)); failure.CodeOf(err) != "receipt_partly_withdrawn" {
		t.Errorf("all of it left in parts, and the receipt may move: %v", err)
	}
	refund := given(t, credit(1, 1000), setAside(1, 1, 300))
	refund.fails(moved, failure.Conflict, "receipt_refunded")
	refund.do(returned(1)) // it failed: all of the money is there again
	refund.kinds(moved, events.ReceiptWithdrawn{})
	refund.stands(0, 0)
	paid := given(t, credit(1, 1000), setAside(1, 1, 300), paidOut(1))
	paid.fails(moved, failure.Conflict, "receipt_refunded")
}

func TestWithdrawReceipt_PartInAnotherCurrencyIsRefused(t *testing.T) {
	t.Parallel()
	c := withdrawPart(1, 1, 100)
	c.Amount = money.Of(100, "UGX")
	given(t, credit(1, 1000)).fails(c, failure.Conflict, "currency_mismatch")
}

func TestVoidInvoice_ReleasedMoneyBecomesCredit(t *testing.T) {
	t.Parallel()
	partly := given(t, draft(1, 1000, 10), issue(1), credit(1, 300), credit(2, 200))
	partly.then(void(1),
		events.AllocationWithdrawn{
			SubscriberID: subscriber, InvoiceID: invoiceID(1), ReceiptID: receiptID(2), Amount: kes(200),
			ToCredit: true, Due: kes(700), At: now,
		},
		events.AllocationWithdrawn{
			SubscriberID: subscriber, InvoiceID: invoiceID(1), ReceiptID: receiptID(1), Amount: kes(300),
			ToCredit: true, Due: kes(1000), At: now,
		},
		events.InvoiceVoided{
			SubscriberID: subscriber, InvoiceID: invoiceID(1), SubscriptionID: subscription(), Number: "ACME-0001",
			Total: kes(1000), WasIssued: true, Reason: personal.Of("ended"), At: now,
		},
		events.CreditLeft{SubscriberID: subscriber, OrgID: org, Credit: kes(500), At: now})
	partly.then(void(1))
	partly.stands(0, 500)
	partly.closed()
	partly.kinds(withdraw(1), events.ReceiptWithdrawn{})
	partly.stands(0, 200)
}

func TestVoidInvoice_ReleasedMoneyOfAPaidInvoicePaysTheNextOne(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 10), issue(1), credit(1, 1000), draft(2, 400, 11), issue(2))
	l.kinds(void(1), events.AllocationWithdrawn{}, events.InvoiceVoided{}, events.InvoiceAllocated{},
		events.InvoicePaid{}, events.CreditLeft{})
	l.stands(0, 600)
	unpaid := given(t, draft(1, 1000, 10), issue(1))
	unpaid.kinds(void(1), events.InvoiceVoided{}) // nothing to release
}

func TestVoidInvoice_WithANoteOrAWriteOffIsRefusedToAPerson(t *testing.T) {
	t.Parallel()
	byHand := void(1)
	byHand.ReleaseMoney = false
	given(t, draft(1, 1000, 10), issue(1), note(1, 1, 100)).fails(byHand, failure.Conflict, "invoice_has_credit_note")
	given(t, draft(1, 1000, 10), issue(1), writeOff(1, 100)).fails(byHand, failure.Conflict, "invoice_written_off")
}

func TestVoidInvoice_OfAPeriodThatNeverBeganIsCreditedWhereItCannotBeVoided(t *testing.T) {
	t.Parallel()
	c := void(1)
	c.NotePrefix = "ACME-CN"
	rest := func(l *ledger, minor int64, waived int) commands.IssueCreditNote {
		t.Helper()
		made := l.do(c)
		if len(made) != 1+waived {
			t.Fatalf("made %+v", made)
		}
		drafted, ok := made[waived].(events.CreditNoteDrafted)
		if !ok || drafted.Amount != kes(minor) || drafted.Prefix != "ACME-CN" || drafted.InvoiceID != invoiceID(1) {
			t.Fatalf("made %+v", made)
		}
		l.then(c) // once
		return commands.IssueCreditNote{
			SubscriberID: subscriber, CreditNoteID: drafted.CreditNoteID, Number: "ACME-CN-0002",
		}
	}
	noted := given(t, draft(1, 1000, 10), issue(1), credit(1, 600), note(1, 1, 200), issueNote(1))
	noted.do(rest(noted, 800, 0))
	noted.stands(0, 600)
	noted.then(c)
	lost := given(t, draft(1, 1000, 10), issue(1), credit(1, 600), writeOff(1, 0))
	lost.do(rest(lost, 600, 1))
	lost.stands(0, 600)
	whole := given(t, draft(1, 1000, 10), issue(1), note(1, 1, 1000))
	whole.then(c) // the note is on its way
}

func TestVoidInvoice_OfAWrittenOffPeriodThatNeverBeganMakesRecoveriesCredit(t *testing.T) {
	t.Parallel()
	named := func(n int) commands.CreditReceipt {
		c := credit(n, 700)
		c.InvoiceID = invoiceID(1)
		return c
	}
	l := given(t, draft(1, 1000, 10), issue(1), writeOff(1, 0), named(1))
	l.stands(0, 0) // a loss that money recovers
	l.kinds(void(1), events.RecoveryWaived{}, events.RecoveryWithdrawn{}, events.CreditLeft{})
	l.stands(0, 700)
	l.then(void(1))
	l.closed()
	l.do(named(2))
	l.stands(0, 1400)
	l.do(withdraw(1))
	l.stands(0, 700)
}

func TestTellCredit_IsAnsweredWhenThereIsAny(t *testing.T) {
	t.Parallel()
	ask := commands.TellCredit{SubscriberID: subscriber}
	given(t).then(ask)
	l := given(t, draft(1, 1000, 10), issue(1), credit(1, 1000))
	l.then(ask)
	l.do(credit(2, 300))
	told := events.CreditLeft{SubscriberID: subscriber, OrgID: org, Credit: kes(300), Asked: true, At: now}
	l.then(ask, told)
	l.then(ask, told)
	l.stands(0, 300)
}

// Dunning and renewal read from any event what is due, and since when, after the append that it is part of.
func TestAccountEvents_TellTheBooksAfterThem(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 1000, 20), issue(1), draft(2, 500, 5))
	books := func(c commands.AccountCommand, due, credit int64, oldest calendar.Date) {
		t.Helper()
		want, told := events.Books{Due: kes(due), Credit: kes(credit), OldestDueOn: oldest}, 0
		for _, e := range l.do(c) {
			if got := after(e); got.Known() {
				told++
				if got != want {
					t.Errorf("%s tells %+v, want %+v", e.EventType(), got, want)
				}
			}
		}
		if told == 0 {
			t.Errorf("no event of %s tells the books", c.CommandName())
		}
	}
	books(issue(2), 1500, 0, dueOn(5))
	books(credit(1, 700), 800, 0, dueOn(20))
	books(credit(2, 900), 0, 100, calendar.Date{})
	books(withdraw(2), 800, 0, dueOn(20))
	books(void(2), 300, 0, dueOn(20))
	books(writeOff(1, 200), 100, 0, dueOn(20))
	if (events.Books{}).Known() {
		t.Error("an event of an old version seems to know the books")
	}
}
