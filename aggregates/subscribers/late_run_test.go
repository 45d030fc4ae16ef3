package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// lateRun is a postpaid subscription that is billed on the first of each month, of which February is invoiced. March
// has begun, and its billing run is held.
func lateRun(t *testing.T) *scenario {
	t.Helper()
	s := suspends(t, "", 1)
	s.At(noon(2, 1)).When(due).ThenEvents()
	return s
}

// undoneRun is a subscription whose invoice of March was taken back with its run.
func undoneRun(t *testing.T) *scenario {
	t.Helper()
	s := lateRun(t)
	march := dueOf(t, s.At(noon(3, 1)).When(due).ThenEvents())
	s.When(undoes(subscription, march.InvoiceID)).ThenEvents()
	return s
}

// march checks that the whole month is due under the price of a plan.
func march(t *testing.T, made []events.SubscriptionEvent, price int64) {
	t.Helper()
	due := dueIn(made)
	if !due.From.Equal(local(time.March, 1, 0)) || !due.To.Equal(local(time.April, 1, 0)) || !due.Part.IsZero() ||
		due.Terms.Price != money.Major(price, money.KES) {
		t.Fatalf("made %+v", made)
	}
}

// On 20 March 12 of 31 days are not used.
func TestEnd_AMonthWhoseRunIsLateIsBilled(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*scenario{"held": lateRun(t), "taken back": undoneRun(t)} {
		_, _, _, late := s.State().Ending(noon(3, 20))
		if len(late) != 1 || late[0].Amount != money.Of(91935, money.KES) {
			t.Errorf("%s: told %+v", name, late)
		}
		made := s.At(noon(3, 20)).When(commands.EndSubscription{SubscriptionID: subscription, Reason: "moves"}).
			ThenEvents()
		march(t, made, 1500)
		ended, _ := made[len(made)-1].(events.SubscriptionEnded)
		if len(ended.Credits) != 1 || ended.Credits[0].InvoiceID != dueIn(made).InvoiceID ||
			ended.Credits[0].Days != 12 || ended.Credits[0].Of != 31 {
			t.Errorf("%s: %+v", name, ended)
		}
		s.When(due).ThenNothing()
	}
}

func TestPause_OfAMonthWhoseRunIsLateIsGivenBack(t *testing.T) {
	t.Parallel()
	s := lateRun(t)
	pause := commands.PauseSubscription{SubscriptionID: subscription, Reason: "away"}
	march(t, s.At(noon(3, 2)).When(pause).ThenEvents(), 1500)
	made := s.At(noon(3, 30)).When(commands.ResumeSubscription{SubscriptionID: subscription, Reason: "back"}).
		ThenEvents()
	if resumed, _ := made[0].(events.SubscriptionResumed); len(resumed.Credits) != 1 ||
		resumed.Credits[0].Days != 28 || resumed.Credits[0].Of != 31 {
		t.Errorf("made %+v", made)
	}
	undoneRun(t).At(noon(3, 2)).When(pause).ThenFails("period_undone")
}

func TestChangePlan_AMonthWhoseRunIsLateKeepsItsPrice(t *testing.T) {
	t.Parallel()
	small, fast := sold("small", 100, events.Postpaid), sold("fast", 15000, events.Postpaid)
	small.Terms.AnchorDay, fast.Terms.AnchorDay = 1, 1
	change, made := changes(t, lateRun(t), small, noon(3, 25))
	march(t, made, 1500)
	if change.AtOnce || !change.EffectiveAt.Equal(local(time.April, 1, 0)) {
		t.Errorf("change %+v", change)
	}
	change, made = changes(t, lateRun(t), fast, noon(3, 25))
	march(t, made, 1500)
	if !change.AtOnce || len(change.Lines) != 2 || change.Lines[1].Days != 7 || change.Lines[1].Of != 31 {
		t.Errorf("change %+v", change)
	}
	s := undoneRun(t)
	_, err := s.State().PlanChange(small, noon(3, 25))
	fails(t, err, "period_undone")
	s.At(noon(3, 25)).When(commands.MakePeriodDue{
		SubscriptionID: subscription, On: calendar.Date{Year: 2026, Month: time.March, Day: 1}, RunID: wrong,
		Again: true,
	}).ThenEvents()
	look(t, s, small, noon(3, 25))
}

// A run is taken back to bill its day again under another version; a run that is only late bills the present one.
func TestMovePlan_AMonthWhoseRunIsLateKeepsItsPrice(t *testing.T) {
	t.Parallel()
	newer := commands.NewPlan{PlanID: plan, Version: 2, Terms: terms(events.Postpaid)}
	newer.Terms.Price, newer.Terms.AnchorDay = money.Major(1800, money.KES), 1
	move := commands.MovePlan{
		SubscriptionID: subscription, NewPlan: newer, MoveID: id.Derive[id.PlanMove]("test", "move"),
	}
	made := lateRun(t).At(noon(3, 25)).When(move).ThenEvents()
	march(t, made, 1500)
	if planned, _ := made[len(made)-1].(events.PlanChangePlanned); planned.FromOrdinal != 4 {
		t.Errorf("made %+v", made)
	}
	s := undoneRun(t)
	if made = s.At(noon(3, 25)).When(move).ThenEvents(); len(made) != 1 {
		t.Errorf("made %+v", made)
	}
	march(t, s.When(commands.MakePeriodDue{SubscriptionID: subscription, Received: true}).ThenEvents(), 1800)
}
