package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
)

// A month to 28 February has five given days, to 5 March. A pause from 1 to 4 March, or over the end, takes the
// rest of the given days away.
func TestExtended_APauseInGivenDaysGivesItsTimeBack(t *testing.T) {
	t.Parallel()
	for _, days := range []int{3, 20} {
		s, _ := running(t, create(events.Prepaid))
		s.At(noon(2, 10)).When(compensates("five", 2*day, 3*day, events.CompensationGive{Days: 5})).ThenEvents()
		if until := s.State().PaidUntil(); !until.Equal(noon(3, 5)) {
			t.Fatalf("paid until %s", until)
		}
		resumed := pauseFor(s, noon(3, 1), days)
		if want := noon(3, 5).AddDate(0, 0, days); !resumed.PaidUntil.Equal(want) {
			t.Errorf("paused for %d days in the given ones: paid until %s, want %s", days, resumed.PaidUntil, want)
		}
	}
}

// The same with the next month paid ahead.
func TestExtended_APauseInGivenDaysMovesWhatIsPaidAhead(t *testing.T) {
	t.Parallel()
	s, _ := running(t, create(events.Prepaid))
	s.At(noon(2, 10)).When(compensates("five", 2*day, 3*day, events.CompensationGive{Days: 5})).ThenEvents()
	s.At(noon(2, 26)).When(due).ThenEvents()
	s.When(paid(second, noon(2, 26))).ThenEvents()
	before := s.State().PaidUntil()
	resumed := pauseFor(s, noon(3, 2), 8)
	if want := before.AddDate(0, 0, 8); !resumed.PaidUntil.Equal(want) {
		t.Errorf("paid until %s, want %s", resumed.PaidUntil, want)
	}
}

// A payment that is taken back in the given days, and comes again two days later.
func TestExtended_APaymentThatIsTakenBackInGivenDaysGivesTheRestWhenItComesAgain(t *testing.T) {
	t.Parallel()
	s, _ := running(t, create(events.Prepaid))
	s.At(noon(2, 10)).When(compensates("five", 2*day, 3*day, events.CompensationGive{Days: 5})).ThenEvents()
	s.At(noon(3, 1)).When(withdraw(first)).ThenEvents()
	e := extendedOf(t, s.At(noon(3, 3)).When(paid(first, noon(3, 3))).ThenEvents())
	if want := noon(3, 7); !e.PaidUntil.Equal(want) {
		t.Errorf("paid until %s, want %s", e.PaidUntil, want)
	}
}

// A customer who was imported with 20 paid days pauses for 10 of them.
func TestPaidTime_APauseGivesTimeThatWasPaidElsewhereBack(t *testing.T) {
	t.Parallel()
	until := now.AddDate(0, 0, 20).Truncate(time.Hour)
	s := decidertest.For(t, aggregate(), now).When(paidElsewhere(events.Prepaid, until))
	s.ThenEvents()
	resumed := pauseFor(s, now.AddDate(0, 0, 5), 10)
	if want := until.AddDate(0, 0, 10); !resumed.PaidUntil.Equal(want) {
		t.Errorf("paid until %s, want %s", resumed.PaidUntil, want)
	}
	long := decidertest.For(t, aggregate(), now).When(paidElsewhere(events.Prepaid, until))
	long.ThenEvents()
	if resumed := pauseFor(long, now.AddDate(0, 0, 5), 60); !resumed.PaidUntil.After(now.AddDate(0, 0, 65)) {
		t.Errorf("after a pause of 60 days, 15 paid days before its end, paid until %s", resumed.PaidUntil)
	}
}

// A customer who was imported with 20 paid days is hit by an outage of two of them.
func TestPaidTime_DaysAreGivenForTimeThatWasPaidElsewhere(t *testing.T) {
	t.Parallel()
	until := now.AddDate(0, 0, 20).Truncate(time.Hour)
	s := decidertest.For(t, aggregate(), now).When(paidElsewhere(events.Prepaid, until))
	s.ThenEvents()
	for name, give := range map[string]events.CompensationGive{"time": lostDays, "days": {Days: 2}} {
		_, err := s.State().Compensation(compensates(name, 2*day, 4*day, give), now.Add(5*day))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPaidTime_OfOldSubscriptionsStaysAsItWasTold: nothing moved carried time before its beginning was recorded.
func TestPaidTime_OfOldSubscriptionsStaysAsItWasTold(t *testing.T) {
	t.Parallel()
	until := now.AddDate(0, 0, 20).Truncate(time.Hour)
	s := decidertest.For(t, aggregate(), now).When(paidElsewhere(events.Prepaid, until))
	made := s.ThenEvents()
	for i, e := range made {
		if carried, ok := e.(events.PaidTimeCarriedOver); ok {
			if !carried.From.Equal(now) {
				t.Errorf("served here from %s", carried.From)
			}
			carried.From = time.Time{}
			made[i] = carried
		}
	}
	old := decidertest.For(t, aggregate(), now).Given(made...)
	if resumed := pauseFor(old, now.AddDate(0, 0, 5), 10); !resumed.PaidUntil.Equal(until) {
		t.Errorf("paid until %s, want %s", resumed.PaidUntil, until)
	}
}

// TestPaidTime_OfAPostpaidCustomerIsMovedByAPauseAndByGivenDays: the first period here begins behind it.
func TestPaidTime_OfAPostpaidCustomerIsMovedByAPauseAndByGivenDays(t *testing.T) {
	t.Parallel()
	until := now.AddDate(0, 0, 20).Truncate(time.Hour)
	s := decidertest.For(t, aggregate(), now).When(paidElsewhere(events.Postpaid, until))
	s.ThenEvents()
	pauseFor(s, now.AddDate(0, 0, 5), 10)
	s.At(now.AddDate(0, 0, 17)).When(compensates("two", 2*day, 4*day, lostDays)).ThenEvents()
	if end := s.State().Course().End; !end.Equal(until.AddDate(0, 0, 12)) {
		t.Errorf("the first period begins at %s, want %s", end, until.AddDate(0, 0, 12))
	}
}

// TestPaidTime_APauseBeforeABillingDayGivesItsTimeBack: there is no invoice whose days could be credited, so that the
// time moves, and a part leads to the billing day.
func TestPaidTime_APauseBeforeABillingDayGivesItsTimeBack(t *testing.T) {
	t.Parallel()
	until := now.AddDate(0, 0, 10)
	c := paidElsewhere(events.Prepaid, until)
	c.Terms.AnchorDay = until.Day()%28 + 1
	s := decidertest.For(t, aggregate(), now).When(c)
	s.ThenEvents()
	resumed := pauseFor(s, now.AddDate(0, 0, 2), 3)
	if want := until.AddDate(0, 0, 3); !resumed.PaidUntil.Equal(want) || len(resumed.Credits) != 0 {
		t.Errorf("paid until %s, want %s, credited %+v", resumed.PaidUntil, want, resumed.Credits)
	}
	made := s.At(until.AddDate(0, 0, 2)).When(due).ThenEvents()
	if period, ok := made[0].(events.PeriodDue); !ok || !period.From.Equal(resumed.PaidUntil) || period.Part.IsZero() {
		t.Errorf("the period after the paid time is %+v", made[0])
	}
}
