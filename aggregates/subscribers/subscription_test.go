package subscribers_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// The subscription of these tests. now is 31 January, 12:00 in Nairobi.
var (
	now          = time.Date(2026, time.January, 31, 9, 0, 0, 0, time.UTC)
	org          = id.Derive[id.Organization]("test", "org")
	subscriber   = id.Derive[id.Subscriber]("test", "subscriber")
	subscription = id.Derive[id.Subscription]("test", "subscription")
	plan         = id.Derive[id.Plan]("test", "plan")
	first        = commands.PeriodInvoice(subscription, 1)
	second       = commands.PeriodInvoice(subscription, 2)
	third        = commands.PeriodInvoice(subscription, 3)
)

// aggregate is the definition under test.
func aggregate() aggregates.Definition[
	subscribers.Subscription, commands.SubscriptionCommand, events.SubscriptionEvent,
] {
	return subscribers.Subscriptions()
}

// terms are those of a monthly plan of 1,500 shillings.
func terms(mode events.BillingMode) events.PlanTerms {
	return events.PlanTerms{
		Name: "Home 10", Kind: "pppoe", Price: money.Major(1500, money.KES), Mode: mode, Period: calendar.Month,
		Rates: events.Rates{Down: 10_000, Up: 5_000},
	}
}

// create asks for the subscription with the login "jane".
func create(mode events.BillingMode) commands.CreateSubscription {
	return commands.CreateSubscription{
		SubscriptionID: subscription, OrgID: org, SubscriberID: subscriber, PlanID: plan, PlanVersion: 1,
		Terms: terms(mode), Timezone: "Africa/Nairobi", Username: personal.Of("jane"),
	}
}

// paid reports that an invoice was paid at an instant.
func paid(invoice id.Invoice, at time.Time) commands.ExtendSubscription {
	return commands.ExtendSubscription{SubscriptionID: subscription, InvoiceID: invoice, PaidAt: at}
}

// extended is the event of a paid period that continues paid time.
func extended(invoice id.Invoice, paidAt, from, until time.Time) events.SubscriptionExtended {
	ordinal := 1
	for commands.PeriodInvoice(subscription, ordinal) != invoice {
		ordinal++
	}
	return events.SubscriptionExtended{
		SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: invoice, Ordinal: ordinal, From: from,
		To: until, PaidUntil: until, PaidAt: paidAt,
	}
}

// begun is the event of a paid period with which paid time begins anew.
func begun(invoice id.Invoice, paidAt, from, until time.Time) events.SubscriptionExtended {
	e := extended(invoice, paidAt, from, until)
	e.Begins = from
	return e
}

// activated is the event of the start of the first period.
func activated(at time.Time) events.SubscriptionEvent {
	return events.SubscriptionActivated{SubscriptionID: subscription, SubscriberID: subscriber, At: at}
}

func TestCreatePrepaid_WaitsForItsMoney(t *testing.T) {
	t.Parallel()
	decidertest.For(t, aggregate(), now).When(create(events.Prepaid)).Then(
		events.SubscriptionCreated{
			SubscriptionID: subscription, OrgID: org, SubscriberID: subscriber, PlanID: plan, PlanVersion: 1,
			Terms: terms(events.Prepaid), Timezone: "Africa/Nairobi", StartsAt: now, Username: personal.Of("jane"),
			CreatedAt: now,
		},
		events.PeriodDue{
			SubscriptionID: subscription, OrgID: org, SubscriberID: subscriber, InvoiceID: first, Ordinal: 1,
			PlanName: "Home 10", Terms: terms(events.Prepaid), DueAt: now, KeepsTime: true, At: now,
		},
	)
}

// prepaid begins a scenario with a prepaid subscription that has not been paid.
func prepaid(
	t *testing.T,
) *decidertest.Scenario[subscribers.Subscription, commands.SubscriptionCommand, events.SubscriptionEvent] {
	s := decidertest.For(t, aggregate(), now).When(create(events.Prepaid))
	s.ThenEvents()
	return s
}

func TestExtendPrepaid_PaidUntilMovesByTheAnniversaryAndClampsToTheMonth(t *testing.T) {
	t.Parallel()
	end1, end2 := time.Date(2026, time.February, 28, 9, 0, 0, 0, time.UTC),
		time.Date(2026, time.March, 31, 9, 0, 0, 0, time.UTC)
	s := prepaid(t).When(paid(first, now)).Then(activated(now), begun(first, now, now, end1))
	s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
	early := end1.Add(-48 * time.Hour)
	s.When(paid(second, early)).Then(extended(second, early, end1, end2))
}

