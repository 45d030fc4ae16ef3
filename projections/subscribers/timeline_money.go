package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofInvoice is a happening with an invoice as its cause.
func ofInvoice(s id.Subscriber, invoice id.Invoice, reason, summary string) happening {
	return happening{
		subscriber: s, summary: summary, reason: reason, causeType: "invoice", cause: id.Any(invoice), invoice: invoice,
	}
}

// ofMoney is a happening with a receipt as its cause. Summaries leave receipt numbers out: with a number the provider
// can find the payer.
func ofMoney(s id.Subscriber, receipt id.Receipt, reason, summary string) happening {
	return happening{subscriber: s, summary: summary, reason: reason, causeType: "receipt", cause: id.Any(receipt)}
}

// ofPrompt is a happening with a payment prompt as its cause.
func ofPrompt(s id.Subscriber, payment id.Payment, reason, summary string) happening {
	return happening{subscriber: s, summary: summary, reason: reason, causeType: "payment", cause: id.Any(payment)}
}

// ofAccount describes the events of invoices and payments on the subscriber's account, and passes the others to
// ofCredit.
func ofAccount(e events.AccountEvent) happening {
	switch v := e.(type) {
	case events.AccountOpened:
		return happening{
			subscriber: v.SubscriberID, summary: "The account was opened.", causeType: "subscriber",
			cause: id.Any(v.SubscriberID),
		}
	case events.InvoiceDrafted:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "", "An invoice of "+v.Total.String()+" was drafted.")
	case events.InvoiceIssued:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "", "Invoice "+v.Number+" of "+v.Total.String()+" was issued.")
	case events.InvoiceVoided:
		return ofInvoice(v.SubscriberID, v.InvoiceID, v.Reason.Reveal(), numbered("Invoice", v.Number)+" was voided.")
	case events.InvoiceAllocated:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			v.Amount.String()+" went to "+anInvoice+", "+v.Due.String()+" of it is due.")
	case events.InvoicePaid:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "", atFirst+" was paid in full.")
	case events.InvoiceCancelled:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "", atFirst+" was given back whole.")
	case events.AllocationWithdrawn:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			v.Amount.String()+" was taken from "+anInvoice+", "+v.Due.String()+" of it is due.")
	case events.InvoiceReopened:
		return ofInvoice(v.SubscriberID, v.InvoiceID, v.Reason.Reveal(),
			atFirst+" was paid and is due again: "+v.Due.String()+".")
	case events.ReceiptCredited:
		return ofMoney(v.SubscriberID, v.ReceiptID, "",
			"A payment of "+v.Amount.String()+channelWords(v.Channel)+" was credited.")
	case events.ReceiptWithdrawn:
		return ofMoney(v.SubscriberID, v.ReceiptID, v.Reason.Reveal(),
			"A payment of "+v.Amount.String()+" was taken off the account.")
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
			subscriber: v.SubscriberID, summary: v.Credit.String() + " lies on the account.", causeType: "subscriber",
			cause: id.Any(v.SubscriberID),
		}
	case events.CreditNoteDrafted:
		return ofNote(v.SubscriberID, v.CreditNoteID, v.Reason.Reveal(),
			"A credit note of "+v.Amount.String()+" for "+anInvoice+" was drafted.").about(v.InvoiceID)
	case events.CreditNoteIssued:
		return ofNote(v.SubscriberID, v.CreditNoteID, v.Reason.Reveal(),
			numbered("Credit note", v.Number)+" of "+v.Amount.String()+" for "+anInvoice+" was issued.").
			about(v.InvoiceID)
	case events.PromptReserved:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", "A payment prompt of "+v.Amount.String()+" was opened.")
	case events.PromptReleased:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", "A payment prompt was closed.")
	case events.CreditNoteVoided:
		return ofNote(v.SubscriberID, v.CreditNoteID, v.Reason, numbered("Credit note", v.Number)+" was voided.")
	default:
		return ofLoss(e)
	}
}

