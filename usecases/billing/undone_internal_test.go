package billingcases

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
)

// TestUndone_TwoUsedMonthsAreBothPaidAgain: two runs are undone in whose months the customer was served. One payment of
// both prices brings both months back to where they were, with nothing given and nothing left.
func TestUndone_TwoUsedMonthsAreBothPaidAgain(t *testing.T) {
	t.Parallel()
	w := sold(t, terms(events.Prepaid, 0))
	price := money.Major(1500, money.KES)
	w.pays(price)
	w.until(local(time.April, 20))
	w.pays(price)
	w.until(local(time.May, 25)) // the third month begins with its payment
	w.pays(price)
	before := w.line.PaidUntil()
	if want := local(time.June, 25); !before.Equal(want) {
		t.Fatalf("paid until %s", before)
	}
	w.until(local(time.June, 5))
	undone, run := w.invoices, id.BillingRun{}
	for _, i := range []int{2, 1} {
		run = w.undoes(undone[i])
	}
	if until := w.line.PaidUntil(); !until.Equal(local(time.April, 21)) {
		t.Fatalf("after the undo paid until %s", until)
	}
	if credit := w.account.Credit(); credit != money.Major(3000, money.KES) {
		t.Fatalf("credit %s", credit)
	}
	w.does(commands.MakePeriodDue{
		SubscriptionID: w.line.ID, On: calendar.On(w.at, nairobi), RunID: run, Again: true,
	})
	w.until(local(time.June, 6))
	before = before.Add(invoicing.ForRun) // the time without service until the invoice of the run is there
	if until := w.line.PaidUntil(); !until.Equal(before) || len(w.invoices) != 5 {
		t.Errorf("made again, paid until %s with %d invoices", until, len(w.invoices))
	}
	if w.account.Credit().Positive() || w.account.Due().Positive() {
		t.Errorf("credit %s, due %s", w.account.Credit(), w.account.Due())
	}
}

// TestUndone_DaysWithoutServiceAreGivenBackOnce: with a billing day, one run or two are undone on 10 May and made again
// on 20 May. The ten days of May between them need not be paid.
func TestUndone_DaysWithoutServiceAreGivenBackOnce(t *testing.T) {
	t.Parallel()
	for runs := 1; runs <= 2; runs++ {
		w := sold(t, terms(events.Prepaid, 1))
		w.pays(w.lastInvoice().Total)
		for _, day := range []time.Time{local(time.March, 30), local(time.April, 29)} {
			w.until(day)
			w.pays(w.lastInvoice().Total)
		}
		w.until(local(time.May, 10))
		undone, run := w.invoices, id.BillingRun{}
		for i := range runs {
			run = w.undoes(undone[2-i])
		}
		w.until(local(time.May, 20))
		before := len(w.notes)
		w.does(commands.MakePeriodDue{
			SubscriptionID: w.line.ID, On: calendar.On(w.at, nairobi), RunID: run, Again: true,
		})
		w.until(local(time.May, 21))
		var days []events.PartPeriod
		for _, n := range w.notes[before:] {
			days = append(days, events.PartPeriod{Days: n.credits.Days, Of: n.credits.Of})
		}
		if len(days) != 1 || days[0] != (events.PartPeriod{Days: 10, Of: 31}) {
			t.Errorf("%d undone: credited %v", runs, days)
		}
	}
}

// TestUndone_BeforeOrAfterTheEndTheSameDaysAreCharged: a month that was used for 25 days is undone with its run, and
// the service ends. The same is charged whichever of the two comes first, also when the run was asked for again. A
// postpaid month of which the end gave days back is left alone.
func TestUndone_BeforeOrAfterTheEndTheSameDaysAreCharged(t *testing.T) {
	t.Parallel()
	for _, mode := range []events.BillingMode{events.Prepaid, events.Postpaid} {
		for _, day := range []int{0, 1} {
			var charged []money.Amount
			for _, endFirst := range []bool{false, true} {
				w := sold(t, terms(mode, day))
				w.pays(money.Major(3000, money.KES))
				w.until(local(time.April, 15))
				w.undoneAndEnded(endFirst)
				charged = append(charged, money.Major(3000, money.KES).Sub(w.account.Credit()).Add(w.account.Due()))
			}
			if charged[0] != charged[1] || !charged[0].Positive() {
				t.Errorf("%s, day %d: charged %s and %s", mode, day, charged[0], charged[1])
			}
		}
	}
}

