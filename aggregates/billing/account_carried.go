package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// decideCarryBalanceOver records the balance once, whatever a repeat says. What was owed is due as an invoice is, and
// is paid by credit that is there already; what was paid ahead is credit, and pays what is due.
func decideCarryBalanceOver(s Account, c commands.CarryBalanceOver, now time.Time) ([]events.AccountEvent, error) {
	debt, credit := events.CarriedDebt(c.SubscriberID), events.CarriedCredit(c.SubscriberID)
	_, credited := s.Receipts[credit]
	if c.Amount.IsZero() || s.knows(debt) || credited || isArchived(s, credit) {
		return nil, nil
	}
	b, err := opened(s, c.SubscriberID, c.OrgID, c.Amount.Currency, now)
	if err != nil {
		return nil, err
	}
	carried := events.BalanceCarriedOver{SubscriberID: c.SubscriberID, OrgID: c.OrgID, Amount: c.Amount, At: now}
	if c.Amount.Positive() {
		carried.InvoiceID, carried.DueOn = debt, c.DueOn
	} else {
		carried.ReceiptID = credit
	}
	b.record(carried)
	b.spend(id.Invoice{}, credit)
	b.tellCredit()
	return b.events(), nil
}

// carriedOver adds what was owed before as an issued invoice without a number, or what was paid ahead as money.
func (s Account) carriedOver(e events.BalanceCarriedOver) Account {
	if !e.Amount.Positive() {
		return s.withMoney(e.ReceiptID, Receipt{Amount: e.Amount.Neg(), BookedAt: e.At})
	}
	none := money.Of(0, e.Amount.Currency)
	s.Issued++
	return s.withInvoice(e.InvoiceID, Invoice{
		Total: e.Amount, Once: none, Due: e.Amount, DueOn: e.DueOn, Seq: s.Issued, Noted: none, WrittenOff: none,
		Recovered: none,
	})
}
