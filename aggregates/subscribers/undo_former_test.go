package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// received makes the next period due that waits since an undo.
var received = commands.MakePeriodDue{SubscriptionID: subscription, Received: true}

// apply lets a planned change come.
var apply = commands.ApplyPlanChange{SubscriptionID: subscription}

// fourth is the invoice of the fourth period.
var fourth = commands.PeriodInvoice(subscription, 4)

// madeFor asks for the next periods, and checks for how many shillings they become due, and from when: whole months,
// the first one in February.
func madeFor(t *testing.T, s *scenario, prices ...int64) {
	t.Helper()
	for i, price := range prices {
		s.SurvivesClosing()
		made := dueOf(t, s.When(received).ThenEvents())
		from := local(time.February+time.Month(i), 1, 0)
		if made.Net() != money.Major(price, money.KES) || !made.From.Equal(from) {
			t.Errorf("from %s for %s, want from %s for %d", made.From, made.Net(), from, price)
		}
		s.When(apply).ThenEvents() // it moves, or comes
	}
}

// TestUndoPeriod_EachMonthIsMadeAgainUnderTheTermsOfItsTime: plans came into force, or are planned, between postpaid
// months that are undone, the newest first.
func TestUndoPeriod_EachMonthIsMadeAgainUnderTheTermsOfItsTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		february, march int64 // the plan that is chosen in a month for the next one; 0 = none
		version         int64 // of the present plan, to which all are moved afterwards
		want            []int64
	}{
		"one that came":              {100, 0, 0, []int64{1500, 100, 100}},
		"one that is planned":        {0, 100, 0, []int64{1500, 1500, 100}},
		"one that came, and another": {100, 50, 0, []int64{1500, 100, 50}},
		"none":                       {0, 0, 0, []int64{1500, 1500, 1500}},
		"a move afterwards":          {0, 0, 1800, []int64{1800, 1800, 1800}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := suspends(t, "", 1)
			s.At(noon(2, 1)).When(due).ThenEvents()
			choose := func(month time.Month, price int64) {
				if price == 0 {
					return
				}
				to := sold("cheaper", price, events.Postpaid)
				to.Terms.AnchorDay, to.Version = 1, int(price)
				changes(t, s, to, noon(month, 10))
				if month == 2 {
					s.At(noon(3, 1)).When(apply).ThenEvents()
				}
			}
			choose(2, c.february)
			s.At(noon(3, 1)).When(due).ThenEvents()
			choose(3, c.march)
			s.At(noon(3, 22)).When(undoes(subscription, third)).ThenEvents()
			s.When(undoes(subscription, second)).ThenEvents()
			if c.version > 0 {
				newer := commands.NewPlan{PlanID: plan, Version: 2, Terms: terms(events.Postpaid)}
				newer.Terms.Price, newer.Terms.AnchorDay = money.Major(c.version, money.KES), 1
				s.When(commands.MovePlan{
					SubscriptionID: subscription, NewPlan: newer, MoveID: id.Derive[id.PlanMove]("test", "move"),
				}).ThenEvents()
			}
			s.At(noon(4, 2))
			madeFor(t, s, c.want...)
		})
	}
}

// TestUndoPeriod_AMonthThatIsUndoneTwiceKeepsItsTerms: what is made again is undone again.
func TestUndoPeriod_AMonthThatIsUndoneTwiceKeepsItsTerms(t *testing.T) {
	t.Parallel()
	s := suspends(t, "", 1)
	s.At(noon(2, 1)).When(due).ThenEvents()
	changes(t, s, cheap(events.Postpaid, 1), noon(2, 10))
	s.At(noon(3, 1)).When(apply).ThenEvents()
	s.When(due).ThenEvents()
	for _, invoice := range []id.Invoice{third, second} {
		s.At(noon(3, 22)).When(undoes(subscription, invoice)).ThenEvents()
	}
	s.When(received).ThenEvents()
	s.When(undoes(subscription, fourth)).ThenEvents()
	madeFor(t, s, 1500, 100)
}

