package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// AccountEvent is an event of "account-<subscriber id>", which has all money of one subscriber.
//
//sumtype:decl
type AccountEvent interface {
	Event
	accountEvent()
}

// Books is the state of an account's money after the append that an event is part of: every event of one append has the
// same. It is zero in events of versions that did not have it: a reader that needs it keeps the newest that it knows
// until the account's next event brings one.
type Books struct {
	Due         money.Amount  `json:"due"`                  // sum of what issued invoices still need
	Credit      money.Amount  `json:"credit"`               // unused money; zero while anything but orders is due
	OldestDueOn calendar.Date `json:"oldestDueOn,omitzero"` // of the debt due first; zero when nothing is owed
}

// Known reports whether the event recorded the books.
func (b Books) Known() bool { return b.Due.Currency != "" }

// AccountOpened is the first event of every account. The currency never changes.
type AccountOpened struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	Currency     money.Currency  `json:"currency"`
}

// AccountClosed ends an account: it takes no money and gets no invoice any more. What is on it can still be taken back.
type AccountClosed struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	Reason       string          `json:"reason"`
	// Forget says that the customer is to be forgotten: nothing is open, and nothing can be taken back but the money
	// that a provider reverses.
	Forget bool      `json:"forget,omitempty"`
	At     time.Time `json:"at"`
}

// InvoiceLine is one charge. All amounts are in the organization's currency.
type InvoiceLine struct {
	Description personal.Text `json:"description"`
	Quantity    string        `json:"quantity"` // decimal number
	UnitPrice   money.Amount  `json:"unitPrice"`
	Net         money.Amount  `json:"net"` // without tax
	Taxes       []TaxCharge   `json:"taxes,omitempty"`
	Gross       money.Amount  `json:"gross"`          // with tax
	Once        bool          `json:"once,omitempty"` // no day of the invoice's period has a share of it
}

// TaxCharge is the amount of one tax component.
type TaxCharge struct {
	Name        string       `json:"name"`
	BasisPoints int64        `json:"basisPoints"`
	Amount      money.Amount `json:"amount"`
}

// InvoiceDrafted records an invoice without a number. It is payable from InvoiceIssued on.
type InvoiceDrafted struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	OrgID          id.Organization `json:"orgId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	SubscriptionID id.Subscription `json:"subscriptionId"`    // whose period it is; null for an invoice of no period
	SoldTo         id.Subscription `json:"soldTo,omitzero"`   // that got what was sold beside its periods
	RunID          id.BillingRun   `json:"runId,omitzero"`    // the billing run that makes it
	Replaces       id.Invoice      `json:"replaces,omitzero"` // the wrong one, in whose place it is
	// Order is true as long as nobody owes the invoice: what it is for is given when it is paid whole.
	Order      bool          `json:"order,omitempty"`
	PeriodFrom time.Time     `json:"periodFrom,omitzero"`
	PeriodTo   time.Time     `json:"periodTo,omitzero"`
	Lines      []InvoiceLine `json:"lines"`
	Taxes      []TaxCharge   `json:"taxes,omitempty"` // sum for each component
	Tax        TaxRule       `json:"tax,omitzero"`    // by which they were charged; zero in old events
	Total      money.Amount  `json:"total"`           // tax included
	DueOn      calendar.Date `json:"dueOn"`           // organization's local date
	Prefix     string        `json:"prefix"`          // of the number that it will get
	DraftedAt  time.Time     `json:"draftedAt"`
}

// InvoiceIssued records that a draft became payable under its number.
type InvoiceIssued struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	OrgID          id.Organization `json:"orgId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SoldTo         id.Subscription `json:"soldTo,omitzero"` // as in InvoiceDrafted; Order likewise
	Order          bool            `json:"order,omitempty"`
	RunID          id.BillingRun   `json:"runId,omitzero"` // as in InvoiceDrafted
	Number         string          `json:"number"`         // legal number; its series has no gaps
	Total          money.Amount    `json:"total"`
	DueOn          calendar.Date   `json:"dueOn"`
	IssuedAt       time.Time       `json:"issuedAt"`
	After          Books           `json:"after,omitzero"`
}

