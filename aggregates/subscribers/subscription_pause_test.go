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
)

// pauseFor pauses at an instant and returns the event of the resume, some days later.
func pauseFor(
	s *decidertest.Scenario[subscribers.Subscription, commands.SubscriptionCommand, events.SubscriptionEvent],
	at time.Time, days int,
) events.SubscriptionResumed {
	s.At(at).When(commands.PauseSubscription{SubscriptionID: subscription, Reason: "travels"}).ThenEvents()
	made := s.At(at.AddDate(0, 0, days)).When(commands.ResumeSubscription{SubscriptionID: subscription,
		Reason: "is back"}).ThenEvents()
	resumed, _ := made[0].(events.SubscriptionResumed)
	return resumed
}

func TestPausePostpaid_ThePauseIsNotBilled(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, time.February, 28, 9, 0, 0, 0, time.UTC)
	s := decidertest.For(t, aggregate(), now).When(create(events.Postpaid))
	s.ThenEvents()
	resumed := pauseFor(s, now.AddDate(0, 0, 10), 90) // longer than three periods
	next := end.AddDate(0, 0, 90)
	if !resumed.NextFrom.Equal(next) {
		t.Fatalf("next period begins %s, want %s", resumed.NextFrom, next)
	}
	due := commands.MakePeriodDue{SubscriptionID: subscription}
	s.When(due).ThenNothing() // a part of the billed period is left
	made := s.At(next).When(due).ThenEvents()
	if p, _ := made[0].(events.PeriodDue); !p.From.Equal(next) || p.To.Sub(p.From) < 28*24*time.Hour {
		t.Errorf("period %s to %s", p.From, p.To)
	}
}

func TestPausePrepaid_TheNextMonthIsWholeAfterTheShift(t *testing.T) {
	t.Parallel()
	s := prepaid(t).When(paid(first, now))
	s.ThenEvents()
	until := pauseFor(s, now.AddDate(0, 0, 5), 10).PaidUntil // 28 February becomes 10 March
	s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
	s.When(paid(second, until.Add(-time.Hour))).Then(extended(second, until.Add(-time.Hour), until,
		until.AddDate(0, 1, 0)))
}

func TestPausePrepaid_MoneyThatComesMeanwhileBuysAWholePeriod(t *testing.T) {
	t.Parallel()
	for name, payDays := range map[string]int{"before the end stood": 10, "after it would have passed": 60} {
		s := prepaid(t).When(paid(first, now))
		s.ThenEvents()
		end := time.Date(2026, time.February, 28, 9, 0, 0, 0, time.UTC)
		s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
		s.At(now.AddDate(0, 0, 5)).When(commands.PauseSubscription{SubscriptionID: subscription,
			Reason: "travels"}).ThenEvents()
		made := s.When(paid(second, now.AddDate(0, 0, payDays))).ThenEvents()
		if e, _ := made[0].(events.SubscriptionExtended); !e.From.Equal(end) {
			t.Errorf("%s: the second period begins %s, want %s", name, e.From, end)
		}
	}
}

func TestReopened_BothOpenInvoicesKeepAThirdAway(t *testing.T) {
	t.Parallel()
	s := prepaid(t).When(paid(first, now))
	s.ThenEvents()
	s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
	s.When(commands.WithdrawPeriod{SubscriptionID: subscription, InvoiceID: first, Reason: "reversed"}).ThenEvents()
	s.When(paid(first, now.Add(time.Hour))).ThenEvents()
	// the second invoice is still open
	s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenNothing()
	s.When(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: second}).ThenEvents()
	if made := s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents(); len(made) != 1 {
		t.Errorf("made %d events", len(made))
	}
}

// TestExtend_EveryPaymentBuysAWholeMonth plays random lives of a monthly prepaid subscription. After any pauses,
// withdrawals and late payments, a paid month has 28 to 31 days, plus or minus an hour where clocks change, and a
// payment never reduces PaidUntil.
func TestExtend_EveryPaymentBuysAWholeMonth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s, at := subscribers.Subscription{}, now
		do := func(c commands.SubscriptionCommand) (made []events.SubscriptionEvent) {
			made, _ = subscribers.Subscriptions().Decide(s, c, at)
			for _, e := range made {
				s = subscribers.Subscriptions().Evolve(s, e)
			}
			return made
		}
		command := create(events.Prepaid)
		command.Timezone = rapid.SampledFrom([]string{"Africa/Nairobi", "Europe/Berlin", "Pacific/Auckland"}).Draw(r,
			"zone")
		do(command)
		var bought []id.Invoice
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(0, 20*24).Draw(r, "hours")) * time.Hour)
			switch rapid.IntRange(0, 6).Draw(r, "step") {
			case 0:
				do(commands.PauseSubscription{SubscriptionID: subscription, Reason: "x"})
			case 1:
				do(commands.ResumeSubscription{SubscriptionID: subscription, Reason: "x"})
			case 2:
				if len(bought) > 0 {
					do(commands.WithdrawPeriod{
						SubscriptionID: subscription, InvoiceID: rapid.SampledFrom(bought).Draw(r, "withdrawn"),
						Reason: "x",
					})
				}
			default:
				do(commands.MakePeriodDue{SubscriptionID: subscription})
				if len(s.Open()) == 0 {
					continue
				}
				before := s.PaidUntil()
				bought = append(bought, s.Open()[0])
				for _, e := range do(paid(s.Open()[0], at)) {
					e, ok := e.(events.SubscriptionExtended)
					if length := served(s, e.From, e.To); ok &&
						(length < 28*24*time.Hour-time.Hour || length > 31*24*time.Hour+time.Hour ||
							e.PaidUntil.Before(before)) {
						r.Fatalf("from %s to %s (%s), before %s", e.From, e.PaidUntil, length, before)
					}
				}
			}
		}
	})
}

