package billingcases

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// undoneRunDay is the day of the run that is undone in these tests: it makes the month from 21 April.
var undoneRunDay = calendar.Date{Year: 2026, Month: time.April, Day: 18}

// asksAgain asks for the undone run of that day again: a run is always that of its date.
func (w worked) asksAgain(run id.BillingRun) {
	w.t.Helper()
	w.does(commands.MakePeriodDue{SubscriptionID: w.line.ID, On: undoneRunDay, RunID: run, Again: true})
	w.until(w.at.Add(time.Minute))
}

// givenTwoDays moves the paid time two days on.
func (w worked) givenTwoDays() {
	w.t.Helper()
	w.does(commands.CompensateSubscription{
		SubscriptionID: w.line.ID, CompensationID: id.Derive[id.Compensation]("moves"), From: local(time.April, 10),
		To: local(time.April, 12), Give: events.CompensationGive{Days: 2},
	})
}

// pausedFor moves the paid time by a pause of some days.
func (w worked) pausedFor(days int, meanwhile func()) {
	w.t.Helper()
	w.does(commands.PauseSubscription{SubscriptionID: w.line.ID, Reason: "travels"})
	meanwhile()
	w.until(w.at.AddDate(0, 0, days))
	w.does(commands.ResumeSubscription{SubscriptionID: w.line.ID, Reason: "is back"})
}

// TestUndone_AMonthIsMadeAgainAlsoWhenThePaidTimeHasMoved: a run is undone on its own day. Before a person asks for it
// again, once, the paid time moves to where the period is due on a later day. Nothing is made before, and nothing
// without that person.
func TestUndone_AMonthIsMadeAgainAlsoWhenThePaidTimeHasMoved(t *testing.T) {
	t.Parallel()
	for name, moves := range map[string]func(w worked, again func()){
		"nothing": func(_ worked, again func()) { again() },
		"days given": func(w worked, again func()) {
			w.givenTwoDays()
			again()
		},
		"a pause before": func(w worked, again func()) {
			w.pausedFor(2, func() {})
			again()
		},
		"paused meanwhile": func(w worked, again func()) { w.pausedFor(10, again) },
		"paused long after its day": func(w worked, again func()) {
			w.does(commands.PauseSubscription{SubscriptionID: w.line.ID, Reason: "travels"})
			w.until(w.at.AddDate(0, 0, 40))
			again()
			w.does(commands.ResumeSubscription{SubscriptionID: w.line.ID, Reason: "is back"})
		},
	} {
		for _, asked := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := sold(t, terms(events.Prepaid, 0))
				w.pays(money.Major(1500, money.KES))
				w.until(local(time.April, 18))
				if len(w.invoices) != 2 {
					t.Fatalf("%d invoices", len(w.invoices))
				}
				run, want := w.undoes(w.lastInvoice()), 2
				moves(w, func() {
					if asked {
						w.asksAgain(run)
						want = 3
					}
				})
				due := calendar.On(w.line.PaidUntil().AddDate(0, 0, -3), nairobi).Start(nairobi)
				if w.at.Before(due) && len(w.invoices) != 2 {
					t.Errorf("on %s, before its day, there are %d invoices", w.at, len(w.invoices))
				}
				w.until(w.at.AddDate(0, 2, 0))
				if len(w.invoices) != want {
					t.Errorf("%d invoices, want %d", len(w.invoices), want)
				}
			})
		}
	}
}

// TestUndone_WhoHasPaidAnUndoneMonthIsServedAgain: the money of a month that was paid before its run was undone is
// credit, and the paid time has moved. The credit pays the month that is made again, so that service goes on; it does
// not before a person asks.
func TestUndone_WhoHasPaidAnUndoneMonthIsServedAgain(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{true, false} {
		w := sold(t, terms(events.Prepaid, 0))
		w.pays(money.Major(1500, money.KES))
		w.until(local(time.April, 18))
		w.pays(w.account.Due())
		run := w.undoes(w.lastInvoice())
		w.givenTwoDays()
		if asked {
			w.asksAgain(run)
		}
		w.until(local(time.May, 8))
		if until := w.line.PaidUntil(); until.After(w.at) != asked || w.account.Credit().Positive() == asked {
			t.Errorf("asked %t: paid until %s, with a credit of %s", asked, until, w.account.Credit())
		}
	}
}

