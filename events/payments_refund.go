package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// RefundEvent is an event of "refund-<id>": received money that goes back to the payer
// (docs/rules/money.md#refunds).
//
//sumtype:decl
type RefundEvent interface {
	Event
	refundEvent()
}

// RefundRequested records that somebody wants to give money of a receipt back. The subject of Reason is the subscriber,
// or the receipt when the money is in suspense.
type RefundRequested struct {
	RefundID      id.Refund       `json:"refundId"`
	OrgID         id.Organization `json:"orgId"`
	ReceiptID     id.Receipt      `json:"receiptId"`
	ReceiptNumber string          `json:"receiptNumber"`
	SubscriberID  id.Subscriber   `json:"subscriberId"` // whose account has the money; null = it is in suspense
	Amount        money.Amount    `json:"amount"`
	By            string          `json:"by"` // "manual", or "reversal" by the provider
	// AskedBy is who asked, and of an API key who answered for it then. Null = a program, and before this was recorded.
	AskedBy id.User       `json:"askedBy,omitzero"`
	Reason  personal.Text `json:"reason"`
	At      time.Time     `json:"at"`
}

// RefundSecured records that the money waits for the refund and can be used for nothing else.
type RefundSecured struct {
	RefundID id.Refund `json:"refundId"`
	At       time.Time `json:"at"`
}

// RefundApproved records that the money may go: somebody pays it out, or the provider is asked to reverse the payment.
type RefundApproved struct {
	RefundID     id.Refund       `json:"refundId"`
	OrgID        id.Organization `json:"orgId"`
	ReceiptID    id.Receipt      `json:"receiptId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Amount       money.Amount    `json:"amount"`
	By           string          `json:"by"` // as in RefundRequested
	At           time.Time       `json:"at"`
}

// RefundSubmitted records that the provider is about to be asked to reverse the payment. What is known of no answer
// afterwards is in doubt, and is never asked for again.
type RefundSubmitted struct {
	RefundID     id.Refund       `json:"refundId"`
	OrgID        id.Organization `json:"orgId"`
	ReceiptID    id.Receipt      `json:"receiptId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Amount       money.Amount    `json:"amount"`
	At           time.Time       `json:"at"`
}

// RefundAcknowledged records that the provider works on the reversal, and under which ids it can be asked about it.
type RefundAcknowledged struct {
	RefundID                 id.Refund `json:"refundId"`
	ConversationID           string    `json:"conversationId"`
	OriginatorConversationID string    `json:"originatorConversationId"`
	At                       time.Time `json:"at"`
}

// RefundDoubted records that nobody knows whether the provider reversed the payment.
type RefundDoubted struct {
	RefundID     id.Refund       `json:"refundId"`
	OrgID        id.Organization `json:"orgId"`
	ReceiptID    id.Receipt      `json:"receiptId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Amount       money.Amount    `json:"amount"`
	// Cause is "no_answer", "interrupted", "timed_out", "no_result" or "reversed_before".
	Cause   string    `json:"cause"`
	Message string    `json:"message,omitempty"` // the provider's words
	At      time.Time `json:"at"`
}

// RefundCompleted records that the payer has the money back.
type RefundCompleted struct {
	RefundID     id.Refund       `json:"refundId"`
	OrgID        id.Organization `json:"orgId"`
	ReceiptID    id.Receipt      `json:"receiptId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Amount       money.Amount    `json:"amount"`
	// Reference is the number of the payment to the payer: the provider's, or that of the organization's own document.
	Reference string    `json:"reference"`
	SaidBy    string    `json:"saidBy"` // "operator" or "provider"
	At        time.Time `json:"at"`
}

// RefundFailed records that the payer does not get the money. What waited for the refund is free again.
type RefundFailed struct {
	RefundID     id.Refund       `json:"refundId"`
	OrgID        id.Organization `json:"orgId"`
	ReceiptID    id.Receipt      `json:"receiptId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Amount       money.Amount    `json:"amount"`
	// Code is "cancelled" or "not_paid" when a person said so, else the code with which the account, the receipt or the
	// provider refused.
	Code    string        `json:"code"`
	Message string        `json:"message,omitempty"` // the provider's words
	Reason  personal.Text `json:"reason"`            // of the person; its subject is as in RefundRequested
	SaidBy  string        `json:"saidBy"`            // "operator", "provider" or "platform"
	At      time.Time     `json:"at"`
}

func (RefundRequested) EventType() string    { return "payments.RefundRequested.v1" }
func (RefundSecured) EventType() string      { return "payments.RefundSecured.v1" }
func (RefundApproved) EventType() string     { return "payments.RefundApproved.v1" }
func (RefundSubmitted) EventType() string    { return "payments.RefundSubmitted.v1" }
func (RefundAcknowledged) EventType() string { return "payments.RefundAcknowledged.v1" }
func (RefundDoubted) EventType() string      { return "payments.RefundDoubted.v1" }
func (RefundCompleted) EventType() string    { return "payments.RefundCompleted.v1" }
func (RefundFailed) EventType() string       { return "payments.RefundFailed.v1" }

func (RefundRequested) refundEvent()    {}
func (RefundSecured) refundEvent()      {}
func (RefundApproved) refundEvent()     {}
func (RefundSubmitted) refundEvent()    {}
func (RefundAcknowledged) refundEvent() {}
func (RefundDoubted) refundEvent()      {}
func (RefundCompleted) refundEvent()    {}
func (RefundFailed) refundEvent()       {}

// PersonalSubject is the subscriber whose account has the money, or the receipt when it is in suspense.
func (e RefundRequested) PersonalSubject() uuid.UUID {
	return refundSubject(e.SubscriberID, e.ReceiptID)
}

// PersonalSubject is the same person or receipt as that of the request.
func (e RefundFailed) PersonalSubject() uuid.UUID { return refundSubject(e.SubscriberID, e.ReceiptID) }

// refundSubject is whom the reasons of a refund are about.
func refundSubject(subscriber id.Subscriber, receipt id.Receipt) uuid.UUID {
	if subscriber.IsZero() {
		return receipt.UUID()
	}
	return subscriber.UUID()
}

func (RefundRequested) remark() {}
func (RefundFailed) remark()    {}
