package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
)

// paidOn pays the next invoice on its day and returns the end of the paid time.
func paidOn(t *testing.T, s *scenario, ordinal int, at time.Time) time.Time {
	t.Helper()
	invoice := commands.PeriodInvoice(subscription, ordinal)
	until, _, _ := told(t, s.At(at).When(paid(invoice, at)).ThenEvents(), invoice)
	return until
}

func TestAnniversary_ThatAPauseMadeOutlivesFebruary(t *testing.T) {
	t.Parallel()
	december := time.Date(2025, time.December, 15, 9, 0, 0, 0, time.UTC)
	s := decidertest.For(t, aggregate(), december).When(create(events.Prepaid))
	s.ThenEvents()
	s.When(paid(first, december)).ThenEvents()
	if until := pauseFor(s, december.AddDate(0, 0, 5), 15).PaidUntil; !until.Equal(noon(1, 30)) {
		t.Fatalf("paid until %s", until)
	}
	for i, end := range []time.Time{noon(2, 28), noon(3, 30), noon(4, 30)} {
		s.When(due).ThenEvents()
		if until := paidOn(t, s, i+2, noon(1, 20)); !until.Equal(end) {
			t.Errorf("month %d ends %s, want %s", i+2, until, end)
		}
	}
}

func TestAnniversary_OutlivesThePeriodsThatAreNoLongerKept(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	for i, at := range []time.Time{now, noon(2, 28), noon(3, 31)} {
		paidOn(t, s, i+1, at)
		s.When(due).ThenEvents()
	}
	whole := s.At(noon(4, 30)).State()
	short := subscribers.Compacted(whole, 1)
	if len(short.Periods) >= len(whole.Periods) {
		t.Fatalf("%d periods are kept", len(short.Periods))
	}
	short.Latest = whole.Latest
	fourth := paid(commands.PeriodInvoice(subscription, 4), noon(4, 30))
	made, err := subscribers.Subscriptions().Decide(short, fourth, noon(4, 30))
	if err != nil {
		t.Fatal(err)
	}
	if until, _, _ := told(t, made, fourth.InvoiceID); !until.Equal(noon(5, 31)) {
		t.Errorf("paid until %s", until)
	}
}

func TestCompacted_AnUnpaidPostpaidPeriodKeepsItsPlaceAndNothingElse(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), now).When(create(events.Postpaid))
	s.ThenEvents()
	for i, at := range []time.Time{noon(2, 28), noon(3, 31), noon(4, 30)} {
		s.At(at).When(due).ThenEvents()
		paidOn(t, s, i+2, at)
	}
	whole := s.State()
	short := subscribers.Compacted(whole, 1)
	if got := short.Open(); len(short.Periods) != 2 || len(got) != 1 || got[0] != first {
		t.Errorf("%d periods are kept, open are %v", len(short.Periods), got)
	}
	if was, is := whole.Course(), short.Course(); is.Places[0] != was.Places[0] || !is.End.Equal(was.End) ||
		!is.PaidUntil.Equal(was.PaidUntil) {
		t.Errorf("the course was %+v and is %+v", was, is)
	}
}

func TestCompacted_GapsOfOldPeriodsGoWithThem(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	s.When(paid(first, now)).ThenEvents()
	pauseFor(s, noon(2, 3), 2) // until 2 March
	s.When(due).ThenEvents()
	paidOn(t, s, 2, noon(3, 1)) // until 2 April
	pauseFor(s, noon(3, 10), 3) // until 5 April
	short := subscribers.Compacted(s.State(), 1)
	if len(short.Gaps) != 1 || !short.Gaps[0].From.Equal(noon(3, 10)) {
		t.Errorf("kept are the gaps %v", short.Gaps)
	}
	if !short.Archived(first) || short.Archived(second) {
		t.Errorf("archived: the first %v, the second %v", short.Archived(first), short.Archived(second))
	}
	if !short.PaidUntil().Equal(noon(4, 5)) {
		t.Errorf("paid until %s", short.PaidUntil())
	}
}

func TestCompacted_OrdinalsGoOnWhenNoPeriodIsKept(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	paidOn(t, s, 1, now)
	pauseFor(s, noon(4, 1), 1) // an event after the paid time
	short := subscribers.Compacted(s.State(), 0)
	made, err := subscribers.Subscriptions().Decide(short, due, noon(4, 2))
	if err != nil || len(short.Periods) != 0 || len(made) != 1 {
		t.Fatalf("%d periods, %v, %v", len(short.Periods), made, err)
	}
	if e, _ := made[0].(events.PeriodDue); e.Ordinal != 2 || e.InvoiceID != second {
		t.Errorf("the next period is %+v", e)
	}
}

func TestExtend_APaymentThatArrivesLateGivesWhatWasNotServedBeforeALaterPause(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	s.When(paid(first, now)).ThenEvents()
	s.At(noon(2, 5)).When(withdraw(first)).ThenEvents()
	pauseFor(s, noon(3, 10), 5)
	until, _, _ := told(t, s.At(noon(3, 16)).When(paid(first, noon(2, 7))).ThenEvents(), first)
	if !until.Equal(noon(3, 2)) { // 28 February and the two days without service
		t.Errorf("paid until %s", until)
	}
}

