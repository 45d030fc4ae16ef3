package billingcases_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
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
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// today is the date in Nairobi at the time of a new kit.
var today = calendar.Date{Year: 2026, Month: time.March, Day: 3}

// kit is a real log with a subscriber in each of two organizations, and the use cases on it. Time moves only when a
// test moves clock.
type kit struct {
	bus          *bus.Bus
	store        *storetest.Kit
	clock        *clock.Manual
	acme, other  id.Organization
	amina, brian id.Subscriber // of acme and of other
	invoices     billingcases.Invoices
	notes        billingcases.CreditNotes
}

// newKit starts a kit late in the evening in UTC: in Nairobi the next day has begun.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{
		store: storetest.New(t), clock: clock.NewManual(time.Date(2026, 3, 2, 21, 30, 0, 0, time.UTC)),
		acme: id.New[id.Organization](), other: id.New[id.Organization](),
		amina: id.New[id.Subscriber](), brian: id.New[id.Subscriber](),
	}
	k.bus = bus.New(bus.Config{
		Store: k.store.Store, Claims: storetest.ClaimKey, Clock: k.clock, Logger: storetest.Quiet(),
	})
	bus.Register(k.bus, identity.Organizations())
	bus.Register(k.bus, identity.Users())
	bus.Register(k.bus, subscribers.Subscribers())
	bus.Register(k.bus, billing.Accounts())
	bus.Register(k.bus, payments.Receipts())
	k.invoices, k.notes = billingcases.Invoices{Bus: k.bus, Clock: k.clock}, billingcases.CreditNotes{Bus: k.bus}
	for n, slug := range []string{"acme", "other"} {
		org, who := []id.Organization{k.acme, k.other}[n], []id.Subscriber{k.amina, k.brian}[n]
		k.run(t, operator(), commands.CreateOrganization{
			OrgID: org, Slug: slug, Name: slug, Billing: events.BillingSettings{
				Timezone: "Africa/Nairobi", Currency: money.KES, Country: "KE", InvoicePrefix: strings.ToUpper(slug),
				Tax: events.TaxRule{
					Inclusive: true, Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}},
				},
			},
		})
		k.run(t, ask(org), commands.RegisterSubscriber{
			SubscriberID: who, OrgID: org, AccountNumber: commands.AccountNumber(1_000_000 + n), Currency: money.KES,
			Details: events.SubscriberDetails{FirstName: personal.Of("Somebody"), Phone: personal.Of("+254700000000")},
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

// run executes one command and gives its position in the log; a failure ends the test.
func (k *kit) run(t *testing.T, asked usecases.Asked, c commands.Command) uint64 {
	t.Helper()
	done, err := k.bus.Execute(t.Context(), c, asked.Meta)
	if err != nil {
		t.Fatalf("%s: %v", c.CommandName(), err)
	}
	return done.Position
}

// account is Amina's account as the log has it.
func (k *kit) account(t *testing.T) billing.Account {
	t.Helper()
	a, _, err := bus.LoadOwned[billing.Account](t.Context(), k.bus, k.acme, k.amina)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// log has the events of Amina's account.
func (k *kit) log(t *testing.T) []events.Envelope {
	t.Helper()
	list, err := k.store.Store.Read(t.Context(), commands.AccountCategory+"-"+k.amina.String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// router is an invoice for Amina of 1.5 routers at 1,160.
func (k *kit) router() billingcases.DraftInvoiceInput {
	return billingcases.DraftInvoiceInput{
		SubscriberID: k.amina,
		Lines:        []billingcases.LineInput{{Description: " Router ", Quantity: "1.5", UnitPrice: "1160"}},
	}
}

// issued is an invoice for Amina over 1,740 that has its number.
func (k *kit) issued(t *testing.T) id.Invoice {
	t.Helper()
	invoice, err := k.invoices.Draft(t.Context(), ask(k.acme), k.router())
	if err != nil {
		t.Fatal(err)
	}
	k.run(t, ask(k.acme), commands.IssueInvoice{SubscriberID: k.amina, InvoiceID: invoice, Number: "ACME-0001"})
	return invoice
}

// refused reports an error unless the failure has the code.
func refused(t *testing.T, what, code string, err error) {
	t.Helper()
	if failure.CodeOf(err) != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// faulty reports an error unless the input is invalid and the field has a fault.
func faulty(t *testing.T, what string, err error, field string) {
	t.Helper()
	refused(t, what, "invalid_input", err)
	var f *failure.Error
	if !errors.As(err, &f) || !slices.ContainsFunc(f.Faults, func(fault string) bool {
		return strings.HasPrefix(fault, field+" ")
	}) {
		t.Errorf("%s: %s has no fault in %v", what, field, err)
	}
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
