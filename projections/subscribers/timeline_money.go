package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofInvoice is a happening with an invoice as its cause.
func ofInvoice(s id.Subscriber, invoice id.Invoice, reason string, told Sentence) happening {
	return happening{
		subscriber: s, says: told, reason: reason, causeType: "invoice", cause: id.Any(invoice), invoice: invoice,
	}
}

// ofMoney is a happening with a receipt as its cause. Sentences leave receipt numbers out: with a number the provider
// can find the payer.
func ofMoney(s id.Subscriber, receipt id.Receipt, reason string, told Sentence) happening {
	return happening{subscriber: s, says: told, reason: reason, causeType: "receipt", cause: id.Any(receipt)}
}

// ofPrompt is a happening with a payment prompt as its cause.
func ofPrompt(s id.Subscriber, payment id.Payment, reason string, told Sentence) happening {
	return happening{subscriber: s, says: told, reason: reason, causeType: "payment", cause: id.Any(payment)}
}

// ofAccount describes the events of invoices and payments on the subscriber's account, and passes the others to
// ofCredit.
func ofAccount(e events.AccountEvent) happening {
	switch v := e.(type) {
	case events.AccountOpened:
		return happening{
			subscriber: v.SubscriberID, says: says("account_opened", Facts{}), causeType: "subscriber",
			cause: id.Any(v.SubscriberID),
		}
	case events.InvoiceDrafted:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "", says("invoice_drafted", sum(v.Total)))
	case events.InvoiceIssued:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			says("invoice_issued", sum(v.Total).ofInvoice(v.Number)))
	case events.InvoiceVoided:
		return ofInvoice(v.SubscriberID, v.InvoiceID, v.Reason.Reveal(),
			says("invoice_voided", Facts{Invoice: v.Number}))
	case events.InvoiceAllocated:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			says("invoice_allocated", sum(v.Amount).leaving(v.Due)))
	case events.InvoicePaid:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "", says("invoice_paid", Facts{}))
	case events.InvoiceCancelled:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "", says("invoice_cancelled", Facts{}))
	case events.AllocationWithdrawn:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			says("allocation_withdrawn", sum(v.Amount).leaving(v.Due)))
	case events.InvoiceReopened:
		return ofInvoice(v.SubscriberID, v.InvoiceID, v.Reason.Reveal(),
			says("invoice_reopened", sum(v.Due)))
	case events.ReceiptCredited:
		return ofMoney(v.SubscriberID, v.ReceiptID, "",
			says("payment_credited", sum(v.Amount).by(v.Channel)))
	case events.ReceiptWithdrawn:
		return ofMoney(v.SubscriberID, v.ReceiptID, v.Reason.Reveal(),
			says("payment_withdrawn", sum(v.Amount)))
	default:
		return ofCredit(e)
	}
}

// ofCredit describes the account's events about credit, credit notes and prompts.
func ofCredit(e events.AccountEvent) happening {
	switch v := e.(type) {
	case events.CreditLeft:
		if v.Asked { // nothing happened
			return happening{}
		}
		return happening{
			subscriber: v.SubscriberID, says: says("credit_left", sum(v.Credit)), causeType: "subscriber",
			cause: id.Any(v.SubscriberID),
		}
	case events.BalanceCarriedOver:
		if v.Amount.Positive() {
			return ofInvoice(v.SubscriberID, v.InvoiceID, "", says("debt_carried_over", sum(v.Amount)))
		}
		return happening{
			subscriber: v.SubscriberID, says: says("credit_carried_over", sum(v.Amount.Neg())), causeType: "subscriber",
			cause: id.Any(v.SubscriberID),
		}
	case events.CreditNoteDrafted:
		return ofNote(v.SubscriberID, v.CreditNoteID, v.Reason.Reveal(),
			says("credit_note_drafted", sum(v.Amount))).about(v.InvoiceID)
	case events.CreditNoteIssued:
		return ofNote(v.SubscriberID, v.CreditNoteID, v.Reason.Reveal(),
			says("credit_note_issued", sum(v.Amount).numbered(v.Number))).
			about(v.InvoiceID)
	case events.PromptReserved:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", says("prompt_opened", sum(v.Amount)))
	case events.PromptReleased:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", says("prompt_closed", Facts{}))
	case events.CreditNoteVoided:
		return ofNote(v.SubscriberID, v.CreditNoteID, v.Reason,
			says("credit_note_voided", Facts{Number: v.Number}))
	default:
		return ofLoss(e)
	}
}

// ofLoss describes the account's events about refunds and debts that were written off.
func ofLoss(e events.AccountEvent) happening {
	switch v := e.(type) {
	case events.CreditSetAside:
		return ofMoney(v.SubscriberID, v.ReceiptID, v.Reason.Reveal(),
			says("refund_set_aside", sum(v.Amount)))
	case events.SetAsideReturned:
		return ofMoney(v.SubscriberID, v.ReceiptID, v.Reason.Reveal(),
			says("refund_failed", sum(v.Amount)))
	case events.SetAsidePaidOut:
		return ofMoney(v.SubscriberID, v.ReceiptID, "", says("refund_paid_out", sum(v.Amount)))
	case events.DebtWrittenOff:
		return happening{
			subscriber: v.SubscriberID, reason: v.Reason.Reveal(), says: says("debt_written_off", sum(v.Amount)),
			causeType: "write_off",
			cause:     id.Any(v.WriteOffID),
		}
	case events.InvoiceWrittenOff:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			says("invoice_written_off", sum(v.Amount)))
	case events.WriteOffRecovered:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			says("write_off_recovered", sum(v.Amount)))
	case events.RecoveryWithdrawn:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			says("recovery_withdrawn", sum(v.Amount)))
	case events.RecoveryWaived:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			says("recovery_waived", Facts{}))
	case events.AccountPeriodClosed, events.AccountClosed: // bookkeeping, no row
	case events.AccountOpened, events.InvoiceDrafted, events.InvoiceIssued, events.InvoiceVoided,
		events.InvoiceAllocated, events.InvoicePaid, events.InvoiceCancelled, events.AllocationWithdrawn,
		events.InvoiceReopened, events.ReceiptCredited, events.ReceiptWithdrawn:
		// The events of ofAccount.
	case events.CreditLeft, events.BalanceCarriedOver, events.CreditNoteDrafted, events.CreditNoteIssued,
		events.CreditNoteVoided, events.PromptReserved, events.PromptReleased:
		// The events of ofCredit.
	}
	return happening{}
}

