// Package billing has the rules of money: one account for each subscriber, and the series that number its documents.
package billing

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Accounts defines the account: one stream for each subscriber with all invoices, allocations and credit, closed into
// periods because it grows for years.
func Accounts() aggregates.Definition[Account, commands.AccountCommand, events.AccountEvent] {
	return aggregates.Definition[Account, commands.AccountCommand, events.AccountEvent]{
		Category: commands.AccountCategory, Missing: commands.ErrNoAccount, Evolve: evolveAccount,
		Decide: decideAccount,
		Owner:  ownerAccount, Close: closeAccount, ClosedAt: closedAt,
		Commands: []commands.AccountCommand{
			commands.DraftInvoice{}, commands.DraftPeriodInvoice{}, commands.DraftTopUpInvoice{},
			commands.IssueInvoice{}, commands.VoidInvoice{},
			commands.DraftCreditNote{}, commands.CreditDays{}, commands.SellDays{}, commands.IssueCreditNote{},
			commands.CreditReceipt{},
			commands.WithdrawReceipt{}, commands.ReservePrompt{}, commands.ReleasePrompt{}, commands.SetCreditAside{},
			commands.ReturnSetAside{}, commands.PayOutSetAside{}, commands.WriteOffDebt{}, commands.TellCredit{},
			commands.PayOrders{}, commands.VoidOrders{}, commands.CarryBalanceOver{}, commands.TakeBackInvoice{},
			commands.ReissueInvoice{}, commands.CloseAccount{},
		},
	}
}

// Account is the state needed to decide about one subscriber's money. The zero value is "does not exist". Evolve
// returns a new value and never changes the old one. While anything is owed there is no credit, and while there is
// credit nothing is owed.
type Account struct {
	SubscriberID id.Subscriber
	OrgID        id.Organization
	Currency     money.Currency
	Closed       bool                   // AccountClosed was recorded
	Forgotten    bool                   // it was closed because the customer is to be forgotten
	Invoices     map[id.Invoice]Invoice // drafts, and issued invoices with an amount due
	Settled      map[id.Invoice]Invoice // nothing is due; a withdrawn receipt can move an invoice back to Invoices
	Voided       map[id.Invoice]string  // value: the document number, "" for a voided draft
	// Receipts has every receipt, credit note and write-off that was ever booked, except archived ones.
	Receipts map[id.Receipt]Receipt
	Lots     []id.Receipt          // receipts with unused money, oldest first; the first is spent first
	Notes    map[id.Receipt]Note   // drafted credit notes without a number yet
	Prompts  map[id.Payment]Prompt // open payment prompts
	// Archived invoices and receipts: only the id is known, the oldest first. The list is never changed in place.
	Archived []id.Any
	// ArchivedUntil is when the newest of the receipts was booked whose id is, or was, in Archived; zero = none yet.
	ArchivedUntil time.Time
	Issued        int // number of invoices issued so far
	Credited      int // number of receipts and credit notes so far
}

// Invoice has the part of an invoice that decisions need; its lines are in the events only.
type Invoice struct {
	SubscriptionID id.Subscription
	SoldTo         id.Subscription
	Order          bool          // nobody owes it, as long as it was not paid whole
	RunID          id.BillingRun // of a draft, the run that made it
	PeriodFrom     time.Time
	PeriodTo       time.Time
	Number         string
	Total          money.Amount
	Once           money.Amount // the part of Total of which no day of its period has a share
	Due            money.Amount
	DueOn          calendar.Date
	Seq            int               // 1 for the invoice issued first, 0 for a draft
	Paid           bool              // InvoicePaid was recorded and no InvoiceReopened after it
	EverPaid       bool              // it was paid once, or the one was in whose place it is
	Cancelled      bool              // InvoiceCancelled was recorded
	WroteOff       bool              // InvoiceWrittenOff was recorded
	Noted          money.Amount      // sum of its credit notes, drafted ones included
	WrittenOff     money.Amount      // sum of the write-offs on it
	Recovered      money.Amount      // the part of WrittenOff that later money covers
	Waived         bool              // its period never began: money that names it recovers nothing
	ReplacedBy     id.Invoice        // the corrected one, in its place once its credit note is issued
	Part           events.PartPeriod // that of events.InvoicePaid
}

