package billingcases

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// givesUp writes a part of the debt off; zero is all of it.
func (w worked) givesUp(amount money.Amount) {
	w.t.Helper()
	w.does(commands.WriteOffDebt{
		SubscriberID: w.line.SubscriberID, WriteOffID: id.Derive[id.Receipt]("lost", w.at.String(), amount.String()),
		Amount: amount, Reason: "goodwill",
	})
}

// settled fails unless nothing is due and no credit is left, and no credit note was made.
func (w worked) settled() {
	w.t.Helper()
	if w.account.Due().Positive() || w.account.Credit().Positive() || len(w.notes) > 0 {
		w.t.Errorf("due %s, credit %s, notes %+v", w.account.Due(), w.account.Credit(), w.notes)
	}
}

// paidTo fails unless the service is active and paid until noon of a day.
func (w worked) paidTo(month time.Month, day int) {
	w.t.Helper()
	if until := w.line.PaidUntil(); !until.Equal(local(month, day)) || w.line.State != subscribers.Active {
		w.t.Errorf("%s, paid until %s", w.line.State, until)
	}
}

// TestWriteOff_WhoPaysAllThatIsStillAskedForHasTheMonth: a part is given up before the money comes or after it, of the
// first invoice and of a renewal, by a cent too. It is as after a credit note, and the money taken back takes the month
// back; the part stays given up.
func TestWriteOff_WhoPaysAllThatIsStillAskedForHasTheMonth(t *testing.T) {
	t.Parallel()
	for name, pays := range map[string]func(w worked){
		"before the money": func(w worked) {
			w.givesUp(money.Major(100, money.KES))
			w.pays(money.Major(1400, money.KES))
		},
		"after it": func(w worked) {
			w.pays(money.Major(1000, money.KES))
			w.givesUp(money.Amount{})
		},
		"between two payments": func(w worked) {
			w.pays(money.Major(1000, money.KES))
			w.givesUp(money.Of(1, money.KES))
			w.pays(w.account.Due())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sold(t, terms(events.Prepaid, 0))
			pays(w)
			w.paidTo(time.April, 21)
			w.until(local(time.April, 19))
			pays(w)
			w.paidTo(time.May, 21)
			w.settled()
			w.until(local(time.April, 23))
			lost := w.account.Settled[w.lastInvoice().InvoiceID].WrittenOff
			w.does(commands.WithdrawReceipt{ReceiptID: w.lastMoney(), SubscriberID: w.line.SubscriberID})
			w.paidTo(time.April, 21)
			now := w.account.Invoices[w.lastInvoice().InvoiceID]
			if !now.Due.Positive() || now.WrittenOff != lost || now.Due != w.account.Due() {
				t.Errorf("%s due, %s is given up", now.Due, now.WrittenOff)
			}
			w.pays(w.account.Due())
			w.paidTo(time.May, 21)
			w.settled()
		})
	}
}

// lastMoney is the receipt that was booked last.
func (w worked) lastMoney() (last id.Receipt) {
	seq := 0
	for receipt, r := range w.account.Receipts {
		if r.Seq > seq && !r.WriteOff && !r.CreditNote {
			last, seq = receipt, r.Seq
		}
	}
	return last
}

