package subscriberscases_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// passwordRef is the vault's reference of a subscription's network password.
func passwordRef(s id.Subscription) id.Secret {
	return id.Derive[id.Secret]("network_password", s.String())
}

// password reads the network password of a subscription, "" when there is none.
func (k *kit) password(t *testing.T, s id.Subscription) string {
	t.Helper()
	kept, err := k.Vault.Secrets.Get(t.Context(), passwordRef(s))
	if err != nil {
		coretest.Refused(t, "password", err, "secret_not_found")
	}
	return string(kept)
}

// subscribe gives a subscriber a plan; a failure ends the test.
func (k *kit) subscribe(t *testing.T, in subscriberscases.CreateSubscriptionInput) subscribers.Subscription {
	t.Helper()
	made, err := k.subscriptions.Create(t.Context(), coretest.Ask(k.acme), in)
	if err != nil {
		t.Fatalf("create subscription: %v", err)
	}
	return load[subscribers.Subscription](t, k, made.ID)
}

func TestCreateSubscription_CopiesThePlanAndKeepsThePassword(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	who, plan := k.register(t), k.plan(t, "home-10")
	if _, err := k.plans.Revise(t.Context(), coretest.Ask(k.acme),
		subscriberscases.RevisePlanInput{PlanID: plan, Name: new("Home 12")}); err != nil {
		t.Fatal(err)
	}
	s := k.subscribe(t, subscriberscases.CreateSubscriptionInput{
		SubscriberID: who, PlanID: plan, Username: personal.Of("amina"), Password: "net work",
	})
	if diff := cmp.Diff(load[subscribers.Plan](t, k, plan).Terms, s.Terms); diff != "" || s.PlanVersion != 2 {
		t.Errorf("version %d, terms (-plan +subscription):\n%s", s.PlanVersion, diff)
	}
	if s.SubscriberID != who || s.Timezone != "Africa/Nairobi" || !s.StartsAt.Equal(k.clock.Now()) ||
		s.Username.Reveal() != "amina" || len(s.Open()) != 1 {
		t.Errorf("subscription %+v", s)
	}
	if got := k.password(t, s.ID); got != "net work" {
		t.Errorf("password %q", got)
	}
}

func TestCreateSubscription_DefaultNamesAreFreeAndPasswordsRandom(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := subscriberscases.CreateSubscriptionInput{SubscriberID: k.register(t), PlanID: k.plan(t, "home-10")}
	number := load[subscribers.Subscriber](t, k, in.SubscriberID).AccountNumber
	passwords := map[string]bool{}
	for _, want := range []string{number, number + "-2", number + "-3"} {
		s := k.subscribe(t, in)
		if s.Username.Reveal() != want {
			t.Errorf("name %s, want %s", s.Username.Reveal(), want)
		}
		passwords[k.password(t, s.ID)] = true
	}
	if len(passwords) != 3 || passwords[""] {
		t.Errorf("%d different passwords", len(passwords))
	}
}

