package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofInvoice is a happening about an invoice.
func ofInvoice(s id.Subscriber, invoice id.Invoice, reason, summary string) happening {
	return happening{subscriber: s, summary: summary, reason: reason, causeType: "invoice", cause: id.Any(invoice)}
}

// ofMoney is a happening about a receipt. Receipt numbers are not told: the provider knows their payers.
func ofMoney(s id.Subscriber, receipt id.Receipt, reason, summary string) happening {
	return happening{subscriber: s, summary: summary, reason: reason, causeType: "receipt", cause: id.Any(receipt)}
}

// ofPrompt is a happening about a payment prompt.
func ofPrompt(s id.Subscriber, payment id.Payment, reason, summary string) happening {
	return happening{subscriber: s, summary: summary, reason: reason, causeType: "payment", cause: id.Any(payment)}
}

// ofAccount tells about the subscriber's money.
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
		return ofInvoice(v.SubscriberID, v.InvoiceID, v.Reason, numbered("Invoice", v.Number)+" was voided.")
	case events.InvoiceAllocated:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			v.Amount.String()+" went to an invoice, "+v.Due.String()+" of it is due.")
	case events.InvoicePaid:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "", "An invoice was paid in full.")
	case events.InvoiceCancelled:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "", "An invoice was given back whole before it was paid.")
	case events.AllocationWithdrawn:
		return ofInvoice(v.SubscriberID, v.InvoiceID, "",
			v.Amount.String()+" was taken from an invoice, "+v.Due.String()+" of it is due.")
	case events.InvoiceReopened:
		return ofInvoice(v.SubscriberID, v.InvoiceID, v.Reason, "A paid invoice is due again: "+v.Due.String()+".")
	case events.ReceiptCredited:
		return ofMoney(v.SubscriberID, v.ReceiptID, "",
			"A payment of "+v.Amount.String()+channelWords(v.Channel)+" was credited.")
	case events.ReceiptWithdrawn:
		return ofMoney(v.SubscriberID, v.ReceiptID, v.Reason,
			"A payment of "+v.Amount.String()+" was taken off the account.")
	default:
		return ofCredit(e)
	}
}

// ofCredit tells about credit, credit notes and prompts: the rest of the account's events.
func ofCredit(e events.AccountEvent) happening {
	switch v := e.(type) {
	case events.CreditLeft:
		return happening{
			subscriber: v.SubscriberID, summary: v.Credit.String() + " lies on the account.", causeType: "subscriber",
			cause: id.Any(v.SubscriberID),
		}
	case events.CreditNoteDrafted:
		return ofNote(v.SubscriberID, v.CreditNoteID, v.Reason, "A credit note of "+v.Amount.String()+" was drafted.")
	case events.CreditNoteIssued:
		return ofNote(v.SubscriberID, v.CreditNoteID, v.Reason,
			numbered("Credit note", v.Number)+" of "+v.Amount.String()+" was issued.")
	case events.PromptReserved:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", "A payment prompt of "+v.Amount.String()+" was opened.")
	case events.PromptReleased:
		return ofPrompt(v.SubscriberID, v.PaymentID, "", "A payment prompt was closed.")
	case events.AccountPeriodClosed: // bookkeeping
	case events.AccountOpened, events.InvoiceDrafted, events.InvoiceIssued, events.InvoiceVoided,
		events.InvoiceAllocated, events.InvoicePaid,
		// ofAccount's
		events.InvoiceCancelled, events.AllocationWithdrawn, events.InvoiceReopened, events.ReceiptCredited,
		events.ReceiptWithdrawn:
	}
	return happening{}
}

// ofNote is a happening about a credit note.
func ofNote(s id.Subscriber, note id.Receipt, reason, summary string) happening {
	return happening{
		subscriber: s, summary: summary, reason: reason, causeType: "credit_note", cause: id.Any(note),
	}
}

// ofPayment tells about a prompt on the subscriber's phone. Steps in between name no subscriber and are not told.
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

// ofReceipt tells about money that came. What is moved is told to both sides, neither learns who the other is.
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
			ofMoney(v.SubscriberID, v.ReceiptID, v.Reason, "A payment of "+v.Amount.String()+" was reversed."),
		}
	case events.ReceiptReattributed:
		return []happening{
			ofMoney(v.From, v.ReceiptID, v.Reason,
				"A payment of "+v.Amount.String()+" was somebody else's and moved away."),
			ofMoney(v.To, v.ReceiptID, v.Reason,
				"A payment of "+v.Amount.String()+" that another account had was moved here."),
		}
	case events.ReceiptRecorded, events.ReceiptSighted, events.ReceiptDisputed, events.ReceiptHeld,
		events.ReceiptUnclaimed, events.ReceiptAssigned:
	}
	return nil
}

// channelWords says how money came, with a space before it; "" for a channel without a word.
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

// numbered is a document with its number, which a draft has not.
func numbered(document, number string) string {
	if number == "" {
		return document
	}
	return document + " " + number
}
