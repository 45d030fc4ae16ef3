package subscribers_test

import (
	"slices"
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

// upgrades changes a scenario's subscription to a plan of 2,500 shillings, and tells the invoice over it.
func upgrades(t *testing.T, s *scenario, mode events.BillingMode, anchorDay int, at time.Time) id.Invoice {
	t.Helper()
	to := sold("fast", 2500, mode)
	to.Terms.AnchorDay = anchorDay
	_, made := changes(t, s, to, at)
	changed, _ := made[len(made)-1].(events.SubscriptionPlanChanged)
	if changed.InvoiceID.IsZero() {
		t.Fatalf("the upgrade costs nothing: %+v", made)
	}
	return changed.InvoiceID
}

// upgradeCredit is over days of an upgrade that is on its invoice with some days and shillings.
func upgradeCredit(invoice id.Invoice, days, of int, net, netOf int64) events.DaysCredit {
	return events.DaysCredit{
		InvoiceID: invoice, Days: days, Of: of, Net: money.Of(net, money.KES), NetOf: money.Of(netOf, money.KES),
	}
}

// rests pauses a scenario's subscription for a time, and tells how it was resumed.
func rests(t *testing.T, s *scenario, from, to time.Time) events.SubscriptionResumed {
	t.Helper()
	s.At(from).When(commands.PauseSubscription{SubscriptionID: subscription, Reason: "test"}).ThenEvents()
	made := s.At(to).When(commands.ResumeSubscription{SubscriptionID: subscription, Reason: "test"}).ThenEvents()
	resumed, ok := made[0].(events.SubscriptionResumed)
	if !ok {
		t.Fatalf("made %+v", made)
	}
	return resumed
}

// The month from 31 January to 28 February has 28 days.
func TestUpgrade_AnEndGivesItsUnusedDaysBack(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), now).When(create(events.Postpaid))
	s.ThenEvents()
	change := upgrades(t, s, events.Postpaid, 0, local(time.February, 14, 9))
	s.SurvivesClosing()
	want := append(credits(first, 7, 28), upgradeCredit(change, 7, 14, 250_00, 500_00))
	_, unused, _, _ := s.State().Ending(local(time.February, 21, 9))
	sameCredits(t, unused, want)
	end := commands.EndSubscription{SubscriptionID: subscription, Reason: "test"}
	made := s.At(local(time.February, 21, 9)).When(end).ThenEvents()
	ended, _ := made[0].(events.SubscriptionEnded)
	sameCredits(t, ended.Credits, want)
}

// A pause on a fixed billing day, of 10 days: 8 to 17 February. Two upgrades are in the month that ends on the 20th.
func TestUpgrade_APauseGivesItsDaysBack(t *testing.T) {
	t.Parallel()
	for _, mode := range []events.BillingMode{events.Prepaid, events.Postpaid} {
		s, due := billed(t, 20, mode)
		if mode == events.Prepaid {
			s.When(paid(due.InvoiceID, now)).ThenEvents()
		}
		one := upgrades(t, s, mode, 20, local(time.February, 5, 9))
		to := sold("faster", 5500, mode)
		to.Terms.AnchorDay = 20
		_, made := changes(t, s, to, local(time.February, 7, 9))
		changed, _ := made[0].(events.SubscriptionPlanChanged)
		resumed := rests(t, s, local(time.February, 8, 0), local(time.February, 18, 0))
		sameCredits(t, resumed.Credits, append(leave(mode, credits(due.InvoiceID, 10, 20)),
			upgradeCredit(one, 10, 15, 322_58, 483_87), upgradeCredit(changed.InvoiceID, 10, 13, 967_74, 1258_06)))
	}
}

