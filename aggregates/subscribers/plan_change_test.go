package subscribers_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// sold is a version of a plan that costs some shillings a month.
func sold(code string, price int64, mode events.BillingMode) commands.NewPlan {
	t := terms(mode)
	t.Name, t.Price = code, money.Major(price, money.KES)
	return commands.NewPlan{PlanID: id.Derive[id.Plan]("test", code), Version: 1, Terms: t}
}

// look previews a change of a scenario's subscription.
func look(t *testing.T, s *scenario, to commands.NewPlan, at time.Time) subscribers.PlanChange {
	t.Helper()
	change, err := s.State().PlanChange(to, at)
	if err != nil {
		t.Fatal(err)
	}
	return change
}

// changes previews a change and makes it.
func changes(
	t *testing.T, s *scenario, to commands.NewPlan, at time.Time,
) (subscribers.PlanChange, []events.SubscriptionEvent) {
	t.Helper()
	change := look(t, s, to, at)
	made := s.At(at).When(commands.ChangePlan{
		SubscriptionID: subscription, NewPlan: to, Preview: change.Preview,
	}).ThenEvents()
	return change, made
}

// paidMonth is a prepaid subscription whose first month, 31 January to 28 February, is paid.
func paidMonth(t *testing.T) *scenario {
	t.Helper()
	s := prepaid(t).When(paid(first, now))
	s.ThenEvents()
	return s
}

// The month from 31 January to 28 February has 28 days; on 14 February 14 of them are left.
func TestChangePlan_AnUpgradeIsAtOnceAndKeepsWhatIsPaid(t *testing.T) {
	t.Parallel()
	s := paidMonth(t)
	until := s.State().PaidUntil()
	at := local(time.February, 14, 20)
	change, made := changes(t, s, sold("fast", 2500, events.Prepaid), at)
	changed, _ := made[0].(events.SubscriptionPlanChanged)
	if len(made) != 1 || changed.InvoiceID.IsZero() || !changed.DueAt.Equal(at) || changed.Before.Name != "Home 10" {
		t.Fatalf("made %+v", made)
	}
	day := func(d int) calendar.Date { return calendar.Date{Year: 2026, Month: time.February, Day: d} }
	want := []events.PlanChangeLine{
		{PlanName: "Home 10", Amount: money.Major(-750, money.KES)},
		{PlanName: "fast", Amount: money.Major(1250, money.KES)},
	}
	for i := range want {
		want[i].Ordinal, want[i].From, want[i].To, want[i].Days, want[i].Of = 1, day(14), day(27), 14, 28
	}
	if len(changed.Lines) != 2 || changed.Lines[0] != want[0] || changed.Lines[1] != want[1] {
		t.Errorf("lines %+v", changed.Lines)
	}
	if !change.AtOnce || !change.EffectiveAt.Equal(local(time.February, 14, 0)) || !s.State().PaidUntil().Equal(until) {
		t.Errorf("change %+v, paid until %s", change, s.State().PaidUntil())
	}
	// what is left was paid at the new price: a second upgrade gives that back
	second := look(t, s, sold("faster", 5000, events.Prepaid), local(time.February, 21, 9))
	if back, more := second.Lines[0].Amount, second.Lines[1].Amount; back != money.Major(-625, money.KES) ||
		more != money.Major(1250, money.KES) {
		t.Errorf("second %+v", second.Lines)
	}
	s.SurvivesClosing()
}

func TestChangePlan_ADowngradeBeginsWithTheNextPeriod(t *testing.T) {
	t.Parallel()
	s, small := paidMonth(t), sold("small", 800, events.Prepaid)
	until := s.State().PaidUntil()
	change, made := changes(t, s, small, local(time.February, 10, 9))
	planned, _ := made[0].(events.PlanChangePlanned)
	if len(made) != 1 || change.AtOnce || len(change.Lines) != 0 || !planned.EffectiveAt.Equal(until) ||
		planned.FromOrdinal != 2 {
		t.Fatalf("made %+v", made)
	}
	s.At(until.Add(-24 * time.Hour))
	due := dueOf(t, s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents())
	if due.PlanName != "small" || due.Terms.Price != small.Terms.Price {
		t.Errorf("due %+v", due)
	}
	s.When(paid(second, until.Add(-23*time.Hour))).ThenEvents()
	apply := commands.ApplyPlanChange{SubscriptionID: subscription}
	s.When(apply).ThenNothing() // it is too early
	if s.State().Terms.Name != "Home 10" {
		t.Error("service changed with the payment")
	}
	made = s.At(until).When(apply).ThenEvents()
	if changed, _ := made[0].(events.SubscriptionPlanChanged); changed.Terms.Name != "small" ||
		!changed.InvoiceID.IsZero() {
		t.Errorf("made %+v", made)
	}
	s.When(apply).ThenNothing()
	s.SurvivesClosing()
}

