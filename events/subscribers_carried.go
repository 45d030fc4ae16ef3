package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// PaidTimeCarriedOver records up to when a subscription was paid in the system that the customer comes from. There is
// no invoice for that time here. Source: docs/rules/subscribers-import.md#paid-time.
type PaidTimeCarriedOver struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	// From is where the part of it begins that is served here. Zero = recorded when nothing made that part longer.
	From      time.Time `json:"from,omitzero"`
	PaidUntil time.Time `json:"paidUntil"` // exclusive; can be in the past
	// Anchor is the anniversary of the periods that follow, 1 to 31: the local day of PaidUntil.
	Anchor int       `json:"anchor"`
	At     time.Time `json:"at"`
}

// BalanceCarriedOver records what a customer owed, or had paid ahead, in the system that the customer comes from. What
// was owed is due here as an invoice without a number is: the document was made there.
type BalanceCarriedOver struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	InvoiceID    id.Invoice      `json:"invoiceId,omitzero"` // of what was owed; null for credit
	ReceiptID    id.Receipt      `json:"receiptId,omitzero"` // of the credit; null for a debt
	Amount       money.Amount    `json:"amount"`             // positive: owed; negative: paid ahead
	DueOn        calendar.Date   `json:"dueOn,omitzero"`     // organization's local date; null for credit
	At           time.Time       `json:"at"`
	After        Books           `json:"after,omitzero"`
}

// CarriedDebt is the id under which an account has what its customer owed before.
func CarriedDebt(subscriber id.Subscriber) id.Invoice {
	return id.Derive[id.Invoice]("carried_over", subscriber.String())
}

// CarriedCredit is the id under which an account has what its customer had paid ahead before. No receipt has it.
func CarriedCredit(subscriber id.Subscriber) id.Receipt {
	return id.Derive[id.Receipt]("carried_over", subscriber.String())
}

// OfCarried reports whether what is taken back never came in here: it was paid ahead in the system that the customer
// comes from.
func (e ReceiptWithdrawn) OfCarried() bool { return e.ReceiptID == CarriedCredit(e.SubscriberID) }

func (PaidTimeCarriedOver) EventType() string  { return "subscribers.PaidTimeCarriedOver.v1" }
func (BalanceCarriedOver) EventType() string   { return "billing.BalanceCarriedOver.v1" }
func (PaidTimeCarriedOver) subscriptionEvent() {}
func (BalanceCarriedOver) accountEvent()       {}
