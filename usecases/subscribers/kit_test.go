package subscriberscases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// kit has a real log and a real vault with two organizations, and the use cases on them. Time moves only when a test
// moves clock.
type kit struct {
	*coretest.Kit
	clock         *clock.Manual
	acme, other   id.Organization
	subscribers   subscriberscases.Subscribers
	plans         subscriberscases.Plans
	subscriptions subscriberscases.Subscriptions
}

// newKit starts a kit late in the evening in UTC: in Nairobi the next day has begun.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{
		clock: clock.NewManual(time.Date(2026, 3, 2, 21, 30, 0, 0, time.UTC)),
		acme:  id.New[id.Organization](), other: id.New[id.Organization](),
	}
	k.Kit = coretest.NewWithVault(t, vault.Config{Clock: k.clock})
	bus.Register(k.Bus, identity.Organizations())
	bus.Register(k.Bus, subscribers.Subscribers())
	bus.Register(k.Bus, subscribers.Plans())
	bus.Register(k.Bus, subscribers.Subscriptions())
	k.subscribers = subscriberscases.Subscribers{Bus: k.Bus, Limiter: k.Vault.Limits}
	k.plans = subscriberscases.Plans{Bus: k.Bus}
	k.subscriptions = subscriberscases.Subscriptions{
		Bus: k.Bus, Secrets: k.Vault.Secrets, Limiter: k.Vault.Limits, Clock: k.clock,
	}
	for slug, org := range map[string]id.Organization{"acme": k.acme, "other": k.other} {
		k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(org, slug))
	}
	return k
}

// load is the state of one of Acme's aggregates; an absent one ends the test.
func load[S any, I ~[16]byte](t *testing.T, k *kit, target I) S {
	t.Helper()
	s, _, err := bus.LoadOwned[S](t.Context(), k.Bus, k.acme, target)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// amina has details as people type them, with spaces and a tag given twice.
func amina() events.SubscriberDetails {
	return events.SubscriberDetails{
		FirstName: personal.Of(" Amina "), LastName: personal.Of("Otieno "), Phone: personal.Of("0712 345 678"),
		Email: personal.Of("Amina@Mail.test"), Address: personal.Of("Plot 4 "), Tags: personal.OfAll([]string{
			"vip", " vip", "estate 4",
		}),
		Location: (&events.Location{Latitude: -1.28, Longitude: 36.82}).Text(), ExternalRef: personal.Of(" A-1 "),
		TaxPIN: personal.Of(" A012345678Z "),
	}
}

// register makes Amina a subscriber of Acme.
func (k *kit) register(t *testing.T) id.Subscriber {
	t.Helper()
	subscriber, _, err := k.subscribers.Register(t.Context(), coretest.Ask(k.acme), amina())
	if err != nil {
		t.Fatalf("register: %v", err)
	}
	return subscriber
}

// home describes a monthly prepaid plan of 1,500.50.
func home(code string) subscriberscases.CreatePlanInput {
	return subscriberscases.CreatePlanInput{
		Code: code, Name: " Home 10 ", Kind: "pppoe", Price: "1500.50", Mode: events.Prepaid, Period: calendar.Month,
		Rates: events.Rates{Down: 10_000, Up: 5_000},
	}
}

// plan makes the plan home at Acme and gives its id.
func (k *kit) plan(t *testing.T, code string) id.Plan {
	t.Helper()
	plan, _, err := k.plans.Create(t.Context(), coretest.Ask(k.acme), home(code))
	if err != nil {
		t.Fatalf("create plan: %v", err)
	}
	return plan
}