// The next month is invoiced, and not paid.
func TestChangePlan_AnUnpaidInvoiceIsReplaced(t *testing.T) {
	t.Parallel()
	for code, price := range map[string]int64{"fast": 2500, "small": 800} {
		s := paidMonth(t)
		s.At(local(time.February, 26, 9)).When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
		to := sold(code, price, events.Prepaid)
		change, made := changes(t, s, to, local(time.February, 26, 10))
		due := dueOf(t, made)
		dropped, _ := made[0].(events.PeriodCancelled)
		if len(change.Replaced) != 1 || change.Replaced[0] != second || dropped.InvoiceID != second ||
			!dropped.NeverBegan || due.InvoiceID != third || due.Terms.Price != to.Terms.Price ||
			len(change.Due) != 1 || change.Due[0].Net() != to.Terms.Price {
			t.Errorf("%s: %+v", code, made)
		}
	}
	s := prepaid(t) // nothing is paid yet
	change, made := changes(t, s, sold("small", 800, events.Prepaid), now.Add(time.Hour))
	if due := dueOf(t, made); !change.AtOnce || len(made) != 3 || due.InvoiceID != second ||
		due.Terms.Price != money.Major(800, money.KES) {
		t.Errorf("pending: %+v", made)
	}
}

func TestChangePlan_OnlyAPreviewThatIsTrueChangesAnything(t *testing.T) {
	t.Parallel()
	s, fast := paidMonth(t), sold("fast", 2500, events.Prepaid)
	at := local(time.February, 14, 20)
	change := look(t, s, fast, at)
	command := commands.ChangePlan{SubscriptionID: subscription, NewPlan: fast, Preview: change.Preview}
	s.At(at.Add(5 * time.Hour)).When(command).ThenFails("preview_stale") // a day has passed
	dearer := command
	dearer.Version, dearer.Terms.Price = 2, money.Major(2600, money.KES)
	s.At(at).When(dearer).ThenFails("preview_stale")
	s.At(at).When(command).ThenEvents()
	s.When(command).ThenFails("preview_stale") // it was used
	small := sold("small", 800, events.Prepaid)
	planned := look(t, s, small, at)
	changes(t, s, small, at)
	s.When(commands.ChangePlan{SubscriptionID: subscription, NewPlan: small, Preview: planned.Preview}).
		ThenFails("preview_stale")
	// back to the present plan drops what was planned, and forth again is another preview
	_, made := changes(t, s, fast, at)
	if _, ok := made[0].(events.PlanChangeDropped); !ok || len(made) != 1 {
		t.Errorf("made %+v", made)
	}
	s.When(commands.ChangePlan{SubscriptionID: subscription, NewPlan: small, Preview: planned.Preview}).
		ThenFails("preview_stale")
}

func TestChangePlan_WhatCannotBeChangedSaysWhy(t *testing.T) {
	t.Parallel()
	hotspot, dollars := sold("spot", 2500, events.Prepaid), sold("usd", 2500, events.Prepaid)
	hotspot.Terms.Kind, dollars.Terms.Price.Currency = "hotspot", money.Currency("USD")
	for _, to := range []commands.NewPlan{hotspot, dollars, sold("later", 2500, events.Postpaid)} {
		_, err := paidMonth(t).State().PlanChange(to, now)
		fails(t, err, "plan_not_alike")
	}
	present := commands.NewPlan{PlanID: plan, Version: 1, Terms: terms(events.Prepaid)}
	_, err := paidMonth(t).State().PlanChange(present, now)
	fails(t, err, "plan_unchanged")
	s := paidMonth(t)
	s.When(commands.PauseSubscription{SubscriptionID: subscription, Reason: "travels"}).ThenEvents()
	_, err = s.State().PlanChange(sold("fast", 2500, events.Prepaid), now)
	fails(t, err, "subscription_paused")
	s.When(commands.EndSubscription{SubscriptionID: subscription, Reason: "moves"}).ThenEvents()
	_, err = s.State().PlanChange(sold("fast", 2500, events.Prepaid), now)
	fails(t, err, "subscription_ended")
	// the next month is paid under the plan that was chosen for it
	s = paidMonth(t)
	changes(t, s, sold("small", 800, events.Prepaid), now)
	s.At(local(time.February, 26, 9)).When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
	s.When(paid(second, local(time.February, 26, 10))).ThenEvents()
	_, err = s.State().PlanChange(sold("tiny", 500, events.Prepaid), local(time.February, 26, 11))
	fails(t, err, "plan_change_paid")
	// dearer ones are at once, and what each month was paid with is given back: 2 days of 28, and all of the next month
	dearer := look(t, s, sold("fast", 2500, events.Prepaid), local(time.February, 26, 11))
	if len(dearer.Lines) != 4 || dearer.Lines[2].Amount != money.Major(-800, money.KES) ||
		dearer.Lines[3].Amount != money.Major(2500, money.KES) {
		t.Errorf("lines %+v", dearer.Lines)
	}
}

