package subscribers_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// scenario is a life of the subscription of these tests.
type scenario = decidertest.Scenario[subscribers.Subscription, commands.SubscriptionCommand, events.SubscriptionEvent]

// noon is an instant at 12:00 in Nairobi.
func noon(month time.Month, day int) time.Time {
	return time.Date(2026, month, day, 9, 0, 0, 0, time.UTC)
}

// due asks for the next period.
var due = commands.MakePeriodDue{SubscriptionID: subscription}

// withdraw takes the payment of an invoice back.
func withdraw(invoice id.Invoice) commands.WithdrawPeriod {
	return commands.WithdrawPeriod{SubscriptionID: subscription, InvoiceID: invoice, Reason: "reversed"}
}

// cancel drops the period of an invoice.
func cancel(invoice id.Invoice) commands.CancelPeriod {
	return commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: invoice}
}

// twoMonths is a prepaid subscription whose first two months, from 31 January on, were paid on their first day.
func twoMonths(t *testing.T) *scenario {
	t.Helper()
	s := prepaid(t)
	s.When(paid(first, now)).ThenEvents()
	s.When(due).ThenEvents()
	s.When(paid(second, now)).ThenEvents()
	return s
}

// told reads from the last event until when the subscription is paid, and where the period of an invoice lies since.
func told(t *testing.T, made []events.SubscriptionEvent, invoice id.Invoice) (until, from, to time.Time) {
	t.Helper()
	if len(made) == 0 {
		t.Fatal("nothing happened")
	}
	var moved []events.PeriodPlace
	switch e := made[len(made)-1].(type) {
	case events.SubscriptionExtended:
		until = e.PaidUntil
		moved = append(e.Moved, events.PeriodPlace{InvoiceID: e.InvoiceID, From: e.From, To: e.To})
	case events.PeriodWithdrawn:
		until, moved = e.PaidUntil, e.Moved
	case events.PeriodCancelled:
		until, moved = e.PaidUntil, e.Moved
	default:
		t.Fatalf("%T tells no paid time", e)
	}
	for _, m := range moved {
		if m.InvoiceID == invoice {
			return until, m.From, m.To
		}
	}
	return until, time.Time{}, time.Time{}
}

func TestWithdrawPeriod_TheMonthThatStaysPaidIsWholeFromWherePaidTimeBegan(t *testing.T) {
	t.Parallel()
	s := twoMonths(t)
	until, from, to := told(t, s.When(withdraw(first)).ThenEvents(), second)
	if !until.Equal(noon(2, 28)) || !from.Equal(now) || !to.Equal(until) {
		t.Errorf("the second month lies from %s to %s, paid until %s", from, to, until)
	}
	// the anniversary stays the 31st
	until, from, to = told(t, s.When(paid(first, now)).ThenEvents(), first)
	if !until.Equal(noon(3, 31)) || !from.Equal(now) || !to.Equal(noon(2, 28)) {
		t.Errorf("paid again, the first month lies from %s to %s, paid until %s", from, to, until)
	}
}

func TestWithdrawPeriod_BothPaymentsTakenBackInEitherOrderLeaveNoPaidTime(t *testing.T) {
	t.Parallel()
	for _, order := range [][]id.Invoice{{first, second}, {second, first}} {
		s := twoMonths(t)
		s.When(withdraw(order[0])).ThenEvents()
		if until, _, _ := told(t, s.When(withdraw(order[1])).ThenEvents(), id.Invoice{}); !until.IsZero() {
			t.Errorf("paid until %s", until)
		}
		s.When(withdraw(order[1])).ThenNothing()
	}
}

func TestWithdrawPeriod_TheOnlyPaidPeriodLeavesNoPaidTime(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	s.When(paid(first, now)).ThenEvents()
	s.At(noon(2, 10)).When(withdraw(first)).Then(events.PeriodWithdrawn{
		SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: first, Ordinal: 1,
		Reason: personal.Of("reversed"), UnservedSince: noon(2, 10),
		Moved: []events.PeriodPlace{{Ordinal: 1, InvoiceID: first}}, At: noon(2, 10),
	})
}

func TestWithdrawPeriod_APeriodThatIsNotPaidStaysAsItIs(t *testing.T) {
	t.Parallel()
	s := prepaid(t).When(withdraw(first)).ThenNothing()
	s.When(withdraw(id.New[id.Invoice]())).ThenNothing()
	s.When(cancel(first)).ThenEvents()
	s.When(withdraw(first)).ThenNothing()
	s.When(paid(first, now)).ThenNothing()
}

