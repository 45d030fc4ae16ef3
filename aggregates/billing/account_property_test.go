package billing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// billingClosed is the state with which the next period begins.
func billingClosed(t interface{ Fatalf(string, ...any) }, s billing.Account) billing.Account {
	next := billing.Accounts().Evolve(billing.Account{}, billing.Accounts().Close(s))
	if diff := cmp.Diff(s, next, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("closing the period changed the account (-before +after):\n%s", diff)
	}
	return next
}

// drawCommand draws any command over few ids, so that commands concern the same invoices and receipts.
func drawCommand(t *rapid.T) commands.AccountCommand {
	n := rapid.IntRange(1, 4).Draw(t, "n")
	amount := int64(rapid.IntRange(1, 5).Draw(t, "amount")) * 250
	day := rapid.IntRange(1, 3).Draw(t, "day")
	switch rapid.IntRange(0, 18).Draw(t, "command") {
	case 0:
		return draft(n, amount, day)
	case 1, 2:
		return issue(n)
	case 3:
		return commands.VoidInvoice{SubscriberID: subscriber, InvoiceID: invoiceID(n), Reason: "typo"}
	case 4:
		return note(n, rapid.IntRange(1, 4).Draw(t, "of"), amount)
	case 5:
		return issueNote(n)
	case 6:
		return withdraw(n)
	case 7:
		return commands.ReservePrompt{
			SubscriberID: subscriber, OrgID: org, PaymentID: paymentID(n), Amount: kes(amount),
		}
	case 8:
		return commands.ReleasePrompt{SubscriberID: subscriber, PaymentID: paymentID(n)}
	case 9:
		return void(n)
	case 10:
		return withdrawPart(n, rapid.IntRange(1, 3).Draw(t, "withdrawal"), amount/2)
	case 11:
		return setAside(n, rapid.IntRange(1, 3).Draw(t, "refund"), amount/2)
	case 12:
		return returned(n)
	case 13:
		return paidOut(n)
	case 14:
		return writeOff(n, amount)
	case 15:
		return reissue(n, rapid.IntRange(1, 4).Draw(t, "corrected"), amount)
	case 16:
		return creditDays(n, rapid.IntRange(1, 4).Draw(t, "of"), rapid.IntRange(1, 31).Draw(t, "days"))
	}
	c := credit(n, int64(n)*250) // always the same amount for the same receipt
	c.Move = rapid.IntRange(0, 2).Draw(t, "move")
	if rapid.Bool().Draw(t, "named") {
		c.InvoiceID = invoiceID(rapid.IntRange(1, 4).Draw(t, "of"))
	}
	return c
}

// books counts the same money from the events alone, as a read model does. received is all money and all losses that
// were booked and have not left, allocated the part of them that is for something.
type books struct {
	received, allocated, statement money.Amount
	due                            map[string]money.Amount
	ended                          map[string]bool // cancelled invoices
}

// apply counts the money of one event.
func (b *books) apply(e events.AccountEvent) {
	_, change := events.BalanceChange(e)
	b.statement = b.statement.Add(change)
	switch e := e.(type) {
	case events.InvoiceIssued:
		b.due[e.InvoiceID.String()] = e.Total
	case events.InvoiceVoided:
		delete(b.due, e.InvoiceID.String())
	case events.ReceiptCredited:
		b.received = b.received.Add(e.Amount)
	case events.CreditNoteIssued:
		b.received = b.received.Add(e.Amount)
	case events.DebtWrittenOff:
		b.received = b.received.Add(e.Amount)
	case events.ReceiptWithdrawn:
		b.received = b.received.Add(e.Amount.Neg())
	case events.CreditSetAside:
		b.received = b.received.Add(e.Amount.Neg())
	case events.SetAsideReturned:
		b.received = b.received.Add(e.Amount)
	case events.WriteOffRecovered:
		b.received = b.received.Add(e.Amount.Neg())
	case events.RecoveryWithdrawn:
		b.received = b.received.Add(e.Amount)
	case events.InvoiceCancelled:
		b.ended[e.InvoiceID.String()] = true
	case events.InvoiceAllocated:
		b.allocated, b.due[e.InvoiceID.String()] = b.allocated.Add(e.Amount), e.Due
	case events.AllocationWithdrawn:
		b.allocated, b.due[e.InvoiceID.String()] = b.allocated.Sub(e.Amount), e.Due
	}
}

// follows fails for an event that must not follow the cancellation of its invoice.
func (b *books) follows(t *rapid.T, e events.AccountEvent) {
	var invoice string
	switch e := e.(type) {
	case events.InvoicePaid:
		invoice = e.InvoiceID.String()
	case events.InvoiceReopened:
		invoice = e.InvoiceID.String()
	case events.InvoiceCancelled:
		invoice = e.InvoiceID.String()
	case events.InvoiceVoided:
		invoice = e.InvoiceID.String()
	}
	if b.ended[invoice] {
		t.Fatalf("%s follows the cancellation of its invoice", e.EventType())
	}
}