// TestApplyPlanChange_DaysThatAreTakenBackBringItEarlier: the change was planned for after five given days.
func TestApplyPlanChange_DaysThatAreTakenBackBringItEarlier(t *testing.T) {
	t.Parallel()
	s, apply := paidMonth(t), commands.ApplyPlanChange{SubscriptionID: subscription}
	until := s.State().PaidUntil()
	given := compensates("five", 2*day, 3*day, events.CompensationGive{Days: 5})
	s.At(local(time.February, 10, 9)).When(given).ThenEvents()
	changes(t, s, sold("small", 800, events.Prepaid), local(time.February, 10, 9))
	s.When(commands.TakeBackCompensation{SubscriptionID: subscription, CompensationID: given.CompensationID}).
		ThenEvents()
	made := s.When(apply).ThenEvents()
	if moved, _ := made[0].(events.PlanChangeMoved); !moved.EffectiveAt.Equal(until) {
		t.Fatalf("made %+v", made)
	}
	made = s.At(until).When(apply).ThenEvents()
	if changed, is := made[0].(events.SubscriptionPlanChanged); !is || changed.Terms.Name != "small" {
		t.Errorf("made %+v", made)
	}
}

// A pause, and days that are given, move the end of the time before a planned change.
func TestApplyPlanChange_ComesWhenTheTimeBeforeItIsOver(t *testing.T) {
	t.Parallel()
	s, apply := paidMonth(t), commands.ApplyPlanChange{SubscriptionID: subscription}
	until := s.State().PaidUntil()
	changes(t, s, sold("small", 800, events.Prepaid), now)
	pauseFor(s, local(time.February, 10, 9), 5)
	made := s.When(apply).ThenEvents()
	if moved, _ := made[0].(events.PlanChangeMoved); !moved.EffectiveAt.Equal(until.AddDate(0, 0, 5)) {
		t.Fatalf("made %+v", made)
	}
	s.At(until).When(apply).ThenNothing()
	s.When(withdraw(first)).ThenEvents()
	made = s.When(apply).ThenEvents() // the time before it can be paid again
	if moved, ok := made[0].(events.PlanChangeMoved); !ok || !moved.EffectiveAt.IsZero() {
		t.Fatalf("made %+v", made)
	}
	s.When(paid(first, until)).ThenEvents()
	made = s.When(apply).ThenEvents()
	if moved, ok := made[0].(events.PlanChangeMoved); !ok || !moved.EffectiveAt.Equal(s.State().PaidUntil()) {
		t.Fatalf("made %+v", made)
	}
	s.When(withdraw(first)).ThenEvents()
	s.When(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: first}).ThenEvents()
	made = s.When(apply).ThenEvents() // no time is paid any more, and none waits
	if _, ok := made[0].(events.SubscriptionPlanChanged); !ok {
		t.Errorf("made %+v", made)
	}
}

// A month that was begun is paid again at the price that it had, so no dearer plan may come in between.
func TestChangePlan_WaitsWhileAPaymentIsTakenBack(t *testing.T) {
	t.Parallel()
	at := local(time.February, 1, 9)
	for code, price := range map[string]int64{"fast": 15000, "small": 800} {
		s := paidMonth(t)
		s.At(at).When(withdraw(first)).ThenEvents()
		_, err := s.State().PlanChange(sold(code, price, events.Prepaid), at)
		fails(t, err, "payment_taken_back")
		s.When(paid(first, at)).ThenEvents()
		if change := look(t, s, sold(code, price, events.Prepaid), at); change.AtOnce && len(change.Lines) != 2 {
			t.Errorf("%s: %+v", code, change)
		}
	}
	s := paidMonth(t) // the payment of a month is taken back after the next one was paid
	s.At(local(time.February, 26, 9)).When(due).ThenEvents()
	s.When(paid(second, local(time.February, 26, 9))).ThenEvents()
	s.When(withdraw(first)).ThenEvents()
	_, err := s.State().PlanChange(sold("fast", 15000, events.Prepaid), local(time.February, 26, 9))
	fails(t, err, "payment_taken_back")
	s = paidMonth(t) // what was planned before can be dropped
	changes(t, s, sold("small", 800, events.Prepaid), at)
	s.At(at).When(withdraw(first)).ThenEvents()
	present := commands.NewPlan{PlanID: plan, Version: 1, Terms: terms(events.Prepaid)}
	if _, made := changes(t, s, present, at); len(made) != 1 {
		t.Errorf("made %+v", made)
	}
}