// TestUndoPeriod_AMonthThatWasPaidAheadIsMadeAgainUnderTheTermsOfItsTime: the change was at once, since no time was
// paid.
func TestUndoPeriod_AMonthThatWasPaidAheadIsMadeAgainUnderTheTermsOfItsTime(t *testing.T) {
	t.Parallel()
	s := paidMonth(t)
	s.At(noon(2, 25)).When(due).ThenEvents()
	s.When(paid(second, noon(2, 25))).ThenEvents()
	if change, _ := changes(t, s, cheap(events.Prepaid, 0), noon(4, 5)); !change.AtOnce {
		t.Fatal("the change is not at once")
	}
	s.When(due).ThenEvents()
	s.When(undoes(subscription, third)).ThenEvents()
	s.When(undoes(subscription, second)).ThenEvents()
	made := dueOf(t, s.When(received).ThenEvents())
	if made.Net() != money.Major(1500, money.KES) || !made.Retakes {
		t.Errorf("made %+v", made)
	}
	s.When(paid(made.InvoiceID, noon(4, 5))).ThenEvents()
	if made = dueOf(t, s.When(due).ThenEvents()); made.Net() != money.Major(100, money.KES) {
		t.Errorf("the next one is %+v", made)
	}
}

// TestUndoPeriod_TheFirstPostpaidMonthIsMadeAgainFromTheBeginningOfService, also after a cut and a pause.
func TestUndoPeriod_TheFirstPostpaidMonthIsMadeAgainFromTheBeginningOfService(t *testing.T) {
	t.Parallel()
	s := suspends(t, events.BillUsedDays, 1)
	s.At(noon(2, 1)).When(undoes(subscription, first)).ThenEvents()
	s.At(noon(2, 5)).When(cut(noon(2, 5))).ThenEvents()
	made := s.At(noon(2, 7)).When(pauses(noon(2, 7)).c).ThenEvents()
	if e, _ := made[0].(events.BillingResumed); !e.NextFrom.Equal(now) {
		t.Errorf("after the cut %+v", made)
	}
	made = s.At(noon(2, 9)).When(resumes(noon(2, 9)).c).ThenEvents()
	if e, _ := made[0].(events.SubscriptionResumed); !e.NextFrom.Equal(now) {
		t.Errorf("after the pause %+v", made)
	}
	if again := dueOf(t, s.When(received).ThenEvents()); !again.From.Equal(now) {
		t.Errorf("made again from %s", again.From)
	}
}

// TestUndoPeriod_TellsTheTermsOfTheNextPeriod: whoever asks for a price, or renews from credit, has those of the period
// that will be made again, and then those of the change that comes after it.
func TestUndoPeriod_TellsTheTermsOfTheNextPeriod(t *testing.T) {
	t.Parallel()
	costs := func(got events.PlanTerms, want int64) {
		t.Helper()
		if want == 0 && got.Told() || want > 0 && got.Price != money.Major(want, money.KES) {
			t.Errorf("told %+v, want %d", got, want)
		}
	}
	for _, undone := range []time.Time{noon(2, 26), noon(3, 22)} { // before its time, and in it
		s := usedMonth(t)
		changes(t, s, cheap(events.Prepaid, 0), noon(2, 25))
		made, _ := s.At(undone).When(undoes(subscription, second)).ThenEvents()[0].(events.PeriodCancelled)
		costs(made.NextTerms, 1500)
		again := dueOf(t, s.When(received).ThenEvents())
		costs(again.Terms, 1500)
		costs(again.NextTerms, 100)
		s.When(paid(third, undone)).ThenEvents()
		s.At(s.State().PaidUntil().Add(-day))
		next := dueOf(t, s.When(due).ThenEvents())
		costs(next.Terms, 100)
		costs(next.NextTerms, 0)
	}
	s := usedMonth(t)
	changes(t, s, cheap(events.Prepaid, 0), noon(2, 25))
	s.At(noon(3, 28)).When(due).ThenEvents()
	s.When(paid(third, noon(3, 28))).ThenEvents()
	made, _ := s.At(noon(4, 5)).When(undoes(subscription, third)).ThenEvents()[0].(events.PeriodCancelled)
	costs(made.NextTerms, 100) // it was the first month of the planned plan
	s = usedMonth(t)
	made, _ = s.At(noon(3, 22)).When(undoes(subscription, second)).ThenEvents()[0].(events.PeriodCancelled)
	costs(made.NextTerms, 0)
	costs(dueOf(t, s.When(received).ThenEvents()).NextTerms, 0)
}
