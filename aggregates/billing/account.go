// Package billing has the rules of money: one account per subscriber, and the series that number its documents.
package billing

import (
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Accounts is the definition of accounts.
func Accounts() aggregates.Definition[Account, commands.AccountCommand, events.AccountEvent] {
	return aggregates.Definition[Account, commands.AccountCommand, events.AccountEvent]{
		Category: commands.AccountCategory, Missing: commands.ErrNoAccount, Evolve: evolveAccount,
		Decide: decideAccount,
		Owner:  ownerAccount, Close: closeAccount,
		Commands: []commands.AccountCommand{
			commands.DraftInvoice{}, commands.IssueInvoice{}, commands.VoidInvoice{}, commands.DraftCreditNote{},
			commands.IssueCreditNote{}, commands.CreditReceipt{}, commands.WithdrawReceipt{}, commands.ReservePrompt{},
			commands.ReleasePrompt{},
		},
	}
}

// Account is the state needed to decide about one subscriber's money. The zero value is "does not exist". It is a
// value: Evolve gives another one and leaves this as it is. While anything is due there is no credit, and the other way
// round.
type Account struct {
	SubscriberID id.Subscriber
	OrgID        id.Organization
	Currency     money.Currency
	Invoices     map[id.Invoice]Invoice // drafts, and issued ones on which something is due
	Settled      map[id.Invoice]Invoice // nothing due; withdrawn money opens them again
	Voided       map[id.Invoice]string  // their numbers, "" for a draft's
	Receipts     map[id.Receipt]Receipt // all money that ever came, credit notes too
	Lots         []id.Receipt           // receipts with unused money, first come first used
	Notes        map[id.Receipt]Note    // credit notes that wait for their number
	Prompts      map[id.Payment]Prompt  // open payment prompts
	// invoices and receipts of which no more is known, by age; never changed in place
	Archived map[id.Any]int
	Issued   int // invoices issued so far
	Credited int // receipts and credit notes so far
}

// Invoice is what deciding needs of an invoice; its lines are in the events only.
type Invoice struct {
	SubscriptionID id.Subscription
	PeriodFrom     time.Time
	PeriodTo       time.Time
	Number         string
	Total          money.Amount
	Due            money.Amount
	DueOn          calendar.Date
	Seq            int          // place in the order of issue, 0 for a draft
	Paid           bool         // InvoicePaid was recorded and not undone
	Cancelled      bool         // InvoiceCancelled was recorded
	Noted          money.Amount // given back by credit notes, drafted ones included
}

// Receipt is money that came, and where it went. Number is the payer's, or the credit note's.
type Receipt struct {
	Number      string
	Amount      money.Amount
	Unused      money.Amount // still credit
	Allocations []Allocation // one per invoice
	Seq         int          // place in the order of coming
	CreditNote  bool
	Withdrawn   bool
	Move        int // see commands.CreditReceipt
}

// Allocation is the part of a receipt that pays one invoice.
type Allocation struct {
	InvoiceID id.Invoice
	Amount    money.Amount
}

// Note is a credit note that waits for its number.
type Note struct {
	InvoiceID id.Invoice
	Amount    money.Amount
	Reason    string
}

// Prompt is a reservation for one payment prompt.
type Prompt struct {
	InvoiceID id.Invoice
	Amount    money.Amount
}

// ownerAccount is the organization that owns the account.
func ownerAccount(s Account) id.Organization { return s.OrgID }

// Exists tells whether anything was ever recorded.
func (s Account) Exists() bool { return !s.OrgID.IsZero() }

// Credit is the money that lies on the account unused.
func (s Account) Credit() money.Amount {
	sum := money.Of(0, s.Currency)
	for _, lot := range s.Lots {
		sum = sum.Add(s.Receipts[lot].Unused)
	}
	return sum
}

// Due is what is owed on issued invoices.
func (s Account) Due() money.Amount {
	sum := money.Of(0, s.Currency)
	for _, inv := range s.Invoices {
		if inv.Seq > 0 {
			sum = sum.Add(inv.Due)
		}
	}
	return sum
}

// Balance is what is owed after credit: negative when money lies on the account.
func (s Account) Balance() money.Amount { return s.Due().Sub(s.Credit()) }

// oldestDue is the issued invoice to pay next, by due date and then by order of issue; zero when nothing is due.
func (s Account) oldestDue() id.Invoice {
	var oldest id.Invoice
	var best Invoice
	for invoice, inv := range s.Invoices {
		if inv.Seq == 0 {
			continue
		}
		if oldest.IsZero() || inv.DueOn.Before(best.DueOn) || inv.DueOn == best.DueOn && inv.Seq < best.Seq {
			oldest, best = invoice, inv
		}
	}
	return oldest
}

// invoice finds an invoice that is neither voided nor unknown.
func (s Account) invoice(invoice id.Invoice) (Invoice, bool) {
	if inv, ok := s.Invoices[invoice]; ok {
		return inv, true
	}
	inv, ok := s.Settled[invoice]
	return inv, ok
}

// knows tells whether the invoice id was ever used.
func (s Account) knows(invoice id.Invoice) bool {
	_, voided := s.Voided[invoice]
	_, found := s.invoice(invoice)
	return voided || found || isArchived(s, invoice)
}

// decideAccount dispatches to the rule of each command.
func decideAccount(s Account, c commands.AccountCommand, now time.Time) ([]events.AccountEvent, error) {
	switch c := c.(type) {
	case commands.DraftInvoice:
		return decideDraftInvoice(s, c, now)
	case commands.IssueInvoice:
		return decideIssueInvoice(s, c, now)
	case commands.VoidInvoice:
		return decideVoidInvoice(s, c, now)
	case commands.DraftCreditNote:
		return decideDraftCreditNote(s, c, now)
	case commands.IssueCreditNote:
		return decideIssueCreditNote(s, c, now)
	case commands.CreditReceipt:
		return decideCreditReceipt(s, c, now)
	case commands.WithdrawReceipt:
		return decideWithdrawReceipt(s, c, now)
	case commands.ReservePrompt:
		return decideReservePrompt(s, c, now)
	case commands.ReleasePrompt:
		return decideReleasePrompt(s, c, now)
	}
	return nil, nil
}

// with is a copy of a map with one entry more.
func with[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	c := maps.Clone(m)
	if c == nil {
		c = make(map[K]V, 1)
	}
	c[key] = value
	return c
}

// without is a copy of a map without one entry.
func without[K comparable, V any](m map[K]V, key K) map[K]V {
	if _, ok := m[key]; !ok {
		return m
	}
	c := maps.Clone(m)
	delete(c, key)
	return c
}

// dropLot is a copy of the lots without one.
func dropLot(lots []id.Receipt, gone id.Receipt) []id.Receipt {
	return slices.DeleteFunc(slices.Clone(lots), func(r id.Receipt) bool { return r == gone })
}