// Cut off since 10 February, 18 of 28 days are left whenever service comes back.
func TestChangePlan_WaitsWhileTheDaysOfACutAreNotBilled(t *testing.T) {
	t.Parallel()
	s, apply := suspends(t, events.BillUsedDays, 0), commands.ApplyPlanChange{SubscriptionID: subscription}
	changes(t, s, sold("small", 100, events.Postpaid), noon(2, 5))
	s.At(noon(2, 10)).When(cut(noon(2, 10))).ThenEvents()
	for _, at := range []time.Time{noon(2, 27), noon(3, 5)} {
		_, err := s.State().PlanChange(sold("fast", 15000, events.Postpaid), at)
		fails(t, err, "billing_suspended")
		s.At(at).When(apply).ThenNothing()
	}
	s.When(servedAgain(noon(3, 5))).ThenEvents()
	made := s.When(apply).ThenEvents()
	if moved, ok := made[0].(events.PlanChangeMoved); !ok || !moved.EffectiveAt.Equal(s.State().Course().End) {
		t.Errorf("made %+v", made)
	}
	if change := look(t, s, sold("fast", 15000, events.Postpaid), noon(3, 5)); len(change.Lines) != 2 ||
		change.Lines[1].Days != 18 {
		t.Errorf("change %+v", change)
	}
}

// A move during a cut comes with the next period, since days of the present one are left.
func TestMovePlan_WaitsWhileTheDaysOfACutAreNotBilled(t *testing.T) {
	t.Parallel()
	s := suspends(t, events.BillUsedDays, 0)
	s.When(cut(noon(2, 10))).ThenEvents()
	newer := commands.NewPlan{PlanID: plan, Version: 2, Terms: terms(events.Postpaid)}
	newer.Terms.Price = money.Major(1800, money.KES)
	made := s.At(noon(3, 5)).When(commands.MovePlan{
		SubscriptionID: subscription, NewPlan: newer, MoveID: id.Derive[id.PlanMove]("test", "move"),
	}).ThenEvents()
	if _, ok := made[0].(events.PlanChangePlanned); !ok || len(made) != 1 {
		t.Errorf("made %+v", made)
	}
}

// A year was paid elsewhere, from 31 January on: an upgrade on its first day costs 365 days at 28 days a month.
func TestChangePlan_AllDaysPaidElsewhereCount(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), now).When(paidElsewhere(events.Prepaid, now.AddDate(1, 0, 0)))
	s.ThenEvents()
	change := look(t, s, sold("fast", 4500, events.Prepaid), now.Add(time.Hour))
	if len(change.Lines) != 2 || change.Lines[1].Days != 365 ||
		change.Lines[1].Amount != money.Major(4500, money.KES).MulDivRounded(365, int64(change.Lines[1].Of)) {
		t.Errorf("lines %+v", change.Lines)
	}
}

// A month that never began is replaced by one of the new plan, also when it was paid before.
func TestChangePlan_ReplacesAMonthThatWasPaidAheadAndTakenBack(t *testing.T) {
	t.Parallel()
	s, at := paidMonth(t), local(time.February, 26, 9)
	s.At(at).When(due).ThenEvents()
	s.When(paid(second, at)).ThenEvents()
	s.When(withdraw(second)).ThenEvents()
	change := look(t, s, sold("fast", 15000, events.Prepaid), at)
	if len(change.Replaced) != 1 || change.Replaced[0] != second || len(change.Lines) != 2 {
		t.Errorf("change %+v", change)
	}
}