// TestUndone_APostpaidMonthThatWasServedIsOwedAlsoAfterTheEnd: a customer is cut off within the month, is not billed
// for the time without service, and ends when the month is over. So the end gives nothing back, and the undo comes
// through.
func TestUndone_APostpaidMonthThatWasServedIsOwedAlsoAfterTheEnd(t *testing.T) {
	t.Parallel()
	for _, endFirst := range []bool{false, true} {
		plan := terms(events.Postpaid, 0)
		plan.BillWhileSuspended = events.BillNothing
		w := sold(t, plan)
		w.until(local(time.April, 10))
		w.does(commands.SuspendBilling{SubscriptionID: w.line.ID, At: w.at})
		w.until(local(time.April, 25))
		w.undoneAndEnded(endFirst)
		if due := w.account.Due(); due != plan.Price || len(w.invoices) != 2 {
			t.Errorf("the end first %v: %s due, %d invoices", endFirst, due, len(w.invoices))
		}
	}
}

// undoneAndEnded takes the newest run back, as use cases do, and ends the service, in either order. Then the run is
// asked for again.
func (w worked) undoneAndEnded(endFirst bool) {
	w.t.Helper()
	ends := func() {
		w.does(commands.EndSubscription{SubscriptionID: w.line.ID, Reason: "moves"})
		w.until(w.at.Add(time.Second))
	}
	if endFirst {
		ends()
	}
	made := w.lastInvoice()
	run := id.Derive[id.BillingRun]("worked", made.InvoiceID.String())
	back := commands.TakeBackInvoice{
		SubscriberID: w.line.SubscriberID, InvoiceID: made.InvoiceID, Reason: "run", Prefix: "ACME-CN",
		CreditNoteID: id.Derive[id.Receipt]("undo", made.InvoiceID.String()),
	}
	if _, err := w.account.TakingBack(back, w.at); err == nil {
		w.does(commands.UndoPeriod{SubscriptionID: w.line.ID, InvoiceID: made.InvoiceID, RunID: run})
		back.Dropped = true
		w.does(back)
	} else if failure.CodeOf(err) != "corrected_since" || !endFirst {
		w.t.Fatal(err)
	}
	w.until(w.at.Add(time.Second))
	if !endFirst {
		ends()
	}
	w.does(commands.MakePeriodDue{
		SubscriptionID: w.line.ID, On: calendar.On(w.at, nairobi), RunID: run, Again: true,
	})
	w.until(w.at.AddDate(0, 1, 5))
}

// undoes takes the newest run back, and the invoice that it made by a credit note.
func (w worked) undoes(made events.InvoiceDrafted) id.BillingRun {
	w.t.Helper()
	run := id.Derive[id.BillingRun]("worked", made.InvoiceID.String())
	w.does(commands.UndoPeriod{SubscriptionID: w.of(made.InvoiceID).ID, InvoiceID: made.InvoiceID, RunID: run})
	w.does(commands.DraftCreditNote{
		SubscriberID: w.line.SubscriberID, InvoiceID: made.InvoiceID, Reason: "run", Prefix: "ACME-CN",
		CreditNoteID: id.Derive[id.Receipt]("worked", run.String()), Amount: made.Total,
	})
	return run
}

// TestUndone_APostpaidMonthBehindOneThatWasGivenBackStays: the later month has its place, whoever gave its price back,
// so that the one before it could not be billed again.
func TestUndone_APostpaidMonthBehindOneThatWasGivenBackStays(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"credited", "voided", "ended"} {
		w := sold(t, terms(events.Postpaid, 1))
		w.until(local(time.May, 1).Add(time.Hour))
		may := w.lastInvoice()
		switch how {
		case "credited":
			w.givesBack(may, may.Total)
		case "voided":
			w.does(commands.VoidInvoice{SubscriberID: w.line.SubscriberID, InvoiceID: may.InvoiceID, Reason: "wrong"})
		case "ended":
			w.does(commands.EndSubscription{SubscriptionID: w.line.ID, Reason: "moves"})
		}
		w.until(local(time.May, 3))
		err := w.execute(commands.UndoPeriod{
			SubscriptionID: w.line.ID, InvoiceID: w.line.Periods[1].InvoiceID,
			RunID: id.Derive[id.BillingRun]("of April"),
		})
		if failure.CodeOf(err) != "later_period_billed" {
			t.Errorf("%s: %v; %+v", how, err, w.line.Periods)
		}
	}
}
