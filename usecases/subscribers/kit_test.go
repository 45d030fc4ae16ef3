package subscriberscases_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// kit has a real log and a real vault with two organizations, and the use cases on them. Time moves only when a test
// moves clock.
type kit struct {
	bus           *bus.Bus
	store         *storetest.Kit
	clock         *clock.Manual
	secrets       *vault.Secrets
	acme, other   id.Organization
	subscribers   subscriberscases.Subscribers
	plans         subscriberscases.Plans
	subscriptions subscriberscases.Subscriptions
}

// newKit starts a kit late in the evening in UTC: in Nairobi the next day has begun.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{
		store: storetest.New(t), clock: clock.NewManual(time.Date(2026, 3, 2, 21, 30, 0, 0, time.UTC)),
		acme: id.New[id.Organization](), other: id.New[id.Organization](),
	}
	ring, err := secrets.New(bytes.Repeat([]byte{7}, secrets.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(t.Context(), vault.Config{DB: k.store.DB, Keyring: ring, Clock: k.clock})
	if err != nil {
		t.Fatalf("open vault: %v", err)
	}
	k.secrets = v.Secrets
	k.bus = bus.New(bus.Config{
		Store: k.store.Store, Claims: storetest.ClaimKey, Clock: k.clock, Logger: storetest.Quiet(),
	})
	bus.Register(k.bus, identity.Organizations())
	bus.Register(k.bus, subscribers.Subscribers())
	bus.Register(k.bus, subscribers.Plans())
	bus.Register(k.bus, subscribers.Subscriptions())
	k.subscribers, k.plans = subscriberscases.Subscribers{Bus: k.bus}, subscriberscases.Plans{Bus: k.bus}
	k.subscriptions = subscriberscases.Subscriptions{Bus: k.bus, Secrets: k.secrets, Clock: k.clock}
	for slug, org := range map[string]id.Organization{"acme": k.acme, "other": k.other} {
		k.run(t, operator(), commands.CreateOrganization{
			OrgID: org, Slug: slug, Name: slug, Billing: events.BillingSettings{
				Timezone: "Africa/Nairobi", Currency: money.KES, Country: "KE", InvoicePrefix: "P" + string(slug[0]-32),
			},
		})
	}
	return k
}

// ask is a new request of an organization's administrator, without a key.
func ask(org id.Organization) usecases.Asked {
	return usecases.Asked{Meta: commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org,
		Actor: events.Actor{Kind: events.ActorUser, ID: id.New[id.User]().String(), Role: string(events.RoleAdmin)},
	}}
}

// operator is a request of the platform's operator.
func operator() usecases.Asked {
	return usecases.Asked{Meta: commands.Meta{
		CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorOperator},
	}}
}

// keyed is a new request under a key: when it is used twice, the second use is a repeat after a lost answer.
func keyed(org id.Organization) usecases.Asked {
	a := ask(org)
	a.Keyed = true
	return a
}

// run executes one command; a failure ends the test.
func (k *kit) run(t *testing.T, asked usecases.Asked, c commands.Command) {
	t.Helper()
	if _, err := k.bus.Execute(t.Context(), c, asked.Meta); err != nil {
		t.Fatalf("%s: %v", c.CommandName(), err)
	}
}

// load is the state of one of Acme's aggregates; an absent one ends the test.
func load[S any, I ~[16]byte](t *testing.T, k *kit, target I) S {
	t.Helper()
	s, _, err := bus.LoadOwned[S](t.Context(), k.bus, k.acme, target)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// refused reports an error unless the failure has the code.
func refused(t *testing.T, what, code string, err error) {
	t.Helper()
	if failure.CodeOf(err) != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// faulty reports an error unless the input is invalid and each of the fields has a fault.
func faulty(t *testing.T, what string, err error, fields ...string) {
	t.Helper()
	refused(t, what, "invalid_input", err)
	told := faultsOf(err)
	for _, field := range fields {
		if !slices.Contains(told, field) {
			t.Errorf("%s: %s has no fault in %v", what, field, err)
		}
	}
}

// amina has details as people type them, with spaces and a tag given twice.
func amina() events.SubscriberDetails {
	return events.SubscriberDetails{
		FirstName: personal.Of(" Amina "), LastName: personal.Of("Otieno "), Phone: personal.Of("0712 345 678"),
		Email: personal.Of("Amina@Mail.test"), Address: personal.Of("Plot 4 "), Tags: []string{
			"vip", " vip", "estate 4",
		},
		Location: &events.Location{Latitude: -1.28, Longitude: 36.82}, ExternalRef: " A-1 ",
	}
}

// register makes Amina a subscriber of Acme.
func (k *kit) register(t *testing.T) id.Subscriber {
	t.Helper()
	subscriber, _, err := k.subscribers.Register(t.Context(), ask(k.acme), amina())
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
	plan, _, err := k.plans.Create(t.Context(), ask(k.acme), home(code))
	if err != nil {
		t.Fatalf("create plan: %v", err)
	}
	return plan
}

// together calls f several times at once and gives the errors in the order of n.
func together(times int, f func(n int) error) []error {
	errs := make([]error, times)
	var wg sync.WaitGroup
	for n := range times {
		wg.Go(func() { errs[n] = f(n) })
	}
	wg.Wait()
	return errs
}

// faultsOf has the fields that a failure names, one for each fault.
func faultsOf(err error) []string {
	var f *failure.Error
	if !errors.As(err, &f) {
		return nil
	}
	var fields []string
	for _, fault := range f.Faults {
		field, _, _ := strings.Cut(fault, " ")
		fields = append(fields, field)
	}
	return fields
}