// InvoiceVoided records that an invoice is no longer owed; no money is allocated to it any more. The number stays used,
// because a series has no gaps. A draft that is voided before its number is granted gets a second InvoiceVoided with
// the number, because a grant is final (docs/rules/billing.md#numbers-without-gaps).
type InvoiceVoided struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	SubscriptionID id.Subscription `json:"subscriptionId"` // null for a manual invoice
	Number         string          `json:"number"`         // "" for a draft without one
	Total          money.Amount    `json:"total"`
	WasIssued      bool            `json:"wasIssued"` // true: the statement showed it
	// StrayOf is the invoice that was granted this number although it has another one. InvoiceID is then an id of its
	// own, made for the voided document.
	StrayOf id.Invoice    `json:"strayOf,omitzero"`
	Reason  personal.Text `json:"reason"`
	At      time.Time     `json:"at"`
	After   Books         `json:"after,omitzero"`
}

// ReceiptCredited records money received for the subscriber. The allocations that follow say which invoices it pays;
// the rest is credit.
type ReceiptCredited struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	ReceiptID    id.Receipt      `json:"receiptId"`
	Move         int             `json:"move,omitempty"` // number of earlier reattributions of the receipt
	Number       string          `json:"number"`         // receipt number that the payer knows
	Channel      string          `json:"channel"`
	Amount       money.Amount    `json:"amount"`
	PaidAt       time.Time       `json:"paidAt"`
	At           time.Time       `json:"at"`
	After        Books           `json:"after,omitzero"`
}

// InvoiceAllocated records that money of one receipt pays one invoice or a part of it.
type InvoiceAllocated struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	// AllocationID is one for each receipt and invoice (AllocationOf), however often money moves between the two.
	AllocationID id.Allocation `json:"allocationId"`
	InvoiceID    id.Invoice    `json:"invoiceId"`
	ReceiptID    id.Receipt    `json:"receiptId"` // the money's receipt, or the id of a credit note or write-off
	Amount       money.Amount  `json:"amount"`
	FromCredit   bool          `json:"fromCredit"` // true: the money was credit before
	Due          money.Amount  `json:"due"`        // still due on the invoice afterwards
	At           time.Time     `json:"at"`
	After        Books         `json:"after,omitzero"`
}

// InvoicePaid records that nothing is due on the invoice any more, and that money paid at least a part of it. The
// subscription of the invoice is extended because of it.
type InvoicePaid struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	OrgID          id.Organization `json:"orgId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SoldTo         id.Subscription `json:"soldTo,omitzero"` // as in InvoiceDrafted
	PeriodFrom     time.Time       `json:"periodFrom,omitzero"`
	PeriodTo       time.Time       `json:"periodTo,omitzero"`
	// Part has the days that the invoice is for, where a credit note left some of its period only.
	Part PartPeriod `json:"part,omitzero"`
	// Ordered is set when it was an order until now: from now on it is an invoice.
	Ordered OrderTaken `json:"ordered,omitzero"`
	// WrittenOff is the part that was given up; money has paid all others that no credit note covers. Zero = none was.
	WrittenOff money.Amount `json:"writtenOff,omitzero"`
	At         time.Time    `json:"at"`
	After      Books        `json:"after,omitzero"`
}

// OrderTaken is an order that was paid whole.
type OrderTaken struct {
	Number string       `json:"number"`
	Total  money.Amount `json:"total"`
	// Notes are the credit notes that were issued over a part of it before, the oldest first.
	Notes []OrderNote `json:"notes,omitempty"`
}

// OrderNote is a credit note over a part of an order.
type OrderNote struct {
	CreditNoteID id.Receipt   `json:"creditNoteId"`
	Number       string       `json:"number"`
	Amount       money.Amount `json:"amount"`
}

// InvoiceCancelled records that credit notes cover an invoice completely, whether it was paid before or not: nothing is
// due on it for ever, and its period is not granted, or is taken back, unless a corrected invoice takes its place.
// Neither InvoicePaid nor InvoiceReopened follows for the invoice.
type InvoiceCancelled struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	OrgID          id.Organization `json:"orgId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	SubscriptionID id.Subscription `json:"subscriptionId"` // null for a manual invoice
	ReplacedBy     id.Invoice      `json:"replacedBy,omitzero"`
	// Covered says that the one in its place needs no more money: what was paid on this one moved to it.
	Covered bool      `json:"covered,omitempty"`
	At      time.Time `json:"at"`
	After   Books     `json:"after,omitzero"`
}

