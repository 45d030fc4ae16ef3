package billing_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// sellDays asks for the days of a month of 30 that the money on the first invoice pays.
func sellDays() commands.SellDays {
	return commands.SellDays{
		SubscriberID: subscriber, CreditNoteID: noteID(1), InvoiceID: invoiceID(1), Of: 30, Reason: "part",
		Prefix: "ACME-CN",
	}
}

// noteIssued issues the only credit note.
func noteIssued() commands.IssueCreditNote {
	return commands.IssueCreditNote{SubscriberID: subscriber, CreditNoteID: noteID(1), Number: "ACME-CN-0001"}
}

// TestSellDays_MoneyBuysTheWholeDaysThatItPays, charges first; docs/rules/subscribers.md#partial-payment.
func TestSellDays_MoneyBuysTheWholeDaysThatItPays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		charge, paid int64
		days         int
		note, left   int64 // left is credit after the note
	}{
		"half":                {0, 1500, 15, 1500, 0},
		"a little more":       {0, 1550, 15, 1500, 50},
		"one cent less":       {0, 1499, 14, 1600, 99},
		"all but a cent":      {0, 2999, 29, 100, 99},
		"one day":             {0, 100, 1, 2900, 0},
		"less than a day":     {0, 99, 0, 0, 0},
		"the charge alone":    {900, 900, 0, 0, 0},
		"the charge and days": {900, 1300, 4, 2600, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := draft(1, 3000, 20)
			if c.charge > 0 {
				d.Lines = append(d.Lines, commands.LineInput{
					Description: "Cable", Quantity: "1", UnitPrice: kes(c.charge), Once: true,
				})
			}
			l := given(t, d, issue(1), credit(1, c.paid))
			if c.days == 0 {
				l.then(sellDays())
				return
			}
			part := events.PartPeriod{Days: c.days, Of: 30}
			l.then(sellDays(), events.CreditNoteDrafted{
				SubscriberID: subscriber, OrgID: org, CreditNoteID: noteID(1), InvoiceID: invoiceID(1),
				Amount: kes(c.note), Reason: personal.Of("part"), Prefix: "ACME-CN", Leaves: part, DraftedAt: now,
			})
			l.then(sellDays()) // a repeat
			l.closed()
			if paid, told := paidOf(l.do(noteIssued())); !told || paid.Part != part {
				t.Errorf("the invoice is paid: %+v", paid)
			}
			if got := l.State().Credit(); got != kes(c.left) || l.State().Due().Positive() {
				t.Errorf("%v of credit, %v due", got, l.State().Due())
			}
		})
	}
}

// paidOf finds the event of a paid invoice.
func paidOf(made []events.AccountEvent) (events.InvoicePaid, bool) {
	for _, e := range made {
		if paid, ok := e.(events.InvoicePaid); ok {
			return paid, true
		}
	}
	return events.InvoicePaid{}, false
}

// TestSellDays_MoneyThatComesAndGoesMeanwhileIsNotLost: what comes before the note has its number is credit with it,
// and days whose money was taken back are to be paid whole.
func TestSellDays_MoneyThatComesAndGoesMeanwhileIsNotLost(t *testing.T) {
	t.Parallel()
	more := given(t, draft(1, 3000, 20), issue(1), credit(1, 1500), sellDays(), credit(2, 1500), noteIssued())
	if got := more.State().Credit(); got != kes(1500) {
		t.Errorf("%v of credit", got)
	}
	less := given(t, draft(1, 3000, 20), issue(1), credit(1, 1500), sellDays(), withdraw(1), noteIssued())
	less.then(sellDays())
	less.do(credit(2, 700))
	less.then(sellDays())
	paid, told := paidOf(less.do(credit(3, 800)))
	if !told || paid.Part != (events.PartPeriod{Days: 15, Of: 30}) {
		t.Errorf("the days are paid: %+v", paid)
	}
}

// TestSellDays_WhatANoteHasGivenBackMakesEachDayCheaper: by itself it buys none, whether it has its number yet or not,
// and one over all that is due leaves no days to sell.
func TestSellDays_WhatANoteHasGivenBackMakesEachDayCheaper(t *testing.T) {
	t.Parallel()
	for _, numbered := range []bool{true, false} {
		l := given(t, draft(1, 3000, 20), issue(1), note(2, 1, 600))
		if numbered {
			l.do(issueNote(2))
		}
		l.then(sellDays())
		l.do(credit(1, 1250)) // of 2400, 80 a day
		l.closed()
		part := events.PartPeriod{Days: 15, Of: 30}
		l.then(sellDays(), events.CreditNoteDrafted{
			SubscriberID: subscriber, OrgID: org, CreditNoteID: noteID(1), InvoiceID: invoiceID(1), Amount: kes(1200),
			Reason: personal.Of("part"), Prefix: "ACME-CN", Leaves: part, DraftedAt: now,
		})
		l.then(sellDays()) // a repeat
		made := l.do(noteIssued())
		if !numbered {
			made = l.do(issueNote(2))
		}
		if paid, told := paidOf(made); !told || paid.Part != part {
			t.Errorf("numbered %t: the invoice is paid: %+v", numbered, paid)
		}
		l.stands(0, 50)
		l.then(sellDays())
	}
	given(t, draft(1, 3000, 20), issue(1), credit(1, 1500), note(2, 1, 1500)).then(sellDays())
	given(t, draft(1, 3000, 20), issue(1), credit(1, 100), note(2, 1, 2950)).then(sellDays())
}

// TestSellDays_OfAnInvoiceThatIsNotOpenAreNone: a draft, a paid one, and an unknown one.
func TestSellDays_OfAnInvoiceThatIsNotOpenAreNone(t *testing.T) {
	t.Parallel()
	given(t, draft(1, 3000, 20)).then(sellDays())
	given(t, draft(1, 3000, 20), issue(1), credit(1, 3000)).then(sellDays())
	given(t, draft(2, 3000, 20), issue(2), credit(1, 1500)).then(sellDays())
}

// TestSellDays_OfAnInvoiceThatWasPaidBeforeAreNone: its days may be used, and so may those of the one in its place.
func TestSellDays_OfAnInvoiceThatWasPaidBeforeAreNone(t *testing.T) {
	t.Parallel()
	l := given(t, draft(1, 3000, 20), issue(1), credit(1, 3000), withdraw(1), credit(2, 100))
	l.then(sellDays())
	l.stands(2900, 0)
	l.closed()
	l.then(sellDays())
	whole := given(t, draft(1, 3000, 20), issue(1), credit(1, 3000))
	whole.closed()
	whole.do(withdraw(1))
	whole.do(credit(2, 100))
	whole.then(sellDays())

	corrected := given(t, draft(1, 3000, 20), issue(1), credit(1, 3000), reissue(1, 2, 3600), issue(2), issueNote(2))
	sell := sellDays()
	sell.InvoiceID = invoiceID(2)
	corrected.stands(600, 0)
	corrected.then(sell)
	corrected.closed()
	corrected.then(sell)
}
