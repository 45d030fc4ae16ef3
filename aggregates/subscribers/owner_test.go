package subscribers_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

func TestSubscriber_BelongsToTheOrganizationThatRegisteredIt(t *testing.T) {
	t.Parallel()
	registered(t).BelongsTo(org, "subscriber_not_found").
		Given(events.SubscriberForgotten{SubscriberID: subscriber}).BelongsTo(org, "subscriber_not_found")
}

func TestPlan_BelongsToTheOrganizationThatSellsIt(t *testing.T) {
	t.Parallel()
	decidertest.For(t, plans(), now).Given(events.PlanCreated{PlanID: plan, OrgID: org}).
		BelongsTo(org, "plan_not_found")
}

func TestSubscription_BelongsToTheOrganizationInEveryStreamPeriod(t *testing.T) {
	t.Parallel()
	s := twoMonths(t).BelongsTo(org, "subscription_not_found")
	s.Given(subscribers.Subscriptions().Close(s.State())).BelongsTo(org, "subscription_not_found")
}

// claims lists claims, each with its kind, its value and the code of its failure.
func claims(list []commands.Claim) (values []string) {
	for _, c := range list {
		values = append(values, c.Kind+" "+c.Value+" "+c.Code)
	}
	return values
}

func TestClaims_AreTheNumberTheCodeAndTheLogin(t *testing.T) {
	t.Parallel()
	ours, person := org.String(), registered(t).State()
	product := plans().Evolve(subscribers.Plan{}, events.PlanCreated{PlanID: plan, OrgID: org, Code: "HOME10"})
	line := prepaid(t).State()
	over, hotspot := line, line
	over.State, hotspot.Username = subscribers.Ended, personal.Text{}
	for name, c := range map[string]struct {
		got  []commands.Claim
		want []string
	}{
		"subscriber":         {people().Claims(person), []string{"account_number 10000016 account_number_taken"}},
		"plan":               {plans().Claims(product), []string{"plan_code " + ours + "/HOME10 plan_code_taken"}},
		"subscription":       {aggregate().Claims(line), []string{"username " + ours + "/jane username_taken"}},
		"no subscriber":      {people().Claims(subscribers.Subscriber{}), nil},
		"no plan":            {plans().Claims(subscribers.Plan{}), nil},
		"ended subscription": {aggregate().Claims(over), nil},
		"without a login":    {aggregate().Claims(hotspot), nil},
		"no subscription":    {aggregate().Claims(subscribers.Subscription{}), nil},
	} {
		if diff := cmp.Diff(c.want, claims(c.got)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestCreate_NothingIsMadeTwiceUnderOneID(t *testing.T) {
	t.Parallel()
	prepaid(t).When(create(events.Prepaid)).ThenFails("subscription_exists")
	makePlan := commands.CreatePlan{PlanID: plan, OrgID: org, Code: "HOME10", Terms: terms(events.Prepaid)}
	decidertest.For(t, plans(), now).When(makePlan).Then(events.PlanCreated{
		PlanID: plan, OrgID: org, Code: "HOME10", Terms: terms(events.Prepaid),
	}).When(makePlan).ThenFails("plan_exists")
	register := commands.RegisterSubscriber{
		SubscriberID: subscriber, OrgID: org, AccountNumber: commands.AccountNumber(1234567), Currency: money.KES,
		Details: events.SubscriberDetails{FirstName: personal.Of("Jane"), Phone: personal.Of("+254700000001")},
	}
	decidertest.For(t, people(), now).When(register).Then(events.SubscriberRegistered{
		SubscriberID: subscriber, OrgID: org, AccountNumber: register.AccountNumber, Currency: money.KES,
		Details: register.Details, RegisteredAt: now,
	}).When(register).ThenFails("subscriber_exists")
}

func TestPlan_AnAbsentOneIsNotFoundAndAnArchivedOneStaysSo(t *testing.T) {
	t.Parallel()
	archive := commands.ArchivePlan{PlanID: plan, Reason: "too cheap"}
	decidertest.For(t, plans(), now).When(archive).ThenFails("plan_not_found")
	decidertest.For(t, plans(), now).Given(events.PlanCreated{PlanID: plan, OrgID: org}).
		When(archive).Then(events.PlanArchived{PlanID: plan, Reason: "too cheap"}).When(archive).ThenNothing()
}

func TestPlan_ARevisionCountsFromTheLastOne(t *testing.T) {
	t.Parallel()
	cheap, dear := terms(events.Prepaid), terms(events.Prepaid)
	dear.Price = money.Major(2000, money.KES)
	decidertest.For(t, plans(), now).Given(events.PlanCreated{PlanID: plan, OrgID: org, Terms: cheap}).
		When(commands.RevisePlan{PlanID: plan, Terms: dear}).
		Then(events.PlanRevised{PlanID: plan, Version: 2, Terms: dear}).
		When(commands.RevisePlan{PlanID: plan, Terms: dear}).ThenNothing().
		When(commands.RevisePlan{PlanID: plan, Terms: cheap}).
		Then(events.PlanRevised{PlanID: plan, Version: 3, Terms: cheap})
}

func TestSubscriber_EveryDetailThatDiffersIsCorrected(t *testing.T) {
	t.Parallel()
	known := events.SubscriberDetails{FirstName: personal.Of("Jane"), Phone: personal.Of("+254700000001")}
	for name, change := range map[string]func(*events.SubscriberDetails){
		"first name": func(d *events.SubscriberDetails) { d.FirstName = personal.Of("Janet") },
		"last name":  func(d *events.SubscriberDetails) { d.LastName = personal.Of("Doe") },
		"phone":      func(d *events.SubscriberDetails) { d.Phone = personal.Of("+254712345678") },
		"email":      func(d *events.SubscriberDetails) { d.Email = personal.Of("jane@home.test") },
		"address":    func(d *events.SubscriberDetails) { d.Address = personal.Of("Moi Avenue 1") },
		"notes":      func(d *events.SubscriberDetails) { d.Notes = personal.Of("has a dog") },
		"tags":       func(d *events.SubscriberDetails) { d.Tags = []personal.Text{personal.Of("east")} },
		"reference":  func(d *events.SubscriberDetails) { d.ExternalRef = personal.Of("crm-1") },
		"tax PIN":    func(d *events.SubscriberDetails) { d.TaxPIN = personal.Of("A012345678Z") },
		"place":      func(d *events.SubscriberDetails) { d.Location = new(events.Location).Text() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			details := known
			change(&details)
			correct := commands.CorrectSubscriberDetails{SubscriberID: subscriber, Details: details}
			registered(t).Given(events.SubscriberDetailsCorrected{
				SubscriberID: subscriber, Details: known,
			}).When(correct).
				Then(events.SubscriberDetailsCorrected{SubscriberID: subscriber, Details: details}).
				When(correct).ThenNothing()
		})
	}
}

func TestSubscriber_AnEmptyListOfTagsIsNone(t *testing.T) {
	t.Parallel()
	details := events.SubscriberDetails{FirstName: personal.Of("Jane"), Phone: personal.Of("+254700000001")}
	s := registered(t).Given(events.SubscriberDetailsCorrected{SubscriberID: subscriber, Details: details})
	details.Tags = []personal.Text{}
	s.When(commands.CorrectSubscriberDetails{SubscriberID: subscriber, Details: details}).ThenNothing()
	tagged := details
	tagged.Tags = []personal.Text{personal.Of("east")}
	s.When(commands.CorrectSubscriberDetails{SubscriberID: subscriber, Details: tagged}).ThenEvents()
	s.When(commands.CorrectSubscriberDetails{SubscriberID: subscriber, Details: details}).
		Then(events.SubscriberDetailsCorrected{SubscriberID: subscriber, Details: details})
}

func TestExtendPostpaid_PaidAgainAfterAReversalShiftsNoPeriod(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, aggregate(), now).When(create(events.Postpaid))
	s.ThenEvents()
	s.At(noon(2, 28)).When(due).ThenEvents()
	s.When(paid(first, noon(2, 28))).ThenEvents()
	s.At(noon(3, 5)).When(withdraw(first)).ThenEvents()
	s.At(noon(3, 15)).When(paid(first, noon(3, 15))).Then(extended(first, noon(3, 15), now, noon(2, 28)))
	if made := s.At(noon(3, 31)).When(due).ThenEvents(); len(made) != 1 {
		t.Errorf("the next period is not due on its day: %+v", made)
	}
}

func TestResume_AnEndOnTheLastDayOfAShortMonthKeepsTheAnniversary(t *testing.T) {
	t.Parallel()
	s := prepaid(t)
	s.When(paid(first, now)).ThenEvents() // until 28 February; the anniversary is the 31st
	if until := pauseFor(s, noon(2, 3), 61).PaidUntil; !until.Equal(noon(4, 30)) {
		t.Fatalf("paid until %s", until)
	}
	s.When(due).ThenEvents()
	at := noon(4, 20)
	s.When(paid(second, at)).Then(extended(second, at, noon(4, 30), noon(5, 31)))
}

func TestLife_WhatDoesNotFitTheStateIsRefused(t *testing.T) {
	t.Parallel()
	pause := commands.PauseSubscription{SubscriptionID: subscription, Reason: "travels"}
	resume := commands.ResumeSubscription{SubscriptionID: subscription, Reason: "is back"}
	for _, c := range []commands.SubscriptionCommand{due, paid(first, now), withdraw(first), cancel(first), pause,
		resume, commands.EndSubscription{SubscriptionID: subscription, Reason: "moved"}} {
		decidertest.For(t, aggregate(), now).When(c).ThenFails("subscription_not_found")
	}
	s := prepaid(t).When(resume).ThenFails("subscription_not_paused")
	s.When(paid(first, now)).ThenEvents()
	s.When(resume).ThenNothing()
	s.At(now.Add(time.Hour)).When(pause).Then(events.SubscriptionPaused{
		SubscriptionID: subscription, SubscriberID: subscriber, Reason: personal.Of("travels"), At: now.Add(time.Hour),
	})
	s.When(pause).ThenNothing()
	s.When(commands.EndSubscription{SubscriptionID: subscription, Reason: "moved"}).ThenEvents()
	s.When(pause).ThenFails("subscription_not_active")
	s.When(resume).ThenFails("subscription_not_paused")
	s.When(paid(id.New[id.Invoice](), now)).ThenNothing()
}

func TestCancelPeriod_OneThatNobodyPaidNeverBegan(t *testing.T) {
	t.Parallel()
	s := prepaid(t).When(cancel(id.New[id.Invoice]())).ThenNothing()
	s.When(cancel(first)).Then(events.PeriodCancelled{
		SubscriptionID: subscription, SubscriberID: subscriber, InvoiceID: first, Ordinal: 1, NeverBegan: true, At: now,
	})
}