func TestExtendPrepaid_PaidAfterExpiryStartsWithThePayment(t *testing.T) {
	t.Parallel()
	late := time.Date(2026, time.March, 10, 6, 0, 0, 0, time.UTC)
	s := prepaid(t).When(paid(first, now))
	s.ThenEvents()
	s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
	april := time.Date(2026, time.April, 10, 6, 0, 0, 0, time.UTC)
	s.When(paid(second, late)).Then(begun(second, late, late, april))
	s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
	s.When(paid(third, late.Add(time.Hour))).Then(extended(third, late.Add(time.Hour), april,
		time.Date(2026, time.May, 10, 6, 0, 0, 0, time.UTC)))
}

func TestExtend_TheSameInvoiceMovesPaidUntilOnce(t *testing.T) {
	t.Parallel()
	s := prepaid(t).When(paid(first, now))
	s.ThenEvents()
	s.When(paid(first, now.Add(time.Hour))).ThenNothing()
}

func TestMakePeriodDue_PrepaidHasOneOpenInvoice(t *testing.T) {
	t.Parallel()
	prepaid(t).When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenNothing()
}

func TestCreatePostpaid_StartsAtOnceAndIsDueAtItsEnd(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, time.February, 28, 9, 0, 0, 0, time.UTC)
	s := decidertest.For(t, aggregate(), now).When(create(events.Postpaid))
	decided := s.ThenEvents()
	want := []events.SubscriptionEvent{activated(now), events.PeriodDue{
		SubscriptionID: subscription, OrgID: org, SubscriberID: subscriber, InvoiceID: first, Ordinal: 1,
		PlanName: "Home 10", Terms: terms(events.Postpaid), From: now, To: end, DueAt: end, KeepsTime: true, At: now,
	}}
	if diff := cmp.Diff(want, decided[1:]); diff != "" {
		t.Fatalf("(-want +have)\n%s", diff)
	}
	s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenNothing()
	s.At(end).When(commands.MakePeriodDue{SubscriptionID: subscription}).Then(events.PeriodDue{
		SubscriptionID: subscription, OrgID: org, SubscriberID: subscriber, InvoiceID: second, Ordinal: 2,
		PlanName: "Home 10", Terms: terms(events.Postpaid), From: end, KeepsTime: true, At: end,
		To:    time.Date(2026, time.March, 31, 9, 0, 0, 0, time.UTC),
		DueAt: time.Date(2026, time.March, 31, 9, 0, 0, 0, time.UTC),
	})
}

func TestWithdrawPeriod_ReversedMoneyTakesItsPeriodBack(t *testing.T) {
	t.Parallel()
	end1, end2 := time.Date(2026, time.February, 28, 9, 0, 0, 0, time.UTC),
		time.Date(2026, time.March, 31, 9, 0, 0, 0, time.UTC)
	s := prepaid(t).When(paid(first, now))
	s.ThenEvents()
	s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents()
	s.When(paid(second, now)).ThenEvents()
	withdraw := commands.WithdrawPeriod{SubscriptionID: subscription, InvoiceID: second, Reason: "reversed by the bank"}
	s.When(withdraw).Then(events.PeriodWithdrawn{
		SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: second, Ordinal: 2,
		PaidUntil: end1, Reason: personal.Of("reversed by the bank"), UnservedSince: now, At: now,
		Moved: []events.PeriodPlace{{Ordinal: 2, InvoiceID: second}},
	})
	s.When(withdraw).ThenNothing()
	s.When(paid(second, now)).Then(extended(second, now, end1, end2))
}

func TestPause_DaysComeBackWithTheResume(t *testing.T) {
	t.Parallel()
	s := prepaid(t).When(commands.PauseSubscription{SubscriptionID: subscription,
		Reason: "travels"}).ThenFails("subscription_not_active")
	s.When(paid(first, now)).ThenEvents()
	s.When(commands.PauseSubscription{SubscriptionID: subscription, Reason: "travels"}).ThenEvents()
	s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenNothing()
	s.At(now.Add(72 * time.Hour)).When(commands.ResumeSubscription{SubscriptionID: subscription,
		Reason: "is back"}).Then(events.SubscriptionResumed{
		SubscriptionID: subscription, SubscriberID: subscriber, Reason: personal.Of("is back"),
		At:        now.Add(72 * time.Hour),
		PaidUntil: time.Date(2026, time.March, 3, 9, 0, 0, 0, time.UTC),
		Moved: []events.PeriodPlace{{
			Ordinal: 1, InvoiceID: first, From: now, To: time.Date(2026, time.March, 3, 9, 0, 0, 0, time.UTC),
		}},
	})
}