// Receipt is money that was booked on the account, and what it is for. Number is the provider's receipt number, or the
// number of the credit note. Amount is the sum of Taken, Unused and the allocations.
type Receipt struct {
	Number      string
	Amount      money.Amount
	Unused      money.Amount    // the part that is still credit
	Taken       money.Amount    // the part that was withdrawn
	Withdrawals []id.Withdrawal // of parts; each takes its part once
	Allocations []Allocation    // at most one for each target
	Seq         int             // 1 for the money booked first
	CreditNote  bool
	WriteOff    bool       // a debt that was given up: never credit
	Home        id.Invoice // of a credit note, its own invoice; zero in openings that do not have it yet
	Withdrawn   bool       // nothing is left to withdraw
	BookedAt    time.Time  // of received money; zero in openings that do not have it yet
	Move        int        // how often the money was moved between accounts; see commands.CreditReceipt
}

// Target says what allocated money is for.
type Target struct {
	Kind string // events.ForInvoice, events.ForRefund or events.ForWriteOff
	ID   id.Any // of the invoice or the refund
}

// Allocation is the part of one receipt that is for one target. It is above zero, except that a refund that failed
// keeps an allocation of zero, so that its money is not set aside again.
type Allocation struct {
	Target Target
	Amount money.Amount
	Done   bool // of a refund: it was paid out, or it failed
}

// toInvoice makes the target of money that pays an invoice.
func toInvoice(invoice id.Invoice) Target { return Target{events.ForInvoice, id.As[id.Any](invoice)} }

// invoice is the invoice that the target pays; zero for another kind of target.
func (t Target) invoice() id.Invoice {
	if t.Kind != events.ForInvoice {
		return id.Invoice{}
	}
	return id.As[id.Invoice](t.ID)
}

// to is the receipt's money for a target; the zero value when there is none.
func (r Receipt) to(t Target) Allocation {
	for _, a := range r.Allocations {
		if a.Target == t {
			return a
		}
	}
	return Allocation{}
}

