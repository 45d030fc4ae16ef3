package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// AccountEvent is an event of "account-<subscriber id>": all of one subscriber's money, decided in one place.
//
//sumtype:decl
type AccountEvent interface {
	Event
	accountEvent()
}

// AccountOpened records the first fact about a subscriber's money.
type AccountOpened struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	Currency     money.Currency  `json:"currency"`
}

// InvoiceLine is one charge. Amounts are of the organization's currency.
type InvoiceLine struct {
	Description string       `json:"description"`
	Quantity    string       `json:"quantity"` // decimal number
	UnitPrice   money.Amount `json:"unitPrice"`
	Net         money.Amount `json:"net"` // without tax
	Taxes       []TaxCharge  `json:"taxes,omitempty"`
	Gross       money.Amount `json:"gross"` // with tax
}

// TaxCharge is what one tax came to.
type TaxCharge struct {
	Name        string       `json:"name"`
	BasisPoints int64        `json:"basisPoints"`
	Amount      money.Amount `json:"amount"`
}

// InvoiceDrafted records an invoice that has no number yet. It is owed from InvoiceIssued on.
type InvoiceDrafted struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	OrgID          id.Organization `json:"orgId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	SubscriptionID id.Subscription `json:"subscriptionId"` // null for a manual invoice
	PeriodFrom     time.Time       `json:"periodFrom,omitzero"`
	PeriodTo       time.Time       `json:"periodTo,omitzero"`
	Lines          []InvoiceLine   `json:"lines"`
	Taxes          []TaxCharge     `json:"taxes,omitempty"` // summed by tax
	Total          money.Amount    `json:"total"`           // tax included
	DueOn          calendar.Date   `json:"dueOn"`           // organization's local date
	Prefix         string          `json:"prefix"`          // of its number to be
	DraftedAt      time.Time       `json:"draftedAt"`
}

// InvoiceIssued records that the draft became payable.
type InvoiceIssued struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	OrgID          id.Organization `json:"orgId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	SubscriptionID id.Subscription `json:"subscriptionId"`
	Number         string          `json:"number"` // legal number, without gaps in its series
	Total          money.Amount    `json:"total"`
	DueOn          calendar.Date   `json:"dueOn"`
	IssuedAt       time.Time       `json:"issuedAt"`
}

// InvoiceVoided records that an invoice is owed no longer; nothing was allocated to it. Number is kept: series have no
// gaps. A draft that was voided before its number came is recorded a second time with the number: a grant is final
// (docs/rules/billing.md#numbers-without-gaps).
type InvoiceVoided struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	SubscriptionID id.Subscription `json:"subscriptionId"` // null for a manual invoice
	Number         string          `json:"number"`         // "" for a draft without one
	Total          money.Amount    `json:"total"`
	WasIssued      bool            `json:"wasIssued"` // it stood on the statement
	Reason         string          `json:"reason"`
	At             time.Time       `json:"at"`
}

// ReceiptCredited records money received for the subscriber. Where it goes is told by the allocations that follow; the
// rest is credit.
type ReceiptCredited struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	ReceiptID    id.Receipt      `json:"receiptId"`
	Move         int             `json:"move,omitempty"` // how often the receipt had changed hands before
	Number       string          `json:"number"`         // receipt number as the payer knows it
	Channel      string          `json:"channel"`
	Amount       money.Amount    `json:"amount"`
	PaidAt       time.Time       `json:"paidAt"`
	At           time.Time       `json:"at"`
}

// InvoiceAllocated records that money of one receipt pays (a part of) one invoice.
type InvoiceAllocated struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	InvoiceID    id.Invoice    `json:"invoiceId"`
	ReceiptID    id.Receipt    `json:"receiptId"` // where the money came from; a credit note's id for a credit note
	Amount       money.Amount  `json:"amount"`
	FromCredit   bool          `json:"fromCredit"` // it lay on the account before
	Due          money.Amount  `json:"due"`        // of the invoice afterwards
	At           time.Time     `json:"at"`
}

// InvoicePaid records that nothing is due on the invoice any more.
type InvoicePaid struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	OrgID          id.Organization `json:"orgId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	SubscriptionID id.Subscription `json:"subscriptionId"`
	PeriodFrom     time.Time       `json:"periodFrom,omitzero"`
	PeriodTo       time.Time       `json:"periodTo,omitzero"`
	At             time.Time       `json:"at"`
}

// InvoiceCancelled records that nothing is due on an invoice which credit notes give back whole, without it ever being
// paid: nobody gets its period, and it is not open any more.
type InvoiceCancelled struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	OrgID          id.Organization `json:"orgId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	SubscriptionID id.Subscription `json:"subscriptionId"` // null for a manual invoice
	At             time.Time       `json:"at"`
}

// CreditLeft records what lies on the account after a payment and its allocations, when that is more than nothing. A
// prepaid subscription renews by itself from it (docs/rules/subscribers.md#prepaid).
type CreditLeft struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	Credit       money.Amount    `json:"credit"`
	At           time.Time       `json:"at"`
}