// Two months are paid ahead, and a pause lies in both: the one invoice over the upgrade is credited once, by the price
// of the days of each month. February has 28 days and March has 31.
func TestUpgrade_OfTwoPeriodsIsCreditedOnce(t *testing.T) {
	t.Parallel()
	s, due := billed(t, 1, events.Prepaid) // 31 January alone
	s.When(paid(due.InvoiceID, now)).ThenEvents()
	var months []id.Invoice
	for range 2 {
		next := dueOf(t, s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents())
		s.When(paid(next.InvoiceID, now)).ThenEvents()
		months = append(months, next.InvoiceID)
	}
	change := upgrades(t, s, events.Prepaid, 1, local(time.February, 15, 9))
	s.SurvivesClosing()
	resumed := rests(t, s, local(time.February, 22, 0), local(time.March, 4, 0))
	// 1,000 shillings more a month: 500 for half of February, of which a half is paused, and 1,000 for March
	sameCredits(t, resumed.Credits, []events.DaysCredit{
		{InvoiceID: months[0], Days: 7, Of: 28, KeepsPeriod: true},
		upgradeCredit(change, 10, 14+31, 250_00+96_77, 1500_00),
		{InvoiceID: months[1], Days: 3, Of: 31, KeepsPeriod: true},
	})
}

func TestUpgrade_ACompensationGivesItsDaysBack(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), now).When(create(events.Postpaid))
	s.ThenEvents()
	change := upgrades(t, s, events.Postpaid, 0, local(time.February, 14, 9))
	s.At(local(time.February, 25, 0))
	keeps := credits(first, 5, 28)
	keeps[0].KeepsPeriod = true
	given := givenOf(t, s.When(commands.CompensateSubscription{
		SubscriptionID: subscription, CompensationID: id.Derive[id.Compensation]("test", "around"),
		From: local(time.February, 12, 0), To: local(time.February, 17, 0), Give: lostDays,
	}).ThenEvents())
	sameCredits(t, given.Credits, append(slices.Clone(keeps), upgradeCredit(change, 3, 14, 107_14, 500_00)))
	given = givenOf(t, s.When(commands.CompensateSubscription{
		SubscriptionID: subscription, CompensationID: id.Derive[id.Compensation]("test", "before"),
		From: local(time.February, 2, 0), To: local(time.February, 3, 0), Give: events.CompensationGive{Days: 5},
	}).ThenEvents())
	sameCredits(t, given.Credits, keeps)
	given = givenOf(t, s.When(commands.CompensateSubscription{
		SubscriptionID: subscription, CompensationID: id.Derive[id.Compensation]("test", "after"),
		From: local(time.February, 20, 0), To: local(time.February, 21, 0), Give: events.CompensationGive{Days: 5},
	}).ThenEvents())
	sameCredits(t, given.Credits, append(keeps, upgradeCredit(change, 5, 14, 178_57, 500_00)))
}

func TestUpgrade_AnUndoLeavesThePeriod(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), now).When(create(events.Postpaid))
	s.ThenEvents()
	upgrades(t, s, events.Postpaid, 0, local(time.February, 14, 9))
	s.When(undoes(subscription, first)).ThenFails("corrected_since")
}

// The payment of a month paid ahead is taken back before the month begins: an end drops it, with what the upgrade cost
// for it.
func TestUpgrade_OfAPeriodThatNeverBeganIsGivenBackWhole(t *testing.T) {
	t.Parallel()
	s := paidMonth(t)
	dueOf(t, s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents())
	s.When(paid(second, now)).ThenEvents()
	change := upgrades(t, s, events.Prepaid, 0, local(time.February, 14, 9))
	s.When(commands.WithdrawPeriod{Reason: "test", SubscriptionID: subscription, InvoiceID: second}).ThenEvents()
	made := s.When(commands.EndSubscription{SubscriptionID: subscription, Reason: "test"}).ThenEvents()
	for _, e := range made {
		if e, ok := e.(events.PeriodCancelled); ok {
			sameCredits(t, e.Credits, []events.DaysCredit{upgradeCredit(change, 31, 31, 1000_00, 1500_00)})
			return
		}
	}
	t.Errorf("no period is dropped: %+v", made)
}

