package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// decideSellDays drafts a credit note over the days that the money on an invoice does not pay, once for each invoice.
// Of one that was paid before, days may have been used already, so the whole of it stays due. Charges are paid before
// days. What a day more would need, and the money has not, becomes credit with the note. What was written off, or given
// back by other notes, makes each day cheaper, and buys none by itself.
// Source: docs/rules/subscribers.md#partial-payment.
func decideSellDays(s Account, c commands.SellDays, now time.Time) []events.AccountEvent {
	inv, open := s.Invoices[c.InvoiceID]
	if !open || inv.Seq == 0 || inv.EverPaid || !inv.Part.IsZero() {
		return nil
	}
	asked := inv.Total.Sub(inv.Once).Sub(inv.WrittenOff).Sub(inv.Noted)
	due := inv.Due.Sub(inv.Noted.Sub(s.returned(c.InvoiceID))) // without the notes that wait for their numbers
	if !due.Positive() {
		return nil
	}
	for days := c.Of - 1; days > 0; days-- {
		if rest := asked.MulDivRounded(int64(c.Of-days), int64(c.Of)); rest.Positive() && rest.Cmp(due) >= 0 {
			return []events.AccountEvent{events.CreditNoteDrafted{
				SubscriberID: s.SubscriberID, OrgID: s.OrgID, CreditNoteID: c.CreditNoteID, InvoiceID: c.InvoiceID,
				Amount: rest, Reason: personal.Of(c.Reason), Prefix: c.Prefix,
				Leaves: events.PartPeriod{Days: days, Of: c.Of}, DraftedAt: now,
			}}
		}
	}
	return nil
}