// CreditNoteDrafted records that a part of an invoice is to be given back once the note has its number. The amount is
// set aside at once: notes never exceed their invoice.
type CreditNoteDrafted struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	CreditNoteID id.Receipt      `json:"creditNoteId"`
	InvoiceID    id.Invoice      `json:"invoiceId"`
	Amount       money.Amount    `json:"amount"`
	Reason       string          `json:"reason"`
	Prefix       string          `json:"prefix"` // of its number to be
	DraftedAt    time.Time       `json:"draftedAt"`
}

// CreditNoteIssued records that a part of an invoice is given back as credit.
type CreditNoteIssued struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	CreditNoteID id.Receipt      `json:"creditNoteId"`
	InvoiceID    id.Invoice      `json:"invoiceId"`
	Number       string          `json:"number"`
	Amount       money.Amount    `json:"amount"`
	Reason       string          `json:"reason"`
	IssuedAt     time.Time       `json:"issuedAt"`
}

// ReceiptWithdrawn records that credited money is taken back (reversed, or it was somebody else's).
type ReceiptWithdrawn struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	ReceiptID    id.Receipt      `json:"receiptId"`
	Number       string          `json:"number"`
	Amount       money.Amount    `json:"amount"`
	Reason       string          `json:"reason"`
	At           time.Time       `json:"at"`
}

// AllocationWithdrawn undoes an allocation of withdrawn money.
type AllocationWithdrawn struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	InvoiceID    id.Invoice    `json:"invoiceId"`
	ReceiptID    id.Receipt    `json:"receiptId"`
	Amount       money.Amount  `json:"amount"`
	Due          money.Amount  `json:"due"`
	At           time.Time     `json:"at"`
}

// InvoiceReopened records that a paid invoice is due again: the period paid by it is withdrawn.
type InvoiceReopened struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	OrgID          id.Organization `json:"orgId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	SubscriptionID id.Subscription `json:"subscriptionId"`
	Due            money.Amount    `json:"due"`
	Reason         string          `json:"reason"`
	At             time.Time       `json:"at"`
}

// PromptReserved records that one payment prompt of this amount is open: no second one beside it
// (docs/rules/payments.md#one-open-prompt).
type PromptReserved struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	PaymentID    id.Payment      `json:"paymentId"`
	InvoiceID    id.Invoice      `json:"invoiceId"` // null = oldest due first
	Amount       money.Amount    `json:"amount"`    // what is asked for, whole units
	At           time.Time       `json:"at"`
}

// PromptReleased records that the prompt is no longer open.
type PromptReleased struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	PaymentID    id.Payment    `json:"paymentId"`
	At           time.Time     `json:"at"`
}

// AccountPeriodClosed carries the state into the stream's next period (docs/rules/engine.md#closing-a-period).
type AccountPeriodClosed struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	Opening      []byte        `json:"opening"` // JSON of the aggregate's state
}

func (AccountOpened) EventType() string       { return "billing.AccountOpened.v1" }
func (InvoiceDrafted) EventType() string      { return "billing.InvoiceDrafted.v1" }
func (InvoiceIssued) EventType() string       { return "billing.InvoiceIssued.v1" }
func (InvoiceVoided) EventType() string       { return "billing.InvoiceVoided.v1" }
func (ReceiptCredited) EventType() string     { return "billing.ReceiptCredited.v1" }
func (InvoiceAllocated) EventType() string    { return "billing.InvoiceAllocated.v1" }
func (InvoicePaid) EventType() string         { return "billing.InvoicePaid.v1" }
func (InvoiceCancelled) EventType() string    { return "billing.InvoiceCancelled.v1" }
func (CreditLeft) EventType() string          { return "billing.CreditLeft.v1" }
func (CreditNoteDrafted) EventType() string   { return "billing.CreditNoteDrafted.v1" }
func (CreditNoteIssued) EventType() string    { return "billing.CreditNoteIssued.v1" }
func (ReceiptWithdrawn) EventType() string    { return "billing.ReceiptWithdrawn.v1" }
func (AllocationWithdrawn) EventType() string { return "billing.AllocationWithdrawn.v1" }
func (InvoiceReopened) EventType() string     { return "billing.InvoiceReopened.v1" }
func (PromptReserved) EventType() string      { return "billing.PromptReserved.v1" }
func (PromptReleased) EventType() string      { return "billing.PromptReleased.v1" }
func (AccountPeriodClosed) EventType() string { return "billing.AccountPeriodClosed.v1" }

func (AccountOpened) accountEvent()       {}
func (InvoiceDrafted) accountEvent()      {}
func (InvoiceIssued) accountEvent()       {}
func (InvoiceVoided) accountEvent()       {}
func (ReceiptCredited) accountEvent()     {}
func (InvoiceAllocated) accountEvent()    {}
func (InvoicePaid) accountEvent()         {}
func (InvoiceCancelled) accountEvent()    {}
func (CreditLeft) accountEvent()          {}
func (CreditNoteDrafted) accountEvent()   {}
func (CreditNoteIssued) accountEvent()    {}
func (ReceiptWithdrawn) accountEvent()    {}
func (AllocationWithdrawn) accountEvent() {}
func (InvoiceReopened) accountEvent()     {}
func (PromptReserved) accountEvent()      {}
func (PromptReleased) accountEvent()      {}
func (AccountPeriodClosed) accountEvent() {}