func TestExtend_PaidAgainAfterAWithdrawalGivesTheTimeThatWasNotServed(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	s.When(paid(first, now)).ThenEvents()
	s.At(noon(2, 10)).When(withdraw(first)).ThenEvents()
	until, from, _ := told(t, s.At(noon(2, 15)).When(paid(first, noon(2, 15))).ThenEvents(), first)
	if !from.Equal(now) || !until.Equal(noon(3, 5)) { // five days later than 28 February
		t.Errorf("from %s to %s", from, until)
	}
	// the anniversary follows the new end
	s.When(due).ThenEvents()
	if until, _, _ = told(t, s.When(paid(second, noon(2, 15))).ThenEvents(), second); !until.Equal(noon(4, 5)) {
		t.Errorf("the second month ends on %s", until)
	}
}

func TestExtend_AMonthThatWasUsedBeforeItsReversalIsNotGivenTwice(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	s.When(paid(first, now)).ThenEvents()
	s.At(noon(3, 2)).When(withdraw(first)).ThenEvents()
	if until, _, _ := told(t, s.When(paid(first, noon(3, 9))).ThenEvents(), first); !until.Equal(noon(2, 28)) {
		t.Errorf("paid until %s", until)
	}
	s.When(due).ThenEvents() // new service needs a new month
	s.When(paid(second, noon(3, 9))).Then(begun(second, noon(3, 9), noon(3, 9), noon(4, 9)))
}

func TestCancelPeriod_ACreditNoteAndAReversalEndAlikeInEitherOrder(t *testing.T) {
	t.Parallel()
	states := map[string]subscribers.Subscription{}
	for name, order := range map[string][]commands.SubscriptionCommand{
		"note alone": {cancel(first)}, "reversed, then note": {withdraw(first), cancel(first)},
		"note, then reversed": {cancel(first), withdraw(first)},
	} {
		s := subscribers.Subscription{}
		for _, c := range append([]commands.SubscriptionCommand{create(events.Prepaid), paid(first, now), due,
			paid(second, now)}, order...) {
			made, err := subscribers.Subscriptions().Decide(s, c, now)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range made {
				s = subscribers.Subscriptions().Evolve(s, e)
			}
		}
		states[name] = s
		if until := s.PaidUntil(); !until.Equal(noon(2, 28)) || len(s.Open()) != 0 {
			t.Errorf("%s: paid until %s, open %v", name, until, s.Open())
		}
	}
	for name, s := range states {
		if diff := cmp.Diff(states["note alone"], s); diff != "" {
			t.Errorf("%s ends otherwise (-note +this)\n%s", name, diff)
		}
	}
}

func TestMakePeriodDue_APaidPeriodIsNeverDueAgain(t *testing.T) {
	t.Parallel()
	s := twoMonths(t)
	made := s.When(due).ThenEvents()
	if e, _ := made[0].(events.PeriodDue); e.Ordinal != 3 || e.InvoiceID != third || len(made) != 1 {
		t.Errorf("made %+v", made)
	}
}

func TestMakePeriodDue_ACancelledPeriodKeepsItsOrdinalAndInvoice(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	s.When(cancel(first)).ThenEvents()
	made := s.When(due).ThenEvents()
	if e, _ := made[0].(events.PeriodDue); e.Ordinal != 2 || e.InvoiceID != second {
		t.Errorf("made %+v", made)
	}
}

func TestExtendPostpaid_ALatePaymentMovesNoPeriod(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), now).When(create(events.Postpaid))
	s.ThenEvents()
	s.At(noon(2, 28)).When(due).ThenEvents()
	late := noon(4, 20)
	s.At(late).When(paid(second, late)).Then(extended(second, late, noon(2, 28), noon(3, 31)))
	// the older one is paid after the newer one: the end of paid time stays
	older := extended(first, late, now, noon(2, 28))
	older.PaidUntil = noon(3, 31)
	s.When(paid(first, late)).Then(older)
	until, _, _ := told(t, s.When(withdraw(second)).ThenEvents(), second)
	if !until.Equal(noon(2, 28)) {
		t.Errorf("paid until %s", until)
	}
	next := s.At(noon(4, 20)).When(due).ThenEvents() // a withdrawn payment does not stop postpaid service
	if e, _ := next[0].(events.PeriodDue); !e.From.Equal(noon(3, 31)) || !e.To.Equal(noon(4, 30)) {
		t.Errorf("the third period is %+v", e)
	}
}

