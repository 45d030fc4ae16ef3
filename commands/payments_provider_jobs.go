package commands

import (
	"fmt"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// SubmitReversal asks the provider, once, to send the money of an approved refund back to the payer.
type SubmitReversal struct {
	RefundID id.Refund `json:"refundId"`
	Position uint64    `json:"position"` // of the approval; read models must have reached it
}

// AskRefundStatus asks the provider what became of a reversal.
type AskRefundStatus struct {
	RefundID id.Refund `json:"refundId"`
}

// AskPromptStatus asks the provider for the receipt of a prompt that a status query found to be paid.
type AskPromptStatus struct {
	PaymentID id.Payment `json:"paymentId"`
}

// AskReceipt asks the provider about a receipt number that somebody names, of money that came to a shortcode.
type AskReceipt struct {
	OrgID         id.Organization `json:"orgId"` // null: the platform's shortcode
	Environment   string          `json:"environment"`
	Shortcode     string          `json:"shortcode"`
	ReceiptNumber string          `json:"receiptNumber"`
}

func (SubmitReversal) Kind() string  { return "payments_submit_reversal" }
func (AskRefundStatus) Kind() string { return "payments_ask_refund_status" }
func (AskPromptStatus) Kind() string { return "payments_ask_prompt_status" }
func (AskReceipt) Kind() string      { return "payments_ask_receipt" }

// Request is the question about one reversal.
func (j AskRefundStatus) Request() string { return j.RefundID.String() }

// Request is the question about one prompt.
func (j AskPromptStatus) Request() string { return j.PaymentID.String() }

// Request is the question about one receipt of a shortcode.
func (j AskReceipt) Request() string {
	return fmt.Sprintf("%s %s %s", j.Environment, j.Shortcode, j.ReceiptNumber)
}
