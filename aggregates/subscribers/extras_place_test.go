package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
)

// TestExtras_AUsedMonthThatIsMadeAgainKeepsItsDiscount: it is undone after the last day of the discount, and begins
// where the undone one began, by that last day.
func TestExtras_AUsedMonthThatIsMadeAgainKeepsItsDiscount(t *testing.T) {
	t.Parallel()
	for _, until := range []time.Duration{2 * day, 100 * day} {
		c := create(events.Prepaid)
		s, _ := running(t, c)
		before := s.State().PaidUntil()
		half := percent("half", 50)
		half.Extra.Until = calendar.On(before.Add(until), time.UTC)
		adds(t, s, half)
		s.At(before.Add(-2 * day))
		next := dueOf(t, s.When(commands.MakePeriodDue{SubscriptionID: c.SubscriptionID}).ThenEvents())
		s.When(commands.ExtendSubscription{SubscriptionID: c.SubscriptionID, InvoiceID: next.InvoiceID, PaidAt: now}).
			ThenEvents()
		s.At(before.Add(5 * day))
		s.When(undoes(c.SubscriptionID, next.InvoiceID)).ThenEvents()
		make := commands.MakePeriodDue{SubscriptionID: c.SubscriptionID, Received: true}
		again := dueOf(t, s.When(make).ThenEvents())
		if again.Net() != next.Net() || !again.Retakes {
			t.Errorf("until %s: the month costs %s, before it was undone %s (retakes %v)", half.Extra.Until,
				again.Net(), next.Net(), again.Retakes)
		}
	}
}

// TestExtras_UsedDaysOfAnUndoneMonthHaveItsDiscount when an end bills them.
func TestExtras_UsedDaysOfAnUndoneMonthHaveItsDiscount(t *testing.T) {
	t.Parallel()
	cost := map[string]int64{}
	for name, until := range map[string]time.Duration{"over": 2 * day, "lasts": 100 * day} {
		c := create(events.Prepaid)
		s, _ := running(t, c)
		before := s.State().PaidUntil()
		half := percent("half", 50)
		half.Extra.Until = calendar.On(before.Add(until), time.UTC)
		adds(t, s, half)
		s.At(before.Add(-2 * day))
		next := dueOf(t, s.When(commands.MakePeriodDue{SubscriptionID: c.SubscriptionID}).ThenEvents())
		s.When(commands.ExtendSubscription{SubscriptionID: c.SubscriptionID, InvoiceID: next.InvoiceID, PaidAt: now}).
			ThenEvents()
		s.At(before.Add(10 * day))
		s.When(undoes(c.SubscriptionID, next.InvoiceID)).ThenEvents()
		end := commands.EndSubscription{SubscriptionID: c.SubscriptionID, Reason: "moves"}
		used := dueOf(t, s.When(end).ThenEvents())
		cost[name] = used.Net().Minor
	}
	if cost["over"] != cost["lasts"] {
		t.Errorf("ten used days of one month cost %v", cost)
	}
}

// TestExtras_APercentageOfOnePeriodIsOffItsUpgrade, although it is for no later period.
func TestExtras_APercentageOfOnePeriodIsOffItsUpgrade(t *testing.T) {
	t.Parallel()
	c := create(events.Prepaid)
	first := percent("first", 50)
	first.Extra.Periods = 1
	c.Extras = []commands.AddExtra{first}
	s, due := running(t, c)
	if len(due.Extras) != 1 {
		t.Fatalf("the first period has %+v", due.Extras)
	}
	change := look(t, s, sold("big", 2000, events.Prepaid), now.AddDate(0, 0, 14))
	if len(change.Lines) != 3 {
		t.Errorf("the period has 50 %% off, its upgrade not: %+v", change.Lines)
	}
}