// Note is a drafted credit note. Its amount is already reserved in Invoice.Noted.
type Note struct {
	InvoiceID id.Invoice
	Amount    money.Amount
	Reason    personal.Text
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

// Owed is the part of Due that somebody owes: all but the orders.
func (s Account) Owed() money.Amount { return s.Due().Sub(s.ordered()) }

// Books are the sums that the account's events tell.
func (s Account) Books() events.Books {
	return events.Books{Due: s.Due(), Credit: s.Credit(), OldestDueOn: s.Invoices[s.oldestDue()].DueOn}
}

// returned is the part of an invoice that issued credit notes cover.
func (s Account) returned(invoice id.Invoice) money.Amount {
	inv, _ := s.invoice(invoice)
	sum := inv.Noted
	for _, n := range s.Notes {
		if n.InvoiceID == invoice {
			sum = sum.Sub(n.Amount)
		}
	}
	return sum
}

// payers lists the receipts that have money for a target, the newest first.
func (s Account) payers(t Target) []id.Receipt {
	var list []id.Receipt
	for receipt, r := range s.Receipts {
		if r.to(t).Amount.Positive() {
			list = append(list, receipt)
		}
	}
	slices.SortFunc(list, func(a, b id.Receipt) int { return cmp.Compare(s.Receipts[b].Seq, s.Receipts[a].Seq) })
	return list
}

// PaidOn is the money on an invoice that came from receipts; what credit notes cover, or was given up, is none.
// Archived receipts do not count.
func (s Account) PaidOn(invoice id.Invoice) money.Amount {
	sum := money.Of(0, s.Currency)
	for _, receipt := range s.payers(toInvoice(invoice)) {
		if r := s.Receipts[receipt]; !r.CreditNote && !r.WriteOff {
			sum = sum.Add(r.to(toInvoice(invoice)).Amount)
		}
	}
	return sum
}

// Balance is the amount due minus the credit: negative when the account has credit.
func (s Account) Balance() money.Amount { return s.Due().Sub(s.Credit()) }

// byDueDate lists the issued invoices with an amount owed in the order in which they are paid: by due date, then in the
// order of issue. Orders are none of them.
func (s Account) byDueDate() []id.Invoice {
	var list []id.Invoice
	for invoice, inv := range s.Invoices {
		if inv.Seq > 0 && !inv.Order {
			list = append(list, invoice)
		}
	}
	slices.SortFunc(list, func(a, b id.Invoice) int {
		one, two := s.Invoices[a], s.Invoices[b]
		return cmp.Or(cmp.Compare(one.DueOn.String(), two.DueOn.String()), cmp.Compare(one.Seq, two.Seq))
	})
	return list
}

// oldestDue is the issued invoice that is paid next; zero when nothing is owed.
func (s Account) oldestDue() id.Invoice {
	if list := s.byDueDate(); len(list) > 0 {
		return list[0]
	}
	return id.Invoice{}
}

// invoice finds a draft, open or settled invoice. It is false for a voided, archived or unknown one.
func (s Account) invoice(invoice id.Invoice) (Invoice, bool) {
	if inv, ok := s.Invoices[invoice]; ok {
		return inv, true
	}
	inv, ok := s.Settled[invoice]
	return inv, ok
}

// NumberOf is the number of an issued invoice, also of a settled one; "" for a draft, and for a voided, archived or
// unknown one.
func (s Account) NumberOf(invoice id.Invoice) string {
	inv, _ := s.invoice(invoice)
	return inv.Number
}

// Knows reports whether the account has or had an invoice, drafts and voided ones included.
func (s Account) Knows(invoice id.Invoice) bool { return s.knows(invoice) }

// knows reports whether the invoice id was used before; voided and archived invoices count.
func (s Account) knows(invoice id.Invoice) bool {
	_, voided := s.Voided[invoice]
	_, found := s.invoice(invoice)
	return voided || found || isArchived(s, invoice)
}

// decideAccount only dispatches; the rule of each command is in the function of its name.
func decideAccount(s Account, c commands.AccountCommand, now time.Time) ([]events.AccountEvent, error) {
	made, err := decideAlone(s, c, now)
	for _, e := range made {
		switch e := e.(type) {
		case events.CreditNoteDrafted:
			if e.Prefix == "" { // it would have no series, and never get a number
				return nil, errNoSettings()
			}
			if _, removing := c.(commands.VoidInvoice); s.Forgotten || s.Closed && !removing {
				return nil, commands.ErrAccountClosed()
			}
		case events.InvoiceDrafted, events.ReceiptCredited, events.BalanceCarriedOver, events.PromptReserved:
			if s.Closed {
				return nil, commands.ErrAccountClosed()
			}
		default: // nothing else needs more than its own rule
		}
	}
	return made, err
}

// errNoSettings refuses the command of a process to which the organization's settings were not added.
func errNoSettings() error {
	return failure.NewConflict("settings_missing", "The organization's settings were not added.")
}

// decideAlone decides a command, whose events decideAccount checks.
func decideAlone(s Account, c commands.AccountCommand, now time.Time) ([]events.AccountEvent, error) {
	switch c := c.(type) {
	case commands.DraftInvoice:
		return decideDraftInvoice(s, c, now)
	case commands.DraftPeriodInvoice, commands.DraftTopUpInvoice:
		return nil, errNoSettings()
	case commands.IssueInvoice:
		return decideIssueInvoice(s, c, now)
	case commands.VoidInvoice:
		return decideVoidInvoice(s, c, now)
	case commands.DraftCreditNote:
		return decideDraftCreditNote(s, c, now)
	case commands.CreditDays:
		return decideCreditDays(s, c, now)
	case commands.SellDays:
		return decideSellDays(s, c, now), nil
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
	case commands.SetCreditAside:
		return decideSetCreditAside(s, c, now)
	case commands.ReturnSetAside:
		return decideReturnSetAside(s, c, now)
	case commands.PayOutSetAside:
		return decidePayOutSetAside(s, c, now)
	case commands.WriteOffDebt:
		return decideWriteOffDebt(s, c, now)
	case commands.TellCredit:
		return decideTellCredit(s, c, now), nil
	case commands.PayOrders:
		return decidePayOrders(s, c, now)
	case commands.VoidOrders:
		return decideVoidOrders(s, c, now)
	case commands.TakeBackInvoice:
		return decideTakeBackInvoice(s, c, now)
	case commands.ReissueInvoice:
		return decideReissue(s, c, now)
	case commands.CarryBalanceOver:
		return decideCarryBalanceOver(s, c, now)
	case commands.CloseAccount:
		return decideCloseAccount(s, c, now)
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
