package billing_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// pay drafts, issues and pays an invoice without the checks of do, because thousands of them must be fast.
func (l *ledger) pay(n int) {
	l.t.Helper()
	paid := credit(n, 1000)
	paid.InvoiceID = invoiceID(n)
	for _, c := range []commands.AccountCommand{draft(n, 1000, 10), issue(n), paid} {
		made, err := billing.Accounts().Decide(l.State(), c, now)
		if err != nil {
			l.t.Fatalf("%s: %v", c.CommandName(), err)
		}
		l.Given(made...)
	}
}

// live pays n invoices and closes the stream's period now and then. It returns the size of the largest opening in
// bytes.
func (l *ledger) live(n int) (largest int) {
	l.t.Helper()
	for i := 1; i <= n; i++ {
		l.pay(i)
		if i%200 == 0 {
			closing := billing.Accounts().Close(l.State())
			if e, ok := closing.(events.AccountPeriodClosed); ok {
				largest = max(largest, len(e.Opening))
			}
			l.Given(closing)
		}
	}
	return largest
}

// An hourly customer pays thousands of times. The opening must fit into one append of 1 MiB, base64 included.
func TestAccount_OpeningStaysSmallOverThousandsOfPayments(t *testing.T) {
	t.Parallel()
	l := given(t)
	if largest := l.live(1500); largest > 125_000 {
		t.Errorf("an opening has %d bytes", largest)
	}
	l.stands(0, 0)
}

// What can still change stays whatever its age: unused credit, money that waits for a refund, an invoice under a
// drafted credit note, a voided draft that waits for its number, and what pays something due.
func TestArchive_KeepsWhatCanStillChange(t *testing.T) {
	t.Parallel()
	l := given(t, draft(9001, 500, 1), issue(9001), credit(9001, 500), note(1, 9001, 100), credit(9002, 300),
		setAside(9002, 1, 300), credit(9003, 50), setAside(9003, 2, 50), paidOut(2), draft(9004, 100, 1),
		commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(9004), Reason: "typo"})
	for i := 1; i <= 300; i++ {
		l.pay(i)
	}
	l.do(credit(9005, 70)) // unused, and then 300 newer ones that are reversed
	for i := 301; i <= 600; i++ {
		for _, c := range []commands.AccountCommand{credit(i, 100), withdraw(i)} {
			made, err := billing.Accounts().Decide(l.State(), c, now)
			if err != nil {
				t.Fatal(err)
			}
			l.Given(made...)
		}
	}
	l.Given(billing.Accounts().Close(l.State()))
	s := l.State()
	for n, kept := range map[int]bool{9001: false, 9002: true, 9003: false, 9005: true, 1: false, 600: true} {
		if _, found := s.Receipts[receiptID(n)]; found != kept {
			t.Errorf("receipt %d is kept: %v, want %v", n, found, kept)
		}
	}
	if _, found := s.Settled[invoiceID(9001)]; !found {
		t.Error("an invoice under a drafted credit note was archived")
	}
	if _, found := s.Voided[invoiceID(9004)]; !found {
		t.Error("a voided draft without its number was archived")
	}
	l.stands(0, 70)
	l.kinds(issueNote(1), events.CreditNoteIssued{}, events.CreditLeft{})
}

// A customer who voids and orders all the time keeps a small account too.
func TestArchive_OldVoidedDocumentsAreForgottenInTheOrderOfTheirNumbers(t *testing.T) {
	t.Parallel()
	l := given(t)
	for i := 1; i <= 300; i++ {
		for _, c := range []commands.AccountCommand{draft(i, 100, 1), issue(i), void(i)} {
			made, err := billing.Accounts().Decide(l.State(), c, now)
			if err != nil {
				t.Fatal(err)
			}
			l.Given(made...)
		}
	}
	l.Given(billing.Accounts().Close(l.State()))
	s := l.State()
	if _, found := s.Voided[invoiceID(100)]; found || len(s.Voided) != 200 {
		t.Errorf("%d voided documents are kept", len(s.Voided))
	}
	l.then(issue(100)) // still known: no second document
	l.then(draft(100, 100, 1))
}

