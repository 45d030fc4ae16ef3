package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// usedMonths is usedMonth with a third month, which is paid at an instant, and an undo of both on 22 April.
func usedMonths(t *testing.T, paidAt time.Time) *scenario {
	t.Helper()
	s := usedMonth(t)
	s.At(paidAt).When(due).ThenEvents()
	s.When(paid(third, paidAt)).ThenEvents()
	s.At(noon(4, 22)).When(undoes(subscription, third)).ThenEvents()
	undone, _ := s.When(undoes(subscription, second)).ThenEvents()[0].(events.PeriodCancelled)
	if !undone.NextFrom.Equal(noon(2, 28)) {
		t.Errorf("undone %+v", undone)
	}
	s.SurvivesClosing()
	return s
}

// fifth is the invoice of the second month that is made again.
var fifth = commands.PeriodInvoice(subscription, 5)

// TestUndoPeriod_EachUsedMonthIsBilledAgainInItsPlace: none of the time that was used of two is given away, also where
// the second one began with its payment.
func TestUndoPeriod_EachUsedMonthIsBilledAgainInItsPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paidAt time.Time // the third month before
		after  time.Duration
		place  time.Time // of the third month
		until  time.Time
	}{
		"at once":                    {noon(3, 30), 0, noon(3, 31), noon(4, 30)},
		"after two days":             {noon(3, 30), 2 * day, noon(3, 31), noon(5, 2)},
		"it began with its payment":  {noon(4, 5), 0, noon(4, 5), noon(5, 5)},
		"it began so, two days more": {noon(4, 5), 2 * day, noon(4, 5), noon(5, 7)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, at := usedMonths(t, c.paidAt), noon(4, 22).Add(c.after)
			s.At(at)
			made := dueOf(t, s.When(again).ThenEvents())
			if !made.Retakes || !made.NextFrom.Equal(c.place) {
				t.Errorf("made %+v", made)
			}
			s.When(paid(fourth, at)).ThenEvents()
			if got := s.State().PaidUntil(); !got.Equal(noon(3, 31)) {
				t.Errorf("one month is paid until %s", got)
			}
			s.SurvivesClosing()
			made = dueOf(t, s.When(due).ThenEvents())
			if !made.Retakes || !made.NextFrom.IsZero() {
				t.Errorf("made %+v", made)
			}
			s.When(paid(fifth, at)).ThenEvents()
			s.SurvivesClosing()
			if got := s.State().PaidUntil(); !got.Equal(c.until) {
				t.Errorf("both are paid until %s, want %s", got, c.until)
			}
			s.At(c.until)
			if made = dueOf(t, s.When(due).ThenEvents()); made.Retakes {
				t.Errorf("made %+v", made)
			}
		})
	}
}

// TestUndoPeriod_AMonthThatTookAPlaceGivesItBackWhenItIsUndone: its place comes before the one that waits since before.
func TestUndoPeriod_AMonthThatTookAPlaceGivesItBackWhenItIsUndone(t *testing.T) {
	t.Parallel()
	s := usedMonths(t, noon(4, 5))
	s.When(again).ThenEvents()
	s.When(paid(fourth, noon(4, 22))).ThenEvents()
	undone, _ := s.When(undoes(subscription, fourth)).ThenEvents()[0].(events.PeriodCancelled)
	if !undone.NextFrom.Equal(noon(2, 28)) {
		t.Errorf("undone %+v", undone)
	}
	for i, asks := range []commands.MakePeriodDue{again, due} {
		made := dueOf(t, s.When(asks).ThenEvents())
		if made.Ordinal != 5+i || !made.Retakes {
			t.Errorf("made %+v", made)
		}
		s.When(paid(made.InvoiceID, noon(4, 22))).ThenEvents()
		s.SurvivesClosing()
	}
	if got := s.State().PaidUntil(); !got.Equal(noon(5, 5)) {
		t.Errorf("both are paid until %s", got)
	}
}

// TestUndoPeriod_AMonthThatIsDroppedInAPlaceLeavesTheNextPlace: it is not asked for any more, and the other one is.
func TestUndoPeriod_AMonthThatIsDroppedInAPlaceLeavesTheNextPlace(t *testing.T) {
	t.Parallel()
	s := usedMonths(t, noon(4, 5))
	s.When(again).ThenEvents()
	made := s.When(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: fourth}).ThenEvents()
	if dropped, _ := made[0].(events.PeriodCancelled); !dropped.NextFrom.Equal(noon(4, 5)) {
		t.Errorf("dropped %+v", dropped)
	}
	if made := dueOf(t, s.When(due).ThenEvents()); !made.Retakes {
		t.Errorf("made %+v", made)
	}
	s.When(paid(fifth, noon(4, 22))).ThenEvents()
	if got := s.State().PaidUntil(); !got.Equal(noon(5, 5)) {
		t.Errorf("paid until %s", got)
	}
}

