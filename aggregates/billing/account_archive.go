package billing

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Limits of what an account keeps in full when a period closes. Corrections reach back so far: half a year of a
// customer who pays daily. Of older receipts and invoices only the ids are kept, and of these only the newest: they
// answer repeated commands, which come within days. So an account stays small, however long it lives.
const (
	rememberedReceipts = 200
	rememberedInvoices = 200
	rememberedIDs      = 4_000
)

// mayHaveForgotten reports whether a receipt that the account does not know can be one that it has booked long ago, and
// whose id it has dropped since. A receipt that was matched to the account after everything that it archived was booked
// is not: money is booked after its match.
func (s Account) mayHaveForgotten(matchedAt time.Time) bool {
	return len(s.Archived) >= rememberedIDs && !matchedAt.After(s.ArchivedUntil)
}

// closedAt completes an opening of before, which does not tell when its archived receipts were booked: all of them were
// before the period was closed.
func closedAt(s Account, at time.Time) Account {
	if len(s.Archived) > 0 && s.ArchivedUntil.IsZero() {
		s.ArchivedUntil = at
	}
	return s
}

// isArchived reports whether the account keeps only the id of an invoice or receipt.
func isArchived[I ~[16]byte](s Account, of I) bool {
	return slices.Contains(s.Archived, id.As[id.Any](of))
}

// ArchivedNote reports whether a credit note was issued and is too old to change: only its id is kept.
func (s Account) ArchivedNote(note id.Receipt) bool { return isArchived(s, note) }

// archive drops the details of what can no longer change: used-up receipts whose invoices have nothing due, settled
// invoices that no kept receipt pays, and voided documents with a number. Their ids go to Archived.
func (s Account) archive() Account {
	old := slices.Clone(s.Archived)
	receipts, needed := maps.Clone(s.Receipts), map[id.Invoice]bool{}
	for _, note := range s.Notes {
		needed[note.InvoiceID] = true
	}
	for i, receipt := range oldestFirst(receipts, func(r Receipt) int { return r.Seq }) {
		r := receipts[receipt]
		if i < len(s.Receipts)-rememberedReceipts && s.usedUp(r) {
			delete(receipts, receipt)
			old = append(old, id.As[id.Any](receipt))
			if r.BookedAt.After(s.ArchivedUntil) {
				s.ArchivedUntil = r.BookedAt
			}
			continue
		}
		for _, a := range r.Allocations {
			needed[id.As[id.Invoice](a.Target.ID)] = true
		}
	}
	settled := maps.Clone(s.Settled)
	for i, invoice := range oldestFirst(settled, func(inv Invoice) int { return inv.Seq }) {
		if i < len(s.Settled)-rememberedInvoices && !needed[invoice] {
			delete(settled, invoice)
			old = append(old, id.As[id.Any](invoice))
		}
	}
	voided := maps.Clone(s.Voided)
	for i, invoice := range slices.SortedFunc(maps.Keys(voided), s.byNumber) {
		if i < len(s.Voided)-rememberedInvoices && voided[invoice] != "" {
			delete(voided, invoice)
			old = append(old, id.As[id.Any](invoice))
		}
	}
	s.Receipts, s.Settled, s.Voided = receipts, settled, voided
	s.Archived = old[max(0, len(old)-rememberedIDs):]
	return s
}

// oldestFirst lists the keys of a map in the order of a number of their values.
func oldestFirst[K comparable, V any](m map[K]V, seq func(V) int) []K {
	return slices.SortedFunc(maps.Keys(m), func(a, b K) int { return cmp.Compare(seq(m[a]), seq(m[b])) })
}

// byNumber orders voided documents by their numbers: a longer number is a later one.
func (s Account) byNumber(a, b id.Invoice) int {
	one, two := s.Voided[a], s.Voided[b]
	return cmp.Or(cmp.Compare(len(one), len(two)), cmp.Compare(one, two), cmp.Compare(a.String(), b.String()))
}

// usedUp reports whether no part of the receipt is credit, waits for a refund, or pays an invoice that is still due.
func (s Account) usedUp(r Receipt) bool {
	return r.Unused.IsZero() && !slices.ContainsFunc(r.Allocations, func(a Allocation) bool {
		_, open := s.Invoices[a.Target.invoice()]
		return open || a.Target.Kind == events.ForRefund && !a.Done
	})
}