// TestBillingDay_APauseHasAtMostTheDaysOfItsLength, in days of 24 hours, rounded: a pause of less than half a day gives
// none, however often it is repeated, and none is longer than its dates.
func TestBillingDay_APauseHasAtMostTheDaysOfItsLength(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to time.Time
		days     int
	}{
		"two minutes":             {local(2, 9, 24).Add(-time.Minute), local(2, 10, 0).Add(time.Minute), 0},
		"less than half a day":    {local(2, 9, 13), local(2, 10, 0).Add(59 * time.Minute), 0},
		"half a day":              {local(2, 9, 13), local(2, 10, 1), 1},
		"a whole day without one": {local(2, 9, 0), local(2, 9, 23), 0},
		"a day and two minutes":   {local(2, 9, 24).Add(-time.Minute), local(2, 11, 0).Add(time.Minute), 1},
		"ten days":                {local(2, 10, 9), local(2, 20, 18), 10},
		"ten shorter days":        {local(2, 10, 18), local(2, 20, 9), 10},
		"ten days less half":      {local(2, 10, 22), local(2, 20, 9), 9},
		"over the month's end":    {local(2, 27, 22), local(3, 1, 9), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := suspends(t, "", 1)
			s.At(local(2, 1, 12)).When(due).ThenEvents()
			want := credits(second, c.days, 28)
			if c.days == 0 {
				want = nil
			}
			sameCredits(t, pausedOnce(t, s, c.from, c.to), want)
		})
	}
	t.Run("each night", func(t *testing.T) {
		t.Parallel()
		s := suspends(t, "", 1)
		s.At(local(2, 1, 12)).When(due).ThenEvents()
		days := 0
		for d := 10; d < 20; d++ {
			for _, c := range pausedOnce(t, s, local(2, d, 13), local(2, d+1, 1)) {
				days += c.Days
			}
		}
		if days != 5 {
			t.Errorf("ten times half a day are %d days", days)
		}
	})
	t.Run("each midnight", func(t *testing.T) {
		t.Parallel()
		s := suspends(t, "", 1)
		s.At(local(2, 1, 12)).When(due).ThenEvents()
		for d := 1; d < 28; d++ {
			at := local(2, d, 23).Add(59 * time.Minute)
			sameCredits(t, pausedOnce(t, s, at, at.Add(2*time.Minute)), nil)
		}
	})
}

// TestEnd_ShortPausesAreNoDaysOfTheMonth of an anniversary plan, which gives their minutes back: the share of a day is
// that of the whole month.
func TestEnd_ShortPausesAreNoDaysOfTheMonth(t *testing.T) {
	t.Parallel()
	s, period := running(t, create(events.Postpaid))
	for d := 1; d < 26; d++ {
		at := local(2, d, 23).Add(59 * time.Minute)
		pausedOnce(t, s, at, at.Add(2*time.Minute))
	}
	_, unused, _, _ := s.State().Ending(local(2, 26, 12))
	sameCredits(t, unused, credits(period.InvoiceID, 2, 28))
}

// pausedOnce pauses and resumes, and gives the days that are credited for it.
func pausedOnce(t *testing.T, s *scenario, from, to time.Time) []events.DaysCredit {
	t.Helper()
	s.At(from).When(commands.PauseSubscription{SubscriptionID: subscription, Reason: "x"}).ThenEvents()
	made := s.At(to).When(commands.ResumeSubscription{SubscriptionID: subscription, Reason: "x"}).ThenEvents()
	return made[0].(events.SubscriptionResumed).Credits
}

// TestPause_OverTheEndOfCarriedTimeGivesADayOnce: it begins in time that was paid in another system, and ends in the
// part behind it, which leads to the billing day. That time ends later by the pause, and the part with it.
func TestPause_OverTheEndOfCarriedTimeGivesADayOnce(t *testing.T) {
	t.Parallel()
	c := paidElsewhere(events.Prepaid, noon(2, 10))
	c.Terms.AnchorDay = 15
	s := decidertest.For(t, aggregate(), now).When(c)
	s.ThenEvents()
	s.At(noon(2, 7)).When(due).ThenEvents()
	s.When(paid(first, noon(2, 7))).ThenEvents()
	before := s.State().PaidUntil()
	if r := pauseFor(s, noon(2, 8), 5); r.PaidUntil.Sub(before) != 5*day || len(r.Credits) > 0 {
		t.Errorf("%s later, and credited %+v", r.PaidUntil.Sub(before), r.Credits)
	}
}

// TestPause_OverTheEndOfAnAnniversaryGivesADayOnce: the same behind a month that has its own beginning.
func TestPause_OverTheEndOfAnAnniversaryGivesADayOnce(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), now).When(create(events.Prepaid))
	s.ThenEvents()
	s.When(paid(first, now)).ThenEvents()
	to := commands.NewPlan{PlanID: id.Derive[id.Plan]("day"), Version: 1, Terms: s.State().Terms}
	to.Terms.AnchorDay = 15
	change, err := s.State().PlanChange(to, now.Add(day))
	if err != nil {
		t.Fatal(err)
	}
	s.At(now.Add(day)).When(commands.ChangePlan{
		SubscriptionID: subscription, NewPlan: to, Preview: change.Preview,
	}).ThenEvents()
	s.At(noon(2, 25)).When(due).ThenEvents()
	s.When(paid(second, noon(2, 25))).ThenEvents()
	before := s.State().PaidUntil()
	if r := pauseFor(s, noon(2, 26), 6); r.PaidUntil.Sub(before) != 6*day || len(r.Credits) > 0 {
		t.Errorf("%s later, and credited %+v", r.PaidUntil.Sub(before), r.Credits)
	}
}
