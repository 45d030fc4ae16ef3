// Package billing has the rules of money: one account for each subscriber, and the series that number its documents.
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

// Accounts defines the account: one stream for each subscriber with all invoices, allocations and credit, closed into
// periods because it grows for years.
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

// Account is the state needed to decide about one subscriber's money. The zero value is "does not exist". Evolve
// returns a new value and never changes the old one. While anything is due there is no credit, and while there is
// credit nothing is due.
type Account struct {
	SubscriberID id.Subscriber
	OrgID        id.Organization
	Currency     money.Currency
	Invoices     map[id.Invoice]Invoice // drafts, and issued invoices with an amount due
	Settled      map[id.Invoice]Invoice // nothing is due; a withdrawn receipt can move an invoice back to Invoices
	Voided       map[id.Invoice]string  // value: the document number, "" for a voided draft
	Receipts     map[id.Receipt]Receipt // every receipt and credit note that was ever credited, except archived ones
	Lots         []id.Receipt           // receipts with unused money, oldest first; the first is spent first
	Notes        map[id.Receipt]Note    // drafted credit notes without a number yet
	Prompts      map[id.Payment]Prompt  // open payment prompts
	// Archived invoices and receipts: only the id is known. The value orders them by age, 0 is the oldest. The map is
	// never changed in place.
	Archived map[id.Any]int
	Issued   int // number of invoices issued so far
	Credited int // number of receipts and credit notes so far
}

// Invoice has the part of an invoice that decisions need; its lines are in the events only.
type Invoice struct {
	SubscriptionID id.Subscription
	PeriodFrom     time.Time
	PeriodTo       time.Time
	Number         string
	Total          money.Amount
	Due            money.Amount
	DueOn          calendar.Date
	Seq            int          // 1 for the invoice issued first, 0 for a draft
	Paid           bool         // InvoicePaid was recorded and no InvoiceReopened after it
	Cancelled      bool         // InvoiceCancelled was recorded
	Noted          money.Amount // sum of its credit notes, drafted ones included
}

// Receipt is money that was credited, and the invoices that it pays. Number is the provider's receipt number, or the
// number of the credit note.
type Receipt struct {
	Number      string
	Amount      money.Amount
	Unused      money.Amount // the part that is still credit
	Allocations []Allocation // at most one for each invoice
	Seq         int          // 1 for the money credited first
	CreditNote  bool
	Withdrawn   bool
	Move        int // how often the money was moved between accounts; see commands.CreditReceipt
}

// Allocation is the part of one receipt that pays one invoice; never zero.
type Allocation struct {
	InvoiceID id.Invoice
	Amount    money.Amount
}

// Note is a drafted credit note. Its amount is already reserved in Invoice.Noted.
type Note struct {
	InvoiceID id.Invoice
	Amount    money.Amount
	Reason    string
}

// Prompt reserves an amount for one open payment prompt. InvoiceID is zero when the customer pays no particular
// invoice.
type Prompt struct {
	InvoiceID id.Invoice
	Amount    money.Amount
}

// ownerAccount never changes: a subscriber belongs to one organization for ever.
func ownerAccount(s Account) id.Organization { return s.OrgID }

// Exists reports whether the account was opened. A draft, a receipt or a prompt opens it.
func (s Account) Exists() bool { return !s.OrgID.IsZero() }

// Credit is the unused money on the account, at least zero.
func (s Account) Credit() money.Amount {
	sum := money.Of(0, s.Currency)
	for _, lot := range s.Lots {
		sum = sum.Add(s.Receipts[lot].Unused)
	}
	return sum
}

// Due is the sum of what issued invoices still need; drafts do not count.
func (s Account) Due() money.Amount {
	sum := money.Of(0, s.Currency)
	for _, inv := range s.Invoices {
		if inv.Seq > 0 {
			sum = sum.Add(inv.Due)
		}
	}
	return sum
}

// Balance is the amount due minus the credit: negative when the account has credit.
func (s Account) Balance() money.Amount { return s.Due().Sub(s.Credit()) }

// oldestDue is the issued invoice that is paid next: the earliest due date, then the order of issue. Zero when nothing
// is due.
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

// invoice finds a draft, open or settled invoice. It is false for a voided, archived or unknown one.
func (s Account) invoice(invoice id.Invoice) (Invoice, bool) {
	if inv, ok := s.Invoices[invoice]; ok {
		return inv, true
	}
	inv, ok := s.Settled[invoice]
	return inv, ok
}

// knows reports whether the invoice id was used before; voided and archived invoices count.
func (s Account) knows(invoice id.Invoice) bool {
	_, voided := s.Voided[invoice]
	_, found := s.invoice(invoice)
	return voided || found || isArchived(s, invoice)
}

// decideAccount only dispatches; the rule of each command is in the function of its name.
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

// with returns a copy of the map with the entry set; the state that shares the old map does not change.
func with[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	c := maps.Clone(m)
	if c == nil {
		c = make(map[K]V, 1)
	}
	c[key] = value
	return c
}

// without returns a copy of the map without the key, or the map itself when it has no such key.
func without[K comparable, V any](m map[K]V, key K) map[K]V {
	if _, ok := m[key]; !ok {
		return m
	}
	c := maps.Clone(m)
	delete(c, key)
	return c
}

// dropLot returns a copy of the list without one receipt.
func dropLot(lots []id.Receipt, gone id.Receipt) []id.Receipt {
	return slices.DeleteFunc(slices.Clone(lots), func(r id.Receipt) bool { return r == gone })
}