func TestCreateSubscription_TwoAtOnceGetDifferentNames(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := subscriberscases.CreateSubscriptionInput{SubscriberID: k.register(t), PlanID: k.plan(t, "home-10")}
	made := make([]id.Subscription, 3)
	for _, err := range coretest.AtOnce(len(made), func(n int) error {
		one, err := k.subscriptions.Create(t.Context(), coretest.Ask(k.acme), in)
		made[n] = one.ID
		return err
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	names := map[string]bool{}
	for _, s := range made {
		names[load[subscribers.Subscription](t, k, s).Username.Reveal()] = true
	}
	if len(names) != 3 {
		t.Errorf("names %v", names)
	}
}

func TestCreateSubscription_StartsOnADayOfTheOrganization(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := subscriberscases.CreateSubscriptionInput{SubscriberID: k.register(t), PlanID: k.plan(t, "home-10")}
	today := calendar.Date{Year: 2026, Month: time.March, Day: 3} // in UTC it is still the second
	for day, want := range map[calendar.Date]time.Time{
		today:            k.clock.Now(),
		today.AddDays(1): time.Date(2026, 3, 3, 21, 0, 0, 0, time.UTC),
		today.AddDays(usecases.MaxDaysAhead): today.AddDays(usecases.MaxDaysAhead).
			Start(time.FixedZone("Nairobi", 3*3600)),
	} {
		in.StartDate = day
		if s := k.subscribe(t, in); !s.StartsAt.Equal(want) {
			t.Errorf("%s starts at %s, want %s", day, s.StartsAt, want)
		}
	}
	for _, day := range []calendar.Date{today.AddDays(-1), today.AddDays(usecases.MaxDaysAhead + 1)} {
		in.StartDate = day
		_, err := k.subscriptions.Create(t.Context(), coretest.Ask(k.acme), in)
		coretest.Faulty(t, day.String(), err, "startDate")
	}
}

func TestCreateSubscription_Refusals(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := subscriberscases.CreateSubscriptionInput{SubscriberID: k.register(t), PlanID: k.plan(t, "home-10")}
	try := func(what, code string, asked usecases.Asked, edit func(*subscriberscases.CreateSubscriptionInput)) error {
		t.Helper()
		changed := in
		edit(&changed)
		_, err := k.subscriptions.Create(t.Context(), asked, changed)
		coretest.Refused(t, what, err, code)
		if kept := k.password(t, usecases.NewID[id.Subscription](asked, "subscription")); kept != "" {
			t.Errorf("%s: a password is left", what)
		}
		return err
	}
	same := func(*subscriberscases.CreateSubscriptionInput) {}
	try("nobody", "subscriber_not_found", coretest.Keyed(k.acme), func(in *subscriberscases.CreateSubscriptionInput) {
		in.SubscriberID = id.New[id.Subscriber]()
	})
	try("no plan", "plan_not_found", coretest.Keyed(k.acme), func(in *subscriberscases.CreateSubscriptionInput) {
		in.PlanID = id.New[id.Plan]()
	})
	try("another organization's customer", "subscriber_not_found", coretest.Keyed(k.other), same)
	theirs, _, err := k.subscribers.Register(t.Context(), coretest.Ask(k.other), amina())
	if err != nil {
		t.Fatal(err)
	}
	try("another organization's plan", "plan_not_found", coretest.Keyed(k.other),
		func(in *subscriberscases.CreateSubscriptionInput) { in.SubscriberID = theirs })
	coretest.Faulty(t, "name and password", try("form", "invalid_input", coretest.Keyed(k.acme),
		func(in *subscriberscases.CreateSubscriptionInput) {
			in.Username, in.Password = personal.Of("a\u200bb"), "a\u0007b"
		}), "username", "password")
	try("long password", "invalid_input", coretest.Keyed(k.acme), func(in *subscriberscases.CreateSubscriptionInput) {
		in.Password = secrets.Text(strings.Repeat("x", 129))
	})
	named := in
	named.Username = personal.Of("amina")
	k.subscribe(t, named)
	try("chosen name", "username_taken", coretest.Keyed(k.acme), func(in *subscriberscases.CreateSubscriptionInput) {
		in.Username = personal.Of("amina")
	})
	k.Run(t, coretest.Ask(k.acme).Meta, commands.ArchivePlan{PlanID: in.PlanID})
	try("archived plan", "plan_archived", coretest.Keyed(k.acme), same)
}

func TestCreateSubscription_ARepeatAfterACrashBeforeTheCommandWritesNoSecretOverTheFirst(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := subscriberscases.CreateSubscriptionInput{
		SubscriberID: k.register(t), PlanID: k.plan(t, "home-10"), Password: "second",
	}
	asked := coretest.Keyed(k.acme)
	ref := passwordRef(usecases.NewID[id.Subscription](asked, "subscription"))
	left := vault.Secret{Ref: ref, OrgID: k.acme, Purpose: "network_password"}
	if err := k.Vault.Secrets.Put(t.Context(), left, []byte("first")); err != nil { // the first try stores it and stops
		t.Fatal(err)
	}
	made, err := k.subscriptions.Create(t.Context(), asked, in)
	if err != nil || k.password(t, made.ID) != "first" {
		t.Errorf("password %q, %v", k.password(t, made.ID), err)
	}
}

func TestCreateSubscription_ARepeatAfterALostAnswerGetsItAsItWasMade(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := subscriberscases.CreateSubscriptionInput{
		SubscriberID: k.register(t), PlanID: k.plan(t, "home-10"), Password: "first",
		StartDate: calendar.Date{Year: 2026, Month: time.March, Day: 3},
	}
	asked := coretest.Keyed(k.acme)
	first, err := k.subscriptions.Create(t.Context(), asked, in)
	if err != nil {
		t.Fatal(err)
	}
	k.Run(t, coretest.Ask(k.acme).Meta, commands.ArchivePlan{PlanID: in.PlanID})
	k.clock.Advance(48 * time.Hour)
	in.Password = "second"
	again, err := k.subscriptions.Create(t.Context(), asked, in)
	if err != nil || again.ID != first.ID || again.Changed || again.Revision != first.Revision ||
		again.Position != first.Position {
		t.Errorf("made %+v, then %+v, %v", first, again, err)
	}
	if got := k.password(t, first.ID); got != "first" {
		t.Errorf("password %q", got)
	}
	if s := load[subscribers.Subscription](t, k, first.ID); s.Terms.Mode != events.Prepaid ||
		s.State != subscribers.Pending {
		t.Errorf("subscription %+v", s)
	}
}

func TestCreateSubscription_OneRequestTwiceAtOnceMakesOneWithItsPassword(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := subscriberscases.CreateSubscriptionInput{
		SubscriberID: k.register(t), PlanID: k.plan(t, "home-10"), Username: personal.Of("amina"), Password: "net work",
	}
	asked := coretest.Keyed(k.acme)
	for _, err := range coretest.AtOnce(3, func(int) error {
		_, err := k.subscriptions.Create(t.Context(), asked, in)
		return err
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	if got := k.password(t, usecases.NewID[id.Subscription](asked, "subscription")); got != "net work" {
		t.Errorf("password %q", got)
	}
}
