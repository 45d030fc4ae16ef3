package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// TestPart_APeriodHasTheDaysThatWereBought: it begins a new anniversary, and keeps its days when its payment is taken
// back and made again.
func TestPart_APeriodHasTheDaysThatWereBought(t *testing.T) {
	t.Parallel()
	s, part := prepaid(t), events.PartPeriod{Days: 14, Of: 28}
	half := paid(first, now)
	half.Part = part
	bought := begun(first, now, now, noon(2, 14))
	bought.Part = part
	s.When(half).Then(activated(now), bought)
	s.When(due).ThenEvents()
	s.When(paid(second, noon(2, 13))).Then(extended(second, noon(2, 13), noon(2, 14), noon(3, 14)))
	s.SurvivesClosing()
	s.At(now).When(commands.WithdrawPeriod{SubscriptionID: subscription, InvoiceID: first}).ThenEvents()
	s.At(now).When(half).ThenEvents()
	if got := s.State().PaidUntil(); !got.Equal(noon(3, 14)) {
		t.Errorf("paid again until %v", got)
	}
}

// TestPart_APauseMakesItEndLater as it does a whole period.
func TestPart_APauseMakesItEndLater(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	half := paid(first, now)
	half.Part = events.PartPeriod{Days: 14, Of: 28}
	s.When(half).ThenEvents()
	s.At(noon(2, 4)).When(commands.PauseSubscription{SubscriptionID: subscription, Reason: "x"}).ThenEvents()
	s.At(noon(2, 9)).When(commands.ResumeSubscription{SubscriptionID: subscription, Reason: "x"}).ThenEvents()
	if got := s.State().PaidUntil(); !got.Equal(noon(2, 19)) {
		t.Errorf("paid until %v", got)
	}
}

// TestPart_AnUpgradeCostsTheDaysThatAreLeftAtTheirPrice: 7 of the 14 days that were bought, of a month of 28.
func TestPart_AnUpgradeCostsTheDaysThatAreLeftAtTheirPrice(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	half := paid(first, now)
	half.Part = events.PartPeriod{Days: 14, Of: 28}
	s.When(half).ThenEvents()
	lines := look(t, s, sold("fast", 3000, events.Prepaid), noon(2, 7)).Lines
	if len(lines) != 2 || lines[0].Days != 7 || lines[0].Of != 28 || lines[0].Amount.Decimal() != "-375.00" ||
		lines[1].Amount.Decimal() != "750.00" {
		t.Errorf("%+v", lines)
	}
}

// TestWholeDays_AreThoseOfThePeriodThatIsPaidWhole: a month from 28 February has 31 days where the anniversary is the
// 31st, and one that begins anew has those from its payment on.
func TestWholeDays_AreThoseOfThePeriodThatIsPaidWhole(t *testing.T) {
	t.Parallel()
	wants := func(s *scenario, at time.Time, want int, served ...events.TimeSpan) {
		t.Helper()
		if got := s.State().WholeDays(second, at, served); got != want {
			t.Errorf("%d days, want %d", got, want)
		}
		place := s.State()
		made, err := aggregate().Decide(place, late(at, served...), at)
		if err != nil {
			t.Fatal(err)
		}
		_, from, to := told(t, made, second)
		if got := int(to.Sub(from).Hours() / 24); len(served) == 0 && got != want {
			t.Errorf("paid whole it has %d days, want %d", got, want)
		}
	}
	s := prepaid(t)
	if got := s.State().WholeDays(first, now, nil); got != 28 {
		t.Errorf("the first month has %d days", got)
	}
	s.When(paid(first, now)).ThenEvents()
	s.When(due).ThenEvents()
	if got := s.State().WholeDays(first, now, nil); got != 0 {
		t.Errorf("a month that is paid has %d days", got)
	}
	wants(s, noon(2, 28).Add(-15*time.Minute), 31)
	wants(s, noon(3, 2), 31)
	wants(s, noon(4, 2), 30)
	wants(fromExpiry(t), noon(4, 2), 31, span(noon(2, 28), noon(3, 3))) // it begins with the grace
	s.At(noon(2, 4)).When(commands.PauseSubscription{SubscriptionID: subscription, Reason: "x"}).ThenEvents()
	s.At(noon(2, 9)).When(commands.ResumeSubscription{SubscriptionID: subscription, Reason: "x"}).ThenEvents()
	wants(s, noon(2, 10), 31) // 5 March to 5 April
}
