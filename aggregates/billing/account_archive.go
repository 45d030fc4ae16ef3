package billing

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// How far an account remembers when a period closes, so that the opening of the next one stays under the log's limit of
// 1 MiB for one append: the newest receipts and invoices whole, of the older ones that they were.
const (
	rememberedReceipts = 500
	rememberedInvoices = 500
	rememberedIDs      = 20_000
)

// isArchived tells whether only the id of an invoice or receipt is remembered.
func isArchived[I ~[16]byte](s Account, of I) bool {
	_, ok := s.Archived[id.As[id.Any](of)]
	return ok
}

// archive is the account without what is too old to change: receipts that are used up, with nothing due on what they
// paid, and settled invoices that no remembered receipt pays.
func (s Account) archive() Account {
	if len(s.Receipts) <= rememberedReceipts && len(s.Settled) <= rememberedInvoices {
		return s
	}
	old := slices.SortedFunc(maps.Keys(s.Archived),
		func(a, b id.Any) int { return cmp.Compare(s.Archived[a], s.Archived[b]) })
	receipts, paid := maps.Clone(s.Receipts), map[id.Invoice]bool{}
	order := slices.SortedFunc(maps.Keys(receipts),
		func(a, b id.Receipt) int { return cmp.Compare(receipts[a].Seq, receipts[b].Seq) })
	for i, receipt := range order {
		if i < len(order)-rememberedReceipts && s.usedUp(receipts[receipt]) {
			delete(receipts, receipt)
			old = append(old, id.As[id.Any](receipt))
			continue
		}
		for _, a := range receipts[receipt].Allocations {
			paid[a.InvoiceID] = true
		}
	}
	settled := maps.Clone(s.Settled)
	invoices := slices.SortedFunc(maps.Keys(settled),
		func(a, b id.Invoice) int { return cmp.Compare(settled[a].Seq, settled[b].Seq) })
	for i, invoice := range invoices {
		if i < len(invoices)-rememberedInvoices && !paid[invoice] {
			delete(settled, invoice)
			old = append(old, id.As[id.Any](invoice))
		}
	}
	s.Receipts, s.Settled, s.Archived = receipts, settled, make(map[id.Any]int, len(old))
	for i, gone := range old[max(0, len(old)-rememberedIDs):] {
		s.Archived[gone] = i
	}
	return s
}

// usedUp tells whether none of a receipt is credit or lies on an invoice that is still due.
func (s Account) usedUp(r Receipt) bool {
	return r.Unused.IsZero() && !slices.ContainsFunc(r.Allocations, func(a Allocation) bool {
		_, open := s.Invoices[a.InvoiceID]
		return open
	})
}
