package subscribers_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// running begins a scenario with a subscription whose first period is paid, at the beginning of the period.
func running(t *testing.T, c commands.CreateSubscription) (*scenario, events.PeriodDue) {
	t.Helper()
	s := decidertest.For(t, aggregate(), now).When(c)
	due := dueOf(t, s.ThenEvents())
	s.When(commands.ExtendSubscription{SubscriptionID: c.SubscriptionID, InvoiceID: due.InvoiceID, PaidAt: now}).
		ThenEvents()
	return s, due
}

// compensates gives something for the time from some days after now on.
func compensates(name string, from, to time.Duration, give events.CompensationGive) commands.CompensateSubscription {
	return commands.CompensateSubscription{
		SubscriptionID: create(events.Prepaid).SubscriptionID, CompensationID: id.Derive[id.Compensation]("test", name),
		From: now.Add(from), To: now.Add(to), Give: give,
	}
}

// givenOf finds what was given.
func givenOf(t *testing.T, made []events.SubscriptionEvent) events.SubscriptionCompensated {
	t.Helper()
	if len(made) == 1 {
		if given, ok := made[0].(events.SubscriptionCompensated); ok {
			return given
		}
	}
	t.Fatalf("nothing is given in %+v", made)
	return events.SubscriptionCompensated{}
}

// lostDays asks for the days without service.
var lostDays = events.CompensationGive{Proportional: true}

func TestCompensate_APrepaidAnniversaryEndsLater(t *testing.T) {
	t.Parallel()
	s, due := running(t, create(events.Prepaid))
	before := s.State().PaidUntil()
	s.At(now.Add(10 * day))
	given := givenOf(t, s.When(compensates("one", 2*day, 4*day+time.Hour, lostDays)).ThenEvents())
	if want := before.Add(3 * day); given.Days != 3 || !given.PaidUntil.Equal(want) || len(given.Credits) > 0 {
		t.Errorf("given %+v, want three days, until %s", given, want)
	}
	if len(given.Moved) != 1 || given.Moved[0].InvoiceID != due.InvoiceID || !given.Moved[0].To.Equal(given.PaidUntil) {
		t.Errorf("moved %+v", given.Moved)
	}
	if !s.State().PaidUntil().Equal(given.PaidUntil) {
		t.Errorf("the subscription is paid until %s", s.State().PaidUntil())
	}
	two := givenOf(t, s.When(compensates("two", 5*day, 6*day, events.CompensationGive{Days: 2})).ThenEvents())
	if !two.PaidUntil.Equal(before.Add(5 * day)) {
		t.Errorf("both together end at %s", two.PaidUntil)
	}
}

func TestCompensate_ATimeIsCompensatedOnce(t *testing.T) {
	t.Parallel()
	s, _ := running(t, create(events.Prepaid))
	s.At(now.Add(10 * day))
	one := compensates("one", 2*day, 4*day, lostDays)
	s.When(one).ThenEvents()
	s.When(one).ThenNothing()
	for name, c := range map[string]commands.CompensateSubscription{
		"the same": compensates("two", 2*day, 4*day, lostDays), "inside": compensates("two", 2*day+1, 3*day, lostDays),
		"around": compensates("two", day, 5*day, lostDays), "its end": compensates("two", 4*day-1, 5*day, lostDays),
	} {
		s.When(c).ThenFails("already_compensated")
		_ = name
	}
	givenOf(t, s.When(compensates("next", 4*day, 5*day, lostDays)).ThenEvents())
	s.When(compensates("future", 9*day, 10*day+1, lostDays)).ThenFails("compensation_not_over")
	s.When(compensates("before", -2*day, 0, lostDays)).ThenFails("not_served_then")
}

