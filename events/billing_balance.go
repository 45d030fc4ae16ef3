package events

import (
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// BalanceChanges lists the events that change a balance (docs/rules/money.md#statement).
func BalanceChanges() []Event {
	return []Event{
		InvoiceIssued{}, InvoiceVoided{}, ReceiptCredited{}, ReceiptWithdrawn{}, CreditNoteIssued{}, CreditSetAside{},
		SetAsideReturned{}, DebtWrittenOff{}, WriteOffRecovered{}, RecoveryWithdrawn{}, BalanceCarriedOver{},
	}
}

// BalanceChange tells how much an event adds to the balance of a subscriber, which is all that is due less the credit.
// It is zero, in no currency, for every event that changes none, such as one that pays an invoice from credit.
func BalanceChange(e Event) (id.Subscriber, money.Amount) {
	switch v := e.(type) {
	case InvoiceIssued:
		return v.SubscriberID, v.Total
	case InvoiceVoided:
		if v.WasIssued {
			return v.SubscriberID, v.Total.Neg()
		}
	case ReceiptCredited:
		return v.SubscriberID, v.Amount.Neg()
	case ReceiptWithdrawn:
		return v.SubscriberID, v.Amount
	case CreditNoteIssued:
		return v.SubscriberID, v.Amount.Neg()
	case CreditSetAside:
		return v.SubscriberID, v.Amount
	case SetAsideReturned:
		return v.SubscriberID, v.Amount.Neg()
	case DebtWrittenOff:
		return v.SubscriberID, v.Amount.Neg()
	case WriteOffRecovered:
		return v.SubscriberID, v.Amount
	case BalanceCarriedOver:
		return v.SubscriberID, v.Amount
	case RecoveryWithdrawn:
		return v.SubscriberID, v.Amount.Neg()
	}
	return id.Subscriber{}, money.Amount{}
}