func TestCancelPeriod_AVoidedInvoiceFreesTheNextPeriod(t *testing.T) {
	t.Parallel()
	s := prepaid(t).When(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: first})
	s.ThenEvents()
	s.When(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: first}).ThenNothing()
	if made := s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents(); len(made) != 1 {
		t.Errorf("made %d events; want the next period", len(made))
	}
}

// docs/rules/billing.md#billing-runs: a prepaid period whose invoice was taken back is not made again by itself.
func TestMakePeriodDue_ADroppedDayComesAgainByCreditAndNotByItsTimer(t *testing.T) {
	t.Parallel()
	daily := create(events.Prepaid)
	daily.Terms.Period = calendar.Day
	s, _ := running(t, daily)
	rings := commands.MakePeriodDue{SubscriptionID: subscription, Rang: true}
	s.At(s.State().PaidUntil().Add(-2 * time.Hour))
	dropped := dueOf(t, s.When(rings).ThenEvents())
	s.When(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: dropped.InvoiceID}).ThenEvents()
	s.At(s.State().PaidUntil())
	s.When(rings).ThenNothing()
	s.When(commands.MakePeriodDue{
		SubscriptionID: subscription, On: calendar.On(s.State().PaidUntil(), time.UTC).AddDays(1),
	}).ThenNothing()
	dueOf(t, s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents())
}

// One that is dropped before its time is due at its time, and a postpaid one always is.
func TestMakePeriodDue_TheTimerBringsWhatIsStillToCome(t *testing.T) {
	t.Parallel()
	rings := commands.MakePeriodDue{SubscriptionID: subscription, Rang: true}
	for _, mode := range []events.BillingMode{events.Prepaid, events.Postpaid} {
		daily := create(mode)
		daily.Terms.Period = calendar.Day
		s, is := running(t, daily)
		if mode == events.Prepaid {
			is = dueOf(t, s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenEvents())
		}
		s.When(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: is.InvoiceID}).ThenEvents()
		s.At(now.Add(day))
		dueOf(t, s.When(rings).ThenEvents())
	}
}

func TestEnd_NothingIsDueAfterwards(t *testing.T) {
	t.Parallel()
	s := prepaid(t).When(commands.EndSubscription{SubscriptionID: subscription, Reason: "moved"})
	s.ThenEvents()
	s.When(commands.EndSubscription{SubscriptionID: subscription, Reason: "moved"}).ThenNothing()
	s.When(paid(first, now)).ThenNothing()
	s.When(commands.MakePeriodDue{SubscriptionID: subscription}).ThenNothing()
}

// TestClose_NextStreamPeriodDecidesAlike plays random lives and compares the state with the one that a closed stream
// period passes on.
func TestClose_NextStreamPeriodDecidesAlike(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s, at := subscribers.Subscription{}, now
		do := func(c commands.SubscriptionCommand) {
			made, _ := subscribers.Subscriptions().Decide(s, c, at)
			for _, e := range made {
				s = subscribers.Subscriptions().Evolve(s, e)
			}
		}
		do(create(rapid.SampledFrom([]events.BillingMode{events.Prepaid, events.Postpaid}).Draw(r, "mode")))
		for range rapid.IntRange(0, 60).Draw(r, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(0, 40*24).Draw(r, "hours")) * time.Hour)
			switch rapid.IntRange(0, 5).Draw(r, "step") {
			case 0, 1:
				do(commands.MakePeriodDue{SubscriptionID: subscription})
			case 2, 3:
				if len(s.Open()) > 0 {
					do(paid(s.Open()[0], at))
				}
			case 4:
				do(commands.PauseSubscription{SubscriptionID: subscription, Reason: "x"})
			case 5:
				do(commands.ResumeSubscription{SubscriptionID: subscription, Reason: "x"})
			}
		}
		next := subscribers.Subscriptions().Evolve(subscribers.Subscription{}, subscribers.Subscriptions().Close(s))
		if diff := cmp.Diff(s, next); diff != "" {
			r.Fatalf("(-before +after closing)\n%s", diff)
		}
	})
}