// covers fails for a cancelled invoice that tells of money in its place which nobody has paid: s is the account after
// the decision.
func covers(t *rapid.T, s billing.Account, e events.AccountEvent) {
	cancelled, ok := e.(events.InvoiceCancelled)
	if !ok || cancelled.ReplacedBy.IsZero() {
		return
	}
	in, settled := s.Settled[cancelled.ReplacedBy]
	if _, open := s.Invoices[cancelled.ReplacedBy]; !open && !settled || in.Cancelled || cancelled.Covered != in.Paid {
		t.Fatalf("%+v is followed by %+v", cancelled, in)
	}
}

// check compares the books with the state of the account.
func (b *books) check(t *rapid.T, s billing.Account) {
	if got := b.allocated.Add(s.Credit()); got.Cmp(b.received) != 0 {
		t.Fatalf("allocations and credit are %s, received %s", got, b.received)
	}
	if s.Balance().Cmp(b.statement) != 0 {
		t.Fatalf("balance is %s, the statement says %s", s.Balance(), b.statement)
	}
	if s.Due().Positive() && s.Credit().Positive() {
		t.Fatalf("%s due beside a credit of %s", s.Due(), s.Credit())
	}
	var due money.Amount
	for invoice, d := range b.due {
		if d.Negative() {
			t.Fatalf("due of invoice %s is %s", invoice, d)
		}
		due = due.Add(d)
	}
	if due.Cmp(s.Due()) != 0 {
		t.Fatalf("due is %s, the invoices' sum %s", s.Due(), due)
	}
	for receipt, r := range s.Receipts {
		sum := r.Unused.Add(r.Taken)
		for _, a := range r.Allocations {
			sum = sum.Add(a.Amount)
		}
		if sum != r.Amount || r.Unused.Negative() {
			t.Fatalf("receipt %s has %s in its parts: %+v", receipt, sum, r)
		}
	}
}

func TestAccount_EveryAcceptedCommandKeepsTheBooks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s billing.Account
		b := books{due: map[string]money.Amount{}, ended: map[string]bool{}}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			c := drawCommand(t)
			before := billingClosed(t, s)
			made, err := billing.Accounts().Decide(s, c, now)
			if diff := cmp.Diff(before, s, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("deciding %s changed the state it was given:\n%s", c.CommandName(), diff)
			}
			if err != nil {
				continue
			}
			for _, e := range made {
				s = billing.Accounts().Evolve(s, e)
				b.follows(t, e)
				b.apply(e)
			}
			for _, e := range made {
				covers(t, s, e)
			}
			b.check(t, s)
			for _, e := range made {
				if told := after(e); told.Known() && told != s.Books() {
					t.Fatalf("%s tells %+v, the account is %+v", e.EventType(), told, s.Books())
				}
			}
			if again, _ := billing.Accounts().Decide(s, c, now); len(again) > 0 {
				t.Fatalf("%s acted twice: %v", c.CommandName(), again)
			}
			if rapid.IntRange(0, 9).Draw(t, "close") == 0 {
				s = billingClosed(t, s)
			}
		}
	})
}

// The order in which invoices and payments arrive decides which invoices are paid, but never how much is owed.
func TestAccount_OrderOfPaymentsAndIssuesEndsWithTheSameBalance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		drafts := []commands.AccountCommand{draft(1, 1000, 3), draft(2, 400, 1), draft(3, 700, 2)}
		later := []commands.AccountCommand{
			issue(1), issue(2), issue(3), credit(1, 250), credit(2, 900), credit(3, 600), credit(1, 250), issue(2),
		}
		one := foldAll(t, append(drafts, later...))
		two := foldAll(t, append(drafts, rapid.Permutation(later).Draw(t, "order")...))
		if one.Balance() != two.Balance() || one.Due() != two.Due() || one.Credit() != two.Credit() {
			t.Fatalf("balance %s or %s, by order", one.Balance(), two.Balance())
		}
	})
}

// foldAll executes commands that must all be accepted.
func foldAll(t *rapid.T, cs []commands.AccountCommand) billing.Account {
	var s billing.Account
	for _, c := range cs {
		made, err := billing.Accounts().Decide(s, c, now)
		if err != nil {
			t.Fatalf("%s: %v", c.CommandName(), err)
		}
		for _, e := range made {
			s = billing.Accounts().Evolve(s, e)
		}
	}
	return s
}

// The bus keeps states and decides from the same state more than once. A decision must not change the state that
// another one starts from.
func TestAccount_StatesShareNothingThatChanges(t *testing.T) {
	t.Parallel()
	l := given(t)
	for n := range 8 {
		for _, other := range []int{100 + n, 200 + n} {
			future := given(t)
			future.Given(billing.Accounts().Close(l.State()))
			before := l.State()
			made := l.When(credit(other, 250)).ThenEvents() // first future
			first := l.State()
			// second future
			_ = billing.Accounts().Evolve(before, events.ReceiptCredited{ReceiptID: receiptID(300 + n), Amount: kes(1)})
			for _, e := range made {
				future.Given(e)
			}
			if diff := cmp.Diff(future.State(), first, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("one future shows in another:\n%s", diff)
			}
		}
	}
}
