package billingviews_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// line is the n-th subscription of these tests.
func line(n int) id.Subscription {
	return id.Derive[id.Subscription]("test", "line", string(rune('a'+n)))
}

// sold is a subscription that begins with the story.
func sold(n int, mode events.BillingMode, period calendar.Period) events.SubscriptionCreated {
	return events.SubscriptionCreated{
		SubscriptionID: line(n), OrgID: acme, SubscriberID: amina, StartsAt: began,
		Terms: events.PlanTerms{Mode: mode, Period: period},
	}
}

// due is a period of it, under the invoice of the same number; of a run when that is not zero.
func due(n, invoice int, to time.Time, run id.BillingRun) events.PeriodDue {
	return events.PeriodDue{
		SubscriptionID: line(n), OrgID: acme, SubscriberID: amina, InvoiceID: invoiceID(invoice), Ordinal: 1, To: to,
		RunID: run,
	}
}

// undoneRun was taken back.
var undoneRun = id.Derive[id.BillingRun]("test", "undone")

// dues has subscriptions in every state that a billing run looks at.
func dues() []events.Event {
	month, paid := began.AddDate(0, 1, 0), func(n, invoice int, until time.Time) events.Event {
		return events.SubscriptionExtended{SubscriptionID: line(n), InvoiceID: invoiceID(invoice), PaidUntil: until}
	}
	dropped := func(n, invoice int, until, at time.Time) events.Event {
		return events.PeriodCancelled{
			SubscriptionID: line(n), InvoiceID: invoiceID(invoice), Ordinal: 1, PaidUntil: until, At: at,
		}
	}
	undone := func(n, invoice int, until time.Time) events.Event {
		return events.PeriodCancelled{
			SubscriptionID: line(n), InvoiceID: invoiceID(invoice), Ordinal: 2, PaidUntil: until, At: until,
			UndoneRun: undoneRun,
		}
	}
	none := id.BillingRun{}
	return []events.Event{
		sold(1, events.Prepaid, calendar.Month), due(1, 1, time.Time{}, none), // waits for its first payment
		sold(2, events.Prepaid, calendar.Month), due(2, 2, time.Time{}, none), paid(2, 2, month),
		sold(3, events.Postpaid, calendar.Month), due(3, 3, month, none), paid(3, 3, month),
		sold(4, events.Prepaid, calendar.Hour), due(4, 4, time.Time{}, none), paid(4, 4, month),
		sold(5, events.Prepaid, calendar.Week), due(5, 5, time.Time{}, none), paid(5, 5, month),
		due(5, 6, time.Time{}, none), dropped(5, 6, month, month.Add(-23*time.Hour)), // is not made again
		sold(6, events.Prepaid, calendar.Week), due(6, 7, time.Time{}, none), paid(6, 7, month),
		due(6, 8, time.Time{}, none), dropped(6, 8, month, month.Add(-25*time.Hour)), // comes again on its day
		sold(7, events.Postpaid, calendar.Week), events.SubscriptionPaused{SubscriptionID: line(7), At: began},
		sold(8, events.Postpaid, calendar.Week), events.SubscriptionPaused{SubscriptionID: line(8), At: began},
		events.SubscriptionResumed{SubscriptionID: line(8), NextFrom: month},
		sold(9, events.Postpaid, calendar.Month), events.SubscriptionEnded{SubscriptionID: line(9)},
		sold(10, events.Prepaid, calendar.Month), due(10, 9, time.Time{}, none), paid(10, 9, month),
		events.PeriodWithdrawn{SubscriptionID: line(10), InvoiceID: invoiceID(9)}, // waits for money again
		sold(11, events.Postpaid, calendar.Month),
		events.PaidTimeCarriedOver{SubscriptionID: line(11), PaidUntil: month.AddDate(0, 1, 0)},
		sold(12, events.Prepaid, calendar.Month), due(12, 10, time.Time{}, none), paid(12, 10, month),
		events.SubscriptionCompensated{SubscriptionID: line(12), PaidUntil: month.AddDate(0, 1, 0)},
		sold(13, events.Postpaid, calendar.Month), due(13, 11, month, none), // is cut off and not billed
		events.BillingSuspended{SubscriptionID: line(13), At: began},
		sold(14, events.Postpaid, calendar.Month), due(14, 12, month, none), // was
		events.BillingSuspended{SubscriptionID: line(14), At: began},
		events.BillingResumed{SubscriptionID: line(14), NextFrom: month.AddDate(0, 2, 0)},
		sold(15, events.Prepaid, calendar.Month), due(15, 13, time.Time{}, none), paid(15, 13, month),
		undone(15, 14, month), // waits for a person
		sold(16, events.Prepaid, calendar.Month), due(16, 15, time.Time{}, none), paid(16, 15, month),
		undone(16, 16, month), events.SubscriptionPaused{SubscriptionID: line(16), At: began}, // paused, too
		sold(17, events.Prepaid, calendar.Month), due(17, 17, time.Time{}, none), paid(17, 17, month.AddDate(0, 2, 0)),
		undone(17, 18, month.AddDate(0, 2, 0)), // long before it is due
		sold(18, events.Prepaid, calendar.Month), due(18, 19, time.Time{}, none), paid(18, 19, month.AddDate(0, 3, 0)),
		undone(18, 20, month.AddDate(0, 3, 0)), events.UndoneWaitEnded{SubscriptionID: line(18), RunID: undoneRun},
	}
}

