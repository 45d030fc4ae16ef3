package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// paidRun makes the next period by the run of a day, and pays it.
func paidRun(t *testing.T, s *scenario, month time.Month, d int) id.Invoice {
	t.Helper()
	s.At(local(month, d, 1))
	made := dueOf(t, s.When(commands.MakePeriodDue{
		SubscriptionID: subscription, On: calendar.Date{Year: 2026, Month: month, Day: d},
		RunID: id.Derive[id.BillingRun]("run", month.String()),
	}).ThenEvents())
	s.When(paid(made.InvoiceID, local(month, d, 2))).ThenEvents()
	return made.InvoiceID
}

// periodsDue lists the periods that became due.
func periodsDue(made []events.SubscriptionEvent) (list []events.PeriodDue) {
	for _, e := range made {
		if due, is := e.(events.PeriodDue); is {
			list = append(list, due)
		}
	}
	return list
}

// TestEnd_TwoUndoneMonthsWithABillingDayAreBilledForTheirOwnDays: March and April are undone on 2 May, and the service
// ends, also when March was made again before and is not paid. A discount up to 31 March is on that month alone.
func TestEnd_TwoUndoneMonthsWithABillingDayAreBilledForTheirOwnDays(t *testing.T) {
	t.Parallel()
	for _, made := range []bool{false, true} {
		s := decidertest.For(t, aggregate(), now).When(onDay(1, events.Prepaid))
		s.ThenEvents()
		half := percent("half", 50)
		half.Extra.Until = calendar.Date{Year: 2026, Month: time.March, Day: 31}
		adds(t, s, half)
		s.When(paid(first, now)).ThenEvents() // 31 January
		paidRun(t, s, time.January, 31)
		march, april := paidRun(t, s, time.February, 26), paidRun(t, s, time.March, 29)
		s.At(local(time.May, 2, 9))
		s.When(undoes(subscription, april)).ThenEvents()
		s.When(undoes(subscription, march)).ThenEvents()
		var got []events.PeriodDue
		if made {
			got = append(got, dueOf(t, s.When(commands.MakePeriodDue{
				SubscriptionID: subscription, Received: true,
			}).ThenEvents()))
		}
		s.SurvivesClosing()
		got = append(got, periodsDue(s.When(end).ThenEvents())...)
		for i, month := range []time.Month{time.March, time.April} {
			cost := []string{"750.00", "1500.00"}[i]
			if len(got) != 2 || !got[i].From.Equal(local(month, 1, 0)) || !got[i].To.Equal(local(month+1, 1, 0)) ||
				got[i].Net().Decimal() != cost || !got[i].Part.IsZero() {
				t.Fatalf("March made before %t: billed %+v", made, got)
			}
		}
	}
}

// TestEnd_AnUndoneMonthBehindAnUndonePartIsBilledByItsOwnDays: the customer had paid elsewhere until 20 February, so
// that a part comes before March. Both are undone on 25 March, and the service ends: of March 24 of 31 days were used.
func TestEnd_AnUndoneMonthBehindAnUndonePartIsBilledByItsOwnDays(t *testing.T) {
	t.Parallel()
	c := onDay(1, events.Prepaid)
	c.PaidUntil = local(time.February, 20, 0)
	s := decidertest.For(t, aggregate(), now).When(c)
	s.ThenEvents()
	part, march := paidRun(t, s, time.February, 17), paidRun(t, s, time.February, 26)
	s.At(local(time.March, 25, 9))
	s.When(undoes(subscription, march)).ThenEvents()
	s.When(undoes(subscription, part)).ThenEvents()
	got := periodsDue(s.When(end).ThenEvents())
	if len(got) != 2 || got[0].Part.Days != 9 || got[1].Part != (events.PartPeriod{Days: 24, Of: 31}) ||
		!got[1].From.Equal(local(time.March, 1, 0)) || got[1].Own().Decimal() != "1161.29" {
		t.Errorf("billed %+v", got)
	}
}
