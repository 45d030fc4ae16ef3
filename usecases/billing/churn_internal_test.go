package billingcases

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestChurn_WhoIsTakenOverIsNotNew: customers of another system are there from the beginning of the time in which they
// come, so that the rate is of them too. What they were before is in no other month.
func TestChurn_WhoIsTakenOverIsNotNew(t *testing.T) {
	t.Parallel()
	came := time.Date(2026, 4, 16, 0, 0, 0, 0, time.UTC)
	left := came.AddDate(0, 0, 5)
	var lives []subscribersviews.LifeRow
	for i := range 20 {
		row := subscribersviews.LifeRow{SubscriberID: id.New[id.Subscriber](), Began: came, Carried: true}
		if i == 0 {
			row.Ended = &left
		}
		lives = append(lives, row)
	}
	lives = append(lives, subscribersviews.LifeRow{SubscriberID: id.New[id.Subscriber](), Began: came}) // new
	count := func(from, to time.Month) ChurnPeriod {
		p := ChurnPeriod{
			From: calendar.Date{Year: 2026, Month: from, Day: 1}, To: calendar.Date{Year: 2026, Month: to, Day: 30},
			Revenue: money.Of(100000, money.KES),
		}
		p.count(lives, time.UTC, came.AddDate(1, 0, 0))
		return p
	}
	for _, span := range [][2]time.Month{{4, 4}, {3, 6}} {
		got := count(span[0], span[1])
		want := Moves{AtStart: 20, New: 1, Ended: 1, AtEnd: 20, TakenOver: 20}
		if got.Customers != want || got.Subscriptions != want {
			t.Errorf("%v: customers %+v, subscriptions %+v", span, got.Customers, got.Subscriptions)
		}
		if rate, known := got.Customers.ChurnRate(); rate != 500 || !known {
			t.Errorf("%v: rate %d %v", span, rate, known)
		}
	}
	// 19 for 15 days of 30, one for 5, and the new one
	if april := count(4, 4); april.AverageTenths() != 102 {
		t.Errorf("average %d", april.AverageTenths())
	}
	if got := count(3, 3).Customers; got != (Moves{}) {
		t.Errorf("the month before: %+v", got)
	}
	if got := count(6, 6).Customers; got != (Moves{AtStart: 20, AtEnd: 20}) {
		t.Errorf("a later month: %+v", got)
	}
}

// TestChurn_CountsWhoCameAndLeft: of those at the start one leaves, one changes the plan overnight and stays, and one
// who had left comes back and leaves again.
func TestChurn_CountsWhoCameAndLeft(t *testing.T) {
	t.Parallel()
	day := func(month time.Month, day, hour int) time.Time {
		return time.Date(2026, month, day, hour, 0, 0, 0, time.UTC)
	}
	end := func(month time.Month, n, hour int) *time.Time { return new(day(month, n, hour)) }
	a, b, c, d, e := id.New[id.Subscriber](), id.New[id.Subscriber](), id.New[id.Subscriber](), id.New[id.Subscriber](),
		id.New[id.Subscriber]()
	lives := []subscribersviews.LifeRow{
		{SubscriberID: a, Began: day(1, 1, 0), Ended: end(4, 11, 0), Reason: "Moved away"},
		{SubscriberID: b, Began: day(1, 1, 0), Ended: end(4, 16, 9), Reason: "moved away "},
		{SubscriberID: b, Began: day(4, 17, 8)},
		{SubscriberID: c, Began: day(1, 1, 0), Ended: end(2, 1, 0), Reason: "price"},
		{SubscriberID: c, Began: day(4, 21, 0), Ended: end(4, 26, 0), Reason: "price"},
		{SubscriberID: d, Began: day(4, 30, 23)},
		{SubscriberID: e, Began: day(5, 1, 0)}, // later
	}
	april := ChurnPeriod{
		From: calendar.Date{Year: 2026, Month: 4, Day: 1}, To: calendar.Date{Year: 2026, Month: 4, Day: 30},
		Revenue: money.Of(100000, money.KES),
	}
	april.count(lives, time.UTC, day(6, 1, 0))
	if diff := cmp.Diff(Moves{AtStart: 2, New: 1, Returned: 1, Ended: 2, AtEnd: 2}, april.Customers); diff != "" {
		t.Errorf("customers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Moves{AtStart: 2, New: 3, Ended: 3, AtEnd: 2}, april.Subscriptions); diff != "" {
		t.Errorf("subscriptions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]EndReason{{"Moved away", 2}, {"price", 1}}, april.Reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	// 10 + 15.375 + 13.667 + 5 + 0.042 days of 30
	if rate, known := april.Customers.ChurnRate(); rate != 10_000 || !known || april.AverageTenths() != 15 {
		t.Errorf("rate %d %v, average %d", rate, known, april.AverageTenths())
	}
	if per, known := april.PerSubscription(); per != money.Of(68053, money.KES) || !known {
		t.Errorf("a subscription brings %v, %v", per, known)
	}
	half := ChurnPeriod{From: april.From, To: april.To}
	half.count(lives, time.UTC, day(4, 11, 0)) // now
	if want := (Moves{AtStart: 2, AtEnd: 2}); half.Customers != want || half.AverageTenths() != 20 {
		t.Errorf("until now: %+v, average %d", half.Customers, half.AverageTenths())
	}
	var nobody ChurnPeriod
	if _, known := nobody.PerSubscription(); known {
		t.Error("nobody brings something")
	}
	if _, known := nobody.Customers.ChurnRate(); known {
		t.Error("of nobody somebody left")
	}
}
