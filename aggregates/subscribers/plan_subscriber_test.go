package subscribers_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// plans is the definition under test.
func plans() aggregates.Definition[subscribers.Plan, commands.PlanCommand, events.PlanEvent] {
	return subscribers.Plans()
}

// people is the definition under test.
func people() aggregates.Definition[subscribers.Subscriber, commands.SubscriberCommand, events.SubscriberEvent] {
	return subscribers.Subscribers()
}

func TestPlan_AChangeMakesTheNextVersion(t *testing.T) {
	t.Parallel()
	dearer := terms(events.Prepaid)
	dearer.Price = money.Major(2000, money.KES)
	s := decidertest.For(t, plans(), now).When(commands.CreatePlan{
		PlanID: plan, OrgID: org, Code: "HOME10", Terms: terms(events.Prepaid),
	})
	s.ThenEvents()
	s.When(commands.RevisePlan{PlanID: plan, Terms: terms(events.Prepaid)}).ThenNothing()
	s.When(commands.RevisePlan{PlanID: plan, Terms: dearer}).Then(events.PlanRevised{
		PlanID: plan, Version: 2, Terms: dearer,
	})
	s.When(commands.ArchivePlan{PlanID: plan}).Then(events.PlanArchived{PlanID: plan})
	s.When(commands.RevisePlan{PlanID: plan, Terms: terms(events.Postpaid)}).ThenFails("plan_archived")
}

func TestSubscriber_SameDetailsAreNothingNew(t *testing.T) {
	t.Parallel()
	details := events.SubscriberDetails{
		FirstName: personal.Of("Jane"), Phone: personal.Of("+254712345678"), Tags: personal.OfAll([]string{"east"}),
	}
	s := decidertest.For(t, people(), now).When(commands.RegisterSubscriber{
		SubscriberID: subscriber, OrgID: org, AccountNumber: commands.AccountNumber(1234567), Currency: money.KES,
		Details: details,
	})
	s.ThenEvents()
	s.When(commands.CorrectSubscriberDetails{SubscriberID: subscriber, Details: details}).ThenNothing()
	details.Tags = personal.OfAll([]string{"west"})
	s.When(commands.CorrectSubscriberDetails{SubscriberID: subscriber, Details: details}).
		Then(events.SubscriberDetailsCorrected{SubscriberID: subscriber, Details: details})
	s.When(commands.BlockSubscriber{SubscriberID: subscriber, Reason: "abuse"}).Then(events.SubscriberBlocked{
		SubscriberID: subscriber, Reason: personal.Of("abuse"),
	})
	s.When(commands.BlockSubscriber{SubscriberID: subscriber, Reason: "abuse"}).ThenNothing()
}

// registered is a customer who was blocked.
func registered(t *testing.T) *decidertest.Scenario[
	subscribers.Subscriber, commands.SubscriberCommand, events.SubscriberEvent,
] {
	t.Helper()
	return decidertest.For(t, people(), now).Given(
		events.SubscriberRegistered{
			SubscriberID: subscriber, OrgID: org, AccountNumber: "10000016", Currency: money.KES,
			Details: events.SubscriberDetails{FirstName: personal.Of("Jane")},
		},
		events.SubscriberBlocked{SubscriberID: subscriber, Reason: personal.Of("abuse")},
	)
}

func TestUnblock_EndsTheBlockOnce(t *testing.T) {
	t.Parallel()
	unblock := commands.UnblockSubscriber{SubscriberID: subscriber, Reason: "sorry"}
	s := registered(t).When(unblock).Then(events.SubscriberUnblocked{
		SubscriberID: subscriber, Reason: personal.Of("sorry"),
	})
	s.When(unblock).ThenNothing()
	s.When(commands.BlockSubscriber{SubscriberID: subscriber, Reason: "again"}).Then(events.SubscriberBlocked{
		SubscriberID: subscriber, Reason: personal.Of("again"),
	})
}

