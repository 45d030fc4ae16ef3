package billing

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Numbered is the account as it becomes when each drafted credit note gets its number, and before it the corrected
// invoice to which its money goes. The decisions themselves are asked, so that what is told beforehand cannot differ
// from what happens. The numbers in it are no real ones.
func (s Account) Numbered(now time.Time) Account {
	drafted := slices.SortedFunc(maps.Keys(s.Notes), func(a, b id.Receipt) int {
		one, _ := s.invoice(s.Notes[a].InvoiceID)
		two, _ := s.invoice(s.Notes[b].InvoiceID)
		return cmp.Or(cmp.Compare(one.Seq, two.Seq), cmp.Compare(a.String(), b.String()))
	})
	for _, note := range drafted {
		place := s.successor(s.Notes[note].InvoiceID)
		if corrected, found := s.invoice(place); found && corrected.Seq == 0 {
			s = s.decided(decideIssueInvoice(s, commands.IssueInvoice{
				SubscriberID: s.SubscriberID, InvoiceID: place, Number: place.String(),
			}, now))
		}
		s = s.decided(decideIssueCreditNote(s, commands.IssueCreditNote{
			SubscriberID: s.SubscriberID, CreditNoteID: note, Number: note.String(),
		}, now))
	}
	return s
}

// decided is the account after a decision; a refused one changes nothing.
func (s Account) decided(made []events.AccountEvent, err error) Account {
	if err != nil {
		return s
	}
	for _, e := range made {
		s = evolveAccount(s, e)
	}
	return s
}
