package billingviews_test

import (
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// The people of the story: Amina and Brian are subscribers of Acme.
var (
	acme  = id.Derive[id.Organization]("test", "acme")
	other = id.Derive[id.Organization]("test", "other")
	amina = id.Derive[id.Subscriber]("test", "amina")
	brian = id.Derive[id.Subscriber]("test", "brian")
	sub   = id.Derive[id.Subscription]("test", "subscription")
)

// began is the first instant of the story.
var began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// at returns a minute of the story, counted from began.
func at(minute int) time.Time { return began.Add(time.Duration(minute) * time.Minute) }

// kes takes minor units (cents).
func kes(minor int64) money.Amount { return money.Of(minor, money.KES) }

// invoiceID returns the same id in every run.
func invoiceID(n int) id.Invoice { return id.Derive[id.Invoice]("test", fmt.Sprint("invoice", n)) }

// receiptID returns the same id in every run.
func receiptID(n int) id.Receipt { return id.Derive[id.Receipt]("test", fmt.Sprint("receipt", n)) }

// drafted is an invoice of one line with 16 % VAT included, due on a day of March 2026.
func drafted(n int, who id.Subscriber, minor int64, minute, dueDay int) events.InvoiceDrafted {
	tax := []events.TaxCharge{{Name: "VAT", BasisPoints: 1600, Amount: kes(minor * 16 / 116)}}
	return events.InvoiceDrafted{
		SubscriberID: who, OrgID: acme, InvoiceID: invoiceID(n), Taxes: tax, Total: kes(minor),
		Lines: []events.InvoiceLine{{
			Description: personal.Of("Home 10 Mbps, 1 month"), Quantity: "1", UnitPrice: kes(minor),
			Net: kes(minor - minor*16/116), Taxes: tax, Gross: kes(minor),
		}},
		DueOn: calendar.Date{Year: 2026, Month: time.March, Day: dueDay}, Prefix: "ACME", DraftedAt: at(minute),
	}
}

// issued issues the n-th invoice under the number ACME-000n.
func issued(n int, who id.Subscriber, minor int64, minute, dueDay int) events.InvoiceIssued {
	return events.InvoiceIssued{
		SubscriberID: who, OrgID: acme, InvoiceID: invoiceID(n), Number: fmt.Sprintf("ACME-%04d", n), Total: kes(minor),
		DueOn: calendar.Date{Year: 2026, Month: time.March, Day: dueDay}, IssuedAt: at(minute),
	}
}

// credited puts the n-th receipt on an account.
func credited(n int, who id.Subscriber, minor int64, channel string, minute int) events.ReceiptCredited {
	return events.ReceiptCredited{
		SubscriberID: who, OrgID: acme, ReceiptID: receiptID(n), Number: fmt.Sprintf("QGH%07d", n), Channel: channel,
		Amount: kes(minor), PaidAt: at(minute), At: at(minute),
	}
}

// allocated pays an invoice with credited money at the time of the credit; due remains.
func allocated(of events.ReceiptCredited, invoice int, minor, due int64) events.InvoiceAllocated {
	return events.InvoiceAllocated{
		SubscriberID: of.SubscriberID, InvoiceID: invoiceID(invoice), ReceiptID: of.ReceiptID, Amount: kes(minor),
		Due: kes(due), At: of.At,
	}
}

// story has a partial and a full payment, credit used later, drafts voided with and without a number, a voided invoice,
// a credit note, and a withdrawal that other credit covers in part. Times of the events are minutes of the story.
func story() []events.Event {
	period := drafted(4, brian, 116000, 30, 20)
	period.SubscriptionID, period.PeriodFrom, period.PeriodTo = sub, at(0), at(0).AddDate(0, 1, 0)
	paid := issued(4, brian, 116000, 31, 20)
	paid.SubscriptionID = sub
	note := id.Derive[id.Receipt]("test", "note")
	byNote := events.ReceiptCredited{SubscriberID: amina, ReceiptID: note, At: at(22)}
	byPaybill, byPrompt := credited(1, amina, 40000, "c2b", 3), credited(2, amina, 60000, "stk", 20)
	byCash := credited(3, brian, 150000, "cash", 32)
	return []events.Event{
		events.AccountOpened{SubscriberID: amina, OrgID: acme, Currency: money.KES}, // not handled by these projections
		events.TaxGatewayConfigured{OrgID: acme, At: at(0)},
		drafted(1, amina, 116000, 1, 10), issued(1, amina, 116000, 2, 10),
		byPaybill, allocated(byPaybill, 1, 40000, 76000),
		drafted(2, amina, 5000, 4, 11), issued(2, amina, 5000, 5, 11),
		events.InvoiceVoided{
			SubscriberID: amina, InvoiceID: invoiceID(2), Number: "ACME-0002", Total: kes(5000), WasIssued: true,
			Reason: personal.Of("typo"), At: at(6),
		},
		drafted(3, amina, 7000, 7, 12),
		events.InvoiceVoided{
			SubscriberID: amina, InvoiceID: invoiceID(3), Total: kes(7000), Reason: personal.Of("twice"), At: at(8),
		},
		events.InvoiceVoided{
			SubscriberID: amina, InvoiceID: invoiceID(3), Number: "ACME-0003", Total: kes(0),
			Reason: personal.Of("voided before it was issued"), At: at(9),
		},
		byPrompt, allocated(byPrompt, 1, 60000, 16000),
		events.TaxGatewayConfigured{OrgID: acme, On: true, At: at(21)},
		events.CreditNoteDrafted{
			SubscriberID: amina, OrgID: acme, CreditNoteID: note, InvoiceID: invoiceID(1), Amount: kes(20000),
			Reason: personal.Of("outage"), DraftedAt: at(21),
		},
		events.CreditNoteIssued{
			SubscriberID: amina, OrgID: acme, CreditNoteID: note, InvoiceID: invoiceID(1), Number: "ACME-CN-0001",
			Amount: kes(20000), Reason: personal.Of("outage"), IssuedAt: at(22),
		},
		allocated(byNote, 1, 16000, 0),
		period, paid, byCash, allocated(byCash, 4, 116000, 0),
		events.TaxGatewayConfigured{OrgID: acme, At: at(33)},
		events.ReceiptWithdrawn{
			SubscriberID: amina, OrgID: acme, ReceiptID: receiptID(1), Number: "QGH0000001", Amount: kes(40000),
			Reason: personal.Of("reversed"), At: at(40),
		},
		events.AllocationWithdrawn{
			SubscriberID: amina, InvoiceID: invoiceID(1), ReceiptID: receiptID(1), Amount: kes(40000), Due: kes(40000),
			At: at(40),
		},
		events.InvoiceAllocated{
			SubscriberID: amina, InvoiceID: invoiceID(1), ReceiptID: note, Amount: kes(4000), FromCredit: true,
			Due: kes(36000), At: at(40),
		},
		drafted(5, amina, 0, 50, 13), issued(5, amina, 0, 51, 13),
		drafted(6, brian, 11600, 52, 9),
		events.InvoiceVoided{
			SubscriberID: brian, InvoiceID: invoiceID(7), Number: "ACME-0007", Total: kes(0),
			Reason: personal.Of("the issue was refused"), At: at(53),
		},
	}
}
