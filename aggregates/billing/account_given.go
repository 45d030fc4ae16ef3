package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Losable is all that can be written off now.
func (s Account) Losable(now time.Time) money.Amount {
	_, sum := s.debts(now)
	return sum
}

// Left is how much of an invoice no credit note nor write-off covers; nothing of one that the account does not have.
func (s Account) Left(invoice id.Invoice) money.Amount {
	inv, found := s.invoice(invoice)
	if !found {
		return money.Of(0, s.Currency)
	}
	return inv.Total.Sub(inv.Noted).Sub(inv.WrittenOff)
}

// GivenByVoid is how much a void of an invoice gives away: nothing for an order, which nobody owes.
func (s Account) GivenByVoid(invoice id.Invoice) money.Amount {
	if inv, found := s.invoice(invoice); found && !inv.Order {
		return inv.Total
	}
	return money.Of(0, s.Currency)
}

// GivenByReissue is by how much an invoice is larger than the corrected one; nothing when it is smaller. It fails as
// the draft of the corrected one does.
func (s Account) GivenByReissue(invoice id.Invoice, corrected commands.DraftInvoice) (money.Amount, error) {
	none := money.Of(0, s.Currency)
	inv, found := s.invoice(invoice)
	if !found || inv.Order || corrected.Currency != s.Currency || corrected.Validate() != nil {
		return none, nil // the account itself refuses it, or nobody owes it
	}
	drafted, err := draft(corrected, time.Time{})
	if err != nil || drafted.Total.Cmp(inv.Total) >= 0 {
		return none, err
	}
	return inv.Total.Sub(drafted.Total), nil
}