// cairo is a zone whose clock goes from 00:00 to 01:00 on 24 April 2026.
func cairo(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestAnniversary_ThatFallsIntoASkippedHourIsOnTimeAgainInTheNextMonth(t *testing.T) {
	t.Parallel()
	zone := cairo(t)
	at := func(month time.Month, hour int) time.Time {
		return time.Date(2026, month, 24, hour, 30, 0, 0, zone).UTC()
	}
	for _, mode := range []events.BillingMode{events.Prepaid, events.Postpaid} {
		begin := create(mode)
		begin.Timezone = "Africa/Cairo"
		s := decidertest.For(t, aggregate(), at(time.March, 0)).When(begin)
		s.ThenEvents()
		for i, end := range []time.Time{at(time.April, 1), at(time.May, 0), at(time.June, 0)} {
			until := paidOn(t, s, i+1, at(time.March, 0))
			if place := s.State().Course().Places[i]; !until.Equal(end) || !place.To.Equal(end) {
				t.Errorf("%s: month %d ends %s, want %s", mode, i+1, until.In(zone), end)
			}
			s.At(until).When(due).ThenEvents()
		}
		s.SurvivesClosing()
		short := subscribers.Compacted(s.State(), 1)
		if was, is := s.State().Course(), short.Course(); !was.End.Equal(is.End) || !was.Begun.Equal(is.Begun) {
			t.Errorf("%s: the course was %+v and is %+v", mode, was, is)
		}
	}
}

func TestAnniversary_AfterAPauseHasTheTimeOfDayOfItsNewEnd(t *testing.T) {
	t.Parallel()
	zone := cairo(t)
	march := time.Date(2026, time.March, 10, 12, 0, 0, 0, zone)
	begin := create(events.Prepaid)
	begin.Timezone = "Africa/Cairo"
	s := decidertest.For(t, aggregate(), march).When(begin)
	s.ThenEvents()
	paidOn(t, s, 1, march)
	s.At(march.AddDate(0, 0, 2)).
		When(commands.PauseSubscription{SubscriptionID: subscription, Reason: "away"}).ThenEvents()
	s.At(march.AddDate(0, 0, 2).Add(13*24*time.Hour + 12*time.Hour + 30*time.Minute)).
		When(commands.ResumeSubscription{SubscriptionID: subscription, Reason: "back"}).ThenEvents()
	want := time.Date(2026, time.April, 24, 0, 30, 0, 0, zone) // is skipped
	if until := s.State().PaidUntil(); !until.Equal(want) {
		t.Fatalf("paid until %s", until.In(zone))
	}
	s.When(due).ThenEvents()
	// The pause ended at this very instant, whose time of day is an hour later than what was skipped.
	if until := paidOn(t, s, 2, march.AddDate(0, 1,
		0)); !until.Equal(time.Date(2026, time.May, 24, 1, 30, 0, 0, zone)) {
		t.Errorf("the month after it ends %s", until.In(zone))
	}
}

func TestAnniversary_OfPeriodsRecordedBeforeItsTimeWasKeptStaysWhereItWasTold(t *testing.T) {
	t.Parallel()
	zone := cairo(t)
	at := func(month time.Month, hour int) time.Time {
		return time.Date(2026, month, 24, hour, 30, 0, 0, zone).UTC()
	}
	created := create(events.Prepaid)
	old := []events.SubscriptionEvent{
		events.SubscriptionCreated{
			SubscriptionID: subscription, OrgID: org, SubscriberID: subscriber, Terms: created.Terms,
			Timezone: "Africa/Cairo", StartsAt: at(time.March, 0), CreatedAt: at(time.March, 0),
		},
		events.SubscriptionActivated{SubscriptionID: subscription, SubscriberID: subscriber, At: at(time.March, 0)},
	}
	for i := range 3 {
		invoice := commands.PeriodInvoice(subscription, i+1)
		extended := events.SubscriptionExtended{
			SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: invoice, Ordinal: i + 1,
			PaidAt: at(time.March, 0),
		}
		if i == 0 {
			extended.Begins = at(time.March, 0)
		}
		old = append(old, events.PeriodDue{
			SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: invoice, Ordinal: i + 1,
			Terms: created.Terms,
		}, extended)
	}
	s := decidertest.For(t, aggregate(), at(time.June, 1)).Given(old...)
	if until := s.State().PaidUntil(); !until.Equal(at(time.June, 1)) { // the customer was told so
		t.Errorf("paid until %s", until.In(zone))
	}
	s.SurvivesClosing()
	s.When(due).ThenEvents()
	if until := paidOn(t, s, 4, at(time.June, 1)); !until.Equal(at(time.July, 0)) { // on time again
		t.Errorf("the next month ends %s", until.In(zone))
	}
}

// TestPeriods_OfQuartersAndYearsKeepTheirAnniversary: each ends on the 31st again after a shorter month.
func TestPeriods_OfQuartersAndYearsKeepTheirAnniversary(t *testing.T) {
	t.Parallel()
	for unit, ends := range map[calendar.Period][]calendar.Date{
		calendar.Quarter: {
			{Year: 2026, Month: time.April, Day: 30}, {Year: 2026, Month: time.July, Day: 31},
			{Year: 2026, Month: time.October, Day: 31}, {Year: 2027, Month: time.January, Day: 31},
		},
		calendar.Year: {{Year: 2027, Month: time.January, Day: 31}, {Year: 2028, Month: time.January, Day: 31}},
	} {
		c := create(events.Prepaid)
		c.Terms.Period = unit
		s := decidertest.For(t, aggregate(), now).When(c)
		s.ThenEvents()
		for i, end := range ends {
			if i > 0 {
				s.When(due).ThenEvents()
			}
			at := now
			if i > 0 {
				at = s.State().PaidUntil().Add(-time.Hour)
			}
			until := paidOn(t, s, i+1, at)
			if got := calendar.On(until, calendar.ZoneOrUTC(s.State().Timezone)); got != end {
				t.Errorf("%s %d ends %s, want %s", unit, i+1, got, end)
			}
		}
		s.SurvivesClosing()
	}
}