func TestDue_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	s := projectiontest.NewStory(acme, began)
	for _, e := range dues() {
		s.Add("subscription-story", e)
	}
	projectiontest.Check(t, billingviews.Due{}, s)
}

// views has the read models after events of one organization.
func views(t *testing.T, list ...events.Event) *runner.Views {
	t.Helper()
	log := feedtest.New()
	r := runner.New(runner.Config{
		Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(began),
	})
	r.Register(billingviews.Due{}, billingviews.Runs{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(r.Stop)
	var last uint64
	for n, e := range list {
		last = log.Append(events.Metadata{OrgID: acme, At: at(n)}, e)
	}
	for _, name := range []string{billingviews.DueName, billingviews.RunsName} {
		coretest.WaitFor(t, r.Views(), last, name)
	}
	return r.Views()
}

func TestDue_IsListedByTheDayOnWhichItBecomesDue(t *testing.T) {
	t.Parallel()
	q := billingviews.DueQuery{Views: views(t, dues()...)}
	month := began.AddDate(0, 1, 0)
	on := func(at time.Time) (list []id.Subscription) {
		by := billingviews.DueUntil(calendar.On(at, time.UTC), time.UTC, at)
		for after := (billingviews.DueKey{}); ; {
			rows, err := q.List(t.Context(), acme, by, after, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) == 0 {
				break
			}
			list, after = append(list, rows[0].SubscriptionID), rows[0].DueKey
		}
		if n, err := q.Count(t.Context(), acme, by); err != nil || n != len(list) {
			t.Fatalf("counted %d, listed %d: %v", n, len(list), err)
		}
		return list
	}
	for _, c := range []struct {
		at   time.Time
		want []id.Subscription
	}{
		{month.Add(-97 * time.Hour), nil}, // the day before the 29th, on which the lead time of a month begins
		{month.Add(-72 * time.Hour), []id.Subscription{line(2)}},
		{month.Add(-25 * time.Hour), []id.Subscription{line(2), line(6)}},
		{month.Add(-11 * time.Minute), []id.Subscription{line(2), line(6), line(3), line(8)}},
		{month.Add(-10 * time.Minute), []id.Subscription{line(2), line(6), line(4), line(3), line(8)}},
	} {
		got := on(c.at)
		sortTail(got)
		want := append([]id.Subscription(nil), c.want...)
		sortTail(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("due at %s (-want +have)\n%s", c.at, diff)
		}
	}
	if n, err := q.Count(t.Context(), other, billingviews.DueBy{End: month.AddDate(1, 0, 0)}); n != 0 || err != nil {
		t.Errorf("another organization has %d: %v", n, err)
	}
}

// TestDue_WhoWaitsForAnUndoneRunIsListedWheneverItIsDue: whoever asks for the run again ends the wait of all of them,
// and counts what it makes now.
func TestDue_WhoWaitsForAnUndoneRunIsListedWheneverItIsDue(t *testing.T) {
	t.Parallel()
	q := billingviews.DueQuery{Views: views(t, dues()...)}
	month := began.AddDate(0, 1, 0)
	list := map[id.Subscription]bool{}
	for after := (billingviews.DueKey{}); ; {
		rows, err := q.ListAgain(t.Context(), acme, undoneRun, after, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			break
		}
		list[rows[0].SubscriptionID], after = true, rows[0].DueKey
	}
	want := map[id.Subscription]bool{line(15): true, line(16): true, line(17): true}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("asked for again (-want +have)\n%s", diff)
	}
	by := billingviews.DueUntil(calendar.On(month, time.UTC), time.UTC, month)
	if n, err := q.CountAgain(t.Context(), acme, undoneRun, by); n != 1 || err != nil {
		t.Errorf("%d are due: %v", n, err)
	}
	if waiting, err := q.Waiting(t.Context(), acme); waiting[undoneRun] != 3 || err != nil {
		t.Errorf("%v wait: %v", waiting, err)
	}
	rows, err := q.ListAgain(t.Context(), other, undoneRun, billingviews.DueKey{}, 5)
	if len(rows) != 0 || err != nil {
		t.Errorf("another organization finds %v: %v", rows, err)
	}
}

// sortTail puts the two lines in order that become due at the same instant: their ids decide.
func sortTail(list []id.Subscription) {
	if n := len(list); n > 1 && list[n-1].String() < list[n-2].String() {
		list[n-1], list[n-2] = list[n-2], list[n-1]
	}
}

// The run of these tests, and what happens to it.
var (
	runDay = calendar.Date{Year: 2026, Month: 3, Day: 14}
	runOne = id.Derive[id.BillingRun]("test", "run")
)

// runStory is a run that is held, released and finished with one failure; the second of its invoices is far from the
// one before it.
func runStory() []events.Event {
	forPeriod := func(n, of int, minor int64) events.Event {
		d := drafted(n, amina, minor, n, 20)
		d.SubscriptionID = line(of)
		return d
	}
	return []events.Event{
		forPeriod(1, 1, 1500_00), forPeriod(2, 2, 1500_00),
		events.BillingRunRequested{RunID: runOne, OrgID: acme, Date: runDay, At: at(3)},
		events.BillingRunHeld{RunID: runOne, OrgID: acme, Due: 95, Usual: 7, At: at(4)},
		events.BillingRunReleased{RunID: runOne, OrgID: acme, Reason: "the month begins", At: at(5)},
		events.BillingRunBegan{RunID: runOne, OrgID: acme, Due: 96, Usual: 7, At: at(6)},
		due(1, 3, time.Time{}, runOne), due(2, 4, time.Time{}, runOne), due(3, 5, time.Time{}, runOne),
		due(4, 6, time.Time{}, id.BillingRun{}), // by credit, not by the run
		forPeriod(3, 1, 1500_00), forPeriod(4, 2, 700_00), forPeriod(6, 4, 100_00),
		events.BillingRunFinished{
			RunID: runOne, OrgID: acme, Date: runDay, Failed: 1, At: at(9),
			Failures: []events.BillingFailure{{SubscriptionID: line(5), Code: "concurrent_change"}},
		},
	}
}

func TestRuns_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	s := projectiontest.NewStory(acme, began)
	for _, e := range runStory() {
		s.Add("run-story", e)
	}
	projectiontest.Check(t, billingviews.Runs{}, s)
}