// TestEnd_OfTwoUndoneMonthsAllThatWasUsedIsBilled: the first one whole, and the used days of the second.
func TestEnd_OfTwoUndoneMonthsAllThatWasUsedIsBilled(t *testing.T) {
	t.Parallel()
	s := usedMonths(t, noon(4, 5))
	var billed []events.PartPeriod
	for _, e := range s.At(noon(4, 25)).When(end).ThenEvents() {
		if due, is := e.(events.PeriodDue); is {
			billed = append(billed, due.Part)
		}
	}
	if len(billed) != 2 || billed[0] != (events.PartPeriod{}) || billed[1] != (events.PartPeriod{Days: 17, Of: 30}) {
		t.Errorf("billed %+v", billed)
	}
}

// TestUndoPeriod_AMonthThatNeverBeganMovesNoPlaceThatWaits: the third one was paid in a pause, so none of it was used.
func TestUndoPeriod_AMonthThatNeverBeganMovesNoPlaceThatWaits(t *testing.T) {
	t.Parallel()
	s := usedMonth(t)
	s.At(noon(4, 4)).When(due).ThenEvents()
	s.At(noon(4, 5)).When(commands.PauseSubscription{SubscriptionID: subscription, Reason: "away"}).ThenEvents()
	s.At(noon(4, 6)).When(paid(third, noon(4, 6))).ThenEvents()
	s.At(noon(4, 7)).When(undoes(subscription, third)).ThenEvents()
	undone, _ := s.When(undoes(subscription, second)).ThenEvents()[0].(events.PeriodCancelled)
	if !undone.NextFrom.Equal(noon(2, 28)) {
		t.Errorf("undone %+v", undone)
	}
	s.When(commands.ResumeSubscription{SubscriptionID: subscription, Reason: "back"}).ThenEvents()
	made := dueOf(t, s.When(again).ThenEvents())
	s.When(paid(made.InvoiceID, noon(4, 7))).ThenEvents()
	if got := s.State().PaidUntil(); !got.Equal(noon(3, 31)) {
		t.Errorf("paid until %s", got)
	}
}

// TestEnd_APauseAfterAnUndoLeavesTheUsedDaysBilled: they were used before it.
func TestEnd_APauseAfterAnUndoLeavesTheUsedDaysBilled(t *testing.T) {
	t.Parallel()
	for _, days := range []int{4, 10} {
		s := usedMonth(t)
		s.At(noon(3, 10)).When(undoes(subscription, second)).ThenEvents()
		s.When(commands.PauseSubscription{SubscriptionID: subscription, Reason: "away"}).ThenEvents()
		s.At(noon(3, 10+days)).When(commands.ResumeSubscription{
			SubscriptionID: subscription, Reason: "back",
		}).ThenEvents()
		if due := unbilled(t, s, noon(4, 20)); due.Part != (events.PartPeriod{Days: 10, Of: 31}) {
			t.Errorf("after a pause of %d days %+v", days, due)
		}
	}
}

// TestUndoPeriod_ThePlaceThatWaitsIsToldWhenItMoves: the payment of the part before it was taken back, and comes again.
func TestUndoPeriod_ThePlaceThatWaitsIsToldWhenItMoves(t *testing.T) {
	t.Parallel()
	s, part := billed(t, 1, events.Prepaid)
	s.When(paid(part.InvoiceID, now)).ThenEvents()
	month := dueOf(t, s.When(due).ThenEvents())
	s.When(paid(month.InvoiceID, now)).ThenEvents()
	s.At(local(2, 10, 12)).When(withdraw(part.InvoiceID)).ThenEvents()
	undone, _ := s.When(undoes(subscription, month.InvoiceID)).ThenEvents()[0].(events.PeriodCancelled)
	extended := extendedOf(t, s.When(paid(part.InvoiceID, local(2, 10, 13))).ThenEvents())
	if !extended.NextFrom.Equal(month.From) || !undone.NextFrom.Before(month.From) {
		t.Errorf("undone from %s, then %s, want %s", undone.NextFrom, extended.NextFrom, month.From)
	}
	withdrawn, _ := s.When(withdraw(part.InvoiceID)).ThenEvents()[0].(events.PeriodWithdrawn)
	if !withdrawn.NextFrom.Equal(undone.NextFrom) {
		t.Errorf("withdrawn, from %s", withdrawn.NextFrom)
	}
}
