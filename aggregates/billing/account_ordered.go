package billing

import (
	"cmp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// orders lists the orders that are not paid, drafts included, in the order of issue.
func (s Account) orders() []id.Invoice {
	var list []id.Invoice
	for invoice, inv := range s.Invoices {
		if inv.Order {
			list = append(list, invoice)
		}
	}
	slices.SortFunc(list, func(a, b id.Invoice) int {
		return cmp.Or(cmp.Compare(s.Invoices[a].Seq, s.Invoices[b].Seq), cmp.Compare(a.String(), b.String()))
	})
	return list
}

// ordered is the sum of what the issued orders still need.
func (s Account) ordered() money.Amount {
	sum := money.Of(0, s.Currency)
	for _, inv := range s.Invoices {
		if inv.Order && inv.Seq > 0 {
			sum = sum.Add(inv.Due)
		}
	}
	return sum
}

// toldOrders is the same for an event, which leaves a sum of nothing out.
func (s Account) toldOrders() money.Amount {
	if sum := s.ordered(); sum.Positive() {
		return sum
	}
	return money.Amount{}
}

// orderNotes lists the credit notes that were issued over an order, the oldest first.
func (s Account) orderNotes(order id.Invoice) (list []events.OrderNote) {
	for _, note := range oldestFirst(s.Receipts, func(r Receipt) int { return r.Seq }) {
		if r := s.Receipts[note]; r.CreditNote && r.Home == order {
			list = append(list, events.OrderNote{CreditNoteID: note, Number: r.Number, Amount: r.Amount})
		}
	}
	return list
}

// decidePayOrders pays no order in part: what is paid in part can neither be given nor lapse.
func decidePayOrders(s Account, c commands.PayOrders, now time.Time) ([]events.AccountEvent, error) {
	switch {
	case !s.Exists():
		return nil, nil
	case c.Keep.Currency != s.Currency:
		return nil, commands.ErrCurrencyMismatch(s.Currency)
	}
	b, left := booking{s: s, now: now}, s.Credit().Min(c.Credit).Sub(c.Keep)
	for _, invoice := range s.orders() {
		inv := s.Invoices[invoice]
		if inv.Seq > 0 && inv.Due.Cmp(left) <= 0 {
			b.pay(invoice, id.Receipt{})
			left = left.Sub(inv.Due)
		}
	}
	return b.events(), nil
}

// decideVoidOrders voids orders of which nobody can use any more what they are for.
func decideVoidOrders(s Account, c commands.VoidOrders, now time.Time) ([]events.AccountEvent, error) {
	b := booking{s: s, now: now}
	for _, invoice := range s.orders() {
		if s.Invoices[invoice].SoldTo != c.SubscriptionID {
			continue
		}
		voided, err := decideVoidInvoice(b.s, commands.VoidInvoice{
			SubscriberID: c.SubscriberID, InvoiceID: invoice, Reason: c.Reason, ReleaseMoney: true,
			NotePrefix: c.NotePrefix,
		}, now)
		if err != nil {
			return nil, err
		}
		for _, e := range voided {
			b.record(e)
		}
	}
	return b.events(), nil
}