// CreditLeft records the credit on the account when a decision brought money, or gave money of an invoice back, and
// left credit above zero; or because a process asked. Prepaid subscriptions renew from it
// (docs/rules/subscribers.md#prepaid).
type CreditLeft struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	Credit       money.Amount    `json:"credit"`
	Ordered      money.Amount    `json:"ordered,omitzero"`   // sum of what the issued orders still need
	Asked        bool            `json:"asked,omitempty"`    // it is told again; no money moved
	Received     bool            `json:"received,omitempty"` // money came in with it
	Tax          *TaxRule        `json:"tax,omitempty"`      // the organization's present one; nil = not known
	At           time.Time       `json:"at"`
}

// CreditNoteDrafted records a credit note that waits for its number. The amount is reserved at once, so that credit
// notes never exceed their invoice.
type CreditNoteDrafted struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	CreditNoteID id.Receipt      `json:"creditNoteId"`
	InvoiceID    id.Invoice      `json:"invoiceId"`
	Amount       money.Amount    `json:"amount"`
	Reason       personal.Text   `json:"reason"`
	Prefix       string          `json:"prefix"` // of the number that it will get
	// ReplacedBy is the corrected invoice that takes the place of the whole one: its number comes before the note's.
	ReplacedBy id.Invoice `json:"replacedBy,omitzero"`
	// Leaves are the days that are left of the invoice's period where the note is over the others: what was paid buys
	// them. The zero value leaves the period as it is.
	Leaves    PartPeriod `json:"leaves,omitzero"`
	DraftedAt time.Time  `json:"draftedAt"`
}

// CreditNoteIssued records that a part of an invoice is not charged any more. The note's money covers its own invoice:
// money of receipts that paid this part becomes credit (docs/rules/billing.md#credit-notes).
type CreditNoteIssued struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	CreditNoteID id.Receipt      `json:"creditNoteId"`
	InvoiceID    id.Invoice      `json:"invoiceId"`
	Number       string          `json:"number"`
	Order        bool            `json:"order,omitempty"` // its invoice is an order that is not paid yet
	Amount       money.Amount    `json:"amount"`
	Reason       personal.Text   `json:"reason"`
	IssuedAt     time.Time       `json:"issuedAt"`
	After        Books           `json:"after,omitzero"`
}

// ReceiptWithdrawn records that credited money or a part of it is taken back, because it was reversed or belongs to
// another subscriber.
type ReceiptWithdrawn struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	ReceiptID    id.Receipt      `json:"receiptId"`
	WithdrawalID id.Withdrawal   `json:"withdrawalId,omitzero"` // null when all that was left was taken back
	Number       string          `json:"number"`
	Amount       money.Amount    `json:"amount"`
	FromCredit   money.Amount    `json:"fromCredit,omitzero"` // the part of Amount that was unused
	Left         money.Amount    `json:"left,omitzero"`       // of the receipt on this account afterwards
	Reason       personal.Text   `json:"reason"`
	At           time.Time       `json:"at"`
	After        Books           `json:"after,omitzero"`
}

// AllocationWithdrawn undoes an allocation or a part of it. Due is the amount due on the invoice afterwards.
type AllocationWithdrawn struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	AllocationID id.Allocation `json:"allocationId"` // as in InvoiceAllocated
	InvoiceID    id.Invoice    `json:"invoiceId"`
	ReceiptID    id.Receipt    `json:"receiptId"`
	Amount       money.Amount  `json:"amount"`
	ToCredit     bool          `json:"toCredit"` // true: the money is credit now; false: it leaves with its receipt
	Due          money.Amount  `json:"due"`
	At           time.Time     `json:"at"`
	After        Books         `json:"after,omitzero"`
}