func TestRuns_AreCountedAndComparedWithTheInvoicesBefore(t *testing.T) {
	t.Parallel()
	q := billingviews.RunsQuery{Views: views(t, runStory()...)}
	row, err := q.Get(t.Context(), acme, runOne)
	if err != nil || row == nil {
		t.Fatalf("run %v: %v", row, err)
	}
	if row.State != "finished" || row.Made != 3 || row.TotalMinor != 2200_00 || row.Failed != 1 ||
		len(row.Failures) != 1 || row.Day() != runDay {
		t.Errorf("the run is %+v", row)
	}
	var order []id.Invoice
	for after := (billingviews.MadeKey{}); ; {
		rows, err := q.Made(t.Context(), acme, runOne, after, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			break
		}
		order, after = append(order, rows[0].InvoiceID), rows[0].Key()
	}
	if diff := cmp.Diff([]id.Invoice{invoiceID(4), invoiceID(3), invoiceID(5)}, order); diff != "" {
		t.Errorf("largest deviation first (-want +have)\n%s", diff)
	}
	for date, want := range map[calendar.Date]int{
		runDay: 0, runDay.AddDays(1): 3, runDay.AddDays(62): 3, runDay.AddDays(63): 0,
	} {
		if got, err := q.Usual(t.Context(), acme, date); got != want || err != nil {
			t.Errorf("usual before %s is %d, want %d: %v", date, got, want, err)
		}
	}
	list, err := q.List(t.Context(), acme, "finished", billingviews.RunKey{}, 5)
	if err != nil || len(list) != 1 {
		t.Errorf("list %v: %v", list, err)
	}
	if list, _ = q.List(t.Context(), acme, "", list[0].Key(), 5); len(list) != 0 {
		t.Errorf("the second page has %v", list)
	}
	if row, _ := q.Get(t.Context(), other, runOne); row != nil {
		t.Errorf("another organization reads %v", row)
	}
}
