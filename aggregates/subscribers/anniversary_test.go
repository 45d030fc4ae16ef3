package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
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