func TestForgotten_APersonIsGoneWithAllDetails(t *testing.T) {
	t.Parallel()
	s := registered(t).Given(events.SubscriberForgotten{SubscriberID: subscriber, Reason: "asked"})
	s.When(commands.UnblockSubscriber{SubscriberID: subscriber, Reason: "x"}).ThenFails("subscriber_not_found")
	s.When(commands.CorrectSubscriberDetails{SubscriberID: subscriber, Details: events.SubscriberDetails{
		FirstName: personal.Of("Jane"), Phone: personal.Of("+254712345678"),
	}}).ThenFails("subscriber_not_found")
	gone := people().Evolve(subscribers.Subscriber{
		ID: subscriber, Details: events.SubscriberDetails{
			FirstName: personal.Of("Jane"), Tags: personal.OfAll([]string{"east"}),
		},
	}, events.SubscriberForgotten{SubscriberID: subscriber})
	if !people().Gone(gone) || gone.Details.FirstName.Reveal() != "" || gone.Details.Tags != nil {
		t.Errorf("the state still has %+v", gone)
	}
}

func TestSubscriber_AbsentIsNotFound(t *testing.T) {
	t.Parallel()
	decidertest.For(t, people(), now).When(commands.UnblockSubscriber{SubscriberID: subscriber,
		Reason: "x"}).ThenFails("subscriber_not_found")
}

func TestAccountNumber_CheckDigitFindsSlips(t *testing.T) {
	t.Parallel()
	number := commands.AccountNumber(7992739) // the example of Luhn's formula without its last digits
	if !commands.ValidAccountNumber(number) {
		t.Fatalf("%s is not valid", number)
	}
	for i := range number {
		slip := []byte(number)
		slip[i] = '0' + (slip[i]-'0'+1)%10
		if commands.ValidAccountNumber(string(slip)) {
			t.Errorf("%s passes for %s", slip, number)
		}
	}
	for _, text := range []string{"", "1234567", "123456789", "1234567a", "１２３４５６７８"} {
		if commands.ValidAccountNumber(text) {
			t.Errorf("%q passes", text)
		}
	}
}

func TestNormalizeContactPhone_AsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0712 345 678": "+254712345678", "254712345678": "+254712345678", "+254 712-345678": "+254712345678",
		"712345678": "+254712345678", "00256712345678": "+256712345678", "12": "12",
	} {
		if got := commands.NormalizeContactPhone(text); got != want {
			t.Errorf("%q became %q; want %q", text, got, want)
		}
	}
}

func TestPlan_OtherTermsOfAccessAreANewVersion(t *testing.T) {
	t.Parallel()
	night := terms(events.Prepaid)
	night.Access = events.AccessTerms{SessionLimit: 2, Schedule: []events.ScheduleWindow{{
		Days: []time.Weekday{time.Monday}, From: 0, To: 360, Speed: events.Speed{Down: 20_000, Up: 20_000},
	}}}
	s := decidertest.For(t, plans(), now).Given(events.PlanCreated{
		PlanID: plan, OrgID: org, Code: "HOME10", Terms: terms(events.Prepaid),
	})
	explicit := terms(events.Prepaid)
	explicit.Access = events.AccessTerms{}.WithDefaults()
	s.When(commands.RevisePlan{PlanID: plan, Terms: explicit}).ThenNothing()
	s.When(commands.RevisePlan{PlanID: plan, Terms: night}).Then(events.PlanRevised{
		PlanID: plan, Version: 2, Terms: night,
	})
	s.When(commands.RevisePlan{PlanID: plan, Terms: night}).ThenNothing()
}

func TestSubscription_ItsInvoicesDoNotRepeatTheTermsOfAccess(t *testing.T) {
	t.Parallel()
	c := create(events.Prepaid)
	c.Terms.Access = events.AccessTerms{SessionLimit: 2, Pool: "dhcp"}
	for _, e := range decidertest.For(t, aggregate(), now).When(c).ThenEvents() {
		switch e := e.(type) {
		case events.SubscriptionCreated:
			if !e.Terms.Equal(c.Terms) {
				t.Errorf("made with %+v", e.Terms)
			}
		case events.PeriodDue:
			if !e.Terms.Equal(terms(events.Prepaid)) {
				t.Errorf("due with %+v", e.Terms)
			}
		}
	}
}