func TestMovePlan_InvoicesThatAreMadeStayAsTheyAre(t *testing.T) {
	t.Parallel()
	newer := commands.NewPlan{PlanID: plan, Version: 2, Terms: terms(events.Prepaid)}
	newer.Terms.Price = money.Major(1800, money.KES)
	move := commands.MovePlan{
		SubscriptionID: subscription, NewPlan: newer, MoveID: id.Derive[id.PlanMove]("test", "move"),
	}
	s := prepaid(t)
	made := s.When(move).ThenEvents() // the first invoice waits for its money
	if planned, _ := made[0].(events.PlanChangePlanned); len(made) != 1 || planned.FromOrdinal != 2 ||
		!planned.EffectiveAt.IsZero() || planned.MoveID != move.MoveID {
		t.Fatalf("made %+v", made)
	}
	s.When(move).ThenNothing()
	s.When(commands.ApplyPlanChange{SubscriptionID: subscription}).ThenNothing()
	s.When(paid(first, now)).ThenEvents()
	made = s.When(commands.ApplyPlanChange{SubscriptionID: subscription}).ThenEvents()
	if moved, _ := made[0].(events.PlanChangeMoved); !moved.EffectiveAt.Equal(s.State().PaidUntil()) {
		t.Errorf("made %+v", made)
	}
	other := move
	other.PlanID = id.Derive[id.Plan]("test", "another")
	s.When(other).ThenNothing()
}

// A postpaid month is owed at its end, and what the upgrade costs with it.
func TestChangePlan_PostpaidIsInvoicedWithTheMonth(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), now).When(create(events.Postpaid))
	s.ThenEvents()
	_, made := changes(t, s, sold("fast", 2500, events.Postpaid), local(time.February, 14, 20))
	changed, _ := made[0].(events.SubscriptionPlanChanged)
	if len(made) != 1 || !changed.DueAt.Equal(s.State().Course().End) || len(changed.Lines) != 2 {
		t.Errorf("made %+v", made)
	}
}

// Whenever somebody changes to a plan that costs as much or more, each day is paid at the price of its plan, to half a
// cent for each line, and the paid time stays.
func TestChangePlan_EachDayCostsItsPlansPrice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		day := rapid.IntRange(0, 28).Draw(r, "billing day")
		command := onDay(day, events.Prepaid)
		s := subscribers.Subscription{}
		run := func(c commands.SubscriptionCommand, at time.Time) []events.SubscriptionEvent {
			made, err := aggregate().Decide(s, c, at)
			if err != nil {
				r.Fatal(err)
			}
			for _, e := range made {
				s = aggregate().Evolve(s, e)
			}
			return made
		}
		at := now.Add(time.Duration(rapid.IntRange(0, 400*24).Draw(r, "hour")) * time.Hour)
		due := dueIn(run(command, at))
		run(paid(first, at), at)
		until, price := s.PaidUntil(), money.Major(1500, money.KES)
		of := calendar.DaysBetween(calendar.On(at, nairobi), calendar.On(until, nairobi))
		if !due.Part.IsZero() {
			of = due.Part.Of
		}
		for range rapid.IntRange(1, 4).Draw(r, "changes") {
			at = at.Add(time.Duration(rapid.IntRange(0, int(until.Sub(at)/time.Hour)).Draw(r, "later")) * time.Hour)
			if !at.Before(until) {
				return
			}
			price = price.Add(money.Of(rapid.Int64Range(0, 100_000).Draw(r, "dearer"), money.KES))
			to := sold("dearer", 0, events.Prepaid)
			to.Version, to.Terms.Price, to.Terms.AnchorDay = s.Changes+1, price, day
			change, err := s.PlanChange(to, at)
			if err != nil {
				r.Fatal(err)
			}
			left := calendar.DaysBetween(calendar.On(at, nairobi), calendar.On(until, nairobi))
			var total, want int64
			for _, l := range change.Lines {
				total += l.Amount.Minor
			}
			want = price.Sub(s.Terms.Price).Minor * int64(left) / int64(of)
			if diff := total - want; diff < -1 || diff > 1 {
				r.Fatalf("%d of %d days cost %d, want %d", left, of, total, want)
			}
			run(commands.ChangePlan{SubscriptionID: subscription, NewPlan: to, Preview: change.Preview}, at)
			if !s.PaidUntil().Equal(until) {
				r.Fatalf("paid until %s, was %s", s.PaidUntil(), until)
			}
		}
	})
}

// nairobi is the zone of the subscription.
var nairobi = time.FixedZone("EAT", 3*60*60)

// fails checks a failure's code.
func fails(t *testing.T, err error, code string) {
	t.Helper()
	if failure.CodeOf(err) != code {
		t.Errorf("%v, want %s", err, code)
	}
}

// dueIn finds the period that became due; the zero value when none did.
func dueIn(made []events.SubscriptionEvent) (due events.PeriodDue) {
	for _, e := range made {
		if e, ok := e.(events.PeriodDue); ok {
			due = e
		}
	}
	return due
}
