package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// What allocated money is for. Money that is not allocated is credit.
const (
	ForInvoice  = "invoice"
	ForRefund   = "refund"
	ForWriteOff = "write_off" // the written-off part of an invoice; the target is the invoice
)

// AllocationOf is the id of the allocation of a receipt's money to a target of one of the kinds above. It is derived
// from the three, so that there is one for each.
func AllocationOf(receipt id.Receipt, kind string, target id.Any) id.Allocation {
	return id.Derive[id.Allocation]("allocation", receipt.String(), kind, target.String())
}

// CreditSetAside records that credit of one receipt waits for a refund: it is no credit any more and pays no invoice.
type CreditSetAside struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	RefundID     id.Refund       `json:"refundId"`
	AllocationID id.Allocation   `json:"allocationId"` // of the receipt's money to the refund
	ReceiptID    id.Receipt      `json:"receiptId"`
	Number       string          `json:"number"` // of the receipt
	Amount       money.Amount    `json:"amount"`
	Reason       personal.Text   `json:"reason"`
	At           time.Time       `json:"at"`
	After        Books           `json:"after"`
}

// SetAsideReturned records that a refund failed: the money that waited for it is credit again.
type SetAsideReturned struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	RefundID     id.Refund       `json:"refundId"`
	AllocationID id.Allocation   `json:"allocationId"`
	ReceiptID    id.Receipt      `json:"receiptId"`
	Number       string          `json:"number"` // of the receipt
	Amount       money.Amount    `json:"amount"`
	Reason       personal.Text   `json:"reason"`
	At           time.Time       `json:"at"`
	After        Books           `json:"after"`
}

// SetAsidePaidOut records that a refund was completed: the money that waited for it has left for good.
type SetAsidePaidOut struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	RefundID     id.Refund       `json:"refundId"`
	AllocationID id.Allocation   `json:"allocationId"`
	ReceiptID    id.Receipt      `json:"receiptId"`
	Amount       money.Amount    `json:"amount"`
	At           time.Time       `json:"at"`
	After        Books           `json:"after"`
}

// DebtWrittenOff records that the organization gives up a debt. The allocations that follow say on which invoices, the
// oldest first. It is no payment: the amount is a loss, which later money may recover (WriteOffRecovered).
type DebtWrittenOff struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	WriteOffID   id.Receipt      `json:"writeOffId"` // the allocations name it as their receipt
	Amount       money.Amount    `json:"amount"`
	Reason       personal.Text   `json:"reason"`
	At           time.Time       `json:"at"`
	After        Books           `json:"after"`
}

// InvoiceWrittenOff records that nothing is due on an invoice any more because a part of it, or all, was written off,
// and that no money is on it: its period is not granted, or is taken back. Older programs recorded it also where money
// had paid the rest.
type InvoiceWrittenOff struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	OrgID          id.Organization `json:"orgId"`
	InvoiceID      id.Invoice      `json:"invoiceId"`
	SubscriptionID id.Subscription `json:"subscriptionId"` // null for a manual invoice
	Amount         money.Amount    `json:"amount"`         // of the invoice that was written off
	At             time.Time       `json:"at"`
	After          Books           `json:"after"`
}

// WriteOffRecovered records that money came for a written-off invoice after all. The invoice stays written off; the
// money is the organization's and is no credit.
type WriteOffRecovered struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	AllocationID id.Allocation   `json:"allocationId"` // of the receipt's money to the written-off invoice
	InvoiceID    id.Invoice      `json:"invoiceId"`
	Number       string          `json:"number"` // of the invoice
	ReceiptID    id.Receipt      `json:"receiptId"`
	Amount       money.Amount    `json:"amount"`
	At           time.Time       `json:"at"`
	After        Books           `json:"after"`
}

// RecoveryWithdrawn undoes a recovery or a part of it: the loss stands again. The money leaves with its receipt, which
// is taken back, or becomes credit, because recoveries of the invoice are waived.
type RecoveryWithdrawn struct {
	SubscriberID id.Subscriber   `json:"subscriberId"`
	OrgID        id.Organization `json:"orgId"`
	AllocationID id.Allocation   `json:"allocationId"`
	InvoiceID    id.Invoice      `json:"invoiceId"`
	Number       string          `json:"number"` // of the invoice
	ReceiptID    id.Receipt      `json:"receiptId"`
	Amount       money.Amount    `json:"amount"`
	ToCredit     bool            `json:"toCredit,omitempty"`
	At           time.Time       `json:"at"`
	After        Books           `json:"after"`
}

// RecoveryWaived records that money recovers no loss on a written-off invoice any more, because the invoice is for a
// period that never began: nobody owes anything for it, and money that names it is credit.
type RecoveryWaived struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	InvoiceID    id.Invoice    `json:"invoiceId"`
	At           time.Time     `json:"at"`
}

// CreditNoteVoided records that a granted number has no credit note: the note has another number, or there is no such
// draft. The number stays used, because a series has no gaps.
type CreditNoteVoided struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	CreditNoteID id.Receipt    `json:"creditNoteId"`     // of the voided document
	StrayOf      id.Receipt    `json:"strayOf,omitzero"` // the note that was granted this number as its second
	Number       string        `json:"number"`
	Reason       string        `json:"reason"`
	At           time.Time     `json:"at"`
}

func (CreditSetAside) EventType() string    { return "billing.CreditSetAside.v2" }
func (SetAsideReturned) EventType() string  { return "billing.SetAsideReturned.v2" }
func (SetAsidePaidOut) EventType() string   { return "billing.SetAsidePaidOut.v1" }
func (DebtWrittenOff) EventType() string    { return "billing.DebtWrittenOff.v2" }
func (InvoiceWrittenOff) EventType() string { return "billing.InvoiceWrittenOff.v1" }
func (WriteOffRecovered) EventType() string { return "billing.WriteOffRecovered.v1" }
func (RecoveryWithdrawn) EventType() string { return "billing.RecoveryWithdrawn.v1" }
func (RecoveryWaived) EventType() string    { return "billing.RecoveryWaived.v1" }
func (CreditNoteVoided) EventType() string  { return "billing.CreditNoteVoided.v1" }

func (CreditSetAside) accountEvent()    {}
func (SetAsideReturned) accountEvent()  {}
func (SetAsidePaidOut) accountEvent()   {}
func (DebtWrittenOff) accountEvent()    {}
func (InvoiceWrittenOff) accountEvent() {}
func (WriteOffRecovered) accountEvent() {}
func (RecoveryWithdrawn) accountEvent() {}
func (RecoveryWaived) accountEvent()    {}
func (CreditNoteVoided) accountEvent()  {}

func (e CreditSetAside) PersonalSubject() uuid.UUID   { return e.SubscriberID.UUID() }
func (e SetAsideReturned) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }
func (e DebtWrittenOff) PersonalSubject() uuid.UUID   { return e.SubscriberID.UUID() }

func (CreditSetAside) remark()   {}
func (SetAsideReturned) remark() {}
func (DebtWrittenOff) remark()   {}