// TestUndone_APostpaidMonthIsMadeAgainAfterAPause: the run of 21 April has made the month from then on. It is undone,
// the customer pauses, and the run is asked for in the pause.
func TestUndone_APostpaidMonthIsMadeAgainAfterAPause(t *testing.T) {
	t.Parallel()
	w := sold(t, terms(events.Postpaid, 0))
	w.until(local(time.April, 22))
	made := w.lastInvoice()
	w.does(commands.PauseSubscription{SubscriptionID: w.line.ID, Reason: "travels"})
	run := w.undoes(made)
	before := len(w.invoices)
	w.does(commands.MakePeriodDue{
		SubscriptionID: w.line.ID, On: calendar.Date{Year: 2026, Month: time.April, Day: 21}, RunID: run, Again: true,
	})
	w.until(local(time.April, 25))
	if len(w.invoices) != before {
		t.Fatalf("%d invoices in the pause, %d before", len(w.invoices), before)
	}
	w.does(commands.ResumeSubscription{SubscriptionID: w.line.ID, Reason: "is back"})
	w.until(local(time.April, 26))
	if len(w.invoices) != before+1 {
		t.Errorf("%d invoices after the pause, %d before", len(w.invoices), before)
	}
}

// TestUndone_MoneyThatComesInAPauseRenewsAfterIt: the run is undone, the customer pauses and pays meanwhile. No payment
// asks for the period later, so that this one ends the wait at once.
func TestUndone_MoneyThatComesInAPauseRenewsAfterIt(t *testing.T) {
	t.Parallel()
	for _, day := range []int{0, 15} {
		w := sold(t, terms(events.Prepaid, day))
		w.pays(w.account.Due())
		w.until(local(time.April, 18))
		w.undoes(w.lastInvoice())
		w.does(commands.PauseSubscription{SubscriptionID: w.line.ID, Reason: "travels"})
		w.until(w.at.AddDate(0, 0, 2))
		w.pays(money.Major(1500, money.KES))
		made := len(w.invoices)
		w.until(w.at.AddDate(0, 0, 2))
		if len(w.invoices) != made {
			t.Errorf("day %d: %d invoices in the pause", day, len(w.invoices)-made)
		}
		w.does(commands.ResumeSubscription{SubscriptionID: w.line.ID, Reason: "is back"})
		w.until(w.at.AddDate(0, 0, 15))
		if !w.line.PaidUntil().After(w.at) {
			t.Errorf("day %d: paid until %s, with a credit of %s", day, w.line.PaidUntil(), w.account.Credit())
		}
	}
}

// TestUndone_MoneyInAPauseEndsTheWaitOfNoMoreServicesThanItCovers: the run made a month for each of two services, and
// is undone. The price of one comes, and renews that which is not paused; the other one goes on waiting.
func TestUndone_MoneyInAPauseEndsTheWaitOfNoMoreServicesThanItCovers(t *testing.T) {
	t.Parallel()
	w := sold(t, terms(events.Prepaid, 0))
	w.does(commands.CreateSubscription{
		SubscriptionID: id.Derive[id.Subscription]("another"), OrgID: w.line.Owner, SubscriberID: w.line.SubscriberID,
		Timezone: w.settings.Timezone, PlanVersion: 1, Terms: w.line.Terms, Tax: w.settings.Tax,
	})
	w.pays(w.account.Due())
	w.until(local(time.April, 23))
	for _, line := range w.lines {
		last := line.Periods[len(line.Periods)-1].InvoiceID
		w.undoes(w.invoices[slices.IndexFunc(w.invoices, func(i events.InvoiceDrafted) bool {
			return i.InvoiceID == last
		})])
	}
	w.does(commands.PauseSubscription{SubscriptionID: w.line.ID, Reason: "travels"})
	w.pays(money.Major(1500, money.KES))
	if other := w.lines[1]; w.line.Undone.IsZero() || !other.Undone.IsZero() {
		t.Errorf("the paused one waits: %v, the other one: %v", !w.line.Undone.IsZero(), !other.Undone.IsZero())
	}
}