func TestStartsAt_NoPeriodBeginsBeforeTheService(t *testing.T) {
	t.Parallel()
	later := noon(3, 10)
	c := create(events.Prepaid)
	c.StartsAt = later
	s := decidertest.For(t, aggregate(), now).When(c)
	s.ThenEvents()
	s.When(paid(first, now)).Then(activated(later), begun(first, now, later, noon(4, 10)))
	c = create(events.Postpaid)
	c.StartsAt = later
	s = decidertest.For(t, aggregate(), now).When(c)
	if made := s.ThenEvents(); len(made) != 1 {
		t.Errorf("made %+v", made)
	}
	s.At(later.Add(-time.Second)).When(due).ThenNothing()
	if made := s.At(later).When(due).ThenEvents(); len(made) != 2 {
		t.Errorf("made %+v", made)
	}
}

func TestPeriods_FollowTheZoneOfTheOrganization(t *testing.T) {
	t.Parallel()
	evening := time.Date(2026, 3, 30, 22, 30, 0, 0, time.UTC) // 31 March, 01:30 in Nairobi; in UTC the 30th
	for zone, want := range map[string]time.Time{
		"Africa/Nairobi": time.Date(2026, 4, 29, 22, 30, 0, 0, time.UTC), // 30 April, 01:30 there
		"UTC":            time.Date(2026, 4, 30, 22, 30, 0, 0, time.UTC),
		"no zone":        time.Date(2026, 4, 30, 22, 30, 0, 0, time.UTC),
	} {
		c := create(events.Prepaid)
		c.Timezone = zone
		s := decidertest.For(t, aggregate(), evening).When(c)
		s.ThenEvents()
		if until, _, _ := told(t, s.When(paid(first, evening)).ThenEvents(), first); !until.Equal(want) {
			t.Errorf("%s: paid until %s, want %s", zone, until, want)
		}
	}
}

func TestResume_TheAnniversaryFollowsTheShiftedEnd(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	s.When(paid(first, now)).ThenEvents()
	if until := pauseFor(s, noon(2, 3), 10).PaidUntil; !until.Equal(noon(3, 10)) {
		t.Fatalf("paid until %s", until)
	}
	for i, end := range []time.Time{noon(4, 10), noon(5, 10)} {
		s.When(due).ThenEvents()
		invoice := commands.PeriodInvoice(subscription, i+2)
		if until, _, _ := told(t, s.When(paid(invoice, noon(2, 20))).ThenEvents(), invoice); !until.Equal(end) {
			t.Errorf("month %d ends %s, want %s", i+2, until, end)
		}
	}
}

func TestResume_AnEndThatFallsOnTheAnniversaryKeepsIt(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	s.When(paid(first, now)).ThenEvents()
	if until := pauseFor(s, noon(2, 3), 31).PaidUntil; !until.Equal(noon(3, 31)) {
		t.Fatalf("paid until %s", until)
	}
	s.When(due).ThenEvents()
	s.When(paid(second, noon(3, 20))).Then(extended(second, noon(3, 20), noon(3, 31), noon(4, 30)))
	s.When(due).ThenEvents()
	s.When(paid(third, noon(3, 20))).Then(extended(third, noon(3, 20), noon(4, 30), noon(5, 31)))
}

func TestEnd_APeriodThatNeverBeganIsCancelledAndOneThatWasServedStays(t *testing.T) {
	t.Parallel()
	end := commands.EndSubscription{SubscriptionID: subscription, Reason: "moved"}
	s := prepaid(t)
	s.When(paid(first, now)).ThenEvents()
	s.When(due).ThenEvents()
	s.At(noon(2, 10)).When(withdraw(first)).ThenEvents()
	s.When(end).Then(
		events.SubscriptionEnded{
			SubscriptionID: subscription, SubscriberID: subscriber, Reason: personal.Of("moved"), At: noon(2, 10),
		},
		events.PeriodCancelled{
			SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: second, Ordinal: 2, NeverBegan: true,
			UnservedSince: noon(2, 10), At: noon(2, 10),
		},
	)
	s.When(due).ThenNothing()
	s.When(paid(second, noon(2, 11))).ThenNothing()
	// the debt for the service that was given can still be paid
	if until, _, _ := told(t, s.When(paid(first, noon(2, 11))).ThenEvents(), first); until.IsZero() {
		t.Error("the payment of the served month is not recorded")
	}
}