// TestWriteOff_AloneGivesNoTime: nobody has paid, whether all is given up at once, in parts, or together with a credit
// note. Nothing says that the subscription ended, and later money buys the month.
func TestWriteOff_AloneGivesNoTime(t *testing.T) {
	t.Parallel()
	for name, gives := range map[string]func(w worked){
		"at once": func(w worked) { w.givesUp(money.Amount{}) },
		"in parts": func(w worked) {
			w.givesUp(money.Major(100, money.KES))
			w.givesUp(money.Amount{})
		},
		"with a note": func(w worked) {
			w.givesBack(w.lastInvoice(), money.Major(600, money.KES))
			w.givesUp(money.Amount{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sold(t, terms(events.Prepaid, 0))
			gives(w)
			p, _ := w.line.Period(w.invoices[0].InvoiceID)
			due := w.account.Due()
			if p.State != subscribers.PeriodCancelled || w.line.State != subscribers.Pending || due.Positive() {
				t.Errorf("the period is %s, the service %s, due %s", p.State, w.line.State, due)
			}
			w.pays(money.Major(1500, money.KES))
			w.paidTo(time.April, 21)
			for _, n := range w.notes {
				if n.Reason.Reveal() != "goodwill" {
					t.Errorf("a note because of %q", n.Reason.Reveal())
				}
			}
		})
	}
}

// TestWriteOff_MoneyThatIsGivenBackTakesTheMonthBack: 100 were given up and 1,400 paid, and a credit note gives these
// back. Then nobody has paid for the month.
func TestWriteOff_MoneyThatIsGivenBackTakesTheMonthBack(t *testing.T) {
	t.Parallel()
	w := sold(t, terms(events.Prepaid, 0))
	w.givesUp(money.Major(100, money.KES))
	w.pays(money.Major(1400, money.KES))
	first := w.invoices[0]
	rest := money.Major(1400, money.KES)
	if of := w.account.PeriodCancelled(id.Derive[id.Receipt]("x"), first.InvoiceID, rest); of != w.line.ID {
		t.Errorf("before the note, the period of %q would go", of)
	}
	w.givesBack(first, rest)
	if p, _ := w.line.Period(first.InvoiceID); p.State != subscribers.PeriodCancelled {
		t.Errorf("the period is %s", p.State)
	}
	if until := w.line.PaidUntil(); !until.IsZero() || w.account.Credit() != rest {
		t.Errorf("paid until %s, credit %s", until, w.account.Credit())
	}
}

// TestWriteOff_APartOfThePriceBuysDaysOfWhatIsStillAskedFor: 100 of 1,500 were given up, so that each of 31 days costs
// a share of 1,400. By itself that buys no day.
func TestWriteOff_APartOfThePriceBuysDaysOfWhatIsStillAskedFor(t *testing.T) {
	t.Parallel()
	plan := terms(events.Prepaid, 0)
	plan.PartialPayment = events.PartIsDays
	w := sold(t, plan)
	w.givesUp(money.Major(100, money.KES))
	if until := w.line.PaidUntil(); !until.IsZero() {
		t.Errorf("paid until %s without money", until)
	}
	w.pays(money.Major(700, money.KES))
	w.paidTo(time.April, 5)
	n := w.lastNote()
	if n.Leaves != (events.PartPeriod{Days: 15, Of: 31}) || w.account.Credit() != money.Of(22_58, money.KES) {
		t.Errorf("%+v, credit %s", n, w.account.Credit())
	}
}

// TestParts_BuyDaysBesideACreditNote, as they do when the same was given up: 100 of 1,500 were given back before.
func TestParts_BuyDaysBesideACreditNote(t *testing.T) {
	t.Parallel()
	plan := terms(events.Prepaid, 0)
	plan.PartialPayment = events.PartIsDays
	w := sold(t, plan)
	w.givesBack(w.lastInvoice(), money.Major(100, money.KES))
	if until := w.line.PaidUntil(); !until.IsZero() {
		t.Errorf("paid until %s without money", until)
	}
	w.pays(money.Major(700, money.KES))
	w.paidTo(time.April, 5)
	n := w.lastNote()
	if n.Leaves != (events.PartPeriod{Days: 15, Of: 31}) || w.account.Credit() != money.Of(22_58, money.KES) {
		t.Errorf("%+v, credit %s", n, w.account.Credit())
	}
}

// TestWriteOff_WhatIsPaidAfterTheEndIsCredit: the part that was given up changes nothing for who has ended before.
func TestWriteOff_WhatIsPaidAfterTheEndIsCredit(t *testing.T) {
	t.Parallel()
	w := sold(t, terms(events.Prepaid, 0))
	w.givesUp(money.Major(100, money.KES))
	w.pays(money.Major(1000, money.KES))
	w.does(commands.EndSubscription{SubscriptionID: w.line.ID, Reason: "moves"})
	if n := w.lastNote(); n.Reason.Reveal() != "subscription ended" || n.Amount != money.Major(1400, money.KES) {
		t.Errorf("the note is %s because of %q", n.Amount, n.Reason.Reveal())
	}
	if w.account.Credit() != money.Major(1000, money.KES) || w.account.Due().Positive() {
		t.Errorf("credit %s, due %s", w.account.Credit(), w.account.Due())
	}
}

// TestWriteOff_APostpaidMonthKeepsItsPlace, whether money or the write-off comes last.
func TestWriteOff_APostpaidMonthKeepsItsPlace(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		w := sold(t, terms(events.Postpaid, 0))
		if first {
			w.givesUp(money.Major(100, money.KES))
		}
		w.pays(money.Major(1400, money.KES))
		if !first {
			w.givesUp(money.Amount{})
		}
		if p := w.line.Periods[0]; p.State != subscribers.PeriodPaid {
			t.Errorf("the period is %s", p.State)
		}
		w.paidTo(time.April, 21)
		w.settled()
	}
}