// An account remembers a bounded number of ids. What it does not know any more is neither credited again nor moved
// while its money stays; money that is matched after all of that is credited as ever.
func TestArchive_AForgottenReceiptIsNeitherCreditedAgainNorMoved(t *testing.T) {
	t.Parallel()
	s, at := billing.Account{}, now
	try := func(c commands.AccountCommand) ([]events.AccountEvent, error) {
		made, err := billing.Accounts().Decide(s, c, at)
		for _, e := range made {
			s = billing.Accounts().Evolve(s, e)
		}
		return made, err
	}
	matched := func(n int, at time.Time) commands.CreditReceipt {
		c := credit(n, 1000)
		c.MatchedAt = at
		return c
	}
	for n := range 2300 {
		at = at.Add(time.Hour)
		for _, c := range []commands.AccountCommand{draft(n, 1000, 1), issue(n), matched(n, at)} {
			if _, err := try(c); err != nil {
				t.Fatal(n, err)
			}
		}
		if n%50 == 49 {
			s = billing.Accounts().Evolve(billing.Account{}, billing.Accounts().Close(s))
		}
	}
	for n, what := range map[int]string{3: "forgotten", 1500: "archived"} {
		if err := s.MayWithdraw(receiptID(n)); failure.CodeOf(err) != "receipt_archived" {
			t.Errorf("a receipt that is %s may be moved: %v", what, err)
		}
		if _, err := try(withdraw(n)); failure.CodeOf(err) != "receipt_archived" {
			t.Errorf("a receipt that is %s is withdrawn: %v", what, err)
		}
	}
	again := matched(3, now.Add(4*time.Hour))
	for _, told := range []time.Time{again.MatchedAt, {}} {
		again.MatchedAt = told
		if made, err := try(again); failure.CodeOf(err) != "receipt_archived" || len(made) > 0 {
			t.Errorf("a forgotten receipt is credited again: %d events, %v", len(made), err)
		}
	}
	if made, err := try(matched(1500, now.Add(1501*time.Hour))); err != nil || len(made) > 0 {
		t.Errorf("an archived receipt is credited again: %d events, %v", len(made), err)
	}
	late := matched(9001, at.Add(-time.Minute)) // matched before the newest receipt was booked
	if made, err := try(late); err != nil || len(made) == 0 {
		t.Errorf("a late credit: %d events, %v", len(made), err)
	}
}

// Openings of before do not tell when the archived receipts were booked: that was before the period was closed. Money
// of a busy account that was matched later is new, however late its credit comes.
func TestArchive_AnOpeningOfBeforeLearnsWhenItsReceiptsWereBooked(t *testing.T) {
	t.Parallel()
	old := billing.Account{SubscriberID: subscriber, OrgID: org, Currency: money.KES}
	for n := range 4000 {
		old.Archived = append(old.Archived, id.As[id.Any](receiptID(n)))
	}
	closed := now.Add(-time.Hour)
	state, err := accounts.Reopen(accounts.Close(old))
	if err != nil {
		t.Fatal(err)
	}
	state = accounts.ClosedAt(state, closed)
	matched := func(n int, at time.Time) error {
		c := credit(n, 100)
		c.MatchedAt = at
		made, err := accounts.Decide(state, c, now)
		for _, e := range made {
			state = accounts.Evolve(state, e)
		}
		return err
	}
	for n, at := range []time.Time{now.Add(-time.Second), closed.Add(time.Minute)} {
		if err := matched(9001+n, at); err != nil {
			t.Errorf("matched at %s: %v", at, err)
		}
	}
	for _, at := range []time.Time{closed, {}} {
		if err := matched(9003, at); failure.CodeOf(err) != "receipt_archived" {
			t.Errorf("matched at %s: %v", at, err)
		}
	}
	if state, _ = accounts.Reopen(accounts.Close(state)); !accounts.ClosedAt(state, now).ArchivedUntil.Equal(closed) {
		t.Errorf("archived until %s", state.ArchivedUntil)
	}
}

func TestAccount_ArchivedMoneyIsStillCreditedOnce(t *testing.T) {
	t.Parallel()
	l := given(t, draft(9001, 500, 1), issue(9001), note(1, 9001, 100), issueNote(1), credit(9001, 700),
		draft(9002, 100, 1), issue(9002))
	l.stands(0, 200)
	l.do(draft(9003, 900, 1))
	l.do(issue(9003)) // stays due; receipt 9001 pays a part of it
	l.stands(700, 0)
	first := credit(1, 1000)
	first.InvoiceID = invoiceID(1)
	l.do(draft(1, 1000, 10))
	l.do(issue(1))
	l.do(first)
	for i := 2; i <= 1200; i++ { // named invoices, so that the first one stays due
		l.pay(i)
	}
	l.Given(billing.Accounts().Close(l.State()))
	l.stands(700, 0)
	s := l.State()
	if len(s.Receipts) > 210 || len(s.Settled) > 410 || len(s.Archived) == 0 {
		t.Errorf("%d receipts, %d settled invoices, %d archived", len(s.Receipts), len(s.Settled), len(s.Archived))
	}
	l.SurvivesClosing()
	l.then(first) // not credited again
	l.then(draft(1, 1000, 10))
	l.then(issue(1))
	moved := first
	moved.Move = 1
	l.fails(moved, failure.Conflict, "receipt_archived")
	l.fails(withdraw(1), failure.Conflict, "receipt_archived")
	l.fails(note(2, 1, 0), failure.Conflict, "invoice_archived")
	l.fails(commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(1), Reason: "x"}, failure.Conflict,
		"invoice_archived")
	l.fails(commands.ReservePrompt{
		SubscriberID: subscriber, OrgID: org, PaymentID: paymentID(1), InvoiceID: invoiceID(1),
		Amount: money.Major(1, money.KES),
	},
		failure.Conflict, "invoice_not_payable")
	l.then(note(1, 9001, 100))
	l.then(issueNote(1))
	l.kinds(withdraw(9001), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.AllocationWithdrawn{},
		events.AllocationWithdrawn{},
		events.InvoiceReopened{}, events.InvoiceReopened{}) // old, but its invoice is still due
	l.kinds(withdraw(1100), events.ReceiptWithdrawn{}, events.AllocationWithdrawn{}, events.InvoiceReopened{})
}