func TestCompensate_WhoIsBilledOnADayOrLaterGetsMoney(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]commands.CreateSubscription{
		"billing day": onDay(10, events.Prepaid), "postpaid": create(events.Postpaid),
	} {
		s, due := running(t, c)
		s.At(now.Add(8 * day))
		before := s.State().PaidUntil()
		given := givenOf(t, s.When(compensates("one", day, 3*day, lostDays)).ThenEvents())
		if given.Days != 0 || !given.PaidUntil.Equal(before) || len(given.Credits) != 1 ||
			given.Credits[0].InvoiceID != due.InvoiceID || given.Credits[0].Days != 2 || !given.Credits[0].KeepsPeriod {
			t.Errorf("%s: given %+v", name, given)
		}
		all := givenOf(t, s.When(compensates("all", 4*day, 5*day, events.CompensationGive{Days: 300})).ThenEvents())
		if c := all.Credits[0]; c.Days != c.Of-1 {
			t.Errorf("%s: a note over the whole invoice would take the period back: %+v", name, c)
		}
	}
}

func TestCompensate_PaidTimeThatIsOverIsGivenInMoney(t *testing.T) {
	t.Parallel()
	s, due := running(t, create(events.Prepaid))
	s.At(now.Add(60 * day))
	given := givenOf(t, s.When(compensates("one", 2*day, 3*day, lostDays)).ThenEvents())
	if given.Days != 0 || len(given.Credits) != 1 || given.Credits[0].InvoiceID != due.InvoiceID {
		t.Errorf("given %+v", given)
	}
	much := givenOf(t, s.When(compensates("two", 4*day, 5*day, events.CompensationGive{
		Money: money.Major(200, money.KES),
	})).ThenEvents())
	if much.Credits[0].Amount != money.Major(200, money.KES) {
		t.Errorf("given %+v", much)
	}
}

func TestCompensate_APauseIsNoTimeWithoutService(t *testing.T) {
	t.Parallel()
	s, _ := running(t, create(events.Prepaid))
	of := create(events.Prepaid).SubscriptionID
	s.At(now.Add(2 * day)).When(commands.PauseSubscription{SubscriptionID: of, Reason: "away"}).ThenEvents()
	s.At(now.Add(5 * day)).When(compensates("paused", 3*day, 4*day, lostDays)).ThenFails("not_served_then")
	s.When(commands.ResumeSubscription{SubscriptionID: of, Reason: "back"}).ThenEvents()
	s.At(now.Add(9 * day))
	s.When(compensates("over", 3*day, 4*day, lostDays)).ThenFails("not_served_then")
	given := givenOf(t, s.When(compensates("part", 4*day, 6*day, lostDays)).ThenEvents())
	if given.Days != 1 {
		t.Errorf("of two days one was paused, given %d", given.Days)
	}
}

// TestCompensate_WhatIsForgottenIsNotGivenAgain: the subscription remembers a bounded number of times, and refuses what
// is older than the oldest of them.
func TestCompensate_WhatIsForgottenIsNotGivenAgain(t *testing.T) {
	t.Parallel()
	s, _ := running(t, create(events.Prepaid))
	s.At(now.Add(25 * day))
	for i := range 120 {
		from := time.Duration(i) * time.Hour
		s.When(compensates(from.String(), from, from+time.Minute, events.CompensationGive{Days: 1})).ThenEvents()
	}
	if n := len(s.State().Compensated); n != 100 {
		t.Errorf("%d are remembered", n)
	}
	s.When(compensates("old", time.Hour+2*time.Minute, time.Hour+3*time.Minute, lostDays)).
		ThenFails("compensation_too_old")
}

// TestCompensate_TheSameAfterAClosedPeriod: what was given, and for which times, outlives the stream's period.
func TestCompensate_TheSameAfterAClosedPeriod(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s, _ := running(t, create(events.Prepaid))
		s.At(now.Add(20 * day))
		for i := range rapid.IntRange(1, 5).Draw(r, "times") {
			from := time.Duration(i) * 2 * day
			s.When(compensates(from.String(), from, from+day, events.CompensationGive{
				Days: rapid.IntRange(1, 9).Draw(r, "days"),
			})).ThenEvents()
		}
		closed := aggregate().Close(s.State())
		reopened := aggregate().Evolve(subscribers.Subscription{}, closed)
		if !reopened.PaidUntil().Equal(s.State().PaidUntil()) {
			r.Errorf("paid until %s, before %s", reopened.PaidUntil(), s.State().PaidUntil())
		}
		if _, err := reopened.Compensation(compensates("again", 0, day, lostDays), now.Add(20*day)); err == nil {
			r.Error("a time was compensated again")
		}
	})
}
