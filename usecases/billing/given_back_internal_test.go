package billingcases

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// TestGivenBack_AMonthPaidAtItsVeryEndIsPaidOnce: with a billing day, May is paid at the midnight that ends it. All of
// its days are given back, and June, which was due by then, is paid from that; May does not come again.
func TestGivenBack_AMonthPaidAtItsVeryEndIsPaidOnce(t *testing.T) {
	t.Parallel()
	w := sold(t, terms(events.Prepaid, 1))
	w.pays(w.lastInvoice().Total)
	w.until(local(time.March, 30))
	w.pays(w.lastInvoice().Total)
	w.until(time.Date(2026, time.May, 31, 21, 0, 0, 0, time.UTC))
	w.pays(money.Major(1500, money.KES))
	w.until(local(time.June, 2))
	if until := w.line.PaidUntil(); !until.Equal(time.Date(2026, time.June, 30, 21, 0, 0, 0, time.UTC)) {
		t.Errorf("paid until %s", until)
	}
	if len(w.invoices) != 4 || len(w.notes) != 1 || w.account.Credit().Positive() || w.account.Due().Positive() {
		t.Errorf("%d invoices, %d notes, credit %s, due %s", len(w.invoices), len(w.notes), w.account.Credit(),
			w.account.Due())
	}
}

// TestGivenBack_DaysAfterThePaidTimeWereNotServed: with a billing day, the first part is paid and April is not. In July
// the money of the part is taken back, and other money pays April, which now lies where the part was: from there on it
// was served for eleven days.
func TestGivenBack_DaysAfterThePaidTimeWereNotServed(t *testing.T) {
	t.Parallel()
	w := sold(t, terms(events.Prepaid, 1))
	part := w.lastInvoice()
	w.pays(part.Total)
	receipt := id.Derive[id.Receipt]("worked", w.at.String(), part.Total.String())
	w.until(local(time.July, 24))
	april := w.lastInvoice()
	w.does(commands.WithdrawReceipt{ReceiptID: receipt, SubscriberID: w.line.SubscriberID})
	w.until(local(time.August, 20))
	w.does(commands.CreditReceipt{
		SubscriberID: w.line.SubscriberID, OrgID: w.line.Owner, Number: "N", Channel: "cash", Amount: april.Total,
		PaidAt: w.at, ReceiptID: id.Derive[id.Receipt]("named"), InvoiceID: april.InvoiceID,
	})
	want := events.DaysCredit{InvoiceID: april.InvoiceID, Days: 20, Of: 31, KeepsPeriod: true}
	if !slices.ContainsFunc(w.notes, func(n note) bool { return n.credits == want }) {
		t.Errorf("credited %+v", w.notes)
	}
}

// TestGivenBack_TheMonthAfterStaysWhereItIs: with a billing day, May and June are paid in the last hours of May, the
// money is taken back, and it comes again in June. Nothing of May is paid then, and June is the month that is.
func TestGivenBack_TheMonthAfterStaysWhereItIs(t *testing.T) {
	t.Parallel()
	w := sold(t, terms(events.Prepaid, 1))
	w.pays(w.lastInvoice().Total)
	w.until(local(time.March, 30))
	w.pays(w.lastInvoice().Total)
	w.until(time.Date(2026, time.May, 31, 20, 0, 0, 0, time.UTC))
	w.pays(money.Major(3000, money.KES))
	first := w.line.PaidUntil()
	w.until(w.at.Add(10 * time.Minute))
	receipt := id.Derive[id.Receipt]("worked", time.Date(2026, time.May, 31, 20, 0, 0, 0, time.UTC).String(),
		money.Major(3000, money.KES).String())
	w.does(commands.WithdrawReceipt{ReceiptID: receipt, SubscriberID: w.line.SubscriberID})
	w.until(time.Date(2026, time.May, 31, 21, 30, 0, 0, time.UTC))
	w.pays(money.Major(3000, money.KES))
	w.until(local(time.June, 2))
	if until := w.line.PaidUntil(); !until.Equal(time.Date(2026, time.July, 31, 21, 0, 0, 0, time.UTC)) {
		t.Errorf("paid until %s, at first %s", until, first)
	}
	may := w.line.Course().Places[2]
	if len(w.invoices) != 5 || len(w.notes) != 2 || !may.IsZero() || w.account.Credit().Positive() ||
		w.account.Due().Positive() {
		t.Errorf("%d invoices, %d notes, May is at %v, credit %s, due %s", len(w.invoices), len(w.notes), may,
			w.account.Credit(), w.account.Due())
	}
}