// ofNote is a happening with a credit note as its cause.
func ofNote(s id.Subscriber, note id.Receipt, reason string, told Sentence) happening {
	return happening{
		subscriber: s, says: told, reason: reason, causeType: "credit_note", cause: id.Any(note),
	}
}

// about adds the invoice that the sentence names.
func (h happening) about(invoice id.Invoice) happening {
	h.invoice = invoice
	return h
}

// ofPayment describes a prompt on the subscriber's phone. Events between the start and the verdict carry no subscriber
// and have no row.
func ofPayment(e events.PaymentEvent) happening {
	switch v := e.(type) {
	case events.PaymentInitiated:
		return ofPrompt(v.SubscriberID, v.PaymentID, "",
			says("payment_asked_for", sum(v.Amount)))
	case events.PaymentSucceeded:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", says("prompt_paid", sum(v.Amount)))
	case events.ProvisionalClaimed:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", says("prompt_receipt_arrived", Facts{}))
	case events.ProvisionalSuperseded:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", says("prompt_known_already", Facts{}))
	case events.PaymentPaidElsewhere:
		return ofPrompt(v.SubscriberID, v.PaymentID, "",
			says("prompt_paid_elsewhere", sum(v.Amount)))
	case events.PaymentCancelled:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", says("prompt_cancelled", Facts{}))
	case events.PaymentFailed:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", says("prompt_failed", Facts{}))
	case events.PaymentExpired:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", says("prompt_expired", Facts{}))
	case events.PromptSubmitting, events.PromptAccepted, events.PromptInDoubt, events.PromptChecked,
		events.PromptCheckRequested:
	}
	return happening{}
}

// ofReceipt describes received money. When money moves, both subscribers get a row, and neither row names the other
// one.
func ofReceipt(e events.ReceiptEvent) []happening {
	switch v := e.(type) {
	case events.ReceiptMatched:
		return []happening{
			ofMoney(v.SubscriberID, v.ReceiptID, "",
				says("payment_matched", sum(v.Amount).by(v.Channel))),
		}
	case events.ReceiptClaimed:
		return []happening{ofMoney(v.SubscriberID, v.ReceiptID, "", says("receipt_arrived", Facts{}))}
	case events.ReceiptAbsorbed:
		told := []happening{
			ofMoney(v.SubscriberID, v.ReceiptID, "",
				says("payment_known_already", sum(v.Amount))),
		}
		if v.CreditedTo != v.SubscriberID {
			told = append(told, ofMoney(v.CreditedTo, v.ReceiptID, "",
				says("payment_of_another", sum(v.Amount))))
		}
		return told
	case events.ReceiptReversed:
		return []happening{
			ofMoney(v.SubscriberID, v.ReceiptID, v.Reason.Reveal(), says("payment_reversed", sum(v.Amount))),
		}
	case events.ReceiptReattributed:
		return []happening{
			ofMoney(v.From, v.ReceiptID, v.Reason.Reveal(),
				says("payment_moved_away", sum(v.Amount))),
			ofMoney(v.To, v.ReceiptID, v.Reason.Reveal(),
				says("payment_moved_here", sum(v.Amount))),
		}
	case events.ReceiptRecorded, events.ReceiptSighted, events.ReceiptDisputed, events.ReceiptHeld,
		events.ReceiptUnclaimed, events.ReceiptStalled, events.ReceiptAssigned, events.ReceiptSetAside,
		events.ReceiptReturned, events.ReceiptRefunded:
	}
	return nil
}

// ofRefund describes what people decide about a refund of the subscriber's money. What the account does with the money
// has rows of its own.
func ofRefund(e events.RefundEvent) happening {
	switch v := e.(type) {
	case events.RefundRequested:
		return ofMoney(v.SubscriberID, v.ReceiptID, v.Reason.Reveal(), says("refund_requested", sum(v.Amount)))
	case events.RefundApproved:
		return ofMoney(v.SubscriberID, v.ReceiptID, "", says("refund_approved", sum(v.Amount)))
	case events.RefundFailed:
		return ofMoney(v.SubscriberID, v.ReceiptID, v.Reason.Reveal(), says("refund_not_paid", sum(v.Amount)))
	case events.RefundCompleted:
		return ofMoney(v.SubscriberID, v.ReceiptID, "", says("refund_completed", sum(v.Amount)))
	case events.RefundSubmitted:
		return ofMoney(v.SubscriberID, v.ReceiptID, "", says("refund_submitted", sum(v.Amount)))
	case events.RefundDoubted:
		return ofMoney(v.SubscriberID, v.ReceiptID, "", says("refund_in_doubt", sum(v.Amount)))
	case events.RefundSecured, events.RefundAcknowledged:
	}
	return happening{}
}