// InvoiceReopened records that a paid invoice is due again; the period that it paid is withdrawn.
type InvoiceReopened struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	OrgID          id.Organization `json:"orgId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SoldTo         id.Subscription `json:"soldTo,omitzero"` // as in InvoiceDrafted
	Due            money.Amount    `json:"due"`
	Reason         personal.Text   `json:"reason"`
	At             time.Time       `json:"at"`
	After          Books           `json:"after,omitzero"`
}

// PromptReserved records an open payment prompt. A second one of the same amount is refused while it is open
// (docs/rules/payments.md#one-open-prompt).
type PromptReserved struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	PaymentID    id.Payment      `json:"paymentId"`
	InvoiceID    id.Invoice      `json:"invoiceId"` // null = pay the invoices by due date
	Amount       money.Amount    `json:"amount"`    // requested amount, whole units
	At           time.Time       `json:"at"`
}

// PromptReleased records that the prompt is no longer open.
type PromptReleased struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	PaymentID    id.Payment    `json:"paymentId"`
	At           time.Time     `json:"at"`
}

// AccountPeriodClosed passes the state to the stream's next period (docs/rules/engine.md#closing-a-period).
type AccountPeriodClosed struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	Opening      []byte        `json:"opening"`         // JSON of the aggregate\'s state, personal fields excluded
	Notes        []NoteReason  `json:"notes,omitempty"` // of the drafted credit notes in the opening
}

// NoteReason is the reason of a drafted credit note. It travels outside the opening, so that it is sealed.
type NoteReason struct {
	CreditNoteID id.Receipt    `json:"creditNoteId"`
	Reason       personal.Text `json:"reason"`
}

func (AccountOpened) EventType() string       { return "billing.AccountOpened.v1" }
func (AccountClosed) EventType() string       { return "billing.AccountClosed.v1" }
func (InvoiceDrafted) EventType() string      { return "billing.InvoiceDrafted.v2" }
func (InvoiceIssued) EventType() string       { return "billing.InvoiceIssued.v2" }
func (InvoiceVoided) EventType() string       { return "billing.InvoiceVoided.v3" }
func (ReceiptCredited) EventType() string     { return "billing.ReceiptCredited.v2" }
func (InvoiceAllocated) EventType() string    { return "billing.InvoiceAllocated.v2" }
func (InvoicePaid) EventType() string         { return "billing.InvoicePaid.v2" }
func (InvoiceCancelled) EventType() string    { return "billing.InvoiceCancelled.v2" }
func (CreditLeft) EventType() string          { return "billing.CreditLeft.v2" }
func (CreditNoteDrafted) EventType() string   { return "billing.CreditNoteDrafted.v2" }
func (CreditNoteIssued) EventType() string    { return "billing.CreditNoteIssued.v3" }
func (ReceiptWithdrawn) EventType() string    { return "billing.ReceiptWithdrawn.v3" }
func (AllocationWithdrawn) EventType() string { return "billing.AllocationWithdrawn.v2" }
func (InvoiceReopened) EventType() string     { return "billing.InvoiceReopened.v3" }
func (PromptReserved) EventType() string      { return "billing.PromptReserved.v1" }
func (PromptReleased) EventType() string      { return "billing.PromptReleased.v1" }
func (AccountPeriodClosed) EventType() string { return "billing.AccountPeriodClosed.v2" }

func (AccountOpened) accountEvent()       {}
func (AccountClosed) accountEvent()       {}
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

func (e InvoiceDrafted) PersonalSubject() uuid.UUID      { return e.SubscriberID.UUID() }
func (e InvoiceVoided) PersonalSubject() uuid.UUID       { return e.SubscriberID.UUID() }
func (e CreditNoteDrafted) PersonalSubject() uuid.UUID   { return e.SubscriberID.UUID() }
func (e CreditNoteIssued) PersonalSubject() uuid.UUID    { return e.SubscriberID.UUID() }
func (e ReceiptWithdrawn) PersonalSubject() uuid.UUID    { return e.SubscriberID.UUID() }
func (e InvoiceReopened) PersonalSubject() uuid.UUID     { return e.SubscriberID.UUID() }
func (e AccountPeriodClosed) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }

func (InvoiceDrafted) remark()      {}
func (InvoiceVoided) remark()       {}
func (CreditNoteDrafted) remark()   {}
func (CreditNoteIssued) remark()    {}
func (ReceiptWithdrawn) remark()    {}
func (InvoiceReopened) remark()     {}
func (AccountPeriodClosed) remark() {}