func TestEnd_PostpaidPeriodsStayDue(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), now).When(create(events.Postpaid))
	s.ThenEvents()
	made := s.When(commands.EndSubscription{SubscriptionID: subscription, Reason: "moved"}).ThenEvents()
	if len(made) != 1 {
		t.Errorf("made %+v", made)
	}
	s.When(paid(first, noon(3, 1))).Then(extended(first, noon(3, 1), now, noon(2, 28)))
	s.At(noon(2, 28)).When(due).ThenNothing()
}

// A stream that ended before periods were cancelled with it still has a due one.
func TestExtend_MoneyForAnEndedSubscriptionCancelsThePeriodThatNeverBegan(t *testing.T) {
	t.Parallel()
	s := prepaid(t).Given(events.SubscriptionEnded{SubscriptionID: subscription, SubscriberID: subscriber, At: now})
	s.When(paid(first, now)).Then(events.PeriodCancelled{
		SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: first, Ordinal: 1, NeverBegan: true, At: now,
	})
}

func TestEvolve_EventsRecordedWithoutOrdinalsCountByTheirInvoices(t *testing.T) {
	t.Parallel()
	old := []id.Invoice{id.Derive[id.Invoice]("old", "1"), id.Derive[id.Invoice]("old", "2")}
	becomesDue := func(i int) events.SubscriptionEvent {
		return events.PeriodDue{SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: old[i],
			Terms: terms(events.Prepaid), DueAt: now}
	}
	isPaid := func(i int, from, until time.Time) events.SubscriptionEvent {
		return events.SubscriptionExtended{SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: old[i],
			From: from, To: until, PaidUntil: until}
	}
	s := decidertest.For(t, aggregate(), now).Given(
		events.SubscriptionCreated{SubscriptionID: subscription, OrgID: org, SubscriberID: subscriber,
			Terms: terms(events.Prepaid), Timezone: "Africa/Nairobi", StartsAt: now, CreatedAt: now},
		becomesDue(0), activated(now), isPaid(0, now, noon(2, 28)), becomesDue(1),
		isPaid(1, noon(3, 10), noon(4, 10)), // paid late
		events.SubscriptionPaused{SubscriptionID: subscription, SubscriberID: subscriber, At: noon(3, 15)},
		events.SubscriptionResumed{SubscriptionID: subscription, SubscriberID: subscriber, PaidUntil: noon(4, 12),
			At: noon(3, 17)},
	)
	made := s.At(noon(4, 1)).When(due).ThenEvents()
	if e, _ := made[0].(events.PeriodDue); e.Ordinal != 3 || e.InvoiceID != third || !e.DueAt.Equal(noon(4, 12)) {
		t.Errorf("the next period is %+v", e)
	}
	until, from, _ := told(t, s.When(withdraw(old[0])).ThenEvents(), old[0])
	if !until.Equal(noon(4, 12)) || !from.IsZero() {
		t.Errorf("after the withdrawal paid until %s", until)
	}
	s.Given(events.PeriodWithdrawn{SubscriptionID: subscription, InvoiceID: old[1]})
	// A repayment of a withdrawal whose instant was not recorded begins anew.
	if until, from, _ = told(t, s.When(paid(old[1], noon(5, 1))).ThenEvents(), old[1]); !until.Equal(noon(6, 1)) {
		t.Errorf("paid again it lies from %s to %s", from, until)
	}
}

// hourly is a prepaid life by the hour with many paid periods, closed into the next stream now and then.
func hourly(t *testing.T, periods int) (subscribers.Subscription, time.Time) {
	t.Helper()
	s, at := subscribers.Subscription{}, now
	do := func(c commands.SubscriptionCommand) {
		made, err := subscribers.Subscriptions().Decide(s, c, at)
		if err != nil || len(made) == 0 {
			t.Fatalf("%T: %v, %v", c, made, err)
		}
		for _, e := range made {
			s = subscribers.Subscriptions().Evolve(s, e)
		}
	}
	c := create(events.Prepaid)
	c.Terms.Period = calendar.Hour
	do(c)
	for i := 1; i <= periods; i++ {
		do(paid(commands.PeriodInvoice(subscription, i), at))
		at = at.Add(time.Hour)
		if i%400 == 0 {
			s = subscribers.Subscriptions().Evolve(subscribers.Subscription{}, subscribers.Subscriptions().Close(s))
		}
		do(due)
	}
	return s, at
}

