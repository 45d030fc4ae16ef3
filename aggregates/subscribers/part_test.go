package subscribers_test

import (
	"testing"

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