// A month paid ahead is credited whole: before it begins, also after the end, what the upgrade cost for it is given
// back with it.
func TestUpgrade_OfAPaidPeriodThatIsCreditedBeforeItBeginsIsGivenBackWhole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ended, at time.Time
		want      int
	}{
		"before": {time.Time{}, noon(2, 20), 1}, "ended before": {noon(2, 20), noon(3, 20), 1},
		"begun": {time.Time{}, noon(3, 20), 0},
	} {
		s := paidMonth(t)
		dueOf(t, s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents())
		s.When(paid(second, now)).ThenEvents()
		want := []events.DaysCredit{
			upgradeCredit(upgrades(t, s, events.Prepaid, 0, noon(2, 14)), 31, 31, 1000_00, 1500_00),
		}
		if !c.ended.IsZero() {
			s.At(c.ended).When(end).ThenEvents()
		}
		made := s.At(c.at).When(cancel(second)).ThenEvents()
		dropped, _ := made[0].(events.PeriodCancelled)
		t.Log(name)
		if sameCredits(t, dropped.Credits, want[:c.want]); dropped.NeverBegan {
			t.Error("nothing is owed for it")
		}
	}
}

// Whenever a customer with upgrades ends, what is given back is the price of the days that are left under the present
// plan, as if the whole month had been sold by the day.
func TestUpgrade_WhatAnEndLeavesIsThePriceOfTheUsedDays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := subscribers.Subscription{}
		decide := func(c commands.SubscriptionCommand, at time.Time) []events.SubscriptionEvent {
			made, err := aggregate().Decide(s, c, at)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range made {
				s = aggregate().Evolve(s, e)
			}
			return made
		}
		decide(create(events.Postpaid), now)
		price, net := int64(1500_00), map[id.Invoice]money.Amount{first: money.Of(1500_00, money.KES)}
		want, day := int64(0), 0 // the sum of the prices of the used days, times 28
		for n := range rapid.IntRange(1, 3).Draw(t, "upgrades") {
			next := rapid.IntRange(day, 27).Draw(t, "day")
			want += price * int64(next-day)
			day, price = next, price+rapid.Int64Range(1, 5000_00).Draw(t, "more")
			to := sold("fast", 0, events.Postpaid)
			to.Terms.Price, to.Version = money.Of(price, money.KES), n+2
			at := now.AddDate(0, 0, day).Add(time.Duration(n) * time.Minute)
			change, err := s.PlanChange(to, at)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range decide(commands.ChangePlan{
				SubscriptionID: subscription, NewPlan: to, Preview: change.Preview,
			}, at) {
				if e, ok := e.(events.SubscriptionPlanChanged); ok && !e.InvoiceID.IsZero() {
					net[e.InvoiceID] = e.Lines[0].Amount.Add(e.Lines[1].Amount)
				}
			}
		}
		last := rapid.IntRange(day, 27).Draw(t, "last")
		want += price * int64(last-day)
		left := int64(0)
		for _, amount := range net {
			left += amount.Minor
		}
		end := commands.EndSubscription{SubscriptionID: subscription, Reason: "test"}
		for _, e := range decide(end, now.AddDate(0, 0, last).Add(time.Hour)) {
			ended, _ := e.(events.SubscriptionEnded)
			for _, c := range ended.Credits {
				share := net[c.InvoiceID].MulDivRounded(int64(c.Days), int64(c.Of))
				if !c.NetOf.IsZero() {
					share = net[c.InvoiceID].MulDivRounded(c.Net.Minor, c.NetOf.Minor)
				}
				left -= share.Minor
			}
		}
		if off := left - want/28; off < -6 || off > 6 { // each line and note is rounded by itself
			t.Fatalf("%d are left to pay, want %d", left, want/28)
		}
	})
}