// ofLoss describes the account's events about refunds and debts that were written off.
func ofLoss(e events.AccountEvent) happening {
	switch v := e.(type) {
	case events.CreditSetAside:
		return ofMoney(v.SubscriberID, v.ReceiptID, v.Reason.Reveal(),
			v.Amount.String()+" were set aside for a refund.")
	case events.SetAsideReturned:
		return ofMoney(v.SubscriberID, v.ReceiptID, v.Reason.Reveal(), "A refund of "+v.Amount.String()+" failed.")
	case events.SetAsidePaidOut:
		return ofMoney(v.SubscriberID, v.ReceiptID, "", "A refund of "+v.Amount.String()+" was paid out.")
	case events.DebtWrittenOff:
		return happening{
			subscriber: v.SubscriberID, reason: v.Reason.Reveal(),
			summary: "A debt of " + v.Amount.String() + " was written off.", causeType: "write_off",
			cause: id.Any(v.WriteOffID),
		}
	case events.InvoiceWrittenOff:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			"Nothing is due on "+anInvoice+" any more: "+v.Amount.String()+" of it were written off.")
	case events.WriteOffRecovered:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			v.Amount.String()+" came for "+anInvoice+", which was written off.")
	case events.RecoveryWithdrawn:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			v.Amount.String()+" were taken from "+anInvoice+", which was written off.")
	case events.RecoveryWaived:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			"The period of "+anInvoice+" that was written off never began: nobody owes anything for it.")
	case events.AccountPeriodClosed: // bookkeeping, no row
	case events.AccountOpened, events.InvoiceDrafted, events.InvoiceIssued, events.InvoiceVoided,
		events.InvoiceAllocated, events.InvoicePaid, events.InvoiceCancelled, events.AllocationWithdrawn,
		events.InvoiceReopened, events.ReceiptCredited, events.ReceiptWithdrawn:
		// The events of ofAccount.
	case events.CreditLeft, events.CreditNoteDrafted, events.CreditNoteIssued, events.CreditNoteVoided,
		events.PromptReserved, events.PromptReleased:
		// The events of ofCredit.
	}
	return happening{}
}

// ofNote is a happening with a credit note as its cause.
func ofNote(s id.Subscriber, note id.Receipt, reason, summary string) happening {
	return happening{
		subscriber: s, summary: summary, reason: reason, causeType: "credit_note", cause: id.Any(note),
	}
}

// about adds the invoice that the summary names.
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
			"A payment of "+v.Amount.String()+" was asked for by a phone prompt.")
	case events.PaymentSucceeded:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", "A phone prompt of "+v.Amount.String()+" was paid.")
	case events.ProvisionalClaimed:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", "The receipt of a paid phone prompt arrived.")
	case events.ProvisionalSuperseded:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", "A paid phone prompt was found to be known already.")
	case events.PaymentPaidElsewhere:
		return ofPrompt(v.SubscriberID, v.PaymentID, "",
			"The money of a phone prompt, "+v.Amount.String()+", was put on another account.")
	case events.PaymentCancelled:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", "A phone prompt was refused by the customer.")
	case events.PaymentFailed:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", "A phone prompt failed.")
	case events.PaymentExpired:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", "A phone prompt expired without a verdict.")
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
				"A payment of "+v.Amount.String()+channelWords(v.Channel)+" was found to be the subscriber's."),
		}
	case events.ReceiptClaimed:
		return []happening{ofMoney(v.SubscriberID, v.ReceiptID, "", "The real receipt of a provisional one arrived.")}
	case events.ReceiptAbsorbed:
		told := []happening{
			ofMoney(v.SubscriberID, v.ReceiptID, "",
				"A payment of "+v.Amount.String()+" was found to be one that is known already."),
		}
		if v.CreditedTo != v.SubscriberID {
			told = append(told, ofMoney(v.CreditedTo, v.ReceiptID, "",
				"A payment of "+v.Amount.String()+" was found to be another one's."))
		}
		return told
	case events.ReceiptReversed:
		return []happening{
			ofMoney(v.SubscriberID, v.ReceiptID, v.Reason.Reveal(), "A payment of "+v.Amount.String()+" was reversed."),
		}
	case events.ReceiptReattributed:
		return []happening{
			ofMoney(v.From, v.ReceiptID, v.Reason.Reveal(),
				"A payment of "+v.Amount.String()+" was somebody else's and moved away."),
			ofMoney(v.To, v.ReceiptID, v.Reason.Reveal(),
				"A payment of "+v.Amount.String()+" that another account had was moved here."),
		}
	case events.ReceiptRecorded, events.ReceiptSighted, events.ReceiptDisputed, events.ReceiptHeld,
		events.ReceiptUnclaimed, events.ReceiptStalled, events.ReceiptAssigned:
	}
	return nil
}

// channelWords names the channel of a payment, with a space before it; "" for a channel without a name.
func channelWords(channel string) string {
	switch channel {
	case "stk":
		return " by phone prompt"
	case "c2b":
		return " by paybill"
	case "cash":
		return " in cash"
	case "bill_manager":
		return " by bill manager"
	}
	return ""
}

// numbered adds the number to a document; a draft has no number yet.
func numbered(document, number string) string {
	if number == "" {
		return document
	}
	return document + " " + number
}
