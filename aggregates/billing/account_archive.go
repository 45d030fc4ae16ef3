package billing

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Limits of what an account keeps in full when a period closes. The opening of the next period must stay below the
// log's limit of 1 MiB for one append. Of older receipts and invoices only the ids are kept, and of these only the
// newest.
const (
	rememberedReceipts = 500
	rememberedInvoices = 500
	rememberedIDs      = 20_000
)

// isArchived reports whether the account keeps only the id of an invoice or receipt.
func isArchived[I ~[16]byte](s Account, of I) bool {
	_, ok := s.Archived[id.As[id.Any](of)]
	return ok
}

// archive drops the details of what can no longer change: used-up receipts whose invoices have nothing due, and settled
// invoices that no kept receipt pays. Their ids go to Archived.
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

// usedUp reports whether no part of the receipt is credit or pays an invoice that is still due.
func (s Account) usedUp(r Receipt) bool {
	return r.Unused.IsZero() && !slices.ContainsFunc(r.Allocations, func(a Allocation) bool {
		_, open := s.Invoices[a.InvoiceID]
		return open
	})
}
