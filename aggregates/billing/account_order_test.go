package billing_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// chain is a list of commands that keep their order among each other: a receipt is credited before it is withdrawn.
type chain []commands.AccountCommand

// interleave draws an order of several chains.
func interleave(t *rapid.T, label string, chains []chain) []commands.AccountCommand {
	left := slices.Clone(chains)
	var order []commands.AccountCommand
	for len(left) > 0 {
		i := rapid.IntRange(0, len(left)-1).Draw(t, label)
		order = append(order, left[i][0])
		if left[i] = left[i][1:]; len(left[i]) == 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	return order
}

// story draws what happens to one account: an invoice that is paid, given back and never voided, one that is voided
// with its money, one that is only paid, and payments of which some are reversed whole or in part.
func story(t *rapid.T) []chain {
	void := commands.VoidInvoice{
		SubscriberID: subscriber, InvoiceID: invoiceID(2), Reason: "ended", ReleaseMoney: true,
	}
	first := chain{draft(1, 1000, 3), issue(1)}
	for n, minor := range rapid.SampledFrom([][]int64{{0}, {300}, {300, 0}, {1000}, {250, 250}}).Draw(t, "notes") {
		issued := issueNote(n + 1)
		issued.Number = number(100 + n)
		first = append(first, note(n+1, 1, minor), issued)
	}
	all := []chain{first, {draft(2, 400, 1), issue(2), void}, {draft(3, 700, 2), issue(3)}}
	for n := 1; n <= 4; n++ {
		paid := credit(n, int64(rapid.IntRange(1, 6).Draw(t, "paid"))*200)
		if rapid.Bool().Draw(t, "named") {
			paid.InvoiceID = invoiceID(rapid.IntRange(1, 3).Draw(t, "of"))
		}
		one := chain{paid}
		switch rapid.IntRange(0, 2).Draw(t, "reversed") {
		case 1:
			one = append(one, withdraw(n))
		case 2:
			one = append(one, withdrawPart(n, n, 150))
		}
		all = append(all, one)
	}
	return all
}

// outcome has all that must not depend on the order of a story.
type outcome struct {
	Books     events.Books
	Cancelled bool                  // of the invoice with credit notes
	Voided    bool                  // of the invoice that is voided
	Notes     map[string]int64      // money of each credit note on its own invoice
	Receipts  map[string]([2]int64) // booked and withdrawn
}

// live executes the commands in an order; all must be accepted. It checks that no period follows a cancellation.
func live(t *rapid.T, order []commands.AccountCommand) outcome {
	var s billing.Account
	out := outcome{Notes: map[string]int64{}, Receipts: map[string][2]int64{}}
	for _, c := range order {
		made, err := billing.Accounts().Decide(s, c, now)
		if err != nil {
			t.Fatalf("%s: %v", c.CommandName(), err)
		}
		for _, e := range made {
			s = billing.Accounts().Evolve(s, e)
			switch e := e.(type) {
			case events.InvoiceCancelled:
				if out.Cancelled {
					t.Fatal("an invoice is cancelled twice")
				}
				out.Cancelled = true
			case events.InvoicePaid:
				if out.Cancelled && e.InvoiceID == invoiceID(1) {
					t.Fatal("a cancelled invoice is paid")
				}
			case events.InvoiceReopened:
				if out.Cancelled && e.InvoiceID == invoiceID(1) {
					t.Fatal("a cancelled invoice is reopened")
				}
			}
		}
	}
	_, out.Voided = s.Voided[invoiceID(2)]
	for _, r := range s.Receipts {
		if r.CreditNote {
			for _, a := range r.Allocations {
				if a.Target.ID == [16]byte(r.Home) {
					out.Notes[r.Number] = a.Amount.Minor
				}
			}
			continue
		}
		out.Receipts[r.Number] = [2]int64{r.Amount.Minor, r.Taken.Minor}
	}
	out.Books = s.Books()
	out.Books.OldestDueOn = dueOn(1) // which invoice is paid first follows the order in which money came
	return out
}

// Payments, reversals, credit notes and voids of one account end in the same books in whatever order they come: a note
// covers its own invoice, a cancelled invoice gives no period, and released money is credit.
func TestAccount_AnyOrderOfPaymentReversalNoteAndVoidEndsInTheSameBooks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chains := story(t)
		one, two := live(t, interleave(t, "one", chains)), live(t, interleave(t, "two", chains))
		if diff := cmp.Diff(one, two); diff != "" {
			t.Fatalf("the order decides (-one +two):\n%s", diff)
		}
		if wrong := one.Notes[number(100)]; wrong == 0 {
			t.Fatal("the note's money is not on its own invoice")
		}
	})
}
