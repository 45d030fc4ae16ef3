package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// ApprovalEvent is an event of "approval-<id>": an act that waits for a second person. Source:
// docs/rules/approvals.md#approvals.
//
//sumtype:decl
type ApprovalEvent interface {
	Event
	approvalEvent()
}

// ApprovalSubject is in every event of an approval. Amount is given away by the act.
type ApprovalSubject struct {
	ApprovalID   id.Approval     `json:"approvalId"`
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"` // whose money it is about; null = several, or nobody known
	Kind         string          `json:"kind"`         // one of ActKinds, or ActLimit
	Amount       money.Amount    `json:"amount"`
}

// PersonalSubject is the customer, or the approval itself when it is about no particular one.
func (s ApprovalSubject) PersonalSubject() uuid.UUID {
	if s.SubscriberID.IsZero() {
		return s.ApprovalID.UUID()
	}
	return s.SubscriberID.UUID()
}

// ApprovalAct says what exactly is done after the approval: what was looked at when it was asked for. Fields that the
// kind does not need are zero.
type ApprovalAct struct {
	ReceiptID      id.Receipt      `json:"receiptId,omitzero"`
	RefundID       id.Refund       `json:"refundId,omitzero"`
	InvoiceID      id.Invoice      `json:"invoiceId,omitzero"`
	CompensationID id.Compensation `json:"compensationId,omitzero"`
	ImportID       id.Import       `json:"importId,omitzero"`
	// ToID is to whom a payment is moved; PaymentID and NoPrompt are the word about the attempt whose money it is.
	ToID      id.Subscriber  `json:"toId,omitzero"`
	PaymentID id.Payment     `json:"paymentId,omitzero"`
	NoPrompt  bool           `json:"noPrompt,omitempty"`
	DueOn     calendar.Date  `json:"dueOn,omitzero"` // of a corrected invoice; zero = as without a date
	Lines     []ApprovalLine `json:"lines,omitempty"`
	// Before is the limit that another one, Amount, takes the place of. NoLimit says that none does.
	Before  money.Amount `json:"before,omitzero"`
	NoLimit bool         `json:"noLimit,omitempty"`
}

// ApprovalLine is a charge of a corrected invoice.
type ApprovalLine struct {
	Description personal.Text `json:"description"`
	Quantity    string        `json:"quantity"` // decimal number
	UnitPrice   money.Amount  `json:"unitPrice"`
	Once        bool          `json:"once,omitempty"`
}

// ApprovalRequested records that somebody wants to give away more than one person may. Nothing is done yet.
type ApprovalRequested struct {
	ApprovalSubject
	Act       ApprovalAct   `json:"act"`
	By        id.User       `json:"by"`       // of an API key its maker
	PersonID  id.User       `json:"personId"` // the record that stands for all records of that person
	Role      Role          `json:"role"`     // of By at that moment
	Reason    personal.Text `json:"reason"`
	ExpiresAt time.Time     `json:"expiresAt"`
	At        time.Time     `json:"at"`
}

// ApprovalGranted records that a second person agrees: the act is done next.
type ApprovalGranted struct {
	ApprovalSubject
	By   id.User   `json:"by"`
	Role Role      `json:"role"` // of By at that moment
	At   time.Time `json:"at"`
}

// ApprovalRefused records that another person does not agree.
type ApprovalRefused struct {
	ApprovalSubject
	By     id.User       `json:"by"`
	Reason personal.Text `json:"reason"`
	At     time.Time     `json:"at"`
}

// ApprovalWithdrawn records that who asked does not want it any more.
type ApprovalWithdrawn struct {
	ApprovalSubject
	By id.User   `json:"by"`
	At time.Time `json:"at"`
}

// ApprovalExpired records that nobody decided in time.
type ApprovalExpired struct {
	ApprovalSubject
	At time.Time `json:"at"`
}

// ApprovalCarriedOut records that the approved act is done.
type ApprovalCarriedOut struct {
	ApprovalSubject
	At time.Time `json:"at"`
}

// ApprovalFailed records that the approved act was refused, because what was looked at is not so any more. It did
// nothing.
type ApprovalFailed struct {
	ApprovalSubject
	Code string    `json:"code"` // of the failure
	At   time.Time `json:"at"`
}

func (ApprovalRequested) EventType() string  { return "billing.ApprovalRequested.v1" }
func (ApprovalGranted) EventType() string    { return "billing.ApprovalGranted.v1" }
func (ApprovalRefused) EventType() string    { return "billing.ApprovalRefused.v1" }
func (ApprovalWithdrawn) EventType() string  { return "billing.ApprovalWithdrawn.v1" }
func (ApprovalExpired) EventType() string    { return "billing.ApprovalExpired.v1" }
func (ApprovalCarriedOut) EventType() string { return "billing.ApprovalCarriedOut.v1" }
func (ApprovalFailed) EventType() string     { return "billing.ApprovalFailed.v1" }

func (ApprovalRequested) approvalEvent()  {}
func (ApprovalGranted) approvalEvent()    {}
func (ApprovalRefused) approvalEvent()    {}
func (ApprovalWithdrawn) approvalEvent()  {}
func (ApprovalExpired) approvalEvent()    {}
func (ApprovalCarriedOut) approvalEvent() {}
func (ApprovalFailed) approvalEvent()     {}

func (ApprovalRequested) remark() {}
func (ApprovalRefused) remark()   {}