func TestClose_AnHourlyPlanKeepsItsStateSmallAndItsPaidTime(t *testing.T) {
	t.Parallel()
	const periods = 1500
	s, at := hourly(t, periods)
	if until := s.PaidUntil(); !until.Equal(now.Add(periods * time.Hour)) {
		t.Fatalf("paid until %s", until)
	}
	closing, _ := subscribers.Subscriptions().Close(s).(events.SubscriptionPeriodClosed)
	if len(closing.Opening) > 64<<10 {
		t.Errorf("the opening has %d bytes", len(closing.Opening))
	}
	old, recent := commands.PeriodInvoice(subscription, 7), commands.PeriodInvoice(subscription, periods-300)
	if _, kept := s.Period(old); kept {
		t.Error("the seventh period is still kept")
	}
	if s.Archived(recent) || !s.Archived(old) || (subscribers.Subscription{}).Archived(old) {
		t.Error("what is too old to change is told wrongly")
	}
	if p, kept := s.Period(recent); !kept || p.Ordinal != periods-300 {
		t.Error("a recent period is not kept")
	}
	scene := decidertest.For(t, aggregate(), at).Given(closing)
	scene.When(withdraw(old)).ThenFails("period_archived")
	scene.When(cancel(old)).ThenFails("period_archived")
	scene.When(paid(old, at)).ThenFails("period_archived")
	until, _, _ := told(t, scene.When(withdraw(recent)).ThenEvents(), recent)
	if !until.Equal(now.Add((periods - 1) * time.Hour)) {
		t.Errorf("after a withdrawal paid until %s", until)
	}
}

// TestReopened_AnOpeningOfTheFirstFormKeepsThePaidTime reads the JSON that closed streams have from before.
func TestReopened_AnOpeningOfTheFirstFormKeepsThePaidTime(t *testing.T) {
	t.Parallel()
	a, b, c := id.Derive[id.Invoice]("old", "a"), id.Derive[id.Invoice]("old", "b"), id.Derive[id.Invoice]("old", "c")
	opening := func(mode events.BillingMode) events.SubscriptionEvent {
		text, err := json.Marshal(map[string]any{
			"ID": subscription, "Owner": org, "SubscriberID": subscriber, "PlanVersion": 3, "Terms": terms(mode),
			"Timezone": "Africa/Nairobi", "StartsAt": now, "State": "active", "PausedAt": time.Time{},
			"PaidUntil": noon(4, 2), "AnchorDay": 31, "LastTo": noon(4, 2), "Open": []id.Invoice{c},
			"Paid": map[id.Invoice]any{ // a pause of two days came after the payments
				b: map[string]any{"From": noon(2, 28), "To": noon(3, 31)},
				a: map[string]any{"From": now, "To": noon(2, 28)},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return events.SubscriptionPeriodClosed{SubscriptionID: subscription, SubscriberID: subscriber, Opening: text,
			Username: personal.Of("jane")}
	}
	for _, mode := range []events.BillingMode{events.Prepaid, events.Postpaid} {
		s := subscribers.Subscriptions().Evolve(subscribers.Subscription{}, opening(mode))
		if !s.PaidUntil().Equal(noon(4, 2)) || s.State != subscribers.Active || s.PlanVersion != 3 ||
			s.Username.Reveal() != "jane" || cmp.Diff([]id.Invoice{c}, s.Open()) != "" {
			t.Errorf("%s: paid until %s, state %+v", mode, s.PaidUntil(), s)
		}
		next := subscribers.Subscriptions().Evolve(subscribers.Subscription{}, subscribers.Subscriptions().Close(s))
		if diff := cmp.Diff(s, next); diff != "" {
			t.Errorf("%s closed again (-before +after)\n%s", mode, diff)
		}
	}
	s := decidertest.For(t, aggregate(), noon(3, 1)).Given(opening(events.Prepaid))
	if until, _, _ := told(t, s.When(withdraw(a)).ThenEvents(), a); !until.Equal(noon(2, 28)) {
		t.Errorf("after the withdrawal paid until %s", until)
	}
	post := decidertest.For(t, aggregate(), noon(4, 2)).Given(opening(events.Postpaid))
	made := post.When(due).ThenEvents()
	if e, _ := made[0].(events.PeriodDue); !e.From.Equal(noon(4, 2)) || e.Ordinal != 4 {
		t.Errorf("the next postpaid period is %+v", e)
	}
}
