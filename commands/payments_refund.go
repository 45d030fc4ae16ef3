package commands

import (
	"strings"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// RefundCategory begins the names of the streams of refunds.
const RefundCategory = "refund"

// Ways to give money back. Clients see these texts.
const (
	RefundManual   = "manual"   // a person pays the payer by other means
	RefundReversal = "reversal" // the provider reverses the payment
)

// Codes of refunds that a person ended without payment, and of who said what became of one.
const (
	RefundCancelled  = "cancelled" // before it was paid
	RefundNotPaid    = "not_paid"
	SaidByProvider   = "provider"
	SaidByOperator   = "operator"
	SaidByPlatform   = "platform"
	maxRefundComment = 100
)

// RefundCommand asks the stream of one refund. Its id is made by who asks for the refund.
//
//sumtype:decl
type RefundCommand interface {
	Command
	refundCommand()
}

// RequestRefund asks to give money of a receipt back. The caller has asked whether it can be; the process of the refund
// sets it aside. A repeat of the same changes nothing. Fails: refund_exists.
type RequestRefund struct {
	RefundID      id.Refund
	OrgID         id.Organization
	ReceiptID     id.Receipt
	ReceiptNumber string
	SubscriberID  id.Subscriber // zero = the money is in suspense
	Amount        money.Amount
	By            string  // RefundManual or RefundReversal
	AskedBy       id.User // of an API key who answers for it now; zero = a program
	Reason        string
}

// SecureRefund reports that the money waits for the refund. Fails: refund_not_found, refund_ended.
type SecureRefund struct{ RefundID id.Refund }

// RefuseRefund reports that the money could not be set aside. Fails: refund_not_found.
type RefuseRefund struct {
	RefundID id.Refund
	Code     string // of the failure
}

// ApproveRefund lets the money go. Fails: refund_not_found, refund_not_secured, refund_ended.
type ApproveRefund struct {
	RefundID id.Refund
	OrgID    id.Organization
}

// SubmitRefund notes that the provider is about to be asked for the reversal of an approved refund. When that was noted
// before, nothing changes: the reversal must not be asked for again. Fails: refund_not_found, refund_not_approved,
// refund_ended.
type SubmitRefund struct{ RefundID id.Refund }

// AcknowledgeRefund reports that the provider works on the reversal. Fails: refund_not_found.
type AcknowledgeRefund struct {
	RefundID                 id.Refund
	ConversationID           string
	OriginatorConversationID string
}

// Causes of doubt about a reversal.
const (
	DoubtNoAnswer       = "no_answer"       // the answer to the request was lost
	DoubtInterrupted    = "interrupted"     // the program ended while it asked
	DoubtTimedOut       = "timed_out"       // the provider says that it did not come to it in time
	DoubtNoResult       = "no_result"       // it was acknowledged, and no result came
	DoubtReversedBefore = "reversed_before" // somebody else had reversed the payment
)

// DoubtRefund reports that nobody knows whether the provider made the reversal. A refund that was not submitted, or
// that has ended, stays as it is. Fails: refund_not_found.
type DoubtRefund struct {
	RefundID id.Refund
	Cause    string
	Message  string // the provider's words
}

// ConcludeRefund is the provider's word about a reversal. Once the money is known to be back, nothing changes that.
// Money that went back although a person said that it would not is a refusal, which somebody must see. Fails:
// refund_not_found, refund_not_approved, refund_ended.
type ConcludeRefund struct {
	RefundID  id.Refund
	Completed bool
	Reference string // of Completed: the provider's number of the payment back
	Code      string // else: the code of the failure
	Message   string // else: the provider's words
}

// CancelRefund ends a refund of which nothing was paid or asked of the provider yet. Fails: refund_not_found,
// refund_ended, refund_submitted.
type CancelRefund struct {
	RefundID id.Refund
	OrgID    id.Organization
	Reason   string
}

// SettleRefund is the word of a person about what became of an approved refund. Fails: refund_not_found,
// refund_not_approved, refund_ended, refund_submitted.
type SettleRefund struct {
	RefundID  id.Refund
	OrgID     id.Organization
	Completed bool   // the payer has the money
	Reference string // of the payment to the payer; "" unless Completed
	Reason    string // why the payer does not get it; "" when Completed
}

func (RequestRefund) CommandName() string     { return "payments.RequestRefund" }
func (SecureRefund) CommandName() string      { return "payments.SecureRefund" }
func (RefuseRefund) CommandName() string      { return "payments.RefuseRefund" }
func (ApproveRefund) CommandName() string     { return "payments.ApproveRefund" }
func (SubmitRefund) CommandName() string      { return "payments.SubmitRefund" }
func (AcknowledgeRefund) CommandName() string { return "payments.AcknowledgeRefund" }
func (DoubtRefund) CommandName() string       { return "payments.DoubtRefund" }
func (ConcludeRefund) CommandName() string    { return "payments.ConcludeRefund" }
func (CancelRefund) CommandName() string      { return "payments.CancelRefund" }
func (SettleRefund) CommandName() string      { return "payments.SettleRefund" }

func (c RequestRefund) Target() Target     { return At(RefundCategory, c.RefundID) }
func (c SecureRefund) Target() Target      { return At(RefundCategory, c.RefundID) }
func (c RefuseRefund) Target() Target      { return At(RefundCategory, c.RefundID) }
func (c ApproveRefund) Target() Target     { return At(RefundCategory, c.RefundID) }
func (c SubmitRefund) Target() Target      { return At(RefundCategory, c.RefundID) }
func (c AcknowledgeRefund) Target() Target { return At(RefundCategory, c.RefundID) }
func (c DoubtRefund) Target() Target       { return At(RefundCategory, c.RefundID) }
func (c ConcludeRefund) Target() Target    { return At(RefundCategory, c.RefundID) }
func (c CancelRefund) Target() Target      { return At(RefundCategory, c.RefundID) }
func (c SettleRefund) Target() Target      { return At(RefundCategory, c.RefundID) }

func (RequestRefund) refundCommand()     {}
func (SecureRefund) refundCommand()      {}
func (RefuseRefund) refundCommand()      {}
func (ApproveRefund) refundCommand()     {}
func (SubmitRefund) refundCommand()      {}
func (AcknowledgeRefund) refundCommand() {}
func (DoubtRefund) refundCommand()       {}
func (ConcludeRefund) refundCommand()    {}
func (CancelRefund) refundCommand()      {}
func (SettleRefund) refundCommand()      {}

// Validate checks form.
func (c RequestRefund) Validate() error {
	var f failure.Faults
	f.Check(!c.RefundID.IsZero() && !c.OrgID.IsZero(), "refundId", "is required")
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	f.Check(c.By == RefundManual || c.By == RefundReversal, "by", "must be manual or reversal")
	checkMoney(&f, c.Amount)
	if err := f.Err(); err != nil {
		return err
	}
	return requireReason(c.Reason)
}

// Validate checks form.
func (c SecureRefund) Validate() error { return refundNamed(c.RefundID) }

// Validate checks form.
func (c RefuseRefund) Validate() error {
	var f failure.Faults
	f.Check(c.Code != "", "code", "is required")
	if err := f.Err(); err != nil {
		return err
	}
	return refundNamed(c.RefundID)
}

// Validate checks form.
func (c ApproveRefund) Validate() error { return refundNamed(c.RefundID) }

// Validate checks form.
func (c SubmitRefund) Validate() error { return refundNamed(c.RefundID) }

// Validate checks form.
func (c AcknowledgeRefund) Validate() error { return refundNamed(c.RefundID) }

// Validate checks form.
func (c DoubtRefund) Validate() error {
	var f failure.Faults
	f.Check(c.Cause != "", "cause", "is required")
	if err := f.Err(); err != nil {
		return err
	}
	return refundNamed(c.RefundID)
}

// Validate checks form.
func (c ConcludeRefund) Validate() error {
	var f failure.Faults
	f.Check(c.Completed || c.Code != "", "code", "is required of a failure")
	if err := f.Err(); err != nil {
		return err
	}
	return refundNamed(c.RefundID)
}

// Validate checks form.
func (c CancelRefund) Validate() error {
	if err := refundNamed(c.RefundID); err != nil {
		return err
	}
	return requireReason(c.Reason)
}

// Validate checks form: money that was paid has a reference, and money that was not has a reason.
func (c SettleRefund) Validate() error {
	if err := refundNamed(c.RefundID); err != nil {
		return err
	}
	if !c.Completed {
		return requireReason(c.Reason)
	}
	var f failure.Faults
	f.Check(strings.TrimSpace(c.Reference) != "", "reference", "is required when the payer has the money")
	f.Check(len(c.Reference) <= maxRefundComment, "reference", "has at most %d characters", maxRefundComment)
	return f.Err()
}

// refundNamed requires the id of a refund.
func refundNamed(r id.Refund) error {
	var f failure.Faults
	f.Check(!r.IsZero(), "refundId", "is required")
	return f.Err()
}