// TestUndoCompensation_DaysThatAnUpgradeHasChargedForStay: a month from 21 March is paid, and 31 days are given. A
// dearer plan takes its place on 12 April, and is paid for the rest with the given days. Then these are not taken back:
// their price would be kept. Given after the change, they cost nothing, and go.
func TestUndoCompensation_DaysThatAnUpgradeHasChargedForStay(t *testing.T) {
	t.Parallel()
	for _, upgraded := range []time.Time{local(time.April, 12), local(time.April, 8)} {
		w := sold(t, terms(events.Prepaid, 0))
		w.pays(w.lastInvoice().Total)
		given := id.Derive[id.Compensation]("given", upgraded.String())
		gives := func() {
			w.until(local(time.April, 10))
			w.does(commands.CompensateSubscription{
				SubscriptionID: w.line.ID, CompensationID: given, From: local(time.April, 5), To: local(time.April, 6),
				Give: events.CompensationGive{Days: 31},
			})
		}
		first := upgraded.After(local(time.April, 10))
		if first {
			gives()
		}
		w.until(upgraded)
		to := commands.NewPlan{PlanID: id.Derive[id.Plan]("dearer"), Version: 1, Terms: w.line.Terms}
		to.Terms.Price = money.Major(4500, money.KES)
		change, err := w.line.PlanChange(to, w.at)
		if err != nil {
			t.Fatal(err)
		}
		w.does(commands.ChangePlan{SubscriptionID: w.line.ID, NewPlan: to, Preview: change.Preview})
		w.pays(w.account.Due())
		if !first {
			gives()
		}
		until := w.line.PaidUntil()
		err = w.execute(commands.TakeBackCompensation{SubscriptionID: w.line.ID, CompensationID: given})
		switch stays := w.line.PaidUntil().Equal(until); {
		case first && (failure.CodeOf(err) != "corrected_since" || !stays):
			t.Errorf("given before the change: %v, paid until %s, before %s", err, w.line.PaidUntil(), until)
		case !first && (err != nil || stays):
			t.Errorf("given after the change: %v, paid until %s", err, w.line.PaidUntil())
		}
	}
}

// TestGivenBack_PausesAndOtherNotesOfAMonthTakeNoOtherMonthAway: months from the 28th are paid from credit. Of that to
// 27 June, pauses are 26 days. Beside them 12 days are compensated before the last pause or after it, or a person gives
// a part back. Together that is up to more than the month costs, but none of it is meant to take the month away, which
// would move the months after it to where time has passed.
func TestGivenBack_PausesAndOtherNotesOfAMonthTakeNoOtherMonthAway(t *testing.T) {
	t.Parallel()
	for _, byHand := range []bool{false, true} {
		var lives []string
		for _, first := range []bool{true, false} {
			w := sold(t, terms(events.Prepaid, 28))
			w.pays(money.Major(100_000, money.KES))
			w.until(local(time.May, 6))
			w.pausesUntil(local(time.June, 10))
			w.until(local(time.June, 12))
			gives := func() {
				if byHand {
					w.givesBack(w.invoices[3], money.Major(map[bool]int64{true: 600, false: 200}[first], money.KES))
					return
				}
				w.does(commands.CompensateSubscription{
					SubscriptionID: w.line.ID, CompensationID: id.Derive[id.Compensation]("x"),
					From: local(time.June, 11), To: local(time.June, 12), Give: events.CompensationGive{Days: 12},
				})
			}
			if first {
				gives()
			}
			w.until(local(time.June, 16))
			w.pausesUntil(local(time.July, 12))
			if !first {
				gives()
			}
			w.until(local(time.August, 20))
			if p := w.line.Periods[3]; p.State != subscribers.PeriodPaid {
				t.Errorf("by hand %v, first %v: the month is %s", byHand, first, p.State)
			}
			lives = append(lives, fmt.Sprintf("credit %s, paid until %s", w.account.Credit(), w.line.PaidUntil()))
		}
		if !byHand && lives[0] != lives[1] {
			t.Errorf("compensated before the pause: %s; after it: %s", lives[0], lives[1])
		}
	}
}

// TestGivenBack_ALatePaymentKeepsAMonthOfWhichOtherNotesLeaveLess: with a billing day, 1,000 of April are given back,
// and the rest is paid on the 25th. The days before the payment cost more than that rest, and still the five that are
// left belong to whoever paid.
func TestGivenBack_ALatePaymentKeepsAMonthOfWhichOtherNotesLeaveLess(t *testing.T) {
	t.Parallel()
	w := sold(t, terms(events.Prepaid, 1))
	w.pays(w.lastInvoice().Total)
	w.until(local(time.March, 30))
	april := w.lastInvoice()
	w.givesBack(april, money.Major(1000, money.KES))
	w.until(local(time.April, 25))
	w.pays(w.account.Due())
	if until := w.line.PaidUntil(); !until.Equal(april.PeriodTo) || w.line.Periods[1].State != subscribers.PeriodPaid {
		t.Errorf("paid until %s, the month is %s", until, w.line.Periods[1].State)
	}
	if credit := w.account.Credit(); credit != money.Of(499_99, money.KES) || len(w.invoices) != 2 {
		t.Errorf("credit %s, %d invoices", credit, len(w.invoices))
	}
}

// pausesUntil pauses the service from now to an instant.
func (w worked) pausesUntil(to time.Time) {
	w.t.Helper()
	w.does(commands.PauseSubscription{SubscriptionID: w.line.ID, Reason: "travels"})
	w.until(to)
	w.does(commands.ResumeSubscription{SubscriptionID: w.line.ID, Reason: "is back"})
}

// givesBack is a credit note of a person.
func (w worked) givesBack(of events.InvoiceDrafted, amount money.Amount) {
	w.t.Helper()
	w.does(commands.DraftCreditNote{
		SubscriberID: w.line.SubscriberID, InvoiceID: of.InvoiceID, Reason: "goodwill", Prefix: "ACME-CN",
		CreditNoteID: id.Derive[id.Receipt]("by hand", of.InvoiceID.String()), Amount: amount,
	})
}
